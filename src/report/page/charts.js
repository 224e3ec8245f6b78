// What all plots share: colours, axes, and drawing by Chart.js.

const charts = new Map();
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const chainColour = (chain) => colour(`chain-${(chain % 6) + 1}`);

/** A colour #rrggbb with transparency. */
const faint = (hex, alpha) => hex + Math.round(255 * alpha).toString(16).padStart(2, "0");

function axis(title, more = {}) {
  const { ticks, grid, ...rest } = more;
  return {
    type: "linear",
    title: { display: Boolean(title), text: title, color: colour("muted") },
    grid: { color: colour("line"), borderColor: colour("line"), drawTicks: false, ...grid },
    ticks: { color: colour("muted"), padding: 6, maxRotation: 0, autoSkipPadding: 14, includeBounds: false, ...ticks },
    ...rest,
  };
}

/** Draws a chart, replacing the one before; `label` describes it to screen readers. */
function draw(canvas, label, config) {
  charts.get(canvas)?.destroy();
  canvas.setAttribute("aria-label", label);
  const { options = {}, ...rest } = config;
  const { plugins = {}, ...others } = options;
  charts.set(canvas, new Chart(canvas, {
    ...rest,
    options: {
      animation: false,
      maintainAspectRatio: false,
      parsing: false,
      interaction: { mode: "nearest", intersect: true },
      ...others,
      plugins: {
        ...plugins,
        legend: {
          labels: {
            color: colour("ink"), usePointStyle: true, boxWidth: 8, boxHeight: 8, padding: 12,
            filter: (item) => Boolean(item.text),
          },
          position: "bottom",
          ...plugins.legend,
        },
      },
    },
  }));
}

/** Shows the plot of a canvas, or a reason in its place. */
function showPlot(id, reason = "") {
  const canvas = byId(id);
  if (reason) {
    charts.get(canvas)?.destroy();
    charts.delete(canvas);
  }
  canvas.parentElement.hidden = Boolean(reason);
  byId(`${id}-empty`).textContent = reason;
  byId(`${id}-empty`).hidden = !reason;
}

/** Hides the section of a plot that has nothing to show. */
const hideSection = (canvas) => { byId(canvas).closest("section").hidden = true; };

const line = (label, points, hue, more = {}) => ({
  type: "line", label, data: points, borderColor: hue, backgroundColor: faint(hue, 0.14), borderWidth: 1.8,
  pointRadius: 0, pointHitRadius: 6, pointStyle: "line", ...more,
});

const onGrid = ({ least: from, most: to }, heights) =>
  heights.map((y, i) => ({ x: from + ((to - from) * i) / (heights.length - 1), y }));

/** The values of a parameter in the shown draws. */
function valuesOf(row) {
  const { least: from, most: to, parts } = row.values;
  return parts.map((part) => (part === null ? NaN : from + (part / data.quantum) * (to - from)));
}

/** A range that holds 99% of `values` and all of `always`, so that outliers do not set the scale. */
function limits(values, always, room = 0.06) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const at = (p) => sorted[Math.round(p * (sorted.length - 1))];
  const seen = always.filter(Number.isFinite);
  if (sorted.length > 0) seen.push(at(0.005), at(0.995));
  const [from, to] = [least(seen), most(seen)];
  const margin = room * (to - from || Math.abs(to) || 1);
  return { min: from - margin, max: to + margin };
}

const isDivergent = new Set(data.points.divergent);
