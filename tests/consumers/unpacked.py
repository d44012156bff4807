#!/usr/bin/env python3
"""Consumers of Debian 13, unpacked into the cache by tools/debian_root and not installed.

usage: unpacked.py --fetch            fetches what `make test` uses; tools/deps all does it
       unpacked.py --fetch-whole      fetches the other consumers; make test-consumers does it
"""
import functools
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import skip

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PACKAGES = {"lcov": ("lcov",), "gcovr": ("gcovr", "python3-colorlog")}


WHOLE = {"perf": ("trixie", "linux-perf"), "lldb-14": ("bookworm", "lldb-14"), "bolt-21": ("sid", "bolt-21")}  # with all their libraries


def unpack(suite, *packages, offline=True, more=("--no-depends",)):
    """Folder with the packages, or None. Without their libraries: for programs that run with what is installed here (perl, python3)."""
    command = [os.path.join(ROOT, "tools", "debian_root"), *(["--offline"] if offline else []), "--suite", suite, "--arch", "amd64", *more, *packages]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def unpack_whole(name, offline=True):
    """Folder with a package of WHOLE and all its libraries: it has no other packages."""
    cache = os.environ.get("NTRACE_DEBIAN") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ntrace", "debian")
    return unpack(*WHOLE[name], offline=offline, more=("--folder", os.path.join(cache, "whole-" + name)))


@functools.cache
def whole(name, *program):
    """The command for a program of such a folder, whose path has these parts below usr."""
    folder = unpack_whole(name) or skip("debian-packages")
    libraries = [os.path.join(folder, *below) for below in (("usr", "lib", "x86_64-linux-gnu"), ("lib", "x86_64-linux-gnu"),
                                                              ("usr", "lib", "llvm-14", "lib"), ("usr", "lib", "llvm-21", "lib"))]
    loader = next(path for path in (os.path.join(below, "ld-linux-x86-64.so.2") for below in libraries) if os.path.exists(path))
    path = os.path.join(folder, "usr", *program)
    return [loader, "--argv0", path, "--library-path", ":".join(libraries), path]


@functools.cache
def root(name):
    return unpack("trixie", *PACKAGES[name]) or skip("debian-packages")


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


def perf():
    """The command of Debian 13's perf, and its environment."""
    command = whole("perf", "bin", "perf")
    return command, dict(os.environ, PERF_EXEC_PATH=os.path.join(os.path.dirname(os.path.dirname(command[-1])), "lib", "perf-core"))


ADAPTER = "cdt-gdb-adapter@1.7.0"


def adapter_folder():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "ntrace", ADAPTER)


def fetch_adapter():
    """Without the scripts of its packages: its terminal and its serial port are not used."""
    os.makedirs(adapter_folder(), exist_ok=True)
    return not subprocess.run(["npm", "install", "--silent", "--ignore-scripts", "--prefix", adapter_folder(), ADAPTER], check=False).returncode


def adapter():
    """The file of Eclipse's debug adapter, for node."""
    path = os.path.join(adapter_folder(), "node_modules", "cdt-gdb-adapter", "dist", "debugTargetAdapter.js")
    return path if os.path.exists(path) else skip("cdt-gdb-adapter")


if __name__ == "__main__":
    if sys.argv[1:] == ["--fetch"]:
        sys.exit(not all([unpack("trixie", *packages, offline=False) for packages in PACKAGES.values()]))
    if sys.argv[1:] == ["--fetch-whole"]:
        sys.exit(not all([*(unpack_whole(name, offline=False) for name in WHOLE), fetch_adapter()]))
    sys.exit(__doc__)
