// Fills the report's page from its data: headline, table, and plots by Chart.js.
(() => {
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const rows = data.parameters;
const plotted = rows.filter((row) => row.values);
const byIndex = new Map(rows.map((row) => [row.index, row]));
const recycles = rows.some((row) => row.recycled);
const sharpens = rows.some((row) => row.sharpened);
const gradients = data.gradients ?? {};
const diagnostics = data.diagnostics;

const LEAST_ESS = 100 * data.chains;
const MOST_RHAT = 1.01;
const LEAST_EBFMI = 0.3;
const ROWS_AT_ONCE = 100;

// --- Small tools --------------------------------------------------------------------------------

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; text is never read as HTML. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const known = (values) => values.filter((x) => x !== null && x !== undefined);
const least = (values) => known(values).reduce((a, b) => Math.min(a, b), Infinity);
const most = (values) => known(values).reduce((a, b) => Math.max(a, b), -Infinity);

function median(values) {
  const sorted = known(values).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const DASH = "–";
const missing = (x) => x === null || x === undefined || !Number.isFinite(x);
/** With a minus sign in place of a hyphen, and none before zero. */
const withMinus = (text) => text.replace(/^-(?=[0.]*$)/, "").replace(/-/g, "\u2212");
const whole = (x) => (missing(x) ? DASH : Math.round(x).toLocaleString("en-US"));

/** So many significant digits, without an exponent where that is readable. */
function significant(x, digits = 3) {
  if (missing(x)) return DASH;
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e7 || size < 1e-4) return withMinus(x.toExponential(digits - 1));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return withMinus(x.toFixed(decimals));
}

/** Digits up to the second one of the error: the rest is noise. */
function byError(x, error) {
  if (missing(x)) return DASH;
  if (missing(error) || !(error > 0) || Math.abs(x) >= 1e7) return significant(x, 4);
  const decimals = 1 - Math.floor(Math.log10(error));
  if (decimals > 9) return significant(x, 6);
  return withMinus(x.toFixed(Math.max(0, decimals)));
}

/** Large ones with commas, to three digits. */
function times(x) {
  if (missing(x)) return DASH;
  if (x < 999.5) return `${significant(x, x < 9.95 ? 2 : 3)}\u00d7`;
  const unit = 10 ** (Math.floor(Math.log10(x)) - 2);
  return `${whole(Math.round(x / unit) * unit)}\u00d7`;
}

/** An effective number of draws is not known to more than two digits. */
function roughly(x) {
  if (missing(x) || x < 100) return whole(x);
  const unit = 10 ** (Math.floor(Math.log10(x)) - 1);
  return whole(Math.round(x / unit) * unit);
}
const fixed = (x, decimals) => (missing(x) ? DASH : withMinus(x.toFixed(decimals)));
const plural = (n, one, many = `${one}s`) => `${whole(n)} ${n === 1 ? one : many}`;

function seconds(x) {
  if (missing(x)) return DASH;
  if (x < 120) return `${significant(x, 2)} s`;
  return x < 7200 ? `${significant(x / 60, 2)} min` : `${significant(x / 3600, 2)} h`;
}

// --- Headline -----------------------------------------------------------------------------------

const NOT_CONVERGED = ["rhat", "stuck", "not_finite"];
const GRAVE = new Set([...NOT_CONVERGED, "stein_check"]);

function verdict() {
  const kinds = diagnostics.warnings.map((warning) => warning.kind);
  const judged = rows.filter((row) => row.convergence[2] !== null);
  if (rows.length === 0) return ["", "Nothing to judge", "this run has no parameters on record."];
  if (kinds.some((kind) => NOT_CONVERGED.includes(kind))) {
    return ["bad", "Not converged", "do not use these draws yet; what to do is said below."];
  }
  if (kinds.includes("stein_check")) {
    return ["bad", "Stein check failed", "averages that must be 0 are not; what that may mean is said below."];
  }
  if (data.short || judged.length === 0) {
    return ["caution", "Cannot tell", "there is too little to judge convergence by. Take more draws."];
  }
  const rhat = most(judged.map((row) => row.convergence[2]));
  const ess = least(judged.flatMap((row) => row.convergence.slice(0, 2)));
  const evidence = `R-hat is at most ${fixed(rhat, 3)}, the effective sample size at least ${whole(ess)}`;
  if (kinds.includes("gradient")) {
    return ["caution", "Wrong gradient", `${evidence}, but the model’s gradient is not that of its density.`];
  }
  if (kinds.includes("divergences")) {
    return ["caution", "Look closer", `${plural(diagnostics.divergences, "divergence")}: a part of the posterior may be missing.`];
  }
  if (kinds.length > 0) return ["caution", "Usable with care", `${evidence}; see below.`];
  if (data.chains === 1) {
    return ["good", "No sign of trouble", `${evidence}. With one chain only, its halves are compared; run four to be surer.`];
  }
  return ["good", "Converged", `${evidence}, and nothing diverged.`];
}

function gainSentence() {
  if (!recycles) {
    return rows.length === 0 ? "" : "This run did not recycle: only the chain’s own draws were used. Recycling costs no gradient; try it with --recycle 8.";
  }
  const gains = known(rows.map((row) => row.gain && row.gain[0]));
  if (gains.length === 0) return "What recycling gained cannot be told, since there are no error bars to compare.";
  const middle = median(gains);
  const [low, high] = [times(least(gains)), times(most(gains))];
  const range = low === high ? "" : ` (from ${low} to ${high}, by parameter)`;
  const typical = gains.length > 1 ? "typically " : "";
  if (middle < 1.05) {
    return `Recycling gained little for the means here: ${typical}${times(middle)}${range}. Where the chain itself moves slowly, the states of one trajectory know little more than its draw. It cost no gradient.`;
  }
  return `Recycling made means ${typical}as exact as ${significant(middle, 2)} times as many draws would${range}, at no further gradient.`;
}

function sharpenedSentence() {
  if (!sharpens) return gradients.refused && gradients.stein ? `Not sharpened: ${gradients.refused}.` : "";
  const worth = (k) => roughly(median(rows.map((row) => row.sharpened && row.sharpened[k])));
  const median_over = rows.length > 1 ? " (medians over parameters)" : "";
  const tail = known(rows.map((row) => row.sharpened && row.sharpened[4])).length > 0 ? `, ${worth(4)} for a 97.5% quantile` : "";
  return `Sharpened by its gradients, this run of ${whole(data.draws)} draws is worth ${worth(2)} independent ones for a mean, ${worth(3)} for an sd${tail}${median_over}.`;
}

function fillHeadline() {
  const [mood, word, rest] = verdict();
  if (mood) byId("headline").classList.add(mood);
  byId("verdict").append(make("span", { class: "word" }, `${word}: `), rest);
  byId("sharpened").textContent = sharpenedSentence();
  byId("gained").textContent = gainSentence();
  byId("warnings").append(
    ...diagnostics.warnings.map((warning) => {
      const text = warning.text.charAt(0).toUpperCase() + warning.text.slice(1);
      return make("li", { class: GRAVE.has(warning.kind) ? "bad" : "caution" }, text);
    }));

  const fact = (name, value, small = "") =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value, small && make("small", {}, ` ${small}`)));
  const finite = (x) => (Number.isFinite(x) ? x : null);
  const facts = [
    fact("Draws", data.draws > 0 ? whole(data.draws) : "not kept", plural(data.chains, "chain")),
    fact("Parameters", whole(data.dimension)),
    fact("Largest R-hat", fixed(finite(most(rows.map((row) => row.convergence[2]))), 3)),
    fact("Smallest ESS", whole(finite(least(rows.flatMap((row) => row.convergence.slice(0, 2)))))),
    fact("Divergences", whole(diagnostics.divergences)),
  ];
  if (gradients.stein) {
    const { passed, worst, limit } = gradients.stein;
    facts.push(fact("Stein check", passed ? "passed" : "failed", `|z| up to ${fixed(worst, 1)}, limit ${fixed(limit, 1)}`));
  }
  const typical = (key) => times(median(rows.map((row) => row[key] && row[key][0])));
  if (sharpens) {
    facts.push(fact("Typical gain", typical("sharpened_gain"), `${typical("gain")} without gradients`));
  } else if (recycles) {
    facts.push(fact("Typical gain", typical("gain")));
  }
  if (diagnostics.gradients_sampling > 0) {
    facts.push(fact("Gradients", whole(diagnostics.gradients_sampling), `+ ${whole(diagnostics.gradients_warmup)} in warmup`));
  }
  if (diagnostics.seconds_sampling > 0) {
    facts.push(fact("Time", seconds(diagnostics.seconds_sampling), `+ ${seconds(diagnostics.seconds_warmup)} in warmup`));
  }
  byId("facts").append(...facts);
  const subtitle = [data.date, `${data.kernel}, recycling ${data.recycling}`, `seed ${data.seed}`];
  byId("subtitle").textContent = subtitle.filter(Boolean).join(" · ");
}

