#!/usr/bin/env python3
"""`ntrace run --machine` against QEMU's own log, instruction by instruction and privilege mode by privilege mode. TAP.

usage: machine.py NTRACE FOLDER      FOLDER holds the programs that tests/machine/build made
"""
import json
import os
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")]
import harness
import machine_log
import qemu10
from harness import case, check, equal, scratch

PROGRAMS = os.path.abspath(sys.argv[2])
QEMU = qemu10.find()
ONE = ["-accel", "tcg,one-insn-per-tb=on"]
REPEATABLE = ["-icount", "shift=3,sleep=off", "-seed", "1", "-rtc", "base=2026-01-01T00:00:00,clock=vm"]


def program(name):
    return os.path.join(PROGRAMS, name)


def need_qemu():
    if not QEMU:
        harness.skip(qemu10.NEVER)


def run(bits, name, *options, qemu=(), status=0):
    """Trace a program; the bundle."""
    need_qemu()
    bundle = os.path.join(scratch(), "traced.ntrace")
    command = [harness.NTRACE, "run", "--machine", "virt", "--qemu", f"{QEMU}/qemu-system-riscv{bits}", "-o", bundle, *options, program(name)]
    done = subprocess.run([*command, "--", *qemu] if qemu else command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    equal(done.returncode, status, f"exit status; {done.stderr[-300:]}")
    return bundle


def instructions(bundle, src=0, modes=True):
    done = subprocess.run([harness.NTRACE, "decode", bundle, "--output", "insn", "--format", "jsonl", "--src", str(src)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    equal(done.returncode, 0, f"status of decode; {done.stderr[-300:]}")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [f"{e['address']} {e['prv']}" if modes else e["address"] for e in events]


def truth(bits, name):
    """What QEMU's log says; the traps of hart 0."""
    need_qemu()
    log = os.path.join(scratch(), f"{name}.log")
    if not os.path.exists(log):
        subprocess.run([f"{QEMU}/qemu-system-riscv{bits}", "-machine", "virt", "-bios", program(name), "-display", "none", "-serial", "null",
                        *REPEATABLE, *ONE, "-d", "exec,nochain,int", "-D", log], stdin=subprocess.DEVNULL, check=True, timeout=120,
                       stderr=subprocess.DEVNULL)
    harts, traps = machine_log.read(log)
    return harts[0], traps[0]


def without(lines, last):
    end = len(lines)
    while end and lines[end - 1] == last:
        end -= 1
    return lines[:end]


def same(found, expected):
    """The program ends in a loop; how often QEMU executes it depends on when the machine stops."""
    last = max(found, expected, key=len)[-1]
    found, expected = without(found, last), without(expected, last)
    for i, (a, b) in enumerate(zip(found, expected)):
        check(a == b, f"instruction {i}: found {a}, expected {b}; before it {expected[max(0, i - 3):i]}")
    equal(len(found), len(expected), "number of instructions")


def exact(bits, *options, modes=True):
    expected, _ = truth(bits, f"modes-{bits}")
    found = instructions(run(bits, f"modes-{bits}", "--repeatable", *options, qemu=ONE), modes=modes)
    same(found, expected if modes else [line.split()[0] for line in expected])


OPTIONS = {"htm": [], "btm": ["--mode", "btm"], "best": ["--best"], "timestamps": ["--timestamps"],
           "no repeats, no implicit returns": ["--no-repeated-history", "--implicit-return", "off"]}
for word, given in OPTIONS.items():
    for width in 64, 32:
        @case(f"RV{width}, {word}: every instruction and its mode, as in QEMU's log")
        def each(width=width, given=given):
            exact(width, *given)


@case("--context none: every instruction")
def without_context():
    exact(64, "--context", "none", modes=False)


@case("--context scontext: every instruction and its mode, the context is 0")
def scontext():
    exact(64, "--context", "scontext")


@case("exceptions and interrupts: as many as in QEMU's log")
def traps():
    _, expected = truth(64, "modes-64")
    bundle = run(64, "modes-64", "--repeatable", qemu=ONE)
    text = subprocess.run([harness.NTRACE, "decode", bundle, "--output", "count"], stdout=subprocess.PIPE, text=True, check=True).stdout
    counts = dict(line.split() for line in text.splitlines())
    equal(int(counts["interrupts"]), sum(is_interrupt for is_interrupt, _, _ in expected), "interrupts")
    equal(int(counts["exceptions"]), sum(not is_interrupt for is_interrupt, _, _ in expected), "exceptions")
    equal(int(counts["gaps"]), 0, "gaps")


harness.main()
