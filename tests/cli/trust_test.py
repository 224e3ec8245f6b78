#!/usr/bin/env python3
"""Tests that a run folder cannot make rehmc run code, and that damage to any of its files is noticed and named."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from command import rehmc
from run_folder import content_hash, differences, edit_manifest

DATA, CONFIG = 65, 78
BRIDGES = pathlib.Path(os.environ["REHMC"]).parent / "tests/bridge"
SHORT = ["--seed", 1, "--chains", 2, "--warmup", 50, "--draws", 60, "--quiet"]
COMMANDS = ("resume", "extend", "report", "summary", "check")


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.path / "cache")}
        self.environment.pop("CMDSTAN", None)

    def sample(self, model="funnel", name="run", words=()):
        run = self.path / name
        result = rehmc("sample", model, *SHORT, *words, "--output", run, env=self.environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return run

    def rehmc(self, *words):
        return rehmc(*words, env=self.environment)


class Code(WithFolder):
    def setUp(self):
        super().setUp()
        self.marker = self.path / "executed"
        self.evil = self.path / "evil.so"
        source = f'__attribute__((constructor)) static void run(void) {{ fclose(fopen("{self.marker}", "w")); }}'
        subprocess.run(
            ["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", self.evil],
            input=f"#include <cstdio>\n{source}\n", text=True, check=True,
        )  # fmt: skip

    def test_the_marker_works(self):
        """The negative control: whoever loads the library finds the marker."""
        self.rehmc("sample", self.evil, "--output", self.path / "none")
        self.assertTrue(self.marker.exists())

    def test_no_library_of_a_folder_is_loaded(self):
        run = self.sample()
        inside = run / "model.so"
        shutil.copy(self.evil, inside)
        names = [self.evil, inside, "model.so", "./model.so", os.path.relpath(self.evil), "../" * 20 + str(self.evil)]
        for name in [*map(str, names), content_hash(self.evil.read_bytes()), "", "/"]:
            edit_manifest(run, lambda told, name=name: told["model"].update(made_by={"library": name}))
            for command in COMMANDS:
                with self.subTest(f"{command} {name}"):
                    result = self.rehmc(command, run)
                    self.assertFalse(self.marker.exists())
                    self.assertNotEqual(result.returncode, 0)
            result = self.rehmc("resume", run)
        # Even a library that the user names must be the one that was sampled.
        result = self.rehmc("resume", run, "--library", self.evil)
        self.assertEqual(result.returncode, DATA, result.stderr)
        self.assertFalse(self.marker.exists())

    def test_libraries_continue_from_the_users_own_copy(self):
        library = self.path / "good.so"
        shutil.copy(BRIDGES / "bridge_good.so", library)
        run = self.sample(library)
        manifest = (run / "manifest.json").read_text(encoding="utf-8")
        told = json.loads(manifest)
        self.assertEqual(told.pop("given"), [str(library)])  # words of the page, which no command opens
        self.assertNotIn(str(self.path), json.dumps(told))
        self.assertEqual(told["model"]["made_by"], {"library": content_hash(library.read_bytes())})
        library.rename(self.path / "elsewhere.so")
        library = self.path / "elsewhere.so"
        result = self.rehmc("extend", run, "--draws", 10, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)

        (copy,) = (self.path / "cache").rglob("model.so")
        shutil.copy(self.evil, copy)
        for words in ([], ["--library", self.evil]):
            result = self.rehmc("resume", run, *words)
            self.assertNotEqual(result.returncode, 0)
            self.assertFalse(self.marker.exists())
        copy.unlink()
        result = self.rehmc("resume", run)
        self.assertEqual(result.returncode, CONFIG, result.stderr)
        self.assertIn("--library", result.stderr)
        result = self.rehmc("resume", run, "--library", library, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_library_that_cannot_be_kept_can_be_sampled(self):
        (self.path / "cache").write_text("in the way")
        run = self.path / "run"
        result = self.rehmc("sample", BRIDGES / "bridge_good.so", *SHORT, "--output", run)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("--library", result.stderr)

    def make_program(self, text, made_by):
        """A folder whose model is a Stan program."""
        run = self.sample(name=f"run-{len(os.listdir(self.path))}")
        (run / "model.stan").write_text(text, encoding="utf-8")

        def change(told):
            told["model"].update(made_by=made_by)
            told["files"]["model.stan"] = content_hash(text.encode())

        edit_manifest(run, change)
        return run

    def test_no_cmdstan_of_a_folder_is_run(self):
        stanc = self.path / "cmdstan/bin/stanc"
        stanc.parent.mkdir(parents=True)
        stanc.write_text(f"#!/bin/sh\ntouch {self.marker}\n", encoding="utf-8")
        stanc.chmod(0o755)
        for part in ("stan/src", "stan/lib/stan_math/stan", "stan/lib/stan_math/lib/tbb"):
            (self.path / "cmdstan" / part).mkdir(parents=True)
        made_by = {"stan_backend": "compile", "cmdstan": str(self.path / "cmdstan")}
        run = self.make_program("parameters { real x; } model { x ~ normal(0, 1); }\n", made_by)
        result = self.rehmc("resume", run)
        self.assertEqual(result.returncode, CONFIG, result.stderr)
        self.assertIn("--cmdstan", result.stderr)
        self.assertFalse(self.marker.exists())
        # The control: the user may name it.
        self.rehmc("resume", run, "--cmdstan", self.path / "cmdstan")
        self.assertTrue(self.marker.exists())

    def test_no_program_of_a_folder_reads_a_file(self):
        secret = self.path / "secret.txt"
        secret.write_text("the treasure is below the old oak", encoding="utf-8")
        blocks = "parameters { real x; }\nmodel { x ~ normal(0, 1); }\n"
        for include in (f"#include {secret}\n{blocks}", f'{blocks} #include "{secret}"', f"/* */ #include <{secret}>\n{blocks}", f'/*/ " */ #include <{secret}>\n//"\n{blocks}'):
            run = self.make_program(include, {"stan_backend": "interpret"})
            for command in ("resume", "extend"):
                with self.subTest(f"{command} {include}"):
                    result = self.rehmc(command, run)
                    self.assertEqual(result.returncode, DATA, result.stderr)
                    self.assertIn("model.stan" if command == "resume" else "manifest.json", result.stderr)
                    self.assertNotIn("old oak", result.stdout + result.stderr)

    def test_python_does_not_load_modules_from_here(self):
        """Python would look for pip and zipfile in the folder where it is started."""
        here, told = self.path / "here", self.path / "told"
        for folder in (here, self.path / "bin"):
            folder.mkdir()
        python = self.path / "bin/python3"
        python.write_text(f"#!/bin/sh\npwd > {told}\nexit 1\n", encoding="utf-8")
        python.chmod(0o755)
        environment = {**self.environment, "PATH": f"{python.parent}:{os.environ['PATH']}"}
        rehmc("stan", "install", "--interpreter", cwd=here, env=environment)
        self.assertIn(str(self.path / "cache"), told.read_text(encoding="utf-8"))

    def test_links_are_not_followed(self):
        precious = self.path / "precious"
        for name in (".lock", "chain-1.csv", "summary.json.tmp", "summary.json", "checkpoint-1.bin", "manifest.json", "data.json"):
            run = self.sample(name=f"run-{name}")
            precious.write_text("mine", encoding="utf-8")
            (run / name).unlink(missing_ok=True)
            (run / name).symlink_to(precious)
            for words in (["resume", run], ["extend", run], ["report", run], ["check", run], ["summary", run], ["sample", "funnel", "--force", "--output", run]):
                with self.subTest(f"{words[0]} {name}"):
                    self.rehmc(*words)
                    self.assertEqual(precious.read_text(encoding="utf-8"), "mine")
                    if (run / name).is_symlink() and words[0] != "sample":
                        self.assertNotEqual(self.rehmc(*words).returncode, 0)
        # A process that waits for a pipe would wait forever.
        run = self.sample(name="piped")
        (run / "summary.json").unlink()
        os.mkfifo(run / "summary.json")
        self.assertEqual(self.rehmc("check", run).returncode, DATA)

    def test_names_do_not_leave_their_folder(self):
        run = self.make_program("parameters { real x; }\nmodel { x ~ normal(0, 1); }\n", {"stan_backend": "compile"})
        for name in ("../../../escaped", "/tmp/escaped", "a\nb", "\x1b[31m"):
            edit_manifest(run, lambda told, name=name: told["model"].update(name=name))
            for command in COMMANDS:
                result = self.rehmc(command, run)
                self.assertEqual(result.returncode, DATA, result.stderr)
                self.assertNotIn("\x1b", result.stderr)


def change_byte(path, place=None):
    content = bytearray(path.read_bytes())
    content[len(content) // 2 if place is None else place] ^= 1
    path.write_bytes(content)


def change_cell(path):
    """The last digit of a row in the middle."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    middle = len(lines) // 2
    digit = lines[middle][-2]
    lines[middle] = lines[middle][:-2] + str((int(digit) + 1) % 10) + "\n"
    path.write_text("".join(lines), encoding="utf-8")