// --- Table --------------------------------------------------------------------------------------

const poorEss = (x) => x !== null && x < LEAST_ESS;
const poorRhat = (x) => x !== null && x > MOST_RHAT;

const COLUMNS = [
  { label: "Name", text: true, value: (row) => row.name },
  { label: "Density" },
  { label: "Mean", value: (row) => row.plain[0], show: (x, row) => byError(x, row.plain[1]) },
  { label: "MCSE", value: (row) => row.plain[1], show: (x) => significant(x, 2) },
  { label: "sd", value: (row) => row.plain[2], show: (x) => significant(x, 3) },
  { label: "5%", value: (row) => row.quantiles[1], show: (x, row) => byError(x, row.plain[2] / 10) },
  { label: "50%", value: (row) => row.quantiles[3], show: (x, row) => byError(x, row.plain[2] / 10) },
  { label: "95%", value: (row) => row.quantiles[5], show: (x, row) => byError(x, row.plain[2] / 10) },
  { label: "Bulk ESS", value: (row) => row.convergence[0], show: whole, poor: poorEss },
  { label: "Tail ESS", value: (row) => row.convergence[1], show: whole, poor: poorEss },
  { label: "R-hat", value: (row) => row.convergence[2], show: (x) => fixed(x, 3), poor: poorRhat, descends: true },
];
const PLAIN_COLUMNS = COLUMNS.length - 2;
const GROUPS = [];
function addGroup(title, key, gain) {
  const part = (k) => (row) => (row[key] ? row[key][k] : null);
  const columns = [
    { label: "Mean", value: part(0), show: (x, row) => byError(x, part(1)(row)) },
    { label: "MCSE", value: part(1), show: (x) => significant(x, 2) },
    { label: "ESS", value: part(2), show: whole },
    { label: "Gain", value: (row) => (row[gain] ? row[gain][0] : null), show: times, gain: true, descends: true },
  ];
  // Beside the sharpened ones, recycled means are of little interest; all are shown with the plots.
  const shown = sharpens && key === "recycled" ? columns.slice(3) : columns;
  shown[0].starts = true;
  for (const column of shown) COLUMNS.push({ ...column, group: title.toLowerCase(), why: key === "sharpened" });
  GROUPS.push([title, shown.length]);
}
if (recycles) addGroup("Recycled", "recycled", "gain");
if (sharpens) addGroup("Sharpened", "sharpened", "sharpened_gain");

