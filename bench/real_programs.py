"""Real programs for measurements and tests: packages of Debian 13 for riscv64 (tools/debian_root), and what they work on.

`prepare()` fetches the packages, makes the input files, and returns a Place; `take(names)` lists programs."""
import collections
import glob
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, "bench", "real_work")
SUITE, ARCH = "trixie", "riscv64"
# No variable of the user's environment changes what a program executes.
ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/nowhere", "LC_ALL": "C", "PYTHONHASHSEED": "0",
               "PYTHONDONTWRITEBYTECODE": "1", "PERL_HASH_SEED": "0", "GOMAXPROCS": "2"}


@functools.lru_cache
def plain_cpu():
    """Options of QEMU: the CPU that `ntrace run` takes (docs/run.md)."""
    text = subprocess.run(["qemu-riscv64", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [] if int(re.search(r"version (\d+)", text)[1]) < 9 else ["-cpu", "rv64"]


# `threads`: there are several, or the output has times; runs differ from each other. `children`: it executes other programs, which plain
# QEMU does not do.
Program = collections.namedtuple("Program", "name packages command threads children")


def program(name, packages, command, threads=False, children=False):
    return Program(name, packages.split(), command.split(), threads, children)


PROGRAMS = [
    program("python", "python3.13", "usr/bin/python3.13 -S -E work.py"),
    program("sqlite", "sqlite3", "usr/bin/sqlite3 -init /dev/null -batch :memory: .read\\ work.sql"),
    program("lua", "lua5.4", "usr/bin/lua5.4 work.lua"),
    program("perl", "perl", "usr/bin/perl work.pl"),
    program("gawk", "gawk", "usr/bin/gawk -f work.awk text"),
    program("bash", "bash", "usr/bin/bash --norc work.sh"),
    program("cc1", "cpp-14 libc6-dev libgcc-14-dev",
            "usr/libexec/gcc/riscv64-linux-gnu/14/cc1 -quiet -imultiarch riscv64-linux-gnu -mabi=lp64d -march=rv64gc -O2 work.c.txt -o /dev/null"),
    program("node", "nodejs", "usr/bin/node work.js", threads=True),
    program("go", "golang-1.24-go golang-1.24-src", "usr/lib/go-1.24/bin/gofmt -l one.go two.go", threads=True),
    program("ripgrep", "ripgrep", "usr/bin/rg -c -j1 [a-z]+_t[a-z0-9_]*x|(if|for)\\ .*(nil|err)\\ [{] texts"),
    program("z3", "z3", "usr/bin/z3 work.smt2"),
    program("sbcl", "sbcl", "usr/bin/sbcl --no-sysinit --no-userinit --disable-debugger --load work.lisp"),
    program("xz", "xz-utils", "usr/bin/xz -3 -T1 -k -c data"),
    program("zstd", "zstd", "usr/bin/zstd -4 -T1 -q -c datas", threads=True),
    program("pigz", "pigz", "usr/bin/pigz -p2 -c datas", threads=True),
    program("stockfish", "stockfish", "usr/games/stockfish bench 16 1 9 current", threads=True),
]
# Programs for tests only: interpreters that are compiled while they run, and code that is replaced while others execute it.
MORE = [
    program("php", "php8.4-cli", "usr/bin/php8.4 -n work.php"),
    program("ruby", "ruby3.3 libruby3.3", "usr/bin/ruby3.3 --disable=gems work.rb", threads=True),
    program("guile", "guile-3.0 guile-3.0-libs", "usr/bin/guile-3.0 --no-auto-compile -s work.scm", threads=True),
    program("java", "openjdk-21-jdk-headless", "usr/lib/jvm/java-21-openjdk-riscv64/bin/java -Xmx256m Work.java", threads=True),
]
# Less work, for tests that everyone runs: one thread; threads with signals; threads with messages of many kinds; processes.
SHORT = [
    program("gawk", "gawk", "usr/bin/gawk -f work.awk small"),
    program("go", "golang-1.24-go golang-1.24-src", "usr/lib/go-1.24/bin/gofmt -l small.go", threads=True),
    program("pigz", "pigz", "usr/bin/pigz -p2 -c small", threads=True),
    program("children", "bash gawk pigz", "usr/bin/bash --norc children.sh small", children=True),
]
# Inputs made from unpacked files: name, file, bytes of it, repetitions.
INPUTS = [
    ("text", "usr/share/go-1.24/src/net/http/h2_bundle.go", 300000, 1),
    ("texts", "usr/share/go-1.24/src/net/http/h2_bundle.go", 390000, 12),
    ("small", "usr/share/go-1.24/src/net/http/h2_bundle.go", 30000, 1),
    ("small.go", "usr/share/go-1.24/src/net/http/cookie.go", None, 1),
    ("one.go", "usr/share/go-1.24/src/net/http/server.go", None, 1),
    ("two.go", "usr/share/go-1.24/src/net/http/transport.go", None, 1),
    ("data", "usr/bin/bash", 700000, 1),
    ("datas", "usr/bin/perl", 3000000, 1),
]
EVERYWHERE = ["golang-1.24-src", "bash", "perl"]  # the packages of the inputs


class Unavailable(Exception):
    """The programs cannot be had; the text says why."""


class Place:
    """`root`: the unpacked packages; `work`: the folder in which the programs run."""

    def __init__(self, root):
        self.root, self.work = root, os.path.join(os.path.dirname(root), "work")

    def command(self, program, root=None):
        words = [word.replace("\0", " ") for word in " ".join(program.command).replace("\\ ", "\0").split(" ")]
        return [os.path.join(root or self.root, words[0]), *words[1:]]

    def plain(self, program):
        return ["qemu-riscv64", *plain_cpu(), "-L", self.root, *self.command(program)]

    def traced(self, program, ntrace, bundle, options=()):
        return [ntrace, "run", "--sysroot", self.root, "-o", bundle, *options, "--", *self.command(program)]

    def make_inputs(self):
        os.makedirs(self.work, exist_ok=True)
        for path in glob.glob(os.path.join(WORK, "*")):
            with open(path, "rb") as file:
                self.make_input(os.path.basename(path), file.read())
        for name, source, size, times in INPUTS:
            with open(os.path.join(self.root, source), "rb") as file:
                data = file.read(size) if size else file.read()
            self.make_input(name, data * times)

    def make_input(self, name, data):
        """At once: a program that another test has started may read the file."""
        with tempfile.NamedTemporaryFile(dir=self.work, delete=False) as file:
            file.write(data)
        os.replace(file.name, os.path.join(self.work, name))


def take(names, programs=tuple(PROGRAMS)):
    """The programs of these names, in the order of the table; all when there are none."""
    known = [one.name for one in programs]
    wrong = [name for name in names if name not in known]
    if wrong:
        sys.exit(f"no program '{wrong[0]}'; there are: {' '.join(known)}")
    return [one for one in programs if not names or one.name in names]


def prepare(programs=PROGRAMS, offline=False):
    """The packages in the cache folder (fetched when they are missing, unless `offline`), and the inputs."""
    if not shutil.which("qemu-riscv64"):
        raise Unavailable("qemu-riscv64 is missing (tools/deps demo)")
    packages = sorted({package for one in programs for package in one.packages} | set(EVERYWHERE))
    command = [os.path.join(ROOT, "tools", "debian_root"), "--suite", SUITE, "--arch", ARCH, *(["--offline"] if offline else []), *packages]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode and not done.stderr.startswith("tools/debian_root: "):
        sys.exit(done.stderr)
    if done.returncode:
        raise Unavailable(done.stderr.strip())
    place = Place(done.stdout.strip())
    place.make_inputs()
    return place
