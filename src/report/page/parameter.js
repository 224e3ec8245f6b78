// Plots and estimates of the chosen parameter.

function drawTrace(row) {
  const values = valuesOf(row);
  const { chain, draw: draws, regular } = data.points;
  const series = new Map();
  for (let i = 0; i < regular; ++i) {
    if (!series.has(chain[i])) series.set(chain[i], []);
    series.get(chain[i]).push({ x: draws[i] + 1, y: values[i] });
  }
  const datasets = [...series].map(([c, points]) =>
    line(`chain ${c + 1}`, points, faint(chainColour(c), 0.85), {
      borderWidth: points.length > 300 ? 0.9 : 1.3, borderDash: c < 6 ? [] : [3, 2], pointRadius: points.length < 3 ? 3 : 0,
      pointStyle: "circle", backgroundColor: chainColour(c),
    }));
  const floor = row.values.least - 0.04 * ((row.values.most - row.values.least) || 1);
  const marks = data.points.divergent.map((i) => ({ x: draws[i] + 1, y: floor }));
  if (marks.length > 0) {
    datasets.unshift({
      type: "scatter", label: "divergent", data: marks, pointStyle: "triangle", radius: 4,
      borderColor: colour("alarm"), backgroundColor: colour("alarm"),
    });
  }
  draw(byId("trace"), `Trace of ${row.name}: its value in every chain by draw`, {
    type: "line",
    data: { datasets },
    options: {
      scales: { x: axis("draw", { grid: { display: false }, min: 1, ticks: { precision: 0 } }), y: axis("") },
      plugins: { tooltip: { enabled: false } },
    },
  });
  const every = data.points.stride > 1 ? ` One in ${whole(data.points.stride)} draws is shown.` : "";
  const some = data.omitted.chains ? ` The first ${data.omitted.chains[0]} of ${whole(data.omitted.chains[1])} chains are shown.` : "";
  byId("trace-caption").textContent =
    `Converged chains overlap in one fuzzy band; a chain that drifts or stays apart has not converged.${every}${some}`;
}

function intervalLines(label, quantiles, height, hue) {
  if (quantiles.some((x) => x === null)) return [];
  const at = (k) => ({ x: quantiles[k], y: height });
  const bar = (from, to, width) => line("", [at(from), at(to)], hue, { borderWidth: width, borderCapStyle: "round", order: 2 });
  return [
    { type: "scatter", label: "", data: [at(3)], radius: 4.5, borderWidth: 2, borderColor: hue, backgroundColor: colour("card"), order: 1 },
    bar(2, 4, 6), bar(0, 6, 1.8),
  ];
}

function drawDensity(row) {
  if (!row.density) return showPlot("density", "No density: the draws do not vary.");
  showPlot("density");
  const top = most([...row.density.plain, ...(row.density.recycled || [])]) || 1;
  const datasets = [
    line("plain draws", onGrid(row.density, row.density.plain), colour("plain"), { fill: !row.density.recycled && "origin", borderDash: row.density.recycled ? [5, 3] : [] }),
    ...intervalLines("plain", row.quantiles, -0.09 * top, colour("plain")),
  ];
  if (row.density.recycled) {
    datasets.unshift(line("recycled states", onGrid(row.density, row.density.recycled), colour("recycled"), { fill: "origin", borderWidth: 2.2 }));
    datasets.push(...intervalLines("recycled", row.estimates.recycled.slice(2).map(([x]) => x), -0.2 * top, colour("recycled")));
  }
  draw(byId("density"), `Density of ${row.name}${row.density.recycled ? ", from plain draws and from recycled states" : ""}, with intervals`, {
    type: "line",
    data: { datasets },
    options: {
      scales: {
        x: axis(row.name, { min: row.density.least, max: row.density.most, grid: { display: false } }),
        y: axis("", { min: -0.28 * top, max: 1.06 * top, grid: { display: false, drawBorder: false }, ticks: { display: false } }),
      },
      plugins: { tooltip: { enabled: false } },
    },
  });
  const every = data.curve_stride > 1 ? ` The curves use one in ${whole(data.curve_stride)} draws.` : "";
  const both = row.density.recycled ? "Both curves estimate the same posterior density; the recycled one uses more states. " : "";
  byId("density-caption").textContent = `${both}Bars: median, central 50% and 95% intervals.${every}`;
}