const table = { column: null, descending: false, filter: "", limit: ROWS_AT_ONCE, chosen: null };

function sparkline(heights) {
  const NS = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("class", "spark");
  svg.setAttribute("viewBox", `0 0 ${heights.length - 1} 36`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(NS, "path");
  const points = [...heights].map((digit, i) => `${i} ${36 - parseInt(digit, 36)}`);
  path.setAttribute("d", `M0 36L${points.join("L")}L${heights.length - 1} 36`);
  svg.append(path);
  return svg;
}

function fillTableHead() {
  const groups = make("tr", {}, make("th", {}, ""), make("th", {}, ""),
    make("th", { colspan: PLAIN_COLUMNS, scope: "colgroup" }, GROUPS.length ? "Plain chain" : ""));
  for (const [title, colspan] of GROUPS) groups.append(make("th", { colspan, scope: "colgroup", class: "start" }, title));
  const head = make("tr");
  for (const column of COLUMNS) {
    const cell = make("th", { scope: "col" });
    if (column.starts) cell.classList.add("start");
    if (column.value) {
      const button = make("button", { type: "button" }, column.label);
      if (column.group) button.setAttribute("aria-label", `${column.label}, ${column.group}`);
      button.addEventListener("click", () => sortBy(column));
      cell.setAttribute("aria-sort", "none");
      cell.append(button);
    } else {
      cell.classList.add("left");
      cell.append(column.label);
    }
    column.cell = cell;
    head.append(cell);
  }
  byId("table").tHead.append(groups, head);
}

function sortBy(column) {
  table.descending = table.column === column ? !table.descending : Boolean(column.descends);
  table.column = column;
  for (const { cell } of COLUMNS) {
    if (cell.hasAttribute("aria-sort")) cell.setAttribute("aria-sort", "none");
  }
  column.cell.setAttribute("aria-sort", table.descending ? "descending" : "ascending");
  fillTable();
}

/** Rows that pass the filter, in order; what is not known comes last either way. */
function shownRows() {
  const wanted = table.filter.trim().toLowerCase();
  const found = rows.filter((row) => row.name.toLowerCase().includes(wanted));
  if (!table.column) return found;
  const { value, text } = table.column;
  const sign = table.descending ? -1 : 1;
  const order = new Intl.Collator("en", { numeric: true });
  return found.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (text) return sign * order.compare(x, y);
    if (missing(x) || missing(y)) return missing(x) - missing(y);
    return sign * (x - y) || a.index - b.index;
  });
}

