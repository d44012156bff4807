#!/usr/bin/env python3
"""Signals inside of decisions: vectors, branches and lines are those of the source, with each compiler, at any instruction. TAP.

usage: signals.py NTRACE

A fault of a load in a condition jumps out of it (siglongjmp), a handler skips `ebreak`, and timers interrupt several threads; the
truth is computed here. Each program also runs with a block of QEMU for each instruction, so that a signal can follow any of them.
"""
import collections
import json
import os
import shutil
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import gcov_truth as truth
from harness import NTRACE, case, equal, folder, main, need

HERE = os.path.dirname(os.path.abspath(__file__))
CLANG = ("--target=riscv64-linux-gnu", "-mno-relax", "-fuse-ld=lld-19")
COMPILERS = {"gcc": ("riscv64-linux-gnu-gcc", "threads.c"), "g++": ("riscv64-linux-gnu-g++", "threads.cc"),
             "clang": ("clang-19", "threads.c", *CLANG), "clang++": ("clang++-19", "threads.cc", *CLANG)}
WAYS = {"blocks": {}, "single instructions": {"QEMU_SINGLESTEP": "1", "QEMU_ONE_INSN_PER_TB": "1"}}


def expected():
    """The vectors of `load`, `stop` and `step`, in the order of their lines."""
    load, stop, again = collections.Counter(), collections.Counter(), collections.Counter()
    for i in range(400):
        if i & 1:
            load["T-"] += 1
        elif not i & 2:
            load["FT"] += 1
    for i in range(400):
        a, b, c = i & 1, i >> 1 & 1, i >> 2 & 1
        stop["F--" if not a else "TF-" if not b else "TT" + "FT"[c]] += 1
        again["F-" if not b else "T" + "FT"[a]] += 1
        again["F-"] += a & b  # once more, with b = 0
    return [dict(load), dict(stop), dict(again), *stepped(120000)]


def stepped(count):
    """Those of `step`."""
    return [{"F--": count // 2, "TFF": count // 4, "TFT": count // 4}, {"FF": count // 2, "T-": count // 2}]


def compare(way, command, source, vectors, lines):
    """`source`: its folder and name. `lines`: {a part of its text: count}"""
    place, name = source
    truth.run(NTRACE, "run", "-q", "--data", "-o", "t.ntrace", "--", command, cwd=place, env={**os.environ, **WAYS[way]})
    document = json.loads(truth.run(NTRACE, "coverage", "--level", "mcdc", "--format", "json", "--only", name, "t.ntrace", cwd=place))
    decisions = sorted((d for d in document["decisions"]), key=lambda d: d["line"])
    equal([{"".join(v["values"]): v["count"] for v in d["vectors"]} for d in decisions], vectors, "vectors")
    found = json.loads(truth.run(NTRACE, "coverage", "--to", "json", "--only", name, "t.ntrace", cwd=place))["files"][0]["lines"]
    with open(os.path.join(place, name), encoding="utf-8") as text:
        numbers = {part: n for n, line in enumerate(text, 1) for part in lines if part in line}
    counts = {line["line"]: line["count"] for line in found}
    equal({part: counts[n] for part, n in numbers.items()}, lines, "lines")


for each in COMPILERS:
    for each_way in WAYS:
        @case(f"{each}, {each_way}: faults, traps and timers of threads", each, each_way)
        def threads(name, way):
            compiler, source, *options = COMPILERS[name]
            need(compiler)
            place = folder()
            shutil.copy(os.path.join(HERE, "signals", "threads.c"), os.path.join(place, source))
            truth.run(compiler, *options, "-g", "-O0", "-w", "-static", "-pthread", source, "-o", "t", cwd=place)
            compare(way, "./t", (place, source), expected(), {"i & 1 || *": 400, "a && trap": 400, "while (trap": 500, "a && (b ||": 120000, "!a || b": 120000})


for each_way in WAYS:
    @case(f"RV32, {each_way}: a timer", each_way)
    def rv32(way):
        place = folder()
        shutil.copy(os.path.join(HERE, "signals", "rv32.c"), place)
        truth.run(need("riscv64-linux-gnu-gcc"), "-march=rv32gc", "-mabi=ilp32d", "-g", "-O0", "-nostdlib", "-ffreestanding", "-static", "rv32.c", "-o", "t", cwd=place)
        compare(way, "./t", (place, "rv32.c"), stepped(200000), {"a && (b ||": 200000, "!a || b": 200000})


main("riscv64-linux-gnu-gcc", "qemu-riscv64", "qemu-riscv32")
