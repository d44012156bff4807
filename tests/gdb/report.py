#!/usr/bin/env python3
"""Places that the report shows, given to `monitor goto`: the expression that its page displays, computed by the page's own code."""
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import Session, bundle, damaged, program
from harness import NTRACE, Run, case, check, equal, main, matches, need, scratch

FUNCTIONS = ("leaf", "middle", "fib", "compare", "main")
NAME, FIRST, MESSAGE, TO, RESUMES = 2, 1, 3, 2, 6


def report(path, status=0):
    """The page's text, and its data."""
    page = os.path.join(scratch(), "report.html")
    done = subprocess.run([NTRACE, "report", "-o", page, path], capture_output=True, text=True)
    equal(done.returncode, status, f"status of report: {done.stderr}")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    return text, json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.S).group(1))


def points(text, data, slices):
    """What the page shows for the slices: its function gotoPoint."""
    node = need("node")
    function = re.search(r"function gotoPoint\(s\) \{.*?\n\}", text, re.S).group(0)
    code = (f"const data = {json.dumps({'timeline': {k: data['timeline'][k] for k in ('timed', 'base')}})};\n{function}\n"
            f"for (const begin of {json.dumps([s[0] for s in slices])}) console.log(gotoPoint({{ begin }}));")
    return subprocess.run([node, "-e", code], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


def slices_of(data):
    """Slices of the program's functions, with the name of each: of each function the first, the last and some between."""
    names = data["timeline"]["names"]
    track = next(t for t in data["timeline"]["tracks"] if t["kind"] == "functions")
    chosen = []
    for name in FUNCTIONS:
        own = [s for s in track["slices"] if s[NAME] and names[s[NAME] - 1] == name]
        check(own, f"no slice of {name}")
        chosen += [(s, name) for s in [own[0], own[-1], *own[1:-1:max(len(own) // 6, 1)]]]
    return chosen


@case("a slice of the timeline of a trace without timestamps: the first instruction of its function")
def slices():
    text, data = report(bundle("calls"))
    chosen = slices_of(data)
    s = Session(bundle("calls"))
    pcs = [int(line, 16) for line in Run("decode", "--show", "pc", bundle("calls")).lines()]
    for (place, name), point in zip(chosen, points(text, data, [c[0] for c in chosen])):
        answer = s.monitor(point)
        matches(rf"instruction \d+ at 0x[0-9a-f]+ <{name}\+0>", answer, f"{point}, a slice of {name}")
        equal(s.pc(), pcs[int(point.split()[1])], point)
        check(place[0] == int(point.split()[1]), point)
    equal(s.close(), 0, "status")


def entry_of(name):
    out = subprocess.run(["riscv64-linux-gnu-nm", program("calls")], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"^([0-9a-f]+) \w {name}$", out, re.M).group(1), 16)


@case("a slice of the timeline of a trace with timestamps: its function is entered at that time")
def times():
    path = bundle("calls", "--timestamps")
    text, data = report(path)
    check(data["timeline"]["timed"], "the timeline has times")
    chosen = slices_of(data)
    s = Session(path)
    for (_, name), point in zip(chosen, points(text, data, [c[0] for c in chosen])):
        s.monitor(point)
        if f"<{name}+0>" not in s.monitor("when"): # the message of that time reports instructions before it, too
            s.ask(f"Z1,{entry_of(name):x},2")
            s.ask("vCont;c")
            s.ask(f"z1,{entry_of(name):x},2")
            entered = s.monitor("when")
            s.ask("bs")
            matches(rf"<{name}\+0>", entered, f"{point}, a slice of {name}")
            matches(rf"time {point.split()[1]}\n", entered + s.monitor("when"), f"the time of {name} or of its call")
    equal(s.close(), 0, "status")


@case("the table of gaps: its messages and offsets lead to what is known in front of the gap, and behind it")
def gaps():
    _, data = report(damaged(), status=1)
    rows = data["gaps"]["rows"]
    check(rows, "no gap in the report")
    s = Session(damaged())
    for row in rows:
        behind = int(re.search("0x[0-9a-f]+", row[RESUMES]).group(0), 16)
        for point in (f"goto #{row[MESSAGE]}", f"goto @{row[FIRST]:#x}"):
            s.monitor(point)
            if s.pc() == behind: # the message reports nothing in front of the gap
                continue
            matches(rf"message #{row[MESSAGE]} at byte @{row[FIRST]:#x}$", s.monitor("when"), point)
            s.monitor("next-gap")
            equal(s.pc(), behind, f"{point}, next-gap")
        s.monitor(f"goto @{row[TO]:#x}")
        equal(s.pc(), behind, "the end of the gap")
    equal(s.close(), 0, "status")


main()
