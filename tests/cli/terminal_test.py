#!/usr/bin/env python3
"""Tests what people read and type: the table of a summary, its options, errors, help, manual pages, completions."""

import fcntl
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest

from command import rehmc

USAGE, DATA, NO_INPUT, CONFIG = 64, 65, 66, 78
COMMANDS = ["sample", "summary", "report", "resume", "extend", "export", "generate", "sharpen", "check", "models", "check-gradient", "compile", "cmdstan-exe",
            "stan", "paper", "help", "completion"]


def wide(*words, columns=140):
    return rehmc(*words, env={**os.environ, "COLUMNS": str(columns)})


def table_of(text):
    """The rows of the table, by name, as a dictionary by column."""
    lines = text[text.index("parameter "):].splitlines()
    head = re.split(r"  +", lines[0].strip())
    rows = {}
    for line in lines[1:]:
        cells = line.split()
        if len(cells) < 3 or line.startswith(("Worst", "Estimates", " ")):
            break
        rows[cells[0]] = dict(zip(head[1:], cells[1:]))
    return rows


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.run_folder = pathlib.Path(cls.folder.name, "run")
        result = rehmc("sample", "eight-schools", "--seed", 3, "--draws", 300, "--output", cls.run_folder)
        assert result.returncode == 0, result.stderr
        cls.table = result.stdout

    def test_fits_the_width(self):
        for columns in (60, 80, 100, 160):
            text = wide("summary", self.run_folder, columns=columns).stdout
            lines = text[text.index("parameter "):].splitlines()
            self.assertLessEqual(max(map(len, lines)), columns, text)
        heads = [wide("summary", self.run_folder, columns=n).stdout.splitlines()[2].split() for n in (60, 80, 160)]
        for narrow, wider in zip(heads, heads[1:]):
            self.assertLess(set(narrow), set(wider))
        self.assertLessEqual({"mean", "sd", "5%", "95%", "ess_bulk", "rhat"}, set(heads[1]))

    def test_parameters_come_as_declared(self):
        names = ["mu", "tau", *(f"theta_trans[{i}]" for i in range(1, 9))]
        self.assertEqual(list(table_of(self.table))[: len(names)], names)

    def test_patterns_choose_rows(self):
        for pattern, names in [
            ("theta_trans[2]", ["theta_trans[2]"]),
            ("theta_trans.2", ["theta_trans[2]"]),
            ("theta_trans[*]", [f"theta_trans[{i}]" for i in range(1, 9)]),
            ("m?", ["mu"]),
        ]:
            self.assertEqual(list(table_of(wide("summary", self.run_folder, pattern).stdout)), names)
        chosen = wide("summary", self.run_folder, "tau", "mu", "--csv").stdout.splitlines()
        self.assertEqual({line.split(",")[0] for line in chosen[1:]}, {"mu", "tau"})
        result = rehmc("summary", self.run_folder, "thetta")
        self.assertEqual(result.returncode, CONFIG)
        self.assertIn("'thetta' matches no parameter; there are mu, tau, theta_trans", result.stderr)
        self.assertIn("did you mean 'theta'?", result.stderr)

    def test_rows_are_sorted(self):
        for order, column, sign in (("ess", "ess_tail", 1), ("rhat", "rhat", -1)):
            rows = table_of(wide("summary", self.run_folder, "--sort", order).stdout)
            if order == "ess":
                values = [min(float(row[c].replace(",", "")) for c in ("ess_bulk", "ess_tail")) for row in rows.values()]
            else:
                values = [float(row[column]) for row in rows.values()]
            self.assertEqual(values, sorted(values, key=lambda x, s=sign: s * x))
        names = list(table_of(wide("summary", self.run_folder, "--sort", "name").stdout))
        self.assertEqual(names[:2], ["mu", "tau"])
        result = rehmc("summary", self.run_folder, "--sort", "es")
        self.assertEqual(result.returncode, CONFIG)
        self.assertIn("did you mean 'ess'?", result.stderr)

    def test_quantiles_and_intervals_are_those_of_the_draws(self):
        draws = []
        for path in sorted(self.run_folder.glob("chain-*.csv")):
            lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
            place = lines[0].split(",").index("mu")
            draws += [float(line.split(",")[place]) for line in lines[1:]]
        draws.sort()
        row = table_of(wide("summary", self.run_folder, "mu", "--quantiles", "0.1,0.9").stdout)["mu"]
        for p, name in ((0.1, "10%"), (0.9, "90%")):
            at = p * (len(draws) - 1)
            expected = draws[int(at)] + (at - int(at)) * (draws[int(at) + 1] - draws[int(at)])
            self.assertAlmostEqual(float(row[name]), expected, delta=0.0051 * abs(expected))
        inside = round(0.9 * len(draws))
        width, start = min((draws[i + inside - 1] - draws[i], i) for i in range(len(draws) - inside + 1))
        text = wide("summary", self.run_folder, "mu", "--hdi").stdout
        cells = next(line.split() for line in text.splitlines() if line.startswith("mu "))
        head = re.split(r"  +", text[text.index("parameter "):].splitlines()[0].strip())
        found = float(cells[head.index("hdi 90% from")])
        self.assertAlmostEqual(found, draws[start], delta=0.0051 * abs(draws[start]))
        self.assertAlmostEqual(float(cells[head.index("to")]) - found, width, delta=0.02 * width)

    def test_quantiles_outside_of_0_and_1_are_errors(self):
        for text in ("0", "1", "-0.1", "1.5", "x", "0.1,2"):
            result = rehmc("summary", self.run_folder, "--quantiles", text)
            self.assertEqual(result.returncode, CONFIG, text)
            self.assertIn("--quantiles: found", result.stderr)
        bounded = pathlib.Path(self.folder.name, "bounded")
        rehmc("sample", "funnel", "--seed", 1, "--draws", 100, "--no-draws", "--output", bounded)
        result = rehmc("summary", bounded, "--hdi")
        self.assertEqual(result.returncode, DATA)
        self.assertIn("stored no draws", result.stderr)

    def test_the_worst_are_named(self):
        self.assertRegex(self.table, r"Worst: R-hat \d\.\d{3} \([a-z_]+(\[\d\])?\), (bulk|tail) ESS [\d,]+ \([a-z_]+(\[\d\])?\)\.")

    def test_numbers_can_be_believed(self):
        """A normal target is sharpened to rounding: not to ten digits of an ESS."""
        run = pathlib.Path(self.folder.name, "normal")
        text = wide("sample", "standard-normal", "--seed", 3, "--output", run, columns=160).stdout
        self.assertIn(">1e6: more than a million, all but exact.", text)
        self.assertEqual([n for n in re.findall(r"\d[\d,]*", text) if int(n.replace(",", "")) > 1e7], [])
        self.assertNotIn("e+", text[text.index("parameter "):text.index("Worst")])

    def test_a_dumb_terminal_gets_plain_progress(self):
        outputs = {}
        for terminal in ("dumb", "xterm"):
            leader, follower = pty.openpty()
            fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
            run = pathlib.Path(self.folder.name, terminal)
            environment = {**{k: v for k, v in os.environ.items() if k != "COLUMNS"}, "TERM": terminal, "NO_COLOR": "1"}
            process = subprocess.Popen([os.environ["REHMC"], "sample", "eight-schools", "--seed", "1", "--output", run],
                                       stdout=follower, stderr=follower, env=environment)
            os.close(follower)
            text = b""
            while True:
                try:
                    part = os.read(leader, 65536)
                except OSError:
                    break
                text += part
            process.wait()
            os.close(leader)
            outputs[terminal] = text.decode()
        self.assertNotIn("\033", outputs["dumb"])
        self.assertIn("\033[", outputs["xterm"])
        self.assertNotRegex(outputs["xterm"], "\033\\[[0-9;]*m")  # no colours, whatever NO_COLOR says
        lines = outputs["xterm"][outputs["xterm"].index("parameter "):].splitlines()
        self.assertLessEqual(max(len(line) for line in lines if "/" not in line), 90)


