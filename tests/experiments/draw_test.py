#!/usr/bin/env python3
"""Tests experiments/draw: figures and page are made from the tables alone, show their numbers, and name what is missing."""

import csv
import html
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import numpy as np

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "experiments/draw"
sys.path.insert(0, str(PROGRAM))

import drawing  # noqa: E402
import figures  # noqa: E402
import formats  # noqa: E402
from shapes import Density  # noqa: E402
from tables import TableError, Tables  # noqa: E402

STATISTICS = ["mean", "variance", "q97.5"]
CLAIM_COLUMNS = ["id", "section", "claim", "paper", "measured", "error", "agreement", "remark"]
COUNT_COLUMNS = "case kernel family k statistic log2 log2_error ess_share ess_share_error".split()
SETTING_COLUMNS = (
    "case kernel step_size acceptance leapfrogs path_length chains iterations truth_iterations truth_error seconds "
    "microseconds_per_leapfrog truth_source"
).split()


def write(folder, name, columns, rows):
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def write_gains(folder, name, ratios):
    """The mean's log2 ratios are given, those of the variance are 1, those of the quantile 0.5."""
    parts = ["plain", "recycled", "log2", "log2_error", "log2_short", "log2_k"]
    columns = ["parameter", "scale", "k", *(f"{s}_{part}" for s in STATISTICS for part in parts)]
    rows = [
        [i + 1, 1, 31, *(value for r in [ratio, 1, 0.5] for value in [0.5, 1.0, r, 0.07, r, r])]
        for i, ratio in enumerate(ratios)
    ]
    write(folder, name, columns, rows)


def write_everything(folder):
    """Small tables for every kind of figure."""
    steps = [[0, 0, 0, 1, 1, 1], [1, 0.5, 0.5, 1, 1, 1], [2, 1, 1, 0, 1, 1]]
    write(folder, "trajectory", ["step", "x", "y", "accepted", "momentum_x", "momentum_y"], steps)
    grid = [[x / 2, y / 2, np.exp(-(x * x + y * y) / 8)] for y in range(-6, 7) for x in range(-6, 7)]
    write(folder, "banana", ["x", "y", "density"], grid)
    for kernel in ["hmc", "nuts-slice", "nuts"]:
        write_gains(folder, f"gaussian-{kernel}", [0.5, -0.25, 0.75, 1.0])
        write(folder, f"counts-gaussian-{kernel}", ["parameter", "k2", "k4"], [[1, 0.5, 0.7], [2, 0.4, 0.8]])
    numbers = [0.0125, 0.7, 251, 3.1, 400, 3200, 10000000, 0.001, 90, 1.5]
    settings = [["gaussian", kernel, *numbers, "a long run"] for kernel in ["hmc", "nuts-slice", "nuts"]]
    settings.append(["cox", "hmc", *[1] * 10, ""])
    write(folder, "settings", SETTING_COLUMNS, settings)
    families = [["final", 2, 0.5], ["final", 8, 1.25], ["spread", 2, 0.75], ["all", 0, 1.5]]
    counts = [["gaussian", "hmc", family, k, "q97.5", log2, 0.1, "nan", "nan"] for family, k, log2 in families]
    write(folder, "counts", COUNT_COLUMNS, counts)
    lengths = [["gaussian", k, f, s, 1.0, 0.1] for k in ["hmc", "nuts-slice"] for f in [0.5, 1] for s in STATISTICS]
    write(folder, "lengths", ["case", "kernel", "fraction", "statistic", "log2", "log2_error"], lengths)
    quantities = ["angle", "eigenvalue"]
    components = [["gaussian", "hmc", n, q, 0.5, 0.1, 0.8, 0.6] for n in [100, 200] for q in quantities]
    columns = ["case", "kernel", "iterations", "quantity", "log2", "log2_error", "plain_rmse", "recycled_rmse"]
    write(folder, "components", columns, components)
    others = [["as studied", 219], ["251 steps", 251]]
    sensitivity = [["gaussian", paths, n, 0.7, 0.5, 0.01, 0.75, 0.02, 1, 0.03, 0.4, 0.25] for paths, n in others]
    sensitivity.append(["cox", "as studied", 15.5, 0.7, *[1] * 8])
    columns = "case paths leapfrogs acceptance mean_log2 mean_log2_error variance_log2 variance_log2_error q97.5_log2 "
    columns += "q97.5_log2_error worst_mean_ess worst_variance_ess"
    write(folder, "sensitivity", columns.split(), sensitivity)
    write_gains(folder, "cox-hmc-small", [-0.5, -0.25])
    tuning = [["gaussian", 400, statistic, 1.0, 0.1] for statistic in STATISTICS]
    write(folder, "tuning", ["case", "adapt", "statistic", "log2", "log2_error"], tuning)
    write(folder, "tuning-gaussian-400", ["parameter", *(f"{s}_log2" for s in STATISTICS)], [[1, 1, 2, 3], [2, 2, 3, 1]])
    columns = ["parameter", *(f"{s}_{w}" for s in ["mean", "sd", "q97.5"] for w in ["recycled", "sharpened"])]
    write(folder, "sharpening-gaussian", columns, [[1, *[1, 3] * 3], [2, *[2, 4] * 3]])
    columns = "case statistic recycled_gain recycled_error sharpened_gain sharpened_error runs refused".split()
    write(folder, "sharpening", columns, [["gaussian", "mean", 2.345, 0.02, 3e15, 0.03, 40, 0]])
    columns = "case kernel recycling time_percent time_error stored_percent stored_error kept_states bytes_per_draw"
    write(folder, "overhead", columns.split(), [["gaussian", "hmc", "spread:32", 14.23, 0.41, 20, 1, 32, 64256]])
    claims = [
        ["a", "gaussian", "More <ESS> & less work", "+100%", "+104%", "3%", "agrees", ""],
        ["b", "cox", "Means, too", "all", "some", "", "differs", 'Because of "this"'],
        ["c", "gaussian", "Third", "7", "8", "", "not settled", ""],
        ["d", "Elsewhere", "Fourth", "7", "8", "", "agrees", ""],
    ]
    write(folder, "claims", CLAIM_COLUMNS, claims)
    facts = [["scale", "quick"], ["machine", "2 cores, <fast>"], ["seconds", 3723]]
    write(folder, "run", ["key", "value"], facts)


