#!/usr/bin/env python3
"""Formats of architects: SimPoint's basic-block vectors, Konata's log and RVVI-TEXT, read by their published descriptions.

usage: architects.py NTRACE

The truth is the list of program counters of `decode --show pc`, and the disassembly of binutils.
"""
import collections
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, Run, case, check, equal, main, need, scratch

HERE = os.path.dirname(os.path.abspath(__file__))
THREADS = """#include <pthread.h>
static volatile int sum;
static void *work(void *p) { for (int i = 0; i < 99; i++) sum++; return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }
"""


@functools.cache
def traced():
    """A folder with work.ntrace; hole.ntrace, with a gap; and threads.ntrace of two harts."""
    folder = tempfile.mkdtemp(dir=scratch())
    with open(os.path.join(folder, "threads.c"), "w", encoding="ascii") as file:
        file.write(THREADS)
    shutil.copy(os.path.join(HERE, "work.c"), folder)
    for name in ("work", "threads"):
        subprocess.run([need("riscv64-linux-gnu-gcc"), "-O1", "-g", "-static", "-pthread", name + ".c", "-o", name], cwd=folder, check=True)
        Run("run", "-q", "-o", name + ".ntrace", "--", "./" + name, cwd=folder)
    shutil.copytree(os.path.join(folder, "work.ntrace"), os.path.join(folder, "hole.ntrace"))
    path = os.path.join(folder, "hole.ntrace", "trace.nex")
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data[:len(data) // 5] + b"\x02" * 7 + data[len(data) * 4 // 5:])
    return folder


@functools.cache
def counters(name, *options):
    lines = Run("decode", "--show", "pc", *options, name, cwd=traced(), status=None).lines()
    return [int(line.split()[-1], 16) for line in lines]


def vectors(text):
    """What SimPoint reads: lines that begin with T, with pairs of a block and a number; and the list of blocks."""
    intervals = []
    for line in text.splitlines():
        if line.startswith("T"):
            check(re.fullmatch(r"T(:[1-9]\d*:[1-9]\d* )+", line), f"pairs of {line[:80]}")
            pairs = [tuple(map(int, pair)) for pair in re.findall(r":(\d+):(\d+)", line)]
            equal(len(dict(pairs)), len(pairs), "each block once")
            intervals.append(dict(pairs))
        else:
            check(line.startswith("#"), f"a comment: {line[:80]}")
    blocks = {int(number): (int(address, 16), int(size)) for number, address, size in re.findall(r"(?m)^# (\d+) 0x(\w+) (\d+) ", text)}
    return intervals, blocks


@case("SimPoint: the blocks of each interval are those of its program counters; no drift of the ends")
def simpoint():
    text = Run("export", "--to", "simpoint", "--every", "5000", "work.ntrace", cwd=traced()).out
    intervals, blocks = vectors(text)
    listed, at, longest = counters("work.ntrace"), 0, max(size for _, size in blocks.values())
    check(len(intervals) == -(-len(listed) // 5000) > 3, f"{len(intervals)} intervals of {len(listed)} instructions")
    for number, interval in enumerate(intervals):
        size = sum(interval.values())
        found = collections.Counter(listed[at:at + size])
        at += size
        if number + 1 < len(intervals):
            check(0 <= at - 5000 * (number + 1) < longest, f"end of interval {number}: {at}")
        # every instruction of a block runs as often as the block
        starts = collections.Counter()
        for block, instructions in interval.items():
            address, length = blocks[block]
            equal(instructions % length, 0, f"whole executions of block {block}")
            starts[address] += instructions // length
        for address, count in starts.items():
            check(found[address] >= count, f"executions of {address:#x}")
    equal(at, len(listed), "instructions")


@case("SimPoint: blocks begin where control arrives and end where it leaves, as objdump's instructions say")
def simpoint_blocks():
    _, blocks = vectors(Run("export", "--to", "simpoint", "work.ntrace", cwd=traced()).out)
    text = subprocess.run([need("riscv64-linux-gnu-objdump"), "-d", "-M", "no-aliases", "work"], cwd=traced(), capture_output=True, text=True, check=True).stdout
    code = [(int(address, 16), name) for address, name in re.findall(r"(?m)^ *(\w+):\t\w+ +\t(\S+)", text)]
    place = {address: index for index, (address, _) in enumerate(code)}
    leaves = re.compile(r"(c\.)?(b\w+|j\w*|ecall|ebreak)$")
    for address, size in blocks.values():
        names = [name for _, name in code[place[address]:place[address] + size]]
        check(not any(leaves.match(name) for name in names[:-1]), f"block at {address:#x}: {names}")
        after = code[place[address] + size][1]  # a system call: the trap comes before the instruction retires
        check(leaves.match(names[-1]) or after == "ecall", f"end of the block at {address:#x}: {names}, then {after}")


@case("SimPoint: a trace of two harts is refused with a sentence; --src selects one; a gap is a comment")
def simpoint_harts():
    error = Run("export", "--to", "simpoint", "threads.ntrace", cwd=traced(), status=2).err
    check("expected one hart" in error and "--src" in error, error)
    for src in ("0", "1"):
        intervals, _ = vectors(Run("export", "--to", "simpoint", "--src", src, "threads.ntrace", cwd=traced()).out)
        equal(sum(sum(interval.values()) for interval in intervals), len(counters("threads.ntrace", "--src", src)), f"instructions of hart {src}")
    text = Run("export", "--to", "simpoint", "hole.ntrace", cwd=traced(), status=1).out
    equal(len(re.findall(r"(?m)^# gap after instruction \d+: ", text)), 1, "gaps")
    equal(sum(sum(interval.values()) for interval in vectors(text)[0]), len(counters("hole.ntrace")), "instructions")


WORD = re.compile(r"'[^'\n]*'|\"[\w ]*\"|\S+")
ELEMENTS = {"VERSION": 2, "VENDOR": 3, "HART": 1, "RET": 2, "TRAP": 2, "MODE": 1, "VIRT": 1, "TIME": 1}


def rvvi(text):
    """[[(element, values)] of each line], by the grammar of RVVI-TEXT 0.3."""
    result = []
    for line in text.splitlines():
        check(line.isascii() and line.isprintable(), f"printable characters: {line[:80]}")
        words = [word for word in WORD.findall(line) if word[0] != "'"]
        elements = []
        while words:
            key = words.pop(0)
            count = {"PARAMS": lambda: 1 + 2 * int(words[0]), "META": lambda: 1 + int(words[0])}.get(key, lambda key=key: ELEMENTS[key])()
            elements.append((key, words[:count]))
            check(len(words) >= count, f"values of {key}: {line[:80]}")
            del words[:count]
        result.append(elements)
    equal(result[0], [("VERSION", ["0", "3"])], "the first element")
    return result


@case("RVVI-TEXT: the instructions and their bytes are those of the trace and of objdump; parts without trace are said; encoded, the trace comes back")
def rvvi_text():
    text = Run("export", "--to", "rvvi", "work.ntrace", cwd=traced()).out
    retired = [dict(line)["RET"] for line in rvvi(text)[3:]]
    equal([int(pc, 16) for pc, _ in retired], counters("work.ntrace"), "program counters")
    disassembly = subprocess.run([need("riscv64-linux-gnu-objdump"), "-d", "work"], cwd=traced(), capture_output=True, text=True, check=True).stdout
    code = {int(address, 16): word for address, word in re.findall(r"(?m)^ *(\w+):\t(\w+) ", disassembly)}
    check(all(code[int(pc, 16)] == insn[2:] for pc, insn in retired), "opcodes")
    stops = [dict(line)["META"] for line in rvvi(text) if "META" in dict(line)]
    check(len(stops) > 3 and all(stop == ["1", "stop"] for stop in stops), f"system calls, which are not traced: {stops}")
    with open(os.path.join(traced(), "again.nex"), "wb") as file:
        file.write(Run("encode", "--rvvi", "-", "-e", "work", cwd=traced(), stdin=text.encode()).bytes)
    again = Run("decode", "--show", "pc", "-e", "work", "again.nex", cwd=traced()).lines()
    equal([int(line, 16) for line in again], counters("work.ntrace"), "program counters of the stream")


@case("RVVI-TEXT: one hart; a gap is said, and encode refuses it")
def rvvi_harts():
    check("--src" in Run("export", "--to", "rvvi", "threads.ntrace", cwd=traced(), status=2).err, "two harts")
    text = Run("export", "--to", "rvvi", "--src", "1", "threads.ntrace", cwd=traced()).out
    equal(rvvi(text)[2][0][1][-4:-2] + rvvi(text)[3][0][1], ["NHART", "2", "1"], "the hart")
    equal(sum("RET" in dict(line) for line in rvvi(text)), len(counters("threads.ntrace", "--src", "1")), "instructions")
    text = Run("export", "--to", "rvvi", "hole.ntrace", cwd=traced(), status=1).out
    equal(sum(("META", ["1", "gap"]) in line for line in rvvi(text)), 1, "gaps")
    check("(gap)" in Run("encode", "--rvvi", "-", "-o", "gap.nex", cwd=traced(), stdin=text.encode(), status=2).err, "refused")


def konata(text):
    """[(address, bytes, thread, cycle)] of retired instructions, and texts; by the description of the Kanata format."""
    lines = text.splitlines()
    equal(lines[0].split("\t"), ["Kanata", "0004"], "header")
    now, alive, labels, texts, retired = None, {}, {}, [], []
    for line in lines[1:]:
        command, *words = line.split("\t")
        if command in ("C=", "C"):
            check((now is None) == (command == "C="), "one absolute cycle, the first")
            now = int(words[0]) + (now or 0)
            continue
        check(now is not None, "a cycle before commands")
        number = int(words[0])
        if command == "I":
            equal(number, len(alive) + len(retired), "numbers are sequential")
            alive[number] = [int(words[2]), None]
        elif command == "L" and words[1] == "0":
            labels[number] = re.fullmatch(r"([0-9a-f]+): ([0-9a-f]+) (.+)", words[2]).groups()
        elif command == "L":
            texts.append(words[2])
        elif command == "S":
            alive[number][1] = now
        elif command == "R":
            equal(words[1:], [str(len(retired)), "0"], "retired in order")
            thread, begin = alive.pop(number)
            check(now > begin, "a stage has a cycle")
            retired.append((int(labels[number][0], 16), labels[number][1], thread, begin))
        else:
            equal(command, "E", "command")
    equal(alive, {}, "instructions that have not ended")
    return retired, texts


@case("Konata: every instruction once, in order, one a cycle, with the bytes of objdump; a gap is a text")
def konata_log():
    retired, texts = konata(Run("export", "--to", "konata", "work.ntrace", cwd=traced()).out)
    equal([row[0] for row in retired], counters("work.ntrace"), "addresses")
    equal([row[3] - retired[0][3] for row in retired], list(range(len(retired))), "cycles")
    equal(texts, [], "texts")
    text = subprocess.run([need("riscv64-linux-gnu-objdump"), "-d", "work"], cwd=traced(), capture_output=True, text=True, check=True).stdout
    code = {int(address, 16): bits for address, bits in re.findall(r"(?m)^ *(\w+):\t(\w+) ", text)}
    check(all(code[row[0]] == row[1] for row in retired), "bytes")
    retired, texts = konata(Run("export", "--to", "konata", "hole.ntrace", cwd=traced(), status=1).out)
    equal(([row[0] for row in retired], len(texts)), (counters("hole.ntrace"), 1), "with a gap")
    check(texts[0].startswith("after a gap: "), texts[0])


@case("Konata: harts are threads; with timestamps, no cycle is before the time of its message")
def konata_harts():
    retired, _ = konata(Run("export", "--to", "konata", "threads.ntrace", cwd=traced()).out)
    for src in (0, 1):
        equal([row[0] for row in retired if row[2] == src], counters("threads.ntrace", "--src", str(src)), f"hart {src}")
    Run("run", "-q", "--timestamps", "-o", "timed.ntrace", "--", "./work", cwd=traced())
    retired, _ = konata(Run("export", "--to", "konata", "timed.ntrace", cwd=traced()).out)
    equal([row[0] for row in retired], counters("timed.ntrace"), "addresses")
    check(retired[-1][3] >= len(retired) - 1, "a tick is an instruction")


main()
