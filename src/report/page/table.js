// The table of parameters: sorted, filtered, a page of rows at a time.

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
    { label: "ESS", value: part(2), show: effective },
    { label: "Gain", value: (row) => (row[gain] ? row[gain][0] : null), show: times, gain: true, descends: true },
  ];
  // Next to sharpened estimates, recycled ones show their gain only; the plots' table has them all.
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

/** The rows that match the filter, sorted; unknown values come last in either direction. */
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
    ? `${whole(shown.length)} of ${plural(found.length, "parameter")}${table.filter ? ` matching “${table.filter}”` : ""} shown.`
    : plotted.length ? "Click a row to see its plots, a column heading to sort." : "";
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

function showOmissions() {
  const show = (id, text) => {
    byId(id).textContent = text;
    byId(id).hidden = false;
  };
  const { rows: tableRows, plotted: plots } = data.omitted;
  if (tableRows) {
    show("rows-left-out", `The table lists ${whole(tableRows[0])} of ${whole(tableRows[1])} parameters: the first, and those with the smallest effective sample sizes. summary.json has all of them.`);
  }
  if (plots) {
    show("plots-left-out", `Plots are available for ${whole(plots[0])} of ${whole(plots[1])} parameters: the first, those with the smallest effective sample sizes, and those where divergences concentrate.`);
  }
}
