#!/usr/bin/env python3
"""Random programs of C and C++: line and function counts of a traced program are those of gcov. TAP.

usage: random_lines.py NTRACE [SEED [PROGRAMS]]

A program has a header, whose inline functions and templates both of its units use, and functions of random statements: loops of each
kind, break, continue and goto, early returns, conditions with calls, ?:, statements of several lines, and in C++ destructors,
exceptions, lambdas and templates. It is compiled with gcc -O0. Lines that only one side lists have no executable statement
(docs/coverage-rules.md, "Lines").
"""
import json
import os
import random
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
from random_source import HEADER, HEADER_CPP, Function, Further
from harness import NTRACE, check, folder, note

SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
PROGRAMS = int(sys.argv[3]) if len(sys.argv) > 3 else 1
FURTHER = 100000  # programs from this seed on have all kinds of statements
TOOLS = ("riscv64-linux-gnu-gcc", "riscv64-linux-gnu-g++", "riscv64-linux-gnu-gcov", "qemu-riscv64")

def program(seed, cpp):
    """{file name: text}"""
    pick = random.Random(seed)
    units = [[(Further if seed >= FURTHER else Function)(pick, f"u{unit}f{i}", cpp) for i in range(6)] for unit in range(2)]
    texts = {"shared.h": HEADER_CPP if cpp else HEADER}
    for unit, functions in enumerate(units):
        text = '#include "shared.h"\n' + "".join("\n".join(f.lines) + "\n" for f in functions)
        calls = [f"u{unit}f{i}(n)" for i in range(6)]
        calls = [f"try {{ s += {call}; }} catch (...) {{ s++; }}" if cpp else f"s += {call};" for call in calls]
        text += f"int unit{unit}(int n) {{\n    int s = 0;\n" + "".join(f"    {call}\n" for call in calls) + "    return s;\n}\n"
        texts[f"u{unit}" + (".cc" if cpp else ".c")] = text
    texts["u0" + (".cc" if cpp else ".c")] += """int unit1(int n);
int main(void) {
    int s = 0;
    for (int n = 0; n < 6; n++)
        s += unit0(n) + unit1(n);
    return s == 12345;
}
"""
    return texts


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)[:200]}: {done.returncode}: {done.stderr[-500:].decode(errors='replace')}")
    return done.stdout


def add(into, key, count):
    into[key] = into.get(key, 0) + count


def from_gcov(compiler, units, place):
    run(compiler, "-w", "-O0", "-g", "--coverage", "-static", *units, "-o", "counted", cwd=place)
    run("qemu-riscv64", "./counted", cwd=place)
    lines, functions = {}, {}
    data = sorted(name for name in os.listdir(place) if name.endswith(".gcda"))
    for name in data:
        for file in json.loads(run("riscv64-linux-gnu-gcov", "--json-format", "--stdout", name, cwd=place))["files"]:
            for line in file["lines"]:
                add(lines, (os.path.basename(file["file"]), line["line_number"]), line["count"])
            for function in file["functions"]:
                add(functions, function["name"], function["execution_count"])
    return lines, functions


def from_trace(compiler, units, place):
    run(compiler, "-w", "-O0", "-g", "-static", *units, "-o", "plain", cwd=place)
    run(NTRACE, "run", "-q", "-o", "plain.ntrace", "--", "./plain", cwd=place)
    lines, functions = {}, {}
    for file in json.loads(run(NTRACE, "coverage", "--to", "json", "--only", place, "plain.ntrace", cwd=place))["files"]:
        for line in file["lines"]:
            lines[os.path.basename(file["file"]), line["line"]] = line["count"] if line["known"] else "unknown"
        for function in file["functions"]:
            add(functions, function["linkage"], function["count"])
    return lines, functions


def may_stand_alone(text):
    """Whether only one side may list the line."""
    text = text.strip()
    head = re.match(r"^(static inline |inline |template <class T> )?[a-zA-Z].*\)\s*\{?$", text) is not None
    return head or text in ("{", "}", "};", "try {", "do {", "for (;;) {", "while (1) {") or re.match(r"(case .*|default|(again|skip)\d+):$", text) is not None


