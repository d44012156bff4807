"""Consumers that take longer than those of named_calls.py, for the long form of seeded.py: `view`, `top`, LLVM's profiles, Python, and
sums of partial answers."""
import collections
import functools
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gdb"))
from harness import NTRACE, Run, check, equal, matches, scratch
from python_package import find_python, install
from view_terminal import Terminal


@functools.cache
def entries(path):
    """{function: address} of a file."""
    symbols = subprocess.run(["riscv64-linux-gnu-nm", path], check=True, capture_output=True, text=True).stdout
    return {name: int(address, 16) for address, name in re.findall(r"(?m)^(\w+) [Tt] ((?:entry|leaf|own|inner|space)_\w+)$", symbols)}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def images_of(bundle):
    """The files of the program and its libraries that were executed, as paths."""
    names = {image.get("name", "") for image in json.loads(read(os.path.join(bundle, "capture.json")))["images"]}
    return sorted(name for name in names if os.path.exists(name) and re.fullmatch(r"one|two|dynamic|l\d\.so", os.path.basename(name)))


def by_llvm(bundle, wanted, chosen):
    """Executions of first instructions, in the ranges of llvm-profgen's text; for one image, which a number chooses, also in those of
    AutoFDO and BOLT."""
    calls, images = collections.Counter(), images_of(bundle)
    for number, path in enumerate(images):
        found = {}
        for form in ("llvm-unsymbolized", "autofdo", "bolt") if number == chosen % len(images) else ("llvm-unsymbolized",):
            text = Run("export", "--to", form, "--image", path, bundle, status=None).out
            runs = re.findall(r"(?m)^[Ff] (?:\w+:)?(\w+) (?:\w+:)?(\w+) (\d+)", text) if form == "bolt" else re.findall(r"(?m)^(\w+)-(\w+):(\d+)$", text)
            base = first_segment(path) if form == "autofdo" else 0
            found[form] = {name: sum(int(n) for low, high, n in runs if int(low, 16) + base <= address <= int(high, 16) + base)
                           for name, address in entries(path).items()}
        for form, executed in found.items():
            equal(executed, found["llvm-unsymbolized"], f"{path}: {form}")
        calls.update(found["llvm-unsymbolized"])
    return {name: count for name, count in calls.items() if count and wanted(name)}


@functools.cache
def first_segment(path):
    segments = subprocess.run(["riscv64-linux-gnu-readelf", "-lW", path], check=True, capture_output=True, text=True).stdout
    return int(re.search(r"(?m)^  LOAD +\S+ 0x(\S+)", segments)[1], 16)


def check_top(bundle, wanted):
    """The shares of `top` are those of the instructions: one table for the whole trace, of which the largest rows are shown."""
    shown = 1000
    own, all_of = collections.Counter(), 0
    for row in Run("profile", "--by", "instruction", bundle, "--format", "jsonl").rows():
        all_of += row["self"]
        if wanted(row.get("function") or ""):
            own[row["function"]] += row["self"]
    table = Run("top", "--interval", "3600000", "-n", str(shown), bundle)
    matched = re.match(r"[\d.]+ s: ([\d.]+) million", table.out)
    equal(matched and matched[1], f"{all_of / 1e6:.3f}", f"top: instructions: {table.err}")
    shares, rows = collections.Counter(), collections.Counter()  # a row for each place where a library was
    for share, name in re.findall(r"(?m)^ *([\d.]+) %  (\w+)$", table.out):
        if wanted(name):
            shares[name] += float(share)
            rows[name] += 1
    if len(re.findall(r"(?m)^ *[\d.]+ %  ", table.out)) < shown:
        equal(sorted(shares), sorted(own), "top: functions")
    else:  # ten programs of many pieces
        check(not set(shares) - set(own), f"top: functions: {set(shares) - set(own)}")
        own = {}
    for name, count in own.items():
        check(abs(shares[name] - 100 * count / all_of) < 0.0051 * rows[name], f"top: {name}: expected {100 * count / all_of:.4f} %, found {shares[name]} %")


