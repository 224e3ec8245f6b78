"""Gathers what the page shows, section by section, and renders it with Jinja2."""

import pathlib
from concurrent.futures import ProcessPoolExecutor

import jinja2
import numpy as np

import figures
from drawing import save_figure
from formats import NONE, cell_text, duration_text, gain_text, signed_text
from names import CASES, KERNELS, STATISTICS, case_name, kernel_name, statistic_name
from remarks import ERRATA, EXPLANATIONS
from tables import TableError, Tables

HERE = pathlib.Path(__file__).resolve().parent
AGREEMENTS = ["agrees", "agrees in part", "differs", "not settled"]
UNCOUNTED = "overhead"  # no claim of the published text
ENOUGH = 0.95  # of the ESS of all states
OVERHEAD = "What recycling costs"

# In the order of the paper. Sections about a test case have its name.
SECTIONS = {
    "trajectory": (
        "Figure 1: one recycled trajectory",
        "Every state of a simulated path is accepted or rejected as if the path ended there.",
    ),
    "gaussian": (
        case_name("gaussian"),
        "250 independent normals whose variances are the eigenvalues of a Wishart draw with mean I; unit metric, so "
        "HMC and NUTS see strong correlations.",
    ),
    "logistic": (
        case_name("logistic"),
        "German credit data: 24 attributes, their two-way interactions and an intercept; 302 parameters with the log "
        "of the prior's scale.",
    ),
    "volatility": (
        case_name("volatility"),
        "Daily closes of the S&P 500: the log volatilities of 3000 days, their precision integrated out.",
    ),
    "cox": (
        case_name("cox"),
        "A latent Gaussian field on a grid of 64 by 64; Riemannian HMC, whose metric is constant here.",
    ),
    "counts": (
        "How many states to recycle",
        "The gain with K states per iteration: the next state of the chain and K − 1 recycled ones.",
    ),
    "lengths": ("Length of the chain", "Does the gain depend on how long the chain is?"),
    "beyond": (
        "Beyond the paper",
        "The multinomial kernel, other rules for what to keep, the gradients that came with the states, and what "
        "recycling costs.",
    ),
    "errata": (
        "Errata of the paper",
        "Each was checked by enumeration, by simulation or by computation. No claim of the paper's text depends on them.",
    ),
}


def heading(text, anchor=""):
    return {"kind": "heading", "text": text, "id": anchor}


def paragraph(text):
    return {"kind": "text", "text": text}


def table_of(columns, rows):
    """Columns are named; a name that ends in * holds text, all others numbers."""
    heads = [{"text": name.rstrip("*"), "number": not name.endswith("*")} for name in columns]
    return [{"kind": "table", "columns": heads, "rows": rows}] if rows else []


