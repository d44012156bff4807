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
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(sys.path[0], ".."))
import user_qemu
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


@functools.lru_cache(1)
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


Insn = collections.namedtuple("Insn", "ip is_branch taken d0 d1 s0 s1 s2 s3 m0 m1 l0 l1 l2 l3")
SP, FLAGS, IP = 6, 25, 26


def champsim(name, *options, status=0):
    """The records of a ChampSim trace: its `struct input_instr` of 64 bytes."""
    path = os.path.join(traced(), "out.champsim")
    done = Run("export", "--to", "champsim", *options, "-o", path, name, cwd=traced(), status=status)
    with open(path, "rb") as file:
        return [Insn(*fields) for fields in struct.iter_unpack("<Q2B2B4B2Q4Q", file.read())], done.err


def kind(i):
    """What ChampSim makes of the registers (the rules of its source)."""
    written, read = {i.d0, i.d1} - {0}, {i.s0, i.s1, i.s2, i.s3} - {0}
    other = bool(read - {SP, FLAGS, IP})
    if IP not in written:
        return "none"
    if not read & {SP, FLAGS} and not other:
        return "jump"
    if not read & {SP, IP, FLAGS} and other:
        return "indirect"
    if SP not in read and IP in read and SP not in written and (FLAGS in read or other):
        return "branch"
    if {SP, IP} <= read and SP in written and FLAGS not in read:
        return "indirect call" if other else "call"
    return "return" if SP in read and IP not in read and SP in written else "other"


