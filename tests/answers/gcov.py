#!/usr/bin/env python3
"""Coverage of a traced, unmodified program against gcov's of an instrumented one. TAP on standard output.

usage: gcov.py NTRACE

The same source is built twice: with --coverage, run under plain QEMU, counted by gcov; and plain, run by
`ntrace run`. What is expected to differ, and why:
  * gcov puts a function's entry on the line of its name, DWARF on its opening brace; and a closing brace has
    code of its own: lines of only braces, and lines with a function's head, stand in one list only.
  * a case label has a count in gcov and no instruction in the binary.
  * gcov counts a switch by its cases; the binary has the compare instructions that the compiler made of it.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = ("riscv64-linux-gnu-gcc", "riscv64-linux-gnu-gcov", "qemu-riscv64")
CASES = [(source, level) for source in ("coverage.c",) for level in ("-O0",)]


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def from_gcov(source, level, folder):
    run("riscv64-linux-gnu-gcc", level, "-g", "--coverage", "-static", source, "-o", "counted", cwd=folder)
    run("qemu-riscv64", "./counted", cwd=folder)
    data = [name for name in os.listdir(folder) if name.endswith(".gcda")][0]
    lines, branches = {}, {}
    for file in json.loads(run("riscv64-linux-gnu-gcov", "--json-format", "--stdout", "-b", data, cwd=folder))["files"]:
        if not file["file"].endswith(source):
            continue
        for line in file["lines"]:
            number = line["line_number"]
            lines[number] = lines.get(number, 0) + line["count"]
            branches.setdefault(number, []).extend(branch["count"] for branch in line["branches"])
    return lines, branches


def from_trace(ntrace, source, level, folder):
    run("riscv64-linux-gnu-gcc", level, "-g", "-static", source, "-o", "plain", cwd=folder)
    run(ntrace, "run", "-o", "plain.ntrace", "--", "./plain", cwd=folder)
    lines, branches = {}, {}
    for file in json.loads(run(ntrace, "coverage", "--to", "json", "plain.ntrace", cwd=folder))["files"]:
        if not file["file"].endswith(source):
            continue
        for line in file["lines"]:
            lines[line["line"]] = line["count"]
            branches[line["line"]] = [b[way] for b in line.get("branches", []) for way in ("taken", "not_taken")]
    return lines, branches


def may_stand_alone(text):
    """Whether a line may be known to one side only."""
    head = re.match(r"^[a-z].*\)\s*\{?\s*$", text) is not None
    return head or text.strip() in ("{", "}") or re.match(r"\s*(case .*|default):\s*$", text) is not None


def compare(text, ours, theirs):
    """Complaints, and how many lines were compared."""
    (our_lines, our_branches), (their_lines, their_branches) = ours, theirs
    complaints, compared = [], 0
    for number in sorted(set(our_lines) | set(their_lines)):
        line = text[number - 1]
        if number not in our_lines or number not in their_lines:
            if not may_stand_alone(line):
                complaints.append(f"line {number} only {'here' if number in our_lines else 'in gcov'}: {line}")
            continue
        compared += 1
        if our_lines[number] != their_lines[number]:
            complaints.append(f"line {number}: {our_lines[number]}, gcov {their_lines[number]}: {line}")
        if "switch" not in line and sorted(our_branches[number]) != sorted(their_branches[number]):
            complaints.append(f"line {number}: branches {our_branches[number]}, gcov {their_branches[number]}: {line}")
    return complaints, compared


def main():
    ntrace = os.path.abspath(sys.argv[1])
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    print(f"1..{len(CASES) + 1}")
    if missing:
        for number in range(1, len(CASES) + 2):
            print(f"ok {number} # SKIP no {missing[0]}")
        return
    with tempfile.TemporaryDirectory() as folder:
        for number, (source, level) in enumerate(CASES, 1):
            shutil.copy(os.path.join(HERE, source), folder)
            text = open(os.path.join(folder, source), encoding="utf-8").read().split("\n")
            complaints, compared = compare(text, from_trace(ntrace, source, level, folder),
                                           from_gcov(source, level, folder))
            for complaint in complaints:
                print("#", complaint)
            good = not complaints and compared > 40
            print(f"{'ok' if good else 'not ok'} {number} - {source} {level}: {compared} lines as gcov counts them")
        genhtml(ntrace, folder, len(CASES) + 1)


def genhtml(ntrace, folder, number):
    if not shutil.which("genhtml"):
        print(f"ok {number} # SKIP no genhtml")
        return
    run(ntrace, "coverage", "--to", "lcov", "-o", "plain.info", "plain.ntrace", cwd=folder)
    done = subprocess.run(["genhtml", "--branch-coverage", "-o", "html", "plain.info"], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    good = done.returncode == 0 and "WARNING" not in done.stdout and "lines......: " in done.stdout
    print(f"{'ok' if good else 'not ok'} {number} - genhtml draws the tracefile without a warning")


main()