function tableRow(row) {
  const line = make("tr", { "data-index": row.index });
  for (const column of COLUMNS) {
    const cell = make("td");
    if (column.starts) cell.classList.add("start");
    if (column.text) {
      cell.title = row.name;
      cell.append(row.values ? make("button", { type: "button", class: "name" }, row.name) : row.name);
    } else if (!column.value) {
      cell.classList.add("left");
      if (row.spark) cell.append(sparkline(row.spark));
    } else {
      const x = column.value(row);
      cell.textContent = column.show(x, row);
      if (column.why && row.not_sharpened) cell.title = `not sharpened: ${row.not_sharpened}`;
      if (column.poor && column.poor(x)) cell.classList.add("poor");
      if (column.gain) cell.classList.add("gain");
    }
    line.append(cell);
  }
  if (row.values) {
    line.classList.add("plotted");
    line.addEventListener("click", () => {
      choose(row);
      byId("parameter").scrollIntoView();
    });
  }
  line.classList.toggle("chosen", row === table.chosen);
  return line;
}

function fillTable() {
  const found = shownRows();
  const shown = found.slice(0, table.limit);
  byId("table").tBodies[0].replaceChildren(...shown.map(tableRow));
  const hidden = found.length - shown.length;
  byId("shown").textContent = hidden > 0 || table.filter
    ? `${whole(shown.length)} of ${plural(found.length, "parameter")} shown${table.filter ? ` that match “${table.filter}”` : ""}.`
    : plotted.length ? "Click a row to see its plots, a heading to sort." : "";
  byId("more").hidden = hidden === 0;
}

function setUpTable() {
  fillTableHead();
  fillTable();
  byId("filter").addEventListener("input", (event) => {
    table.filter = event.target.value;
    fillTable();
  });
  byId("more").addEventListener("click", () => {
    table.limit += 5 * ROWS_AT_ONCE;
    fillTable();
  });
  for (const part of document.querySelectorAll(".if-recycled")) part.hidden = !recycles;
  for (const part of document.querySelectorAll(".if-sharpened")) part.hidden = !sharpens;
}

function sayWhatIsLeftOut() {
  const say = (id, text) => {
    byId(id).textContent = text;
    byId(id).hidden = false;
  };
  const { rows: table_rows, plotted: plots } = data.omitted;
  if (table_rows) {
    say("rows-left-out", `The table has ${whole(table_rows[0])} of ${whole(table_rows[1])} parameters: the first ones and the worst ones. All are in the run’s summary.json.`);
  }
  if (plots) {
    say("plots-left-out", `Plots are there for ${whole(plots[0])} of ${whole(plots[1])} parameters: the first ones, those with the smallest effective sample sizes, and those where divergences gather.`);
  }
}

// --- Plots: what they share ---------------------------------------------------------------------

const charts = new Map();
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const chainColour = (chain) => colour(`chain-${(chain % 6) + 1}`);

/** A colour of the form #rrggbb, made see-through. */
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

/** Draws a chart anew; `label` is what those hear who do not see it. */
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

/** Says in place of a plot why there is none. */
function leaveEmpty(id, reason) {
  const canvas = byId(id);
  charts.get(canvas)?.destroy();
  charts.delete(canvas);
  canvas.parentElement.hidden = true;
  byId(`${id}-empty`).textContent = reason;
  byId(`${id}-empty`).hidden = false;
}

function makeRoom(id) {
  byId(id).parentElement.hidden = false;
  byId(`${id}-empty`).hidden = true;
}

const line = (label, points, hue, more = {}) => ({
  type: "line", label, data: points, borderColor: hue, backgroundColor: faint(hue, 0.14), borderWidth: 1.8,
  pointRadius: 0, pointHitRadius: 6, pointStyle: "line", ...more,
});

const onGrid = ({ least: from, most: to }, heights) =>
  heights.map((y, i) => ({ x: from + ((to - from) * i) / (heights.length - 1), y }));

/** The values of a parameter at the points that are shown. */
function valuesOf(row) {
  const { least: from, most: to, parts } = row.values;
  return parts.map((part) => (part === null ? NaN : from + (part / data.quantum) * (to - from)));
}

/** Where most values lie, and all those that must be seen: an outlier does not set the scale. */
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

