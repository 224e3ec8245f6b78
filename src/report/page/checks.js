// Checks: the Stein check, the gradient, the energy.

function drawEnergies() {
  byId("ebfmi").replaceChildren(...diagnostics.ebfmi.map((x, chain) =>
    make("span", { class: x !== null && x < LEAST_EBFMI ? "poor" : "" }, `chain ${chain + 1}: E-BFMI ${fixed(x, 2)}`)));
  if (data.omitted.chains) byId("ebfmi").append(`and ${whole(data.omitted.chains[1] - data.omitted.chains[0])} more chains`);
  if (!data.energy) {
    return hideSection("energies");
  }
  draw(byId("energies"), "Density of the energy and of its change between draws", {
    type: "line",
    data: {
      datasets: [
        line("energy, centred", onGrid(data.energy, data.energy.marginal), colour("plain"), { borderWidth: 2.2 }),
        line("change of energy between draws", onGrid(data.energy, data.energy.change), colour("third"), { fill: "origin" }),
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

/** The Stein check as a gauge from 0 to its limit and beyond, and the spot check of the gradient. */
function fillChecks() {
  const { stein, spot } = gradients;
  byId("checks").hidden = !stein && !spot;
  if (stein) {
    const end = Math.max(1.5 * stein.limit, 1.1 * stein.worst);
    const share = (x) => `${(100 * x) / end}%`;
    const gauge = byId("gauge");
    gauge.classList.toggle("poor", !stein.passed);
    gauge.setAttribute("aria-label", `Largest |z| ${fixed(stein.worst, 1)}, limit ${fixed(stein.limit, 1)}`);
    gauge.style.setProperty("--worst", share(stein.worst));
    gauge.style.setProperty("--limit", share(stein.limit));
    gauge.hidden = false;
    byId("stein").replaceChildren(
      make("span", { class: stein.passed ? "passed" : "failed" }, stein.passed ? "Stein check passed" : "Stein check failed"),
      `: of ${whole(stein.features)} averages with expectation 0, the largest (${stein.parameter}) is ${fixed(stein.worst, 1)} standard errors from 0; the limit is ${fixed(stein.limit, 1)}, and ${fixed(stein.refusal_limit, 1)} for what cannot be chance.`);
  }
  if (spot) {
    byId("spot").replaceChildren(
      make("span", { class: spot.passed ? "passed" : "failed" }, spot.passed ? "Gradient spot check passed" : "Gradient spot check failed"),
      spot.passed
        ? ": in every chain the gradient agrees with finite differences of the log density, along single coordinates and a random direction."
        : `: along ${spot.where} the model’s derivative is ${significant(spot.model, 5)}, but finite differences of its log density give ${significant(spot.differences, 5)}.`);
  }
}
