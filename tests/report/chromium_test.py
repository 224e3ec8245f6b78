#!/usr/bin/env python3
"""Opens reports in headless Chromium: no errors, every plot is drawn, every control works."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from browser import Browser

# The pages of write_pages.cpp, with their numbers of plots.
PLOTS = {
    "eight-schools": 11,  # trace, density, four ranks, vectors, gain, pairs, trajectory, energy
    "funnel": 11,
    "banana": 11,
    "single": 5,  # trace, density, ranks, gain, energy
    "odd": 8,
    "wide": 18,
    "foreign": 8,
    "no-draws": 1,  # vectors
    "empty": 0,
    "truncated": 10,  # no trajectory
}

# For each visible canvas: the number of painted pixels and of colours, and its label.
CANVASES = """
[...document.querySelectorAll("canvas")].filter((canvas) => canvas.offsetParent !== null).map((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  let painted = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] > 0) {
      ++painted;
      colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    }
  }
  return { id: canvas.id, painted, colours: colours.size, label: canvas.getAttribute("aria-label") };
})
"""

# Controls without a name for screen readers.
NAMELESS = """
[...document.querySelectorAll("button, input, select, a[href]")].filter((control) =>
  !control.textContent.trim() && !control.getAttribute("aria-label") && !(control.labels && control.labels.length))
  .map((control) => control.outerHTML)
