#!/usr/bin/env python3
"""perf.data: random sequences of kernel modules and BPF programs at the same addresses, of which each consumer names the one that was there.

A module leaves no record when it is unloaded: it ends where another one, or a BPF program, begins. What was called is the truth.

usage: code_lives.py NTRACE [SEED...]
"""
import collections
import functools
import os
import random
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, equal, main, need, same_items, scratch, write
from perf_file import KERNEL as MISC_KERNEL, NOBODY, File, text
from recorded import encode
from world import KERNEL, Cpu, Program

BASE, SLOT, RET, ADDI, RETURN = 0xffffffff01e60000, 0x1000, 0x00008067, 0x00150513, 13
MODULES, SLOTS, STEPS = 3, 4, 30


@functools.cache
def module(number):
    """The file of a module with one function of some instructions; their number."""
    need("riscv64-linux-gnu-ld")  # binutils
    source, path = write(f"mod{number}.s", b""), os.path.join(scratch(), f"mod{number}.ko")
    with open(source, "w", encoding="ascii") as file:
        file.write(f"\t.option norvc\n\t.text\n\t.globl of_mod{number}\n\t.type of_mod{number}, @function\nof_mod{number}:\n" + "\taddi a0, a0, 1\n" * (3 + number)
                   + f"\tret\n\t.size of_mod{number}, .-of_mod{number}\n")
    subprocess.run(["riscv64-linux-gnu-as", "-march=rv64imac_zicsr", "-mno-relax", "-o", source + ".o", source], check=True)
    subprocess.run(["riscv64-linux-gnu-ld", "-r", "-o", path, source + ".o"], check=True)
    return path, 4 + number


@functools.cache
def kernel():
    program = Program("kernel_work", 7, KERNEL)
    program.words[-1] = RET
    return program


class Machine:
    """What is where, and what was executed: (address, name) of each instruction, and the calls of each name."""

    def __init__(self, seed):
        self.random, self.cpu, self.recording, self.tags = random.Random(seed), Cpu(), File(), []
        self.here, self.truth, self.calls = {}, [], collections.Counter()  # here: {slot: (name, address, instructions, is BPF)}
        self.recording.info()
        self.recording.kernel(KERNEL, 0x200000, KERNEL)

    def module(self, slot):
        number = self.random.randrange(MODULES)
        if any(entry[0] == f"of_mod{number}" for entry in self.here.values()):
            return
        self.leave(slot)
        body = struct.pack("<IIQQQ", NOBODY, 0, BASE + slot * SLOT, SLOT, 0) + struct.pack("<IIQQ", 0, 0, 0, 0) + struct.pack("<II", 5, 2) + text(f"/mod{number}.ko")
        self.recording.add(10, MISC_KERNEL, body, NOBODY, time=self.cpu.time + 6)
        self.here[slot] = (f"of_mod{number}", BASE + slot * SLOT, module(number)[1], False)

    def leave(self, slot):
        name, address, count, is_bpf = self.here.pop(slot, (None, 0, 0, False))
        if is_bpf:
            self.recording.symbol(address, 4 * count, name, self.cpu.time + 5, removed=True)

    def bpf(self, slot):
        self.leave(slot)
        count, address = self.random.randrange(2, 9), BASE + slot * SLOT + self.random.choice((0, 4, 0x40))
        tag = struct.pack(">Q", 0x1122334400000000 + len(self.tags))
        name = f"bpf_prog_{tag.hex()}_probe"
        self.tags.append((tag, [(address, struct.pack("<I", ADDI) * (count - 1) + struct.pack("<I", RET))]))
        self.recording.symbol(address, 4 * count, name, self.cpu.time + 6)
        self.here[slot] = (name, address, count, True)

    def loader(self):
        """The kernel's function before and after each change."""
        end = self.cpu.loop(100, kernel(), 1, 1)
        self.cpu.row(end, 2, RETURN, 1)
        self.truth += [(KERNEL + 4 * i, "kernel_work") for i in range(len(kernel().words))]

    def call(self):
        name, address, count, _ = self.random.choice(list(self.here.values()))
        for _ in range(self.random.randrange(1, 4)):
            self.cpu.row(address, 2 * count, RETURN, 1)
            self.truth += [(address + 4 * i, name) for i in range(count)]
            self.calls[name] += 1

    def run(self):
        for _ in range(STEPS):
            self.loader()
            self.random.choice((self.module, self.bpf))(self.random.randrange(SLOTS))
            self.loader()
            for _ in range(self.random.randrange(4) if self.here else 0):
                self.call()
        self.recording.bpf(*self.tags)
        self.recording.comm(100, "first", 10)
        self.recording.start(100, 500)
        self.recording.aux(encode(self.cpu, "--timestamps", "--sync-mode", "messages", "--sync-max", "0"), self.cpu.time + 100, 100)
        return write("lives.data", self.recording.bytes())


def name_of(symbol):
    return symbol.split("+")[0].split(" ")[0].replace("_stext", "kernel_work")


def judge(seed):
    machine = Machine(seed)
    path, options = machine.run(), ["--timestamps", "--sysroot", scratch()]
    for number in range(MODULES):
        module(number)
    os.makedirs(os.path.join(scratch(), "boot"), exist_ok=True)
    with open(os.path.join(scratch(), "boot", "vmlinux"), "wb") as file:
        file.write(kernel().elf())
    ask = lambda *words: Run(*words, *options, env={"HOME": scratch()})
    rows = ask("decode", path, "--show", "insn", "--format", "jsonl").rows()
    same_items([(int(row["address"], 16), name_of(row.get("symbol", "?"))) for row in rows], machine.truth, f"seed {seed}: instruction")
    own = collections.Counter(name for _, name in machine.truth)
    functions, images = collections.Counter(), collections.Counter()
    for row in ask("profile", path, "--format", "jsonl").rows():  # a row for each place of a module
        functions[name_of(row["function"])] += row["self"]
    equal(+functions, own, f"seed {seed}: profile")
    for row in ask("profile", path, "--by", "image", "--format", "jsonl").rows():
        images[row["image"].strip("[]").replace("mod", "of_mod").replace("kernel", "kernel_work")] += row["self"]
    equal(+images, own, f"seed {seed}: images")
    stacks = collections.Counter()
    for line in ask("flame", path, "--to", "folded").lines():
        stack, _, count = line.rpartition(" ")
        stacks[name_of(stack.split(";")[-1])] += int(count)
    equal(+stacks, own, f"seed {seed}: flame")


for each_seed in map(int, sys.argv[2:]) if sys.argv[2:] else range(2):
    case(f"seed {each_seed}: modules and BPF programs, each for its time", each_seed)(judge)
for each_seed in range(2, 40) if not sys.argv[2:] else []:
    case(f"seed {each_seed}: modules and BPF programs, each for its time, long", each_seed, long=True)(judge)
main()
