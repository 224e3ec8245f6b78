#!/usr/bin/env python3
"""Tests that experiments/data/fetch extracts the data of the paper and rejects anything else."""

import importlib.machinery
import importlib.util
import datetime
import pathlib
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "data" / "fetch"


def load():
    loader = importlib.machinery.SourceFileLoader("fetch", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fetch", loader))
    loader.exec_module(module)
    return module


fetch = load()


def table(days):
    """A table of closes in the format of the package, with an extra day before and after."""
    first = datetime.date(2004, 2, 2)
    last = datetime.date(2015, 12, 31)
    dates = [first - datetime.timedelta(1)]
    dates += [first + datetime.timedelta(i) for i in range(days - 1)] + [last, last + datetime.timedelta(1)]
    lines = [f"{d.month}/{d.day}/{d.year},1.0,{1000 + i}.25" for i, d in enumerate(dates)]
    return "Date,Open,Close\n" + "\n".join(lines) + "\n"


def credit(rows=1000, good=700, numbers=25):
    return "".join("   ".join(["7"] * (numbers - 1) + ["1" if i < good else "2"]) + " \n" for i in range(rows))


class Closes(unittest.TestCase):
    def test_takes_the_days_of_the_paper(self):
        lines = fetch.closes(table(3001)).splitlines()
        self.assertEqual(lines[0], "date,close")
        self.assertEqual(len(lines), 3002)
        self.assertEqual(lines[1], "2004-02-02,1001.25")
        self.assertEqual(lines[-1][:11], "2015-12-31,")

    def test_refuses_another_number_of_days(self):
        with self.assertRaisesRegex(fetch.Unusable, "found 3000 days, expected 3001"):
            fetch.closes(table(3000))


class Credit(unittest.TestCase):
    def test_leaves_one_blank_between_numbers(self):
        lines = fetch.credit_rows(credit()).splitlines()
        self.assertEqual(len(lines), 1000)
        self.assertEqual(lines[0], "7 " * 24 + "1")

    def test_refuses_what_is_not_that_file(self):
        for text in (credit(rows=999), credit(good=699), credit(numbers=21)):
            with self.assertRaises(fetch.Unusable):
                fetch.credit_rows(text)
        with self.assertRaises(ValueError):
            fetch.credit_rows(credit().replace("7", "A11"))


if __name__ == "__main__":
    unittest.main()
