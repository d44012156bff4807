#!/usr/bin/env python3
"""Interrupt statistics compared with a known schedule: the execution is made here, record by record with its
time, encoded, and the statistics are compared with a count of their own.

usage: interrupts.py NTRACE
"""
import collections
import json
import math
import os
import random
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
from harness import NTRACE, case, need, note

LOOP, QUICK, SLOW, VECTOR, FAULT = 0x1000, 0x2000, 0x2100, 0x3000, 0x2200
NOP, MRET = b"\x01\x00", b"\x73\x00\x20\x30"
BNEZ_BACK_2 = b"\x7d\xfd"  # c.bnez a0, -2
J_BACK_16 = b"\xc5\xbf"    # c.j -16


NAMES = {LOOP: "loop", QUICK: "quick", SLOW: "slow", VECTOR: "vector", FAULT: "fault"}
# Where control went first, and what handles it.
HANDLERS = {QUICK: ("quick", "quick"), SLOW: ("slow", "slow"), VECTOR: ("vector", "quick"), FAULT: ("fault", "fault")}


def jal_x0(offset):
    bits = offset & 0x1FFFFF
    return ((bits >> 20 & 1) << 31 | (bits >> 1 & 0x3FF) << 21 | (bits >> 11 & 1) << 20 | (bits >> 12 & 0xFF) << 12
            | 0x6F).to_bytes(4, "little")


ITYPE = {"none": 0, "exception": 1, "interrupt": 2, "return": 3, "not taken": 4, "taken": 5, "jump": 15}
IMAGES = {
    LOOP: NOP * 8 + J_BACK_16,
    QUICK: NOP * 3 + MRET,
    SLOW: NOP * 2 + BNEZ_BACK_2 + MRET,
    FAULT: NOP + MRET,
    VECTOR: jal_x0(QUICK - VECTOR),
}


class Hart:
    """Makes an execution; `traps` has, for each handler, the expected statistics.

    A message carries the time of the block that caused it: the first one, a trap, a trap return, and in branch trace
    a taken branch.
    """

    def __init__(self, seed, branch_trace):
        self.random, self.branch_trace = random.Random(seed), branch_trace
        self.time, self.records, self.retired, self.running = 0, [], 0, 0
        self.last_time, self.last_trap = None, None  # time of the last message; the trap that it reported
        self.traps = collections.defaultdict(lambda: collections.defaultdict(list))

    def message(self, trap=None):
        if self.last_trap is not None:
            self.last_trap["after"].append(self.time - self.last_time)
        if trap is not None:
            trap["before"].append(self.time - self.last_time)
        self.last_time, self.last_trap = self.time, trap

    def block(self, address, halfwords, instructions, end, lastsize=0):
        self.time += self.random.choice((1, 2, 3, 5, 40))
        self.retired += instructions
        self.records.append(f"1,{address:#x},{halfwords},{lastsize},{ITYPE[end]},3,{self.time}")
        if len(self.records) == 1 or end == "return" or end == "taken" and self.branch_trace:
            self.message()

    def enter(self, handler, end, at):
        found = self.traps[(end, handler)]
        found["nested"].append(self.running > 0)
        self.records.append(f"1,{at:#x},0,0,{ITYPE[end]},3,{self.time}")
        self.message(found)
        return found

    def trap(self, handler, end, at):
        """Instead of the instruction at `at`."""
        found = self.enter(handler, end, at)
        self.running += 1
        since, retired = self.time, self.retired
        self.handler(handler)
        found["ticks"].append(self.time - since)
        found["instructions"].append(self.retired - retired)
        self.running -= 1

    def handler(self, address):
        if address == VECTOR:
            self.block(VECTOR, 2, 1, "jump", 1)
            address = QUICK
        if address == QUICK:
            self.block(QUICK, 5, 4, "return", 1)
        elif address == FAULT:
            self.block(FAULT, 3, 2, "return", 1)
        else:
            self.slow()

    def slow(self):
        turns = self.random.randrange(0, 25)
        start, halfwords = SLOW, 3
        for turn in range(turns + 1):
            self.block(start, halfwords, halfwords, "taken" if turn < turns else "not taken")
            start, halfwords = SLOW + 2, 2
            if turn == 5 < turns and self.running < 3:
                self.trap(VECTOR, "interrupt", SLOW + 2)
        self.block(SLOW + 6, 2, 1, "return", 1)

    def run(self, turns):
        for _ in range(turns):
            self.block(LOOP, 9, 9, "jump")
            chance = self.random.random()
            if chance < 0.2:
                self.trap(self.random.choice((VECTOR, SLOW, QUICK)), "interrupt", LOOP)
            elif chance < 0.25:
                self.time += 7
                self.trap(FAULT, "exception", LOOP)
        self.block(LOOP, 9, 9, "jump")
        self.enter(SLOW, "interrupt", LOOP)["unfinished"].append(True)
        self.block(SLOW, 2, 2, "none")
        self.message()
        return "cycle,iaddr,iretire,ilastsize,itype,priv,time\n" + "\n".join(self.records) + "\n"