class Page:
    """Collects blocks (headings, texts, tables, figures) for each section, and the figures to draw."""

    def __init__(self, folder):
        self.tables = Tables(folder)
        self.figures = []

    def drawn(self, found):
        self.figures += found
        return [{"kind": "figure", "name": figure.name, "caption": figure.caption} for figure in found]

    def sections(self):
        """Sections with content, and the tables that others lack."""
        parts, left_out = [], []
        for name, (title, about) in SECTIONS.items():
            self.tables.take_missing()
            blocks = self.blocks_of(name)
            if missing := self.tables.take_missing():
                left_out.append({"title": title, "files": missing})
            if name == "errata" or any(b["kind"] == "figure" or b.get("id") == "overhead" for b in blocks):
                notices = self.notices(name)
                parts.append({"id": name, "title": title, "about": about, "blocks": blocks, "notices": notices})
        return parts, left_out

    def blocks_of(self, section):
        if section == "errata":
            return [block for place, text in ERRATA for block in (heading(place), paragraph(text))]
        if section == "trajectory":
            return self.drawn(figures.trajectory_figures(self.tables))
        if section == "counts":
            return self.fewest_states() + self.drawn(figures.count_figures(self.tables))
        if section == "lengths":
            return self.drawn(figures.length_figures(self.tables))
        return self.beyond() if section == "beyond" else self.case(section)

    def case(self, case):
        blocks = self.settings(case) + [paragraph(text) for text in EXPLANATIONS.get(case, [])]
        blocks += self.gains(case, "hmc") + self.gains(case, "nuts-slice")
        blocks += self.drawn(figures.component_figures(self.tables, case))
        if case in ("gaussian", "logistic"):
            blocks += self.drawn(figures.tuning_figures(self.tables, case))
        return blocks + self.other_paths(case)

    def other_paths(self, case):
        """What HMC gains on other paths than those of the study."""
        table = self.tables.find("sensitivity")
        rows = [
            [row["paths"]]
            + [cell_text(row[name]) for name in ["leapfrogs", "acceptance"]]
            + [f"{signed_text(float(row[f'{s}_log2']), 2)} ± {float(row[f'{s}_log2_error']):.2f}" for s in STATISTICS]
            + [cell_text(row[name]) for name in ["worst_mean_ess", "worst_variance_ess"]]
            for row in (table.where(case=case).records() if table else [])
        ]
        columns = ["paths of HMC*", "leapfrogs", "acceptance", *(statistic_name(s) for s in STATISTICS)]
        columns += ["worst mean", "worst variance"]
        note = (
            "Gains with the paper's number of states, as log₂ ratios; ESS per iteration of the worst mean and variance of "
            "the plain chain."
        )
        return [heading("Other paths"), paragraph(note), *table_of(columns, rows)] if len(rows) > 1 else []

    def beyond(self):
        parts = [
            (heading("Multinomial compared with slice"), self.drawn(figures.multinomial_figures(self.tables))),
            (
                heading("Recycling under the multinomial kernel"),
                [block for case in CASES for block in self.gains(case, "nuts")],
            ),
            (heading("The Cox process with small steps"), self.gains("cox", "hmc-small")),
            (heading("Which states to keep"), self.drawn(figures.family_figures(self.tables))),
            (heading("Gradients"), self.sharpening() + self.drawn(figures.sharpening_figures(self.tables))),
            (heading(OVERHEAD, "overhead"), self.overhead()),
        ]
        return [block for title, blocks in parts if blocks for block in [title, *blocks]]

    def settings(self, case):
        table = self.tables.find("settings")
        rows = table.where(case=case) if table else None
        if not rows:
            return []
        cells = []
        for row in rows.records():
            length = cell_text(row["truth_iterations"])
            truth = row["truth_source"] + (f", {length} iterations" if length not in (NONE, "0") else "")
            shown = [row[name] for name in ["step_size", "acceptance", "leapfrogs", "path_length", "chains", "iterations"]]
            cells.append(
                [kernel_name(row["kernel"], case)]
                + [cell_text(text) for text in shown]
                + [truth, cell_text(row["truth_error"]), duration_text(float(row["seconds"]))]
                + [cell_text(row["microseconds_per_leapfrog"])]
            )
        columns = ["kernel*", "step size", "acceptance", "leapfrogs", "path length", "chains", "iterations"]
        columns += ["ground truth*", "its error", "time", "µs per leapfrog"]
        note = (
            "Leapfrogs are means per iteration. The ground truth's error is its squared error over the mean squared "
            f"error of a recycled chain. The simulation took {duration_text(rows.numbers('seconds').sum())}."
        )
        return [*table_of(columns, cells), paragraph(note)]

    def gains(self, case, kernel):
        """The figure of one case and kernel, and averages over its parameters."""
        blocks = self.drawn(figures.gain_figures(self.tables, case, kernel))
        if not blocks:
            return []
        table = self.tables.find(f"{case}-{kernel}")
        count = cell_text(table.texts("k")[0])
        rows = []
        for statistic in STATISTICS:
            ratios = table.numbers(f"{statistic}_log2")
            average = np.nanmean(ratios)
            with_count = np.nanmean(table.numbers(f"{statistic}_log2_k"))
            rows.append(
                [
                    statistic_name(statistic),
                    signed_text(average, 2),
                    signed_text(100 * (2**average - 1), 0) + "%",
                    f"{signed_text(with_count, 2)} (K = {count})",
                    signed_text(np.nanmin(ratios), 2),
                    signed_text(np.nanmax(ratios), 2),
                    f"{100 * np.mean(ratios > 0):.0f}%",
                ]
            )
        columns = ["statistic*", "average log₂ ratio", "gain in ESS", "with the paper's number of states"]
        return blocks + table_of([*columns, "smallest", "largest", "parameters that gain"], rows)

    def fewest_states(self):
        """The paper's rule: the fewest states whose ESS is within 5% of that of all states."""
        counts = self.tables.find("counts")
        if not counts:
            return []
        rows = []
        for case in CASES:
            for kernel in KERNELS:
                found = counts.where(case=case, kernel=kernel, statistic="all")
                if not found:
                    continue
                cells = [case_name(case), kernel_name(kernel, case)]
                papers = "stride" if found.where(family="stride") else "final"
                for family in [papers, "spread"]:
                    tried = found.where(family=family)
                    enough = tried.numbers("k")[tried.numbers("ess_share") >= ENOUGH]
                    cells.append(f"{enough.min():g}" if enough.size else NONE)
                rows.append(cells)
        text = (
            f"The fewest states whose ESS, averaged over estimators, is within 5% of that of all states ({NONE}: none "
            "of those tried). For the Gaussian the average is over variances and quantiles, because the gain of the "
            "means of narrow coordinates has no bound. As in the paper: under HMC evenly spaced steps, each accepted or "
            "rejected, under NUTS the final state and evenly spread ones:"
        )
        table = table_of(["case*", "kernel*", "K: as in the paper", "K: evenly spread"], rows)
        return [paragraph(text), *table] if table else []

    def sharpening(self):
        table = self.tables.find("sharpening")
        rows = []
        for row in table.records() if table else []:
            cells = [case_name(row["case"]), statistic_name(row["statistic"])]
            for which in ["recycled", "sharpened"]:
                cells += [gain_text(float(row[f"{which}_gain"])), cell_text(row[f"{which}_error"])]
            rows.append([*cells, cell_text(row["runs"])])
        return table_of(
            ["case*", "statistic*", "recycled", "± log₂", "recycled and sharpened", "± log₂", "runs"], rows
        )

    def overhead(self):
        table = self.tables.find("overhead")
        rows = [
            [
                case_name(row["case"]),
                kernel_name(row["kernel"], row["case"]),
                row["recycling"],
                signed_text(float(row["time_percent"]), 1) + "%",
                f"{float(row['time_error']):.1f}%",
                cell_text(row["kept_states"]),
                cell_text(row["bytes_per_draw"]),
            ]
            for row in (table.records() if table else [])
        ]
        columns = ["case*", "kernel*", "recycling*", "extra time", "±", "states kept per draw", "bytes per draw"]
        return table_of(columns, rows)

    def notices(self, section):
        """What every reader must know: all at the top and in sections about all cases, else those of the case."""
        table = self.tables.find("notice")
        takes_all = section in ("", "counts", "lengths", "beyond")
        return [
            {"title": case_name(row["case"]) if row["case"] else "Note", "text": row["text"]}
            for row in (table.records() if table else [])
            if takes_all or row["case"] == section
        ]

    def claims(self):
        """Claims grouped by section, and how many agree."""
        table = self.tables.find("claims")
        groups = {}
        for number, row in enumerate(table.records() if table else [], start=1):
            if row["agreement"] not in AGREEMENTS:
                raise TableError(
                    f"{table.path}, row {number}, column agreement: '{row['agreement']}'; expected one of "
                    f"{', '.join(AGREEMENTS)}"
                )
            groups.setdefault(row["section"], []).append(row)
        titles = {name: title for name, (title, _) in SECTIONS.items()} | {"overhead": OVERHEAD}
        tally = {a: sum(row["agreement"] == a for name, rows in groups.items() if name != UNCOUNTED for row in rows) for a in AGREEMENTS}
        shown = [{"id": name, "title": titles.get(name, ""), "rows": rows} for name, rows in groups.items()]
        return shown, tally

    def run(self):
        """Facts about the run, as (name, value)."""
        table = self.tables.find("run")
        facts = [(row["key"], row["value"]) for row in (table.records() if table else [])]
        return [("time", duration_text(float(value))) if key == "seconds" else (key, value) for key, value in facts]

    def html(self):
        sections, left_out = self.sections()
        claims, tally = self.claims()
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        papers = figures.PAPER_NUMBERS
        own = [figure.name for figure in self.figures if figure.name not in papers]
        numbers = papers | {name: f"R{number}" for number, name in enumerate(own, start=1)}
        return environment.get_template("page.html").render(
            run=self.run(),
            notices=self.notices(""),
            claims=claims,
            tally=tally,
            left_out=left_out,
            sections=sections,
            numbers=numbers,
            css=(HERE / "page.css").read_text(encoding="utf-8"),
        )


def draw_results(folder):
    """Writes figures/ and paper.html into the folder."""
    page = Page(folder)
    html = page.html()
    with ProcessPoolExecutor() as pool:
        for _ in pool.map(save_figure, page.figures, [folder / "figures"] * len(page.figures)):
            pass
    (folder / "paper.html").write_text(html, encoding="utf-8")