class Errors(unittest.TestCase):
    def refused(self, code, message, *words):
        result = rehmc(*words)
        with self.subTest(words):
            self.assertIn(message, result.stderr)
            self.assertEqual(result.returncode, code)
            for internal in ("json.exception", "stanli", "filesystem error", "STuple", "required "):
                self.assertNotIn(internal, result.stderr)

    def test_mistyped_words_are_guessed(self):
        self.refused(USAGE, "there is no option '--draw'; did you mean '--draws'?", "sample", "funnel", "--draw", "5")
        self.refused(USAGE, "there is no command 'smaple'; did you mean 'sample'?", "smaple", "funnel")
        self.refused(USAGE, "there is no command 'instal'; did you mean 'install'?", "stan", "instal")
        self.refused(USAGE, "--draws needs a value", "sample", "funnel", "--draws")
        self.refused(USAGE, "MODEL is missing", "sample")
        self.refused(USAGE, "'b' was not expected", "sample", "funnel", "b")
        self.refused(CONFIG, "did you mean 'dense'?", "sample", "funnel", "--metric", "dens")
        self.refused(CONFIG, "did you mean 'nuts'?", "sample", "funnel", "--kernel", "nuta")

    def test_a_bad_value_has_one_exit_code_and_the_name_of_its_option(self):
        for words in (
            ["sample", "funnel", "--draws", "x"], ["sample", "funnel", "--draws", "0"], ["sample", "funnel", "--init", "-1"],
            ["sample", "funnel", "--adapt-delta", "2"], ["sample", "funnel", "--max-treedepth", "0"],
            ["extend", "run", "--draws", "x"], ["extend", "run", "--draws", "0"], ["extend", "run", "--threads", "-1"],
            ["check-gradient", "funnel", "--points", "0"], ["check-gradient", "funnel", "--seed", "x"],
            ["check-gradient", "funnel", "--radius", "-1"], ["check-gradient", "funnel", "--tolerance", "x"],
            ["sample", "funnel", "--kernel", "x"], ["sample", "funnel", "--progress", "x"], ["sample", "funnel", "--until", "x"],
            ["sample", "funnel", "--save", "nothing"],
        ):
            option = {"--adapt-delta": "--target-accept", "--max-treedepth": "--max-depth"}.get(words[2], words[2])
            self.refused(CONFIG, f"rehmc: {option}: found" if words[-1] != "nothing" else "--save: 'nothing'", *words)

    def test_libraries_do_not_speak(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder, "broken.json")
            broken.write_text('{"J": 8, "y": [1, 2')
            self.refused(DATA, "broken.json is not JSON, at line 1", "sample", "eight-schools", "--data", broken)
            self.refused(DATA, "broken.json: ", "sample", "eight-schools", "--init", broken, "--output", f"{folder}/run")


