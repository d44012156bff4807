#!/usr/bin/env python3
"""An address means what was there when it was executed: programs that replace themselves (execve), in every consumer of names,
lines and counts. The truth is how often the source calls each function.

usage: places.py NTRACE
"""
import json
import os
import re
import sqlite3
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import user_qemu  # may change PATH
from harness import Run, case, check, equal, main, need, scratch

FIRST = """#include <unistd.h>
__attribute__((noinline)) int work_a(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(int argc, char **argv) { work_a(10); if (argc > 1) execv(argv[1], argv + 1); return 3; }
"""
SECOND = """static __attribute__((noinline)) int helper(int n) { if (n > 5) return n - 1; return n; }
__attribute__((noinline)) int work_b(int n) { int s = 0; while (n-- > 0) { s += helper(n); } return s; }
int main(void) { return work_b(20) == 0; }
"""
FILES = {"a": FIRST, "b": SECOND}


def compiled():
    gcc, folder = need("riscv64-linux-gnu-gcc"), scratch()
    need("qemu-riscv64")
    if not os.path.exists(os.path.join(folder, "a")):
        for name, text in FILES.items():
            with open(os.path.join(folder, f"{name}.c"), "w", encoding="ascii") as file:
                file.write(text)
            for out, flags in (name, ["-static"]), (name + "_dynamic", []):
                subprocess.run([gcc, "-g", "-O0", *flags, f"{name}.c", "-o", out], cwd=folder, check=True)
    return folder


def recorded(bundle, *command, status=0):
    folder = compiled()
    Run("run", *user_qemu.for_ntrace(user_qemu.repeatable()), "-q", "-o", bundle, "--", *command, cwd=folder, status=status)
    return os.path.join(folder, bundle)


# ---- what each consumer says about how often functions of these names were called


def by_profile(bundle, wanted, *options):
    rows = Run("profile", bundle, "--format", "jsonl", *options).rows()
    return {row["function"]: row["calls"] for row in rows if wanted(row.get("function") or "")}


def by_tree(bundle, wanted):
    calls = {}
    for row in Run("export", "--to", "calltree", bundle).rows():
        if wanted(row.get("function") or ""):
            calls[row["function"]] = calls.get(row["function"], 0) + row["calls"]
    return calls


def by_partial(bundle, wanted):
    part = bundle + ".part"
    Run("profile", bundle, "--partial", part)
    rows = Run("combine", part, "profile", "--format", "jsonl").rows()
    return {row["function"]: row["calls"] for row in rows if wanted(row.get("function") or "")}


def by_lcov(bundle, wanted):
    found = re.findall(r"(?m)^FNDA:(\d+),(.*)$", Run("coverage", "--to", "lcov", bundle).out)
    return {name: int(count) for count, name in found if wanted(name) and int(count)}


def by_json(bundle, wanted):
    """By coverage --to json; the lines of Cobertura's XML are the same."""
    files = json.loads(Run("coverage", "--to", "json", bundle).out)["files"]
    text = Run("coverage", "--to", "cobertura", bundle).out
    for name, body in re.findall(r'(?s)<class [^>]*filename="([^"]*)"[^>]*>(.*?)</class>', text):
        lines = next(f["lines"] for f in files if f["file"].endswith(name))
        hits = {int(number): int(count) for number, count in re.findall(r'<line number="(\d+)" hits="(\d+)"', body)}
        equal(hits, {line["line"]: line["count"] for line in lines}, f"Cobertura: lines of {name}")
    return {f["name"]: f["count"] for file in files for f in file["functions"] if wanted(f["name"]) and f["count"]}


