"""Arguments with which each command does its work: a program with lines, a trace of it, and what else it needs."""
import functools
import os
import struct
import subprocess

import boards
import tiny
from harness import NTRACE, Run, bytes_of, need, scratch, write

TRACED = ["-e", "{elf}", "{trace}"]
# Command, and an option that names an output: the other arguments.
ROWS = {(command, "output"): TRACED for command in ("profile", "coverage", "flame", "timeline", "report", "export", "decode", "stat", "check")} | {
    (command, "partial"): TRACED for command in ("profile", "coverage", "flame", "timeline", "report", "export", "decode", "compare")} | {
    (command, "index"): ["--from", "1", *TRACED] for command in ("profile", "coverage", "flame", "timeline", "report", "export", "decode")} | {
    ("compare", "output"): ["-e", "{elf}", "{trace}", "{trace}"],
    ("compare", "flame"): ["-e", "{elf}", "{trace}", "{trace}"],
    ("diff", "output"): ["-e", "{elf}", "{trace}", "{trace}"],
    ("combine", "output"): ["{part}"],
    ("combine", "index"): ["--redo", "{first}", "{second}", "profile"],
    ("dump", "output"): ["{trace}"],
    ("convert", "output"): ["--to", "pib4", "{trace}"],
    ("split", "output"): ["--src-bits", "2", "{trace}"],
    ("merge", "output"): ["{trace}", "{trace}"],
    ("assemble", "output"): ["{text}"],
    ("encode", "output"): ["-e", "{tiny}", "--pc", "{pcs}"],
    ("doctor", "output"): [],
    ("regs", "output"): [],
    ("probe", "output"): ["-t", "{topology}", "--exec", "{board}"],
    ("probe", "draft"): ["--base", "0x10000000", "--base", "0x10020000", "--exec", "{board}"],
    ("board", "log"): ["{topology}", "--stdio"],
    ("capture", "output"): ["-t", "{topology}", "--exec", "{board}", "--for", "10ms", "-e", "{tiny}"],
    ("run", "output"): ["{ends}"],
    ("coverage", "evidence"): TRACED,
    ("explore", "cache"): ["--ask", '{"query":"functions"}', *TRACED],
    ("open", "cache"): ["--ask", '{"query":"functions"}', *TRACED],
}
FORMATS = ("export", "coverage", "flame", "timeline", "report")
SOURCE = b"""
__attribute__((noinline)) void inner(volatile int *at) { for (;;) if (*at) *at = 3; }
__attribute__((noinline)) void outer(volatile int *at) { *at = 1; inner(at); __asm__ volatile(""); }
int data;
void _start(void) { outer(&data); __asm__ volatile(""); }
"""
ENDS = b".globl _start\n_start: li a0, 0\n li a7, 93\n ecall\n"  # exit(0)


@functools.cache
def values():
    compile_ = [need("riscv64-linux-gnu-gcc"), "-g", "-O1", "-nostdlib", "-static", "-march=rv64imac", "-mabi=lp64", "-o"]
    elf, ends = os.path.join(scratch(), "elf"), os.path.join(scratch(), "ends")
    subprocess.run([*compile_, elf, write("source.c", SOURCE)], check=True)
    subprocess.run([*compile_, ends, write("ends.S", ENDS)], check=True)
    with open(elf, "rb") as file:
        entry = struct.unpack_from("<Q", file.read(), 24)[0]
    trace = write("trace", bytes_of(f"ProgTraceSync SYNC=3 ICNT=0 FADDR={entry >> 1:#x}\nProgTraceCorrelation EVCODE=0 CDF=1 ICNT=40 HIST=0xf\n"))
    part = os.path.join(scratch(), "part")
    Run("profile", "--partial", part, "-e", elf, trace, status=None)
    for i, name in enumerate(("first", "second"), 1):
        Run("profile", "--partial", os.path.join(scratch(), name), "--shard", f"{i}/2", "-e", elf, trace, status=None)
    return {name: os.path.join(scratch(), name) for name in ("first", "second")} | {"elf": elf, "trace": trace, "tiny": write("tiny.elf", tiny.elf()), "text": write("text", tiny.HTM.encode()), "part": part, "ends": ends,
            "pcs": write("pcs", b"".join(b"%#x\n" % pc for pc in tiny.PCS)), "topology": boards.topology(),
            "board": f"{NTRACE} board {boards.topology()} --stdio"}


def filled(words):
    made = values()
    for word in words:
        for key, value in made.items():
            word = word.replace("{" + key + "}", value)
        yield word


def formats(command):
    """The formats of --to."""
    return [line.split()[0] for line in Run(command, "--to", "list").lines()]
