#!/usr/bin/env python3
"""Stream parameters without options: the defaults win unless others explain the stream better by a margin, and a stream that is inconsistent
stays inconsistent. Streams and their program, pa.elf, are in tests/corpus/spec."""
import os
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, Run, case, check, equal, main, matches, write

SPEC = os.path.join(ROOT, "tests", "corpus", "spec")
PROGRAM = os.path.join(SPEC, "pa.elf")
INCONSISTENT = ["j_btm_ptcpast_2", "j_btm_ptcpast_40", "sync2_wrong", "rf_res3", "i_rfstop_40", "htm_pts_losthist", "inf_rf8_long"]
BAD = ["j_btm_ptcpast_2", "sync2_wrong", "rf_res3", "htm_pts_losthist"]  # nearly every message contradicts the defaults
DEFAULTS = ("--dialect", "ntrace-1.0")


def spec(name):
    return os.path.join(SPEC, name + ".nex")


def assembled(name, *lines):
    return write(name, Run("assemble", "-", stdin="\n".join(lines).encode()).bytes)


def messages(before, middle, after):
    """A loop of pa.elf in BTM: 0x400 addi, 0x404 bne 0x400, 0x408 jr."""
    return ["ProgTraceSync SYNC=3 ICNT=0 FADDR=0x200", *["DirectBranch ICNT=4"] * before, *middle, *["DirectBranch ICNT=4"] * after]


def same_as_defaults(stream, *options):
    """Reads as with the defaults given, which a command takes as they are, and ends with status 1."""
    given = Run("decode", stream, "-e", PROGRAM, *DEFAULTS, status=1)
    found = Run("decode", stream, "-e", PROGRAM, *options, status=1)
    equal(found.out, given.out, f"{stream} {options}")
    check("# gap" in given.out, "a gap is reported")
    return found


def inconsistent(name):
    said = same_as_defaults(spec(name)).err
    check("assumed" not in said, "nothing is assumed")
    equal("contradicts the defaults of N-Trace 1.0, and no other parameters fit clearly better" in said, name in BAD, "a line says so")
    same_as_defaults(spec(name), "--auto")


def one_message(count):
    end = ["ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0"]
    past = ["ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=8"]
    same_as_defaults(assembled("past.nex", *messages(count, past, 0)))
    again = ["ProgTraceSync SYNC=3 ICNT=0 FADDR=0x200"]
    same_as_defaults(assembled("middle.nex", *messages(count, past + again, count), *end))
    session = messages(count, end, 0)
    same_as_defaults(assembled("stray.nex", *session, "ResourceFull RCODE=0 RDATA0=0x40", *session))
    same_as_defaults(assembled("rcode.nex", *messages(count, ["ResourceFull RCODE=9 RDATA0=1"], 0), *again, *end))


@case("parameters that a stream of some length needs are found and said in one line; one of a few messages keeps the defaults")
def found():
    hot = ["ProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x200", *["DirectBranch SRC=1 ICNT=4"] * 40]
    end = ["ProgTraceCorrelation SRC=1 EVCODE=4 CDF=0 ICNT=0"]
    for lines, status in ((hot + end, 0), (hot[:4] + end, 1)):
        stream = write("src.nex", Run("assemble", "--src-bits", 3, "-", stdin="\n".join(lines).encode()).bytes)
        run = Run("decode", stream, "-e", PROGRAM, "--show", "count", status=status)
        equal("--src-bits 3 (" in run.err, status == 0, "assumed")
        equal(run.err.count("assumed from the stream"), int(status == 0), "lines")


@case("a gap that is open at the end counts: implicit returns without a synchronizing message")
def open_gap():
    # 0x700 jal 0x600, 0x600 addi, 0x604 ret, 0x704 addi, 0x708 jal 0x600, 0x600, 0x604, 0x70c jr 0x700
    turn = "IndirectBranch BTYPE=0 ICNT=16 UADDR=0"
    stream = assembled("returns.nex", "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x380", *[turn] * 40)
    run = Run("decode", stream, "-e", PROGRAM, "--show", "count")
    matches(r"--implicit-return full \((sure|likely)\)", run.err, "what is assumed")
    equal(run.out.split()[:2], ["instructions", "320"], "all executed instructions")
    few = assembled("few.nex", "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x380", *[turn] * 2)
    same_as_defaults(few)


