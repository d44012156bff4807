#!/usr/bin/env python3
"""ntrace run --data: loads and stores of a program whose accesses are computed here (work.c).

usage: data.py NTRACE
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, equal, main, matches, need, scratch

MASK = (1 << 64) - 1


def program(*options):
    for tool in ("qemu-riscv64", "riscv64-linux-gnu-gcc"):
        need(tool)
    path = os.path.join(scratch(), "work" + "".join(options))
    subprocess.run(["riscv64-linux-gnu-gcc", "-O1", os.path.join(HERE, "work.c"), "-o", path, *options], check=True)
    return path


def table_of(path):
    names = subprocess.run(["riscv64-linux-gnu-nm", path], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in names.splitlines() if line.endswith(" table"))


def mix(x):
    return (x ^ x >> 7) * 31 & MASK


def truth(table):
    """What fill and sum of work.c do to the table, in order."""
    for turn in range(30):
        values = [mix(turn + i) for i in range(64)]
        yield from (("write", table + 8 * i, value) for i, value in enumerate(values))
        for _ in range(turn % 4 + 1):
            yield from (("read", table + 8 * i, value) for i, value in enumerate(values))


def accesses(trace, *options):
    rows = Run("decode", trace, "--show", "data", "--format", "jsonl", *options).rows()
    return [(row["name"], int(row["address"], 16), int(row["data"], 16)) for row in rows if row["data_size"] == 8]


@case("every load and store of an array: address, size, value, direction, order")
def _():
    path = program("-static")
    table = table_of(path)
    expected = list(truth(table))
    for name, options in (("all", ("--data",)), ("symbol", ("--data-range", "table")),
                          ("range", ("--data-range", f"{table:#x}-{table + 511:#x}")), ("btm", ("--data", "--mode", "btm"))):
        trace = os.path.join(scratch(), name + ".ntrace")
        Run("run", *options, "-o", trace, "--", path)
        found = [row for row in accesses(trace) if table <= row[1] < table + 512]
        if name in ("all", "btm"):  # the C library does not touch the table
            found = found[-len(expected):]
        equal(len(found), len(expected), f"{name}: accesses")
        equal(next((pair for pair in zip(found, expected) if pair[0] != pair[1]), None), None, name)


@case("loads and stores by symbol")
def _():
    path = program("-static")
    trace = os.path.join(scratch(), "all.ntrace")
    Run("run", "--data", "-o", trace, "--", path)
    expected = list(truth(table_of(path)))
    reads = sum(access == "read" for access, *_ in expected)
    rows = Run("profile", "--by", "data", "--format", "jsonl", trace).rows()
    row = next(row for row in rows if row.get("symbol") == "table")
    equal((row["loads"], row["stores"], row["bytes_loaded"], row["bytes_stored"]),
          (reads, len(expected) - reads, 8 * reads, 8 * (len(expected) - reads)), "table, which is in .bss")
    equal(sum(row["loads"] + row["stores"] for row in rows),
          len(Run("decode", trace, "--show", "data", "--format", "jsonl").rows()), "every access is in one row")


@case("the flow is the same with and without data")
def _():
    path = program("-static")
    pcs = []
    for name, options in (("with", ("--data",)), ("without", ())):
        trace = os.path.join(scratch(), name + ".ntrace")
        Run("run", *options, "-o", trace, "--", path)
        pcs.append([line for line in Run("decode", trace, "--show", "pc").lines()])
    equal(len(pcs[0]) > 40000, True, "instructions")
    tail = 30000  # start-up depends on the environment of the process
    equal(pcs[0][-tail:], pcs[1][-tail:], "program counters")


@case("several threads decode a trace with data as one does")
def _():
    trace = os.path.join(scratch(), "many.ntrace")
    Run("run", "--data", "--sync-mode", "messages", "--sync-max", "2", "-o", trace, "--", program("-static"))
    equal(Run("decode", trace, "-j", "4", "--show", "event").out, Run("decode", trace, "-j", "1", "--show", "event").out,
          "events")


@case("what cannot be filtered is refused")
def _():
    path = program("-pie")
    matches("expected FIRST-LAST", Run("run", "--data-range", "9-3", "-o", os.path.join(scratch(), "no"), "--", path,
                                       status=2).err, "range")
    matches("part of the execution", Run("run", "--data", "--start-at", "main", "-o", os.path.join(scratch(), "no"), "--", path,
                                         status=None).err, "window")


if __name__ == "__main__":
    main()
