// The forest plot: the intervals of all elements of a vector or matrix, side by side.

const variableOf = (name) => name.replace(/\[.*$/, "");
const MOST_NAMED = 40;

/** The vectors among the rows of the table, by name. */
function vectors() {
  const found = new Map();
  for (const row of rows) {
    if (!/\[.*\]$/.test(row.name) || row.constant || missing(row.quantiles[3])) continue;
    const variable = variableOf(row.name);
    found.set(variable, [...(found.get(variable) ?? []), row]);
  }
  return new Map([...found].filter(([, elements]) => elements.length > 1));
}

/** Draws the intervals below the medians. Chart.js has no such lines: its own must not go back along the x-axis. */
const intervalsOf = (elements, place, named) => ({
  id: "intervals",
  beforeDatasetsDraw({ ctx, scales: { x: across, y: down } }) {
    const draw = ([from, to], width) => {
      ctx.beginPath();
      elements.forEach((row, i) => {
        for (const [k, move] of [[from, "moveTo"], [to, "lineTo"]]) {
          const { x, y } = place(row.quantiles[k], i);
          ctx[move](across.getPixelForValue(x), down.getPixelForValue(y));
        }
      });
      ctx.lineWidth = width;
      ctx.stroke();
    };
    ctx.save();
    ctx.strokeStyle = colour("recycled");
    ctx.lineCap = "round";
    draw([0, 6], named ? 1.6 : 1);
    draw([2, 4], named ? 5 : 3);
    ctx.restore();
  },
});

function drawForest() {
  const elements = vectors().get(byId("forest-chosen").value);
  const named = elements.length <= MOST_NAMED;
  byId("forest-plot").style.height = named ? `${5 + 1.3 * elements.length}rem` : "";
  const place = (value, i) => (named ? { x: value, y: i } : { x: i + 1, y: value });
  const hue = colour("recycled");
  const poor = (row) => poorRhat(row.convergence[2]) || poorEss(row.convergence[0]) || poorEss(row.convergence[1]);
  const marks = (label, chosen, edge) => ({
    type: "scatter", label, radius: named ? 4 : 2.5, borderWidth: 1.6, borderColor: edge, backgroundColor: colour("card"), order: 1,
    data: elements.map((row, i) => ({ ...place(row.quantiles[3], i), row })).filter(({ row }) => chosen(row)),
  });
  const datasets = [
    marks("median", (row) => !poor(row), hue),
    marks("median, with a poor R-hat or ESS", poor, colour("bad")),
  ].filter((dataset) => dataset.data.length > 0);
  const ends = elements.flatMap((row) => [row.quantiles[0], row.quantiles[6]]);
  const values = axis(byId("forest-chosen").value, limits([], ends));
  const names = axis("", {
    min: named ? -0.7 : 0, max: named ? elements.length - 0.3 : elements.length + 1, reverse: named, grid: { display: named },
    afterBuildTicks: named ? (a) => { a.ticks = elements.map((_, value) => ({ value })); } : undefined,
    ticks: named
      ? { autoSkip: false, color: colour("ink"), callback: (value) => clipped(elements[value]?.name ?? "") }
      : { callback: (value) => (Number.isInteger(value) && elements[value - 1] ? clipped(elements[value - 1].name) : "") },
  });
  draw(byId("forest"), `Medians and intervals of the elements of ${byId("forest-chosen").value}`, {
    type: "scatter",
    data: { datasets },
    plugins: [intervalsOf(elements, place, named)],
    options: {
      scales: named ? { x: values, y: names } : { x: names, y: values },
      plugins: {
        tooltip: {
          filter: (item) => Boolean(item.raw.row),
          callbacks: { label: ({ raw: { row } }) => `${row.name}: ${byError(row.quantiles[3], row.plain[2] / 10)}` },
        },
      },
    },
  });
}

function setUpForest() {
  const found = vectors();
  byId("vectors").hidden = found.size === 0;
  byId("forest-chosen").append(...[...found].map(([name, elements]) => make("option", { value: name }, `${name} (${elements.length})`)));
  byId("forest-chosen").addEventListener("change", drawForest);
}
