#!/usr/bin/env python3
"""`ntrace board --machine`: a debugger controls firmware and trace registers; what is traced is what a plugin saw at each instruction. TAP.

usage: board.py NTRACE PLUGIN     PLUGIN is each_instruction.so
"""
import os
import re
import shutil
import subprocess
import sys
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")]
import boards
import harness
import qemu10
from harness import Run, case, check, equal, matches, scratch, write

PLUGIN = os.path.abspath(sys.argv[2])
QEMU = qemu10.find()
TOPOLOGY = """{"components": [
  {"name": "te", "type": "encoder", "base": "0x20000000", "hart": 0, "xlen": %d, "to": "ram"},
  {"name": "ram", "type": "ram", "base": "0x20008000", "sram": 65536}]}"""
SMEM = """{"components": [
  {"name": "te", "type": "encoder", "base": "0x20000000", "hart": 0, "xlen": %d, "to": "ram"},
  {"name": "ram", "type": "ram", "base": "0x20008000", "sram": 0, "smem": true, "smem_start": "0x50000000", "smem_size": 65536}]}"""


def need_qemu():
    return QEMU or harness.skip(qemu10.NEVER)


# Traps of several kinds, a device in the middle of a block, calls and loops; no interrupts, whose times would differ from run to run.
FIRMWARE = """
.globl _start, work, last
_start: la sp, stack
 la t0, trap
 csrw mtvec, t0
 li s0, 300
1: call work
 addi s0, s0, -1
 bnez s0, 1b
last: li t0, 0x100000
 li t1, 0x5555
 sw t1, 0(t0)
2: j 2b
work: mv s1, ra
 ecall
 andi t2, s0, 3
 bnez t2, 3f
 .word 0
 li t3, 0x10000000
 addi t4, t4, 1
 lbu t5, 5(t3)
 addi t4, t4, 1
3: li t3, 0x40000000
 addi t4, t4, 1
 lw t5, 0(t3)
 addi t4, t4, 1
 la t6, leaf
 jalr t6
 mv ra, s1
 ret
leaf: addi a0, a0, 1
 ret
.align 2
trap: csrr t0, mepc
 addi t0, t0, 4
 csrw mepc, t0
 mret
.bss
.align 4
 .space 4096
stack:
"""


def firmware(bits):
    elf = os.path.join(scratch(), f"firmware-{bits}")
    wide = ["-march=rv64ima_zicsr", "-mabi=lp64"] if bits == 64 else ["-march=rv32ima_zicsr", "-mabi=ilp32", "-Wl,-melf32lriscv"]
    source = write("firmware.S", FIRMWARE.encode())
    subprocess.run([shutil.which("riscv64-linux-gnu-gcc") or harness.skip("no riscv64-linux-gnu-gcc"), *wide, "-nostdlib", "-static",
                    "-Wl,-n,-Ttext=0x80000000,--build-id=none,--no-warn-rwx-segments", "-o", elf, source], check=True)
    return elf


class Machine:
    """A board with a machine, and the instructions that it executes in a file."""

    def __init__(self, bits, *options, text=TOPOLOGY):
        need_qemu()
        self.gdb = shutil.which("gdb-multiarch") or harness.skip("no gdb-multiarch")
        self.bits, self.list = bits, os.path.join(scratch(), "truth.txt")
        self.elf = firmware(bits)
        self.topology = write("machine.json", (text % bits).encode())
        self.board = boards.Process("timeout", "-s", "INT", "200", harness.NTRACE, "board", self.topology, "--gdb", "0", *options, "--machine",
                                    "virt", "--qemu", f"{QEMU}/qemu-system-riscv{bits}", self.elf, "--", "-plugin",
                                    f"{PLUGIN},out={scratch()}/count.txt,list={self.list}")

    def __enter__(self):
        self.port = self.board.port(r"GDB listens on 127\.0\.0\.1:(\d+)")
        return self

    def __exit__(self, *_):
        self.board.__exit__()

    def debug(self, *commands):
        """Runs GDB with these commands, or lists of arguments."""
        arguments = [self.gdb, "-nx", "-batch", "-ex", f"set architecture riscv:rv{self.bits}", "-ex",
                     f"target remote 127.0.0.1:{self.port}"]
        for command in commands:
            arguments += ["-x" if command.startswith("/") else "-ex", command]
        done = subprocess.run([*arguments, self.elf], capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    def truth(self):
        """The addresses of all instructions, when QEMU has ended."""
        for _ in range(100):
            if os.path.exists(self.list) and os.path.getsize(self.list):
                break
            time.sleep(0.1)
        with open(self.list, encoding="utf-8") as file:
            return [line.split()[0] for line in file]


def symbol(elf, name):
    text = subprocess.run(["riscv64-linux-gnu-nm", elf], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"(?m)^([0-9a-f]+) \w {name}$", text)[1], 16)


