#!/usr/bin/env python3
"""Real programs under `ntrace run` beside a plugin that counts single instructions, both in the same run: the hash over the
program counters of every thread must be equal, for several encoder options. TAP on standard output.

Programs that execute others are traced with --follow-fork, and every process is compared.

usage: exact.py NTRACE COUNT_PCS SAME_PCS [--all] [--fetch] [NAME...]
The stream of the default options is also read with the oracle decoder of the tests, and `ntrace check` must find nothing in it.
--all: all programs of bench/real_programs.py, which takes an hour; without it short ones. --fetch: fetch missing packages.
"""
import functools
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path += [os.path.join(sys.path[0], "..", name) for name in ("", "../bench")]
import harness
import user_qemu  # may change PATH, which the next one reads
import real_programs
from harness import case, check, note, scratch, skip

MODES = {"default": [], "best": ["--best"], "btm": ["--mode", "btm"], "timestamps": ["--timestamps"]}
FLAGS = ("--all", "--fetch")
LIMIT = 1800  # seconds of one command


class Test:
    def __init__(self, tools, place):
        self.ntrace, self.plugin, self.same = tools[0], user_qemu.plugin(tools[1]), tools[2]
        self.place, self.folder, self.last = place, scratch(), None
        self.bundle, self.truth = os.path.join(self.folder, "t.ntrace"), os.path.join(self.folder, "truth")

    def command(self, words):
        return subprocess.run(words, cwd=self.place.work, env=real_programs.ENVIRONMENT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)

    def record(self, program, options):
        """The status of a plain run is that of the traced one; its output, too, unless runs differ."""
        for old in self.bundles():
            shutil.rmtree(old)
        for old in glob.glob(self.truth + ".*"):
            os.unlink(old)
        options = options + ["--follow-fork"] * program.children
        plugin = ["--qemu-option=-plugin", f"--qemu-option={self.plugin},out={self.truth}"]
        done = self.command(self.place.traced(program, self.ntrace, self.bundle, plugin + options))
        if not os.path.isdir(self.bundle):
            return f"status {done.returncode}, no bundle: {done.stderr.decode(errors='replace')[-300:]}"
        if program.children:
            return f"status {done.returncode}" if done.returncode else None
        plain = self.command(self.place.plain(program))
        if plain.returncode != done.returncode or not program.threads and plain.stdout != done.stdout:
            return f"status {done.returncode} and {len(done.stdout)} bytes of output, expected {plain.returncode} and {len(plain.stdout)}"
        return None

    def bundles(self):
        return glob.glob(os.path.join(self.folder, "t.*ntrace"))

    def compare(self, *options):
        """The text, and a status that is not 0 where something differs. A bundle of a child process has the number of the process in its
        name; the remaining process is the first one."""
        processes = {path.rpartition(".")[2]: path for path in glob.glob(self.truth + ".*")}
        children = {path.split(".")[-2]: path for path in self.bundles() if path != self.bundle}
        if not set(children) < set(processes) or len(processes) != len(children) + 1:
            return f"bundles of the children {sorted(children)}, processes {sorted(processes)}", 1
        texts, wrong, count = [], 0, 0
        for process, truth in processes.items():
            done = self.command([self.same, *options, children.get(process, self.bundle), truth])
            found = re.search(rb"(\d+) instructions, 0 problems", done.stdout)
            wrong |= done.returncode
            count += int(found[1]) if found else 0
            texts += [] if found else [done.stdout.decode() + done.stderr.decode()]
        return f"{count} instructions, {len(processes)} processes\n" + "".join(texts), wrong

    def conforms(self):
        for bundle in self.bundles():
            done = self.command([self.ntrace, "check", bundle])
            if done.returncode:
                break
        return (done.stdout + done.stderr).decode(errors="replace")[-400:], done.returncode

    def recorded(self, program, mode):
        """Makes the bundles of this mode, unless they are those of the case before."""
        if self.last != (program.name, mode):
            self.last = None
            wrong = self.record(program, MODES[mode])
            check(not wrong, wrong)
            self.last = program.name, mode

    def judge(self, text, status):
        note(text.split("\n")[0])
        check(not status, text.strip())

    def exact(self, program, mode, *options):
        self.recorded(program, mode)
        self.judge(*self.compare(*options))

    def rules(self, program):
        self.recorded(program, "default")
        self.judge(*self.conforms())


def unavailable(error, count):
    note(error)
    skip("real-programs" if "debian_root" in str(error) else "qemu-riscv64", count)


def main():
    flags = [word for word in sys.argv[1:] if word in FLAGS]
    words = [word for word in sys.argv[1:] if word not in FLAGS]
    every = real_programs.PROGRAMS + real_programs.MORE
    programs = real_programs.take(words[3:], every if "--all" in flags else real_programs.SHORT)
    test = None
    try:
        test = Test([os.path.abspath(path) for path in words[:3]], real_programs.prepare(programs, offline="--fetch" not in flags))
    except real_programs.Unavailable as error:
        case("real programs: all cases")(functools.partial(unavailable, error, (len(MODES) + 2) * len(programs)))
    for program in programs if test else ():
        case(f"{program.name}, default", program, "default")(test.exact)
        case(f"{program.name}, default, oracle", program, "default", "-o")(test.exact)
        case(f"{program.name}, default, check", program)(test.rules)
        for mode in list(MODES)[1:]:
            case(f"{program.name}, {mode}", program, mode)(test.exact)
    harness.main()


main()
