// Small tools: elements, and numbers as text.

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; strings become text, never HTML. */
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
/** With a minus sign instead of a hyphen, and none before zero. */
const withMinus = (text) => text.replace(/^-(?=[0.]*$)/, "").replace(/-/g, "\u2212");
const whole = (x) => (missing(x) ? DASH : Math.round(x).toLocaleString("en-US"));

/** Rounded to significant digits; with an exponent only for very large and very small numbers. */
function significant(x, digits = 3) {
  if (missing(x)) return DASH;
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e7 || size < 1e-4) return withMinus(x.toExponential(digits - 1));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return withMinus(x.toFixed(decimals));
}

/** Rounded to the second digit of the error; further digits are noise. */
function byError(x, error) {
  if (missing(x)) return DASH;
  if (missing(error) || !(error > 0) || Math.abs(x) >= 1e7) return significant(x, 4);
  const decimals = 1 - Math.floor(Math.log10(error));
  if (decimals > 9) return significant(x, 6);
  return withMinus(x.toFixed(Math.max(0, decimals)));
}

/** Precision beyond this is that of rounding, not of sampling. */
const EXACT_FROM = 1e6;
const EXACT = ">1e6";

/** An effective sample size. */
const effective = (x) => (x > EXACT_FROM ? EXACT : whole(x));

/** A factor such as 1.7×; large ones to three digits, with commas. */
function times(x) {
  if (missing(x)) return DASH;
  if (x > EXACT_FROM) return EXACT;
  if (x < 999.5) return `${significant(x, x < 9.95 ? 2 : 3)}\u00d7`;
  const unit = 10 ** (Math.floor(Math.log10(x)) - 2);
  return `${whole(Math.round(x / unit) * unit)}\u00d7`;
}

/** To two digits, since an ESS is not known better. */
function roughly(x) {
  if (missing(x) || x < 100) return whole(x);
  if (x > EXACT_FROM) return "over 1,000,000";
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
