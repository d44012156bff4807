#!/usr/bin/env python3
"""The command's formats of exports and coverage for a program of eight instructions and a stream of five messages: the numbers were counted
by hand, and the tools for which the formats are made say the same. golden/ has those that tests/unit/export/golden has not, byte for byte.

usage: golden.py NTRACE
"""
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET

sys.path.append(os.path.join(sys.path[0], ".."))
import cases
import perfetto
from harness import NTRACE, Run, case, check, equal, main, matches, need, scratch, skip

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
FORMATS = {"export": ("jsonl",), "coverage": ("gcovr-json", "sonarqube")}
MAIN, F = 0x1000, 0x1018
# Executions of each instruction; the address of each, and its line in program.s.
EXECUTED = {0x1000: 1, 0x1004: 3, 0x1008: 3, 0x100c: 3, 0x1010: 1, 0x1014: 1, 0x1018: 3, 0x101c: 3}
LINES = dict(zip(EXECUTED, (7, 9, 10, 11, 12, 13, 18, 19)))
TOTAL, OF_F, CALLS = sum(EXECUTED.values()), 6, 3


def trace():
    """The options that name the trace and its program; they are in the folder of the test."""
    folder = scratch()
    if not os.path.exists(os.path.join(folder, "stream.nex")):
        assembler, linker = need("riscv64-linux-gnu-as"), need("riscv64-linux-gnu-ld")
        for name in ("program.s", "stream.txt"):
            shutil.copy(os.path.join(HERE, name), folder)
        subprocess.run([assembler, "-g", "-march=rv64i", f"--debug-prefix-map={folder}=/golden", "-o", "program.o", "program.s"], cwd=folder,
                       check=True)
        subprocess.run([linker, "-Ttext=0x1000", "-e", "main", "-o", "program", "program.o"], cwd=folder, check=True)
        subprocess.run([NTRACE, "assemble", "-o", "stream.nex", "stream.txt"], cwd=folder, check=True)
    return ["--src-bits", "0", "-e", "program", "stream.nex"]


def answer(command, form):
    return Run(command, "--to", form, *trace(), cwd=scratch())


