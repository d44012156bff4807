#!/usr/bin/env python3
"""Random walks through a trace, forward and backward, against a model: the decoded list of instructions, with the
depth of the stack counted along it. Position, program counter, function, line and depth agree at each stop; where a walk
ends is predicted for all commands that do not depend on the line table.

usage: walks.py NTRACE FOLDER [WALKS]      FOLDER holds the programs that tests/gdb/build made
"""
import json
import os
import random
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import bundle, debuggers, program, server
from harness import NTRACE, case, check, main, scratch

WALKS, STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 12, 8
SEED = 20


class Model:
    def __init__(self, path):
        done = subprocess.run([NTRACE, "decode", "--show", "insn", "--format", "jsonl", path], capture_output=True,
                              text=True, check=True)
        self.pcs, self.symbols, self.depths = [], [], []
        stack = []
        before = None
        for line in done.stdout.splitlines():
            row = json.loads(line)
            if "opcode" not in row:
                continue
            pc = int(row["address"], 16)
            if before:
                self.follow(stack, before, pc)
            self.pcs.append(pc)
            self.symbols.append(row.get("symbol", "").partition("+")[0])
            self.depths.append(len(stack) + 1)
            before = row
        self.places = {}
        for index, pc in enumerate(self.pcs):
            self.places.setdefault(pc, []).append(index)

    @staticmethod
    def follow(stack, row, pc):
        """The call or return that leads to `pc`: by the instruction, with the return address it leaves."""
        address, opcode = int(row["address"], 16), int(row["opcode"], 16)
        short = opcode & 3 != 3
        behind = address + (2 if short else 4)
        link = opcode >> 7 & 31
        calls = (opcode & 0x7f in (0x6f, 0x67) and link == 1) or (short and opcode & 0xf07f == 0x9002 and opcode >> 7 & 31)
        if calls:
            stack.append(behind)
        elif pc in stack and opcode in (0x8082, 0x8067):
            while stack.pop() != pc:
                pass

    def following(self, index, pc):
        return next((i for i in self.places[pc] if i > index), len(self.pcs))

    def previous(self, index, pc):
        return next((i for i in reversed(self.places[pc]) if i < index), 0)


WALKER = r"""
import gdb, json, re

def state():
    frame, depth = gdb.newest_frame(), 0
    name, pc = frame.name(), frame.pc()
    line = frame.find_sal().line
    try:
        while frame:
            depth += 1
            frame = frame.older()
    except gdb.error: # GDB 13: "PC not saved" behind exit, a call at the end of a function
        depth = None
    when = gdb.execute("monitor when", to_string=True)
    return {"pc": pc, "name": name, "line": line, "depth": depth, "when": when}

out = open(OUT, "w")
for walk in json.load(open(WALKS)):
    for command in walk:
        problem = ""
        try:
            gdb.execute(command, to_string=True)
            if command.startswith("monitor goto"):
                gdb.execute("maintenance flush register-cache", to_string=True)
                gdb.execute("maintenance flush dcache", to_string=True)
        except gdb.error as e:
            problem = str(e)
        print(json.dumps({"command": command, "problem": problem, **state()}), file=out, flush=True)
"""


def make_walks(model):
    chance = random.Random(SEED)
    user = sorted({pc for pc, name in zip(model.pcs, model.symbols) if name in ("leaf", "middle", "fib", "compare", "main")})
    walks = []
    for _ in range(WALKS):
        walk = [f"monitor goto {chance.randrange(len(model.pcs))}"]
        for _ in range(STEPS):
            kind = chance.choice(["stepi", "reverse-stepi", "nexti", "step", "next", "reverse-step", "reverse-next", "finish",
                                  "reverse-finish", "until", "continue", "reverse-continue", "goto"])
            if kind in ("continue", "reverse-continue"):
                pc = chance.choice(user)
                walk += [f"hbreak *{pc:#x}" if chance.random() < 0.3 else f"break *{pc:#x}", kind, "delete"]
            elif kind == "goto":
                walk.append(f"monitor goto {chance.randrange(len(model.pcs))}")
            else:
                walk.append(kind)
        walks.append(walk)
    return walks