class Integrity(WithFolder):
    """Every file of a run, changed by hand."""

    def copy(self, run):
        copy = self.path / f"copy-{len(os.listdir(self.path))}"
        shutil.copytree(run, copy)
        return copy

    def assert_names(self, result, code, file):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertIn(file, result.stdout + result.stderr)

    def test_healthy_runs_are_whole(self):
        words = [[], ["--no-draws"], ["--thin", 7, "--save-warmup"], ["--recycle", "none"], ["--kernel", "hmc"], ["--recycle", "all"]]
        for i, more in enumerate(words):
            run = self.sample(name=f"run-{i}", words=more)
            for command in ("check", "summary", "report", "resume", "check", "extend", "check"):
                result = self.rehmc(command, run)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertNotIn("Note", result.stderr)

    def test_not_a_number_in_generated_quantities_is_healthy(self):
        run = self.sample(BRIDGES / "bridge_good.so")
        self.assertIn("nan", (run / "chain-1.csv").read_text(encoding="utf-8"))
        result = self.rehmc("check", run)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_changed_states(self):
        run = self.sample()
        states = run / "states-1.bin"
        content = bytearray(states.read_bytes())
        content[65:73] = b"\0\0\0\0\x80\x84\x2e\x41"  # the first coordinate of the first draw is 1e6
        states.write_bytes(content)
        before = {path.name: path.read_bytes() for path in run.iterdir()}
        for command in COMMANDS:
            with self.subTest(command):
                result = self.rehmc(command, run)
                self.assert_names(result, DATA, "states-1.bin")
                self.assertIn("chain-1.csv", result.stdout + result.stderr)  # what is still usable
        self.assertEqual({path.name: path.read_bytes() for path in run.iterdir()}, before)

    def test_other_chains_do_not_write_beside_a_damaged_one(self):
        run = self.sample()
        states = run / "states-2.bin"
        content = bytearray(states.read_bytes())
        content[65] ^= 1
        states.write_bytes(content)
        before = {path.name: path.read_bytes() for path in run.iterdir()}
        # On one thread the whole chain would go first.
        self.assert_names(self.rehmc("resume", run, "--threads", 1), DATA, "states-2.bin")
        self.assertEqual({path.name: path.read_bytes() for path in run.iterdir()}, before)

    def test_changed_csv_files(self):
        whole = self.sample(words=["--recycled-csv"])
        for name in ("chain-2.csv", "recycled-1.csv"):
            run = self.copy(whole)
            change_cell(run / name)
            self.assert_names(self.rehmc("check", run), DATA, name)
            for command in ("summary", "report"):
                result = self.rehmc(command, run)
                self.assert_names(result, 0, name)
                self.assertIn("states-", result.stderr)
            manifest = (run / "manifest.json").read_bytes()
            for command in ("resume", "extend"):
                result = self.rehmc(command, run)
                self.assert_names(result, DATA, name)
                self.assertIn("states-", result.stderr)
            self.assertEqual((run / "manifest.json").read_bytes(), manifest)

    def test_changed_comments_of_csv_files(self):
        whole = self.sample()
        changes = {"num_samples = 60": "num_samples = 90", "seconds (Sampling)": "seconds (sampling)", "gamma = 0.05": "gamma = 0.06"}
        for old, new in changes.items():
            run = self.copy(whole)
            csv = run / "chain-1.csv"
            text = csv.read_text(encoding="utf-8")
            self.assertIn(old, text)
            csv.write_text(text.replace(old, new), encoding="utf-8")
            with self.subTest(new):
                self.assert_names(self.rehmc("check", run), DATA, "chain-1.csv")

    def test_what_can_be_written_again(self):
        whole = self.sample()
        for name in ("summary.json", "report.html", "posterior.nc", "trajectory.json", "metric-1.json", "metric-2.json"):
            for damage in (change_byte, pathlib.Path.unlink, lambda path: path.write_bytes(b"")):
                run = self.copy(whole)
                damage(run / name)
                self.assert_names(self.rehmc("check", run), DATA, name)
                if name not in ("trajectory.json", "report.html"):
                    self.assert_names(self.rehmc("report", run), 0, name)
                self.assert_names(self.rehmc("summary", run), 0, name if name != "report.html" else "")
                result = self.rehmc("resume", run, "--quiet")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(differences(run, whole), [])
                self.assertEqual(self.rehmc("check", run).returncode, 0)

    def test_settings_that_no_run_has(self):
        """An attacker can make the checksum fit."""
        whole = self.sample()

        def metric(kind, dimension, numbers):
            return lambda told: told["settings"].update(initial_metric={"kind": kind, "dimension": dimension, "numbers": numbers})

        changes = [
            metric(2, 2**32, []), metric(2, 2**63, []), metric(1, 2**60, []), metric(3, 2**63, [1]), metric(-1, 10, 10 * [1]), metric(77, 10, 10 * [1]),
            lambda told: told.update(parameters=[]), lambda told: told["settings"].update(save=["nothing"]),
            lambda told: told["settings"].update(until="("), lambda told: told["settings"].update(start=[[None]]),
        ]  # fmt: skip
        for i, change in enumerate(changes):
            run = self.copy(whole)
            edit_manifest(run, change)
            for command in COMMANDS:
                with self.subTest(f"{command} {i}"):
                    self.assert_names(self.rehmc(command, run), DATA, "manifest.json")

    def test_many_chains_of_which_there_is_nothing(self):
        run = self.sample()
        edit_manifest(run, lambda told: told["settings"]["run"].update(chains=1_000_000))
        result = self.rehmc("check", run)
        self.assertEqual(result.returncode, DATA)
        self.assertIn("chains 3 to 1000000", result.stdout)
        self.assertLess(len(result.stdout.splitlines()), 20)

    def test_a_chain_without_any_file(self):
        whole = self.sample()
        for chain in (1, 2):
            run = self.copy(whole)
            for path in [*run.glob(f"*-{chain}.*"), *run.glob(f"checkpoint-{chain}-*")]:
                path.unlink()
            self.assert_names(self.rehmc("check", run), DATA, f"all files of chain {chain} are missing")
            self.assertEqual(self.rehmc("resume", run, "--quiet").returncode, 0)
            self.assertEqual(differences(run, whole), [])

    def test_other_builds_are_not_called_damaged(self):
        """A folder whose checksums fit, but whose settings or checkpoints have another layout."""
        whole = self.sample()

        def lose_setting(run):
            edit_manifest(run, lambda told: told["settings"].pop("nuts"))
            return "manifest.json"

        def cut_checkpoint(run):
            path = run / "checkpoint-1.bin"
            first, rest = path.read_bytes().split(b"\n", 1)
            content = rest[8 + 8 + 32 : -8]  # after its length and checksum
            size = len(content).to_bytes(8, "little")
            path.write_bytes(first + b"\n" + size + (32).to_bytes(8, "little") + content_hash(content).encode() + content)
            return "checkpoint-1.bin"

        for damage in (lose_setting, cut_checkpoint):
            run = self.copy(whole)
            name = damage(run)
            for command in COMMANDS:
                with self.subTest(f"{command} {name}"):
                    result = self.rehmc(command, run)
                    self.assert_names(result, DATA, name)
                    self.assertIn("another build", result.stdout + result.stderr)
                    self.assertNotIn("damaged", result.stdout + result.stderr)

    def test_changed_manifests(self):
        whole = self.sample()
        changes = {
            "kernel": lambda told: told["settings"].update(kernel="nuts-slice"),
            "seed": lambda told: told.update(seed=2),
            "name": lambda told: told["model"].update(name="banana"),
            "version": lambda told: told.update(version="9.9"),
            "thin": lambda told: told["settings"]["run"].update(thin=2),
            "parameters": lambda told: told["parameters"][0].update(name="other"),
        }
        for what, change in changes.items():
            by_hand = self.copy(whole)
            path = by_hand / "manifest.json"
            told = json.loads(path.read_text(encoding="utf-8"))
            change(told)
            path.write_text(json.dumps(told, indent=2), encoding="utf-8")
            # With a checksum that fits, the checkpoints still know better.
            forged = self.copy(whole)
            edit_manifest(forged, change)
            for run in (by_hand, forged):
                for command in COMMANDS:
                    with self.subTest(f"{what} {command} {run.name}"):
                        result = self.rehmc(command, run)
                        self.assert_names(result, DATA, "manifest.json")
                        if command != "check":
                            self.assertIn("chain-1.csv", result.stderr)

    def test_an_edit_that_changes_nothing_is_none(self):
        """The control of the forgery above."""
        run = self.sample()
        edit_manifest(run, lambda told: None)
        self.assertEqual(self.rehmc("check", run).returncode, 0)

    def test_files_of_other_chains_and_runs(self):
        words = ["--recycled-csv"]
        run, other = self.sample(words=words), self.sample(name="other", words=[*words, "--seed", 2])
        swapped = self.copy(run)
        for name in ("checkpoint-{}.bin", "states-{}.bin", "chain-{}.csv", "recycled-{}.csv", "metric-{}.json"):
            shutil.copy(run / name.format(1), swapped / name.format(2))
            shutil.copy(run / name.format(2), swapped / name.format(1))
        mixed = self.copy(run)
        for name in ("checkpoint-1.bin", "states-1.bin", "chain-1.csv"):
            shutil.copy(other / name, mixed / name)
        for folder in (swapped, mixed):
            for command in COMMANDS:
                self.assert_names(self.rehmc(command, folder), DATA, "checkpoint-1.bin")

    def test_changed_data(self):
        data = self.path / "schools.json"
        data.write_text('{"y": [28, 8, -3], "sigma": [15, 10, 16]}', encoding="utf-8")
        run = self.sample("eight-schools", words=["--data", data])
        (run / "data.json").write_text('{"y": [28, 8, -4], "sigma": [15, 10, 16]}', encoding="utf-8")
        for command in ("check", "resume", "extend"):
            self.assert_names(self.rehmc(command, run), DATA, "data.json")
        for command in ("summary", "report"):
            self.assert_names(self.rehmc(command, run), 0, "data.json")

    def test_another_version_is_told(self):
        run = self.sample()
        for path in run.iterdir():
            if path.name != "manifest.json":
                path.unlink()
        edit_manifest(run, lambda told: told.update(version="0.0.1"))
        result = self.rehmc("resume", run)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("0.0.1", result.stderr)


if __name__ == "__main__":
    unittest.main()
