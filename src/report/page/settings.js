// Settings, the command, and how to cite.

function fillSettings() {
  const row = (...cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell || "none")));
  const differing = data.settings.filter(([, , , differs]) => differs);
  const usual = data.settings.filter(([, , , differs]) => !differs);
  byId("settings-list").tBodies[0].append(...differing.map(([name, value, standard]) => row(name, value, standard)));
  byId("settings-differ").hidden = differing.length === 0;
  byId("settings-usual").hidden = differing.length > 0 || usual.length === 0;
  byId("settings-defaults").tBodies[0].append(...usual.map(([name, value]) => row(name, value)));
  byId("settings-rest").hidden = usual.length === 0;
  byId("settings-rest").querySelector("summary").textContent = `${plural(usual.length, "setting")} at the default`;
  byId("again-copies").hidden = !data.command.includes("--data") && !data.command.includes(".stan");
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
      getSelection().selectAllChildren(source);  // so that it can be copied by hand if the clipboard is unavailable
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Selected";
      }
    });
  }
}