FIGURES = {
    "trajectory": ["θ₁", "θ₂", "accepted, recycled", "rejected: the start counts again", "start", "2"],
    "gaussian-hmc": ["Gain from recycling", "log₂ ratio of ESS", "mean", "variance", "97.5% quantile", "variance, plain"],
    "gaussian-nuts-slice": ["ESS per iteration", "parameters, each curve sorted on its own"],
    "gaussian-nuts": ["parameters, sorted by the mean's ratio", "×2"],
    "cox-hmc-small": ["Gain from recycling", "mean"],
    "components-gaussian": ["iterations", "RMS angle (radians)", "HMC, angle", "HMC, plain", "100"],
    "tuning-gaussian": ["400 iterations of tuning", "Average over parameters", "iterations of tuning", "400"],
    "counts-gaussian": ["K = 4", "K = 2", "NUTS (slice)", "parameters, sorted by the ratio at the largest K"],
    "families-gaussian": ["states per iteration, K", "evenly spread", "final state + (K − 1)", "all states", "8"],
    "lengths": ["Multivariate Gaussian", "length, as a fraction of the full chain", "NUTS, variance", "1/2"],
    "lengths-gaussian": ["mean, full chain", "mean, 1/32 of it"],
    "multinomial-gaussian": ["log₂ ratio of ESS per gradient", "Plain chains", "All states recycled"],
    "sharpening-gaussian": ["recycled", "recycled and sharpened", "log₂ gain over the plain chain", "sd"],
}


def draw(folder):
    words = [sys.executable, str(PROGRAM), str(folder)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)


