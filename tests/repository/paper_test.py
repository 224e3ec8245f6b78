#!/usr/bin/env python3
"""Tests that CONTRIBUTING.md says where each algorithm, theorem, fact and equation of the paper is in the code."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SECTION = "## Where the paper is in the code"
PAPER = re.compile(r"Nishimura (&|and) Dunson")

# Everything that the paper numbers.
ALGORITHMS = [f"Algorithm {n}" for n in range(1, 7)]
THEOREMS = [f"Theorem {n}" for n in range(1, 5)]
EQUATIONS = [
    f"({section}.{n})"
    for section, count in {"1": 2, "2": 3, "3": 6, "4": 1, "5": 5, "A": 5, "B": 4}.items()
    for n in range(1, count + 1)
]
NUMBERED = [*ALGORITHMS, *THEOREMS, "Fact 1", *EQUATIONS]


def rows(text):
    """The cells of every row of the section's table, without its head."""
    section = text.split(SECTION + "\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def comments_of(source, symbol):
    """The comments directly before each declaration of a symbol."""
    lines = source.splitlines()
    found = []
    for number, line in enumerate(lines):
        code = line.split("//")[0]
        if not re.search(rf"\b{re.escape(symbol)}\b", code):
            continue
        above = number - 1
        while above >= 0 and re.match(r"\s*template\b|\s*requires\b", lines[above]):
            above -= 1
        comment = []
        while above >= 0 and lines[above].lstrip().startswith("//"):
            comment.insert(0, lines[above].strip().lstrip("/ "))
            above -= 1
        found.append(" ".join(comment))
    return found


def fault_of(row, root):
    """What is wrong with a row of the table, or None."""
    number, _, place, symbol = row
    if not place.startswith("`"):
        return None if place in ("not implemented yet", "no code") and symbol else "neither a file nor a reason"
    file = root / place.strip("`")
    if not file.is_file():
        return f"{file} does not exist"
    comments = comments_of(file.read_text(encoding="utf-8"), symbol.strip("`"))
    if not comments:
        return f"{place} has no {symbol}"
    citation = re.compile(re.escape(number) + r"(?!\d)")
    if not any(PAPER.search(comment) and citation.search(comment) for comment in comments):
        return f"the comment of {symbol} in {place} does not cite the paper's {number}"
    return None


class Paper(unittest.TestCase):
    def setUp(self):
        self.rows = rows((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))

    def test_the_table_has_everything_that_the_paper_numbers(self):
        self.assertEqual({row[0] for row in self.rows}, set(NUMBERED))

    def test_every_symbol_exists_and_carries_its_citation(self):
        faults = [f"{row[0]}: {fault}" for row in self.rows if (fault := fault_of(row, ROOT))]
        self.assertEqual(faults, [])

    def test_a_wrong_row_is_found(self):
        good = ["Algorithm 2", "", "`include/rehmc/recycle/recyclers.hpp`", "`KeepSimple`"]
        self.assertIsNone(fault_of(good, ROOT))
        self.assertIn("does not cite", fault_of(["Algorithm 3", *good[1:]], ROOT))
        self.assertIn("has no", fault_of([*good[:3], "`KeepNobody`"], ROOT))
        self.assertIn("does not exist", fault_of([*good[:2], "`include/nothing.hpp`", good[3]], ROOT))
        self.assertIn("neither", fault_of([*good[:2], "somewhere", ""], ROOT))


if __name__ == "__main__":
    unittest.main()
