// What the model predicts: replicated data over the observed ones, and leave-one-out.

function drawPredictive() {
  const check = data.predictive.find(({ name }) => name === byId("predictive-chosen").value);
  const hue = colour("recycled");
  const datasets = check.replicates.map((heights, i) =>
    line(i === 0 ? "replicated" : "", onGrid(check, heights), faint(hue, 0.35), { borderWidth: 1, pointHitRadius: 0, order: 2 }));
  datasets.push(line("observed", onGrid(check, check.observed), colour("ink"), { borderWidth: 2.6, order: 1 }));
  draw(byId("predictive-plot"), `Densities of ${check.name} and of the data that it replicates`, {
    type: "line",
    data: { datasets },
    options: {
      scales: {
        x: axis(check.name, { min: check.least, max: check.most, grid: { display: false } }),
        y: axis("", { min: 0, grid: { display: false, drawBorder: false }, ticks: { display: false } }),
      },
      plugins: { tooltip: { enabled: false } },
    },
  });
}

function drawLoo() {
  const { loo } = data;
  const poor = (k) => k === null || k > loo.good;
  const marks = (label, hue, chosen) => ({
    type: "scatter", label, radius: loo.shapes.length > 300 ? 2 : 3.5, borderWidth: 1.2, borderColor: hue, backgroundColor: faint(hue, 0.4),
    data: loo.shapes.map((k, i) => ({ x: i + 1, y: k })).filter(({ y }) => y !== null && chosen(y)),
  });
  const end = loo.shapes.length + 1;
  const datasets = [
    marks("observations", colour("recycled"), (k) => !poor(k)), marks("cannot be trusted", colour("bad"), poor),
    line(`limit ${fixed(loo.good, 2)}`, [{ x: 0, y: loo.good }, { x: end, y: loo.good }], colour("ink"), { borderWidth: 1.2, borderDash: [4, 3], pointHitRadius: 0 }),
  ].filter((dataset) => dataset.data.length > 0);
  draw(byId("loo-plot"), "Pareto k of every observation", {
    type: "scatter",
    data: { datasets },
    options: {
      scales: { x: axis("observation", { min: 0, max: end, ticks: { precision: 0 } }), y: axis("Pareto k", limits([], [...loo.shapes.filter((k) => k !== null), loo.good])) },
      plugins: { tooltip: { callbacks: { label: ({ raw }) => `${loo.names?.[raw.x - 1] ?? `observation ${raw.x}`}: ${fixed(raw.y, 2)}` } } },
    },
  });
}

function setUpPrediction() {
  byId("predictive").hidden = !data.predictive?.length;
  byId("predictive-chosen").append(...(data.predictive ?? []).map(({ name }) => make("option", { value: name }, name)));
  byId("predictive-chosen").addEventListener("change", drawPredictive);
  const { loo } = data;
  byId("loo").hidden = !loo;
  if (!loo) return;
  const count = loo.shapes.filter((k) => k === null || k > loo.good).length;
  byId("loo-text").textContent =
    `elpd ${fixed(loo.elpd, 1)} ± ${fixed(loo.error, 1)} (standard error over observations), p_loo ${fixed(loo.p_loo, 1)}. ` +
    (count === 0 ? "All Pareto k are below the limit." : `${plural(count, "observation")} of ${whole(loo.shapes.length)} cannot be left out by reweighting: elpd cannot be trusted.`);
}

function drawPrediction() {
  if (!byId("predictive").hidden) drawPredictive();
  if (!byId("loo").hidden) drawLoo();
}
