#!/usr/bin/env python3
"""Tests that one process writes a run folder, and that every write error ends in a clear message and a run that resumes."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from command import rehmc
from run_folder import differences

USAGE, CANNOT_CREATE, INPUT_OUTPUT, INTERRUPTED = 64, 73, 74, 130
# Checkpoints of a pooled warmup are larger than the files of so short chains, and the first to be refused.
STAN = ["--warmup-schedule", "stan"]
SMALL = ["sample", "funnel", "--seed", 3, "--chains", 2, "--warmup", 100, "--draws", 150, "--checkpoint-seconds", 0, *STAN]
# Runs until it is stopped, as far as a test is concerned.
ENDLESS = ["sample", "funnel", "--seed", 3, "--chains", 2, "--warmup", 100, "--draws", 100_000_000, "--no-draws", *STAN]


def start(*words, **options):
    return subprocess.Popen(
        [os.environ["REHMC"], *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def wait_for(self, process, path):
        while process.poll() is None and not path.exists():
            time.sleep(0.001)
        self.assertIsNone(process.poll())

    def endless(self, run):
        process = start(*ENDLESS, "--checkpoint-seconds", 0.1, "--progress", "none", "--output", run)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.wait_for(process, run / "checkpoint-2.bin")
        return process


    def assert_resume_helps(self, run):
        """Whatever is wrong with the folder, resume repairs it."""
        for line in rehmc("check", run).stdout.splitlines():
            if line.startswith("PROBLEM"):
                self.assertIn("rehmc resume", line)


class OneWriter(WithFolder):
    def test_others_are_refused_while_a_run_is_written(self):
        run = self.path / "run"
        process = self.endless(run)
        manifest = (run / "manifest.json").read_bytes()
        for words in ([*SMALL, "--output", run, "--force"], ["resume", run], ["extend", run], ["report", run]):
            with self.subTest(words[0]):
                result = rehmc(*words)
                self.assertEqual(result.returncode, CANNOT_CREATE, result.stderr)
                self.assertIn(f"process {process.pid} on {os.uname().nodename}", result.stderr)
        # Reading is allowed.
        told = rehmc("check", run)
        self.assertEqual(told.returncode, 0, told.stdout)
        self.assertIn(f"process {process.pid}", told.stdout)
        while process.poll() is None and "no draws yet" in rehmc("summary", run).stderr:
            time.sleep(0.01)
        self.assertEqual(rehmc("summary", run).returncode, 0)
        self.assertEqual((run / "manifest.json").read_bytes(), manifest)
        self.assertIsNone(process.poll())

        # However it ends, the folder is free.
        process.kill()
        process.communicate()
        result = rehmc(*SMALL, "--output", run, "--force", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse((run / ".lock").exists())

    def test_only_one_of_several_begins(self):
        run = self.path / "run"
        processes = [start(*SMALL, "--quiet", "--output", run) for _ in range(6)]
        ended = [(process.communicate(timeout=300)[1], process.returncode) for process in processes]
        self.assertEqual(sorted(code for _, code in ended), [0] + 5 * [CANNOT_CREATE], ended)
        self.assertEqual(rehmc("check", run).returncode, 0)

    def test_names_that_are_chosen_for_the_user_differ(self):
        processes = [start(*SMALL, "--quiet", cwd=self.path) for _ in range(6)]
        for process in processes:
            _, errors = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(sorted(os.listdir(self.path)), [f"funnel-{i}" for i in range(1, 7)])

    def test_two_resume(self):
        straight, run = self.path / "straight", self.path / "run"
        self.assertEqual(rehmc(*SMALL, "--quiet", "--output", straight).returncode, 0)
        process = start(*SMALL, "--quiet", "--output", run)
        self.wait_for(process, run / "checkpoint-1.bin")
        process.kill()
        process.communicate()
        processes = [start("resume", run, "--quiet") for _ in range(4)]
        codes = []
        for each in processes:
            _, errors = each.communicate(timeout=300)
            codes.append(each.returncode)
            self.assertIn(each.returncode, (0, CANNOT_CREATE), errors)
        self.assertIn(0, codes)
        self.assertEqual(differences(run, straight), [])
        self.assertEqual(rehmc("check", run).returncode, 0)

    def test_a_folder_that_cannot_be_written(self):
        run = self.path / "run"
        self.assertEqual(rehmc(*SMALL, "--quiet", "--output", run).returncode, 0)
        others = {}
        if os.geteuid() == 0:  # who may write everywhere: become somebody else
            self.path.chmod(0o755)
            others = {"preexec_fn": lambda: os.setuid(65534)}
        run.chmod(0o555)
        self.addCleanup(run.chmod, 0o755)
        for words in ([*SMALL, "--output", run, "--force"], ["resume", run], ["extend", run], ["report", run]):
            result = rehmc(*words, **others)
            self.assertEqual(result.returncode, CANNOT_CREATE, result.stderr)
            self.assertIn(str(run), result.stderr)
            self.assertIn("Permission denied", result.stderr)
        self.assertEqual(rehmc("summary", run, **others).returncode, 0)
        self.assertEqual(rehmc("check", run, **others).returncode, 0)


class WriteErrors(WithFolder):
    def resume_after_limit(self, words, limit, straight):
        """Samples under a limit on the size of files, and resumes without it; returns which file was refused, if any."""
        run = self.path / f"run-{limit}-{len(words)}"
        result = rehmc(
            *words, "--quiet", "--output", run,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )  # fmt: skip
        if result.returncode == 0:
            self.assertEqual(differences(run, straight), [])
            return None
        self.assertEqual(result.returncode, INPUT_OUTPUT, result.stderr)
        found = re.search(rf"{run}/([-.\w]+): cannot write it: File too large", result.stderr)
        self.assertIsNotNone(found, result.stderr)
        if not run.exists():
            self.assertNotIn("resume", result.stderr)
        else:
            self.assertIn(f"rehmc resume {run}", result.stderr)
            self.assert_resume_helps(run)
            result = rehmc("resume", run, "--quiet")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(differences(run, straight), [])
        return re.sub(r"\d+", "N", found.group(1))

    def test_a_limit_on_file_sizes_at_every_file(self):
        named = set()
        # Where there are few draws, the netCDF file is one of the largest.
        for words in (SMALL, [*SMALL, "--recycle", "none", "--draws", 10]):
            straight = self.path / f"straight-{len(words)}"
            self.assertEqual(rehmc(*words, "--quiet", "--output", straight).returncode, 0)
            sizes = {path.stat().st_size for path in straight.iterdir()}
            for limit in sorted({max(1, size - 1) for size in sizes} | {1}):
                with self.subTest(limit=limit, words=words):
                    named.add(self.resume_after_limit(words, limit, straight))
        for name in ("manifest.json", "chain-N.csv", "states-N.bin", "posterior.nc", "report.html"):
            self.assertIn(name, named)

    def test_full_disks_of_many_sizes(self):
        """Needs a small file system of its own, which only root may mount."""
        straight, disk = self.path / "straight", self.path / "disk"
        words = [*SMALL, "--quiet"]
        self.assertEqual(rehmc(*words, "--output", straight).returncode, 0)
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", disk], check=False)
        if mounted.returncode != 0:
            print("no tmpfs can be mounted here: tested with limits on file sizes only")
            return
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        run, codes = disk / "run", set()
        size = sum(path.stat().st_size for path in straight.iterdir()) // 1024
        for share in range(1, 20):
            subprocess.run(["mount", "-o", f"remount,size={max(8, size * share // 18)}k", disk], check=True)
            result = rehmc(*words, "--output", run)
            codes.add(result.returncode)
            self.assertIn(result.returncode, (0, INPUT_OUTPUT, CANNOT_CREATE), result.stderr)
            subprocess.run(["mount", "-o", "remount,size=100m", disk], check=True)
            if result.returncode == INPUT_OUTPUT:
                self.assertIn("No space left on device", result.stderr)
                self.assertIn(str(run), result.stderr)
                self.assertEqual(f"rehmc resume {run}" in result.stderr, run.exists())
            if run.exists():
                self.assert_resume_helps(run)
                self.assertEqual(rehmc("resume", run, "--quiet").returncode, 0)
                self.assertEqual(differences(run, straight), [])
                subprocess.run(["rm", "-r", run], check=True)
        self.assertIn(INPUT_OUTPUT, codes)

    def test_streams(self):
        run = self.path / "run"
        full = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115 (for subprocesses)
        self.addCleanup(full.close)
        for stream in ("stdout", "stderr"):
            words = [*SMALL, "--output", run, "--force", "--progress", "plain"]
            streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: full}
            ended = subprocess.run([os.environ["REHMC"], *map(str, words)], **streams, text=True, check=False)
            self.assertIn(ended.returncode, (0, INPUT_OUTPUT) if stream == "stderr" else (INPUT_OUTPUT,))
            if stream == "stdout":
                self.assertIn("standard output", ended.stderr)
            self.assertEqual(rehmc("check", run).returncode, 0)
        readers = (["summary", run], ["summary", run, "--json"], ["models"], ["--help"], ["check", run])
        for words in readers:
            with self.subTest(words[0]):
                command = [os.environ["REHMC"], *map(str, words)]
                ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(ended.returncode, INPUT_OUTPUT)
                self.assertIn("standard output: cannot write it: No space left on device", ended.stderr)
        # An error whose message is lost keeps its code.
        command = [os.environ["REHMC"], "sample", "funnel", "--nonsense"]
        self.assertEqual(subprocess.run(command, stderr=full, check=False).returncode, USAGE)


class Signals(WithFolder):
    def test_hanging_up_is_like_terminating(self):
        run = self.path / "run"
        process = self.endless(run)
        process.send_signal(signal.SIGHUP)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, INTERRUPTED, errors)
        self.assertIn(f"rehmc resume {run}", errors)
        self.assertEqual(rehmc("check", run).returncode, 0)

    def test_hanging_up_is_ignored_if_it_was(self):
        run = self.path / "run"
        process = start(
            *SMALL, "--output", run, "--progress", "none",
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        )  # fmt: skip
        self.wait_for(process, run / ".lock")
        process.send_signal(signal.SIGHUP)
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, errors)

    def test_what_follows_the_last_draw_can_be_interrupted(self):
        straight, run = self.path / "straight", self.path / "run"
        words = ["sample", "standard-normal", "--seed", 1, "--chains", 2, "--warmup", 50, "--draws", 4000, "--quiet"]
        result = rehmc(*words, "--output", straight)
        self.assertEqual(result.returncode, 0, result.stderr)
        shutil.copytree(straight, run)
        (run / "summary.json").unlink()
        (run / "checksums.xxh").unlink()
        # What resume says of this damage comes after the last draw, and just before sharpening.
        (run / "checkpoint-1.bin").write_bytes(b"")
        process = start("resume", run, "--quiet")
        self.assertIn("checkpoint-1.bin", process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertFalse((run / "summary.json").exists())
        self.assertEqual(process.returncode, INTERRUPTED, errors)
        self.assertIn(f"rehmc resume {run}", errors)
        result = rehmc("resume", run, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(differences(run, straight), [])


    def test_a_compiler_ends_with_its_command(self):
        """In the phases before sampling, and whatever program runs then."""
        number, program = self.path / "number", self.path / "model.stan"
        stanc = self.path / "cmdstan/bin/stanc"
        stanc.parent.mkdir(parents=True)
        for part in ("stan/src", "stan/lib/stan_math/stan", "stan/lib/stan_math/lib/tbb"):
            (self.path / "cmdstan" / part).mkdir(parents=True)
        stanc.write_text(f"#!/bin/sh\necho $$ > {number}.tmp\nmv {number}.tmp {number}\nsleep 1000\n", encoding="utf-8")
        stanc.chmod(0o755)
        program.write_text("parameters { real x; } model { x ~ normal(0, 1); }", encoding="utf-8")
        words = ["--cmdstan", self.path / "cmdstan"]
        for command in (["compile", program, *words], ["sample", program, *words, "--stan-backend", "compile"]):
            for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(f"{command[0]} {which.name}"):
                    number.unlink(missing_ok=True)
                    process = start(*command, env={**os.environ, "XDG_CACHE_HOME": str(self.path / "cache")}, cwd=self.path)
                    self.wait_for(process, number)
                    process.send_signal(which)
                    _, errors = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, INTERRUPTED, errors)
                    self.assertIn("interrupted", errors)
                    self.wait_until_gone(int(number.read_text(encoding="utf-8")))

    def wait_until_gone(self, process):
        for _ in range(1000):
            state = pathlib.Path(f"/proc/{process}/stat")
            if not state.exists() or state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
                return
            time.sleep(0.01)
        self.fail("the program goes on")


if __name__ == "__main__":
    unittest.main()
