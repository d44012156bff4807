#!/usr/bin/env python3
"""Interrupts in a program whose handler has call frame information: an unmodified GDB shows the interrupted function and its callers,
also where that function has not saved its return address. The trace is encoded from a list of executed blocks."""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import Session, bundle, debuggers, program, run_gdb, server
from harness import NTRACE, case, check, equal, main, matches, need, scratch, write

# One instruction in each line, so that line numbers are those of instructions. W: the size of a word.
SOURCE = """
{main:}
addi sp, sp, -16; .cfi_def_cfa_offset 16
ST ra, 8(sp); .cfi_offset ra, -8
jal middle
ecall
{main.}
{middle:}
addi sp, sp, -16; .cfi_def_cfa_offset 16
ST ra, 8(sp); .cfi_offset ra, -8
jal leaf
LD ra, 8(sp); .cfi_restore ra
addi sp, sp, 16; .cfi_def_cfa_offset 0
ret
{middle.}
{leaf:}
addi sp, sp, -32; .cfi_def_cfa_offset 32
nop
addi sp, sp, 32; .cfi_def_cfa_offset 0
ret
{leaf.}
{handler:}
addi sp, sp, -32; .cfi_def_cfa_offset 32
ST ra, 24(sp); .cfi_offset ra, -8
jal serve
LD ra, 24(sp); .cfi_restore ra
addi sp, sp, 32; .cfi_def_cfa_offset 0
mret
{handler.}
{serve:}
nop
nop
ret
{serve.}
{second:}
nop
mret
{second.}
"""
LENGTHS = {"main": 4, "middle": 6, "leaf": 4, "handler": 6, "serve": 3, "second": 2}
NONE, EXCEPTION, INTERRUPT, TRAP_RETURN, CALL, RETURN = 0, 1, 2, 3, 9, 13
BASE = 0x80000000


def layout():
    at, address = {}, BASE
    for name, count in LENGTHS.items():
        at[name] = address
        address += 4 * count
    return at


AT = layout()


def build(xlen):
    compiler = need("riscv64-linux-gnu-gcc")
    text = re.sub(r"{(\w+):}\n", r".globl \1; .type \1, @function; \1: .cfi_startproc\n", SOURCE)
    text = re.sub(r"{(\w+)\.}", r".cfi_endproc; .size \1, .-\1", text)
    text = text.replace("ST", "sd" if xlen == 64 else "sw").replace("LD", "ld" if xlen == 64 else "lw")
    source, out = write(f"interrupts{xlen}.S", (".option norvc\n.text\n" + text).encode()), os.path.join(scratch(), f"interrupts{xlen}")
    abi = ["-march=rv64ima_zicsr", "-mabi=lp64"] if xlen == 64 else ["-march=rv32ima_zicsr", "-mabi=ilp32", "-Wl,-melf32lriscv"]
    subprocess.run([compiler, *abi, "-g", "-nostdlib", "-static", "-Wl,--no-relax", f"-Wl,-Ttext={BASE:#x}", "-Wl,-e,main", "-o", out, source],
                   check=True, stderr=subprocess.DEVNULL)
    listed = subprocess.run(["riscv64-linux-gnu-nm", out], capture_output=True, text=True, check=True).stdout
    found = {name: int(address, 16) for address, name in re.findall(r"^(\w+) T (\w+)$", listed, re.M) if name in AT}
    equal({name: address & 0xFFFFFFFF for name, address in found.items()}, AT, "addresses")
    return out


# Blocks: function, instructions before it, its instructions, how it ends.
SERVE = [("handler", 0, 3, CALL), ("serve", 0, 3, RETURN), ("handler", 3, 3, TRAP_RETURN)]
NESTED = [("handler", 0, 3, CALL), ("serve", 0, 1, NONE), ("serve", 1, 0, INTERRUPT), *SERVE, ("serve", 1, 2, RETURN),
          ("handler", 3, 3, TRAP_RETURN)]
AT_ONCE = [("handler", 0, 0, INTERRUPT), ("second", 0, 2, TRAP_RETURN), *SERVE]  # before the handler's first instruction


