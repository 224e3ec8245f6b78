// The data of the run, and the limits that call for attention.

const data = JSON.parse(document.getElementById("data").textContent);
// Constants last, generated quantities after parameters.
const rank = (row) => 2 * Boolean(row.constant) + Boolean(row.generated);
const rows = data.parameters.sort((a, b) => rank(a) - rank(b) || a.index - b.index);
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
