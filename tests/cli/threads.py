#!/usr/bin/env python3
"""decode -j: many threads say what one says, in every form, of good and of damaged streams."""
import random
import subprocess

import tiny
from harness import NTRACE, bytes_of, case, check, equal, main, write

MOVES = "".join(f"Ownership PROCESS={number << 5 | 2}\n{tiny.HTM}" for number in (7, 9))
CALM = tiny.HTM + tiny.BTM + "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\nDirectBranch ICNT=7\nRepeatBranch BCNT=2\n"
FORMS = [(output, form) for output in ("pc", "branch", "span", "event", "insn", "call", "none") for form in ("text", "jsonl", "csv")]


def stream(size, damage=0):
    """Contexts change now and then; so many bytes are spoilt."""
    calm, moves = bytes_of(CALM), bytes_of(MOVES)
    data = bytearray()
    while len(data) < size:
        data += calm * 200 + moves
    chance = random.Random(1)
    for _ in range(damage):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def decode(jobs, trace, *options):
    command = [NTRACE, "decode", trace, "-e", write("program.elf", tiny.elf()), "-j", str(jobs), *options]
    done = subprocess.run(command, capture_output=True)
    done.stderr = done.stderr.decode(errors="replace")
    return done


def compare(trace, *options):
    one, many = decode(1, trace, *options), decode(3, trace, *options)
    equal(many.returncode, one.returncode, f"{options}: exit status")
    said = [line for line in many.stderr.splitlines() if "pieces were decoded by" not in line]
    equal(said, one.stderr.splitlines(), f"{options}: standard error")
    check(many.stdout == one.stdout, f"{options}: other output")


def compare_all(trace):
    for output, form in FORMS:
        compare(trace, "--output", output, "--format", form)
    compare(trace, "--output", "count")


@case("every form of a good stream")
def good():
    compare_all(write("good.nex", stream(300000)))


@case("every form of a damaged stream")
def damaged():
    compare_all(write("damaged.nex", stream(300000, 40)))


@case("a stream that starts in the middle of a message")
def middle():
    for cut in (1, 2, 5):
        compare(write("middle.nex", stream(300000)[cut:]), "--mid-stream")


@case("the first defect ends it, when asked to")
def strict():
    compare(write("strict.nex", stream(300000, 3)), "--strict")
    compare(write("strict.nex", stream(300000, 3)), "--strict", "--output", "count")


@case("streams of no pieces at all")
def small():
    for size in (0, 1, 300):
        compare(write("small.nex", stream(size)[:size]))
        compare(write("small.nex", stream(size)[:size]), "--output", "count")


@case("why many threads are no help is said")
def why():
    long = bytes_of(tiny.START) + bytes_of("Ownership PROCESS=0x3b2\n") * 2000000
    done = decode(2, write("long.nex", long), "--output", "none")
    check("there is no synchronizing message" in done.stderr, done.stderr)
    done = decode(2, write("good.nex", bytes_of(tiny.HTM) * 300000), "--output", "none")
    equal(done.stderr.count("pieces"), 0, "notes")


main()
