#!/usr/bin/env python3
"""Stan programs compiled with the Stan of a CmdStan folder, by --cmdstan or $CMDSTAN."""

import json
import os
import pathlib
import tempfile
import unittest

from command import rehmc

PROGRAM = "parameters { real<lower=0> x; } model { x ~ exponential(1); } generated quantities { real z = normal_rng(x, 1); }"
SUNDIALS = ("cvodes", "idas", "kinsol", "nvector")
SHORT = ["--warmup", 200, "--draws", 100, "--chains", 2, "--seed", 1]


def cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "rehmc/stan")


def setUpModule():
    result = rehmc("stan", "install", "--compiler")
    assert result.returncode == 0, result.stderr


def make_cmdstan(folder):
    """The folders that CmdStan has after `make build`, filled with what the installed compiler has."""
    package = next(cache().glob("compiler-*")) / "httpstan"
    include, stan, math = package / "include", folder / "stan", folder / "stan/lib/stan_math"
    sundials = math / "lib/sundials_6.1.1"
    links = {
        folder / "bin": [package / "stanc"],
        stan / "src/stan": [part for part in (include / "stan").iterdir() if not part.name.startswith("math")],
        stan / "lib/rapidjson_1.1.0": [include / "rapidjson"],
        math / "stan": (include / "stan").glob("math*"),
        math / "lib/eigen_3.4.0": [include / "Eigen", include / "unsupported"],
        math / "lib/boost_1.87.0": [include / "boost"],
        math / "lib/tbb_2020.3/include": [include / "tbb"],
        math / "lib/tbb": (package / "lib").glob("libtbb*"),
        sundials / "include": [part for part in include.iterdir() if part.name in SUNDIALS or part.name.startswith(("sun", "stan_sun"))],
        sundials / "src/sundials": [include / "sundials_debug.h"],
        sundials / "lib": (package / "lib").glob("libsundials*"),
    }
    for place, parts in links.items():
        place.mkdir(parents=True)
        for part in parts:
            (place / part.name).symlink_to(part)


class CmdStanFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cmdstan = self.folder / "cmdstan"
        make_cmdstan(self.cmdstan)
        self.program = self.folder / "model.stan"
        self.program.write_text(PROGRAM, encoding="utf-8")
        # Only CmdStan is installed.
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        self.environment.pop("CMDSTAN", None)

    def sample(self, name, *words, **more):
        return rehmc(
            "sample", self.program, *SHORT, "--output", self.folder / name, *words, env={**self.environment, **more},
            timeout=900,  # compiling takes its time
        )  # fmt: skip

    def test_compiles(self):
        result = self.sample("first", CMDSTAN=str(self.cmdstan))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("compiling", result.stderr)
        result = self.sample("second", "--cmdstan", self.cmdstan)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("compiling", result.stderr)  # the library is in the cache
        told = json.loads((self.folder / "second/manifest.json").read_text(encoding="utf-8"))
        self.assertEqual(told["model"]["made_by"], {"cmdstan": "yes", "stan_backend": "compile"})
        result = rehmc("extend", self.folder / "second", "--draws", 10, env=self.environment)
        self.assertEqual(result.returncode, 78, result.stderr)  # only the user may name the folder
        self.assertIn("--cmdstan", result.stderr)
        result = rehmc("extend", self.folder / "second", "--draws", 10, "--cmdstan", self.cmdstan, env=self.environment)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_must_have_been_built(self):
        for missing in ("stan/lib/stan_math/lib/tbb", "bin/stanc"):
            place = self.cmdstan / missing
            place.rename(place.with_name("elsewhere"))
            result = self.sample("run", "--cmdstan", self.cmdstan)
            self.assertEqual(result.returncode, 78, result.stderr)
            self.assertIn(f"is not a built CmdStan folder: it has no {missing}", result.stderr)
            place.with_name("elsewhere").rename(place)
        result = self.sample("run", CMDSTAN="")
        self.assertIn("rehmc stan install --interpreter", result.stderr)


if __name__ == "__main__":
    unittest.main()