def tool(*command):
    done = subprocess.run([need(command[0]), *command[1:]], cwd=scratch(), capture_output=True, text=True)
    check(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def saved(command, form):
    path = os.path.join(scratch(), form)
    with open(path, "wb") as file:
        file.write(answer(command, form).bytes)
    return path


def golden(command, form):
    with open(os.path.join(HERE, form), encoding="utf-8") as file:
        equal(answer(command, form).out, file.read(), form)


for command, forms in FORMATS.items():
    for form in forms:
        case(f"{command} --to {form}", command, form)(golden)


@case("callgrind_annotate: main has all instructions, f those of its three calls; the total is counted once")
def callgrind():
    path = saved("export", "callgrind")
    for option, of_main in (("--inclusive=yes", TOTAL), ("--inclusive=no", TOTAL - OF_F)):
        out = tool("callgrind_annotate", option, path)
        matches(rf"(?m)^{TOTAL} \(100\.0%\) +PROGRAM TOTALS", out, "total")
        matches(rf"(?m)^ *{of_main} \([0-9.]+%\) +/golden/program\.s:main", out, f"main, {option}")
        matches(rf"(?m)^ *{OF_F} \([0-9.]+%\) +/golden/program\.s:f", out, f"f, {option}")


@case("lcov --summary: 8 of 8 lines, 2 of 2 functions, 3 of 4 branches")
def lcov():
    out = tool("lcov", "--rc", "lcov_branch_coverage=1", "--summary", saved("coverage", "lcov"))
    for what, found in (("lines", "8 of 8"), ("functions", "2 of 2"), ("branches", "3 of 4")):
        matches(rf"{what}\.*: [0-9.]+% \({found}", out, what)


@case("Cobertura: hits of each line, and which outcomes a branch had")
def cobertura():
    root = ET.fromstring(answer("coverage", "cobertura").out)
    lines = {int(line.get("number")): line for line in root.iterfind(".//class/lines/line")}
    equal({number: int(line.get("hits")) for number, line in lines.items()}, {LINES[at]: count for at, count in EXECUTED.items()}, "hits")
    equal({number: line.get("condition-coverage") for number, line in lines.items() if line.get("branch") == "true"},
          {11: "100% (2/2)", 12: "50% (1/2)"}, "branches")
    equal([root.get(name) for name in ("lines-valid", "lines-covered", "branches-valid", "branches-covered")], ["8", "8", "4", "3"], "sums")


@case("drcov: the blocks that were executed, once each")
def drcov():
    data = answer("export", "drcov").bytes
    head, blocks = data.split(b" bbs\n")
    equal(int(head.rsplit(b" ", 1)[1]), 6, "number of blocks")
    equal(sorted(struct.iter_unpack("<IHH", blocks)), [(0x1000, 8, 0), (0x1004, 4, 0), (0x1008, 8, 0), (0x1010, 4, 0), (0x1014, 4, 0),
                                                       (0x1018, 8, 0)], "blocks")


@case("timelines of the unit tests: each consumer's reader sees main with three calls of work, 20 ticks each")
def timelines():
    folder = os.path.join(os.path.dirname(HERE), "..", "unit", "export", "golden")
    calls = [("main", 1000, 1130, 0), *(("work", at, at + 20, 1) for at in (1010, 1050, 1090))]
    with open(os.path.join(folder, "perfetto.pftrace"), "rb") as file:
        equal({track: [tuple(one) for one in slices] for track, slices in perfetto.tracks(file.read()).items() if slices},
              {("demo", "hart 0 functions"): calls}, "Perfetto")
    found, open_calls = [], []
    with open(os.path.join(folder, "chrome.json"), encoding="utf-8") as file:
        for event in json.load(file)["traceEvents"]:
            at = round(event.get("ts", 0) * 1000)
            if event["ph"] == "B":
                open_calls.append((event["name"], at))
            elif event["ph"] == "E":
                found.append((*open_calls.pop(), at, len(open_calls)))
    equal((sorted(found, key=lambda call: call[1]), open_calls), (calls, []), "Chrome")
    with open(os.path.join(folder, "firefox.json"), encoding="utf-8") as file:
        thread, = json.load(file)["threads"]
    own = [0] * thread["funcTable"]["length"]
    for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
        own[thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]] += round(weight * 1e6)
    equal({thread["stringArray"][name]: ticks for name, ticks in zip(thread["funcTable"]["name"], own)}, {"main": 70, "work": 60}, "Firefox")


@case("SQLite: functions, calls, edges and instructions")
def sqlite():
    if "sqlite" not in Run("export", "--to", "list").out:
        skip("build-sqlite")
    path = os.path.join(scratch(), "answer.db")
    Run("export", "--to", "sqlite", "-o", path, *trace(), cwd=scratch())
    db = sqlite3.connect(path)
    equal(db.execute("select name, address, line, calls, self, total from functions order by id").fetchall(),
          [("main", MAIN, 7, 1, TOTAL - OF_F, TOTAL), ("f", F, 18, CALLS, OF_F, OF_F)], "functions")
    equal(db.execute("select site, count, inclusive from calls").fetchall(), [(0x1004, CALLS, OF_F)], "calls")
    equal(dict(db.execute("select address, executed from instructions")), EXECUTED, "instructions")
    equal(dict(db.execute("select address, line from instructions")), LINES, "lines")
    equal(db.execute("select taken, not_taken from instructions where address in (?, ?)", (0x100c, 0x1010)).fetchall(), [(2, 1), (0, 1)],
          "branches")
    equal(sorted(db.execute("select address, last, target, count from edges where end in ('call', 'return', 'taken')")),
          [(0x1000, 0x1004, F, 1), (0x1004, 0x1004, F, 2), (0x1008, 0x100c, 0x1004, 2), (F, 0x101c, 0x1008, 3)], "edges")


# ---- the files that the unit tests of exporters compare: tests/unit/export/world.h has the program