class Help(unittest.TestCase):
    def test_help_is_that_of_the_option(self):
        for words in (["sample"], ["stan", "install"], []):
            self.assertEqual(rehmc("help", *words).stdout, rehmc(*words, "--help").stdout)
        result = rehmc("help", "sampel")
        self.assertEqual(result.returncode, USAGE)
        self.assertIn("did you mean 'sample'?", result.stderr)
        self.assertIn("For all commands: rehmc --help", result.stderr)

    def test_manual_pages_name_every_option(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(rehmc("help", "--manual-pages", folder).returncode, 0)
            pages = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
            self.assertEqual(sorted(pages), sorted(["rehmc.1", *(f"rehmc-{command}.1" for command in COMMANDS)]))
            for command in set(COMMANDS) - {"paper"}:  # passes its words on to another program
                page = pages[f"rehmc-{command}.1"].replace("\\-", "-")
                for option in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", rehmc(command, "--help").stdout, re.MULTILINE):
                    self.assertIn(f"\\fB{option}\\fR", page, command)
            if shutil.which("groff"):
                for name in pages:
                    made = subprocess.run(["groff", "-man", "-ww", "-Tascii", f"{folder}/{name}"], capture_output=True, text=True, check=False)
                    self.assertEqual(made.stderr, "", name)

    def complete(self, shell_script, words):
        """What bash offers for the last of these words."""
        script = (f"source {shell_script}; COMP_WORDS=(rehmc {' '.join(words)}); COMP_CWORD={len(words)}; "
                  "_rehmc; printf '%s\\n' \"${COMPREPLY[@]}\"")
        result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, cwd=self.folder.name)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_bash_completes(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        file = pathlib.Path(self.folder.name, "rehmc.bash")
        file.write_text(rehmc("completion", "bash").stdout)
        pathlib.Path(self.folder.name, "run-1").mkdir()
        pathlib.Path(self.folder.name, "model.stan").touch()
        self.assertEqual(self.complete(file, ["sa"]), ["sample"])
        self.assertEqual(sorted(self.complete(file, ["''"])), sorted([*COMMANDS, "--help", "-h", "--version"]))
        self.assertEqual(self.complete(file, ["sample", "--targ"]), ["--target-accept"])
        self.assertEqual(sorted(self.complete(file, ["sample", "--kernel", "nuts"])), ["nuts", "nuts-slice"])
        self.assertEqual(self.complete(file, ["sample", "eight-schools-"]), ["eight-schools-centred"])
        self.assertEqual(self.complete(file, ["sample", "mo"]), ["model.stan"])
        self.assertEqual(self.complete(file, ["report", "ru"]), ["run-1"])
        self.assertEqual(sorted(self.complete(file, ["stan", "''"]))[-2:], ["install", "status"])

    def test_other_shells_accept_their_completions(self):
        """The shells themselves where they are installed; they take no part in building or running rehmc."""
        for shell in ("zsh", "fish"):
            text = rehmc("completion", shell).stdout
            for command in COMMANDS:
                self.assertRegex(text, rf"(?m)\b{command}\b")
            self.assertIn("target-accept", text)
            if shutil.which(shell):
                with tempfile.NamedTemporaryFile("w", suffix=f".{shell}") as file:
                    file.write(text)
                    file.flush()
                    result = subprocess.run([shell, "-n", file.name], capture_output=True, text=True, check=False)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
        result = rehmc("completion", "tcsh")
        self.assertEqual(result.returncode, CONFIG)


if __name__ == "__main__":
    unittest.main()