// --- Plots of one parameter ---------------------------------------------------------------------

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
  draw(byId("trace"), `Trace of ${row.name}: its value in every chain, draw by draw`, {
    type: "line",
    data: { datasets },
    options: {
      scales: { x: axis("draw", { grid: { display: false }, min: 1, ticks: { precision: 0 } }), y: axis("") },
      plugins: { tooltip: { enabled: false } },
    },
  });
  const every = data.points.stride > 1 ? ` Every ${whole(data.points.stride)}th draw is shown.` : "";
  const some = data.omitted.chains ? ` The first ${data.omitted.chains[0]} of ${whole(data.omitted.chains[1])} chains are shown.` : "";
  byId("trace-caption").textContent =
    `Healthy chains look like one fuzzy band; a chain that stays elsewhere, or drifts, has not converged.${every}${some}`;
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
  if (!row.density) return leaveEmpty("density", "There is no density to show: these draws do not vary.");
  makeRoom("density");
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
  const every = data.curve_stride > 1 ? ` The curves are made of every ${whole(data.curve_stride)}th draw.` : "";
  const both = row.density.recycled ? "Both curves estimate the same posterior; the recycled one has more states to go by. " : "";
  byId("density-caption").textContent = `${both}Below: the median, the middle 50% and 95%.${every}`;
}

function drawRanks(row) {
  const box = byId("ranks");
  for (const canvas of box.querySelectorAll("canvas")) {
    charts.get(canvas)?.destroy();
    charts.delete(canvas);
  }
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
    ? "Where each chain’s draws stand among those of all chains, from the smallest on the left to the largest on the right. If the chains agree, all bars reach about the dashed line."
    : "With one chain there is nothing to compare its ranks with: all bars are alike by construction.";
}

const SUMMARIES = ["mean", "sd", "2.5%", "5%", "25%", "50%", "75%", "95%", "97.5%"];

/** Every summary with its error, in all the ways it was estimated. */
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
    ? `Each with its Monte Carlo error (±). Not sharpened: ${row.not_sharpened}.`
    : `Each with its Monte Carlo error (±), to the error’s second digit.${features ? " Features: which control variates served; with none, the recycled estimate stands." : ""}`;
}

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

// --- Plots of the whole run ---------------------------------------------------------------------

const GAINS = [
  { label: "mean", hue: "recycled", style: "circle" },
  { label: "sd", hue: "third", style: "rectRot" },
  { label: "97.5% quantile", hue: "plain", style: "triangle" },
];

function logTicks(values) {
  const low = Math.min(0.9, 0.9 * least(values));
  const high = Math.max(2.2, 1.15 * most(values));
  return {
    type: "logarithmic", min: low, max: high,
    afterBuildTicks: (scale) => {
      const steps = high / low > 100 ? [1] : high / low > 30 ? [1, 3] : [1, 1.5, 2, 3, 5, 7];
      const ticks = [];
      for (let power = -6; power <= 9; ++power) ticks.push(...steps.map((step) => step * 10 ** power));
      scale.ticks = ticks.filter((value) => value >= low && value <= high).map((value) => ({ value }));
    },
    ticks: { callback: (value) => `${+value.toPrecision(2)}×` },
  };
}

/** Marks of one kind for every parameter that has them: of recycled states, or of gradients too. */
function gainMarks(key, withGain, named, filled, place) {
  const radius = named ? (filled ? 5 : 4) : withGain.length < 500 ? 2.5 : 1.8;
  return GAINS.map(({ label, hue, style }, k) => ({
    type: "scatter", label: filled ? label : "", pointStyle: style, radius, hoverRadius: 7, kind: key, order: filled ? 1 : 2,
    borderWidth: named ? 1.2 : filled ? 0 : 0.8, borderColor: colour(hue),
    backgroundColor: filled ? faint(colour(hue), named ? 0.75 : 0.55) : colour("card"),
    data: withGain.map((row, i) => ({ ...place(row[key] ? row[key][k] : null, i, k), row, summary: label }))
      .filter((point) => !missing(point.x) && !missing(point.y)),
  }));
}

/** From the recycled to the sharpened gain of every summary. */
function gainLines(withGain, place) {
  return GAINS.flatMap(({ hue }, k) => withGain.flatMap((row, i) => {
    if (!row.gain || !row.sharpened_gain || missing(row.gain[k]) || missing(row.sharpened_gain[k])) return [];
    const ends = [place(row.gain[k], i, k), place(row.sharpened_gain[k], i, k)];
    return [line("", ends, faint(colour(hue), 0.5), { borderWidth: 1.2, pointHitRadius: 0, order: 3 })];
  }));
}

