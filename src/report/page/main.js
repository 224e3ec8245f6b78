// Menus, light and dark; then fills the page.

/** The menus that choose parameters. */
function fillMenus() {
  const options = () => plotted.map((row) => make("option", { value: row.index }, row.name));
  for (const id of ["chosen", "pair-x", "pair-y"]) byId(id).append(...options());
  byId("chosen").addEventListener("change", (event) => choose(byIndex.get(Number(event.target.value))));
  if (data.pair?.length === 2) {
    [byId("pair-x").value, byId("pair-y").value] = data.pair.map(String);
  }
  for (const id of ["pair-x", "pair-y"]) byId(id).addEventListener("change", drawPair);
}

function drawAll() {
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12.5;
  if (plotted.length > 0) {
    choose(table.chosen ?? plotted[0]);
  } else {
    byId("parameter").hidden = true;
  }
  if (!byId("vectors").hidden) drawForest();
  drawPrediction();
  drawGains();
  drawPair();
  drawPath();
  drawEnergies();
  hideEmptyLinks();
}

/** Marks tables that are wider than their place, until they are scrolled to the end. */
function markCutTables() {
  for (const region of document.querySelectorAll(".scroll")) {
    const mark = () => region.classList.toggle("cut", region.scrollLeft + region.clientWidth < region.scrollWidth - 1);
    region.addEventListener("scroll", mark, { passive: true });
    new ResizeObserver(mark).observe(region);
    new ResizeObserver(mark).observe(region.firstElementChild);
  }
}

/** The menu of sections names only those that are shown. */
function hideEmptyLinks() {
  for (const link of document.querySelectorAll("nav a")) link.hidden = byId(link.hash.slice(1)).hidden;
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", theme === "dark" ? "Switch to light colours" : "Switch to dark colours");
  byId("theme").setAttribute("aria-pressed", String(theme === "dark"));
  drawAll();
}

function setUpTheme() {
  const root = document.documentElement;
  byId("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light"));
  setTheme(root.dataset.theme);
}

fillHeadline();
setUpTable();
showOmissions();
fillChecks();
fillWarmup();
fillSettings();
fillMenus();
setUpForest();
setUpPrediction();
setUpSvg();
markCutTables();
setUpTheme();
