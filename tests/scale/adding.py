#!/usr/bin/env python3
"""Partial answers: shown as the command shows the capture; sums in any order and grouping; what is refused. TAP on standard output.

usage: adding.py NTRACE [CAPTURES]
"""
import collections
import csv
import io
import os
import random
import re
import shutil
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import captures
from harness import NTRACE, Run, case, check, equal, main, matches, scratch

CAPTURES = int(sys.argv[2]) if len(sys.argv) > 2 else 8
SPARSE = 3 if CAPTURES < 10 else 1  # of the small run, one cut and one changed byte in so many
TREES = [["profile"], ["profile", "--by", "image"], ["profile", "--callers", "function1", "--callees", "function1"],
         ["flame", "--to", "folded"], ["flame", "--to", "svg"], ["flame", "--to", "speedscope"], ["export", "--to", "dot"],
         ["export", "--to", "calltree"]]
TALLIES = [["profile", "--by", by, "--format", "csv"] for by in ("line", "instruction", "hart", "context")] + [
    ["profile", "--annotate=function0"], ["coverage"], ["coverage", "--to", "lcov"], ["coverage", "--level", "object"],
    ["export", "--to", "llvm"], ["export", "--to", "bolt"], ["export", "--to", "autofdo"], ["export", "--to", "drcov"]]
BOTH = [["export", "--to", "callgrind"]]


def path(name):
    return os.path.join(scratch(), name)


def partial(capture, command, name=None):
    """The partial answer of the capture; the exit status is that of the command."""
    to = path(name or f"{os.path.basename(capture.path)}.part")
    done = Run(*command, "--partial", to, capture.path, status=None)
    check(done.status < 2 and done.out == "", f"{command}: {done.status} {done.err}")
    return to


def combine(files, *words, status=0):
    return Run("combine", *files, *words, status=status)


def counts(text):
    """Instructions by address."""
    return collections.Counter({row["address"]: int(row["self"]) for row in csv.DictReader(io.StringIO(text))})


@case("the partial answer of a capture is shown as the command shows the capture, in every form")
def one():
    for seed in range(CAPTURES):
        capture = captures.Capture(NTRACE, scratch(), seed, damage=seed % 3)
        for group in (TREES, TALLIES, BOTH):
            for at, command in enumerate(group):
                if seed % 4 and at % 4 != seed % 4:
                    continue
                direct = Run(*command, capture.path, status=None)
                shown = combine([partial(capture, command)], *command, status=None)
                equal((shown.status, shown.out), (direct.status, direct.out), f"{command} of {seed} {capture.options}")


@case("any order and grouping gives the same bytes, as a file and as an output")
def groupings():
    program = captures.Program(7, 0x10000)
    chance = random.Random(5)
    for command in (["profile"], ["profile", "--by", "instruction", "--format", "csv"], ["export", "--to", "callgrind"]):
        files = [partial(captures.Capture(NTRACE, scratch(), 100 + i, program=program if i % 3 else None, bias=0x1000000 * (i % 4),
                                          length=400, options=["--timestamps"]), command, f"g{i}.part") for i in range(9)]
        combine(["-o", path("all.part"), *files])
        with open(path("all.part"), "rb") as file:
            everything = file.read()
        shown = combine([path("all.part")], *command).out
        for number in range(12):
            parts = files[:]
            chance.shuffle(parts)
            while len(parts) > 1:
                some = [parts.pop(chance.randrange(len(parts))) for _ in range(chance.randint(1, len(parts)))]
                name = path(f"s{number}-{len(parts)}-{chance.random()}.part")
                combine(["-o", name, *some])
                parts.append(name)
            with open(parts[0], "rb") as file:
                equal(file.read() == everything, True, f"{command}: grouping {number}")
        equal(combine(reversed(files), *command).out, shown, "reversed")


