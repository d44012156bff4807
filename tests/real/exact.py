#!/usr/bin/env python3
"""Real programs under `ntrace run` beside a plugin that counts single instructions, both in the same run: the hash over the
program counters of every thread must be equal, for several encoder options. TAP on standard output.

Programs that execute others are traced with --follow-fork, and every process is compared.

usage: exact.py NTRACE COUNT_PCS SAME_PCS [--all] [--fetch] [NAME...]
The stream of the default options is also read with the oracle decoder of the tests, and `ntrace check` must find nothing in it.
--all: all programs of bench/real_programs.py, which takes an hour; without it short ones. --fetch: fetch missing packages.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import real_programs  # noqa: E402: the path comes first

MODES = {"default": [], "best": ["--best"], "btm": ["--mode", "btm"], "timestamps": ["--timestamps"]}
FLAGS = ("--all", "--fetch")
LIMIT = 1800  # seconds of one command


class Test:
    def __init__(self, tools, place, folder):
        self.ntrace, self.plugin, self.same = tools
        self.place, self.folder = place, folder
        self.count = self.failed = 0
        self.bundle, self.truth = os.path.join(folder, "t.ntrace"), os.path.join(folder, "truth")

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

    def result(self, name, text, wrong):
        self.count += 1
        self.failed += bool(wrong)
        found = re.search(r"\d+ instructions(, (?!1 )\d+ processes)?", text)
        print(f"{'not ok' if wrong else 'ok'} {self.count} {name}: {found[0] if found else ''}", flush=True)
        if wrong:
            print("# " + text.strip().replace("\n", "\n# "), flush=True)

    def program(self, program):
        for mode, options in MODES.items():
            name = f"{program.name}, {mode}"
            try:
                wrong = self.record(program, options)
                text, status = (wrong, 1) if wrong else self.compare()
                self.result(name, text, status)
                if mode == "default" and not wrong:
                    self.result(name + ", oracle", *self.compare("-o"))
                    self.result(name + ", check", *self.conforms())
            except subprocess.TimeoutExpired as error:
                self.result(name, f"still running after {LIMIT} s: {' '.join(error.cmd[:3])}", 1)


def main():
    flags = [word for word in sys.argv[1:] if word in FLAGS]
    words = [word for word in sys.argv[1:] if word not in FLAGS]
    tools, names = [os.path.abspath(path) for path in words[:3]], words[3:]
    every = real_programs.PROGRAMS + real_programs.MORE
    programs = real_programs.take(names, every if "--all" in flags else real_programs.SHORT)
    try:
        place = real_programs.prepare(programs, offline="--fetch" not in flags)
    except real_programs.Unavailable as error:
        print(f"1..0 # SKIP {error}")
        return
    with tempfile.TemporaryDirectory() as folder:
        test = Test(tools, place, folder)
        for program in programs:
            test.program(program)
    print(f"1..{test.count}")
    sys.exit(test.failed > 0)


main()
