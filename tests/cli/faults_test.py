#!/usr/bin/env python3
"""Tests that nothing is lost: signals, kills at any moment, full disks, damaged files, folders in the way."""

import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from command import rehmc
from run_folder import differences

INTERRUPTED, DATA, CANNOT_CREATE, INPUT_OUTPUT, NO_INPUT = 130, 65, 73, 74, 66

# Long enough to be hit while it runs, wherever a file may be half-written: a checkpoint with every few draws.
RUN = ["sample", "funnel", "--seed", "5", "--warmup", "300", "--chains", "3", "--threads", "2"]
STORE_OFTEN = ["--checkpoint-seconds", "0.001"]
STAN = ["--warmup-schedule", "stan"]


def start(*words, **options):
    return subprocess.Popen(
        [os.environ["REHMC"], *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def straight(self, *words):
        """An undisturbed run."""
        run = self.path / "straight"
        result = rehmc(*RUN, *words, *STORE_OFTEN, "--quiet", "--output", run)
        self.assertEqual(result.returncode, 0, result.stderr)
        return run

    def assert_resumes_to(self, run, straight):
        result = rehmc("resume", run, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(differences(run, straight), [])
        self.assertEqual(rehmc("check", run).returncode, 0)
        return result

    def wait_for_progress(self, process, run):
        """Waits until the run has stored some draws."""
        while process.poll() is None:
            if any(path.stat().st_size > 0 for path in run.glob("states-*.bin")):
                return
            time.sleep(0.001)

    def kill_while_it_runs(self, straight, words, moments):
        """Kills a run up to four times, these seconds after each start; returns how often it was killed."""
        run = self.path / f"killed-{time.monotonic()}"
        hits = 0
        command = [*RUN, *words, *STORE_OFTEN, "--quiet", "--output", run]
        for _ in range(4):
            process = start(*command)
            time.sleep(moments())
            process.kill()
            process.communicate()
            if process.returncode == 0:
                break
            self.assertEqual(process.returncode, -signal.SIGKILL)
            hits += 1
            if (run / "manifest.json").exists():
                command = ["resume", run, "--quiet"]
        if (run / "manifest.json").exists():
            self.assert_resumes_to(run, straight)
        return hits

    def test_kill_at_any_moment_loses_nothing(self):
        moments = random.Random(20)
        plans = [
            ["--draws", 1000],
            ["--draws", 600, "--kernel", "hmc", "--recycle", "accept-each", "--save-warmup", "--thin", "3"],
            ["--draws", 600, "--kernel", "nuts-slice", "--recycle", "all", "--metric", "dense"],
            ["--draws", 1000, "--until", "ess>=1000"],
            ["--draws", 1000, "--no-draws"],
            ["--draws", 600, *STAN, "--save-warmup"],
        ]
        hits = 0
        for words in plans:
            straight = self.path / f"straight-{hits}"
            begin = time.monotonic()
            result = rehmc(*RUN, *words, *STORE_OFTEN, "--quiet", "--output", straight)
            took = time.monotonic() - begin  # so that moments are spread over a whole run, here and now
            self.assertEqual(result.returncode, 0, result.stderr)
            hits_of_plan = 0
            for attempt in range(20):
                with self.subTest(words=words, attempt=attempt):
                    hits_of_plan += self.kill_while_it_runs(straight, words, lambda: took * moments.random())
                if hits_of_plan >= 6:
                    break
            hits += hits_of_plan
        print(f"killed {hits} times", file=sys.stderr)
        self.assertGreaterEqual(hits, 25)

    def test_first_signal_ends_cleanly(self):
        words = ["--draws", 4000]
        straight = self.straight(*words)
        for which in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(which):
                run = self.path / which.name
                process = start(*RUN, *words, *STORE_OFTEN, "--progress", "none", "--output", run)
                self.wait_for_progress(process, run)
                process.send_signal(which)
                output, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, INTERRUPTED, errors)
                self.assertIn(f"rehmc resume {run}", errors)
                self.assertEqual(rehmc("check", run).returncode, 0)
                if "draws per chain" in errors:
                    self.assertIn("parameter", output)
                    summary = rehmc("summary", *sorted(run.glob("chain-*.csv"))[:1])
                    self.assertEqual(summary.returncode, 0, summary.stderr)
                self.assert_resumes_to(run, straight)

    def test_a_pooled_warmup_is_interrupted_and_killed_like_any_other(self):
        # Twenty chains are two groups.
        words = ["sample", "eight-schools", "--seed", 5, "--draws", 20, "--chains", 20, "--threads", 2]
        straight = self.path / "straight"
        begin = time.monotonic()
        self.assertEqual(rehmc(*words, *STORE_OFTEN, "--quiet", "--output", straight).returncode, 0)
        took = time.monotonic() - begin
        moments = random.Random(21)
        # A moment may come after the end of a run that is quicker than the first one.
        hits = {signal.SIGINT: 0, signal.SIGKILL: 0}
        for attempt in range(40):
            which = min(hits, key=hits.get)
            if hits[which] == 4:
                break
            with self.subTest(attempt=attempt):
                run = self.path / f"stopped-{attempt}"
                process = start(*words, *STORE_OFTEN, "--quiet", "--output", run)
                time.sleep(took * moments.uniform(0.1, 0.9))
                process.send_signal(which)
                process.communicate(timeout=60)
                hits[which] += process.returncode != 0
                if (run / "manifest.json").exists():
                    self.assert_resumes_to(run, straight)
        self.assertEqual(hits, {signal.SIGINT: 4, signal.SIGKILL: 4})

    def test_a_group_whose_checkpoints_disagree_starts_again(self):
        words = ["--draws", 300]
        straight = self.straight(*words)
        run = self.path / "damaged"
        self.assertEqual(rehmc(*RUN, *words, *STORE_OFTEN, "--quiet", "--output", run).returncode, 0)
        for lost in run.glob("checkpoint-2*"):
            lost.unlink()
        self.assert_resumes_to(run, straight)

    def test_batches_are_interrupted_and_killed_like_threads(self):
        words = ["sample", "logistic-regression", "--seed", 5, "--warmup", 200, "--draws", 400, "--chains", 7]
        words += ["--threads", 2, "--engine", "batch", "--batch", 3, *STORE_OFTEN]
        straight = self.path / "straight"
        self.assertEqual(rehmc(*words, "--quiet", "--output", straight).returncode, 0)
        for which in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(which):
                run = self.path / which.name
                process = start(*words, "--quiet", "--output", run)
                self.wait_for_progress(process, run)
                process.send_signal(which)
                _, errors = process.communicate(timeout=60)
                self.assertIn(process.returncode, (INTERRUPTED, -signal.SIGKILL), errors)
                self.assert_resumes_to(run, straight)
        # In other batches, and with `until` checked on the way.
        other = self.path / "other"
        words[words.index("--batch") + 1] = 7
        result = rehmc(*words, "--until", "ess>=1e9", "--quiet", "--output", other)
        self.assertEqual(result.returncode, 0, result.stderr)
        for chain in straight.glob("states-*.bin"):
            self.assertEqual((other / chain.name).read_bytes(), chain.read_bytes())

    def test_until_stops_at_the_same_draw_without_stored_gradients(self):
        words = ["sample", "eight-schools", "--seed", 5, "--chains", 2, "--threads", 1, "--no-sharpen-data", "--draws", 20_000]
        words += ["--until", "mcse(mean)<=0.03*sd", *STORE_OFTEN, "--quiet"]
        straight, run = self.path / "straight", self.path / "run"
        self.assertEqual(rehmc(*words, "--output", straight).returncode, 0)
        process = start(*words, "--output", run)
        self.wait_for_progress(process, run)
        process.kill()
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertEqual(rehmc("resume", run, "--quiet").returncode, 0)
        wrong = differences(run, straight)  # of which these were not sharpened
        self.assertEqual([name for name in wrong if name not in ("summary.json", "estimates.bin", "report.html")], [])

    def test_second_signal_ends_immediately(self):
        words = ["--draws", 4000]
        straight = self.straight(*words)
        run = self.path / "twice"
        process = start(*RUN, *words, *STORE_OFTEN, "--quiet", "--output", run)
        self.wait_for_progress(process, run)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, INTERRUPTED)
        self.assert_resumes_to(run, straight)

    def test_damaged_checkpoint_is_detected_and_the_previous_one_used(self):
        words = ["--draws", 3000]
        straight = self.straight(*words)

        def empty(content):
            return b""

        def cut(content):
            return content[: len(content) // 2]

        def flip(content):
            middle = len(content) // 2
            return content[:middle] + bytes([content[middle] ^ 16]) + content[middle + 1 :]

        for damage in (empty, cut, flip):
            with self.subTest(damage.__name__):
                run = self.path / damage.__name__
                process = start(*RUN, *words, *STORE_OFTEN, "--quiet", "--output", run)
                while process.poll() is None and not (run / "checkpoint-1-previous.bin").exists():
                    time.sleep(0.001)
                process.kill()
                process.communicate()
                checkpoint = run / "checkpoint-1.bin"
                checkpoint.write_bytes(damage(checkpoint.read_bytes()))
                told = rehmc("check", run)
                self.assertEqual(told.returncode, DATA)
                self.assertIn("checkpoint-1.bin", told.stdout)
                result = self.assert_resumes_to(run, straight)
                self.assertIn("checkpoint-1.bin", result.stderr)

    def test_full_disk_loses_nothing_that_was_stored(self):
        """A limit on the size of files simulates a full disk; or a small tmpfs, if we may mount one."""
        words = ["--draws", 4000]
        straight = self.straight(*words)
        run = self.path / "limited"
        limit = 200_000
        process = start(
            *RUN,
            *words,
            *STORE_OFTEN,
            "--quiet",
            "--output",
            run,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, INPUT_OUTPUT, errors)
        self.assertIn("File too large", errors)
        self.assertIn(str(run), errors)
        self.assertEqual(rehmc("check", run).returncode, 0)
        self.assert_resumes_to(run, straight)

        disk = self.path / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=False)
        if mounted.returncode != 0:
            print("no tmpfs can be mounted here: tested with a limit on file sizes only", file=sys.stderr)
            return
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        run = disk / "run"
        result = rehmc(*RUN, *words, *STORE_OFTEN, "--quiet", "--output", run)
        self.assertEqual(result.returncode, INPUT_OUTPUT, result.stderr)
        self.assertIn("No space left on device", result.stderr)
        self.assertIn("resume", result.stderr)
        self.assertIn("checkpoint-1.bin", os.listdir(run))
        told = rehmc("check", run)
        self.assertEqual(told.returncode, 0, told.stdout)
        subprocess.run(["mount", "-o", "remount,size=100m", disk], check=True)
        self.assert_resumes_to(run, straight)

    def test_an_export_is_whole_or_not_there(self):
        run, exported = self.path / "run", self.path / "exported"
        sampled = rehmc("sample", "banana", "--seed", "1", "--chains", "2", "--draws", "200", "--quiet", "--output", run)
        self.assertEqual(sampled.returncode, 0, sampled.stderr)
        limit = 1000
        for form in ("csv", "arrow", "netcdf"):
            process = start(
                "export", run, "--recycled", form, "--output", exported,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            )  # fmt: skip
            _, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, INPUT_OUTPUT, errors)
            self.assertIn(str(exported), errors)
            self.assertFalse(exported.exists())
            again = rehmc("export", run, "--recycled", form, "--output", f"{exported}/")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(rehmc("export", run, "--recycled", form, "--output", exported).returncode, CANNOT_CREATE)
            self.assertTrue(any(exported.iterdir()))
            shutil.rmtree(exported)

    def test_folders_in_the_way(self):
        small = ["sample", "funnel", "--seed", "1", "--warmup", "20", "--draws", "20", "--quiet", "--output"]
        run = self.path / "run"
        self.assertEqual(rehmc(*small, run).returncode, 0)
        before = (run / "summary.json").read_bytes()

        again = rehmc(*small, run)
        self.assertEqual(again.returncode, CANNOT_CREATE)
        for word in (str(run), "--force", "resume"):
            self.assertIn(word, again.stderr)
        self.assertEqual((run / "summary.json").read_bytes(), before)

        (run / "notes.txt").write_text("mine")
        self.assertEqual(rehmc(*small, run, "--force").returncode, 0)
        self.assertEqual((run / "notes.txt").read_text(), "mine")

        other = self.path / "other"
        other.mkdir()
        (other / "thesis.tex").write_text("mine")
        refused = rehmc(*small, other, "--force")
        self.assertEqual(refused.returncode, CANNOT_CREATE)
        self.assertEqual(os.listdir(other), ["thesis.tex"])

    def test_files_of_the_user_are_kept(self):
        small = ["sample", "funnel", "--seed", "1", "--warmup", "20", "--draws", "20", "--chains", "2", "--quiet", "--output"]
        # Without a run, even names that rehmc uses are the user's: a program, its data, CSV files of CmdStan.
        names = ("model.stan", "data.json", "chain-1.csv", "summary.json", "manifest.json", "report.html", "metric-1.json")
        for name in names:
            for force in ([], ["--force"]):
                with self.subTest(f"{name} {force}"):
                    folder = self.path / f"folder-{name}-{len(force)}"
                    folder.mkdir()
                    (folder / name).write_text('{"name": "mine"}')
                    refused = rehmc(*small, folder, *force)
                    self.assertEqual(refused.returncode, CANNOT_CREATE, refused.stderr)
                    self.assertEqual(os.listdir(folder), [name])
                    self.assertEqual((folder / name).read_text(), '{"name": "mine"}')
        # Next to a run, only names that rehmc gives.
        run = self.path / "run"
        self.assertEqual(rehmc(*small, run).returncode, 0)
        mine = ["chain-notes.txt", "data.json.bak", "checkpoint-old.tar", "metric-1.json.orig", "states-1.png", "model.stan~", "report.html.tmp2"]
        for name in mine:
            (run / name).write_text("mine")
        self.assertEqual(rehmc(*small, run, "--force").returncode, 0)
        for name in mine:
            self.assertEqual((run / name).read_text(), "mine", name)
        # Whatever a process that was killed before it had a manifest left is nobody's.
        begun = self.path / "begun"
        begun.mkdir()
        (begun / ".lock").write_text("process 1 on host\n")
        (begun / "data.json.tmp").write_text("{")
        self.assertEqual(rehmc(*small, begun).returncode, 0)

    def test_paths_that_cannot_be_folders(self):
        run = self.path / "run"
        small = ["sample", "funnel", "--seed", "1", "--warmup", "20", "--draws", "20", "--quiet", "--output"]
        self.assertEqual(rehmc(*small, run).returncode, 0)
        for path in ("/proc/nobody/run", run / "summary.json", run / "summary.json" / "run"):
            result = rehmc(*small, path)
            self.assertEqual(result.returncode, CANNOT_CREATE, path)
            self.assertIn(str(path), result.stderr)

    def test_run_that_cannot_start_leaves_nothing(self):
        run = self.path / "run"
        bad = self.path / "bad.json"
        bad.write_text('{"v": 1e300, "x": [1, 2, 3, 4, 5, 6, 7, 8, 9]}')
        result = rehmc("sample", "funnel", "--init", bad, "--output", run)
        self.assertNotEqual(result.returncode, 0)
        self.assertFalse(run.exists(), result.stderr)

    def test_what_is_not_a_run_folder(self):
        for command in ("resume", "extend", "check", "report", "summary"):
            for path in (self.path / "missing", self.path):
                with self.subTest(f"{command} {path}"):
                    result = rehmc(command, path)
                    self.assertEqual(result.returncode, NO_INPUT)
                    self.assertIn(str(path), result.stderr)

    def test_damaged_manifest_and_lost_files(self):
        run = self.path / "run"
        words = ["sample", "funnel", "--seed", "1", "--warmup", "20", "--draws", "20", "--quiet", "--output", run]
        self.assertEqual(rehmc(*words).returncode, 0)
        manifest = (run / "manifest.json").read_bytes()
        for text in (b"", b"{", b"[]", manifest.replace(b'"chains": 4', b'"chains": -4')):
            (run / "manifest.json").write_bytes(text)
            result = rehmc("resume", run)
            self.assertEqual(result.returncode, DATA, result.stderr)
            self.assertIn("manifest.json", result.stderr)
        (run / "manifest.json").write_bytes(manifest.replace(b'"hash": "', b'"hash": "0'))
        self.assertEqual(rehmc("resume", run).returncode, DATA)
        (run / "manifest.json").write_bytes(manifest)

        states = run / "states-2.bin"
        states.write_bytes(states.read_bytes()[:-8])
        told = rehmc("check", run)
        self.assertEqual(told.returncode, DATA)
        self.assertIn("states-2.bin", told.stdout)
        result = rehmc("resume", run)
        self.assertEqual(result.returncode, DATA)
        self.assertIn("states-2.bin", result.stderr)


if __name__ == "__main__":
    unittest.main()
