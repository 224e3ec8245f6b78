#!/usr/bin/env python3
"""Tests that scripts/check_rooms lets good files pass and finds each kind of fault."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_rooms"

GOOD = {
    "include/rehmc/core/numbers.hpp": "// Numbers.\n//\n// And more of them.\n#pragma once\n#include <cstdint>\n",
    "include/rehmc/model/density.hpp": '// Densities.\n#include "rehmc/core/numbers.hpp"\n',
    "src/dynamics/metric.cpp": '// Metrics.\n#include "rehmc/core/numbers.hpp"\n#include <Eigen/Dense>\n#include "local.hpp"\n',
    "src/dynamics/metric.hpp": "// Metrics.\n",
    "include/rehmc/run/chain.hpp": "// Chains.\n",
    "src/core/format.cpp": "// Compiles a library.\n",
    "models/normal.hpp": "// The normal.\n",
    "src/run/chain.cpp": '// Chains.\n#include "rehmc/adapt/warmup.hpp"\n#include "rehmc/trajectory/tree.hpp"\n',
    "models/normal.cpp": '// The normal.\n#include "models/normal.hpp"\n#include "rehmc/model/density.hpp"\n',
    "tests/core/numbers_test.cpp": '// Tests numbers.\n#include <gtest/gtest.h>\n#include "models/normal.hpp"\n',
}


class CheckRooms(unittest.TestCase):
    def check(self, extra):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **extra}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False)

    def assert_fault(self, file, text, place, message):
        header = {} if file.endswith(".hpp") else {file.removesuffix("cpp") + "hpp": "// A header.\n"}
        result = self.check({**(header if file.startswith(("src/", "models/")) and "attic" not in file else {}), file: text})
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith(f"{file}:{place}: "), result.stderr)
        self.assertIn(message, result.stderr)

    def test_good_files_pass(self):
        result = self.check({})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, f"rooms: {len(GOOD)} files in order\n")

    def test_a_room_may_not_include_a_lower_one(self):
        self.assert_fault("include/rehmc/core/bad.hpp", '// Bad.\n#include "rehmc/model/density.hpp"\n', 2,
                          "room core may not include room model")

    def test_a_room_may_not_include_a_neighbour(self):
        self.assert_fault("src/trajectory/bad.cpp", '// Bad.\n\n#include <rehmc/dynamics/metric.hpp>\n', 3,
                          "room trajectory may not include room dynamics")
        self.assert_fault("src/estimate/bad.cpp", '// Bad.\n#include "rehmc/kernel/nuts.hpp"\n', 2,
                          "room estimate may not include room kernel")

    def test_every_file_and_include_is_in_a_room(self):
        self.assert_fault("src/attic/bad.cpp", "// Bad.\n", 1, "in no room")
        self.assert_fault("include/rehmc/bad.hpp", "// Bad.\n", 1, "in no room")
        self.assert_fault("src/run/bad.cpp", '// Bad.\n#include "rehmc/attic/thing.hpp"\n', 2, "in no room")

    def test_a_public_header_shows_no_dependency(self):
        for header in ["<Eigen/Dense>", "<fmt/format.h>", "<Random123/philox.h>", '"local.hpp"']:
            self.assert_fault("include/rehmc/run/bad.hpp", f"// Bad.\n#include {header}\n", 2, "a public header")

    def test_the_library_includes_nothing_from_outside(self):
        self.assert_fault("src/run/bad.cpp", '// Bad.\n#include "models/normal.hpp"\n', 2, "may not include models/")
        self.assert_fault("src/run/bad.cpp", '// Bad.\n#include "cli/main.hpp"\n', 2, "may not include cli/")

    def test_nothing_includes_the_command(self):
        self.assert_fault("tests/cli/bad_test.cpp", '// Bad.\n#include "cli/main.hpp"\n', 2, "may not include cli/")
        self.assert_fault("models/bad.cpp", '// Bad.\n#include "cli/main.hpp"\n', 2, "may not include cli/")

    def test_private_headers_stay_in_their_folder(self):
        self.assert_fault("src/kernel/bad.cpp", '// Bad.\n#include "../core/local.hpp"\n', 2, "bare name")
        # The tests of a room may include its private headers, others may not.
        self.assert_fault("tests/kernel/bad_test.cpp", '// Bad.\n#include "src/core/local.hpp"\n', 2, "public headers")

    def test_a_file_says_what_it_is_for_in_one_line(self):
        self.assert_fault("src/core/bad.cpp", '#include "rehmc/core/numbers.hpp"\n', 1, "what the file is for")
        self.assert_fault("src/core/bad.cpp", "", 1, "what the file is for")
        self.assert_fault("examples/bad.cpp", "// A purpose that\n// goes on.\n", 2, "in one line")

    def test_every_source_has_its_header(self):
        for folder in ["src/run", "models", "stan"]:
            result = self.check({f"{folder}/lonely.cpp": "// Lonely.\n"})
            self.assertEqual(result.stderr, f"{folder}/lonely.cpp:1: there is no header lonely.hpp for this file\n")
            self.assertEqual(result.returncode, 1)

    def test_no_other_room_names_a_kernel(self):
        bad = "// Bad.\nbool bad = kind == KernelKind::hmc;\n"
        for file in ["src/run/chain.cpp", "include/rehmc/job/settings.hpp", "cli/sample.cpp"]:
            self.assert_fault(file, bad, 2, "only the room kernel may name a KernelKind")
        for file in ["include/rehmc/kernel/good.hpp", "experiments/good.cpp"]:
            self.assertEqual(self.check({file: bad}).stderr, "")

    def test_the_table_of_the_rooms_is_that_of_the_script(self):
        document = SCRIPT.parents[1] / "CONTRIBUTING.md"
        good = document.read_text(encoding="utf-8")
        self.assertEqual(self.check({"CONTRIBUTING.md": good}).stderr, "")
        missing = "\n".join(line for line in good.splitlines() if not line.startswith("| `running` |"))
        self.assertIn("room running is not in the table", self.check({"CONTRIBUTING.md": missing}).stderr)
        wrong = good.replace("| `output` |\n", "| `core` |\n", 1)
        self.assertIn("the table says core", self.check({"CONTRIBUTING.md": wrong}).stderr)
        no_folder = good.replace("`autodiff/`", "autodiff")
        self.assertIn("folder autodiff/ is not in the table", self.check({"CONTRIBUTING.md": no_folder}).stderr)

    def test_an_empty_tree_is_a_fault(self):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    unittest.main()