def by_sqlite(bundle, wanted):
    """By the call tree, and by the first instruction of each function."""
    path = bundle + ".db"
    Run("export", "--to", "sqlite", "-o", path, bundle)
    with sqlite3.connect(path) as db:
        calls = {name: count for name, count in db.execute("SELECT name, calls FROM functions") if wanted(name) and count}
        entries = {}
        for name, count in db.execute("SELECT f.name, i.executed FROM functions f JOIN instructions i ON i.function = f.id AND i.address = f.address"):
            if wanted(name):
                entries[name] = entries.get(name, 0) + count
    equal(entries, calls, "SQLite: executions of the first instruction, and calls")
    return calls


def by_callgrind(bundle, wanted):
    calls, names, callee = {}, {}, ""
    for line in Run("export", "--to", "callgrind", bundle).lines():
        if match := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
            callee = names[match[1]] = match[2] or names[match[1]]
        elif (match := re.match(r"calls=(\d+)", line)) and wanted(callee):
            calls[callee] = calls.get(callee, 0) + int(match[1])
    return calls


def by_events(bundle, wanted, *options):
    """Calls in the text of `decode`, by the name at their target."""
    calls = {}
    for name in re.findall(r"\bcall -> 0x[0-9a-f]+ <([^>+]+)>", Run("decode", bundle, *options).out):
        if wanted(name):
            calls[name] = calls.get(name, 0) + 1
    return calls


def by_instructions(bundle, wanted):
    """First instructions of functions in `decode --output insn`."""
    calls = {}
    for name in re.findall(r"(?m)  <([^>+]+)>", Run("decode", bundle, "--output", "insn").out):
        if wanted(name):
            calls[name] = calls.get(name, 0) + 1
    return calls


CONSUMERS = {
    "profile": by_profile,
    "profile -j 2": lambda b, w: by_profile(b, w, "-j", "2"),
    "calltree": by_tree,
    "partial answer": by_partial,
    "lcov": by_lcov,
    "coverage --to json": by_json,
    "sqlite": by_sqlite,
    "callgrind": by_callgrind,
    "decode": by_events,
    "decode --output call": lambda b, w: by_events(b, w, "--output", "call"),
    "decode --output insn": by_instructions,
}


def compare(bundle, truth, wanted=None, without=()):
    """Every consumer says that each function was called as often as the source says."""
    wanted = wanted or truth.__contains__
    for name, consumer in CONSUMERS.items():
        if name not in without:
            equal(consumer(bundle, wanted), truth, f"{os.path.basename(bundle)}: {name}")
    lines = Run("profile", "--by", "line", bundle, "--format", "jsonl").rows()
    folded = re.findall(r"(?m)^(\S.*) (\d+)$", Run("flame", "--to", "folded", bundle).out)
    own = {row["function"]: row["self"] for row in Run("profile", bundle, "--format", "jsonl").rows() if wanted(row.get("function") or "")}
    for function, instructions in own.items():
        equal(sum(row["self"] for row in lines if row["function"] == function), instructions, f"lines of {function}")
        equal(sum(int(count) for stack, count in folded if stack.split(";")[-1] == function), instructions, f"flame graph of {function}")


# ---- execve


@case("a static program executes another one at the same addresses")
def another():
    compare(recorded("ab.ntrace", "./a", "./b"), {"work_a": 1, "work_b": 1, "helper": 20})


@case("a static program executes itself")
def itself():
    bundle = recorded("aa.ntrace", "./a", "./a", status=3)
    compare(bundle, {"work_a": 2})
    text = Run("coverage", "--to", "lcov", bundle).out
    equal(re.findall(r"(?m)^DA:3,(\d+)", text), ["2"], "executions of the line of main")


@case("a dynamic program executes another one")
def dynamic():
    compare(recorded("dynamic.ntrace", "./a_dynamic", "./b_dynamic"), {"work_a": 1, "work_b": 1, "helper": 20})


@case("the stack of the program that was replaced is not that of the next one")
def stacks():
    text = Run("flame", "--to", "folded", recorded("ab.ntrace", "./a", "./b")).out
    stack = next(line for line in text.splitlines() if ";work_b " in line)
    check("exec" not in stack, stack)


if __name__ == "__main__":
    main()
