// The card at the top: status, gains, warnings, facts.

const NOT_CONVERGED = ["rhat", "stuck", "not_finite"];
/** A failed Stein check is grave unless it may be chance. */
const GRAVE = new Set([...NOT_CONVERGED, ...(gradients.stein?.refuses ? ["stein_check"] : [])]);

/** How the run went: a class for the card, a word, and the evidence. */
function status() {
  const kinds = diagnostics.warnings.map((warning) => warning.kind);
  const judged = rows.filter((row) => row.convergence[2] !== null);
  if (rows.length === 0) return ["", "Nothing to report", "this run recorded no parameters."];
  if (kinds.some((kind) => NOT_CONVERGED.includes(kind))) {
    return ["bad", "Not converged", "do not use these draws yet; see below for what to do."];
  }
  if (gradients.stein?.refuses) {
    return ["bad", "Stein check failed", "averages whose expectation is 0 are far from 0; see below for possible causes."];
  }
  if (data.short || judged.length === 0) {
    return ["caution", "Too few draws", "convergence cannot be assessed. Run longer."];
  }
  const rhat = most(judged.map((row) => row.convergence[2]));
  const ess = least(judged.flatMap((row) => row.convergence.slice(0, 2)));
  const evidence = `largest R\u2011hat ${fixed(rhat, 3)}, smallest effective sample size ${whole(ess)}`;
  if (kinds.includes("gradient")) {
    return ["caution", "Wrong gradient", `${evidence}, but the model’s gradient does not match its log density.`];
  }
  if (kinds.includes("divergences")) {
    return ["caution", "Divergences", `${plural(diagnostics.divergences, "divergent trajectory", "divergent trajectories")}; part of the posterior may not have been explored.`];
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

function fillHeadline() {
  const [mood, word, rest] = status();
  if (mood) byId("headline").classList.add(mood);
  byId("status").append(make("span", { class: "word" }, `${word}: `), rest);
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
    fact("Draws", data.draws > 0 ? whole(data.draws) : "not stored", plural(data.chains, "chain")),
    fact("Parameters", whole(data.dimension)),
    fact("Largest R-hat", fixed(finite(most(rows.map((row) => row.convergence[2]))), 3)),
    fact("Smallest ESS", whole(finite(least(rows.flatMap((row) => row.convergence.slice(0, 2)))))),
    fact("Divergences", whole(diagnostics.divergences)),
  ];
  if (gradients.stein) {
    const { passed, worst, limit } = gradients.stein;
    facts.push(fact("Stein check", passed ? "passed" : "failed", `max |z| ${fixed(worst, 1)}, limit ${fixed(limit, 1)}`));
  }
  const typical = (key) => times(median(rows.map((row) => row[key] && row[key][0])));
  if (sharpens) {
    facts.push(fact("Median gain", typical("sharpened_gain"), `${typical("gain")} from recycling alone`));
  } else if (recycles) {
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
