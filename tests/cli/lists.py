#!/usr/bin/env python3
"""encode: lists and logs in which an instruction does not follow the one before it. The code is written by hand:

0x1000 nop, 0x1004 nop, 0x1008 beq x0, x0, 0x1020, 0x100c nop, 0x1010 ecall, 0x1014 nop, ..., 0x1020 nop, ..., 0x103c j 0x1000
"""
import os
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, matches, scratch, write

NOP, ECALL, BEQ, JUMP = 0x13, 0x73, 0x00000C63, 0xFC5FF06F
CODE = [NOP, NOP, BEQ, NOP, ECALL, *[NOP] * 10, JUMP]
SAID = r"expected each instruction to follow the one before it or a trap, found {} that do not, the first at {}{} instead of {}; "


def words(pcs):
    return "".join(f"{pc:#x}\n" for pc in pcs).encode()


def encode(pcs, *options, status=0):
    code = write("code.bin", b"".join(word.to_bytes(4, "little") for word in CODE))
    return Run("encode", "--xlen", "64", "--raw", f"{code}@0x1000", "--pc", "-", *options, stdin=words(pcs), status=status)


def ends(pcs):
    """(address, itype) of the records with an exception or interrupt, and the messages."""
    done = encode(pcs, "--show", "ingress")
    rows = [dict(zip(done.lines()[0].split(","), line.split(","))) for line in done.lines()[1:]]
    return [(row["iaddr"], row["itype"]) for row in rows if row["itype"] in ("1", "2")], done.err


@case("code that follows says nothing: branches, ECALL that is listed, jumps")
def follows():
    pcs = [0x1000, 0x1004, 0x1008, 0x1020, *range(0x1024, 0x1040, 4), 0x1000, 0x1004, 0x1008, 0x100C, 0x1010, 0x1034, 0x1038, 0x103C]
    equal(ends(pcs), ([("0x100c", "1")], ""), "traps and messages")
    check(encode(pcs, "--strict").bytes, "--strict takes the list")


@case("ECALL does not retire: a list without it has an exception there, not an interrupt")
def ecall():
    equal(ends([0x1000, 0x1004, 0x1008, 0x100C, 0x1030, 0x1034]), ([("0x100c", "1")], ""), "traps and messages")


@case("the number of discontinuities and the first one; each is an interrupt")
def discontinuities():
    pcs = [0x1000, 0x1004, 0x1018, 0x101C, 0x1000, 0x1004, 0x1008, 0x1030]
    found, error = ends(pcs)
    equal(found, [("0x1000", "2"), ("0x1018", "2"), ("0x100c", "2")], "interrupts")
    matches(SAID.format(3, "program counter 3, ", "0x1018", "0x1008") + "the trace has an interrupt at each of them", error, "message")


@case("--strict refuses them, and leaves no file")
def strict():
    target = os.path.join(scratch(), "refused.nex")
    done = encode([0x1000, 0x1004, 0x1008, 0x1024], "--strict", "-o", target, status=2)
    matches(SAID.format(1, "program counter 4, ", "0x1024", "0x100c") + "--strict refuses them", done.err, "message")
    check(not os.path.exists(target), "no file")


def spike(*lines):
    return Run("encode", "--spike-log", "-", stdin="".join(f"core   0: {line}\n" for line in lines).encode())


@case("Spike's logs: a trap that the log tells explains where execution goes on; without it, nothing does")
def logs():
    before, after = "0x0000000000001000 (0x00000013) nop", "0x0000000000002000 (0x00000013) nop"
    trap = ("exception trap_load_page_fault, epc 0x0000000000001004", "          tval 0x0000000000000000")
    equal(spike(before, *trap, after).err, "", "a trap")
    matches(SAID.format(1, "", "0x2000", "0x1004"), spike(before, after).err, "no trap")
    matches(SAID.format(1, "", "0x1010", "0x1004"), spike(before, trap[0].replace("1004", "1010"), trap[1], after).err, "a trap at another place")


main()
