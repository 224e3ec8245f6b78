#!/usr/bin/env python3
"""Tests that scripts/check_instructions finds what the linker could share, and nothing else."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_instructions"
OWN = """
namespace rehmc::avx2 {
template <class T> [[gnu::noinline]] T own(T x) { return x + 1; }
double loop(double x) { return own(x); }
}
"""
SHARED = "[[gnu::noinline]] inline double shared(double x) { return 3 * x; }\ndouble other(double x) { return shared(x); }\n"


class CheckInstructions(unittest.TestCase):
    def check(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, f"{name}.cpp")
            source.write_text(text, encoding="utf-8")
            subprocess.run(["c++", "-std=c++20", "-c", source, "-o", f"{source}.o"], check=True)
            subprocess.run(["ar", "rcs", f"{folder}/library.a", f"{source}.o"], check=True)
            done = subprocess.run([sys.executable, SCRIPT, f"{folder}/library.a"], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def test_what_is_in_a_namespace_of_its_own_may_stay(self):
        self.assertEqual((0, ""), self.check("loop_avx2", OWN))

    def test_an_inline_function_of_all_is_found(self):
        code, said = self.check("loop_avx512", SHARED)
        self.assertEqual(1, code)
        self.assertIn("loop_avx512.cpp.o: shared(double)", said)

    def test_the_namespace_must_be_that_of_the_file(self):
        self.assertEqual(1, self.check("loop_avx512", OWN)[0])

    def test_an_archive_without_such_files_is_a_mistake(self):
        code, said = self.check("loop", SHARED)
        self.assertEqual(1, code)
        self.assertIn("has no file", said)


if __name__ == "__main__":
    unittest.main()