class Folder(unittest.TestCase):
    """A test with an empty folder."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def page(self):
        result = draw(self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return (self.folder / "paper.html").read_text(encoding="utf-8")


def part(page, start, end):
    """From one text to another; empty if the first is missing."""
    return page[page.index(start) :].split(end)[0] if start in page else ""


def cells(row):
    return [html.unescape(cell) for cell in re.findall(r"<td[^>]*>([^<]*)</td>", row)]


class Drawn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        write_everything(cls.folder)
        cls.result = draw(cls.folder)
        cls.page = (cls.folder / "paper.html").read_text(encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_is_silent_when_nothing_is_wrong(self):
        self.assertEqual((self.result.returncode, self.result.stdout, self.result.stderr), (0, "", ""))

    def test_every_figure_is_drawn_with_labels_and_legend(self):
        self.assertEqual({path.stem for path in (self.folder / "figures").glob("*.svg")}, set(FIGURES))
        for name, expected in FIGURES.items():
            for path in [f"{name}.svg", f"narrow/{name}.svg"]:
                with self.subTest(path):
                    tree = xml.etree.ElementTree.parse(self.folder / "figures" / path)
                    texts = ["".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text")]
                    for text in expected:
                        self.assertIn(text, texts)
            png = (self.folder / "figures" / f"{name}.png").read_bytes()
            self.assertTrue(png.startswith(b"\x89PNG\r\n"))
            self.assertGreater(int.from_bytes(png[16:20], "big"), 1000)
            self.assertIn(f'src="figures/{name}.svg"', self.page)
            self.assertIn(f'srcset="figures/narrow/{name}.svg"', self.page)

    def test_same_bytes_again(self):
        before = {path: path.read_bytes() for path in self.folder.rglob("*.svg")}
        self.assertEqual(draw(self.folder).returncode, 0)
        self.assertEqual({path: path.read_bytes() for path in self.folder.rglob("*.svg")}, before)
        self.assertEqual((self.folder / "paper.html").read_text(encoding="utf-8"), self.page)

    def test_claims_are_escaped_counted_and_grouped(self):
        for text in [
            "More &lt;ESS&gt; &amp; less work",
            "± 3%",
            "Because of &#34;this&#34;",
            "chip differs",
            "not settled at this scale",
            'chip not-settled">not settled<',
            "scale <b>quick</b>",
            "2 cores, &lt;fast&gt;",
            "time <b>1 h 02 min</b>",
            "<b>2</b>agree<",
            "<b>1</b>differs<",
            'colspan="4">Elsewhere',
        ]:
            self.assertIn(text, self.page)
        self.assertNotIn("<ESS>", self.page)
        group = part(self.page, '#gaussian">Multivariate Gaussian</a></th>', "</tbody>")
        self.assertIn("More", group)
        self.assertIn("Third", group)

    def test_tables_of_the_page_have_the_numbers_of_the_files(self):
        gaussian = part(self.page, '<section id="gaussian">', "</section>")
        # The mean: on average +0.50, that is 2^0.5 - 1 = 41%; three of four parameters gain.
        self.assertEqual(
            cells(part(gaussian, "<td>mean</td>", "</tr>")),
            ["mean", "+0.50", "+41%", "+0.50 (K = 31)", "−0.25", "+1.00", "75%"],
        )
        self.assertEqual(cells(part(gaussian, "<td>variance</td>", "</tr>"))[2], "+100%")
        row = ["HMC", "0.0125", "0.7", "251", "3.1", "400", "3,200", "a long run, 10,000,000 iterations"]
        self.assertEqual(cells(part(gaussian, "<td>HMC</td>", "</tr>")), [*row, "0.001", "1 min 30 s", "1.5"])
        beyond = part(self.page, '<section id="beyond">', "</section>")
        sharpened = ["Multivariate Gaussian", "mean", "×2.35", "0.02", "more than ×10⁶", "0.03", "40"]
        self.assertIn(sharpened, [cells(row) for row in beyond.split("<tr>")])
        cost = ["Multivariate Gaussian", "HMC", "spread:32", "+14.2%", "0.4%", "32", "64,256"]
        self.assertIn(cost, [cells(row) for row in beyond.split("<tr>")])

    def test_other_paths_stand_with_their_case(self):
        gaussian = part(self.page, '<section id="gaussian">', "</section>")
        row = ["251 steps", "251", "0.7", "+0.50 ± 0.01", "+0.75 ± 0.02", "+1.00 ± 0.03", "0.4", "0.25"]
        self.assertIn(row, [cells(found) for found in gaussian.split("<tr>")])

    def test_figures_have_the_papers_numbers(self):
        for name, number in {"trajectory": "1", "gaussian-hmc": "2", "components-gaussian": "3 and 4, right",
                             "counts-gaussian": "13", "lengths-gaussian": "17", "lengths": "R1"}.items():  # fmt: skip
            caption = part(self.page, f'id="figure-{name}"', "</figure>")
            self.assertIn(f"<b>{'Figures' if ' and ' in number else 'Figure'} {number}.</b>", caption)

    def test_the_page_explains_and_lists_errata(self):
        self.assertIn("Why the gain in the direction", part(self.page, '<section id="gaussian">', "</section>"))
        errata = part(self.page, '<section id="errata">', "</section>")
        for text in ["w = K|A′|/|A|", "7.7 GB in double precision", "Figure 12"]:
            self.assertIn(text, errata)

    def test_names_what_is_missing(self):
        # Settings alone do not make a section.
        self.assertNotIn('<section id="cox">', self.page)
        self.assertNotIn('<a href="#cox">Log-Gaussian Cox process</a><a', self.page)
        missing = part(self.page, "Not on this page", "</div>")
        for name in ["cox-hmc.csv", "logistic-nuts.csv", "counts-volatility-hmc.csv"]:
            self.assertIn(name, missing)
        self.assertNotIn(">gaussian-hmc.csv", missing)


class Page(Folder):
    def test_refuses_bad_tables(self):
        for name, text, code, said in [
            ("claims", ",".join(CLAIM_COLUMNS) + "\na,cox,Claim,1,2,,maybe,\n", 65, ["row 1", "agreement", "maybe"]),
            ("gaussian-hmc", "parameter,k,mean_log2_error\n1,2\n", 65, ["gaussian-hmc.csv", "row 1", "2 fields"]),
            ("gaussian-hmc", "parameter,mean_log2_error\n1,x\n", 65, ["row 1", "mean_log2_error", "'x'"]),
            ("trajectory", "step,x\n0,1\n", 65, ["trajectory.csv", "no column 'y'"]),
        ]:
            with self.subTest(text):
                path = self.folder / f"{name}.csv"
                path.write_text(text, encoding="utf-8")
                result = draw(self.folder)
                path.unlink()
                self.assertEqual(result.returncode, code, result.stderr)
                for word in said:
                    self.assertIn(word, result.stderr)
        self.assertEqual(draw(self.folder).returncode, 66)
        self.assertEqual(draw(self.folder / "none").returncode, 66)
        self.assertFalse((self.folder / "paper.html").exists())

    def test_simulated_data_are_announced_where_they_matter(self):
        write_gains(self.folder, "gaussian-hmc", [0.5, 0.6])
        write_gains(self.folder, "volatility-hmc", [0.5, 0.6])
        write(self.folder, "notice", ["case", "text"], [["volatility", "Made-up closes <not> the index"]])
        page = self.page()
        banner = "Made-up closes &lt;not&gt; the index"
        self.assertLess(page.index(banner), page.index('id="claims"'))
        self.assertIn(banner, part(page, '<section id="volatility">', "</section>"))
        self.assertIn(banner, part(page, '<section id="lengths">', "</section>"))
        self.assertNotIn(banner, part(page, '<section id="gaussian">', "</section>"))
        self.assertIn("No claims were compared", page)

    def test_finds_the_fewest_states_that_suffice(self):
        rows = [["all", 0, "all", 1], ["final", 64, "all", 0.99], ["final", 32, "all", 0.951]]
        rows += [["final", 16, "all", 0.949], ["spread", 8, "all", 0.96], ["final", 2, "mean", 1]]
        counts = [["gaussian", "hmc", family, k, s, "nan", "nan", share, 0] for family, k, s, share in rows]
        write(self.folder, "counts", COUNT_COLUMNS, counts)
        write(self.folder, "counts-gaussian-hmc", ["parameter", "k1", "k2"], [[1, 0, 0.5], [2, 0.1, 0.4]])
        section = part(self.page(), '<section id="counts">', "</tbody>")
        self.assertIn(["Multivariate Gaussian", "HMC", "32", "8"], [cells(row) for row in section.split("<tr>")])


class Curves(Folder):
    def test_are_sorted_by_the_mean_and_grouped_if_many(self):
        write_gains(self.folder, "cox-hmc", [0.5, -0.25, 0.75])
        write_gains(self.folder, "cox-nuts", [i * 7 % 600 / 600 for i in range(600)])
        tables = Tables(self.folder)
        few = figures.gain_figures(tables, "cox", "hmc")[0].panels[0].curves[0]
        self.assertEqual(few.label, "mean")
        self.assertEqual((list(few.x), list(few.y), few.lower), ([1, 2, 3], [-0.25, 0.5, 0.75], None))
        many = figures.gain_figures(tables, "cox", "nuts")[0].panels[0].curves[0]
        self.assertEqual((many.x[0], many.x[-1], len(many.x)), (1, 600, 60))
        self.assertTrue(np.all(np.diff(many.y) > 0))
        # The bands lose no value.
        self.assertAlmostEqual(many.lower.min(), 0, places=6)
        self.assertAlmostEqual(many.upper.max(), 599 / 600, places=5)
        self.assertEqual(figures.gain_figures(tables, "gaussian", "hmc"), [])
        self.assertEqual((tables.take_missing(), tables.take_missing()), (["gaussian-hmc.csv"], []))

    def test_outliers_are_cut_and_noted(self):
        write_gains(self.folder, "gaussian-nuts", [0.8] * 49 + [10.0])
        panel = figures.gain_figures(Tables(self.folder), "gaussian", "nuts")[0].panels[0]
        self.assertLess(panel.limits[1], 3)
        self.assertEqual([note.text for note in panel.notes], ["up to 10.0 →"])

    def test_all_states_are_a_level_line(self):
        rows = [["cox", "hmc", f, k, "q97.5", log2, 0.1, "nan", "nan"] for f, k, log2 in
                [("all", 0, 1.5), ("stride", 8, 1.25), ("stride", 2, 0.5)]]  # fmt: skip
        write(self.folder, "counts", COUNT_COLUMNS, rows)
        final, level = figures.family_figures(Tables(self.folder))[0].panels[0].curves
        self.assertEqual((list(final.x), list(final.y)), ([2, 8], [0.5, 1.25]))
        self.assertEqual((list(level.x), list(level.y)), ([2, 8], [1.5, 1.5]))

    def test_the_trajectory_shows_what_was_rejected(self):
        write_everything(self.folder)
        figure = figures.trajectory_figures(Tables(self.folder))[0]
        points = {curve.label: list(curve.x) for curve in figure.panels[0].curves}
        self.assertEqual(points["start"], [0])
        self.assertEqual(points["accepted, recycled"], [0.5])
        self.assertEqual(points["rejected: the start counts again"], [1])
        self.assertEqual([note.text for note in figure.panels[0].notes], ["0", "1", "2"])
        self.assertIn("rejected: 2", figure.caption)

    def test_a_density_that_is_not_a_grid_is_rejected(self):
        write(self.folder, "trajectory", ["step", "x", "y", "accepted"], [[0, 0, 0, 1]])
        write(self.folder, "banana", ["x", "y", "density"], [[0, 0, 1], [1, 0, 1], [0, 1, 1]])
        with self.assertRaisesRegex(TableError, "3 points.*2 x and 2 y"):
            figures.trajectory_figures(Tables(self.folder))


class Numbers(unittest.TestCase):
    def test_cells_and_durations(self):
        texts = {"": "–", "nan": "–", "1234567": "1,234,567", "-3": "−3", "0.123456": "0.1235", "exact": "exact"}
        self.assertEqual({text: formats.cell_text(text) for text in texts}, texts)
        spans = {9.96: "10.0 s", 59.4: "59 s", 90: "1 min 30 s", 3723: "1 h 02 min", float("nan"): "–"}
        self.assertEqual([formats.duration_text(seconds) for seconds in spans], list(spans.values()))

    def test_ticks(self):
        self.assertEqual(list(drawing.log_ticks(np.array([400.0, 800.0, 400.0]), 10)), [400, 800])
        ticks = drawing.log_ticks(np.geomspace(0.3, 20, 50), 10)
        self.assertEqual(ticks, [0.5, 1, 2, 5, 10, 20])
        np.testing.assert_allclose(drawing.log_ticks(np.geomspace(0.38, 0.95, 50), 10), [0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
        self.assertEqual([drawing.number_text(value) for value in [1e-5, 0.01, 1000, 1e5]], ["10⁻⁵", "0.01", "1000", "10⁵"])
        self.assertEqual([drawing.fraction_text(value) for value in [1 / 32, 1]], ["1/32", "1"])
        self.assertEqual(drawing.factor_ticks(-0.2, 1.5), [1, 1.25, 1.5, 2])
        self.assertEqual(drawing.factor_ticks(-3, 3), [2.0**power for power in range(-3, 4)])
        self.assertEqual([drawing.factor_text(factor) for factor in [0.25, 1024, 2.0**16]], ["×0.25", "×1024", "×2¹⁶"])

    def test_regions_hold_their_share_of_the_mass(self):
        x = np.arange(-5, 5.01, 0.0625)
        height = np.exp(-(x[:, None] ** 2 + x**2) / 2)
        shares = [0.9, 0.5, 0.1]
        for share, level in zip(shares, drawing.region_levels(Density(x, x, height, shares)), strict=True):
            # The circle that holds this share of a standard normal in two dimensions.
            self.assertAlmostEqual(np.sqrt(-2 * np.log(level)), np.sqrt(-2 * np.log1p(-share)), delta=0.05)

    def test_a_finer_grid_keeps_the_points_and_is_exact_for_quadratics(self):
        x = np.arange(6.0)
        finer = figures.refine((x**2)[:, None] * np.ones(2), times=4)
        np.testing.assert_allclose(finer[::4, 0], x**2)
        np.testing.assert_allclose(finer[4:17, 1], np.linspace(1, 4, 13) ** 2)


if __name__ == "__main__":
    unittest.main()
