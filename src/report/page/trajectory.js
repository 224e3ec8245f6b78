// The plot of one trajectory.

const isDropped = ({ state }) => Boolean(state.dropped);
const isRecycled = ({ state }) => recycles && state.slots > 0 && !state.dropped;

/** The states by what became of them, on top of the path that joins them. */
function pathDatasets(points) {
  const byWeight = data.recycling === "all";
  const radius = ({ state }) => (byWeight ? 2.5 + 16 * Math.sqrt(state.weight) : 2 + 3.2 * Math.sqrt(state.slots));
  const [grey, blue] = [colour("plain"), colour("recycled")];
  const recycled = points.filter(isRecycled);
  const marks = (label, chosen, more) => ({ type: "scatter", label, data: chosen, backgroundColor: "transparent", ...more });
  const hollow = (label, chosen, hue, size) =>
    marks(label, chosen, { radius: size, borderWidth: 1.5, borderColor: hue, backgroundColor: colour("card"), order: 3 });
  const datasets = [
    hollow("in the trajectory, not recycled", points.filter((point) => !isRecycled(point) && !isDropped(point)), blue, 3.5),
    hollow("discarded", points.filter(isDropped), grey, 3),
    marks(`recycled (area: ${byWeight ? "weight" : "how often"})`, recycled,
      { radius: recycled.map(radius), borderWidth: 0, backgroundColor: faint(blue, 0.85), order: 2 }),
    marks("start", points.filter(({ state }) => state.start),
      { pointStyle: "rectRot", radius: 8, borderWidth: 2.5, borderColor: colour("good"), order: 1 }),
    marks("next draw of the chain", points.filter(({ state }) => state.selected),
      { radius: 11, borderWidth: 2.5, borderColor: colour("alarm"), order: 1 }),
  ].filter((dataset) => dataset.data.length > 0);
  const leadsOut = ({ p0DataIndex: i, p1DataIndex: j }) => isDropped(points[i]) || isDropped(points[j]);
  datasets.push(line("", points, faint(blue, 0.7), {
    borderWidth: 1.3, order: 4, pointHitRadius: 0,
    segment: {
      borderColor: (segment) => (leadsOut(segment) ? faint(grey, 0.8) : undefined),
      borderDash: (segment) => (leadsOut(segment) ? [3, 3] : undefined),
    },
  }));
  return datasets;
}

/** Draws of the run, as a background. */
function backgroundDraws(first, second) {
  const [x, y] = [valuesOf(first), valuesOf(second)];
  const every = Math.ceil(x.length / 1500);
  return {
    type: "scatter", label: "draws of the run", data: x.map((_, i) => ({ x: x[i], y: y[i] })).filter((_, i) => i % every === 0),
    radius: 1.3, borderWidth: 0, backgroundColor: faint(colour("plain"), 0.3), order: 9,
  };
}

function drawPath() {
  const { states, length } = data.trajectory;
  if (states.length === 0) {
    return hideSection("path");
  }
  const single = data.dimension < 2;
  const [first, second] = [byIndex.get(0), byIndex.get(1)];
  const datasets = pathDatasets(states.map((state, i) => (single ? { x: i, y: state.x, state } : { x: state.x, y: state.y, state })));
  let range = { x: {}, y: {} };
  if (!single && first?.values && second?.values) {
    datasets.push(backgroundDraws(first, second));
    // The trajectory and its surroundings, which may be a small part of the posterior.
    const around = (k) => limits([], states.map((state) => state[k]), 0.25);
    range = { x: around("x"), y: around("y") };
  }
  const describeState = ({ dataset, raw }) =>
    `${dataset.label}: weight ${significant(raw.state.weight, 2)}${recycles ? `, recycled ${plural(raw.state.slots ?? 0, "time")}` : ""}`;
  draw(byId("path"), `One trajectory of ${plural(length, "state")}: recycled and discarded states`, {
    type: "scatter",
    data: { datasets },
    options: {
      scales: {
        x: axis(single ? "step" : first?.name ?? "", range.x),
        y: axis(single ? first?.name ?? "" : second?.name ?? "", range.y),
      },
      plugins: {
        tooltip: { filter: (item) => Boolean(item.raw.state) && item.dataset.label !== "", callbacks: { label: describeState } },
      },
    },
  });
  const used = recycles
    ? "Recycling uses the other states as well. A part that made a U-turn or diverged (dashed) is discarded, since using it would bias the estimates."
    : "This run did not recycle the others.";
  const thinned = states.length < length ? ` ${whole(states.length)} of its ${whole(length)} states are shown.` : "";
  byId("path-caption").textContent = `Each draw of HMC takes a whole trajectory, of which the plain chain keeps one state. ${used}${thinned}`;
}
