#!/usr/bin/env python3
"""encode --rvvi and --rvfi: logs that were written by hand, in the forms that cores and verification environments write.

usage: core_logs.py NTRACE

The program: 0x1000 nop, 0x1004 beq x0, x0, 0x1010, 0x1010 lw (traps), 0x2000 nop, 0x2004 mret, 0x1014 c.nop, 0x1016 nop, then an
interrupt: 0x2000 nop, 0x2004 mret, 0x101a nop.
"""
import os
import re
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, matches, write

NOP, BEQ, LW, MRET, CNOP, CSRW_MCAUSE = 0x13, 0x00000663, 0x0012A303, 0x30200073, 0x0001, 0x34231073
CODE = {0x1000: NOP, 0x1004: BEQ, 0x1010: LW, 0x2000: NOP, 0x2004: MRET, 0x1014: CNOP, 0x1016: NOP, 0x101A: NOP}
# (pc, privilege, what happens): "trap": it does not retire; "handler": an interrupt came before, at the address that is given
RUN = [(0x1000, 0, None), (0x1004, 0, None), (0x1010, 0, "trap"), (0x2000, 3, "after"), (0x2004, 3, None), (0x1014, 0, None),
       (0x1016, 0, None), (0x2000, 3, "handler"), (0x2004, 3, None), (0x101A, 0, None)]
# iaddr, iretire, itype, priv
WANTED = [("0x1000", "2", "0", "0"), ("0x1004", "2", "5", "0"), ("0x1010", "0", "1", "0"), ("0x2000", "2", "0", "3"), ("0x2004", "2", "3", "3"),
          ("0x1014", "1", "0", "0"), ("0x1016", "2", "2", "0"), ("0x2000", "2", "0", "3"), ("0x2004", "2", "3", "3"), ("0x101a", "2", "0", "0")]
HEAD = "VERSION 0 3\nVENDOR \"A core\" 1 2\nPARAMS 4 XLEN 64 ILEN 32 NHART 2 RETIRE 2\n"


def digits(pc):
    return f"{CODE[pc]:08x}" if CODE[pc] & 3 == 3 else f"{CODE[pc]:04x}"


def encode(option, text, *options, status=0):
    return Run("encode", option, "-", *options, stdin=text.encode(), status=status)


def records(option, text, *options):
    done = encode(option, text, "--show", "ingress", *options)
    rows = [dict(zip(done.lines()[0].split(","), line.split(","))) for line in done.lines()[1:]]
    return [(row["iaddr"], row["iretire"], row["itype"], row["priv"]) for row in rows], done.err


def refused(option, text, wanted, *options):
    matches(wanted, encode(option, text, "--show", "ingress", *options, status=2).err, text.splitlines()[-1][:60])


def rvvi():
    lines = []
    for pc, mode, what in RUN:
        cause = {"trap": " C 0x341 'mepc' 0x1010 C 0x342 0x5 C 0x343 0x40", "after": "", "handler": " C 0x341 0x101a C 0x342 0x8000000000000007"}.get(what, "")
        lines.append(f"{'TRAP' if what == 'trap' else 'RET '} {pc:#x} 'it''s a name \\' 0x{digits(pc)} 'text' X 5 't0' 0x0 MODE 0x{mode}{cause}")
    return HEAD + "\n".join(lines) + "\n"


def table(separator, names, *cells):
    lines = [separator.join(names)]
    for i, (pc, mode, what) in enumerate(RUN):
        after = RUN[i + 1][0] if i + 1 < len(RUN) and RUN[i + 1][2] != "handler" else 0x101A
        values = {"order": i + 7, "pc": f"{pc:016x}", "insn": digits(pc), "mode": mode, "trap": int(what == "trap"), "next": f"{after:016x}",
                  "intr": int(what in ("after", "handler")), "text": '"addi, a ""b"""' if separator == "," else "addi x1,x2", "valid": 1, "x": "x" * 8}
        lines.append(separator.join(str(values[cell]) for cell in cells))
    return "\n".join(lines) + "\n"