@case("the sum of captures has the counts of all; one that was loaded elsewhere is counted at the same place")
def sums():
    program, command = captures.Program(3, 0x10000), ["profile", "--by", "instruction", "--format", "csv"]
    made = [captures.Capture(NTRACE, scratch(), 200 + i, program=program, bias=bias, length=500, options=["--mode", "btm"])
            for i, bias in enumerate([0, 0x40000000, 0x40000000, 0])]
    expected = collections.Counter()
    for capture, bias in zip(made, [0, 0x40000000, 0x40000000, 0]):
        for address, count in counts(Run(*command, capture.path).out).items():
            expected[f"{int(address, 16) - bias:#x}"] += count
    equal(counts(combine([partial(c, command) for c in made], *command).out), expected, "sum")


@case("several builds with the same names stay apart")
def builds():
    made = [captures.Capture(NTRACE, scratch(), 300 + i, length=500) for i in range(2)]
    rows = [list(csv.DictReader(io.StringIO(Run("profile", "--format", "csv", c.path).out))) for c in made]
    shown = list(csv.DictReader(io.StringIO(combine([partial(c, ["profile"]) for c in made], "profile", "--format", "csv").out)))
    equal(sorted(int(row["self"]) for row in shown), sorted(int(row["self"]) for some in rows for row in some), "rows")
    equal(len({row["image"] for row in shown}), 2, "images")


@case("more than 64 files; a file of several answers")
def many():
    program, command = captures.Program(9, 0x10000), ["profile", "--by", "hart", "--format", "csv"]
    files = [partial(captures.Capture(NTRACE, scratch(), 400 + i, program=program, length=40, options=[]), command, f"m{i}.part") for i in range(70)]
    shown = combine(files, *command).out
    instructions = sum(int(line.split(",")[0]) for f in files for line in combine([f], *command).out.splitlines()[1:])
    equal(int(shown.splitlines()[1].split(",")[0]), instructions, "sum of 70")
    with open(path("together.part"), "wb") as together:
        for name in files:
            with open(name, "rb") as file:
                shutil.copyfileobj(file, together)
    equal(combine([path("together.part")], *command).out, shown, "one file")


def changed(name, change):
    with open(name, "rb") as file:
        data = bytearray(file.read())
    data = change(data)
    with open(path("changed.part"), "wb") as file:
        file.write(data)
    return path("changed.part")


def flip(data, at):
    data[at] ^= 0x10
    return data


@case("what cannot be added is refused with a sentence: truncated, damaged, another version, twice, other counts, other files")
def refused():
    capture = captures.Capture(NTRACE, scratch(), 500, length=600)
    good = partial(capture, ["profile"], "good.part")
    size = os.path.getsize(good)
    for cut in [*range(1, 40), *range(40, size, 97 * SPARSE), size - 1]:
        matches("truncated|not a partial", combine([changed(good, lambda d, c=cut: d[:c])], "profile", status=2).err, f"cut at {cut}")
    for at in [*range(0, 60), *range(60, size, 31 * SPARSE)]:
        matches("0x[0-9a-f]+: .*(damaged|not a partial|version|truncated)", combine([changed(good, lambda d, a=at: flip(d, a))], "profile", status=2).err, f"flip at {at}")
    matches("another version", combine([changed(good, lambda d: d[:8] + b"\2" + d[9:])], "profile", status=2).err, "version")
    matches("given twice", combine([good, good], "profile", status=2).err, "twice")
    both = combine(["-o", path("sum.part"), good, partial(captures.Capture(NTRACE, scratch(), 501), ["profile"])])
    equal(both.status, 0, "sum")
    matches("given twice", combine([path("sum.part"), good], "profile", status=2).err, "in a sum")
    lines = partial(capture, ["profile", "--by", "line"], "lines.part")
    matches("different kinds", combine([good, lines], "profile", status=2).err, "kinds")
    matches("no call trees", combine([lines], "profile", status=2).err, "output")
    matches("all events in order", combine([good], "timeline", "--to", "summary", status=2).err, "events")
    matches("expected a command", combine([good], status=2).err, "no command")
    matches("empty file", combine([changed(good, lambda d: b"")], "profile", status=2).err, "empty")