function drawGains() {
  const withGain = rows.filter((row) => known([...(row.gain ?? []), ...(row.sharpened_gain ?? [])]).length > 0);
  if (withGain.length === 0) {
    byId("gains-caption").hidden = true;
    return leaveEmpty("gains", recycles ? "There are no error bars to compare." : "This run did not recycle.");
  }
  // Few parameters: one line each, with its name. Many: in a row.
  const named = withGain.length <= 40;
  byId("gains-plot").style.height = named ? `${6.5 + (sharpens ? 2.1 : 1.7) * withGain.length}rem` : "";
  const scale = logTicks(known(withGain.flatMap((row) => [...(row.gain ?? []), ...(row.sharpened_gain ?? [])])));
  const apart = sharpens ? 0.26 : 0;
  const place = (gain, i, k) => (named ? { x: gain, y: missing(gain) ? NaN : i + apart * (k - 1) } : { x: i + 1, y: gain });
  const datasets = gainMarks("gain", withGain, named, !sharpens, place);
  if (sharpens) {
    datasets.push(...gainMarks("sharpened_gain", withGain, named, true, place));
    if (recycles) datasets[0].label = "recycled alone (hollow)";
    if (named) datasets.push(...gainLines(withGain, place));
  }
  const [from, to] = named ? [-0.6, withGain.length - 0.4] : [0, withGain.length + 1];
  datasets.push(line("", named ? [{ x: 1, y: from }, { x: 1, y: to }] : [{ x: from, y: 1 }, { x: to, y: 1 }], colour("ink"), { borderWidth: 1.2, borderDash: [4, 3], pointHitRadius: 0, order: 4 }));
  const gainAxis = axis(named ? "gain (plain chain = 1)" : "", scale);
  const nameAxis = axis("", {
    min: from, max: to, reverse: named, grid: { display: named },
    afterBuildTicks: named ? (a) => { a.ticks = withGain.map((_, value) => ({ value })); } : undefined,
    ticks: named
      ? { autoSkip: false, color: colour("ink"), callback: (value) => clipped(withGain[value]?.name ?? "") }
      : { callback: (value) => (Number.isInteger(value) && withGain[value - 1] ? clipped(withGain[value - 1].name) : "") },
  });
  const kinds = { gain: "recycled", sharpened_gain: "sharpened" };
  draw(byId("gains"), `Gain by parameter of recycling${sharpens ? " and of sharpening" : ""}, for mean, sd and 97.5% quantile`, {
    type: "scatter",
    data: { datasets },
    options: {
      scales: named ? { x: gainAxis, y: nameAxis } : { x: nameAxis, y: gainAxis },
      plugins: {
        tooltip: {
          filter: (item) => Boolean(item.raw.row),
          callbacks: {
            label: ({ dataset, raw }) => `${raw.row.name}, ${raw.summary}, ${kinds[dataset.kind]}: ${times(named ? raw.x : raw.y)}`,
          },
        },
      },
    },
  });
}

const clipped = (name) => (name.length > 22 ? `${name.slice(0, 21)}…` : name);

function drawEnergies() {
  byId("ebfmi").replaceChildren(...diagnostics.ebfmi.map((x, chain) =>
    make("span", { class: x !== null && x < LEAST_EBFMI ? "poor" : "" }, `chain ${chain + 1}: E-BFMI ${fixed(x, 2)}`)));
  if (data.omitted.chains) byId("ebfmi").append(`and ${whole(data.omitted.chains[1] - data.omitted.chains[0])} more chains`);
  if (!data.energy) {
    byId("ebfmi").hidden = byId("energy-caption").hidden = true;
    return leaveEmpty("energies", "There are no energies on record, or they do not vary.");
  }
  draw(byId("energies"), "Distribution of the energy, and of its change from draw to draw", {
    type: "line",
    data: {
      datasets: [
        line("energy, about its mean", onGrid(data.energy, data.energy.marginal), colour("plain"), { borderWidth: 2.2 }),
        line("change of energy in one draw", onGrid(data.energy, data.energy.change), colour("third"), { fill: "origin" }),
      ],
    },
    options: {
      scales: {
        x: axis("energy", { min: data.energy.least, max: data.energy.most, grid: { display: false } }),
        y: axis("", { min: 0, grid: { display: false, drawBorder: false }, ticks: { display: false } }),
      },
      plugins: { tooltip: { enabled: false } },
    },
  });
}

