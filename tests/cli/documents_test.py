#!/usr/bin/env python3
"""Tests that the documents match the command: their shell blocks run, their options exist."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from command import rehmc

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
COMMANDS = ["sample", "sharpen", "summary", "report", "resume", "extend", "export", "generate", "check", "models", "check-gradient", "compile", "cmdstan-exe", "stan", "paper", "help", "completion"]


def shell_blocks(document):
    """The shell blocks that call rehmc; others install and build."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [block for block in blocks if re.search(r"^rehmc ", block, re.MULTILINE)]


def options_of_help(command):
    """Also the second name of a flag that can be turned off: `--sharpen, --no-sharpen{false}`."""
    parts = [[command, "install"], [command, "status"]] if command == "stan" else [[command]]
    printed = "".join(rehmc(*words, "--help").stdout for words in parts)
    lines = re.findall(r"^  (?:-\w,)?(--[a-z-]+)(?:, *(--[a-z-]+)(?:\{false\})?)?", printed, re.MULTILINE)
    return {name for names in lines for name in names if name}


class Documents(unittest.TestCase):
    def test_shell_blocks_run(self):
        """All blocks of a document in turn, in one empty folder."""
        ran = 0
        for document in DOCUMENTS:
            with tempfile.TemporaryDirectory() as folder:
                bin_folder = pathlib.Path(folder, "bin")
                bin_folder.mkdir()
                (bin_folder / "rehmc").symlink_to(pathlib.Path(os.environ["REHMC"]).resolve())
                work = pathlib.Path(folder, "work")
                work.mkdir()
                environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
                for block in shell_blocks(document):
                    with self.subTest(f"{document.name}: {block}"):
                        result = subprocess.run(
                            ["sh", "-euc", block],
                            cwd=work,
                            env=environment,
                            capture_output=True,
                            text=True,
                            check=False,
                            timeout=300,
                        )
                        self.assertEqual(result.returncode, 0, result.stderr)
                        ran += 1
        self.assertGreater(ran, 10)

    def test_every_command_is_described(self):
        listed = re.findall(r"^  ([a-z-]+)  ", rehmc("--help").stdout.split("Subcommands:")[1], re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(COMMANDS))
        document = (ROOT / "docs/command.md").read_text(encoding="utf-8")
        for command in listed:
            self.assertIn(f"| `rehmc {command}", document)

    def test_options_are_those_of_the_command(self):
        document = (ROOT / "docs/command.md").read_text(encoding="utf-8")
        sample = document.split("## rehmc sample")[1].split("### Recycling")[0]
        first_cells = re.findall(r"^\| (`--[^|]+)", sample, re.MULTILINE)
        in_tables = {option for cell in first_cells for option in re.findall(r"`(--[a-z-]+)", cell)}
        self.assertEqual(in_tables, options_of_help("sample"))

    def test_no_document_names_an_option_that_does_not_exist(self):
        known = set().union(*(options_of_help(command) for command in COMMANDS), {"--version"})
        for command in COMMANDS[1:]:
            for option in options_of_help(command) - {"--help"}:
                self.assertIn(f"`{option}", (ROOT / "docs/command.md").read_text(encoding="utf-8"))
        for document in ["README.md", "docs/command.md", "docs/files.md"]:
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", (ROOT / document).read_text(encoding="utf-8")):
                self.assertIn(option, known, document)

    def test_defaults_of_numbers(self):
        document = (ROOT / "docs/command.md").read_text(encoding="utf-8")
        told = dict(re.findall(r"^\| `(--[a-z-]+)`(?:, `--[a-z-]+`)? \| ([^|\n]+) \|[^|\n]*\| ", document, re.MULTILINE))
        self.assertEqual(told.pop("--path-length"), "pi / 2")
        self.assertEqual(told.pop("--weight-by-draws"), "off")
        printed = rehmc("sample", "--help").stdout
        self.assertGreater(len(told), 15)
        for option, default in told.items():
            self.assertRegex(printed, rf"(?m)^  {option}(,--[a-z-]+)?={re.escape(default)}\s")


if __name__ == "__main__":
    unittest.main()
