#!/usr/bin/env python3
"""A switch of stacks is no call: the calls of coroutines are those that the program counts. TAP on standard output.

usage: coroutines.py NTRACE
"""
import json
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import cases

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls", "coroutines.c")
GCC = "riscv64-linux-gnu-gcc"


class Bench:
    def __init__(self, ntrace, folder):
        self.ntrace, self.folder = ntrace, folder

    def run(self, *command):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise AssertionError(f"{command[0]} {command[1]}: {done.returncode}: {done.stderr[-300:]}")
        return done.stdout

    def trace(self, *flags):
        """{function: calls} that the program counts, and those of the profile."""
        self.run(GCC, "-g", *flags, SOURCE, "-o", "coroutines")
        counted = dict(line.split() for line in self.run(self.ntrace, "run", "-o", "c.ntrace", "--", "./coroutines").splitlines())
        rows = map(json.loads, self.run(self.ntrace, "profile", "--format", "jsonl", "c.ntrace").splitlines())
        return {name: int(number) for name, number in counted.items()}, {row.get("function"): row["calls"] for row in rows}


def calls_are_counted(b, *flags):
    counted, found = b.trace(*flags)
    assert len(counted) == 6 and counted["step"] == 41, counted
    assert {name: found.get(name) for name in counted} == counted, found


def static(b):
    calls_are_counted(b, "-O2", "-static")


def dynamic(b):
    calls_are_counted(b, "-O1")


if __name__ == "__main__":
    cases.main([static, dynamic], Bench, (GCC, "qemu-riscv64"))