def lines_of(path, pcs):
    """The lines that a debugger may show for each address, of an independent reader of the line table: that of the last row,
    and that of the last row that begins a statement. No line: the code is in no line table."""
    done = subprocess.run(["riscv64-linux-gnu-objdump", "--dwarf=decodedline", path], capture_output=True, text=True, check=True)
    rows = []
    for line in done.stdout.splitlines():
        found = re.match(r"\S+\s+(\d+|-)\s+(0x[0-9a-f]+)(.*)$", line)
        if found:
            number = 0 if found.group(1) == "-" else int(found.group(1))
            rows.append((int(found.group(2), 16), number, "x" in found.group(3)))
    rows.sort(key=lambda row: row[0])
    lines = {}
    for pc in set(pcs):
        before = [row for row in rows if row[0] <= pc]
        if before and before[-1][1]:
            statements = [row for row in before if row[2]]
            lines[pc] = {before[-1][1], statements[-1][1] if statements else 0}
            lines[pc] |= {row[1] for row in before if row[0] == before[-1][0]}
    return lines


def walk_all(gdb, name):
    path = bundle(name)
    model = Model(path)
    given, out, driver = (os.path.join(scratch(), part) for part in ("walks.json", "states.jsonl", "walker.py"))
    with open(given, "w") as file:
        json.dump(make_walks(model), file)
    with open(driver, "w") as file:
        file.write(f"WALKS, OUT = {given!r}, {out!r}\n" + WALKER)
    done = subprocess.run([gdb, "-nx", "-q", "-batch", "-iex", "set osabi none", "-iex", "set trust-readonly-sections on",
                           "-iex", "set pagination off", "-iex", "set remotetimeout 60", program(name), "-ex", f"target remote {server(path)}", "-x", driver],
                          capture_output=True, text=True, timeout=1500, stdin=subprocess.DEVNULL)
    with open(out) as file:
        states = [json.loads(line) for line in file]
    wanted = sum(map(len, make_walks(model)))
    check(len(states) == wanted, f"{len(states)} of {wanted} stops: {done.stderr[-800:]}")
    return model, states


def predicted(model, state, at, target):
    """The position that a command leads to; None: not predicted."""
    command, end = state["command"], len(model.pcs)
    if command.startswith("monitor goto"):
        return int(command.split()[2])
    if command == "stepi":
        return min(at + 1, end)
    if command == "reverse-stepi":
        return max(at - 1, 0)
    if command == "continue":
        return model.following(at, target)
    if command == "reverse-continue":
        return model.previous(at, target)
    if command.startswith(("break", "hbreak", "delete")) or state["problem"]:
        return at
    return None


def compare(name, model, states):
    lines = lines_of(program(name), model.pcs)
    at, target = 0, None
    stops = 0
    for number, state in enumerate(states):
        history = " / ".join(s["command"] for s in states[max(0, number - 6):number + 1])
        found = int(re.search(r"instruction (\d+) of (\d+)", state["when"]).group(1))
        if "break" in state["command"]:
            target = int(state["command"].split("*")[1], 16)
        expected = predicted(model, state, at, target)
        check(expected is None or found == expected, f"{history}: from {at} expected {expected}, found {found}")
        if "reverse" in state["command"]:
            check(found <= at, f"{history}: from {at} forward to {found}")
        at = found
        if at == len(model.pcs):
            continue
        pc, stops = model.pcs[at], stops + 1
        check(state["pc"] == pc, f"{history}: at {at} expected {pc:#x}, found {state['pc']:#x}")
        check(state["name"] == model.symbols[at] or pc not in lines,
              f"{history}: at {at} expected {model.symbols[at]}, found {state['name']}")
        if pc in lines:
            check(state["line"] in lines[pc], f"{history}: at {at} expected line {lines[pc]}, found {state['line']}")
            check(state["depth"] == shown_depth(model, at), f"{history}: at {at} ({pc:#x}) expected depth "
                  f"{shown_depth(model, at)}, found {state['depth']}")
    return stops


def shown_depth(model, at):
    """A debugger ends a backtrace at main."""
    first = next(i for i, name in enumerate(model.symbols) if name == "main")
    return model.depths[at] - model.depths[first] + 1


@case(f"{WALKS} random walks")
def walks():
    for gdb in debuggers():
        model, states = walk_all(gdb, "calls")
        stops = compare("calls", model, states)
        check(stops > WALKS * STEPS * 3 // 4, f"only {stops} stops")


main()
