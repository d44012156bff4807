#!/usr/bin/env python3
"""diff: the executions of two traces compared, and that of a trace with a list of program counters."""
import json
import os
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import Run, case, check, equal, main, write

LEFT = tiny.START + "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=4 HIST=0x3\n"


SCONTEXT = 2  # FORMAT of an Ownership that carries scontext; PRV 0, V 0


def stream(name, text, *options):
    return write(name, Run("assemble", *options, "-", stdin=text.encode()).bytes)


def diff(*args, status=0):
    return Run("diff", "-e", write("tiny.elf", tiny.elf()), *args, status=status)


def listing(name, pcs):
    return write(name, "".join(f"{pc:#x}\n" for pc in pcs).encode())


@case("branch and history messages of one execution are the same")
def same():
    equal(diff(stream("b.nex", tiny.BTM), stream("h.nex", tiny.HTM)).lines(), ["same: 5 instructions"], "output")


@case("a synchronizing message in straight code is not a difference")
def divided():
    start, rest = tiny.START, "DirectBranch ICNT=2\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2\n"
    synced = start + "ProgTraceSync SYNC=2 ICNT=5 FADDR=0x85\n" + rest
    equal(diff(stream("b.nex", tiny.BTM), stream("s.nex", synced)).lines(), ["same: 5 instructions"], "output")


@case("a different execution: both sides are printed, status 1")
def execution():
    lines = diff(stream("h.nex", tiny.HTM), stream("l.nex", LEFT), status=1).lines()
    equal(lines[0], "difference 1: execution, after 0 equal instructions", "first line")
    check("0x100 <start>" in lines[1] and "not-taken" in lines[1], lines[1])
    check("taken -> 0x200 <left>" in lines[2], lines[2])


@case("after a difference, the comparison continues where both are equal again")
def meeting():
    right = "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nProgTraceCorrelation EVCODE=0 CDF=1 ICNT=9 HIST=0x5\n"
    again = "".join(right if way == "R" else LEFT for way in "RLLRRLRLLLRRRRLLRL")
    found = diff("--format", "jsonl", stream("x.nex", LEFT + again + LEFT + again),
                 stream("y.nex", right + again + right + again), status=1)
    rows = [json.loads(line) for line in found.lines()]
    equal([row["kind"] for row in rows], ["execution"] * 2, "differences")
    equal(rows[0]["after"], 0, "the first")
    check(rows[1]["after"] >= 17 * 3, "the second comes after what is equal between them")


@case("a list of program counters: equal, one missing, one that is not a number")
def lists():
    trace = stream("h.nex", tiny.HTM)
    equal(diff("--pc-list", trace, listing("all.pc", tiny.PCS)).lines(), ["same: 5 instructions"], "the same")
    equal(diff("--pc-list", trace, listing("trap.pc", tiny.PCS + [0x304])).lines(), ["same: 5 instructions"],
          "an EBREAK does not retire")
    lines = diff("--pc-list", trace, listing("less.pc", tiny.PCS[:2] + tiny.PCS[3:]), status=1).lines()
    equal(lines[0], "difference 1: execution, after 2 equal instructions", "first line")
    check("0x106" in lines[1] and "line 3" in lines[2] and "0x10a" in lines[2], "\n".join(lines))
    bad = write("bad.pc", b"0x100\nhello\n")
    check("line 2" in diff("--pc-list", trace, bad, status=2).err, "the line is named")


@case("another context is a difference; a context that only one side has is not")
def contexts():
    def own(process):
        return stream(f"own{process}.nex", tiny.START + f"Ownership PROCESS={process << 5 | SCONTEXT:#x}\n"
                      + tiny.HTM[len(tiny.START):])

    check("difference 1: context" in diff(own(1), own(2), status=1).out, "context")
    diff(own(1), own(1))
    diff(own(1), stream("h.nex", tiny.HTM))


@case("each source is compared separately, in any order of the sources")
def sources():
    parts = [[line + f" SRC={src}" for line in tiny.HTM.splitlines()] for src in (0, 1)]
    straight = stream("s.nex", "\n".join(parts[0] + parts[1]) + "\n", "--src-bits", 1)
    mixed = stream("m.nex", "\n".join(line for pair in zip(*parts) for line in pair) + "\n", "--src-bits", 1)
    equal(diff("--src-bits", 1, straight, mixed).lines(), ["same: 10 instructions"], "both")
    one = stream("o.nex", "\n".join(parts[0]) + "\n", "--src-bits", 1)
    check("of source 1" in diff("--src-bits", 1, straight, one, status=1).out, "source 1 is missing")
    diff("--src-bits", 1, "--src", 0, straight, one)


@case("gaps in both traces are reported: what they hide may differ, status 1")
def gaps():
    with open(stream("h.nex", tiny.HTM), "rb") as file:
        sound = file.read()
    run = diff("--dialect", "ntrace-1.0", *(write(name, sound + b"\x02\x03" + sound) for name in ("one.nex", "other.nex")), status=1)
    equal(run.lines(), ["same, outside of gaps: 10 instructions"], "output")
    equal([line.rsplit("/", 1)[1] for line in run.err.splitlines()],
          [f"{name}: 1 gaps: execution in gaps is not compared" for name in ("one.nex", "other.nex")], "standard error")


@case("three damaged bytes are one difference, also in a loop whose iterations are alike")
def damaged():
    right = "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nProgTraceCorrelation EVCODE=0 CDF=1 ICNT=9 HIST=0x5\n"
    text = "".join((LEFT * (number % 7 + 1)) + right * 3 for number in range(60))
    with open(stream("sound.nex", text), "rb") as file:
        sound = file.read()
    for at in range(40, len(sound) - 40, 97):
        hurt = sound[:at] + b"\x02\x02\x02" + sound[at + 3:]
        found = diff("--max", "50", write("sound.nex", sound), write("hurt.nex", hurt), status=1)
        equal(len([line for line in found.lines() if line.startswith("difference")]), 1, f"differences, damage at {at}")


@case("unreadable input: status 2")
def unreadable():
    check("nothing.nex" in diff("nothing.nex", stream("h.nex", tiny.HTM), status=2).err, "named")


main()
