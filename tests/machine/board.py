#!/usr/bin/env python3
"""`ntrace board --machine`: a debugger controls firmware and trace registers; what is traced is what a plugin saw at each instruction. TAP.

usage: board.py NTRACE PLUGIN     PLUGIN is each_instruction-4.so
"""
import os
import re
import shutil
import subprocess
import sys

sys.path += [os.path.join(sys.path[0], "..", name) for name in ("", "cli")]
import boards
import harness
import qemu10
from harness import Run, case, check, equal, matches, need, scratch, until, write

PLUGIN = os.path.abspath(sys.argv[2])
QEMU = qemu10.find()
TOPOLOGY = """{"components": [
  {"name": "te", "type": "encoder", "base": "0x20000000", "hart": 0, "xlen": %d, "to": "ram"},
  {"name": "ram", "type": "ram", "base": "0x20008000", "sram": 65536}]}"""
SMEM = """{"components": [
  {"name": "te", "type": "encoder", "base": "0x20000000", "hart": 0, "xlen": %d, "to": "ram"},
  {"name": "ram", "type": "ram", "base": "0x20008000", "sram": 0, "smem": true, "smem_start": "0x50000000", "smem_size": 65536}]}"""


def need_qemu():
    return QEMU or harness.skip(qemu10.REASON)


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


def firmware(bits, text):
    elf = os.path.join(scratch(), f"firmware-{bits}")
    wide = ["-march=rv64ima_zicsr", "-mabi=lp64"] if bits == 64 else ["-march=rv32ima_zicsr", "-mabi=ilp32", "-Wl,-melf32lriscv"]
    source = write("firmware.S", text.encode())
    subprocess.run([need("riscv64-linux-gnu-gcc"), *wide, "-nostdlib", "-static",
                    "-Wl,-n,-Ttext=0x80000000,--build-id=none,--no-warn-rwx-segments", "-o", elf, source], check=True)
    return elf


