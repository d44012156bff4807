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


WHOLE = {"perf": ("linux-perf",)}  # with all their libraries, in a folder of their own


def unpack(*packages, offline=True, whole=None):
    """Folder with the packages, or None. For programs that run with what is installed here (perl, python3), or `whole`: the folder's name."""
    command = [os.path.join(ROOT, "tools", "debian_root"), *(["--offline"] if offline else []), "--suite", "trixie", "--arch", "amd64"]
    if whole:
        cache = os.environ.get("NTRACE_DEBIAN") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ntrace", "debian")
        command += ["--folder", os.path.join(cache, f"trixie-amd64-{whole}"), *packages]
    else:
        command += ["--no-depends", *packages]
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


@functools.cache
def perf():
    """The command of Debian 13's perf, and its environment."""
    folder = os.path.join(unpack(*WHOLE["perf"], whole="perf") or skip("debian-packages"), "usr")
    loader = os.path.join(folder, "lib64", "ld-linux-x86-64.so.2")
    return ([loader, "--library-path", os.path.join(folder, "lib", "x86_64-linux-gnu"), os.path.join(folder, "bin", "perf")],
            dict(os.environ, PERF_EXEC_PATH=os.path.join(folder, "lib", "perf-core")))


if __name__ == "__main__":
    sys.exit(sys.argv[1:] != ["--fetch"] or not all([*(unpack(*packages, offline=False) for packages in PACKAGES.values()),
                                                     *(unpack(*packages, offline=False, whole=name) for name, packages in WHOLE.items())]))