/** The Stein check on a scale from 0 to its limit and beyond, and the look at the gradient itself. */
function fillChecks() {
  const { stein, spot } = gradients;
  byId("checks").hidden = !stein && !spot;
  if (stein) {
    const end = Math.max(1.5 * stein.limit, 1.1 * stein.worst);
    const share = (x) => `${(100 * x) / end}%`;
    const gauge = byId("gauge");
    gauge.classList.toggle("poor", !stein.passed);
    gauge.setAttribute("aria-label", `Worst |z| ${fixed(stein.worst, 1)}, limit ${fixed(stein.limit, 1)}`);
    gauge.style.setProperty("--worst", share(stein.worst));
    gauge.style.setProperty("--limit", share(stein.limit));
    gauge.hidden = false;
    byId("stein").replaceChildren(
      make("span", { class: stein.passed ? "passed" : "failed" }, stein.passed ? "Stein check passed" : "Stein check failed"),
      `: of ${whole(stein.features)} averages that must be 0, the worst (${stein.parameter}) is ${fixed(stein.worst, 1)} standard errors away; the limit is ${fixed(stein.limit, 1)}.`);
  }
  if (spot) {
    byId("spot").replaceChildren(
      make("span", { class: spot.passed ? "passed" : "failed" }, spot.passed ? "Gradient right where looked at" : "Gradient wrong"),
      spot.passed
        ? ": in every chain it agrees with differences of the log density, along single coordinates and a random direction."
        : `: along ${spot.where} the model says ${significant(spot.model, 5)}, differences of its log density say ${significant(spot.differences, 5)}.`);
  }
}

function drawPair() {
  if (plotted.length < 2) {
    byId("pairs-menus").hidden = true;
    return leaveEmpty("pair", plotted.length ? "There is one parameter only." : "There are no draws on record.");
  }
  const [across, up] = ["pair-x", "pair-y"].map((id) => byIndex.get(Number(byId(id).value)));
  const [x, y] = [valuesOf(across), valuesOf(up)];
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
  draw(byId("pair"), `Draws of ${across.name} and ${up.name}; ${plural(divergent.length, "divergent draw")} marked`, {
    type: "scatter",
    data: { datasets },
    options: { scales: { x: axis(across.name, range.x), y: axis(up.name, range.y) }, plugins: { tooltip: { enabled: false } } },
  });
  const outside = ordinary.filter((point) => ["x", "y"].some((k) => point[k] < range[k].min || point[k] > range[k].max)).length;
  const far = outside > 0 ? ` ${plural(outside, "draw")} farther out ${outside === 1 ? "is" : "are"} not shown.` : "";
  const left = data.omitted.divergences ? ` ${whole(data.omitted.divergences[0])} of ${whole(data.omitted.divergences[1])} divergences are shown.` : "";
  byId("pair-caption").textContent = (diagnostics.divergences > 0
    ? "Crosses mark draws whose trajectory diverged. Where they crowd, the posterior is too sharp for the step size; such a place is often the neck of a funnel."
    : "No trajectory diverged. Long thin or curved shapes are what makes a posterior hard to sample.") + left + far;
}

function drawPath() {
  const { states, length } = data.trajectory;
  if (states.length === 0) {
    byId("path-caption").hidden = true;
    return leaveEmpty("path", "No trajectory was recorded for this page.");
  }
  const single = data.dimension < 2;
  const byWeight = data.recycling === "all";
  const at = (state, i) => (single ? { x: i, y: state.x, state } : { x: state.x, y: state.y, state });
  const points = states.map(at);
  const only = (test) => points.filter(({ state }) => test(state));
  const isKept = (state) => recycles && state.slots > 0;
  const kept = only((state) => isKept(state) && !state.dropped);
  const radius = ({ state }) => (byWeight ? 2.5 + 16 * Math.sqrt(state.weight) : 2 + 3.2 * Math.sqrt(state.slots));
  const grey = colour("plain");
  const blue = colour("recycled");
  const dropped = (point) => point.state.dropped;
  const hollow = (label, chosen, hue, size) => ({
    type: "scatter", label, data: chosen, radius: size, borderWidth: 1.5, borderColor: hue, backgroundColor: colour("card"), order: 3,
  });
  const datasets = [
    hollow("in the trajectory, not kept", only((state) => !isKept(state) && !state.dropped), blue, 3.5),
    hollow("dropped", only((state) => state.dropped), grey, 3),
    { type: "scatter", label: `recycled (area by ${byWeight ? "weight" : "times kept"})`, data: kept, radius: kept.map(radius), borderWidth: 0, backgroundColor: faint(blue, 0.85), order: 2 },
    { type: "scatter", label: "start", data: only((state) => state.start), pointStyle: "rectRot", radius: 8, borderWidth: 2.5, borderColor: colour("good"), backgroundColor: "transparent", order: 1 },
    { type: "scatter", label: "next draw of the chain", data: only((state) => state.selected), radius: 11, borderWidth: 2.5, borderColor: colour("alarm"), backgroundColor: "transparent", order: 1 },
  ].filter((dataset) => dataset.data.length > 0);
  datasets.push(line("", points, faint(blue, 0.7), {
    borderWidth: 1.3, order: 4, pointHitRadius: 0,
    segment: {
      borderColor: ({ p0DataIndex: i, p1DataIndex: j }) => (dropped(points[i]) || dropped(points[j]) ? faint(grey, 0.8) : undefined),
      borderDash: ({ p0DataIndex: i, p1DataIndex: j }) => (dropped(points[i]) || dropped(points[j]) ? [3, 3] : undefined),
    },
  }));
  const [first, second] = [byIndex.get(0), byIndex.get(1)];
  let range = { x: {}, y: {} };
  if (!single && first?.values && second?.values) {
    const [x, y] = [valuesOf(first), valuesOf(second)];
    datasets.push({
      type: "scatter", label: "draws of the run", data: x.map((_, i) => ({ x: x[i], y: y[i] })).filter((_, i) => i % Math.ceil(x.length / 1500) === 0),
      radius: 1.3, borderWidth: 0, backgroundColor: faint(grey, 0.3), order: 9,
    });
    // The trajectory with its surroundings, which may be a small part of the posterior.
    const around = (k) => limits([], states.map((state) => state[k]), 0.25);
    range = { x: around("x"), y: around("y") };
  }
  draw(byId("path"), `One trajectory of ${plural(length, "state")}: which were recycled, which dropped`, {
    type: "scatter",
    data: { datasets },
    options: {
      scales: {
        x: axis(single ? "step along the path" : first?.name ?? "", range.x),
        y: axis(single ? first?.name ?? "" : second?.name ?? "", range.y),
      },
      plugins: {
        tooltip: {
          filter: (item) => Boolean(item.raw.state) && item.dataset.label !== "",
          callbacks: { label: ({ dataset, raw }) => `${dataset.label}: weight ${significant(raw.state.weight, 2)}${recycles ? `, kept ${raw.state.slots ?? 0} times` : ""}` },
        },
      },
    },
  });
  const thinned = states.length < length ? ` ${whole(states.length)} of its ${whole(length)} states are shown.` : "";
  byId("path-caption").textContent = recycles
    ? `One draw of HMC takes a whole trajectory, of which the plain chain uses a single state. Recycling also uses the states on the way. A stretch that turned back or diverged (dashed) is dropped, or the draws would be biased.${thinned}`
    : `One draw of HMC takes a whole trajectory, of which the plain chain uses a single state. This run did not recycle the others.${thinned}`;
}

