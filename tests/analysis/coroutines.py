#!/usr/bin/env python3
"""A switch of stacks is no call: the calls of coroutines are those that the program counts. A decision goes on when its coroutine does. TAP
on standard output.

usage: coroutines.py NTRACE
"""
import json
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import cases

CALLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls")
SOURCE = os.path.join(CALLS, "coroutines.c")
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
        return {name: int(number) for name, number in counted.items()}, {row.get("function"): row for row in rows}


def calls_are_counted(b, *flags):
    counted, found = b.trace(*flags)
    assert len(counted) == 8 and counted["step"] == 45, counted
    assert {name: found[name]["calls"] for name in counted} == counted, {name: found[name]["calls"] for name in counted}
    assert found["Interpreter"]["total"] == found["Interpreter"]["self"], "a tail call is no call of the function that makes it"


def static(b):
    calls_are_counted(b, "-O2", "-static")


def dynamic(b):
    calls_are_counted(b, "-O1")


def decisions(b):
    """`made` is 40 after the first step of the 15th round: 14 rounds pass, of which 10 have i > 3."""
    b.run(GCC, "-g", "-O0", "-static", os.path.join(CALLS, "waiting.c"), "-o", "waiting")
    b.run(b.ntrace, "run", "-o", "w.ntrace", "--", "./waiting")
    text = b.run(b.ntrace, "coverage", "--level", "mcdc", "w.ntrace")
    found = [tuple(line.split()) for line in text.splitlines() if line.endswith(" times")]
    expected = {("T", "T", "F", "=", "F"): 1, ("T", "T", "T", "=", "T"): 14, ("F", "-", "-", "=", "F"): 4}
    of_main = {row[1:6]: int(row[6]) for row in found if int(row[6]) in (1, 14, 4)}
    assert of_main == expected, text
    assert "fit" not in text and "T T T = T  10 times" in text, text


if __name__ == "__main__":
    cases.main([static, dynamic, decisions], Bench, (GCC, "qemu-riscv64"))
