#!/usr/bin/env python3
"""One process, two threads, parts put together in random order, and the ranks of MPI write the same bytes: every command, for random
captures and for the streams of real programs. TAP on standard output.

usage: equality.py NTRACE RANDOM REAL [NTRACE_MPI MPIRUN]...

RANDOM: 1, the sample of `make test`; a larger number of random captures; or the seeds of the first and the last one, as in 100-199. REAL: number of real streams
(bench/real_streams). Each capture is decoded with each MPI on 1, 2, 3 and 5 ranks, each time for another command. A capture that fails is
named, and the others are still compared.
"""
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import captures
from harness import NTRACE, ROOT, Failure, Run, case, check, equal, main, need, scratch

FIRST, LAST = map(int, sys.argv[2].split("-")) if "-" in sys.argv[2] else (0, int(sys.argv[2]) - 1)
REAL = int(sys.argv[3])
SAMPLE = FIRST == LAST == 0  # less of each kind
EACH = 14  # of the sample, one in so many commands
MPI = list(zip(sys.argv[4::2], sys.argv[5::2]))
RANKS = (1, 2, 3, 5)
ONE_FILE = ("sqlite", "perf.data")  # written to a file only
FOLDER = ("ctf",)  # written to a folder only


def formats(command):
    done = Run(command, "--to", "list")
    return [[command, "--to", line.split()[0]] for line in done.lines() if line.split()[0] not in ONE_FILE + FOLDER]


# Commands with partial answers; those for large captures; those without.
ADDED = [["profile", *words] for words in (
    [], ["--format", "csv"], ["--by", "image"], ["--by", "line"], ["--by", "instruction", "--format", "csv"], ["--by", "hart"],
    ["--by", "context"], ["--by", "process"], ["--by", "thread"], ["--by", "mode"], ["--by", "interrupt", "--format", "csv"],
    ["--by", "data"])]
OF_FUNCTIONS = [["profile", "--callers", "function0", "--callees", "function0"], ["profile", "--annotate=function0"]]  # of random programs
ADDED += [["coverage", "--level", level] for level in ("object", "line", "branch")] + [["flame", "--per", "hart", "--to", "folded"]]
ADDED += [["decode", "--show", output] for output in ("span", "call", "count", "event")]
ADDED += [["profile", "--by", "syscall"], ["profile", "--by", "syscall", "--format", "jsonl"], ["profile", "--by", "boot-phase"], ["report"]]
CHUNKED = [["profile"], ["profile", "--by", "instruction", "--format", "csv"], ["flame", "--per", "context", "--to", "folded"],
           ["export", "--to", "calltree"], ["export", "--to", "callgrind"], ["timeline"],
           ["timeline", "--to", "json"], ["report"]]
WITHOUT = [["stat"]]


def add_formats():
    """Adds the formats of the commands that export."""
    for command in ("flame", "export", "timeline", "coverage"):
        ADDED.extend(words for words in formats(command) if "decisions" not in words[-1])  # random programs have no sources


def direct(command, trace, *more):
    return Run(*command, *more, *trace, status=None)


def unrated(output):
    """Without the last member of JSON documents, which says what the answer rests on: a partial answer does not have the stream."""
    output = re.sub(rb", [0-9]+ messages fit and [0-9]+ contradict it", b"", output)  # of the page of a report
    return re.sub(rb',\n"quality":\{.*\}\}\n\Z', b"}\n", output)


def same(found, expected, what):
    check((found.status, unrated(found.bytes)) == (expected.status, unrated(expected.bytes)), f"{what}: other output: {found.err[-600:]}")


def ranks(program, mpirun, count, command, trace, expected):
    options = ["--allow-run-as-root", "--oversubscribe"] if "openmpi" in mpirun else []
    answer = os.path.join(scratch(), "answer-of-ranks")  # a file: Open MPI 5 writes lines of standard output to standard error
    done = subprocess.run([mpirun, *options, "-n", str(count), program, *command, "-o", answer, *trace], capture_output=True, timeout=600, check=False,
                          env=dict(os.environ, TMPDIR=scratch()))
    what = f"{command} on {count} ranks of {mpirun}"
    if expected.status == 0:
        equal(done.returncode, 0, f"{what}: {done.stderr[-600:]}")
    with open(answer, "rb") as file:
        found = file.read()
    check(unrated(found) == unrated(expected.bytes), f"{what}: other output: {done.stderr[-600:]}")


def parts(command, trace, count):
    files = []
    for part in range(1, count + 1):
        files.append(os.path.join(scratch(), f"{part}-{count}.part"))
        done = Run(*command, "--partial", files[-1], "--shard", f"{part}/{count}", *trace, status=None)
        check(done.status < 2, f"{command}: part {part} of {count}: {done.err}")
    return files


