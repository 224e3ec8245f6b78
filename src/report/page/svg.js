// Figures as SVG files: what Chart.js draws on a canvas is drawn once more, and written down.

const svgNumber = (x) => String(Math.round(100 * x) / 100);
const svgText = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

/** Listens to a canvas while `drawIt` runs; returns SVG elements in its coordinates. */
function record(context, drawIt) {
  const out = [];
  let path = "";
  let groups = 0;
  const kept = [];
  const scale = () => context.getTransform().a;
  const at = (x, y) => {
    const m = context.getTransform();
    return [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f].map(svgNumber).join(" ");
  };
  const size = () => {
    const { a, b } = context.getTransform();
    return Math.hypot(a, b);
  };
  const ellipse = (x, y, rx, ry, turn, from, to, backwards) => {
    const point = (angle) => {
      const [u, v] = [rx * Math.cos(angle), ry * Math.sin(angle)];
      return at(x + u * Math.cos(turn) - v * Math.sin(turn), y + u * Math.sin(turn) + v * Math.cos(turn));
    };
    const whole = Math.abs(to - from) >= 2 * Math.PI - 1e-9;
    const sweep = backwards ? 0 : 1;
    const radii = [rx * size(), ry * size(), (turn * 180) / Math.PI].map(svgNumber).join(" ");
    path += `${path ? "L" : "M"}${point(from)}`;
    const stops = whole ? [from + Math.PI, from + 2 * Math.PI] : [to];
    const large = !whole && (backwards ? from - to : to - from) > Math.PI ? 1 : 0;
    for (const stop of stops) path += `A${radii} ${large} ${sweep} ${point(stop)}`;
  };
  const rectangle = (x, y, w, h) => `M${at(x, y)}L${at(x + w, y)}L${at(x + w, y + h)}L${at(x, y + h)}Z`;
  const faded = () => (context.globalAlpha < 1 ? ` opacity="${svgNumber(context.globalAlpha)}"` : "");
  const fill = (d) => out.push(`<path d="${d}" fill="${svgText(String(context.fillStyle))}"${faded()}/>`);
  const stroke = (d) => {
    const dash = context.getLineDash().map((x) => svgNumber(x * size()));
    out.push(`<path d="${d}" fill="none" stroke="${svgText(String(context.strokeStyle))}" stroke-width="${svgNumber(context.lineWidth * size())}"` +
      ` stroke-linecap="${context.lineCap}" stroke-linejoin="${context.lineJoin}"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}${faded()}/>`);
  };
  const write = (text, x, y) => {
    const anchor = { center: "middle", right: "end", end: "end" }[context.textAlign] ?? "start";
    const baseline = { middle: "central", top: "text-before-edge", bottom: "text-after-edge" }[context.textBaseline] ?? "auto";
    const { a, b, c, d, e, f } = context.getTransform();
    out.push(`<text transform="matrix(${[a, b, c, d, e, f].map((v) => Math.round(1e4 * v) / 1e4).join(" ")})" x="${svgNumber(x)}" y="${svgNumber(y)}" ` +
      `text-anchor="${anchor}" dominant-baseline="${baseline}" style="font:${svgText(context.font)}" fill="${svgText(String(context.fillStyle))}">${svgText(String(text))}</text>`);
  };
  const heard = {
    save: () => kept.push(groups),
    restore: () => {
      const before = kept.pop() ?? 0;
      out.push("</g>".repeat(groups - before));
      groups = before;
    },
    beginPath: () => { path = ""; },
    closePath: () => { path += "Z"; },
    moveTo: (x, y) => { path += `M${at(x, y)}`; },
    lineTo: (x, y) => { path += `${path ? "L" : "M"}${at(x, y)}`; },
    bezierCurveTo: (a, b, c, d, x, y) => { path += `C${at(a, b)} ${at(c, d)} ${at(x, y)}`; },
    quadraticCurveTo: (a, b, x, y) => { path += `Q${at(a, b)} ${at(x, y)}`; },
    rect: (x, y, w, h) => { path += rectangle(x, y, w, h); },
    arc: (x, y, r, from, to, backwards) => ellipse(x, y, r, r, 0, from, to, backwards),
    ellipse,
    fill: () => fill(path),
    stroke: () => stroke(path),
    fillRect: (x, y, w, h) => fill(rectangle(x, y, w, h)),
    strokeRect: (x, y, w, h) => stroke(rectangle(x, y, w, h)),
    fillText: write,
    clip: () => {
      record.clips = (record.clips ?? 0) + 1;
      out.push(`<clipPath id="clip${record.clips}"><path d="${path}"/></clipPath><g clip-path="url(#clip${record.clips})">`);
      ++groups;
    },
  };
  const plain = Object.getPrototypeOf(context);
  for (const [name, hear] of Object.entries(heard)) {
    context[name] = (...values) => {
      if (name === "restore") {
        hear();
        return plain[name].apply(context, values);
      }
      hear(...values);
      return plain[name].apply(context, values);
    };
  }
  try {
    drawIt();
  } finally {
    for (const name of Object.keys(heard)) delete context[name];
  }
  return { text: out.join("\n") + "</g>".repeat(groups), scale: scale() };
}

/** All plots of a figure as one SVG, as they lie on the page. */
function figureSvg(figure) {
  const canvases = [...figure.querySelectorAll("canvas")].filter((canvas) => charts.has(canvas) && canvas.offsetParent !== null);
  const boxes = canvases.map((canvas) => canvas.getBoundingClientRect());
  const [left, top] = [least(boxes.map((box) => box.left)), least(boxes.map((box) => box.top))];
  const [width, height] = [most(boxes.map((box) => box.right)) - left, most(boxes.map((box) => box.bottom)) - top].map(svgNumber);
  const parts = canvases.map((canvas, i) => {
    const chart = charts.get(canvas);
    const { text } = record(chart.ctx, () => chart.draw());
    const shrink = 1 / (chart.currentDevicePixelRatio || 1);
    return `<g transform="translate(${svgNumber(boxes[i].left - left)} ${svgNumber(boxes[i].top - top)}) scale(${shrink})">\n${text}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n` +
    `<title>${svgText(canvases.map((canvas) => canvas.getAttribute("aria-label")).join("; "))}</title>\n` +
    `<rect width="100%" height="100%" fill="${colour("card")}"/>\n${parts.join("\n")}\n</svg>\n`;
}

/** A button in every figure that saves its plots. */
function setUpSvg() {
  for (const figure of document.querySelectorAll("figure:has(.plot, .ranks)")) {
    const title = figure.querySelector("h3")?.textContent ?? figure.closest("section").querySelector("h2").textContent;
    const button = make("button", { type: "button", class: "quiet svg", "aria-label": `Save ${title.toLowerCase()} as SVG` }, "SVG");
    button.addEventListener("click", () => {
      const link = make("a", { download: `${byId("title").textContent}-${title}`.toLowerCase().replace(/[^a-z0-9]+/g, "-") + ".svg" });
      link.href = URL.createObjectURL(new Blob([figureSvg(figure)], { type: "image/svg+xml" }));
      link.click();
      URL.revokeObjectURL(link.href);
    });
    figure.append(button);
  }
}
