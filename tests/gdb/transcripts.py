#!/usr/bin/env python3
"""The same commands against the GDB server of QEMU, which runs the program, and against ntrace gdb, which has its trace:
equal transcripts, line for line, up to the end of the program."""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import user_qemu
from gdb import LIBRARIES, PROGRAMS, bundle, debuggers, program, run_gdb, server
from harness import case, check, main, need, scratch, until
from scripts import TRANSCRIPTS, commands

LEAST = 40  # commands that must be compared
SLOW = 5, 9, 11, 16, 17, 18, 22, 24  # scripts of one to three seconds; another of the same program or commands is in `make test`


def qemu_transcript(gdb, name, lines):
    path = program(name)
    socket = os.path.join(scratch(), "qemu")
    if os.path.exists(socket):
        os.unlink(socket)
    kind = "qemu-riscv32" if "32" in name else "qemu-riscv64"
    process = subprocess.Popen(["timeout", "900", need(kind), *user_qemu.repeatable(32 if "32" in name else 64), "-L", LIBRARIES, "-g", socket, path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        until(lambda: os.path.exists(socket), "the socket of QEMU's server")
        return run_gdb(gdb, path, socket, lines, [f"set sysroot {LIBRARIES}", f"set solib-search-path {PROGRAMS}"])
    finally:
        process.kill()
        process.wait()


def normal(lines):
    """Up to the end of the program; without the numbers of processes, folders of libraries, and lines about threads."""
    kept = []
    for line in lines:
        if re.match(r"\[Inferior .* exited|No more reverse-execution history|Reached end of recorded history", line):
            if kept and not kept[-1]:
                kept.pop()
            break
        if line.startswith(("[New Thread", "[Switching to", "ntrace: this GDB predicts")):
            continue
        line = re.sub(r"from \S*/", "from ", line)
        kept.append(re.sub(r"^Thread \d+ hit ", "", line))
    return kept


def compare(gdb, name, script, setup, traces=None):
    lines = list(commands(script))
    expected = normal(qemu_transcript(gdb, name, lines))
    for trace in traces or [[bundle(name)]]:
        same(gdb, expected, normal(run_gdb(gdb, program(name), server(*trace), lines, setup)))


def same(gdb, expected, found):
    done = sum(line.startswith("> ") for line in expected)
    check(done >= LEAST, f"{gdb}: only {done} commands before the end of the program")
    for number, (a, b) in enumerate(zip(expected, found), 1):
        context = "\n".join(expected[max(0, number - 6):number - 1])
        check(a == b, f"{gdb}, line {number}, after\n{context}\nexpected {a!r}\nfound    {b!r}")
    # The debugger prints nothing more for the command that ends the program.
    check(abs(len(expected) - len(found)) <= 1, f"{gdb}: expected {len(expected)} lines, found {len(found)}")


def raw_stream(name):
    """The stream alone, with its parameters: a stream of three messages is too short for --auto."""
    stream = os.path.join(bundle(name, "--no-compress"), "trace.nex")
    return [[stream, "-e", program(name), "--xlen", "32", "--src-bits", "0", "--implicit-return", "full", "--return-stack", "32",
             "--sequential-jump"]]


def add(number, name, script):
    @case(f"{name}, script {number}: as with QEMU", long=number in SLOW)
    def steps():
        for gdb in debuggers():
            compare(gdb, name, script, ["set osabi none", "set trust-readonly-sections on"])

    if name.startswith(("calls", "bare32")):
        @case(f"{name}, script {number}: without 'set osabi none', with predicted steps", long=name not in ("calls", "bare32"))
        def predicted():
            for gdb in debuggers():
                compare(gdb, name, script, [])


    if "32" in name:
        @case(f"{name}, script {number}: a raw stream, with its parameters")
        def raw():
            for gdb in debuggers():
                compare(gdb, name, script, ["set osabi none", "set trust-readonly-sections on"], raw_stream(name))


for at, (name, script) in enumerate(TRANSCRIPTS, 1):
    add(at, name, script)
main()
