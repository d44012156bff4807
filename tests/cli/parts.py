#!/usr/bin/env python3
"""--from and --to of the analysing commands: what each point selects, and two parts add up to the whole."""
import collections
import csv
import functools
import io
import json
import os
import re
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import Run, bytes_of, case, check, equal, main, matches, scratch, skip, write

TURNS = 4
# The program counters that each message of tiny.BTM reports.
REPORTED = [[], [0x100, 0x102, 0x106, 0x10a], [0x300]] * TURNS
TIMED = "".join(f"{tiny.START[:-1]} TSTAMP={1000 * turn}\nDirectBranch ICNT=7 TSTAMP=5\n"
                "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2 TSTAMP=5\n" for turn in range(1, TURNS + 1))


@functools.cache
def program():
    return write("tiny.elf", tiny.elf())


@functools.cache
def stream(timed=False):
    return write("timed.nex" if timed else "turns.nex", bytes_of(TIMED if timed else tiny.BTM * TURNS))


def expected(first, last):
    return collections.Counter(pc for message in REPORTED[first:last] for pc in message)


def counts(*options, timed=False, command="profile"):
    by = ["--by", "instruction", "--format", "csv"]
    status = int(options[:2] == ("--from", "100"))  # nothing is there
    rows = csv.DictReader(io.StringIO(Run("profile", stream(timed), "-e", program(), *by, *options, status=status).out))
    return collections.Counter({int(row["address"], 16): int(row["self"]) for row in rows})


def points(timed=False):
    """The place of each message, in every form where the stream has times, otherwise in one."""
    rows = [json.loads(line) for line in Run("dump", stream(timed), "--format", "jsonl").lines()]
    for at, row in enumerate(rows):
        turn, step = divmod(at, 3)
        forms = [f"{at + 1}", f"#{at + 1}", f"@{row['offset']}", f"@0x{row['offset']:x}"]
        yield at, [*forms, f"t:{1000 * (turn + 1) + 5 * step}"] if timed else [forms[at % len(forms)]]


@case("profile counts what the messages from --from to --to report; two parts are the whole")
def profile_parts():
    whole = counts()
    equal(whole, expected(0, len(REPORTED)), "whole")
    for timed in (False, True):
        for at, forms in points(timed):
            for form in forms:
                after = counts("--from", form, timed=timed)
                equal(after, expected(at, None), f"from {form}")
                equal(counts("--until", form, timed=timed), expected(0, at + 1), f"to {form}")
                equal(counts("--from", form, "--until", form, timed=timed), expected(at, at + 1), f"only {form}")
                equal(after + expected(0, at), whole, "sum")
        equal(counts("--from", "5", "--until", "9", "-j", "2", timed=timed), expected(4, 9), "with threads")
    equal(counts("--from", "100"), expected(0, 0), "behind the end")


def totals(*options, timed=False):
    status = int(options[:2] == ("--from", "100"))  # nothing is there
    lines = Run("decode", stream(timed), "-e", program(), "--show", "count", *options, status=status).lines()
    return {name: int(value) for name, value in map(str.split, lines)}


@case("decode --show count: the totals of a part; two parts are the whole")
def count_parts():
    for timed in (False, True):
        whole = totals(timed=timed)
        equal(whole["messages"], 3 * TURNS, "messages")
        messages = [json.loads(line) for line in Run("dump", stream(timed), "--format", "jsonl").lines()]
        for at, forms in points(timed):
            for form in forms:
                after = totals("--from", form, timed=timed)
                before = totals("--until", f"{at}", timed=timed) if at else dict.fromkeys(whole, 0)
                equal({name: after[name] + before[name] for name in whole}, whole, f"sum at {form}")
                equal(after["messages"], 3 * TURNS - at, f"messages from {form}")
                only = totals("--from", form, "--until", form, timed=timed)
                equal((only["messages"], only["bytes"]), (1, messages[at]["size"]), f"only {form}")
                equal(only["instructions"], len(REPORTED[at]), f"instructions of {form}")
    equal(totals("--from", "2", "--until", "5")["instructions"], len(sum(REPORTED[1:5], [])), "in the middle")
    equal(totals("--from", "100")["messages"], 0, "behind the end")
    row = json.loads(Run("decode", stream(), "-e", program(), "--show", "count", "--from", "2", "--format", "jsonl").out)
    equal(row["messages"], 3 * TURNS - 1, "JSON")


