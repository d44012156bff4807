#!/usr/bin/env python3
"""Failing allocations, writes and reads, and interrupted calls: faults.py NTRACE INJECTOR [--all]

Whatever fails, a command ends by itself; it either answers exactly as if nothing had failed, or says why not with
status 2; and no file is left that looks whole and is not. With --all every single allocation, write and read fails
once, otherwise some of them. TAP on standard output.
"""
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys

sys.path += [os.path.join(sys.path[0], "..", name) for name in ("", "cli", "perf")]
from harness import NTRACE, case, check, main, scratch, write
from commands import COMMANDS, LONG, fill, prepare, skip_without_feature

INJECTOR = shutil.copy(sys.argv[2], scratch())  # LD_PRELOAD ends a name at a blank
ALL = "--all" in sys.argv[3:]
SAMPLES = 12

class Result:
    """The result of a command: status, output, messages, and the files it wrote."""

    def __init__(self, arguments, paths, faults):
        self.folder = os.path.join(scratch(), "out")
        os.makedirs(self.folder, exist_ok=True)
        for name in os.listdir(self.folder):
            os.remove(os.path.join(self.folder, name))
        counts = os.path.join(scratch(), "counts")
        if os.path.exists(counts):
            os.remove(counts)
        env = dict(os.environ, LD_PRELOAD=INJECTOR, FAULTS=faults, FAULTS_COUNT=counts)
        done = subprocess.run([NTRACE] + [fill(a, paths, os.path.join(self.folder, "answer")) for a in arguments], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        self.status, self.output, self.messages = done.returncode, done.stdout, done.stderr.decode(errors="replace")
        self.files = {}
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), "rb") as file:
                self.files[name] = file.read()
        self.counts = [0] * 5
        if os.path.exists(counts):
            with open(counts, encoding="ascii") as file:
                self.counts = [int(word) for word in file.read().split()]


def contents(files):
    """Databases by their content: the layout of pages in the file depends on the available memory."""
    return {name: dumped(data) if data.startswith(b"SQLite format") else data for name, data in files.items()}


def dumped(data):
    with sqlite3.connect(write("database", data)) as database:
        return list(database.iterdump())


def judge(hurt, sound, what):
    """Either the same result, or status 2 with a reason and no incomplete file."""
    check(hurt.status >= 0, f"{what}: ended by signal {-hurt.status}: {hurt.messages[-300:]}")
    if hurt.status == sound.status:
        check(hurt.output == sound.output, f"{what}: status {hurt.status}, but another output: {hurt.messages[-300:]}")
        check(contents(hurt.files) == contents(sound.files),
              f"{what}: status {hurt.status}, but other files: {sorted(hurt.files)} {hurt.messages[-300:]}")
        return
    if what.startswith(("lib:", "alloc:", "read:")) and hurt.status == 1:  # an answer without what could not be read
        return check(re.search("damage|cannot|missing|expected|gap|out of memory|not shown", hurt.messages), f"{what}: status 1 without a reason: {hurt.messages[-300:]}")
    check(hurt.status == 2, f"{what}: status {hurt.status} instead of {sound.status} or 2: {hurt.messages[-300:]}")
    check(hurt.messages.strip(), f"{what}: status 2 without a reason")
    check(sound.output.startswith(hurt.output), f"{what}: wrong output before it failed")
    for name, content in hurt.files.items():
        check(sound.files.get(name) == content, f"{what}: left {name} behind, which is not whole")


def numbers(count, samples):
    if ALL or count <= samples:
        return range(1, count + 1)
    return sorted(random.Random(count).sample(range(1, count + 1), samples))


PATHS = {}


def hurt_command(name, arguments):
    """One case: every kind of failure, at every call or at some."""
    if not PATHS:
        PATHS.update(prepare())
    sound = Result(arguments, PATHS, "count")
    skip_without_feature(sound.status, sound.messages)
    check(sound.status == 0 and sound.counts[0] > 0, f"{name}: status {sound.status} {sound.counts}: {sound.messages[-300:]}")
    for faults in ("short", "eintr"):
        same = Result(arguments, PATHS, faults)
        judge(same, sound, faults)
        check(same.status == sound.status, f"{faults}: {same.messages[-300:]}")
    wrong = []
    for kind, count in zip(("alloc", "write", "read", "kill", "lib"), sound.counts):
        for n in () if kind == "kill" else numbers(count, SAMPLES if "units" in name or kind != "lib" else 2):
            try:
                judge(Result(arguments, PATHS, f"{kind}:{n}"), sound, f"{kind}:{n} of {count}")
            except Exception as reason:  # report all problems, not only the first
                wrong.append(str(reason))
    check(not wrong, f"{len(wrong)} of {sum(sound.counts)}:\n" + "\n".join(wrong[:8]))


for command_name, command_arguments in COMMANDS + (LONG if ALL else []):
    @case(command_name)
    def _(name=command_name, arguments=command_arguments):
        hurt_command(name, arguments)

main()
