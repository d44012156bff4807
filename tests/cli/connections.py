#!/usr/bin/env python3
"""The same accesses over each connection give the same answers; the steps of a capture are the same over a connection and in scripts."""
import os
import random
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from boards import Board, Process, follows, free_port, helper, program, topology, wait_for_listener
from harness import NTRACE, Run, case, check, equal, main, matches, need, note, scratch, skip, write

ACCESSES = os.path.abspath(sys.argv[2])
BASES = (0x10000000, 0x10010000, 0x10020000)
MEMORY = 0x80100000

# Registers of encoder, funnel and RAM sink, all but the counter of timestamps, which depends on time.
ENCODER = [0x000, 0x004, 0x008, 0x00c, 0x040, 0x050, 0x054, 0x058, *range(0x400, 0x418, 4), 0x420, 0x600, *range(0x610, 0x620, 4), 0x630]
FUNNEL = [0x000, 0x004, 0x008, 0x040]
RAM = [0x000, 0x004, *range(0x010, 0x030, 4), 0x040]


def register_accesses():
    """Reads, and writes of WARL fields, of the registers that the components have. Control is written so that nothing waits."""
    choose = random.Random(23)
    lines = [f"w {base:#x} {value}" for base in BASES for value in (0, 1)]
    registers = [base + offset for base, offsets in zip(BASES, (ENCODER, FUNNEL, RAM)) for offset in offsets]
    while len(lines) < 120:
        address = choose.choice(registers)
        if address & 0xfff == 0:
            lines += [f"w {address:#x} {choose.getrandbits(32) & ~2 | 1:#x}", f"w {address:#x} 1", f"r {address:#x}"]
        elif choose.random() < 0.5:
            lines += [f"w {address:#x} {choose.getrandbits(32):#x}", f"r {address:#x}"]
        else:
            lines.append(f"r {address:#x}")
    return lines


def memory_accesses():
    choose = random.Random(24)
    lines = [f"w {MEMORY + 4 * i:#x} {choose.getrandbits(32):#x}" for i in range(16)]
    while len(lines) < 80:
        address = MEMORY + 4 * choose.randrange(16)
        lines.append(choose.choice((f"r {address:#x}", f"w {address:#x} {choose.getrandbits(32):#x}", f"m {MEMORY + 4 * choose.randrange(12):#x}")))
    return lines


def answers(kind, place, lines):
    done = subprocess.run([ACCESSES, kind, place], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, f"{kind} {place}: {done.stderr}")
    return done.stdout.splitlines()


def compare(found, expected, lines, what):
    equal(len(found), len(expected), f"{what}: answers")
    for number, (one, other) in enumerate(zip(found, expected)):
        equal(one, other, f"{what}: answer {number} to '{lines[number]}'")


BOARD_RAM = ["--ram", f"{MEMORY:#x}:0x1000"]


@case("200 accesses: the model, a helper and a mapped file answer equally")
def _():
    registers, memory = register_accesses(), memory_accesses()
    check(len(registers) + len(memory) >= 200, "accesses")
    expected = answers("model", topology(), registers)
    check(len({one for one in expected if one != "ok"}) > 12, f"different answers: {expected}")
    compare(answers("exec", helper(), registers), expected, registers, "helper")
    page = write("page", bytes(4096))
    expected = answers("mem", f"{page}@{MEMORY:#x}", memory)
    compare(answers("exec", helper(*BOARD_RAM), memory), expected, memory, "helper")


@case("200 accesses: OpenOCD's Tcl port and its GDB port answer as the model does")
def _():
    registers, memory = register_accesses(), memory_accesses()
    page = write("page", bytes(4096))
    for kind in ("openocd", "gdb"):
        with Board(*BOARD_RAM) as board:
            place = f"127.0.0.1:{board.port if kind == 'openocd' else board.gdb_port}"
            compare(answers(kind, place, registers), answers("model", topology(), registers), registers, kind)
            write("page", bytes(4096))
            compare(answers(kind, place, memory), answers("mem", f"{page}@{MEMORY:#x}", memory), memory, kind)


@case("200 accesses: GDB packets through the board to QEMU are answered as the model does")
def _():
    elf, _pc, _pcs = program()
    qemu, port = need("qemu-system-riscv64"), free_port()
    registers, memory = register_accesses(), memory_accesses()
    page = write("page", bytes(4096))
    with Process("timeout", "-s", "KILL", "300", qemu, "-M", "virt", "-bios", "none", "-kernel", elf, "-gdb", f"tcp:127.0.0.1:{port}",
                 "-S", "-nographic", "-serial", "none", "-monitor", "none"):
        wait_for_listener(port)
        with Process(NTRACE, "board", topology(), "--gdb-port", "0", "--target", f"127.0.0.1:{port}") as board:
            front = f"127.0.0.1:{board.port('GDB listens on 127.0.0.1:([0-9]+)')}"
            compare(answers("gdb", front, registers), answers("model", topology(), registers), registers, "GDB")
            compare(answers("gdb", front, memory), answers("mem", f"{page}@{MEMORY:#x}", memory), memory, "GDB")


