// The plot of gains by parameter.

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

/** One mark per parameter and estimate; `key`: the gain from recycling, or from sharpening. */
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

/** Lines from the recycled to the sharpened gain of each estimate. */
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
    return hideSection("gains");
  }
  // Few parameters: one line each, with its name. Many: along the x-axis.
  const named = withGain.length <= 40;
  byId("gains-plot").style.height = named ? `${6.5 + (sharpens ? 2.1 : 1.7) * withGain.length}rem` : "";
  const scale = logTicks(known(withGain.flatMap((row) => [...(row.gain ?? []), ...(row.sharpened_gain ?? [])])));
  const apart = sharpens ? 0.26 : 0;
  const place = (gain, i, k) => (named ? { x: gain, y: missing(gain) ? NaN : i + apart * (k - 1) } : { x: i + 1, y: gain });
  const datasets = gainMarks("gain", withGain, named, !sharpens, place);
  if (sharpens) {
    datasets.push(...gainMarks("sharpened_gain", withGain, named, true, place));
    if (recycles) datasets[0].label = "recycling alone (hollow)";
    if (named) datasets.push(...gainLines(withGain, place));
  }
  const [from, to] = named ? [-0.6, withGain.length - 0.4] : [0, withGain.length + 1];
  datasets.push(line("", named ? [{ x: 1, y: from }, { x: 1, y: to }] : [{ x: from, y: 1 }, { x: to, y: 1 }], colour("ink"), { borderWidth: 1.2, borderDash: [4, 3], pointHitRadius: 0, order: 4 }));
  const gainAxis = axis(named ? "gain over the plain chain" : "", scale);
  const nameAxis = axis("", {
    min: from, max: to, reverse: named, grid: { display: named },
    afterBuildTicks: named ? (a) => { a.ticks = withGain.map((_, value) => ({ value })); } : undefined,
    ticks: named
      ? { autoSkip: false, color: colour("ink"), callback: (value) => clipped(withGain[value]?.name ?? "") }
      : { callback: (value) => (Number.isInteger(value) && withGain[value - 1] ? clipped(withGain[value - 1].name) : "") },
  });
  const kinds = { gain: "recycled", sharpened_gain: "sharpened" };
  draw(byId("gains"), `Gain from recycling${sharpens ? " and sharpening" : ""} by parameter, for mean, sd and 97.5% quantile`, {
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
