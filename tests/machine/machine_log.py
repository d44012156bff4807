"""QEMU's log as truth: what each hart retired, with its privilege mode.

The log is that of `-accel tcg,one-insn-per-tb=on -d exec,nochain,int`: a line for each instruction that begins, and one for each trap.
An instruction did not retire if QEMU stopped before it (an interrupt was pending), or if a synchronous trap has its address.
"""
import json
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import Memo

TRACE = re.compile(r"Trace (\d+): \S+ \[[0-9a-f]+/([0-9a-f]+)/([0-9a-f]+)/[0-9a-f]+\]")
STOPPED = re.compile(r"Stopped execution of TB chain before \S+ \[([0-9a-f]+)\]")
TRAP = re.compile(r"riscv_cpu_do_interrupt: hart:(\d+), async:(\d), cause:([0-9a-f]+), epc:0x([0-9a-f]+)")
MODES = {0: "U", 1: "S", 3: "M"}


def traced(line):
    """(hart, "0xADDRESS MODE") of a line of an instruction, or None."""
    if found := TRACE.match(line):
        flags = int(found[3], 16)
        return int(found[1]), f"0x{int(found[2], 16):x} {'V' if flags >> 21 & 1 else ''}{MODES[flags >> 22 & 3]}"
    return None


def members(*names):
    """A function that gives these members of each event of `decode --show insn --format jsonl`, as one string."""
    def of(line):
        event = json.loads(line)
        return " ".join(event.get(name, "-") for name in names)
    return Memo(of).of


def read(path):
    """(harts, traps): for each hart, a list of "0xADDRESS MODE"; for each hart, a list of (is interrupt, cause, epc)."""
    harts, traps, last, lines = {}, {}, None, Memo(traced)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if found := lines[line]:
                last, instruction = found
                harts.setdefault(last, []).append(instruction)
            elif found := STOPPED.match(line):
                assert harts[last][-1].startswith(f"0x{int(found[1], 16):x} ")
                harts[last].pop()
            elif found := TRAP.match(line):
                hart, is_interrupt, epc = int(found[1]), found[2] == "1", int(found[4], 16)
                traps.setdefault(hart, []).append((is_interrupt, int(found[3], 16), epc))
                if not is_interrupt and harts.get(hart, [""])[-1].startswith(f"0x{epc:x} "):
                    harts[hart].pop()
    assert not harts or harts[min(harts)][0].endswith(" M"), "the layout of QEMU's flags has changed"
    return harts, traps
