#!/usr/bin/env python3
"""Loops cost their messages: what is counted by multiplication is what a walk over each instruction counts.

The program has one loop of three blocks with jumps, so that no message comes. The expected counts are those of a simulation of the
loop in this file, for each part of the stream between two messages.
"""
import collections
import csv
import io
import json
import os
import resource
import struct
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, bytes_of, case, check, equal, main, write
import tiny

BASE = 0x1000
LOOP = [0x1000, 0x1004, 0x1100, 0x1200, 0x1204]  # in the order of execution; each has two halfwords
JUMPS = {0x1004: 0x1100, 0x1100: 0x1200, 0x1204: 0x1000}
ADD = 0x00c50533
START = f"ProgTraceSync SYNC=3 ICNT=0 FADDR=0x{BASE >> 1:x}"
LONGEST = 0.5  # processor seconds of one command


def jump(offset):
    o = offset & 0x1fffff
    return 0x6f | (o >> 20 & 1) << 31 | (o >> 1 & 0x3ff) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xff) << 12


def program():
    code = bytearray(0x208)
    for at in LOOP:
        struct.pack_into("<I", code, at - BASE, jump(JUMPS[at] - at) if at in JUMPS else ADD)
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, BASE, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    return write("loop.elf", header + struct.pack("<IIQQQQQQ", 1, 5, 120, BASE, BASE, len(code), len(code), 8) + bytes(code))


# Instructions up to each message; none is a multiple of the loop.
PARTS = [50003, 0, 1, 61234, 7, 3]


def stream(timed=False, parts=PARTS, name="loop.nex"):
    stamp = (lambda n: f" TSTAMP={n}") if timed else (lambda n: "")
    lines = [START + stamp(1000)]
    lines += [f"ProgTraceSync SYNC=2 ICNT={2 * n} FADDR=0x{LOOP[sum(parts[:i + 1]) % 5] >> 1:x}{stamp(1000 * (i + 2))}"
              for i, n in enumerate(parts)]
    lines.append("ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0" + stamp(5))
    return write(("timed-" if timed else "") + name, bytes_of("\n".join(lines) + "\n"))


def executed(first, last):
    """How often each address of the loop is executed by the parts [first, last)."""
    counts = collections.Counter()
    for part in range(first, last):
        begin, size = sum(PARTS[:part]), PARTS[part]
        for at, address in enumerate(LOOP):
            counts[address] += size // 5 + ((at - begin) % 5 < size % 5)
    return +counts


def profile(path, *options):
    run = Run("profile", "--src-bits", "0", "-e", program(), path, "--by", "instruction", "--format", "csv", *options)
    return collections.Counter({int(row["address"], 16): int(row["self"]) for row in csv.DictReader(io.StringIO(run.out))})


def printed(path, *options):
    return collections.Counter(int(line.split()[0], 16)
                               for line in Run("decode", "--src-bits", "0", "-e", program(), path, "--output", "pc", *options).lines())


@case("profile counts what the simulation executes, and decode prints the same instructions")
def whole():
    for timed in (False, True):
        expected = executed(0, len(PARTS))
        equal(printed(stream(timed)), expected, "printed")
        for options in ([], ["-j", "1"], ["-j", "2"]):
            equal(profile(stream(timed), *options), expected, f"profile {options}")


@case("windows that begin and end inside of the loop, by message and by time")
def windows():
    for timed in (False, True):
        for first in range(len(PARTS)):
            for last in range(first, len(PARTS)):
                ends = ([f"t:{1000 * (first + 2)}", f"t:{1000 * (last + 2)}"] if timed else [f"#{first + 2}", f"#{last + 2}"])
                expected = executed(first, last + 1)
                if not expected:
                    continue
                equal(profile(stream(timed), "--from", ends[0], "--to", ends[1]), expected, f"{ends}")


@case("the totals of a part are those of its instructions")
def part_totals():
    text = Run("decode", "--src-bits", "0", "-e", program(), stream(), "--output", "count", "--from", "#2", "--to", "#5").out
    totals = dict(line.split() for line in text.splitlines())
    equal(int(totals["instructions"]), sum(PARTS[:4]), "instructions")
    equal(int(totals["halfwords"]), 2 * sum(PARTS[:4]), "halfwords")


COMMANDS = [["decode", "--output", "count"], ["decode", "--output", "none"], ["profile"], ["profile", "--by", "instruction"], ["stat"], ["top"],
            ["coverage"], ["flame", "-o", "flame.svg"], ["timeline", "-o", "timeline"], ["report", "-o", "report.html"], ["check"],
            ["export", "--to", "callgrind", "-o", "callgrind"], ["syscalls"]]


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@case("a spin of 10^14 instructions takes no time, with and without timestamps")
def long_spins():
    huge = [20_000_000_000_000] * 5
    for timed in (False, True):
        path = stream(timed, huge, "huge.nex")
        os.utime(path, (1, 1))  # top reads on a file that was changed just now
        for command in COMMANDS:
            begin = processor_seconds()
            run = Run(*command, "--src-bits", "0", "-e", program(), path, status=None, cwd=os.path.dirname(path))
            seconds = processor_seconds() - begin
            check(seconds < LONGEST, f"{command} {timed}: {seconds:.2f} s")
            check(run.status < 2 or "debug" in run.err, f"{command} {timed}: {run.err}")
            if command[0] == "decode" and command[2] == "count":
                equal(run.lines()[0], "instructions 100000000000000", "instructions")
            if command == ["profile"]:
                equal(run.lines()[0], "# 100000000000000 instructions", "instructions")