def by_parts(bundle, wanted):
    """Three parts of the trace, which are decoded apart from each other."""
    parts = [f"{bundle}.part{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        Run("profile", "--partial", part, "--shard", f"{number}/3", bundle)
    return of_rows(Run("combine", "--redo", *parts, "profile", "--format", "jsonl").rows(), wanted)


def of_rows(rows, wanted, name="function"):
    return {row[name]: row["calls"] for row in rows if wanted(row.get(name) or "") and row["calls"]}


def captured_images(bundle):
    with open(os.path.join(bundle, "capture.json"), encoding="utf-8") as file:
        return json.load(file)["images"]


def check_sum(bundles, calls, wanted):
    """The sum of the partial answers of two programs; with code that is in no file it is refused, and so are names of generated code."""
    if any(name.startswith("made_") for truth in calls for name in truth):
        return
    for bundle in bundles:
        Run("profile", "--partial", f"{bundle}.sum", bundle)
        Run("coverage", "--partial", f"{bundle}.lines", bundle)
    total = dict(sum(calls, collections.Counter()))
    if any(image["kind"] == "raw" for bundle in bundles for image in captured_images(bundle)):
        matches("the image raw image .* is not in the program", Run("combine", *[f"{bundle}.sum" for bundle in bundles], "profile", status=2).err, "refusal")
        return
    rows = Run("combine", *[f"{bundle}.sum" for bundle in bundles], "profile", "--format", "jsonl").rows()
    equal(of_rows(rows, wanted), total, f"sum of {bundles}")
    text = Run("combine", *[f"{bundle}.lines" for bundle in bundles], "coverage", "--to", "lcov").out
    equal({name: int(count) for count, name in re.findall(r"(?m)^FNDA:(\d+),(.*)$", text) if wanted(name) and int(count)}, total, f"lines of the sum of {bundles}")


PYTHON = """
import json, re, sys, ntrace
trace = ntrace.open(sys.argv[1])
print(json.dumps({"profile": trace.profile(frame=False), "two threads": trace.profile(frame=False, threads=2),
                  "coverage": [[row["name"], row["count"]] for row in trace.coverage(frame=False).functions],
                  "timeline": [row["name"] for row in trace.timeline(frame=False) if row["kind"] == "function"]}))
"""


def check_python(bundle, calls, wanted):
    """The package says what the command does."""
    python = find_python()
    if not python:
        return
    build = os.path.dirname(os.path.abspath(NTRACE))
    target = os.path.join(scratch(), "installed")
    if not os.path.exists(target):
        install(python, build, scratch())
    done = subprocess.run([python, "-c", PYTHON, bundle], env=dict(os.environ, PYTHONPATH=target, LD_LIBRARY_PATH=build), capture_output=True, text=True)
    check(done.returncode == 0, f"Python: {done.stderr[-600:]}")
    found = json.loads(done.stdout)
    for key in "profile", "two threads":
        equal(of_rows(found[key], wanted, "name"), calls, f"Python: {key}")
    with_lines = {name: count for name, count in calls.items() if not name.startswith("made_")}
    equal({name: count for name, count in found["coverage"] if count and wanted(name)}, with_lines, "Python: coverage")
    equal(dict(collections.Counter(name for name in found["timeline"] if wanted(name or ""))), calls, "Python: timeline")


def by_view(bundle, names):
    """`view`: from the beginning, the search for each of the functions until there is none."""
    terminal, calls = Terminal(bundle, columns=120, lines=30), {}
    try:
        for name in names:
            terminal.keys("g", "#1", "Enter")
            terminal.until("instruction 0 of")
            calls[name], place = 0, 0
            while True:
                terminal.keys("/", name, "Enter")
                text = terminal.until(rf"no such|not executed after|instruction (?!{place} )\d+ of")
                if re.search("no such|not executed after", text):
                    break
                place = int(re.search(r"instruction (\d+) of", text)[1])
                check(re.search(rf"#0 +{name}\b", text), f"view: {name} at instruction {place}: {text}")
                calls[name] += 1
    finally:
        terminal.close()
    return calls