def times(name, *absolute, sync=2):
    """Synchronizing messages with these times, and messages of the loop between them."""
    lines = [line for time in absolute for line in (f"ProgTraceSync SYNC={sync} ICNT=0 FADDR=0x200 TSTAMP={time}", *["DirectBranch ICNT=4 TSTAMP=1"] * 3)]
    lines[0] = lines[0].replace(f"SYNC={sync}", "SYNC=3")
    return assembled(name, *lines, "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0 TSTAMP=1")


@case("NT-285: a time that goes back shows no width of the counter, unless it wraps from its upper half to its lower one, twice")
def width_of_times():
    for name, *absolute, sync in (("once", 1000, 3, 20, 40, 2), ("damage", 10, 300, 20, 900, 30, 2), ("resets", 1000, 3, 900, 7, 1), ("power", 1000, 3, 900, 7, 9)):
        stream = times(f"{name}.nex", *absolute, sync=sync)
        check("ts-width" not in Run("decode", stream, "-e", PROGRAM).err, f"{name}: no width is assumed")
        back = "tstamp-back" in Run("check", stream, "-e", PROGRAM, status=None).out
        equal(back, sync == 2, f"{name}: check reports the time, except after a reset")
    stream = times("wraps.nex", 600, 1000, 3, 500, 1010, 20)
    matches("--ts-width 10 .likely.", Run("decode", stream, "-e", PROGRAM).err, "a counter of 10 bits")
    matches("vanish with --ts-width 10", Run("check", stream, "-e", PROGRAM, status=1).err, "check names the width")


@case("check says when other parameters explain its errors, and only then")
def check_hint():
    turn = "IndirectBranch BTYPE=0 ICNT=16 UADDR=0"
    lines = ["ProgTraceSync SYNC=3 ICNT=0 FADDR=0x380", *[turn] * 40, "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0"]
    stream = assembled("returns.nex", *lines)
    run = Run("check", stream, "-e", PROGRAM, status=1)
    matches(r"all of these errors vanish with --implicit-return full \((sure|likely)\).*; --auto infers", run.err, "hint")
    check("vanish" not in Run("check", stream, "-e", PROGRAM, "--implicit-return", "full").err, "no hint without errors")
    check("vanish" not in Run("check", stream, "-e", PROGRAM, "--implicit-return", "off", status=1).err, "what is given stays")
    for name in INCONSISTENT[:-1]:  # RCODE 8 of the last one is a note
        check("vanish" not in Run("check", spec(name), "-e", PROGRAM, status=1).err, f"{name}: errors stay")


@case("--implicit-return count refuses an execution that it cannot trace")
def misplaced():
    pcs = "".join(f"{pc:#x}\n" for pc in (0x700, 0x600, 0x604, 0x708, 0x600, 0x604, 0x70c, 0x700, 0x600)).encode()  # the first return skips 0x704
    out = write("count.nex", b"")
    os.remove(out)
    options = ("encode", "-e", PROGRAM, "--pc", "-", "-o", out)
    said = Run(*options, "--implicit-return", "count", "--early-returns", stdin=pcs, status=1).err
    matches("expected returns to go to the instruction after their call, found 1 that do not", said, "why")
    check(not os.path.exists(out), "no file")
    for mode in ("full", "count"):  # NT-305: no message has reported the calls, and the returns are sent
        Run(*options, "--implicit-return", mode, stdin=pcs)
        equal(Run("decode", out, "-e", PROGRAM, "--implicit-return", mode, "--show", "pc").out.encode(), pcs, f"with --implicit-return {mode}")


@case("diff --auto reports each stream once")
def once():
    said = Run("diff", "--auto", "-v", spec("ext_k"), spec("ext2"), "-e", PROGRAM, status=1).err
    for name in ("ext_k", "ext2"):
        equal(said.count(f"{name}.nex: auto: dialect"), 1, name)


for each in INCONSISTENT:
    case(f"{each}: a stream that is inconsistent is read with the defaults, with a gap and status 1", each)(inconsistent)
for each in (2, 20, 400):
    case(f"{each} messages, and one that other parameters would explain", each)(one_message)
main()
