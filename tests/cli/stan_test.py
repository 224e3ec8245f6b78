#!/usr/bin/env python3
"""Tests of Stan programs: examples, backends, files, messages, and mistakes of users."""

import csv
import ctypes
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import unittest

from command import rehmc

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "stan"
SHORT = ["--warmup", 200, "--draws", 100, "--chains", 2, "--seed", 1, "--quiet"]
NORMAL = "data { int<lower=1> N; vector[N] y; } parameters { real mu; real<lower=0> s; } model { y ~ normal(mu, s); }"

BRIDGE_FUNCTIONS = (
    "model_construct model_destruct free_error_msg name model_info param_names param_unc_names param_num "
    "param_unc_num param_constrain param_unconstrain param_unconstrain_json param_initialize log_density "
    "log_density_gradient log_density_hessian log_density_hessian_vector_product rng_construct rng_destruct "
    "set_print_callback major_version minor_version patch_version"
).split()


def setUpModule():
    result = rehmc("stan", "install")
    assert result.returncode == 0, result.stderr


def draws(file):
    """Names and rows of a CSV file."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.reader(lines))
    return rows[0], rows[1:]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def sample(self, program, data=None, *words, name="run", **options):
        """Samples a program, given as text, with data, given as text."""
        file = self.write("model.stan", program)
        given = ["--data", self.write("data.json", data)] if data is not None else []
        return rehmc("sample", file, *given, *SHORT, "--output", self.folder / name, *words, **options)

    def assert_says(self, result, code, *parts):
        self.assertEqual(result.returncode, code, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)


class Examples(Folder):
    def test_all_can_be_sampled(self):
        programs = sorted(EXAMPLES.glob("*.stan"))
        self.assertEqual(len(programs), 9)
        for program in programs:
            with self.subTest(program.stem):
                run = self.folder / program.stem
                result = rehmc(
                    "sample", program, "--data", program.with_suffix(".json"), *SHORT, "--output", run
                )
                self.assertEqual(result.returncode, 0, result.stderr)
                names, rows = draws(run / "chain-1.csv")
                self.assertEqual(len(rows), 100)
                self.assertTrue(all(len(row) == len(names) for row in rows))

    def test_gradients_are_right(self):
        for program in sorted(EXAMPLES.glob("*.stan")):
            with self.subTest(program.stem):
                # Solvers of differential equations are only as smooth as their tolerances.
                radius = ["--radius", 0.5, "--tolerance", 1e-3] if program.stem == "lotka_volterra" else []
                result = rehmc(
                    "check-gradient", program, "--data", program.with_suffix(".json"), "--points", 3, *radius
                )
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_columns_are_cmdstans(self):
        run = self.folder / "run"
        rehmc("sample", EXAMPLES / "eight_schools.stan", "--data", EXAMPLES / "eight_schools.json", *SHORT, "-o", run)
        names, rows = draws(run / "chain-1.csv")
        vectors = [f"{name}.{i}" for name in ("theta_trans", "theta", "y_next") for i in range(1, 9)]
        self.assertEqual(names[names.index("mu") :], ["mu", "tau", *vectors])
        place = {name: i for i, name in enumerate(names)}
        for row in rows:
            mu, tau, effect, theta = (float(row[place[n]]) for n in ("mu", "tau", "theta_trans.3", "theta.3"))
            self.assertGreater(tau, 0)
            self.assertAlmostEqual(theta, mu + tau * effect, delta=1e-4 * (1 + abs(theta)))

    def test_library_has_all_functions_of_bridgestan(self):
        file = self.folder / "schools.so"
        self.assertEqual(rehmc("compile", EXAMPLES / "eight_schools.stan", "-o", file).returncode, 0)
        library = ctypes.CDLL(file)
        for name in BRIDGE_FUNCTIONS:
            self.assertTrue(hasattr(library, f"bs_{name}"), name)
            if name not in ("set_print_callback", "major_version", "minor_version", "patch_version"):
                self.assertTrue(hasattr(library, f"bs_{name}_R"), name)

    def test_library_serves_the_client_for_r(self):
        file = self.folder / "schools.so"
        self.assertEqual(rehmc("compile", EXAMPLES / "eight_schools.stan", "-o", file).returncode, 0)
        library = ctypes.CDLL(file)

        def call(name, *arguments):
            """Calls as R does: every argument by pointer, followed by code, message and its address."""
            code, text, address = ctypes.c_int(0), ctypes.c_char_p(b""), ctypes.c_void_p()
            library[f"bs_{name}_R"](*arguments, *map(ctypes.byref, (code, text, address)))
            message = text.value.decode()
            self.assertEqual(address.value is None, code.value == 0)
            if address.value is not None:
                library.bs_free_error_msg_R(ctypes.byref(address))
            return code.value, message

        def pointers(*values):
            return [ctypes.byref(value) for value in values]

        version = [ctypes.c_int() for _ in range(3)]
        library.bs_version_R(*pointers(*version))
        self.assertEqual([number.value for number in version], [2, 9, 0])
        model, error, address = ctypes.c_void_p(), ctypes.c_char_p(b""), ctypes.c_void_p()
        for data, works in ((b"{}", False), ((EXAMPLES / "eight_schools.json").read_bytes(), True)):
            library.bs_model_construct_R(*pointers(ctypes.c_char_p(data), ctypes.c_int(1), model, error, address))
            self.assertEqual((model.value is not None, address.value is None), (works, works))
            if not works:
                self.assertIn(b"variable", error.value)
                library.bs_free_error_msg_R(ctypes.byref(address))
        name, number = ctypes.c_char_p(), ctypes.c_int()
        library.bs_name_R(*pointers(model, name))
        self.assertIn(b"eight_schools", name.value)
        no, yes = ctypes.c_int(0), ctypes.c_int(1)
        library.bs_param_num_R(*pointers(model, yes, yes, number))
        self.assertEqual(number.value, 26)
        library.bs_param_unc_num_R(*pointers(model, number))
        self.assertEqual(number.value, 10)

        ten, many = ctypes.c_double * 10, ctypes.c_double * 26
        x, gradient, product, values, back = ten(*[0.1] * 10), ten(), ten(), many(), ten()
        value, other, hessian = ctypes.c_double(), ctypes.c_double(), (ctypes.c_double * 100)()
        switches = pointers(model, yes, yes)
        self.assertEqual(call("log_density_gradient", *switches, x, ctypes.byref(value), gradient), (0, ""))
        self.assertEqual(call("log_density", *switches, x, ctypes.byref(other)), (0, ""))
        self.assertEqual(value.value, other.value)
        self.assertEqual(call("log_density_hessian", *switches, x, ctypes.byref(other), gradient, hessian), (0, ""))
        words = (*switches, x, ten(*[1.0] * 10), ctypes.byref(other), product)
        self.assertEqual(call("log_density_hessian_vector_product", *words), (0, ""))
        self.assertAlmostEqual(sum(hessian[:10]), product[0], places=6)
        rng = ctypes.c_void_p()
        library.bs_rng_construct_R(*pointers(ctypes.c_int(1), rng, error, address))
        self.assertEqual(call("param_constrain", *switches, x, values, ctypes.byref(rng)), (0, ""))
        self.assertAlmostEqual(values[1], math.exp(0.1))
        nowhere = ctypes.c_void_p(1)  # as R has it where no generator is needed
        self.assertEqual(call("param_constrain", *pointers(model, no, no), x, values, ctypes.byref(nowhere)), (0, ""))
        self.assertEqual(call("param_unconstrain", ctypes.byref(model), values, back), (0, ""))
        self.assertAlmostEqual(back[1], 0.1)
        code, message = call("param_unconstrain_json", *pointers(model, ctypes.c_char_p(b'{"mu": 1}')), back)
        self.assertNotEqual(code, 0)
        self.assertIn("param_unconstrain_json() failed", message)
        start = pointers(model, ctypes.c_char_p(b'{"mu": 1.5}'), rng, ctypes.c_double(2), ctypes.c_int(10), yes)
        self.assertEqual(call("param_initialize", *start, back), (0, ""))
        self.assertEqual(back[0], 1.5)
        library.bs_rng_destruct_R(ctypes.byref(rng))
        library.bs_model_destruct_R(ctypes.byref(model))

    def test_library_gives_the_draws_of_its_program(self):
        library = self.folder / "schools.so"
        program, data = EXAMPLES / "eight_schools.stan", EXAMPLES / "eight_schools.json"
        result = rehmc("compile", program, "-o", library)
        self.assertEqual((result.returncode, result.stdout.strip()), (0, str(library)), result.stderr)
        for model, name, words in ((program, "a", ["--stan-backend", "compile"]), (library, "b", [])):
            result = rehmc("sample", model, "--data", data, *SHORT, *words, "--output", self.folder / name)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(*(draws(self.folder / name / "chain-2.csv") for name in "ab"))


class Runs(Folder):
    PROGRAM = NORMAL + " generated quantities { real z = normal_rng(mu, s); }"
    DATA = '{"N": 4, "y": [1, 2, 3, 5]}'

    def test_extended_runs_have_the_draws_of_long_ones(self):
        self.assertEqual(self.sample(self.PROGRAM, self.DATA, "--draws", 120, name="long").returncode, 0)
        self.assertEqual(self.sample(self.PROGRAM, self.DATA, "--draws", 70, name="short").returncode, 0)
        (self.folder / "model.stan").unlink()  # the run folder has its own copy
        result = rehmc("extend", self.folder / "short", "--draws", 50, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        for chain in (1, 2):
            names, rows = draws(self.folder / f"short/chain-{chain}.csv")
            self.assertEqual((names, rows), draws(self.folder / f"long/chain-{chain}.csv"))
            self.assertGreater(len({row[names.index("z")] for row in rows}), 100)

    def test_threads_do_not_matter(self):
        for threads in (1, 2):
            self.sample(self.PROGRAM, self.DATA, "--threads", threads, name=f"run{threads}")
        for chain in (1, 2):
            self.assertEqual(*(draws(self.folder / f"run{n}/chain-{chain}.csv") for n in (1, 2)))

    def test_included_files_are_found_and_kept(self):
        self.write("parts/normal.stan", "y ~ normal(mu, s);\n")
        program = NORMAL.replace("y ~ normal(mu, s);", "\n#include normal.stan\n")
        self.assert_says(self.sample(program, self.DATA), 65, "model.stan", "include", "normal.stan")
        result = self.sample(program, self.DATA, "--include-path", self.folder / "parts")
        self.assertEqual(result.returncode, 0, result.stderr)
        kept = (self.folder / "run/model.stan").read_text(encoding="utf-8")
        self.assertIn("y ~ normal(mu, s);", kept)
        self.assertNotIn("#include", kept)
        self.assertEqual(rehmc("extend", self.folder / "run", "--draws", 20, "--quiet").returncode, 0)

    def test_starting_points_are_on_the_scale_of_the_program(self):
        def start(text):
            return self.sample(
                NORMAL, self.DATA, "--init", self.write("init.json", text), "--save-warmup", "--step-size", 1e-9,
                "--warmup", 0, "--draws", 5, "--force",
            )  # fmt: skip

        self.assertEqual(start('{"s": 7.5, "mu": -3}').returncode, 0)
        names, rows = draws(self.folder / "run/chain-1.csv")
        self.assertAlmostEqual(float(rows[0][names.index("s")]), 7.5, places=3)
        self.assertAlmostEqual(float(rows[0][names.index("mu")]), -3, places=3)
        self.assertEqual(start('{"s": 7.5}').returncode, 0)
        chains = [draws(self.folder / f"run/chain-{chain}.csv")[1][0] for chain in (1, 2)]
        self.assertEqual([round(float(row[names.index("s")]), 3) for row in chains], [7.5, 7.5])
        self.assertNotEqual(*(row[names.index("mu")] for row in chains))
        self.assert_says(start('{"sigma": 1}'), 65, "init.json", "no parameter sigma")
        self.assert_says(start('{"s": -1}'), 65, "init.json", "cannot start there", "s")
        self.assert_says(start("[{}]"), 65, "init.json", "1 chains, expected 2")
        self.assert_says(start("{"), 65, "init.json: is not JSON")

    def test_messages_of_the_model_are_counted(self):
        program = 'parameters { real x; } model { print("at ", x); if (x > 1) reject("x is too large: ", x); x ~ std_normal(); }'
        result = rehmc(
            "sample", self.write("model.stan", program), "--warmup", 50, "--draws", 20, "--chains", 1,
            "--seed", 1, "--output", self.folder / "run",
        )  # fmt: skip
        self.assertIn("The model printed", result.stderr)
        self.assertRegex(result.stderr, r"at [-0-9.e]+ \([0-9,]+x\)")
        self.assertEqual(result.stderr.count("too large"), 1, result.stderr)
        result = self.sample("transformed data { print(\"once\"); } " + program, None, "--verbose", name="verbose")
        self.assertEqual(result.stderr.count("model: once"), 1)
        self.assertGreater(result.stderr.count("model: at "), 100)

    def test_rejected_generated_quantities_cost_only_themselves(self):
        program = 'parameters { real x; } model { x ~ std_normal(); } generated quantities { real z = x; if (x > 0) reject("not here"); }'
        result = self.sample(program)
        self.assertEqual(result.returncode, 0, result.stderr)
        names, rows = draws(self.folder / "run/chain-1.csv")
        x, z = names.index("x"), names.index("z")
        lost = [row for row in rows if row[z].lower() == "nan"]
        self.assertEqual({float(row[x]) > 0 for row in lost}, {True})
        self.assertGreater(len(lost), 10)
        self.assertLess(len(lost), 90)
        failures = len(lost) + sum(row[z].lower() == "nan" for row in draws(self.folder / "run/chain-2.csv")[1])
        self.assertIn(f"failed to compute its quantities for {failures} of 200 draws; ", result.stderr)
        # A resumed run has continued to count.
        self.assertEqual(self.sample(program, None, "--draws", 60, name="half").returncode, 0)
        result = rehmc("extend", self.folder / "half", "--draws", 40, "--quiet")
        self.assertIn(f"for {failures} of 200 draws; ", result.stderr)

    def test_generated_quantities_of_recycled_states(self):
        def summary(name):
            told = json.loads((self.folder / name / "summary.json").read_text(encoding="utf-8"))
            return {parameter["name"]: parameter for parameter in told["parameters"]}

        def noises(name, chain):
            names, rows = draws(self.folder / name / f"recycled-{chain}.csv")
            return [float(row[names.index("z")]) for row in rows]

        for name, words in {
            "without": [], "with": ["--recycle-generated"], "alone": ["--recycle-generated", "--threads", 1],
            "short": ["--recycle-generated", "--draws", 60],
        }.items():  # fmt: skip
            self.assertEqual(self.sample(self.PROGRAM, self.DATA, *words, "--recycled-csv", name=name).returncode, 0)
        self.assertEqual(rehmc("extend", self.folder / "short", "--draws", 40, "--quiet").returncode, 0)
        for chain in (1, 2):
            self.assertEqual(*(draws(self.folder / name / f"chain-{chain}.csv") for name in ("without", "with")))
            self.assertTrue(all(noise != noise for noise in noises("without", chain)))
            self.assertEqual(len(set(noises("with", chain))), 800)
            self.assertEqual(noises("with", chain), noises("alone", chain))
            self.assertEqual(noises("with", chain), noises("short", chain))
        self.assertNotIn("recycled", summary("without")["z"])
        estimates = summary("with")["z"]
        self.assertNotIn("sharpened", estimates)
        self.assertLess(estimates["recycled"]["mcse_mean"], estimates["plain"]["mcse_mean"])
        result = self.sample(self.PROGRAM, self.DATA, "--recycle-generated", "--no-draws", name="bounded")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIsNotNone(summary("bounded")["z"]["recycled"]["mcse_mean"])
        result = self.sample(self.PROGRAM, self.DATA, "--recycle-generated", "--recycle", "none", name="none")
        self.assert_says(result, 78, "recycle-generated")

    def test_a_program_the_interpreter_refuses_is_compiled(self):
        program = "parameters { tuple(real, real<lower=0>) a; } model { a.1 ~ std_normal(); a.2 ~ exponential(1); }"
        self.assert_says(self.sample(program, None, "--stan-backend", "interpret"), 70, "--stan-backend compile")
        file = self.folder / "model.stan"
        result = rehmc("sample", file, *SHORT[:-1], "--output", self.folder / "run")
        self.assert_says(result, 0, "the interpreter does not support everything that this program uses")
        manifest = json.loads((self.folder / "run/manifest.json").read_text(encoding="utf-8"))
        self.assertEqual(manifest["model"]["made_by"]["stan_backend"], "compile")

    def test_functions_that_the_run_did_not_recycle_are_recycled_when_asked_for(self):
        program = "parameters { real x; } transformed parameters { vector[300] y; for (i in 1:300) y[i] = x + i; } "
        self.assertEqual(self.sample(program + "model { x ~ std_normal(); }").returncode, 0)

        def row(*patterns):
            result = rehmc("summary", self.folder / "run", *patterns, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            return {row["name"]: row for row in json.loads(result.stdout)["parameters"]}["y[2]"]

        self.assertNotIn("recycled", row())  # three hundred functions cost more than this sampling
        self.assertAlmostEqual(row("y[2]")["recycled"]["mean"], 2, delta=6 * row("y[2]")["recycled"]["mcse_mean"])


class BadInput(Folder):
    DATA = Runs.DATA

    def test_programs(self):
        self.assert_says(rehmc("sample", self.folder / "none.stan"), 66, "none.stan: there is no such file")
        self.assert_says(self.sample(b"// caf\xe9\n" + NORMAL.encode(), self.DATA), 65, "model.stan: line 1 is not text")
        self.assert_says(self.sample("parameters { real x }\nmodel {}"), 65, "model.stan', line 1", "^", 'Expected ";"')
        self.assert_says(self.sample("generated quantities { real x = 1; }"), 70, "model.stan: has no parameters")
        self.assert_says(self.sample("parameters { real x; } model { target += negative_infinity(); }"), 70, "-inf")
        self.assert_says(rehmc("sample", self.write("model.txt", NORMAL)), 78, "neither a Stan program (.stan)")
        self.assert_says(self.sample(NORMAL, self.DATA, "--stan-backend", "fast"), 78, "'fast', expected auto")
        self.assert_says(self.sample(NORMAL, self.DATA, "--include-path", self.folder / "no"), 66, "--include-path")

    def test_data(self):
        for text, parts in {
            "{": ["data.json: is not JSON", "line 1"],
            "[1]": ["data.json: contains no object"],
            '{"N": 2}': ["model.stan", "data.json", "y"],
            '{"N": 2, "y": [1, 2, 3]}': ["model.stan", "data.json", "y has the dimensions (3)", "declares (2)"],
            '{"N": 2.5, "y": [1, 2]}': ["model.stan", "data.json", "N must be a whole number"],
            '{"N": 2, "y": ["a", 2]}': ["model.stan", "data.json", "y"],
            '{"N": 0, "y": []}': ["model.stan", "data.json", "N is 0"],
        }.items():
            with self.subTest(text):
                self.assert_says(self.sample(NORMAL, text), 65, *parts)
        self.assert_says(self.sample(NORMAL), 65, "model.stan", "--data")

    def test_data_of_compiled_programs(self):
        program = EXAMPLES / "eight_schools.stan"
        good = json.loads(program.with_suffix(".json").read_text(encoding="utf-8"))
        for name, value, parts in (
            ("y", None, ["y is missing", "declares the dimensions (8)"]),
            ("y", [1, 2], ["y has the dimensions (2)", "declares (8)"]),
            ("J", 8.5, ["J must be a whole number"]),
            ("J", -1, ["J is -1", "greater than or equal to"]),
            ("y", ["NaN"] * 8, []),
        ):
            with self.subTest(name=name, value=value):
                given = {**good, name: value} if value is not None else {key: good[key] for key in good if key != name}
                file = self.write("data.json", json.dumps(given).replace('"NaN"', "NaN"))
                result = rehmc(
                    "sample", program, "--data", file, "--stan-backend", "compile", *SHORT, "--output", self.folder / "run"
                )
                if parts:
                    self.assert_says(result, 65, "eight_schools.stan", "data.json", *parts)
                else:  # a value like others to the program, but no density comes of it
                    self.assert_says(result, 70, "is nan, but must be not nan")

    def test_not_a_number_is_a_value(self):
        program = "data { real z; real w; } parameters { real x; } model { x ~ std_normal(); if (is_nan(z)) x ~ normal(9, 0.1); }"
        for text in ('{"z": NaN, "w": -Infinity}', '{"z": "NaN", "w": "-Inf"}'):
            result = self.sample(program, text, "--force")
            self.assertEqual(result.returncode, 0, result.stderr)
            names, rows = draws(self.folder / "run/chain-1.csv")
            self.assertGreater(float(rows[-1][names.index("x")]), 5)

    def test_a_density_that_throws_in_one_region_is_sampled_elsewhere(self):
        program = 'parameters { real x; } model { if (x > 1.5) reject("x: ", x); x ~ std_normal(); }'
        self.assertEqual(self.sample(program).returncode, 0)
        names, rows = draws(self.folder / "run/chain-1.csv")
        self.assertLessEqual(max(float(row[names.index("x")]) for row in rows), 1.5)

    def test_libraries(self):
        self.assert_says(rehmc("sample", self.folder / "no.so"), 66, "no.so: there is no such file")
        self.assert_says(rehmc("sample", self.write("text.so", "hello " * 20)), 65, "text.so: is not a shared library")

    def test_toolchains(self):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        environment.pop("CMDSTAN", None)
        told = "rehmc stan install --interpreter"
        self.assert_says(self.sample(NORMAL, self.DATA, env=environment), 78, "not installed", told)
        (self.folder / "cache/rehmc/stan/interpreter-0.24.0/stanli").mkdir(parents=True)
        self.assert_says(self.sample(NORMAL, self.DATA, env=environment), 78, "damaged", told)
        status = rehmc("stan", "status", env=environment)
        self.assertEqual(status.returncode, 1)
        self.assertIn("damaged", status.stdout)
        wheel = self.write("stanli-0.24.0-py3-none-any.whl", "not a wheel")
        self.assert_says(rehmc("stan", "install", "--from", wheel), 65, "not one of the wheels", "sha256")
        compiling = ["--stan-backend", "compile"]
        (self.folder / "cache/rehmc/stan/compiler-4.17.0/httpstan").mkdir(parents=True)
        self.assert_says(self.sample(NORMAL, self.DATA, *compiling, env=environment), 78, "damaged: there is no httpstan/stanc")
        shutil.rmtree(self.folder / "cache/rehmc/stan/compiler-4.17.0")
        self.assert_says(self.sample(NORMAL, self.DATA, *compiling, env=environment), 78, "rehmc stan install --compiler")
        self.assert_says(
            self.sample(NORMAL, self.DATA, "--cmdstan", self.folder), 78, "is not a built CmdStan folder", "bin/stanc"
        )
        blocked = {**os.environ, "XDG_CACHE_HOME": "/dev/null/cache"}
        self.assert_says(rehmc("stan", "install", "--interpreter", env=blocked), 73, "cannot create the cache folder", "XDG_CACHE_HOME")

    def test_no_compiler(self):
        environment = {**os.environ, "PATH": str(self.folder)}
        environment.pop("CXX", None)
        self.assert_says(
            self.sample(NORMAL, self.DATA, "--stan-backend", "compile", env=environment), 78, "C++ compiler", "apt-get install g++"
        )

    def test_a_full_cache_leaves_no_broken_program(self):
        # A compiler that fails halfway, as on a full disk.
        compiler = self.write("g++", '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "No space left on device" >&2\nexit 1\n')
        compiler.chmod(0o755)
        environment = {**os.environ, "CXX": str(compiler)}
        for _ in range(2):
            self.assert_says(
                self.sample(NORMAL, self.DATA, "--stan-backend", "compile", env=environment), 70, "No space left on device"
            )


class StandIn(Folder):
    """Compiling with a script in place of g++, in a separate cache that has the real stanc."""

    def setUp(self):
        super().setUp()
        installed = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "rehmc/stan")
        self.cache = self.folder / "cache/rehmc/stan"
        self.cache.mkdir(parents=True)
        (self.cache / "compiler-4.17.0").symlink_to(installed / "compiler-4.17.0")
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "CXX": str(self.folder / "g++")}


class Cache(StandIn):
    """The fake compiler's libraries are their sources; it keeps a log of what it compiles."""

    def setUp(self):
        super().setUp()
        self.make_compiler("1")
        self.write("parts/normal.stan", "y ~ normal(mu, s);\n")
        self.program = self.write("model.stan", NORMAL.replace("y ~ normal(mu, s);", "\n#include normal.stan\n"))

    def make_compiler(self, version):
        script = f"""#!/bin/sh
            [ "$1" = --version ] && echo stand-in {version} && exit
            for word in "$@"; do
                [ "$before" = -o ] && out=$word
                case "$word" in *.cpp|*.o) [ "$before" = -o ] || sources="$sources $word" ;; esac
                before=$word
            done
            sleep 0.2
            cat $sources > "$out"
            echo $sources >> "{self.folder}/log"
            """
        self.write("g++", script).chmod(0o755)

    def words(self, *more):
        return ["compile", self.program, "--include-path", self.folder / "parts", "-o", self.folder / "made.so", *more]

    def compile(self, *more):
        """The library, and how many programs have been compiled by now."""
        result = rehmc(*self.words(*more), env=self.environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        log = (self.folder / "log").read_text(encoding="utf-8").splitlines()
        return (self.folder / "made.so").read_text(encoding="utf-8"), sum(line.endswith("program.cpp") for line in log)

    def test_everything_that_a_library_depends_on_counts(self):
        first = self.compile()
        self.assertEqual(first[1], 1)
        self.assertEqual(self.compile(), first)
        self.write("parts/normal.stan", "y ~ cauchy(mu, s);\n")
        library, count = self.compile()
        self.assertEqual(count, 2)
        self.assertIn("cauchy", library)
        self.assertEqual(self.compile("--native")[1], 3)
        self.make_compiler("2")
        self.assertEqual(self.compile()[1], 4)
        self.write("parts/normal.stan", "y ~ normal(mu, s);\n")
        self.make_compiler("1")
        self.assertEqual(self.compile(), (first[0], 4))

    def test_a_program_is_compiled_once_however_many_ask(self):
        words = [os.environ["REHMC"], *map(str, self.words())]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        processes = [subprocess.Popen(words, env=self.environment, **quiet) for _ in range(4)]
        self.assertEqual([process.wait(300) for process in processes], [0] * 4)
        self.assertEqual(self.compile()[1], 1)


class PrecompiledHeader(StandIn):
    """With a fake compiler that writes small files: the real header takes 800 MB."""

    def make_compiler(self, header, version="stand-in 1"):
        """Does `header` to compile a header; fails with its arguments otherwise."""
        script = f"""#!/bin/sh
            case "$*" in
                --version) echo {version} ;;
                *c++-header*) {header} ;;
                *) echo "called with $*"; exit 1 ;;
            esac
            """
        self.write("g++", script).chmod(0o755)

    def install(self):
        return rehmc("stan", "install", "--precompiled-header", env=self.environment)

    def compile(self, *words):
        return rehmc("compile", self.write("model.stan", NORMAL), *words, env=self.environment)

    def test_is_used_where_it_fits(self):
        self.make_compiler('for word in "$@"; do [ "$before" = -o ] && echo whole > "$word"; before=$word; done')
        self.assertNotIn("-include", self.compile().stderr)
        result = self.install()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("800 MB", result.stdout)
        self.assertIn("already installed", self.install().stdout)
        (folder,) = (self.cache / "programs").glob("header-*")
        self.assertIn(f"precompiled, {folder}", rehmc("stan", "status", env=self.environment).stdout)
        self.assertIn(f"-include {folder}/model_header.hpp", self.program_words())
        self.assertNotIn("-include", self.program_words("--native"))
        self.make_compiler("false", version="stand-in 2")
        self.assertNotIn("-include", self.program_words())

    def program_words(self, *words):
        """The command that compiles the program itself, when the functions around it are compiled already."""
        script = (self.folder / "g++").read_text(encoding="utf-8")
        functions = '*bridge_library.cpp*) for word in "$@"; do [ "$before" = -o ] && echo > "$word"; before=$word; done ;;'
        self.write("g++", script.replace("*c++-header*)", f"{functions}\n*c++-header*)"))
        result = self.compile(*words)
        self.assertIn("program.cpp", result.stderr)
        return result.stderr

    def test_a_partial_one_is_not_used(self):
        half = 'for word in "$@"; do [ "$before" = -o ] && echo half > "$word"; before=$word; done'
        for end in ("kill -9 $$", "echo No space left on device; exit 1"):
            self.make_compiler(f"{half}; {end}")
            self.assert_says(self.install(), 70, "Stan's headers: the C++ compiler failed")
            self.assertEqual(list((self.cache / "programs").glob("header-*")), [])
            self.assertIn("not precompiled", rehmc("stan", "status", env=self.environment).stdout)

    def test_takes_the_right_compiler(self):
        self.make_compiler("true", version="clang 19")
        self.assert_says(self.install(), 78, "needs g++", "CXX")


class CmdStan(Folder):
    def run_exe(self, *words):
        return subprocess.run(
            [self.folder / "schools", *map(str, words)], capture_output=True, text=True, check=False, timeout=300
        )

    def test_takes_cmdstans_arguments(self):
        result = rehmc("cmdstan-exe", EXAMPLES / "eight_schools.stan", "-o", self.folder / "schools")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("STAN_THREADS=true", self.run_exe("info").stdout)
        self.assertIn("num_samples", self.run_exe("help").stdout)
        output = self.folder / "out.csv"
        data = ["data", f"file={EXAMPLES / 'eight_schools.json'}"]
        words = ["sample", "num_samples=60", "num_warmup=100", "adapt", "delta=0.9", "algorithm=hmc", "engine=nuts", "max_depth=8"]
        result = self.run_exe("id=1", "random", "seed=7", *data, "output", f"file={output}", "refresh=0", *words)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        names, rows = draws(output)
        self.assertEqual((len(rows), names[0]), (60, "lp__"))
        self.assertTrue(pathlib.Path(f"{output}.rehmc", "report.html").exists())
        result = self.run_exe("method=sample", "num_chains=2", "num_samples=20", *data, "output", f"file={output}")
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        for chain in (1, 2):
            self.assertEqual(len(draws(self.folder / f"out_{chain}.csv")[1]), 20)
        for word in (["method=variational"], ["sample", "algorithm=fixed_param"]):
            result = self.run_exe(*word, *data)
            self.assertEqual(result.returncode, 1)
            self.assertIn("use CmdStan for it", result.stdout)
        # Clients take exit codes for those of the C library, and look for "Error" on standard output.
        for words, message in (
            (["sample", "num_sample=3"], "Error: unknown argument 'num_sample'"),
            (["sample", "stepsize_jitter=0.5"], "Error: stepsize_jitter: found 0.5"),
            (["sample", "random", "seed=x"], "Error: seed: found 'x'"),
        ):
            result = self.run_exe(*words, *data)
            self.assertIn(message, result.stdout)
            self.assertEqual(result.returncode, 1)

    def coin(self):
        program = self.folder / "coin.stan"
        program.write_text(
            "data { int<lower=0> N; int<lower=0, upper=N> heads; }\n"
            "parameters { real<lower=0, upper=1> chance; vector[2] z; }\n"
            "model { heads ~ binomial(N, chance); z ~ normal(1, 2); }\n"
            "generated quantities { int next_heads = binomial_rng(N, chance); }\n"
        )
        (self.folder / "coin.json").write_text('{"N": 20, "heads": 14}')
        result = rehmc("cmdstan-exe", program, "-o", self.folder / "schools")
        self.assertEqual(result.returncode, 0, result.stderr)
        return ["data", f"file={self.folder / 'coin.json'}", "random", "seed=1"]

    def output(self, name, *words):
        """The columns of the file that a call writes."""
        file = self.folder / f"{name}.csv"
        result = self.run_exe(*words, "output", f"file={file}")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
        table = [[float(x) for x in line.split(",")] for line in lines[1:]]
        return {name: [row[i] for row in table] for i, name in enumerate(lines[0].split(","))}, result.stdout

    def test_lines_of_iterations_and_one_stream_per_chain(self):
        data = self.coin()
        short = ["sample", "num_samples=40", "num_warmup=60", *data, "output", "refresh=50"]
        _, text = self.output("alone", *short)
        lines = [line.strip() for line in text.splitlines() if line.startswith("Iteration:")]
        self.assertEqual(lines[0], "Iteration:   1 / 100 [  1%]  (Warmup)")
        self.assertEqual(lines[1:], [f"Iteration: {i:>3} / 100 [{i:>3}%]  ({phase})" for i, phase in
                                     ((50, "Warmup"), (61, "Sampling"), (100, "Sampling"))])
        result = self.run_exe(*short, f"file={self.folder / 'both.csv'}", "num_chains=2")
        self.assertIn("Chain [2] Iteration: 100 / 100 [100%]  (Sampling)", result.stdout)
        # The second chain of a seed is the same in a process of its own.
        second, _ = self.output("second", "id=2", *short)
        names, rows = draws(self.folder / "both_2.csv")
        self.assertEqual([float(row[names.index("chance")]) for row in rows], second["chance"])
        self.assertIn("# model = coin_model", (self.folder / "second.csv").read_text())
        self.assertIn("# id = 2", (self.folder / "second.csv").read_text())

    def test_methods_besides_sampling(self):
        """Against what is known: a beta posterior for the chance, a normal one for z."""
        data = self.coin()
        best, _ = self.output("best", "optimize", *data)
        self.assertAlmostEqual(best["chance"][0], 14 / 20, places=6)
        self.assertAlmostEqual(best["z.1"][0], 1, places=6)
        mode, _ = self.output("mode", "optimize", "jacobian=1", *data)
        self.assertAlmostEqual(mode["chance"][0], 15 / 22, places=6)
        laplace, _ = self.output("laplace", "laplace", f"mode={self.folder / 'mode.csv'}", "draws=4000", *data)
        # The logit of the chance has the curvature 22 p (1 - p) at the mode. Bounds at five standard errors: false alarms
        # about once in a million.
        logits = [math.log(p / (1 - p)) for p in laplace["chance"]]
        sd = (22 * (15 / 22) * (7 / 22)) ** -0.5
        self.assertAlmostEqual(statistics.fmean(logits), math.log(15 / 7), delta=5 * sd / 4000**0.5)
        self.assertAlmostEqual(statistics.stdev(logits) / sd, 1, delta=5 / (2 * 4000) ** 0.5)
        found, _ = self.output("found", "pathfinder", "num_psis_draws=2000", *data)
        self.assertEqual(len(found["lp_approx__"]), 2000)
        exact = [15 / 22, (15 * 7 / (22**2 * 23)) ** 0.5]
        # Resampled draws repeat, so that they count as some hundred; at five standard errors of 200.
        self.assertAlmostEqual(statistics.fmean(found["chance"]), exact[0], delta=5 * exact[1] / 200**0.5)
        self.assertAlmostEqual(statistics.fmean(found["z.1"]), 1, delta=5 * 2 / 200**0.5)
        sample = self.folder / "sample.csv"
        self.run_exe("sample", "num_samples=50", "num_warmup=100", *data, "output", f"file={sample}")
        drawn, _ = self.output("drawn", "generate_quantities", f"fitted_params={sample}", *data)
        self.assertEqual(list(drawn), ["next_heads"])
        self.assertEqual(len(drawn["next_heads"]), 50)
        self.assertTrue(all(0 <= heads <= 20 for heads in drawn["next_heads"]))
        again, _ = self.output("drawn", "generate_quantities", f"fitted_params={sample}", *data)
        self.assertEqual(drawn, again)
        point = self.folder / "point.json"
        point.write_text('{"chance": 0.6, "z": [1, 2]}')
        value, _ = self.output("value", "log_prob", f"constrained_params={point}", *data)
        self.assertAlmostEqual(value["g_chance"][0], 15 - 22 * 0.6)
        plain, _ = self.output("value", "log_prob", f"constrained_params={point}", "jacobian=0", *data)
        self.assertAlmostEqual(plain["g_chance"][0], 14 - 20 * 0.6)
        self.assertAlmostEqual(value["lp__"][0] - plain["lp__"][0], math.log(0.6 * 0.4))
        self.assertAlmostEqual(plain["g_z.2"][0], -0.25)


class Shown(Folder):
    """What is printed of programs of several kinds."""

    def program(self, name, text, data=None):
        file = self.folder / f"{name}.stan"
        file.write_text(text)
        words = ["sample", file, "--seed", 1, "--draws", 200, "--output", self.folder / name]
        if data is not None:
            (self.folder / f"{name}.json").write_text(json.dumps(data))
            words += ["--data", self.folder / f"{name}.json"]
        return rehmc(*words)

    def test_parameters_come_before_generated_quantities_and_constants(self):
        result = self.program(
            "logit",
            "data { int N; array[N] int y; vector[N] x; }\n"
            "parameters { real alpha; real beta; cholesky_factor_corr[2] L; }\n"
            "model { alpha ~ normal(0, 2); beta ~ normal(0, 2); L ~ lkj_corr_cholesky(2); y ~ bernoulli_logit(alpha + beta * x); }\n"
            "generated quantities { vector[N] log_lik; array[N] int y_rep; corr_matrix[2] Omega = multiply_lower_tri_self_transpose(L);\n"
            "for (n in 1:N) { log_lik[n] = bernoulli_logit_lpmf(y[n] | alpha + beta * x[n]); y_rep[n] = bernoulli_logit_rng(alpha + beta * x[n]); } }",
            {"N": 40, "y": [i % 2 for i in range(40)], "x": [i / 40 for i in range(40)]},
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [line.split()[0] for line in result.stdout.split("parameter ")[1].splitlines()[1:5]]
        self.assertEqual(rows, ["alpha", "beta", "L[2,1]", "L[2,2]"])
        self.assertIn(f"82 generated quantities not shown: rehmc summary {self.folder / 'logit'} log_lik (or y_rep, ...)", result.stdout)
        self.assertIn("4 constants not shown.", result.stdout)
        chosen = rehmc("summary", self.folder / "logit", "log_lik[3]", "L").stdout
        self.assertEqual([line.split()[0] for line in chosen.split("parameter ")[1].splitlines()[1:6]],
                         ["L[2,1]", "L[2,2]", "log_lik[3]", "L[1,1]", "L[1,2]"])

    def test_the_page_shows_predictions_and_leave_one_out(self):
        result = self.program(
            "line",
            "data { int N; vector[N] y; } parameters { real m; real<lower=0> s; } model { m ~ normal(0, 5); s ~ normal(0, 2); y ~ normal(m, s); }\n"
            "generated quantities { vector[N] log_lik; array[N] real y_rep = normal_rng(rep_vector(m, N), s);\n"
            "for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | m, s); }",
            {"N": 30, "y": [math.sin(i) for i in range(30)]},
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        page = (self.folder / "line" / "report.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1))
        self.assertEqual([check["name"] for check in data["predictive"]], ["y_rep"])
        self.assertEqual(len(data["predictive"][0]["replicates"]), 40)
        self.assertEqual(len(data["loo"]["shapes"]), 30)
        self.assertAlmostEqual(data["loo"]["elpd"], -30 * (math.log(2 * math.pi * 0.5) / 2 + 0.5), delta=3)

    def test_data_that_do_not_match_are_told_in_plain_words(self):
        program = "data { int<lower=0> N; array[N] int<upper=3> k; vector[N] x; } parameters { real m; } model { x ~ normal(m, 1); }"
        for data, words in (
            ({"N": 2, "k": [1, 5], "x": [1, 2]}, "k is 5, but must be less than or equal to 3"),
            ({"N": 2, "k": [1, 1], "x": [1, 2, 3]}, "x has the dimensions (3), but the program declares (2)"),
            ({"N": 2, "k": [1, 1]}, "there is no value for the variable x"),
            ({"N": 2.5, "k": [1, 1], "x": [1, 2]}, "N must be a whole number"),
            ({"N": -2, "k": [1, 1], "x": [1, 2]}, "the size of a variable is negative"),
        ):
            result = self.program("bad", program, data)
            self.assertEqual(result.returncode, 65, result.stderr)
            self.assertIn(f"the data in {self.folder / 'bad.json'} do not match the model {self.folder / 'bad.stan'}: {words}", result.stderr)
            for internal in ("stanli", "processing stage", "namespace", "000"):
                self.assertNotIn(internal, result.stderr.replace(str(self.folder), ""))

    def test_errors_of_the_program_tell_the_line(self):
        for program, message, line in (
            ("parameters { real x; }\nmodel {\n  real s = 1;\n  x ~ normal(0, s);\n  x ~ normal(0, -1);\n}\n", "Scale parameter is -1", 5),
            ("parameters { real x; }\ntransformed parameters {\n  matrix[2, 2] S = [[1, x],\n    [x, 1]];\n"
             "  matrix[2, 2] L = cholesky_decompose(S);\n}\nmodel {\n  x ~ normal(0, 5);\n}\n", "not positive definite", 5),
            ("parameters { real x; }\nmodel {\n  // if (x > 0) reject(1);\n  for (i in 1:2) {\n    if (x > i) {\n      target += -x;\n"
             "      reject(\"x is \", x);\n    }\n  }\n  x ~ normal(0, 5);\n}\n", "x is", 7),
        ):
            result = self.program("faulty", program)
            self.assertRegex(result.stderr, rf"{message}.*\(in 'faulty\.stan', line {line}\)")
            shutil.rmtree(self.folder / "faulty", ignore_errors=True)

    def test_what_the_interpreter_lacks_is_named(self):
        file = self.folder / "tuple.stan"
        file.write_text("parameters { tuple(real, real) t; } model { t.1 ~ normal(0, 1); t.2 ~ normal(0, 1); }")
        result = rehmc("sample", file, "--stan-backend", "interpret", "--output", self.folder / "run")
        self.assertIn("does not support everything that this program uses (tuples); compile it", result.stderr)
        self.assertNotIn("STuple", result.stderr)


if __name__ == "__main__":
    unittest.main()