def compare(trace, chance, what, more=()):
    """`trace`: options, and the trace as the last word. `more`: commands with partial answers."""
    compare_commands(trace, chance, what, [*ADDED[chance.randrange(EACH)::EACH], *more] if SAMPLE else [*ADDED, *more], WITHOUT)
    for (program, mpirun), count in itertools.product(MPI, RANKS[1::2] if SAMPLE else RANKS):
        command = chance.choice(ADDED)
        ranks(program, mpirun, count, command, trace, direct(command, trace))


def compare_commands(trace, chance, what, added, without):
    for command in added + without:
        one = direct(command, trace, "-j", "1") if command != ["stat"] else direct(command, trace)
        check(one.status < 2, f"{what}: {command}: {one.err}")
        if command != ["stat"]:
            same(direct(command, trace, "-j", "2"), one, f"{what}: {command} -j 2")
        if command in added:
            files = parts(command, trace, chance.choice((1, 2, 3, 4, 7)))
            chance.shuffle(files)
            same(Run("combine", "--redo", *files, *command, *trace[:-1], status=None), one, f"{what}: {command} of {len(files)} parts")


def each(captures_of, compare_one):
    """Compares every capture; fails with the messages of those that differ."""
    failed, number = [], 0
    for one in captures_of:
        number += 1
        try:
            compare_one(one)
        except (Failure, AssertionError, subprocess.TimeoutExpired) as why:
            failed.append(f"{one}: {why}")
            print(f"# failed: {failed[-1]}"[:3000].replace("\n", "\n# "), flush=True)
    print(f"# {number - len(failed)} of {number} captures passed", flush=True)
    check(not failed, f"{len(failed)} of {number} captures: {[why[:100] for why in failed]}")


def make(seed, chance):
    return captures.Capture(NTRACE, scratch(), 9000 + seed, length=chance.choice((300, 3000, 9000)), sync=chance.choice((0, 1, 3)),
                            damage=chance.choice((0, 0, 1, 5)))


def random_capture(seed):
    chance = random.Random(seed)
    capture = make(seed, chance)
    compare([capture.path], chance, f"capture {seed}, {capture.options}", OF_FUNCTIONS)
    shutil.rmtree(capture.path)


@case(f"random captures {FIRST} to {LAST}")
def random_captures():
    each(range(FIRST, LAST + 1), random_capture)


@case("formats that are written to a file only")
def one_file():
    capture = captures.Capture(NTRACE, scratch(), 9500, length=3000)
    for name in ONE_FILE:
        command, to = ["export", "--to", name], os.path.join(scratch(), "one-file")
        found = []
        for words in ([*command, "-j", "1", capture.path], [*command, "-j", "2", capture.path],
                      ["combine", *reversed(parts(command, [capture.path], 5)), *command]):
            Run(*words, "-o", to)
            with open(to, "rb") as file:
                found.append(file.read())
        check(len(found[0]) > 10000, f"{name}: {len(found[0])} bytes")
        equal([one == found[0] for one in found], [True] * 3, f"{name}: one thread, two threads, five parts")


@case("functions have the same numbers when one is reached and a gap follows at once")
def numbers_of_functions():
    chance = random.Random(137)
    capture = make(137, chance)
    compare_commands([capture.path], chance, "capture 137", [["flame", "--to", "speedscope"], ["export", "--to", "dot"]], [])


@case("captures of several chunks, with and without timestamps, on two and three threads")
def chunks():
    settings = [(["--timestamps", "--mode", "btm"], 3), (["--timestamps", "--mode", "btm"], 0), (["--mode", "btm"], 3)]
    for options, damage in settings[:1 if SAMPLE else None]:
        capture = captures.Capture(NTRACE, scratch(), 8000, length=2500000, sync=2, options=options, damage=damage)
        check(capture.size > 2 << 19, f"{capture.size} bytes are no two chunks")
        for command in CHUNKED[::4] if SAMPLE else CHUNKED:
            one = direct(command, [capture.path], "-j", "1")
            for jobs in "3" if SAMPLE else "23":
                same(direct(command, [capture.path], "-j", jobs), one, f"{options}, {damage} bits: {command} -j {jobs}")


def real(name, options):
    """The options and the stream of a real program. --src selects one source, which parts cannot; there is no other one."""
    options, files = options[:options.index("--src")], []
    for kind in ("elf", "nex"):
        files.append(os.path.join(scratch(), f"{name}.{kind}"))
        with open(files[-1], "wb") as file:
            subprocess.run(["zstd", "-dcq", os.path.join(ROOT, "bench", "real_streams", f"{name}.{kind}.zst")], stdout=file, check=True)
    return ["-e", files[0], *options, files[1]]


@case(f"{REAL} streams of real programs")
def real_captures():
    need("zstd")
    with open(os.path.join(ROOT, "bench", "real_streams", "streams.json"), encoding="ascii") as file:
        streams = json.load(file)
    names = list(streams)[:REAL]
    each(names, lambda name: compare(real(name, streams[name]["options"]), random.Random(names.index(name)), name))


add_formats()
main()
