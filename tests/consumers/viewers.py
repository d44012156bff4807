#!/usr/bin/env python3
"""Viewers: pprof of Go, babeltrace2, and readers of the formats of Chrome and the Firefox Profiler find the times and calls of `ntrace profile`.

usage: viewers.py NTRACE

A program without timestamps: a unit of time is an instruction, so that the time of a function in each viewer is its number of instructions.
"""
import collections
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, Run, case, check, equal, main, need, scratch

HERE = os.path.dirname(os.path.abspath(__file__))
GCC = "riscv64-linux-gnu-gcc"
HOSTILE = 'x"<&>\\\x1b[31m\u202e%s`$(id);,\t:\xe9'
Calls = collections.namedtuple("Calls", "self edges")  # by function; by caller and callee


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(done.returncode, 0, f"{command}: {done.stderr[-500:]}")
    return done.stdout, done.stderr.decode("utf-8", "replace")


@functools.cache
def traced():
    """A folder with work.ntrace; bad.ntrace, of the same program with a hostile name; hole.ntrace, with a gap."""
    folder = tempfile.mkdtemp(dir=scratch())
    run(need(GCC), "-O1", "-g", "-static", os.path.join(HERE, "..", "analysis", "work.c"), "-o", "work", cwd=folder)
    run("riscv64-linux-gnu-strip", "-g", "-o", "plain", "work", cwd=folder)
    run("riscv64-linux-gnu-objcopy", "--redefine-sym", "fib=" + HOSTILE, "plain", "bad", cwd=folder)
    for name in ("work", "bad"):
        run(NTRACE, "run", "-q", "-o", name + ".ntrace", "--", "./" + name, cwd=folder)
    shutil.copytree(os.path.join(folder, "work.ntrace"), os.path.join(folder, "hole.ntrace"))
    stream = os.path.join(folder, "hole.ntrace", "trace.nex")
    with open(stream, "rb") as file:
        data = file.read()
    with open(stream, "wb") as file:
        file.write(data[:len(data) // 5] + b"\x02" * 7 + data[len(data) * 4 // 5:])
    return folder


@functools.cache
def truth(name):
    rows = [json.loads(line) for line in Run("export", "--to", "calltree", name, cwd=traced()).out.splitlines()]
    names = {row["id"]: row["function"] for row in rows}
    own, edges = collections.Counter(), collections.Counter()
    for row in rows:
        own[row["function"]] += row["self"]
        edges[names.get(row["parent"]), row["function"]] += row["calls"]
    return Calls(+own, +edges)


def written(command, form, name, status=0):
    path = os.path.join(traced(), f"{name}.{form}")
    Run(command, "--to", form, "-o", path, name, cwd=traced(), status=status)
    return path


class Stack:
    """Follows begin and end events of a track, and counts."""

    def __init__(self):
        self.last, self.open, self.own, self.edges = 0, [], collections.Counter(), collections.Counter()

    def move(self, time):
        check(time >= self.last, f"time {time} after {self.last}")
        if self.open:
            self.own[self.open[-1]] += time - self.last
        self.last = time

    def begin(self, time, name):
        self.move(time)
        self.edges[self.open[-1] if self.open else None, name] += 1
        self.open.append(name)

    def end(self, time, name=None):
        self.move(time)
        check(self.open and name in (None, self.open[-1]), f"end of {name} in {self.open}")
        self.open.pop()


def compare(stacks, expected, what):
    """The stacks of all tracks, against the call tree."""
    own, edges = collections.Counter(), collections.Counter()
    for stack in stacks:
        equal(stack.open, [], "open slices")
        own.update(stack.own)
        edges.update(stack.edges)
    equal(+own, expected.self, f"{what}: instructions of functions")
    equal(+edges, expected.edges, f"{what}: calls")


def chrome(path):
    """{name of the thread: Stack}, and categories."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    tracks, names, kinds = collections.defaultdict(Stack), {}, collections.Counter()
    for event in events:
        key = event["pid"], event["tid"]
        if event["name" if event["ph"] == "M" else "ph"] == "thread_name":
            names[key] = event["args"]["name"]
        if event["ph"] in "BE":
            time = round(event["ts"] * 1000)
            tracks[key].begin(time, event["name"]) if event["ph"] == "B" else tracks[key].end(time)
        kinds[event.get("cat")] += 1
    return {names[key]: stack for key, stack in tracks.items()}, kinds


@case("Chrome's format: events are nested as the calls, times are those of the functions")
def chrome_calls():
    tracks, _ = chrome(written("timeline", "chrome", "work.ntrace"))
    compare(tracks.values(), truth("work.ntrace"), "chrome")


def babeltrace(folder):
    text, errors = run(need("babeltrace2"), "--clock-cycles", "--no-delta", folder, cwd=traced())
    equal(errors, "", "what babeltrace2 says")
    tracks, kinds, last = collections.defaultdict(Stack), collections.Counter(), 0
    names = {}
    for line in text.decode().splitlines():
        time, event, fields = re.fullmatch(r"\[(\d+)\] (\w+): \{ (.*) \}", line).groups()
        check(int(time) >= last, f"time goes back: {line}")
        last = int(time)
        track = int(re.match(r"track = (\d+)", fields)[1])
        text_of = re.search(r'(?:name|text) = "(.*)"$', fields)[1]
        if event == "track":
            names[track] = text_of
        else:
            kinds[re.search(r'kind = "(\w+)"', fields)[1]] += event == "begin"
            check(int(re.search(r"depth = (\d+)", fields)[1]) == len(tracks[track].open) - (event == "end"), line)
            tracks[track].begin(last, text_of) if event == "begin" else tracks[track].end(last, text_of)
    return {names[track]: stack for track, stack in tracks.items()}, kinds


@case("CTF: babeltrace2 reads the folder, all events in the order of time")
def ctf_calls():
    tracks, _ = babeltrace(written("timeline", "ctf", "work.ntrace"))
    compare(tracks.values(), truth("work.ntrace"), "ctf")


@case("CTF: the folder is written again, but none with other files; -o is required")
def ctf_folder():
    written("timeline", "ctf", "work.ntrace")
    path = written("timeline", "ctf", "work.ntrace")
    equal(sorted(os.listdir(path)), ["metadata", "stream"], "files")
    other = tempfile.mkdtemp(dir=scratch())
    with open(os.path.join(other, "notes"), "w", encoding="ascii"):
        pass
    check("found 'notes'" in Run("timeline", "--to", "ctf", "-o", other, "work.ntrace", cwd=traced(), status=2).err, "a sentence")
    equal(os.listdir(other), ["notes"], "files of the other folder")
    check("requires -o DIR" in Run("timeline", "--to", "ctf", "work.ntrace", cwd=traced(), status=2).err, "a sentence")


COLUMNS = {"samples": ("stack", "time", "weight"), "markers": ("data", "name", "startTime", "endTime", "phase", "category"),
           "stackTable": ("frame", "category", "subcategory", "prefix"),
           "frameTable": ("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "implementation", "line", "column"),
           "funcTable": ("name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"),
           "resourceTable": ("lib", "name", "host", "type"), "nativeSymbols": ("libIndex", "address", "name", "functionSize")}


def firefox(path):
    """Threads, by the definition of the processed profile format: every column has the length of its table, every index an element."""
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    equal(profile["meta"]["preprocessedProfileVersion"], 48, "version")
    for thread in profile["threads"]:
        for table, columns in COLUMNS.items():
            for column in columns:
                equal(len(thread[table][column]), thread[table]["length"], f"{table}.{column}")
        for table, column, target in (("samples", "stack", thread["stackTable"]["length"]), ("stackTable", "frame", thread["frameTable"]["length"]),
                                      ("frameTable", "func", thread["funcTable"]["length"]), ("funcTable", "name", len(thread["stringArray"])),
                                      ("funcTable", "fileName", len(thread["stringArray"])), ("markers", "name", len(thread["stringArray"]))):
            check(all(index is None or 0 <= index < target for index in thread[table][column]), f"{table}.{column} of {target}")
        check(all(prefix is None or prefix < index for index, prefix in enumerate(thread["stackTable"]["prefix"])), "a stack comes after its prefix")
        check(isinstance(thread["pid"], str) and isinstance(thread["tid"], int), "numbers of process and thread")
        times = thread["samples"]["time"]
        check(times == sorted(times) and all(weight > 0 for weight in thread["samples"]["weight"]), "times and weights of samples")
        check(all(end is None or end >= start for start, end in zip(thread["markers"]["startTime"], thread["markers"]["endTime"])), "markers")
    return profile["threads"]


def firefox_self(thread):
    own = collections.Counter()
    for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
        function = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
        own[thread["stringArray"][thread["funcTable"]["name"][function]]] += weight
    return own


@case("Firefox Profiler: tables hold together, the weights are the instructions")
def firefox_calls():
    threads = firefox(written("timeline", "firefox", "work.ntrace"))
    equal(sum(map(firefox_self, threads), collections.Counter()), truth("work.ntrace").self, "instructions of functions")
    edges = {edge for thread in threads for edge in zip(
        (None if prefix is None else thread["frameTable"]["func"][thread["stackTable"]["frame"][prefix]] for prefix in thread["stackTable"]["prefix"]),
        (thread["frameTable"]["func"][frame] for frame in thread["stackTable"]["frame"]))}
    equal(len(edges), len(truth("work.ntrace").edges), "pairs of caller and callee")


def pprof(path, *options):
    need("go")
    text, errors = run("go", "tool", "pprof", "-symbolize=none", "-nodefraction=0", "-edgefraction=0", "-nodecount=100000", *options, path, cwd=traced())
    equal(errors, "", "what pprof says")
    return text.decode()


@case("pprof of Go: own and total instructions of each function, and calls")
def pprof_totals():
    path = written("export", "pprof", "work.ntrace")
    rows = [json.loads(row) for row in Run("profile", "--format", "jsonl", "work.ntrace", cwd=traced()).out.splitlines()]
    expected = {row["function"]: row for row in rows if row.get("function")}
    for sample, members in (("instructions", ("self", "total")), ("calls", ("calls",))):
        found = {}
        for flat, total, name in re.findall(r"(?m)^\s*(\d+)\s+[\d.]+%\s+[\d.]+%\s+(\d+)\s+[\d.]+%\s+(.*?)(?: \(inline\))?$", pprof(path, "-top", "-unit=count", "-sample_index=" + sample)):
            found[name] = (int(flat), int(total))
        wanted = {name: (row["self"], row["total"]) if sample == "instructions" else (row["calls"], found.get(name, (0, 0))[1]) for name, row in expected.items()}
        equal({name: values for name, values in found.items() if any(values)}, {name: values for name, values in wanted.items() if any(values)}, sample)


@case("a gap is marked in each format that shows what ran over time")
def gaps():
    tracks, kinds = chrome(written("timeline", "chrome", "hole.ntrace", status=1))
    check(kinds["gap"] == 1 and any("gaps" in name for name in tracks), f"chrome: {kinds}")
    tracks, kinds = babeltrace(written("timeline", "ctf", "hole.ntrace", status=1))
    check(kinds["gap"] == 1 and any("gaps" in name for name in tracks), f"ctf: {kinds}")
    markers = [thread["stringArray"][name] for thread in firefox(written("timeline", "firefox", "hole.ntrace", status=1)) for name in thread["markers"]["name"]]
    check(len(markers) == 1 and markers[0].startswith("gap: "), f"firefox: {markers}")


@case("a hostile name is text in each format")
def hostile():
    def shown(names):
        return [name for name in names if name and name.startswith('x"<&>')]
    tracks, _ = chrome(written("timeline", "chrome", "bad.ntrace"))
    equal(len(set(shown(name for stack in tracks.values() for name in stack.own))), 1, "chrome")
    threads = firefox(written("timeline", "firefox", "bad.ntrace"))
    equal(len(shown(name for thread in threads for name in thread["stringArray"])), 1, "firefox")
    text, errors = run(need("babeltrace2"), written("timeline", "ctf", "bad.ntrace"), cwd=traced())
    check(b"\x1b" not in text and not errors, "babeltrace2 shows no control")
    text = pprof(written("export", "pprof", "bad.ntrace"), "-top")
    check("\x1b" not in text and shown(re.findall(r'x"<&>.*', text)), "pprof")


main()