named = {}  # rule: number of lines


def has_scope(lines, at):
    """Whether the function has a destructor, a handler of exceptions, or a variable with references: gcc joins the ways out of it."""
    first = next(i for i in range(at, -1, -1) if lines[i].startswith("int "))
    last = next(i for i in range(first, len(lines)) if lines[i].startswith("}"))
    return re.search(r"auto |Guard|Numbers|Square|catch", "\n".join(lines[first:last])) is not None


def named_rule(lines, at, cpp, ours, theirs):
    """The rule of docs/coverage-rules.md by which the counts may differ, or None. `ours`: None if the line is not listed, "unknown" if
    it is and its count is not known."""
    line = lines[at].strip()
    jump = re.match(r"(continue|break|return s);$|(for \(;;\)|while \(1\)) \{$|if \(\+\+v\d+ > \d\)( break;)?$", line) is not None
    if ours in (None, "unknown") and (jump or ours is None and line.startswith("if (")):
        return "left out"
    if not isinstance(ours, int) or theirs is None:
        return None
    out = cpp and has_scope(lines, at) and (line in ("}", "} else {", "try {", "continue;", "break;", "return s;") or line.startswith("for ("))
    if (ours > 0) != (theirs > 0):
        return "ways out of a scope in C++" if out and theirs else None
    if line.startswith("switch"):
        return "switch"
    if re.match(r"(if \(.*\{|for \(int v\d+ = .*\{|leaf\(.*\);)$", line) and theirs > ours:
        return "jumps"
    if out or cpp and re.match(r"\} catch|Square |\} while", line):
        return "ways out of a scope in C++"
    return "ways out of a scope in C++" if cpp and re.match(r"return .*\(", line) and theirs == 2 * ours else None


def differences(seed, cpp):
    """Returns differences, and the number of lines compared."""
    place = folder()
    texts = program(seed, cpp)
    for name, text in texts.items():
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            file.write(text)
    compiler = "riscv64-linux-gnu-g++" if cpp else "riscv64-linux-gnu-gcc"
    units = [name for name in texts if not name.endswith(".h")]
    (ours, our_functions), (theirs, their_functions) = from_trace(compiler, units, place), from_gcov(compiler, units, place)
    found = [f"{name}: {our_functions.get(name)}, gcov {count}" for name, count in their_functions.items()
             if our_functions.get(name) != count]
    for name, number in sorted(set(ours) | set(theirs)):
        if name not in texts:
            continue
        line = texts[name].split("\n")[number - 1]
        our, their = ours.get((name, number)), theirs.get((name, number))
        if our == their or ((our is None or their is None) and may_stand_alone(line)):
            continue
        rule = named_rule(texts[name].split("\n"), number - 1, cpp, our, their)
        named[rule] = named.get(rule, 0) + 1
        if rule is None:
            found.append(f"seed {seed} {name}:{number}: {our}, gcov {their}: {line}")
    return found, sum(isinstance(ours[key], int) for key in set(ours) & set(theirs))


def compare(cpp):
    found, compared = [], 0
    named.clear()
    for seed in range(SEED, SEED + PROGRAMS):
        new, count = differences(seed, cpp)
        found += new
        compared += count
    note(f"{compared} lines, by named rules: {named}")
    note("\n".join(found[:40]))
    check(len(found) * 2000 <= compared, "more than 1 of 2,000 lines differ by no rule that has a name")
    left_out = named.pop("left out", 0)  # jumps that gcc has removed, or to which it leads both results of a condition
    check(left_out * 25 < compared, "too many jumps are not listed, or have no known count")
    check(compared > 100 * PROGRAMS and sum(named.values()) * 50 < compared, "too many lines differ by rules")


harness.case("C: lines and functions as gcov counts them", False)(compare)
harness.case("C++: lines and functions as gcov counts them", True)(compare)
harness.main(*TOOLS)