def folded(*options):
    return sum(int(line.split()[-1]) for line in Run("flame", stream(), "-e", program(), *options).lines())


@case("flame, timeline, export, coverage, report: --to takes a format, a point, or both")
def exporting():
    for options in (["--to", "folded", "--until", "8"], ["--until", "@9999", "--to", "folded", "--until", "#8"]):
        equal(folded("--from", "2", *options), sum(expected(1, 8).values()), " ".join(options))
    lines = Run("export", stream(), "-e", program(), "--to", "callgrind", "--until", "6").lines()
    equal({line for line in lines if line.endswith(" 0 2")}, {f"0x{pc:x} 0 2" for pc in tiny.PCS}, "callgrind")
    whole, part = (Run("report", stream(), "-e", program(), *more).out for more in ([], ["--from", "4", "--until", "9"]))
    equal([re.search(r'"summary":{[^{]*?"instructions":(\d+)', page)[1] for page in (whole, part)], ["20", "10"], "report")
    matches("no format 'x8'", Run("flame", stream(), "-e", program(), "--to", "x8", status=2).err, "neither")
    matches("expected N or #N", Run("flame", stream(), "-e", program(), "--until", "8x", status=2).err, "a bad point")
    if "no format" in Run("timeline", stream(), "-e", program(), "--to", "perfetto", status=None).err:
        skip("build-perfetto")
    whole, part = (Run("timeline", stream(), "-e", program(), "--to", "perfetto", *more).bytes for more in ([], ["--until", "1"]))
    check(b"hart 0 functions" in whole and b"hart 0 functions" not in part, "timeline")


@case("check reports the findings of the part, diff compares the part")
def others():
    text = (tiny.BTM + tiny.BTM.replace("EVCODE=0", "EVCODE=9")) * 2
    bad = write("bad.nex", bytes_of(text))
    find = ["check", bad, "--fail-on", "never", "--format", "jsonl"]
    rows = [json.loads(line) for line in Run(*find).lines()]
    numbers = [row["message"] for row in rows if row.get("message")]
    check(6 in numbers and 12 in numbers, f"findings {numbers}")
    rows = [json.loads(line) for line in Run(*find, "--from", "7").lines()]
    equal([row["message"] for row in rows if row.get("message")], [n for n in numbers if n >= 7], "from 7")
    other = write("other.nex", bytes_of(tiny.BTM + tiny.BTM.replace("ICNT=7", "ICNT=3") + tiny.BTM))
    compare = ["diff", other, stream(), "-e", program()]
    equal(Run(*compare, status=1).status, 1, "different")
    matches("^same: 5 instructions", Run(*compare, "--until", "3").out, "the same up to message 3")


@case("dump and stat select messages by time")
def messages():
    rows = Run("dump", stream(True)).lines()
    for at, forms in points(True):
        equal(Run("dump", stream(True), "--from", forms[-1]).lines(), rows[at:], f"dump from {forms[-1]}")
        equal(Run("dump", stream(True), "--until", forms[-1]).lines(), rows[:at + 1], f"dump to {forms[-1]}")
    found = Run("stat", stream(True), "--from", "t:1005", "--until", "t:2005", "--format", "jsonl").lines()
    equal({row["name"]: row["count"] for row in map(json.loads, found) if row["kind"] == "message"},
          {"DirectBranch": 2, "ProgTraceCorrelation": 1, "ProgTraceSync": 1}, "stat")
    matches("not by time", Run("check", "--from", "t:5", stream(True), status=2).err, "check")


EMPTY = "nothing is selected by"


def says_empty(asked, command, *options):
    run = Run(*command, *options, status=1)
    matches(f"^ntrace {command[0]}: [^ ]+: {EMPTY} {re.escape(asked)}$", run.err.strip(), " ".join([*command[:1], *options]))


