#!/usr/bin/env python3
"""Tests `rehmc models`: the list, the descriptions, and names that do not exist."""

import json
import unittest

from command import rehmc


class Models(unittest.TestCase):
    def test_lists_every_model_with_one_line(self):
        result = rehmc("models")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        listed = json.loads(rehmc("models", "--json").stdout)
        self.assertIn("eight-schools", [model["name"] for model in listed])
        lines, hint = result.stdout.split("\n\n")
        self.assertIn("rehmc models NAME", hint)
        for model, line in zip(listed, lines.splitlines(), strict=True):
            self.assertTrue(line.startswith(model["name"] + " "), line)
            self.assertTrue(line.endswith(model["summary"]), line)
            self.assertLessEqual(len(line), 100)

    def test_describes_every_model(self):
        for model in json.loads(rehmc("models", "--json").stdout):
            with self.subTest(model["name"]):
                text = rehmc("models", model["name"])
                self.assertEqual((text.returncode, text.stderr), (0, ""))
                for part in ["Parameters: ", "Data (--data FILE", f"rehmc sample {model['name']} --data"]:
                    self.assertIn(part, text.stdout)
                self.assertEqual(json.loads(rehmc("models", model["name"], "--json").stdout), model)

    def test_suggests_the_nearest_name(self):
        for words in [("models", "eigth-schools"), ("models", "eigth-schools", "--json")]:
            result = rehmc(*words)
            self.assertEqual((result.returncode, result.stdout), (78, ""))
            self.assertIn("did you mean 'eight-schools'?", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_rejects_unknown_words(self):
        for words in [("models", "--xml"), ("models", "banana", "funnel")]:
            result = rehmc(*words)
            self.assertEqual((result.returncode, result.stdout), (64, ""), words)
            self.assertIn(words[-1], result.stderr)


if __name__ == "__main__":
    unittest.main()
