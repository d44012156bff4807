#!/usr/bin/env python3
"""Consumers of Debian 13, unpacked into the cache by tools/debian_root and not installed.

usage: unpacked.py --fetch      fetches them; tools/deps all does it
"""
import functools
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import skip

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PACKAGES = {"lcov": ("lcov",), "gcovr": ("gcovr", "python3-colorlog")}


def unpack(*packages, offline=True):
    """Folder with the packages, or None. For programs that run with what is installed here (perl, python3)."""
    command = [os.path.join(ROOT, "tools", "debian_root"), *(["--offline"] if offline else []), "--suite", "trixie", "--arch", "amd64", "--no-depends", *packages]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


@functools.cache
def root(name):
    return unpack(*PACKAGES[name]) or skip("debian-packages")


def lcov(tool):
    """The command and the environment of a tool of lcov 2."""
    folder = root("lcov")
    if subprocess.run(["perl", "-MDateTime", "-MCapture::Tiny", "-MDate::Parse", "-e", "1"], stderr=subprocess.DEVNULL, check=False).returncode:
        skip("perl-modules")
    return ["perl", os.path.join(folder, "usr", "bin", tool)], dict(os.environ, PERL5LIB=os.path.join(folder, "usr", "lib", "lcov"))


def gcovr():
    folder = root("gcovr")
    environment = dict(os.environ, PYTHONPATH=os.path.join(folder, "usr", "lib", "python3", "dist-packages"))
    if subprocess.run(["/usr/bin/python3", "-c", "import gcovr.__main__"], env=environment, stderr=subprocess.DEVNULL, check=False).returncode:
        skip("python-lxml")
    return ["/usr/bin/python3", "-m", "gcovr"], environment


if __name__ == "__main__":
    sys.exit(sys.argv[1:] != ["--fetch"] or not all(unpack(*packages, offline=False) for packages in PACKAGES.values()))