UIO = """set -e
mount -t tmpfs none /sys/class
for map in 0 1; do
  mkdir -p /sys/class/uio/uio7/maps/map$map
  echo $1 > /sys/class/uio/uio7/maps/map$map/addr
  echo 0x1000 > /sys/class/uio/uio7/maps/map$map/size
  echo 0x0 > /sys/class/uio/uio7/maps/map$map/offset
  shift
done
exec "$1" mem "$2"
"""


@case("a UIO device: mapping M of /sys/class/uio is at page M of the device")
def _():
    command = ["unshare", "-rm", "sh", "-c", UIO, "sh", "0x10000000", f"{MEMORY:#x}", ACCESSES]
    device = write("uio7", bytes(4096) + bytes(4096))
    lines = memory_accesses()
    tried = subprocess.run([*command, device], input="", capture_output=True, text=True, timeout=60)
    if tried.returncode:
        note(tried.stderr.strip())
        skip("namespace")
    page = write("page", bytes(4096))
    expected = answers("mem", f"{page}@{MEMORY:#x}", lines)
    done = subprocess.run([*command, device], input="\n".join([*lines, "w 0x10000ffc 0x01234567", "r 0x10001000"]) + "\n", capture_output=True,
                          text=True, timeout=60)
    compare(done.stdout.splitlines()[:-2], expected, lines, "UIO")
    equal(done.stdout.splitlines()[-1], "error", "behind the mapping")
    with open(device, "rb") as first, open(page, "rb") as second:
        equal(first.read(), bytes(4092) + bytes.fromhex("67452301") + second.read(), "the pages of the device")


# ---- scripts


READ_ONLY = 0x1008  # of Control: Empty, which depends on time, and trTeInstStallOrOverflow


def writes(path):
    """What was written to trace registers, in order; without the read pointer, where a read-out begins, and without bits that a write does
    not change."""
    found = []
    with open(path, encoding="utf-8") as log:
        for line in log:
            what, address, value = line.split()
            if what == "w" and int(address, 16) & 0xfff not in (0x020, 0x024):
                found.append((address, int(value, 16) & (~READ_ONLY if int(address, 16) & 0xfff == 0 else -1)))
    return found


def run_gdb(gdb, board, script):
    done = subprocess.run([gdb, "-nx", "-batch", "-ex", "set architecture riscv:rv64", "-ex",
                           f"target extended-remote 127.0.0.1:{board.gdb_port}", "-x", script], capture_output=True, text=True,
                          timeout=100)
    matches("256 words of trace", done.stdout, "GDB's output" + done.stderr)


def content(bundle):
    with open(os.path.join(bundle, "trace.nex"), "rb") as file:
        return file.read()


@case("scripts for OpenOCD and GDB write what a capture writes, in the same order, and give the same words")
def _():
    elf, pc, pcs = program()
    gdb = need("gdb-multiarch")
    found = {}
    for how in ("direct", "openocd", "gdb"):
        log, bundle, words = (os.path.join(scratch(), f"{how}{end}") for end in (".log", ".ntrace", ".txt"))
        with Board("-e", elf, "--pc", pc, "--halted", "--log", log) as board:
            if how == "direct":
                run = Run("capture", "-o", bundle, "-e", elf, "-t", topology(), *board.openocd(),
                          "--resume", "--until-full", "--halt", status=1)
                matches("the sink was full and stopped", run.err, "loss")
            else:
                script = os.path.join(scratch(), "capture." + how)
                Run("capture", "--script", how, "-o", script, "-t", topology(), "--until-full", "--for", "500ms", "--resume")
                with open(script, encoding="utf-8") as file:
                    text = file.read().replace("words.txt", words)
                write("capture." + how, text.encode())
                if how == "openocd":
                    board.ask(f"source {script}")
                else:
                    run_gdb(gdb, board, script)
                Run("capture", "-o", bundle, "-e", elf, "-t", topology(), "--words", words, status=1)
        found[how] = writes(log), content(bundle)
        follows(Run("decode", bundle, "--show", "pc", status=None).lines(), pcs)
    check(len(found["direct"][0]) > 30, f"writes: {found['direct'][0]}")
    for how in ("openocd", "gdb"):
        equal(found[how][0], found["direct"][0], f"writes of the script for {how}")
        equal(found[how][1], found["direct"][1], f"words of the script for {how}")


main()