def cva6():
    lines = ["*** [rvfi_tracer] WARNING No valid address of 'tohost'"]
    for pc, mode, what in RUN:
        if what == "trap":
            lines.append(f"LD_ACCESS_FAULT exception @ 0x{pc:016x} (0x{digits(pc)})")
        else:
            lines += [f"core   {'INTERRUPT ' if what == 'handler' else ''}0: 0x{pc:016x} (0x{CODE[pc]:08x}) DASM({CODE[pc]:08x})",
                      f"{mode} 0x{pc:016x} (0x{digits(pc)}) x 5 0x0000000000000000"]
    return "\n".join(lines) + "\n"


@case("RVVI-TEXT: branches, an exception, an interrupt that mcause tells, privilege modes")
def text():
    equal(records("--rvvi", rvvi()), (WANTED, ""), "records and messages")


@case("RVFI as a table: commas and quotes, with the prefix; rows that are not valid are left out")
def commas():
    log = table(",", ("rvfi_valid", "disassembly", "rvfi_order", "rvfi_pc_rdata", "rvfi_insn", "rvfi_mode", "rvfi_trap", "rvfi_intr", "rvfi_pc_wdata"),
                "valid", "text", "order", "pc", "insn", "mode", "trap", "intr", "next")
    equal(records("--rvfi", log.replace("\n", "\n0,x,x,x,x,x,x,x,x\n", 2)), (WANTED, ""), "records and messages")


@case("RVFI as a table: tabs, and blanks")
def blanks():
    names, cells = ("Time", "PC", "Insn", "mode", "trap", "intr", "pc_wdata", "Decoded instruction"), ("order", "pc", "insn", "mode", "trap", "intr", "next", "text")
    equal(records("--rvfi", table("\t", names, *cells)), (WANTED, ""), "tabs")
    equal(records("--rvfi", table("   ", names[1:], *cells[1:])), (WANTED, ""), "blanks")
    equal(records("--rvfi", table("\t", ("", *names[1:]), *cells)), (WANTED, ""), "a first column without a name")
    equal(records("--rvfi", table("\t", (*names[:2], "", *names[2:]), *cells)), (WANTED, ""), "tabs for the eye")


@case("the log of CVA6's RVFI tracer; --spike-log does not take it, as it would lose the interrupts")
def core():
    equal(records("--rvfi", cva6(), "--xlen", "64"), (WANTED, ""), "records and messages")
    refused("--rvfi", cva6(), "expected --xlen or a program")
    matches("--rvfi", Run("encode", "--spike-log", "-", "--show", "ingress", stdin=cva6().encode(), status=2).err, "--spike-log")


@case("the columns of Ibex tell no traps: what they leave open is counted and named, and --strict refuses it")
def ibex():
    log = table("\t", ("Time", "Cycle", "PC", "Insn", "Decoded instruction", "Register and memory contents"), "order", "order", "pc", "insn", "text", "text")
    found, error = records("--rvfi", log)
    matches("found 2 that do not, the first at 0x2000 instead of 0x1014", error, "message")
    check(("0x1010", "2", "2", "3") in found, "the load that trapped counts as retired, then an interrupt")
    encode("--rvfi", log, "--strict", "--show", "ingress", status=2)


@case("cycles are the time of the instructions")
def cycles():
    rows = encode("--rvfi", "cycle pc insn\n5 00001000 00000013\n9 00001004 00000013\n", "--show", "ingress").lines()
    times = [row.split(",")[rows[0].split(",").index("time")] for row in rows[1:]]
    equal(times, ["5", "9"], "times")
    rows = encode("--rvvi", HEAD + "CYCLE 5 RET 0x1000 0x13\nRET 0x1004 0x13 CYCLE 4\n", "--show", "ingress").lines()
    equal([row.split(",")[10] for row in rows[1:]], ["5", "9"], "times")