def run(function, at, handled):
    """The program with an interrupt in front of an instruction of leaf or middle."""
    start = [("main", 0, 3, CALL), ("middle", 0, 3, CALL)]
    end = [("middle", 3, 3, RETURN), ("main", 3, 0, EXCEPTION)]
    if function == "leaf":
        first = [("leaf", 0, at, NONE)] if at else []
        return [*start, *first, ("leaf", at, 0, INTERRUPT), *handled, ("leaf", at, 4 - at, RETURN), *end]
    return [("main", 0, 3, CALL), ("middle", 0, at, NONE), ("middle", at, 0, INTERRUPT), *handled, ("middle", at, 3 - at, CALL),
            ("leaf", 0, 4, RETURN), *end]


def trace(name, elf, xlen, blocks):
    rows = ["iaddr,iretire,ilastsize,itype,priv"]
    rows += [f"{AT[f] + 4 * before:#x},{2 * count},{1 if count else 0},{end},3" for f, before, count, end in blocks]
    ingress, stream = write(name + ".csv", ("\n".join(rows) + "\n").encode()), os.path.join(scratch(), name + ".nex")
    done = subprocess.run([NTRACE, "encode", "--ingress", ingress, "--xlen", str(xlen), "-e", elf, "-o", stream], capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    return server(stream, "-e", elf, "--xlen", str(xlen), "--src-bits", "0")


def steps(gdb, elf, target, lines, *setup):
    out = run_gdb(gdb, elf, target, lines, ["set python print-stack none", "set osabi none", *setup])
    return re.split(r"(?m)^> .*\n?", "\n".join(out))[1:]


def frames(text):
    """The names of the frames of a backtrace, S for the frame of an interrupt."""
    return ["S" if "<signal" in line else re.search(r"(?:in )?(\w+) \(", line).group(1) for line in re.findall(r"(?m)^#\d+ +(.*)", text)]


BELOW = ["middle", "main"]


def each():
    for xlen in (64, 32):
        elf = build(xlen)
        for gdb in debuggers():
            yield gdb, xlen, elf


@case("backtraces in each instruction of the handler, for an interrupt in front of each instruction of the function")
def backtraces():
    for gdb, xlen, elf in each():
        places = [("leaf", at) for at in range(4)] + [("middle", at) for at in range(3)]
        for function, at in places if xlen == 64 else places[:2]:
            target = trace("one", elf, xlen, run(function, at, SERVE))
            done = steps(gdb, elf, target, ["break handler", "continue", *["bt", "stepi"] * 9, "bt"])
            below = [function, *(BELOW if function == "leaf" else BELOW[1:])]
            for number, text in enumerate(done[2::2]):
                inside = ["serve", "handler"] if 3 <= number < 6 else ["handler"] if number < 9 else []
                found = [name for name in frames(text) if name != "S"]
                equal(found, [*inside, *below], f"{gdb}, RV{xlen}, {function}+{at}, instruction {number}")
                check("corrupt" not in text and "not save" not in text, text)
                line = re.findall(r":(\d+)", text)[len(inside)] if number < 9 else None
                if at == 0 and function == "leaf" and line:  # at its first instruction: no debugger looks at the one before
                    equal(int(line), 2 + source_line("leaf"), "the line of the interrupted function")


def source_line(name):
    return SOURCE.splitlines().index("{" + name + ":}") + 2


@case("monitor goto into a handler")
def goto():
    flush = ["maintenance flush register-cache", "maintenance flush dcache", "sharedlibrary"]
    for gdb, xlen, elf in each():
        target = trace("goto", elf, xlen, run("leaf", 1, SERVE))
        done = steps(gdb, elf, target, ["monitor goto 8", *flush, "bt", "monitor goto begin", *flush, "bt"])
        equal(frames(done[4]), ["handler", "S", "leaf", *BELOW], f"{gdb}, RV{xlen}")
        equal(frames(done[9]), ["main"], f"{gdb}, RV{xlen}, back")
    stream = os.path.join(scratch(), "goto.nex")
    s = Session(stream, "-e", elf, "--xlen", str(xlen), "--src-bits", "0")
    for place, listed in (("begin", False), ("8", True), ("begin", True)):  # a list that GDB reads before registers
        s.monitor(f"goto {place}")
        equal("code-" in s.ask("qXfer:libraries:read::0,1000"), listed, f"libraries at {place}")
    equal(s.close(), 0, "status")


@case("an interrupt of the handler, in a function that has not saved its return address either")
def nested():
    for gdb, xlen, elf in each():
        target = trace("nested", elf, xlen, run("leaf", 1, NESTED))
        done = steps(gdb, elf, target, ["break handler", "continue", "continue", "bt", "stepi 3", "bt", "up 5", "info frame", "continue"])
        wanted = ["handler", "S", "serve", "handler", "S", "leaf", *BELOW]
        equal(frames(done[3]), wanted, f"{gdb}, RV{xlen}")
        equal(frames(done[5]), ["serve", *wanted], f"{gdb}, RV{xlen}, inside")
        matches("signal handler called|frame at", done[6] + done[7], "frames")
        target = trace("at-once", elf, xlen, run("leaf", 0, AT_ONCE))
        done = steps(gdb, elf, target, ["break second", "continue", "bt", "finish", "bt"])
        equal(frames(done[2]), ["second", "S", "handler", "S", "leaf", *BELOW], f"{gdb}, RV{xlen}, all with the same stack pointer")
        equal(frames(done[4]), ["handler", "S", "leaf", *BELOW], f"{gdb}, RV{xlen}, finish to the first handler")


@case("finish, next, reverse-next, reverse-finish and until with an interrupt of a leaf function")
def moves():
    for gdb, xlen, elf in each():
        target = trace("moves", elf, xlen, run("leaf", 1, SERVE))
        done = steps(gdb, elf, target, ["break serve", "continue", "finish", "finish", "bt", "reverse-continue", "delete", "reverse-finish",
                                        "reverse-finish", "bt", "next", "bt", "next", "reverse-next", "reverse-next", "bt",
                                        "break leaf", "reverse-continue", "continue", "next", "bt"])
        matches(r"in handler|handler \(", done[2], "finish to the handler")
        equal(frames(done[4]), ["leaf", *BELOW], f"{gdb}, RV{xlen}: finish to the interrupted function: {done[3]}")
        matches(f":{1 + 2 + source_line('leaf')}", done[4], "at the interrupted instruction")
        matches("Breakpoint 1, serve", done[5], "back inside")
        matches(r"handler \(", done[7], "reverse-finish to the call")
        equal(frames(done[9]), ["leaf", *BELOW], f"{gdb}, RV{xlen}: reverse-finish to in front of the interrupt")
        equal(frames(done[11]), ["leaf", *BELOW], f"{gdb}, RV{xlen}: next over the interrupt: {done[10]}")
        equal(frames(done[15]), ["leaf", *BELOW], f"{gdb}, RV{xlen}: reverse-next over it: {done[13:15]}")
        equal(frames(done[20]), ["leaf", *BELOW], f"{gdb}, RV{xlen}: next over it, off a breakpoint: {done[19]}")


@case("a step into a handler, forward and backward, with the commands of ntrace.gdb: its callers")
def entered():
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "ntrace.gdb")
    for gdb, xlen, elf in each():
        target = trace("entered", elf, xlen, run("leaf", 1, [("second", 0, 2, TRAP_RETURN)]))
        lines = ["tbreak leaf", "continue", "step", "bt", "stepi 2", "bt", "reverse-stepi", "bt", "reverse-stepi", "reverse-stepi", "bt"]
        done = steps(gdb, elf, target, lines, f"source {script}")
        wanted = ["second", "S", "leaf", *BELOW]
        for number, frames_there in ((3, wanted), (5, wanted[2:]), (7, wanted), (10, wanted[2:])):
            equal(frames(done[number]), frames_there, f"{gdb}, RV{xlen}, command {number}")


@case("a signal in a leaf function of a program: with and without the OS ABI, the frames that GDB shows of a live process")
def signals():
    for gdb in debuggers():
        for setup in ([], ["set osabi none"]):
            out = run_gdb(gdb, program("alarm"), server(bundle("alarm")), ["break ring", "continue", "bt", "next", "bt", "finish", "bt"], setup)
            done = re.split(r"(?m)^> .*\n?", "\n".join(out))[1:]
            for text in (done[2], done[4]):
                equal(frames(text), ["ring", "S", "wait_for_it", "main"], f"{gdb} {setup}")
            equal(frames(done[6]), ["wait_for_it", "main"], f"{gdb} {setup}: behind it")


main()