def ordered(values, percent):
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


def check_spread(name, spread, values, places):
    if not values:
        assert spread is None, f"{name}: {spread}"
        return
    assert spread["count"] == len(values), f"{name}: {spread['count']} instead of {len(values)}"
    assert (spread["min"], spread["max"]) == (min(values), max(values)), f"{name}: {spread} {min(values)} {max(values)}"
    assert abs(spread["mean"] - sum(values) / len(values)) < 0.001, name
    for key, percent in (("median", 50), ("p99", 99)):
        exact = ordered(values, percent)
        assert exact <= spread[key] <= exact + exact // 32, f"{name} {key}: {spread[key]} instead of {exact}"
        places.append(exact < 64 and spread[key] == exact)
    octaves = collections.Counter(max(value.bit_length() - 1, 0) for value in values)
    assert {(h["from"].bit_length() - 1 if h["from"] else 0): h["count"] for h in spread["histogram"]} == octaves, name


def link(folder):
    """The images as a program with names."""
    source = "".join(f".section .{name},\"ax\"\n.globl {name}\n.type {name}, @function\n{name}: .incbin \"{address:x}\"\n"
                     f".size {name}, . - {name}\n" for address, name in NAMES.items())
    subprocess.run(["riscv64-linux-gnu-as", "-march=rv64gc", "-o", "t.o", "-"], input=source, text=True, cwd=folder,
                   check=True)
    places = [f"--section-start=.{name}={address:#x}" for address, name in NAMES.items()]
    subprocess.run(["riscv64-linux-gnu-ld", "-o", "t.elf", "-e", "loop", *places, "t.o"],
                   cwd=folder, check=True)
    return ["-e", "t.elf"]


def judge(seed, timed, options):
    folder = harness.folder()
    named = options[:1] == ["named"]
    options = options[named:]
    hart, files = Hart(seed, "btm" in options), []
    with open(os.path.join(folder, "ingress"), "w", encoding="ascii") as out:
        out.write(hart.run(400))
    for address, code in IMAGES.items():
        with open(os.path.join(folder, f"{address:x}"), "wb") as out:
            out.write(code)
        files += ["--raw", f"{address:x}@{address:#x}"]
    if named:
        need("riscv64-linux-gnu-ld")
        files = link(folder)

    def run(*command):
        done = subprocess.run([NTRACE, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, f"{command[0]}: {done.returncode}: {done.stderr[-300:]}"
        return done.stdout

    run("encode", "--ingress", "ingress", *files, *options, *["--timestamps"] * timed, "-o", "t.nex")
    reading = ["t.nex", *files, "--timestamps" if timed else "--no-timestamps"]
    last_time = json.loads(run("timeline", "--to", "json", *reading))
    seen = {(h["kind"], int(h["address"], 16)): h for h in last_time["handlers"]}
    assert seen.keys() == hart.traps.keys(), f"handlers {seen.keys()} instead of {hart.traps.keys()}"
    exact = []
    for key, expected in hart.traps.items():
        name = f"{key[0]} {key[1]:#x}"
        assert seen[key]["count"] == len(expected["nested"]), name
        assert seen[key]["nested"] == sum(expected["nested"]), f"{name}: nested"
        assert seen[key]["unfinished"] == len(expected["unfinished"]), f"{name}: unfinished"
        names = HANDLERS[key[1]] if named else ("[unknown]", "[unknown]")
        assert (seen[key]["function"], seen[key]["handler"]) == names, name
        for spread in ("instructions", "ticks", "before", "after"):
            values = expected[spread] if timed or spread == "instructions" else []
            check_spread(f"{name} {spread}", seen[key].get(spread), values, exact)
    assert any(exact)
    text = run("timeline", "--to", "summary", *reading)
    total = sum(len(expected["nested"]) for expected in hart.traps.values())
    assert text.startswith(f"{total} traps, {len(seen)} handlers\n"), text[:60]
    note(f"{total} traps, {len(seen)} handlers")


for each in [(1, True, []), (2, True, []), (3, True, ["--mode", "btm"]), (4, False, []), (5, True, ["named"])]:
    case(f"schedule {each[0]}, {'timed' if each[1] else 'not timed'} {' '.join(each[2])}", *each)(judge)
harness.main()