def questions(path, elf, *asked):
    begin = processor_seconds()
    words = [word for question in asked for word in ("--ask", json.dumps(question))]
    answers = [json.loads(line) for line in Run("explore", "--src-bits", "0", "--implicit-return", "full", "-e", elf, path, "--cache", "none", *words).lines()]
    return answers, processor_seconds() - begin


@case("the explorer walks over spins of 10^14 instructions, and over those whose counter overflows every two million")
def explored():
    huge = 100_000_000_000_000
    counters = "\n".join([START] + ["ResourceFull RCODE=0 RDATA0=4194302"] * 3000 + ["ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0"])
    for path, total in ((stream(False, [huge // 5] * 5, "huge.nex"), huge), (write("counters.nex", bytes_of(counters)), 3000 * 2097151)):
        answers, seconds = questions(path, program(), {"query": "functions"}, {"query": "at", "position": total - 12345},
                                     {"query": "overview", "columns": 10}, {"query": "find", "text": "0x1100", "position": total // 3})
        check(seconds < LONGEST, f"{path}: {seconds:.2f} s")
        equal(answers[0]["rows"][0]["self"], total, "instructions")
        equal(answers[1]["hart"]["address"], hex(LOOP[(total - 12345) % 5]), "address")
        equal(sum(answers[2]["harts"][0]["instructions"]), total, "overview")
        equal(answers[3]["position"], total // 3 + (2 - total // 3) % 5, "found")


def with_calls():
    """A loop that calls a function, which calls another one: words, with their addresses, and one pass of the loop."""
    words = {0x1000: ADD, 0x1004: jump(0xfc) | 1 << 7, 0x1008: jump(-8),  # main: add; call 0x1100; j main
             0x1100: 0x00008293, 0x1104: jump(0xfc) | 1 << 7, 0x1108: 0x00028093, 0x110c: 0x00008067,  # mv t0, ra; call; mv ra, t0; ret
             0x1200: ADD, 0x1204: ADD, 0x1208: 0x00008067}
    return words, [0x1000, 0x1004, 0x1100, 0x1104, 0x1200, 0x1204, 0x1208, 0x1108, 0x110c, 0x1008]


@case("a loop with calls has the functions, calls, slices and columns of the same execution with many messages")
def loops_with_calls():
    words, one = with_calls()
    code = bytearray(0x210)
    for at, word in words.items():
        struct.pack_into("<I", code, at - BASE, word)
    elf = write("calls.elf", tiny.elf(base=BASE, code=bytes(code), symbols=[
        (name, at - BASE + tiny.BASE, size) for name, at, size in (("main", 0x1000, 12), ("outer", 0x1100, 16), ("inner", 0x1200, 12))]))
    passes = 560_000  # more slices than the index keeps, twice: of inner, then of outer
    asked = [{"query": "functions"}, {"query": "functions", "from": 12345, "to": 77777}, {"query": "tree"}, {"query": "slices", "from": 1024, "to": 3333}, {"query": "slices"},
             {"query": "overview", "columns": 7}, {"query": "at", "position": 54321}, {"query": "find", "text": "inner", "position": 2_560_003, "direction": "previous"}]
    answers = []
    for each in (passes, 1000):  # in one message, and in one for each thousand: too few to be multiplied
        syncs = [f"ProgTraceSync SYNC=2 ICNT={2 * len(one) * each} FADDR=0x{BASE >> 1:x}"] * (passes // each - 1)
        path = write(f"calls{each}.nex", bytes_of("\n".join([START, *syncs, f"ProgTraceCorrelation EVCODE=4 CDF=0 ICNT={2 * len(one) * each}"])))
        answers.append(questions(path, elf, *asked)[0])
        for answer in answers[-1]:
            answer.pop("progress")
            for part in [answer.get("hart", {})] + answer.get("instructions", []):
                for member in ("message", "offset"):
                    part.pop(member, None)
    names = [function["name"] for function in answers[0][0]["functions"]]
    equal({names[row["function"]]: (row["self"], row["total"], row["calls"]) for row in answers[0][0]["rows"]},
          {"main": (3 * passes, 10 * passes, 0), "outer": (4 * passes, 7 * passes, passes), "inner": (3 * passes, 3 * passes, passes)}, "functions")
    for question, few, many in zip(asked, *answers):
        equal(few, many, question)


main()