@case("RVVI-TEXT: lines that go on, several instructions in a line, their order, two harts")
def slots():
    log = HEAD + "HART 0 \\\n ISSUE 1 ORDER 1 RET 0x1004 0x13 \\\n ISSUE 0 ORDER 0 RET 0x1000 0x13\nHART 1 RET 0x5000 0x1 HART 0 RET 0x1008 1 RET 100a 0001\n"
    equal([row[:2] for row in records("--rvvi", log)[0]], [("0x1000", "2"), ("0x1004", "2"), ("0x1008", "1"), ("0x100a", "1")], "hart 0")
    equal([row[:2] for row in records("--rvvi", log, "--hart", "1")[0]], [("0x5000", "1")], "hart 1")
    refused("--rvvi", log, r"--hart: expected less than NHART \(2\)", "--hart", "2")


@case("RVVI-TEXT: virtualization and debug mode")
def modes():
    log = HEAD + "RET 0x1000 0x13 MODE 0x1 VIRT 1\nRET 0x1004 0x13 MODE 0x0\nRET 0x1008 0x13 VIRT 0\nRET 0x100c 0x13 DM 1\n"
    equal([row[3] for row in records("--rvvi", log)[0]], ["6", "5", "0", "4"], "modes")


@case("a program that writes mcause itself is no interrupt")
def writes():
    log = HEAD + f"RET 0x1000 0x13\nRET 0x1004 {CSRW_MCAUSE:#x} C 0x342 0x8000000000000007\nRET 0x1008 0x13\n"
    equal([row[2] for row in records("--rvvi", log)[0]], ["0", "0", "0"], "itypes")


@case("after a branch, an interrupt without an address is named: no outcome of the branch is invented silently")
def after_branch():
    log = "pc insn intr\n00001000 00000663 0\n00002000 00000013 1\n"
    matches("found 1 that do not", records("--rvfi", log)[1], "message")
    equal(records("--rvfi", log.replace(" intr\n", " intr pc_wdata\n").replace(" 0\n", " 0 0000100c\n").replace(" 1\n", " 1 00002004\n"))[0][:2],
          [("0x1000", "2", "5", "3"), ("0x100c", "0", "2", "3")], "with the address")


def images():
    code = b"".join(CODE.get(pc, NOP).to_bytes(4 if CODE.get(pc, 3) & 3 == 3 else 2, "little") for pc in (*range(0x1000, 0x1014, 4), 0x1014, 0x1016, 0x101A))
    low, high = write("low.bin", code), write("high.bin", NOP.to_bytes(4, "little") + MRET.to_bytes(4, "little"))
    return "--raw", f"{low}@0x1000", "--raw", f"{high}@0x2000"


@case("the streams of all forms are equal, and decode to the program counters that retired")
def streams():
    one = encode("--rvvi", rvvi(), "--xlen", "64").bytes
    two = encode("--rvfi", cva6(), "--xlen", "64").bytes
    equal(one, two, "streams")
    found = Run("decode", "--xlen", "64", *images(), "--show", "pc", "-", stdin=one).lines()
    equal([int(pc, 16) for pc in found], [pc for pc, _, what in RUN if what != "trap"], "program counters")


@case("export --to rvvi writes what retired and what trapped; encoded again, it is the same stream")
def back():
    stream = write("one.nex", encode("--rvvi", rvvi(), "--context", "scontext").bytes)
    lines = Run("export", "--to", "rvvi", "--xlen", "64", *images(), stream).lines()
    equal(lines[2:3], ["PARAMS 6 ILEN 32 XLEN 64 FLEN 0 VLEN 0 NHART 1 RETIRE 1"], "parameters")
    found = [re.sub(r" '[^']*'", "", line) for line in lines[3:]]
    events = {"trap": "TRAP", "handler": " META 2 interrupt 0x101a"}
    equal(found, [f"MODE 0x{mode} {'TRAP' if what == 'trap' else 'RET'} {pc:#x} 0x{digits(pc)}{events['handler'] if what == 'handler' else ''}" for pc, mode, what in RUN],
          "instructions")
    with open(stream, "rb") as file:
        equal(encode("--rvvi", "\n".join(lines) + "\n", "--context", "scontext").bytes, file.read(), "streams")