SESSION = """stepi
stepi 5
printf "stepped to 0x%%lx\\n", (unsigned long)$pc
break *%#x
continue
stepi 3
delete breakpoints
break *%#x
continue
"""


def trace(machine, how="gdb"):
    """Traces from _start on, with a generated script, single steps and breakpoints. The bundle, and GDB's output."""
    script, words, bundle = (os.path.join(scratch(), name) for name in ("board.gdb", "board.txt", "board.ntrace"))
    last = symbol(machine.elf, "last")
    Run("capture", "--script", how, "-o", script, "-t", machine.topology, "--until-halt", "--resume")
    with open(script, encoding="utf-8") as file:
        text = file.read().replace("words.txt", words).replace("continue\n", SESSION % (symbol(machine.elf, "work"), last))
    write("board.gdb", text.encode())
    shown = machine.debug(f"break *{symbol(machine.elf, '_start'):#x}", "continue", "delete breakpoints", script, "delete breakpoints",
                          "continue")
    shutil.rmtree(bundle, ignore_errors=True)
    run = Run("capture", "-o", bundle, "-e", machine.elf, "-t", machine.topology, "--words", words, status=None)
    check(run.status == 0, run.err + shown)
    return bundle, shown, last


def exact(machine):
    bundle, shown, last = trace(machine)
    matches(r"Breakpoint \d, .*work", shown, "breakpoint")
    matches("words of trace", shown, "script")
    run = Run("decode", bundle, "--output", "pc", status=None)
    found, truth = run.lines(), machine.truth()
    first = truth.index(f"{symbol(machine.elf, '_start'):#x}")
    expected = truth[first:truth.index(f"{last:#x}", first)]
    check(len(expected) > 5000, f"{len(expected)} instructions; {shown}")
    for number, (one, other) in enumerate(zip(found, expected)):
        check(one == other, f"instruction {number}: {one}, expected {other}, after {expected[max(0, number - 4):number]}; {run.err}")
    equal(len(found), len(expected), f"instructions; {run.err}")
    equal(run.status, 0, f"status of decode: {run.err}")


for width in 64, 32:
    @case(f"RV{width}: breakpoints, single steps and trace registers in one session; every instruction is in the trace")
    def session(width=width):
        with Machine(width) as machine:
            exact(machine)


@case("RV64: the sink stores in memory of the board, which GDB reads")
def memory():
    with Machine(64, "--ram", "0x50000000:0x10000", text=SMEM) as machine:
        exact(machine)


@case("OpenOCD captures while the machine runs under GDB: the bundle has what the program executes")
def openocd():
    elf, _pc, pcs = boards.program()
    with boards.Board("--gdb", "0", "--machine", "virt", "--qemu", f"{need_qemu()}/qemu-system-riscv64", elf) as board:
        gdb = subprocess.Popen([shutil.which("gdb-multiarch") or harness.skip("no gdb-multiarch"), "-nx", "-batch", "-ex",
                                f"target remote 127.0.0.1:{board.front}", "-ex", "continue", elf], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        try:
            bundle = os.path.join(scratch(), "both.ntrace")
            place = f"127.0.0.1:{board.port}"
            for _ in range(100):
                if board.ask("board.cpu arp_poll; board.cpu curstate") == "running":
                    break
                time.sleep(0.1)
            Run("capture", "-o", bundle, "-e", elf, "-t", boards.topology(), "--openocd", place, "--for", "200ms", status=1)
            boards.follows(Run("decode", bundle, "--output", "pc", status=None).lines(), pcs[1:])
            Run("capture", "-o", bundle, "-e", elf, "-t", boards.topology(), "--openocd", place, "--until-full", status=1)
            boards.follows(Run("decode", bundle, "--output", "pc", status=None).lines(), pcs[1:])
        finally:
            gdb.kill()
            gdb.wait()


harness.main()