@case("answers with all events: of one capture only; for every output but totals; refused when truncated or damaged")
def events():
    first, second = (captures.Capture(NTRACE, scratch(), 510 + i, length=2000) for i in range(2))
    good = partial(first, ["timeline"], "events.part")
    for command in (["profile"], ["coverage", "--level", "object"], ["decode", "--show", "event"], ["timeline", "--to", "json"]):
        found, expected = (re.sub(r',\n"quality":\{.*\}\}\n\Z', "}\n", text) for text in (combine([good], *command).out, Run(*command, first.path).out))
        equal(found, expected, f"{command} of the answer of timeline")
    near = os.path.relpath(first.path)
    page = re.sub(", [0-9]+ messages fit and [0-9]+ contradict it", "", Run("report", near).out)  # a partial answer does not have the messages
    equal(combine([good], "report").out, page, "report of a trace with a relative path")
    matches("no totals", combine([good], "decode", "--show", "count", status=2).err, "totals")
    matches("one capture only: they cannot be added; counts of code and call trees can", combine([good, partial(second, ["timeline"], "second.part")], "timeline", status=2).err, "two captures")
    matches("different kinds", combine([partial(second, ["profile"], "counts.part"), good], "profile", status=2).err, "kinds")
    size = os.path.getsize(good)
    for cut in range(1, size, 61 * SPARSE):
        matches("truncated|not a partial", combine([changed(good, lambda d, c=cut: d[:c])], "timeline", status=2).err, f"cut at {cut}")
    for at in range(0, size, 37 * SPARSE):
        matches("0x[0-9a-f]+: .*(damaged|not a partial|version|truncated)", combine([changed(good, lambda d, a=at: flip(d, a))], "timeline", status=2).err, f"flip at {at}")


@case("totals of captures are added")
def totals():
    made = [captures.Capture(NTRACE, scratch(), 520 + i, length=500 + i) for i in range(3)]
    command, expected = ["decode", "--show", "count", "--format", "csv"], collections.Counter()
    for capture in made:
        for row in csv.DictReader(io.StringIO(Run(*command, capture.path).out)):
            expected[row["name"]] += int(row["value"])
    parts = [partial(capture, command) for capture in made]
    combine(["-o", path("two.part"), *parts[1:]])
    shown = csv.DictReader(io.StringIO(combine([path("two.part"), parts[0]], *command).out))
    equal({row["name"]: int(row["value"]) for row in shown}, dict(expected), "sum")


@case("another binary in the place of the one that ran is refused")
def other_binary():
    capture = captures.Capture(NTRACE, scratch(), 600, length=600)
    good = partial(capture, ["profile"], "binary.part")
    other = captures.Capture(NTRACE, scratch(), 601, length=600)
    image = os.path.join(capture.path, "images", "program")
    shutil.copy(os.path.join(other.path, "images", "program"), image)
    matches("build-id:.*-e", combine([good], "profile", status=2).err, "other build id")
    os.remove(image)
    equal(combine([good], "profile", status=None).status, 2, "no file")


@case("--partial needs the file of a whole capture")
def options():
    capture = captures.Capture(NTRACE, scratch(), 700, length=100)
    stream = os.path.join(capture.path, "trace.nex")
    image = os.path.join(capture.path, "images", "program")
    to = path("refused.part")
    with open(stream, "rb") as file:
        matches("-: --partial: expected a file or a bundle, which .* found a pipe or an unpacked trace; save it as a file first", Run("profile", "--partial", to, "-", "-e", image, stdin=file.read(), status=2).err, "pipe")
    for more, found in (["--from", "2"], "--from or --until"), (["--src", "0"], "--src"), (["--until", "3"], "--from or --until"):
        matches(f"--partial: expected a whole capture, found {found}; leave it out, or leave out --partial", Run("profile", "--partial", to, *more, capture.path, status=2).err, str(more))
    matches("one trace", Run("coverage", "--partial", to, capture.path, capture.path, status=2).err, "two traces")
    matches("--mid-stream", Run("decode", "--mid-stream", "--partial", to, capture.path, status=2).err, "decode")
    matches("--shard 1/2: expected --partial FILE too, which writes this part's answer; 'ntrace combine' adds the parts", Run("decode", "--shard", "1/2", capture.path, status=2).err, "a part without --partial")
    check(not os.path.exists(to), "no file is written")


main()
