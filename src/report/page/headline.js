// The card at the top: status, gains, warnings, facts.

/** What a run cannot be used with, by the kind of its warning. */
const GRAVE = new Map([
  ["rhat", ["Not converged", "the chains do not agree; do not use these draws yet."]],
  ["stuck", ["A chain is stuck", "it did not move; do not use these draws."]],
  ["not_finite", ["Draws that are not finite", "some quantities are infinite or not numbers."]],
]);

/** What calls for care, the gravest first. */
const CAUTIONS = new Map([
  ["gradient", ["Wrong gradient", "the model’s gradient does not match its log density."]],
  ["divergences", ["Divergences", "part of the posterior may not have been explored."]],
  ["ess", ["Too few effective draws", "error bars are not reliable yet. Run longer."]],
  ["stein_check", ["Stein check", "averages that must be 0 are further off than in most healthy runs."]],
  ["heavy_tails", ["Heavy tails", "means and standard deviations may depend on what this run has not seen; quantiles do not."]],
  ["ebfmi", ["Slow tails", "the energy changes little from draw to draw."]],
  ["warmup", ["Warmup did not settle", "the draws may cost more than they need to."]],
  ["quantities", ["Quantities failed", "some are not numbers in some draws."]],
  ["depth_limit", ["Slow", "trajectories reached the depth limit; the draws are not biased."]],
]);

/** How the run went: a class for the card, a word, and the evidence. */
function status() {
  const kinds = diagnostics.warnings.map((warning) => warning.kind);
  const judged = rows.filter((row) => row.convergence[2] !== null);
  if (rows.length === 0) return ["", "Nothing to report", "this run recorded no parameters."];
  const rhat = most(judged.map((row) => row.convergence[2]));
  const ess = least(judged.flatMap((row) => row.convergence.slice(0, 2)));
  for (const [kind, [word, text]] of GRAVE) {
    if (kinds.includes(kind)) return ["bad", word, kind === "rhat" ? `largest R\u2011hat ${fixed(rhat, 3)}; ${text}` : text];
  }
  if (gradients.stein?.refuses) {
    return ["bad", "Stein check failed", "averages whose expectation is 0 are far from 0; see below for possible causes."];
  }
  if (data.short || judged.length === 0) {
    return ["caution", "Too few draws", "convergence cannot be assessed. Run longer."];
  }
  const evidence = `largest R\u2011hat ${fixed(rhat, 3)}, smallest effective sample size ${whole(ess)}`;
  for (const [kind, [word, text]] of CAUTIONS) {
    if (!kinds.includes(kind)) continue;
    if (kind === "divergences") return ["caution", word, `${plural(diagnostics.divergences, "divergent trajectory", "divergent trajectories")}; ${text}`];
    return ["caution", word, `${text} Otherwise: ${evidence}.`];
  }
  if (kinds.length > 0) return ["caution", "Usable with care", `${evidence}; see below.`];
  if (data.chains === 1) {
    return ["good", "No problems found", `${evidence}. With a single chain, R\u2011hat compares its two halves; run four chains for a stronger check.`];
  }
  return ["good", "Converged", `${evidence}, no divergences.`];
}

function gainSentence() {
  if (!recycles) {
    return rows.length === 0 ? "" : "This run did not recycle: estimates use the chain’s own draws only. Recycling needs no extra gradients; try --recycle 8.";
  }
  const gains = known(rows.map((row) => row.gain && row.gain[0]));
  if (gains.length === 0) return "The gain from recycling is unknown because there are no Monte Carlo errors to compare.";
  const middle = median(gains);
  const [low, high] = [times(least(gains)), times(most(gains))];
  const range = low === high ? "" : ` (${low} to ${high} across parameters)`;
  const typical = gains.length > 1 ? "typically " : "";
  if (middle < 1.05) {
    return `Recycling gained little for means here: ${typical}${times(middle)}${range}. When a chain mixes slowly, the states of one trajectory add little information to its draw. It needed no extra gradients.`;
  }
  return `Recycling: means are ${typical}as precise as with ${times(middle)} as many draws${range}, with no extra gradients.`;
}

function sharpenedSentence() {
  if (!sharpens) return gradients.refused && gradients.stein ? `Not sharpened: ${gradients.refused}.` : "";
  const worth = (k) => roughly(median(rows.map((row) => row.sharpened && row.sharpened[k])));
  const medianOver = rows.length > 1 ? " (medians across parameters)" : "";
  const hasTail = known(rows.map((row) => row.sharpened && row.sharpened[4])).length > 0;
  const others = hasTail ? `, sds as ${worth(3)} and 97.5% quantiles as ${worth(4)}` : ` and sds as ${worth(3)}`;
  return `Sharpening: with their gradients, the ${whole(data.draws)} draws estimate means as precisely as ${worth(2)} independent draws${others}${medianOver}.`;
}

/** A failed Stein check is grave unless it may be chance. */
const isGrave = (kind) => GRAVE.has(kind) || (kind === "stein_check" && Boolean(gradients.stein?.refuses));

function fillHeadline() {
  const [mood, word, rest] = status();
  if (mood) byId("headline").classList.add(mood);
  byId("status").append(make("span", { class: "word" }, `${word}: `), rest);
  // What draws are worth is of no interest where they must not be used.
  const usable = mood !== "bad";
  byId("sharpened").textContent = usable ? sharpenedSentence() : "";
  byId("gained").textContent = usable ? gainSentence() : "";
  byId("warnings").append(
    ...diagnostics.warnings.map((warning) => {
      const text = warning.text.charAt(0).toUpperCase() + warning.text.slice(1);
      return make("li", { class: isGrave(warning.kind) ? "bad" : "caution" }, text);
    }));

  const fact = (name, value, small = "") =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value, small && make("small", {}, ` ${small}`)));
  const finite = (x) => (Number.isFinite(x) ? x : null);
  const facts = [
    fact("Draws", data.draws > 0 ? whole(data.draws) : "not stored", plural(data.chains, "chain")),
    fact("Parameters", whole(data.dimension - data.generated), data.generated > 0 ? `plus ${whole(data.generated)} generated` : ""),
    fact("Largest R-hat", fixed(finite(most(rows.map((row) => row.convergence[2]))), 3)),
    fact("Smallest ESS", whole(finite(least(rows.flatMap((row) => row.convergence.slice(0, 2)))))),
    fact("Divergences", whole(diagnostics.divergences)),
  ];
  if (gradients.stein) {
    const { passed, worst, limit } = gradients.stein;
    facts.push(fact("Stein check", passed ? "passed" : "failed", `max |z| ${fixed(worst, 1)}, limit ${fixed(limit, 1)}`));
  }
  const typical = (key) => times(median(rows.map((row) => row[key] && row[key][0])));
  if (usable && sharpens) {
    facts.push(fact("Median gain", typical("sharpened_gain"), `${typical("gain")} from recycling alone`));
  } else if (usable && recycles) {
    facts.push(fact("Median gain", typical("gain")));
  }
  if (diagnostics.gradients_sampling > 0) {
    facts.push(fact("Gradients", whole(diagnostics.gradients_sampling), `plus ${whole(diagnostics.gradients_warmup)} in warmup`));
  }
  if (diagnostics.seconds_sampling > 0) {
    facts.push(fact("Sampling time", seconds(diagnostics.seconds_sampling), `plus ${seconds(diagnostics.seconds_warmup)} warmup`));
  }
  byId("facts").append(...facts);
  const subtitle = [data.date, `${data.kernel}, recycling ${data.recycling}`, `seed ${data.seed}`];
  byId("subtitle").textContent = subtitle.filter(Boolean).join(" · ");
}