UNIT = os.path.join(HERE, "..", "..", "unit", "export", "golden")
UNIT_LINES = {"main.c": {11: 1, 12: 3, 13: 3, 14: 1, 15: 1},
              "work.c": {21: 3, 22: 3, 23: 0, 24: 3, 31: 0, 32: 0, 33: 0, 34: 0}}
OF_MAIN, OF_WORK = 12, 9


@case("unit tests' callgrind.out: callgrind_annotate has own and inclusive costs")
def unit_callgrind():
    for option, of_main in (("yes", OF_MAIN + OF_WORK), ("no", OF_MAIN)):
        out = tool("callgrind_annotate", f"--inclusive={option}", "--threshold=100", os.path.join(UNIT, "callgrind.out"))
        matches(rf"(?m)^{OF_MAIN + OF_WORK} \(100\.0%\) +PROGRAM TOTALS", out, "total")
        found = {name: int(count) for count, name in re.findall(r"(?m)^ *(\d+) \([^)]*\) +\S*:(\w+) \[demo\]", out)}
        equal(found, {"main": of_main, "work": OF_WORK}, f"--inclusive={option}")


@case("unit tests' lcov.info: genhtml draws each line with its count, without a warning")
def unit_lcov():
    place = os.path.join(scratch(), "unit")
    for name, lines in UNIT_LINES.items():
        path = os.path.join(place, "lib" if name == "work.c" else "", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"line {number}\n" for number in range(1, max(lines) + 1))
    with open(os.path.join(UNIT, "lcov.info"), encoding="ascii") as file, open(os.path.join(place, "info"), "w", encoding="ascii") as out:
        out.write(file.read().replace("SF:/src", "SF:" + place))
    text = tool("genhtml", "--branch-coverage", "-o", os.path.join(place, "html"), os.path.join(place, "info"))
    check(not cases.warnings_of_genhtml(text), text)
    for what, found in (("lines", "8 of 13"), ("functions", "2 of 3"), ("branches", "3 of 6")):
        matches(rf"{what}\.*: [0-9.]+% \({found}", text, what)
    for name, lines in UNIT_LINES.items():
        path = next(os.path.join(at, name + ".gcov.html") for at, _, files in os.walk(os.path.join(place, "html")) if name + ".gcov.html" in files)
        with open(path, encoding="utf-8") as file:
            page = re.sub(r"<[^>]*>", "", file.read())
        for number, count in lines.items():
            matches(rf"(?m)^ *{number} .*: +{count} : line {number}$", page, f"line {number} of {name}")


@case("unit tests' cobertura.xml: valid by the DTD; its sums are those of its lines")
def unit_cobertura():
    path = os.path.join(UNIT, "cobertura.xml")
    tool("xmllint", "--noout", "--nonet", "--dtdvalid", os.path.join(HERE, "cobertura.dtd"), path)
    root = ET.parse(path).getroot()
    found = {each.get("name"): {int(line.get("number")): int(line.get("hits")) for line in each.iterfind("lines/line")} for each in root.iter("class")}
    equal(found, UNIT_LINES, "hits")
    for part in (root, *root.iter("package"), *root.iter("class")):
        lines = list(part.iterfind("lines/line" if part.tag == "class" else ".//class/lines/line"))
        outcomes = [re.search(r"\((\d+)/(\d+)\)", line.get("condition-coverage")).groups() for line in lines if line.get("branch") == "true"]
        hit, both = (sum(int(each[i]) for each in outcomes) for i in range(2))
        equal(part.get("line-rate"), f"{sum(line.get('hits') != '0' for line in lines) / len(lines):.4f}", "line-rate")
        equal(part.get("branch-rate"), f"{hit / both if both else 1:.4f}", "branch-rate")


@case("unit tests' calls.dot: dot draws one arrow of three calls")
def unit_dot():
    out = tool("dot", "-Tplain", os.path.join(UNIT, "calls.dot"))
    names = dict(re.findall(r"(?m)^node (\w+) .*? (main|work) ", out))
    edges = re.findall(r"(?m)^edge (\w+) (\w+) .* (\d+) [\d.]+ [\d.]+ solid", out)
    equal([(names[a], names[b], calls) for a, b, calls in edges], [("main", "work", "3")], "edges")


main()