"""

HEADINGS = '[...document.querySelectorAll("#table thead button")]'


def plain(text):
    return text.replace("\u2212", "-").replace(",", "").replace("\u00d7", "").removeprefix("! ")


def numbers(texts):
    """The numbers in cells; None for a dash."""
    return [None if text == "\u2013" else float(plain(text)) for text in texts]


def rounding(text):
    """The largest rounding error of a cell."""
    return 0.5 * 10.0 ** -len(plain(text).partition(".")[2])


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run([os.environ["REHMC_REPORT_PAGES"], cls.folder], check=True)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, name, **how):
        self.browser.open(self.folder / f"{name}.html", **how)

    def run_script(self, script):
        value = self.browser.run(script)
        self.browser.settle()
        return value

    def picture(self, canvas):
        return self.browser.run(f'document.getElementById("{canvas}").toDataURL()')

    def column(self, label, nth=0):
        """The texts of a column of the table."""
        index = self.browser.run(
            f"""[...document.querySelectorAll("#table thead tr:last-child th")].map((cell, i) => [cell.textContent, i])
                .filter(([text]) => text === "{label}")[{nth}][1]""")
        return self.browser.run(f'[...document.querySelectorAll("#table tbody tr")].map((row) => row.cells[{index}].textContent)')

    def test_every_page_is_complete_and_logs_nothing(self):
        self.assertEqual(sorted(PLOTS), sorted(path.stem for path in self.folder.glob("*.html")))
        for name, plots in PLOTS.items():
            for theme in ["light", "dark"]:
                with self.subTest(page=name, theme=theme):
                    self.open(name, theme=theme)
                    self.assertEqual(self.browser.faults(), [])
                    self.assertEqual(self.browser.fetched(), [(self.folder / f"{name}.html").as_uri()])
                    canvases = self.browser.run(CANVASES)
                    self.assertEqual(len(canvases), plots, canvases)
                    for canvas in canvases:
                        self.assertGreater(canvas["painted"], 500, canvas)
                        self.assertGreater(canvas["colours"], 3, canvas)
                        self.assertTrue(canvas["label"], canvas)
                    self.assertEqual(self.browser.run(NAMELESS), [])

    def test_every_script_is_part_of_the_page(self):
        folder = pathlib.Path(__file__).resolve().parents[2] / "src/report/page"
        included = re.findall(r"^\{\{(\w+\.js)\}\}$", (folder / "page.html").read_text(encoding="utf-8"), re.MULTILINE)
        scripts = {path.name for path in folder.glob("*.js")}
        self.assertEqual(sorted(included), sorted(scripts | {"chart.js"}))

    def test_narrow_screens_need_no_sideways_scrolling(self):
        for name in PLOTS:
            with self.subTest(page=name):
                self.open(name, width=400)
                self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 400)
                self.assertEqual(self.browser.faults(), [])

    def test_every_heading_sorts(self):
        self.open("wide")
        self.run_script('document.getElementById("more").click()')
        labels = self.browser.run(f"{HEADINGS}.map((button) => button.textContent)")
        self.assertEqual(len(labels), 14)  # a chain is stuck, so nothing is sharpened
        for i, label in enumerate(labels):
            with self.subTest(column=label):
                found = []
                for _ in range(2):
                    self.run_script(f"{HEADINGS}[{i}].click()")
                    order = self.browser.run(f'{HEADINGS}[{i}].closest("th").getAttribute("aria-sort")')
                    self.assertEqual(self.browser.run('document.querySelectorAll("[aria-sort$=cending]").length'), 1)
                    texts = self.column(label, labels[:i].count(label))
                    self.assertEqual(len(texts), 300)
                    if label == "Name":
                        expected = [f"x[{k}]" for k in range(1, 301)]
                        self.assertEqual(texts, expected if order == "ascending" else expected[::-1])
                    else:
                        values = numbers(texts)
                        known = [x for x in values if x is not None]
                        self.assertEqual(values[:len(known)], known, "unknown values come last")
                        self.assertGreater(len(set(known)), 5)
                        sign = 1 if order == "ascending" else -1
                        for a, b, text, other in zip(known, known[1:], texts, texts[1:]):
                            self.assertLessEqual(sign * (a - b), 1.01 * (rounding(text) + rounding(other)))
                        self.assertGreater(sign * (known[-1] - known[0]), 0)
                    found.append(order)
                self.assertEqual(sorted(found), ["ascending", "descending"])

    def test_the_keyboard_sorts_and_chooses(self):
        self.open("eight-schools")
        self.run_script(f"{HEADINGS}[1].focus()")
        self.browser.press("Enter", 13)
        means = numbers(self.column("Mean"))
        self.assertEqual(means, sorted(means))
        self.run_script('document.querySelectorAll("#table .name")[0].focus()')
        self.browser.press("Enter", 13)
        self.assertEqual(self.browser.run('document.getElementById("parameter-title").textContent'), self.column("Name")[0])

    def test_the_filter_filters(self):
        self.open("eight-schools")
        self.run_script("""(() => { const box = document.getElementById("filter"); box.value = "TAU";
                           box.dispatchEvent(new Event("input")); })()""")
        self.assertEqual(self.column("Name"), ["tau"])

    def test_a_row_shows_its_plots(self):
        self.open("eight-schools")
        before = [self.picture(canvas) for canvas in ["trace", "density"]]
        self.run_script('document.querySelectorAll("#table tbody tr")[3].cells[4].click()')
        self.assertEqual(self.browser.run('document.getElementById("parameter-title").textContent'), "theta_trans[2]")
        self.assertEqual(self.browser.run('document.querySelectorAll("tr.chosen").length'), 1)
        for canvas, old in zip(["trace", "density"], before, strict=True):
            self.assertNotEqual(self.picture(canvas), old)
        self.assertEqual(self.browser.faults(), [])

    def test_dark_follows_the_system_and_the_button(self):
        brightness = 'getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)'
        self.open("banana", theme="dark")
        self.assertLess(self.browser.run(brightness), 150)
        dark = self.picture("pair")
        self.run_script('document.getElementById("theme").click()')
        self.assertGreater(self.browser.run(brightness), 600)
        self.assertNotEqual(self.picture("pair"), dark)
        self.open("banana", theme="light")
        self.assertGreater(self.browser.run(brightness), 600)

    def test_divergences_are_marked(self):
        self.open("banana")
        label = self.browser.run('document.getElementById("pair").getAttribute("aria-label")')
        self.assertRegex(label, r"[1-9]\d* divergent draws? marked")
        alarm = """(() => {
          const [r, g, b] = getComputedStyle(document.documentElement).getPropertyValue("--alarm").trim().match(/\\w\\w/g).map((x) => parseInt(x, 16));
          const canvas = document.getElementById("pair");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let i = 0; i < data.length; i += 4) count += data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255;
          return count;
        })()"""
        self.assertGreater(self.browser.run(alarm), 50)
        self.open("foreign")
        self.assertEqual(self.browser.run(alarm), 0)

    def test_pairs_follow_their_menus(self):
        self.open("eight-schools")
        before = self.picture("pair")
        self.run_script("""(() => { const menu = document.getElementById("pair-x"); menu.value = "7";
                           menu.dispatchEvent(new Event("change")); })()""")
        self.assertNotEqual(self.picture("pair"), before)
        self.assertIn("theta_trans[6]", self.browser.run('document.getElementById("pair").getAttribute("aria-label")'))

    def test_names_are_text(self):
        self.open("odd")
        self.assertEqual(self.column("Name"), ["<b>bold</b>", "</script><script>alert(1)</script>", 'a & "b" <!-- c'])
        self.assertEqual(self.browser.run('document.querySelectorAll("#table b, #table script, h1 i").length'), 0)
        self.assertEqual(self.browser.run('document.getElementById("title").textContent'), '</title><i>short & "odd"</i>')

    def test_the_headline_shows_the_status(self):
        """It depends on the warnings of the run, which may differ between machines."""
        moods = set()
        for name in ["eight-schools", "funnel", "banana", "wide", "foreign", "truncated"]:
            with self.subTest(page=name):
                self.open(name)
                kinds = set(self.browser.run(
                    'JSON.parse(document.getElementById("data").textContent).diagnostics.warnings.map((warning) => warning.kind)'))
                # A Stein check that may have failed by chance is no more than a warning.
                grave = {"rhat", "stuck", "not_finite"}
                if self.browser.run('JSON.parse(document.getElementById("data").textContent).gradients?.stein?.refuses === true'):
                    grave.add("stein_check")
                mood = "bad" if kinds & grave else "caution" if kinds else "good"
                self.assertEqual(self.browser.run('document.getElementById("headline").classList.item(2)'), mood)
                self.assertEqual(self.browser.run('document.querySelectorAll("#warnings li").length'), len(kinds))
                status = self.browser.run('document.getElementById("status").textContent')
                self.assertEqual(status.startswith("Converged:"), mood == "good", status)
                self.assertEqual(status.startswith(("Not converged:", "A chain is stuck:", "Stein check failed:")), mood == "bad", status)
                self.assertEqual(status.startswith("Not converged:"), "rhat" in kinds, status)
                # Nobody is told what draws are worth that must not be used.
                worth = self.browser.run('["sharpened", "gained"].map((id) => document.getElementById(id).textContent).join("")')
                gain = "Median gain" in self.browser.run('document.getElementById("facts").textContent')
                self.assertEqual((worth == "", gain), (True, False) if mood == "bad" else (name == "foreign" and worth == "", gain), status)
                moods.add(mood)
        self.assertLessEqual({"good", "bad"}, moods)

    def test_sharpened_estimates_are_shown(self):
        self.open("eight-schools")
        stored = self.browser.run('JSON.parse(document.getElementById("data").textContent).parameters')
        names, means = self.column("Name"), self.column("Mean", 1)
        for row in stored:
            shown = means[names.index(row["name"])]
            self.assertLessEqual(abs(float(plain(shown)) - row["sharpened"][0]), 1.01 * rounding(shown))
        gains = numbers(self.column("Gain", 1))
        self.assertGreater(sorted(gains)[len(gains) // 2], 10)
        self.assertRegex(self.browser.run('document.getElementById("sharpened").textContent'), "4,000 draws estimate means as precisely as [1-9]")
        self.assertIn("sharpening", self.browser.run('document.getElementById("gains").getAttribute("aria-label")'))

        self.run_script('document.querySelectorAll("#table .name")[1].click()')
        cells = self.browser.run('[...document.querySelectorAll("#estimates tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent))')
        self.assertEqual([row[0] for row in cells], ["mean", "sd", "2.5%", "5%", "25%", "50%", "75%", "95%", "97.5%"])
        for row, (value, error) in zip(cells, stored[1]["estimates"]["sharpened"], strict=True):
            shown, _, shown_error = row[3].partition(" ± ")
            self.assertLessEqual(abs(float(plain(shown)) - value), 1.01 * rounding(shown))
            self.assertAlmostEqual(float(plain(shown_error)) / error, 1, delta=0.06)

    def test_the_checks_of_the_gradient_are_shown(self):
        text = 'document.getElementById("stein").textContent'
        mark = 'getComputedStyle(document.getElementById("gauge"), "::after").left'
        width = 'document.getElementById("gauge").clientWidth'
        for name, result in [("eight-schools", "passed"), ("truncated", "failed")]:
            self.open(name)
            stored = self.browser.run('JSON.parse(document.getElementById("data").textContent).gradients.stein')
            self.assertEqual(stored["passed"], result == "passed")
            self.assertTrue(self.browser.run(text).startswith(f"Stein check {result}: "))
            self.assertIn(f'{stored["worst"]:.1f}', self.browser.run(text))
            end = max(1.5 * stored["limit"], 1.1 * stored["worst"])
            at = float(self.browser.run(mark).removesuffix("px")) / self.browser.run(width)
            self.assertAlmostEqual(at, stored["worst"] / end, delta=0.01)
            self.assertIn(f"Stein check{result}", self.browser.run('document.getElementById("facts").textContent'))
        self.assertEqual(self.browser.run('document.getElementById("sharpened").textContent'), "")
        self.open("foreign")
        self.assertTrue(self.browser.run('document.getElementById("checks").hidden'))

    def test_the_story_of_warmup_is_shown(self):
        text = 'document.getElementById("warmup-story").textContent'
        rows = '[...document.querySelectorAll("#stages tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent))'
        self.open("funnel")
        stored = self.browser.run('JSON.parse(document.getElementById("data").textContent).warmup')
        self.assertIn(f"{stored['gradients']:,} gradients", self.browser.run(text))
        self.assertIn(f"{stored['iterations']:,} iterations: {stored['ended']}", self.browser.run(text))
        shown = self.browser.run(rows)
        self.assertGreaterEqual(len(shown), 2)
        self.assertEqual([row[1] for row in shown], [f"{stage['gradients']:,}" for stage in stored["stages"]])
        self.assertEqual([row[4] for row in shown], [stage["estimator"] or "kept" for stage in stored["stages"]])
        self.open("eight-schools")
        self.assertIn("4 chains at random", self.browser.run(text))
        self.assertTrue(self.browser.run('document.getElementById("stages-region").hidden'))
        self.open("empty")
        self.assertTrue(self.browser.run('document.getElementById("warmup").hidden'))

    def test_omissions_are_shown(self):
        self.open("wide")
        self.assertIn("40 of 300", self.browser.run('document.getElementById("plots-left-out").innerText'))
        self.assertIn("first 12 of 15 chains", self.browser.run('document.getElementById("trace-caption").innerText'))
        self.assertEqual(len(self.column("Name")), 100)
        self.run_script('document.getElementById("more").click()')
        self.assertEqual(len(self.column("Name")), 300)
        self.open("eight-schools")
        self.assertEqual(self.browser.run('document.getElementById("plots-left-out").innerText'), "")


    def test_nothing_empty_is_shown(self):
        for name in PLOTS:
            with self.subTest(page=name):
                self.open(name)
                links = self.browser.run('[...document.querySelectorAll("nav a")].filter((a) => !a.hidden).map((a) => a.hash.slice(1))')
                for link in links:
                    self.assertGreater(self.browser.run(f'document.getElementById("{link}").offsetHeight'), 30, link)
                for canvas in ("gains", "pair", "path", "energies", "forest"):
                    drawn = self.browser.run(f'document.getElementById("{canvas}").offsetParent !== null')
                    shown = self.browser.run(f'document.getElementById("{canvas}").closest("section").offsetParent !== null')
                    self.assertEqual(drawn, shown, canvas)

    def test_pairs_open_on_what_matters(self):
        """The most correlated two without divergences; with them, the two where they stand out. Never a constant."""
        data = 'JSON.parse(document.getElementById("data").textContent)'
        self.open("eight-schools")
        pair = self.browser.run(f"{data}.pair")
        self.assertEqual([self.browser.run(f'Number(document.getElementById("pair-{k}").value)') for k in "xy"], pair)
        correlations = self.browser.run(f"""(() => {{
          const rows = {data}.parameters.filter((row) => row.values);
          const scaled = rows.map(({{ values: {{ parts }} }}) => {{
            const mean = parts.reduce((a, b) => a + b) / parts.length;
            const size = Math.sqrt(parts.reduce((a, b) => a + (b - mean) ** 2, 0));
            return parts.map((x) => (x - mean) / size);
          }});
          return rows.flatMap((a, i) => rows.slice(0, i).map((b, j) =>
            [Math.abs(scaled[i].reduce((sum, x, k) => sum + x * scaled[j][k], 0)), [b.index, a.index]]));
        }})()""")
        divergent = self.browser.run(f"{data}.points.divergent.length")
        if divergent == 0:
            self.assertEqual(sorted(pair), max((c for c in correlations if c[0] < 0.9999))[1])

    def test_the_table_fits_or_shows_that_it_goes_on(self):
        region = 'document.querySelector("#parameters .scroll")'
        for width in (1280, 900, 400):
            self.open("eight-schools", width=width)
            fits = self.browser.run(f"{region}.scrollWidth <= {region}.clientWidth")
            self.assertEqual(self.browser.run(f'{region}.classList.contains("cut")'), not fits)
            if width == 1280:
                self.assertTrue(fits)
        self.run_script(f"{region}.scrollLeft = 1e6")
        self.assertFalse(self.browser.run(f'{region}.classList.contains("cut")'))

    def test_settings_that_differ_come_first(self):
        self.open("eight-schools")
        cells = '[...document.querySelectorAll("#{} tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent))'
        self.assertEqual(self.browser.run(cells.format("settings-list")), [["target-accept", "0.9", "0.8"], ["warmup-schedule", "stan", "pooled"]])
        self.assertIn(["chains", "4"], self.browser.run(cells.format("settings-defaults")))
        self.assertEqual(self.browser.run('document.querySelector("#settings-rest summary").textContent'), "3 settings at the default")

    def test_colours_have_contrast(self):
        """WCAG 2.1 AA: 4.5 for text."""
        for theme in ("light", "dark"):
            self.open("eight-schools", theme=theme)
            poor = self.browser.run("""(() => {
              const style = getComputedStyle(document.documentElement);
              const light = (name) => {
                const parts = style.getPropertyValue(`--${name}`).trim().match(/\\w\\w/g).map((x) => parseInt(x, 16) / 255)
                  .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
                return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
              };
              const pairs = ["ink", "muted", "recycled", "good", "caution", "bad"].flatMap((a) => ["paper", "card", "hover"].map((b) => [a, b]));
              return pairs.map(([a, b]) => [a, b, (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05)])
                .filter(([, , contrast]) => contrast < 4.5);
            })()""")
            self.assertEqual(poor, [], theme)

    def test_figures_are_saved_as_svg(self):
        """The file, drawn again, looks like the figure."""
        self.open("banana")
        count = self.browser.run("""(() => {
          window.saved = [];
          URL.createObjectURL = (blob) => { saved.push(blob); return "blob:none"; };
          HTMLAnchorElement.prototype.click = () => {};
          const buttons = [...document.querySelectorAll("button.svg")].filter((button) => button.offsetParent !== null);
          for (const button of buttons) button.click();
          return buttons.length;
        })()""")
        self.assertEqual(count, 8)  # trace, density, ranks, vectors, gains, pairs, trajectory, energy
        self.assertEqual(self.browser.faults(), [])
        for i in range(count):
            text = self.browser.run(f"saved[{i}].text()")
            self.assertEqual(self.browser.run(f'new DOMParser().parseFromString({json.dumps(text)}, "image/svg+xml").querySelectorAll("parsererror").length'), 0)
            self.assertGreater(text.count("<path"), 5)
            self.assertNotIn("NaN", text)
            self.assertNotIn("undefined", text)
            difference = self.browser.run(f"""(async () => {{
              const figure = [...document.querySelectorAll("button.svg")].filter((b) => b.offsetParent !== null)[{i}].closest("figure");
              const plots = [...figure.querySelectorAll("canvas")];
              const image = new Image();
              image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(await saved[{i}].text());
              await image.decode();
              const corner = plots[0].getBoundingClientRect();
              const sheets = [0, 1].map(() => {{
                const sheet = document.createElement("canvas");
                [sheet.width, sheet.height] = [image.width, image.height];
                return sheet.getContext("2d", {{ willReadFrequently: true }});
              }});
              sheets[0].drawImage(image, 0, 0);
              sheets[1].fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--card");
              sheets[1].fillRect(0, 0, image.width, image.height);
              for (const plot of plots) {{
                const box = plot.getBoundingClientRect();
                sheets[1].drawImage(plot, box.left - corner.left, box.top - corner.top, box.width, box.height);
              }}
              const [a, b] = sheets.map((sheet) => sheet.getImageData(0, 0, image.width, image.height).data);
              let sum = 0;
              let size = 0;
              for (let k = 0; k < a.length; ++k) {{
                sum += Math.abs(a[k] - b[k]);
                size += Math.abs(b[k] - b[4 * Math.floor(k / 4) % 4 + (k % 4)]);
              }}
              return sum / size;
            }})()""")
            self.assertLess(difference, 0.35, i)  # text is placed by the fraction of a pixel


if __name__ == "__main__":
    unittest.main()
