// The story of warmup: starts, stages, metric, cost, end.

const STARTS = {
  pathfinder: "by Pathfinder",
  pathfinder_no_help: "at random, where Pathfinder did not help",
  random: "at random",
  given: "at given points",
};

/** The sentences above the table. */
function warmupSentences(warmup) {
  const starts = Object.entries(warmup.starts).map(([kind, count]) => `${plural(count, "chain")} ${STARTS[kind]}`);
  const condition = warmup.condition === null ? "" :
    ` The estimated covariance has condition number ${significant(warmup.condition, 2)}` +
    (warmup.left === null ? "." : `, and ${significant(warmup.left, 2)} in units of the metric.`);
  const check = warmup.check > 0 ? `, and ${whole(warmup.check)} to check the gradient afterwards` : "";
  return `Starts: ${starts.join("; ")}. The metric is ${warmup.metric}.${condition} ` +
    `Warmup took ${whole(warmup.gradients)} gradients (${whole(warmup.start)} to find starts)${check}. ` +
    `It ended after ${plural(warmup.iterations, "iteration")}: ${warmup.ended}.` +
    (warmup.groups > 1 ? ` Stages are those of the first of ${whole(warmup.groups)} groups of chains.` : "");
}

function fillWarmup() {
  const { warmup } = data;
  byId("warmup").hidden = !warmup;
  if (!warmup) return;
  byId("warmup-story").textContent = warmupSentences(warmup);
  byId("stages-region").hidden = warmup.stages.length === 0;
  const row = (kind, cells) => make("tr", {}, ...cells.map((cell) => make(kind, {}, cell)));
  byId("stages").tHead.append(row("th", ["up to iteration", "gradients", "step size", "loss before", "metric", "loss", "others tried"]));
  byId("stages").tBodies[0].append(...warmup.stages.map((stage) => row("td", [
    whole(stage.iterations), whole(stage.gradients), significant(stage.step_size, 3), significant(stage.before, 3),
    stage.estimator || "kept", significant(stage.loss, 3),
    stage.tried.filter(([name]) => name !== stage.estimator).map(([name, loss]) => `${name} ${significant(loss, 2)}`).join(", "),
  ])));
}