@case("a part in which there is nothing: every command says so, with what was asked for, and has status 1; and only then")
def empty():
    sources = "".join(line.replace(" ", f" SRC={n} ", 1) + "\n" for line in tiny.BTM.splitlines() for n in (1, 2))
    two = write("two.nex", Run("assemble", "--src-bits", "2", "-", stdin=sources.encode()).bytes)
    plain = [[*words, stream(), "-e", program()] for words in (
        ["decode"], ["decode", "--show", "none"], ["decode", "--show", "count"], ["decode", "--show", "call"], ["profile"],
        ["flame", "--to", "folded"], ["export", "--to", "callgrind"], ["report"], ["stat"], ["check"], ["profile", "--by", "syscall"], ["profile", "--by", "boot-phase"])]
    plain += [["dump", stream()], ["diff", stream(), stream(), "-e", program()], ["coverage", stream(), "-e", program(), "--to", "lcov"]]
    for command in plain:
        if command[0] != "coverage":  # it also says that there are no lines
            says_empty("--from 100", command, "--from", "100")
            says_empty("--from #100 --until @9999999" if command[0] == "dump" else "--from #100 --until 200", command, "--from", "#100",
                       "--until", "@9999999" if command[0] == "dump" else "200")
        else:
            matches(f"{EMPTY} --from 100\n", Run(*command, "--from", "100", status=1).err, "coverage")
        for part in (["--from", "3"], ["--until", "100"], ["--from", f"{3 * TURNS}"]):
            check(EMPTY not in Run(*command, *part, status=int(command[0] == "coverage")).err, f"{command[0]} {part}")
    for words in (["decode"], ["decode", "--show", "count"], ["profile"], ["flame", "--to", "folded"]):
        command = [*words, two, "-e", program(), "--src-bits", "2"]
        says_empty("--src 3", command, "--src", "3")
        says_empty("--src 1 --from 50", command, "--src", "1", "--from", "50")
        check(EMPTY not in Run(*command, "--src", "1").err, f"{words} of a source that is there")
    for words in (["dump"], ["check"]):
        says_empty("--src 3", [*words, two, "--src-bits", "2"], "--src", "3")
        check(EMPTY not in Run(*words, two, "--src-bits", "2", "--src", "1").err, f"{words} of a source that is there")
    for words in (["dump"], ["check"], ["stat"], ["decode", "-e", program()], ["profile", "-e", program()]):
        run = Run(*words, stream(), "--src", "7", status=2)
        matches(rf"^ntrace {words[0]}: {stream()}: --src: expected a source of at most 0, as SRC has 0 bits, found 7$", run.err.strip(), f"{words}")
        equal(run.out, "", f"{words}: output")
    expected = "--only %s: expected a source with line information, or its folder; found none"
    error = Run("coverage", stream(), "-e", program(), "--only", "nosuch.c", "--only", "none", status=1).err
    for path in ("nosuch.c", "none"):
        matches(expected % path, error, "--only")
    missing, file = os.path.join(scratch(), "no such folder"), stream()
    for words, status in (["coverage"], 1), (["profile"], 0):
        error = Run(*words, file, "-e", program(), "--source-path", f"{missing}:{scratch()}:{file}", status=status).err
        matches(f"--source-path {missing}: No such file or directory\n", error, f"{words}")
        matches(f"--source-path {file}: expected a folder, found a file\n", error, f"{words}")
        check(f"{scratch()}:" not in error, error)
    for words, name, status, written, others in ((["coverage"], "x.info", 1, "summary", "lcov"), (["flame"], "x.json", 0, "svg", "speedscope"),
                                                 (["export"], "callgrind.out.1", 0, "", ""), (["export", "--to", "callgrind"], "x.json", 0, "", ""),
                                                 (["coverage", "--format", "json"], "x.json", 1, "", "")):
        if "no format" in Run(words[0], file, "-e", program(), "--to", others or "json", "-o", os.path.join(scratch(), "x"), status=None).err:
            continue
        path = os.path.join(scratch(), name)
        error = Run(*words, file, "-e", program(), "-o", path, status=status).err
        expected = f"{path}: the format is {written}; for .{name.split('.')[-1]}: --to {others} ('--to list': all)\n"
        check(expected in error if written else "the format is" not in error, f"{words}: {error}")
    matches("found an empty file", Run("dump", "--from", "100", write("none.nex", b""), status=2).err, "an empty file")


if __name__ == "__main__":
    main()
