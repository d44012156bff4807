"""What each consumer of names, lines and counts says about how often functions were called: places.py and seeded.py compare it with
how often they were."""
import collections
import functools
import json
import os
import re
import sqlite3
import subprocess

from harness import NTRACE, Run, equal


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
        for name, count in db.execute("SELECT f.name, i.executed FROM functions f JOIN instructions i ON i.function = f.id"
                                      " AND (i.address - f.address) % 4096 = 0"):  # it may be loaded at several places
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


@functools.lru_cache(1)
def first_instructions(bundle):
    """(address, name) of the first instructions of functions in `decode --show insn`, as text, in their order."""
    with subprocess.Popen([NTRACE, "decode", bundle, "--show", "insn"], stdout=subprocess.PIPE) as decode:
        lines = subprocess.run(["grep", "-Fv", "+0x"], stdin=decode.stdout, stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()
    equal(decode.returncode, 0, "status of decode")
    found = []
    for line in lines:
        code, _, name = line.rpartition("  <")
        if code and "+" not in (name := name.partition(">")[0]):
            found.append((code.partition("0x")[2].partition(" ")[0], name))
    return found


def by_instructions(bundle, wanted):
    calls = {}
    for _, name in first_instructions(bundle):
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
    "decode --show call": lambda b, w: by_events(b, w, "--show", "call"),
    "decode --show insn": by_instructions,
}


OF_LINES = "lcov", "coverage --to json"  # generated code has none


def compare(bundle, truth, wanted=None, lined=lambda name: True, consumers=CONSUMERS):
    """Every consumer says that each function was called as often as the source says; those of lines, if the function has lines."""
    wanted = wanted or truth.__contains__
    for name, consumer in consumers.items():
        expected = {function: n for function, n in truth.items() if name not in OF_LINES or lined(function)}
        equal(consumer(bundle, wanted), expected, f"{os.path.basename(bundle)}: {name}")
    lines, folded = collections.Counter(), collections.Counter()
    for row in Run("profile", "--by", "line", bundle, "--format", "jsonl").rows():
        lines[row.get("function")] += row["self"]
    for stack, count in re.findall(r"(?m)^(\S.*) (\d+)$", Run("flame", "--to", "folded", bundle).out):
        folded[stack.split(";")[-1]] += int(count)
    own = {row["function"]: row["self"] for row in Run("profile", bundle, "--format", "jsonl").rows() if wanted(row.get("function") or "")}
    for function, instructions in own.items():
        equal(lines[function], instructions, f"lines of {function}")
        equal(folded[function], instructions, f"flame graph of {function}")
