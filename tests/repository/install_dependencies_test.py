#!/usr/bin/env python3
"""Tests scripts/install_dependencies on various machines, simulated by fake commands."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "install_dependencies"

ALL_INSTALLED = 'shift 2; for package in "$@"; do echo "$package installed"; done'
NO_EIGEN_AND_OLD_FMT = (
    'shift 2; for package in "$@"; do case $package in libeigen3-dev) ;;'
    ' libfmt-dev) echo "libfmt-dev config-files" ;; *) echo "$package installed" ;; esac; done; exit 1'
)


class InstallDependencies(unittest.TestCase):
    def run_script(self, commands, groups=("build",), **environment):
        """Runs the script with only these commands and those of the shell; returns the result and the lines
        that the fake apt-get logged."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for tool in ["bash", "env", "grep"]:
                (folder / tool).symlink_to(shutil.which(tool))
            for command, body in commands.items():
                (folder / command).write_text(f"#!{shutil.which('bash')}\n{body}\n", encoding="utf-8")
                (folder / command).chmod(0o755)
            log = folder / "log"
            result = subprocess.run([shutil.which("bash"), SCRIPT, *groups], capture_output=True, text=True,
                                    env={"PATH": name, "LOG": str(log), **environment}, check=False)
            return result, log.read_text(encoding="utf-8").splitlines() if log.exists() else []

    @staticmethod
    def machine(dpkg_query=NO_EIGEN_AND_OLD_FMT, user=0, apt_get='echo "$DEBIAN_FRONTEND $*" >>"$LOG"', **more):
        return {"dpkg-query": dpkg_query, "apt-get": apt_get,
                "id": f'if [ "$1" = -u ]; then echo {user}; else echo somebody; fi', **more}

    def test_nothing_is_installed_when_nothing_is_missing(self):
        result, asked = self.run_script(self.machine(ALL_INSTALLED), ["build", "test", "tools"])
        self.assertEqual((result.returncode, result.stdout, result.stderr, asked), (0, "", "", []))

    def test_root_installs_just_what_is_missing(self):
        result, asked = self.run_script(self.machine())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(asked), 2)
        self.assertRegex(asked[0], r"^noninteractive .* update$")
        self.assertRegex(asked[1], r"^noninteractive .* install .* libeigen3-dev libfmt-dev$")

    def test_others_install_by_sudo(self):
        sudo = 'echo sudo >>"$LOG"; exec "$@"'
        result, asked = self.run_script(self.machine(user=1000, sudo=sudo))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([line.split()[0] for line in asked], ["sudo", "noninteractive"] * 2)

    def test_neither_root_nor_sudo(self):
        result, asked = self.run_script(self.machine(user=1000))
        self.assertEqual((result.returncode, asked), (1, []))
        self.assertIn("neither root nor a machine with sudo", result.stderr)
        self.assertIn("apt-get install libeigen3-dev libfmt-dev\n", result.stderr)

    def test_no_network(self):
        for failing in ["update", "install"]:
            result, _ = self.run_script(self.machine(apt_get=f'case "$*" in *{failing}*) exit 100 ;; esac'))
            self.assertEqual(result.returncode, 1)
            self.assertIn("could not be installed", result.stderr)
            self.assertIn("    libeigen3-dev libfmt-dev\n", result.stderr)
            self.assertIn("network", result.stderr)

    def test_not_debian(self):
        result, _ = self.run_script({})
        self.assertEqual(result.returncode, 1)
        self.assertIn("not a Debian system", result.stderr)
        self.assertIn("libeigen3-dev", result.stderr)
        self.assertIn("REHMC_DEPENDENCIES=installed", result.stderr)

    def test_not_debian_but_nothing_is_missing(self):
        result, _ = self.run_script({}, REHMC_DEPENDENCIES="installed")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_groups_must_be_known(self):
        for groups in [["paint"], []]:
            result, asked = self.run_script(self.machine(), groups)
            self.assertEqual((result.returncode, asked), (1, []))
            self.assertIn("build, test", result.stderr)


if __name__ == "__main__":
    unittest.main()