@case("a width of the log that is not that of --xlen or the program is refused")
def width():
    refused("--rvvi", HEAD + "RET 0x1000 0x13\n", r"XLEN: expected 32 .*found 64", "--xlen", "32")
    equal(records("--rvfi", "pc insn\n00001000 2001\n00001000 0001\n")[1], "", "8 digits: RV32, in which 0x2001 is C.JAL")
    matches("found 1 that do not", records("--rvfi", "pc insn\n0000000000001000 2001\n0000000000001000 0001\n")[1], "16 digits: RV64, in which it is C.ADDIW")
    signed = "pc insn\nffffffff80000000 2001\nffffffff80000000 0001\n"
    equal(records("--rvfi", signed, "--xlen", "32"), records("--rvfi", signed.replace("f" * 8, "")), "addresses of RV32 that are sign-extended")


@case("damaged logs: the line and what is wrong with it")
def damaged():
    refused("--rvvi", "RET 0x1000 0x13\nRET 0x1004 0x13\n", "line 1: expected VERSION, the first element of RVVI-TEXT")
    refused("--rvvi", "VERSION 1 0\nRET 0x1000 0x13\n", "line 1: expected RVVI-TEXT version 0, found 1.0")
    refused("--rvvi", "VERSION 0 3\nRET 0x1000 0x13\n", "line 2: expected PARAMS with XLEN")
    for line, wanted in (("RET 0x1000", "RET: expected a value, found the end of the line"), ("RET 0x1001 0x13", "expected an even pc, found 0x1001"),
                         ("RET zz 0x13", "RET: expected a hexadecimal number"), ("RET 0x1000 0x13 'open", "expected the end of a comment"),
                         ("LOAD 0 0", "expected an element of RVVI-TEXT"), ("RET 0x1000 0x13 MODE 0x2", "MODE: expected 0, 1 or 3, found 2"),
                         ("ISSUE 99 RET 0 1", "ISSUE: expected less than 64, found 99"), ("RET 0x1000 0x13 ISSUE 0 RET 0x1004 0x13", "expected one instruction in slot 0"),
                         ("META 5 a b", "META: expected a value"), ('NET "open 0', 'expected the end of a name'), ("VERSION 0 3", "expected VERSION at the beginning only"),
                         ("ORDER 4 RET 0x1000 0x13\nORDER 6 RET 0x1004 0x13", r"expected instruction 5 \(order\), found 6"),
                         ("CYCLE 18446744073709551615\nCYCLE 1", "more than 64 bits"), ("RET 0x10000000000000000 0x13", "at most 64 bits")):
        refused("--rvvi", HEAD + line + "\n", wanted)
    refused("--rvvi", HEAD.replace("A core", "ntrace") + "RET 0x1000 0x13\nRET 0x2000 0x13 META 1 gap\n", "line 5: instructions before this one are missing")
    refused("--rvvi", HEAD, "expected instructions of hart 0, found none")
    for log, wanted in (("cycle pc\n1 2\n", "line 1: expected the names of columns"), ("pc,PC,insn\n0,0,0\n", "expected each column once"),
                        ("pc insn\n4096 00000013\n", "line 2: expected a pc of 8 or 16 hexadecimal digits"), ("pc insn\n00001000\n", "expected 2 columns, found 1"),
                        ("pc insn\nxxxxxxxx 00000013\n", "expected a pc"), ("pc insn\n00001000 xxxxxxxx\n", "expected an opcode"),
                        ("pc insn mode\n00001000 00000013 2\n", "mode: expected 0, 1 or 3"), ("pc insn\n0x1000 00000013\n", "expected --xlen"),
                        ("pc insn\n0000000000001000 00000013\nffffffff80000000 00000013\n", r"line 3: expected --xlen or a program \(-e\): .* RV32 that is sign-extended"),
                        ("order pc insn\n1 00001000 00000013\n3 00001004 00000013\n", r"expected instruction 2 \(order\), found 3")):
        refused("--rvfi", log, wanted)


main()