// --- Settings, citation, menus, theme -----------------------------------------------------------

function fillSettings() {
  byId("settings-list").append(...data.settings.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  byId("command").textContent = data.command;
  byId("again").hidden = !data.command;
  byId("settings").hidden = data.settings.length === 0 && !data.command;
  const software = `rehmc ${data.version}`.trim();
  byId("software").textContent = software;
  byId("cite-software").textContent = `${software}: Hamiltonian Monte Carlo that throws no gradient away.`;
  byId("bibtex").textContent = `@article{nishimura2020recycling,
  author  = {Nishimura, Akihiko and Dunson, David},
  title   = {Recycling Intermediate Steps to Improve {Hamiltonian} {Monte} {Carlo}},
  journal = {Bayesian Analysis},
  year    = {2020},
  volume  = {15},
  number  = {4},
  pages   = {1087--1108},
  doi     = {10.1214/19-BA1171}
}

@software{rehmc,
  author  = {{The rehmc developers}},
  title   = {rehmc: {Hamiltonian} {Monte} {Carlo} that throws no gradient away},
  version = {${data.version}}
}`;
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const source = byId(button.dataset.copy);
      getSelection().selectAllChildren(source);  // what remains where the clipboard is out of reach
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Selected";
      }
    });
  }
}

function fillMenus() {
  const options = () => plotted.map((row) => make("option", { value: row.index }, row.name));
  for (const id of ["chosen", "pair-x", "pair-y"]) byId(id).append(...options());
  byId("chosen").addEventListener("change", (event) => choose(byIndex.get(Number(event.target.value))));
  if (data.pair.length === 2) {
    [byId("pair-x").value, byId("pair-y").value] = data.pair.map(String);
  }
  for (const id of ["pair-x", "pair-y"]) byId(id).addEventListener("change", drawPair);
}

function drawAll() {
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12.5;
  if (plotted.length > 0) {
    choose(table.chosen ?? plotted[0]);
  } else {
    byId("parameter").hidden = true;
  }
  drawGains();
  drawPair();
  drawPath();
  drawEnergies();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", theme === "dark" ? "Switch to light colours" : "Switch to dark colours");
  byId("theme").setAttribute("aria-pressed", String(theme === "dark"));
  drawAll();
}

function setUpTheme() {
  const root = document.documentElement;
  byId("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light"));
  setTheme(root.dataset.theme);
}

fillHeadline();
setUpTable();
sayWhatIsLeftOut();
fillChecks();
fillSettings();
fillMenus();
setUpTheme();
})();