function drawRanks(row) {
  const box = byId("ranks");
  for (const canvas of box.querySelectorAll("canvas")) {
    charts.get(canvas)?.destroy();
    charts.delete(canvas);
  }
  box.classList.toggle("few", row.ranks.length <= 4);
  const ceiling = Math.max(1, most(row.ranks.flat()));
  box.replaceChildren(...row.ranks.map(() => {
    const canvas = make("canvas", { role: "img" });
    return make("div", { class: "plot" }, canvas);
  }));
  row.ranks.forEach((counts, chain) => {
    const even = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    draw(box.querySelectorAll("canvas")[chain], `Ranks of ${row.name} in chain ${chain + 1}`, {
      type: "bar",
      data: {
        datasets: [
          line("", [{ x: -0.5, y: even }, { x: counts.length - 0.5, y: even }], colour("ink"), { borderWidth: 1.2, borderDash: [4, 3] }),
          { type: "bar", label: "", data: counts.map((y, x) => ({ x, y })), backgroundColor: faint(chainColour(chain), 0.75), barPercentage: 1, categoryPercentage: 0.92 },
        ],
      },
      options: {
        scales: {
          x: axis("", { min: -0.5, max: counts.length - 0.5, offset: false, grid: { display: false }, ticks: { display: false } }),
          y: axis("", { min: 0, max: 1.15 * ceiling, ticks: { maxTicksLimit: 4, precision: 0 } }),
        },
        plugins: {
          legend: { display: false },
          tooltip: { enabled: false },
          title: { display: true, text: `chain ${chain + 1}`, color: colour("muted"), font: { weight: "normal" }, padding: 2 },
        },
      },
    });
  });
  byId("ranks-caption").textContent = data.chains > 1
    ? "Histograms of each chain’s ranks among the draws of all chains. If the chains agree, the histograms are flat: all bars are close to the dashed line."
    : "With a single chain the ranks are uniform by construction.";
}

const SUMMARIES = ["mean", "sd", "2.5%", "5%", "25%", "50%", "75%", "95%", "97.5%"];

/** Every estimate with its Monte Carlo error: plain, recycled, sharpened. */
function fillEstimates(row) {
  const { plain, recycled, sharpened, features } = row.estimates;
  const kinds = [["Plain chain", plain], ["Recycled", recycled], ["Sharpened", sharpened]].filter(([, values]) => values);
  const head = make("tr", {}, make("th", { scope: "col" }, ""),
    ...kinds.map(([title]) => make("th", { scope: "col" }, title)));
  if (features) head.append(make("th", { scope: "col", class: "left" }, "Features"));
  byId("estimates").tHead.replaceChildren(head);
  byId("estimates").tBodies[0].replaceChildren(...SUMMARIES.map((label, k) => {
    const line = make("tr", {}, make("th", { scope: "row" }, label));
    for (const [, values] of kinds) {
      const [x, error] = values[k];
      line.append(make("td", {}, byError(x, error), missing(error) ? "" : make("span", { class: "error" }, ` ± ${significant(error, 2)}`)));
    }
    if (features) line.append(make("td", { class: "left muted" }, features[k].replace("_", " and ")));
    return line;
  }));
  byId("estimates-caption").textContent = row.not_sharpened
    ? `Estimate ± Monte Carlo standard error. Not sharpened: ${row.not_sharpened}.`
    : `Estimate ± Monte Carlo standard error.${features ? " Features: the control variates used; with “none”, the sharpened estimate equals the recycled one." : ""}`;
}

/** Makes a parameter the chosen one: its plots and estimates are shown. */
function choose(row) {
  table.chosen = row;
  byId("chosen").value = String(row.index);
  byId("parameter-title").textContent = row.name;
  for (const tr of byId("table").tBodies[0].rows) {
    tr.classList.toggle("chosen", tr.dataset.index === String(row.index));
  }
  drawTrace(row);
  drawDensity(row);
  drawRanks(row);
  fillEstimates(row);
}