class Machine:
    """A board with a machine, and the instructions that it executes in a file."""

    def __init__(self, bits, *options, text=TOPOLOGY, source=FIRMWARE, capture=()):
        need_qemu()
        self.capture = capture  # further options of `ntrace capture`
        self.gdb = need("gdb-multiarch")
        self.bits, self.list = bits, os.path.join(scratch(), "truth.txt")
        self.elf = firmware(bits, source)
        self.topology = write("machine.json", text.replace("%d", str(bits)).encode())
        self.board = boards.Process("timeout", "--foreground", "-s", "INT", "200", harness.NTRACE, "board", self.topology, "--gdb-port", "0", *options, "--machine",
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
        until(lambda: os.path.exists(self.list) and os.path.getsize(self.list), "the plugin's list")
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
    Run("capture", "--script", how, "-o", script, "-t", machine.topology, "--until-halt", "--resume", *machine.capture)
    with open(script, encoding="utf-8") as file:
        text = file.read().replace("words.txt", words).replace("continue\n", SESSION % (symbol(machine.elf, "work"), last))
    write("board.gdb", text.encode())
    shown = machine.debug(f"break *{symbol(machine.elf, '_start'):#x}", "continue", "delete breakpoints", script, "delete breakpoints",
                          "continue")
    shutil.rmtree(bundle, ignore_errors=True)
    run = Run("capture", "-o", bundle, "-e", machine.elf, "-t", machine.topology, "--words", words, *machine.capture, status=None)
    check(run.status == 0, run.err + shown)
    return bundle, shown, last


def exact(machine):
    bundle, shown, last = trace(machine)
    matches(r"Breakpoint \d, .*work", shown, "breakpoint")
    matches("words of trace", shown, "script")
    run = Run("decode", bundle, "--show", "pc", status=None)
    found, truth = run.lines(), machine.truth()
    first = truth.index(f"{symbol(machine.elf, '_start'):#x}")
    expected = truth[first:truth.index(f"{last:#x}", first)]
    check(len(expected) > 5000, f"{len(expected)} instructions; {shown}")
    for number, (one, other) in enumerate(zip(found, expected)):
        check(one == other, f"instruction {number}: {one}, expected {other}, after {expected[max(0, number - 4):number]}; {run.err}")
    equal(len(found), len(expected), f"instructions; {run.err}")
    equal(run.status, 0, f"status of decode: {run.err}")


for width in 64, 32:
    @case(f"RV{width}: breakpoints, single steps and trace registers in one session; every instruction is in the trace", long=width == 64)
    def session(width=width):
        with Machine(width) as machine:
            exact(machine)


@case("RV64: the sink stores in memory of the board, which GDB reads")
def memory():
    with Machine(64, "--ram", "0x50000000:0x10000", text=SMEM) as machine:
        exact(machine)


K3_BUFFER = "0x170000000:0x40000"


def k3():
    with open(os.path.join(qemu10.ROOT, "examples/board/spacemit-k3.json"), encoding="utf-8") as file:
        return file.read()


for its_name, its_options in {"flat": [], "scatter-gather": ["--set", "etr.tmcAxiScatterGather=1"]}.items():
    @case(f"SpacemiT K3 with a hart of QEMU, the ETR's buffer {its_name}: every instruction is in the trace", long=bool(its_options))
    def k3_session(options=tuple(its_options)):
        with Machine(64, "--ram", K3_BUFFER, text=k3(), capture=["--hart", "0", "--buffer", K3_BUFFER, *options]) as machine:
            exact(machine)


# Firmware that traces a part of itself: it programs encoder and sink, and reads the trace out of the sink. Loads whose register is
# that of the address, compressed ones, and unsigned ones are among its accesses.
SELF = """
.option rvc
.globl _start, begin, over, done, words, wrong
_start: la sp, stack
 li s0, 0x40000000
 li s1, 0x40008000
 li a4, 1
 sw a4, 0(s1)
1: mv a5, s1
 lw a5, 0(a5)
 andi a5, a5, 1
 beqz a5, 1b
 sw zero, 0x10(s1)
 li a4, 65532
 sw a4, 0x18(s1)
 sw zero, 0x20(s1)
 li a4, 3
 sw a4, 0(s1)
 li a4, 1
 sw a4, 0(s0)
 li a4, 0x31
 sw a4, 0(s0)
 li a4, 0x33
 sw a4, 0(s0)
 li a4, 0x37
begin: sw a4, 0(s0)
 li s2, 40
2: call work
 addi s2, s2, -1
 bnez s2, 2b
 li a4, 0x33
over: sw a4, 0(s0)
 li a4, 0x31
 sw a4, 0(s0)
3: mv a5, s0
 lw a5, 0(a5)
 andi a5, a5, 8
 beqz a5, 3b
 li a4, 1
 sw a4, 0(s1)
4: lw a5, 0(s1)
 andi a5, a5, 8
 beqz a5, 4b
 lwu a3, 0x20(s1)
 sw zero, 0x28(s1)
 la a2, words
 sw a3, 0(a2)
5: lw a5, 0x40(s1)
 addi a2, a2, 4
 sw a5, 0(a2)
 addi a3, a3, -4
 bgtz a3, 5b
 la a2, wrong
 li a5, 7
 lb a5, 0(s1)
 sw a5, 0(a2)
done: wfi
 j done
work: mv s3, ra
 andi t2, s2, 3
 bnez t2, 6f
 addi t4, t4, 1
6: la t6, leaf
 jalr t6
 mv ra, s3
 ret
leaf: addi a0, a0, 1
 ret
.bss
.align 4
wrong: .space 4
words: .space 8192
 .space 4096
stack:
"""
FREE = TOPOLOGY.replace("0x20000000", "0x40000000").replace("0x20008000", "0x40008000")


@case("firmware programs the trace registers and reads its trace itself: every instruction in between is in it")
def itself():
    for bits in 64, 32:
        source = SELF if bits == 64 else SELF.replace("lwu", "lw")
        log = os.path.join(scratch(), f"accesses-{bits}.txt")
        with Machine(bits, "--log", log, text=FREE, source=source) as machine:
            last, memory = symbol(machine.elf, "done"), os.path.join(scratch(), "memory.bin")
            words, begin, over = (symbol(machine.elf, name) for name in ("words", "begin", "over"))
            shown = machine.debug(f"break *{symbol(machine.elf, 'begin'):#x}", "continue", "stepi", 'printf "at 0x%lx\\n", (unsigned long)$pc',
                                  f"break *{last:#x}", "continue", f"dump binary memory {memory} {words:#x} {words + 8192:#x}",
                                  "printf \"wrong %d\\n\", *(int *)&wrong", "kill")
            with open(memory, "rb") as file:
                data = file.read()
            truth = machine.truth()
        size = int.from_bytes(data[:4], "little")
        check(100 < size < 8000, f"{size} bytes of trace; {shown}")
        matches("wrong 7", shown, "a load of 8 bits, which has no effect")
        run = Run("decode", write("self.nex", data[4:4 + size]), "-e", machine.elf, "--show", "pc", "--xlen", str(bits), status=None)
        first = truth.index(f"{begin:#x}") + 1
        expected = truth[first:truth.index(f"{over:#x}") + 1]
        check(len(expected) > 400, f"{len(expected)} instructions")
        found = run.lines()
        for number, (one, other) in enumerate(zip(found, expected)):
            check(one == other, f"instruction {number}: {one}, expected {other}")
        equal(len(found), len(expected), f"instructions; {found[-3:]} and {expected[-3:]}; {run.err}")
        matches(rf"at {int(expected[0], 16):#x}", shown, "a single step over an access")
        with open(log, encoding="ascii") as file:
            accesses = file.read().split("\n")
        check("w 0x40000000 0x00000037" in accesses and f"r 0x40008020 {size:#010x}" in accesses, str(accesses))


@case("OpenOCD captures while the machine runs under GDB: the bundle has what the program executes")
def openocd(text=boards.TOPOLOGY, more=(), chip=(), until_full=True):
    elf, _pc, pcs = boards.program()
    with boards.Board("--gdb-port", "0", *more, "--machine", "virt", "--qemu", f"{need_qemu()}/qemu-system-riscv64", elf, text=text) as board:
        gdb = subprocess.Popen([need("gdb-multiarch"), "-nx", "-batch", "-ex",
                                f"target remote 127.0.0.1:{board.front}", "-ex", "continue", elf], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        try:
            bundle = os.path.join(scratch(), "both.ntrace")
            until(lambda: board.ask("board.cpu arp_poll; board.cpu curstate") == "running", "a hart that runs")
            there = ["-t", boards.topology(text), *board.openocd(), *chip]
            if chip:
                equal(Run("probe", *there[:8]).status, 0, "probe")
            Run("capture", "-o", bundle, "-e", elf, *there, "--for", "200ms", status=1)
            boards.follows(Run("decode", bundle, "--show", "pc", status=None).lines(), pcs[1:])
            if not until_full:
                return
            Run("capture", "-o", bundle, "-e", elf, *there, "--until-full", status=1)
            boards.follows(Run("decode", bundle, "--show", "pc", status=None).lines(), pcs[1:])
        finally:
            gdb.kill()
            gdb.wait()


@case("SpacemiT K3 with a hart of QEMU: the commands of docs/k3.md, with OpenOCD, while the machine runs", long=True)
def k3_openocd():
    openocd(k3(), ["--ram", K3_BUFFER], ["--hart", "0", "--buffer", "0x170000000:0x2000"], until_full=False)


def ask_number(board, command):
    text = board.ask(command)
    found = re.search(r"0x[0-9a-f]+", text)
    check(found, f"{command}: {text}")
    return int(found[0], 16)


def wait_halted(board):
    until(lambda: board.ask("board.cpu arp_poll; board.cpu curstate") == "halted", "a hart that halts")
    return ask_number(board, "board.cpu get_reg -force pc")


def debug_by_jtag(board, elf, pcs):
    """Breakpoints, steps, registers and memory of the program of boards.py."""
    loop, call, function = 0x80000004, 0x80000010, 0x80000018
    equal(ask_number(board, "board.cpu get_reg -force pc"), 0x1000, "program counter after the start")
    for kind, address in (("hw", call), ("", function)):
        board.ask(f"bp {address:#x} 4 {kind}")
        board.ask("resume")
        equal(wait_halted(board), address, f"a breakpoint {kind}")
        board.ask(f"rbp {address:#x}")
    equal(ask_number(board, "read_memory 0x80000018 32 1"), 0x00350513, "the instruction behind the breakpoint")
    before = ask_number(board, "board.cpu get_reg -force a0")
    board.ask("step")
    equal((wait_halted(board), ask_number(board, "board.cpu get_reg -force a0")), (function + 4, before + 3), "a single step")
    board.ask("board.cpu set_reg {a0 0x123456789abc mscratch 0x55}")
    board.ask("step")
    equal([ask_number(board, f"board.cpu get_reg -force {name}") for name in ("a0", "mscratch")], [0x123456789abc, 0x55], "registers")
    board.ask("write_memory 0x80100000 32 {0x12345678 0x9abcdef0}")
    equal(board.ask("read_memory 0x80100000 32 2"), "0x12345678 0x9abcdef0", "memory")
    board.ask("resume")
    equal(board.ask("board.cpu arp_poll; board.cpu curstate"), "running", "state")
    equal(ask_number(board, "read_memory 0x80100004 32 1 phys"), 0x9abcdef0, "memory of a running machine")
    board.ask("halt")
    check(loop <= wait_halted(board) < 0x80000020, "a halt")
    board.ask("bp 0x80000010 4 hw")
    board.ask("reset halt")
    equal(wait_halted(board), 0x1000, "a reset")
    bundle = os.path.join(scratch(), "jtag.ntrace")
    run = Run("capture", "-o", bundle, "-e", elf, "-t", boards.topology(), *board.openocd(), "--resume", "--until-halt",
              status=None)
    equal(run.status, 0, run.err)
    equal(wait_halted(board), call, "a breakpoint while trace runs")
    traced = Run("decode", bundle, "--show", "pc", status=None).lines()
    equal([one for one in traced if int(one, 16) >= 0x80000000], [f"{pc:#x}" for pc in pcs[:25]], "instructions up to the breakpoint")


@case("OpenOCD controls the harts of a machine: halt, resume, steps, registers, memory, breakpoints, reset, and a capture")
def jtag():
    elf, _pc, pcs = boards.program()
    with boards.Board("--machine", "virt", "--qemu", f"{need_qemu()}/qemu-system-riscv64", elf) as board:
        debug_by_jtag(board, elf, pcs)


@case("the user starts QEMU: OpenOCD controls and traces its harts")
def joined():
    elf, _pc, pcs = boards.program()
    need_qemu()
    place = f"127.0.0.1:{boards.free_port()}"
    with boards.Board("--machine", "virt", "--target", place, joins=(f"{QEMU}/qemu-system-riscv64", elf)) as board:
        debug_by_jtag(board, elf, pcs)


@case("two harts: OpenOCD halts, steps and resumes each, while the other goes on", 4)
@case("two harts: OpenOCD halts each, makes many steps and resumes it, while the other goes on", 12, long=True)
def two(steps):
    text = boards.TOPOLOGY.replace('"hart": 0, "to": "funnel:0"},', '"hart": 0, "to": "funnel:0"},\n  {"name": "te1", "type": "encoder", '
                                   '"base": "0x10001000", "hart": 1, "to": "funnel:1"},')
    elf, _pc, _pcs = boards.program()
    with boards.Board("--machine", "virt", "--harts", "2", "--qemu", f"{need_qemu()}/qemu-system-riscv64", elf, text=text, harts=2) as board:
        board.ask("targets board.cpu; resume; targets board.cpu1; resume")
        board.ask("targets board.cpu; halt")
        states = board.ask("board.cpu arp_poll; board.cpu1 arp_poll; list [board.cpu curstate] [board.cpu1 curstate]")
        equal(states, "halted running", "states")
        pcs = set()
        for _ in range(steps):
            board.ask("targets board.cpu; step")
            pcs.add(ask_number(board, "board.cpu get_reg -force pc"))
        check(len(pcs) > 2, str(pcs))
        equal(board.ask("board.cpu1 arp_poll; board.cpu1 curstate"), "running", "the other hart")
        board.ask("targets board.cpu1; halt")
        check(0x80000004 <= ask_number(board, "board.cpu1 get_reg -force pc") < 0x80000020, "program counter of the other hart")


harness.main()
