// The plot of two parameters against each other.

function drawPair() {
  if (plotted.length < 2) {
    return hideSection("pair");
  }
  const [xRow, yRow] = ["pair-x", "pair-y"].map((id) => byIndex.get(Number(byId(id).value)));
  const [x, y] = [valuesOf(xRow), valuesOf(yRow)];
  const [ordinary, divergent] = [[], []];
  x.forEach((_, i) => (isDivergent.has(i) ? divergent : ordinary).push({ x: x[i], y: y[i] }));
  const range = {};
  for (const k of ["x", "y"]) range[k] = limits(ordinary.map((point) => point[k]), divergent.map((point) => point[k]));
  const hue = colour("recycled");
  const datasets = [{
    type: "scatter", label: "draws", data: ordinary, radius: ordinary.length > 1500 ? 1.8 : 2.6, borderWidth: 0,
    backgroundColor: faint(hue, ordinary.length > 1500 ? 0.35 : 0.5),
  }];
  if (divergent.length > 0) {
    datasets.unshift({
      type: "scatter", label: "divergent", data: divergent, pointStyle: "crossRot", radius: 5, borderWidth: 2,
      borderColor: colour("alarm"), backgroundColor: colour("alarm"),
    });
  }
  draw(byId("pair"), `Draws of ${xRow.name} and ${yRow.name}; ${plural(divergent.length, "divergent draw")} marked`, {
    type: "scatter",
    data: { datasets },
    options: { scales: { x: axis(xRow.name, range.x), y: axis(yRow.name, range.y) }, plugins: { tooltip: { enabled: false } } },
  });
  const outside = ordinary.filter((point) => ["x", "y"].some((k) => point[k] < range[k].min || point[k] > range[k].max)).length;
  const far = outside > 0 ? ` ${plural(outside, "draw")} outside the plot.` : "";
  const left = data.omitted.divergences ? ` ${whole(data.omitted.divergences[0])} of ${whole(data.omitted.divergences[1])} divergences are shown.` : "";
  byId("pair-caption").textContent = (diagnostics.divergences > 0
    ? "Crosses mark draws whose trajectory diverged. Where they cluster, the posterior’s curvature is too high for the step size, often in the neck of a funnel."
    : "No trajectory diverged. Long, narrow or curved shapes make a posterior hard to sample.") + left + far;
}