@functools.cache
def code():
    """{address: (size, mnemonic, operands)} of the program, by objdump."""
    text = subprocess.run([need("riscv64-linux-gnu-objdump"), "-d", "-M", "no-aliases,numeric", "work"], cwd=traced(), capture_output=True, text=True, check=True).stdout
    return {int(address, 16): (len(word) // 2, name, operands) for address, word, name, operands in re.findall(r"(?m)^ *(\w+):\t(\w+) +\t(\S+)\t?(\S*)", text)}


def expected_kind(name, operands):
    name, registers = name.removeprefix("c."), [word.split("(")[-1].rstrip(")") for word in operands.split(",")]
    if name in ("j", "jal"):
        return "call" if name == "jal" and registers[0] == "x1" else "jump"
    if name in ("jr", "jalr"):
        target, link = registers[-1], "x0" if name == "jr" else registers[0] if len(registers) > 1 else "x1"
        return "indirect call" if link == "x1" else "return" if target == "x1" else "indirect"
    return "branch" if re.fullmatch("b(eq|ne|lt|ge)(z|u)?", name) else "none"


@case("ChampSim: instructions in order, kinds of branches as its rules see them, outcomes, and registers that loads depend on")
def champsim_branches():
    found, error = champsim("work.ntrace", status=1)
    check("no loads and stores" in error and "run --data" in error, error)
    equal([i.ip for i in found], counters("work.ntrace"), "program counters")
    seen = collections.Counter()
    for i, after in zip(found, found[1:]):
        size, name, operands = code()[i.ip]
        wanted = expected_kind(name, operands)
        seen[wanted] += 1
        equal((kind(i), i.is_branch), (wanted, int(wanted != "none")), f"kind of {name} {operands}")
        if wanted == "branch":
            equal(i.taken, int(after.ip != i.ip + size), f"outcome of {name} at {i.ip:#x}")
        elif name in ("ld", "c.ld", "c.ldsp", "lw"):
            numbers = [int(x) for x in re.findall(r"x(\d+)", operands)]
            equal((i.d0, i.d1, i.s0, i.s1), (64 + numbers[0] if numbers[0] else 0, 0, 64 + numbers[1], 0), f"registers of {name} {operands}")
    check(min(seen[one] for one in ("call", "return", "branch", "jump", "indirect", "indirect call")) > 3, f"kinds: {seen}")
    check("--src" in Run("export", "--to", "champsim", "-o", "x", "threads.ntrace", cwd=traced(), status=2).err, "two harts")


LOAD, STORE, ATOMIC = (re.compile(rf"(c\.)?f?l[bhwd]u?(sp)?$|lr\."), re.compile(r"(c\.)?f?s[bhwd](sp)?$"), re.compile(r"amo|sc\."))


@functools.cache
def with_data():
    Run("run", "-q", "--data", *user_qemu.for_ntrace(user_qemu.repeatable()), "-o", "data.ntrace", "--", "./work", cwd=traced())
    return "data.ntrace"


@case("ChampSim: each load and store of run --data has its address, in the order of the trace")
def champsim_memory():
    rows = [line.split() for line in Run("decode", "--show", "data", with_data(), cwd=traced()).lines()]
    queue = collections.deque((row[0], int(row[2], 16)) for row in rows)
    found, error = champsim(with_data())
    equal(error, "", "nothing is left out")
    for i in found:
        name, loads, stores = code()[i.ip][1], [], []
        if LOAD.match(name) or (ATOMIC.match(name) and queue[0][0] == "read"):
            loads.append(queue.popleft()[1])
        if STORE.match(name) or (ATOMIC.match(name) and queue and queue[0][0] == "write"):
            stores.append(queue.popleft()[1])
        equal(([a for a in i[9:11] if a], [a for a in i[11:] if a]), (stores, loads), f"addresses of {name} at {i.ip:#x}")
    equal(len(queue), 0, "accesses without an instruction")


@case("ChampSim: of a trace that has some of the accesses, no address is that of another instruction; what is left out is said", long=True)
def champsim_range():
    whole = champsim(with_data())[0]
    used = collections.Counter(a & ~0xff for i in whole for a in i[9:] if a).most_common(3)
    for first, _ in used:
        Run("run", "-q", "--data-range", f"{first:#x}-{first + 0xff:#x}", *user_qemu.for_ntrace(user_qemu.repeatable()), "-o", "some.ntrace", "--", "./work",
            cwd=traced())
        found, error = champsim("some.ntrace", status=1)
        shutil.rmtree(os.path.join(traced(), "some.ntrace"))
        equal([i.ip for i in found], [i.ip for i in whole], "program counters")
        wrong = sum(any(a and a not in b[9:] for a in i[9:]) for i, b in zip(found, whole))
        check("loads and stores have no address" in error and not wrong, f"range {first:#x}: {wrong} wrong; {error}")


def stf(name, *options, status=0):
    """An STF file read by the definition of its records: [(address, opcode, size, accesses)] as its readers follow it, what the header has, comments."""
    path = os.path.join(traced(), "out.stf")
    done = Run("export", "--to", "stf", *options, "-o", path, name, cwd=traced(), status=status)
    with open(path, "rb") as file:
        data = file.read()
    rows, header, comments, place = [], {}, [], [0]
    counter, target, accesses, done_header, access = None, None, [], False, None

    def take(form):
        fields = struct.unpack_from("<" + form, data, place[0])
        place[0] += struct.calcsize("<" + form)
        return fields if len(fields) > 1 else fields[0]

    def string(form):
        size = take(form)
        place[0] += size
        return data[place[0] - size:place[0]].decode()
    order = []
    while place[0] < len(data):
        kind = take("B")
        check(access is None or kind == 61, "the data of an access follow it")
        order += [] if done_header else [kind]
        if kind == 1:
            equal((take("3s"), len(order)), (b"STF", 1), "identifier")
        elif kind == 2:
            header["version"] = take("II")
        elif kind == 3:
            comments.append(string("I"))
        elif kind in (4, 5):
            header["isa" if kind == 4 else "iem"] = take("H")
        elif kind == 6:
            header["generator"] = (take("BBBB"), string("H"))
        elif kind == 7:
            header["features"] = take("Q")
        elif kind == 9:
            counter, target = take("Q"), None
            check(not accesses, "records of an instruction before FORCE_PC")
        elif kind == 19:
            done_header = True
            equal(order, [1, 2, 3, 4, 5, 6, 7, 9, 19], "records of the header, in their order")
        elif kind == 31:
            check(target is None and not accesses, "one target, before accesses")
            target = take("Q")
        elif kind == 60:
            access = take("QHHB")
        elif kind == 61:
            accesses.append((*access, take("Q")))
            access = None
        else:
            check(kind in (240, 241) and done_header, f"record {kind}")
            opcode, size = (take("I"), 4) if kind == 240 else (take("H"), 2)
            rows.append((counter, opcode, size, accesses))
            counter, target, accesses = counter + size if target is None else target, None, []
    check(done_header and not accesses and target is None or rows, "the end")
    return rows, header, comments, done.err


@case("STF: each instruction where readers of it find it, with its opcode; the header says what is not known", long=True)
def stf_flow():
    rows, header, comments, error = stf("work.ntrace", status=1)
    check("no loads and stores" in error and "run --data" in error, error)
    equal([row[0] for row in rows], counters("work.ntrace"), "program counters")
    check(all(code()[row[0]][0] == row[2] for row in rows), "sizes")
    text = subprocess.run([need("riscv64-linux-gnu-objdump"), "-d", "work"], cwd=traced(), capture_output=True, text=True, check=True).stdout
    bits = {int(address, 16): int(word, 16) for address, word in re.findall(r"(?m)^ *(\w+):\t(\w+) ", text)}
    check(all(bits[row[0]] == row[1] for row in rows), "opcodes")
    equal((header["version"], header["isa"], header["iem"], header["features"]), ((1, 3), 1, 2, 0x20), "header")
    equal((header["generator"][0][0], header["generator"][1]), (0, "ntrace"), "generator")
    check("not known: values of registers" in comments[0] and set(comments[1:]) == {"tracing was off"}, f"comments: {comments}")
    check("--src" in Run("export", "--to", "stf", "-o", "x", "threads.ntrace", cwd=traced(), status=2).err, "two harts")
    rows, _, comments, _ = stf("hole.ntrace", status=1)
    equal(([row[0] for row in rows], sum(one.startswith("gap: ") for one in comments)), (counters("hole.ntrace"), 1), "with a gap")


@case("STF: each load and store of run --data, with address, size, direction and data, in the order of the trace")
def stf_memory():
    rows, header, _, error = stf(with_data())
    equal((error, header["isa"], header["iem"]), ("", 1, 2), "nothing is left out")
    equal([row[0] for row in rows], counters("data.ntrace"), "program counters")
    words = (line.split() for line in Run("decode", "--show", "data", "data.ntrace", cwd=traced()).lines())
    expected = [(row[0], int(row[2], 16), int(row[1]), int(row[row.index("=") + 1], 16)) for row in words]
    check(len(expected) > 1000, "the trace has accesses")
    found = [("read" if kind == 1 else "write", address, size, value) for row in rows for address, size, _, kind, value in row[3]]
    equal(found, expected, "accesses")


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


@case("Konata: harts are threads; with timestamps, no cycle is before the time of its message", long=True)
def konata_harts():
    retired, _ = konata(Run("export", "--to", "konata", "threads.ntrace", cwd=traced()).out)
    for src in (0, 1):
        equal([row[0] for row in retired if row[2] == src], counters("threads.ntrace", "--src", str(src)), f"hart {src}")
    Run("run", "-q", "--timestamps", "-o", "timed.ntrace", "--", "./work", cwd=traced())
    retired, _ = konata(Run("export", "--to", "konata", "timed.ntrace", cwd=traced()).out)
    equal([row[0] for row in retired], counters("timed.ntrace"), "addresses")
    check(retired[-1][3] >= len(retired) - 1, "a tick is an instruction")


main()
