#!/usr/bin/env python3
"""perf.data as input: files in the form of each producer, made from the layout (perf_file.py), decode to the truth.

usage: perf_in.py NTRACE
"""
import os
import struct
import subprocess
import sys
import zlib

os.environ.pop("PERF_BUILDID_DIR", None)  # perf sets it for what it starts

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, matches, need, scratch, skip, write
from perf_file import OVERWRITE, RVTRACE, TRUNCATED, XUANTIE, File, block_header, formatter_frames, record
from world import KERNEL, PAGE, SRET, Cpu, Program

BASE = 0x10000
ENCODE = ("--mode", "htm")


def programs(name="world"):
    """Two programs at the same addresses, a third one, a library, a kernel; in a folder that is the system's root."""
    root = os.path.join(scratch(), name)
    os.makedirs(root, exist_ok=True)
    world = {
        "first": Program("first", 3, BASE),
        "second": Program("second", 5, BASE),
        "third": Program("third", 2, BASE),
        "library": Program("library", 4, 0, kind=3),
        "other": Program("other", 6, 0, kind=3),
        "kernel": Program("kernel", 7, KERNEL, SRET),
    }
    for program in world.values():
        program.write(root)
    os.replace(os.path.join(root, "kernel"), os.path.join(root, "vmlinux"))
    return root, world


def encode(cpu, *options):
    path = write("ingress.csv", cpu.take().encode())
    return Run("encode", "--ingress", path, *ENCODE, *options).bytes


def executed(path, root, *options, status=0):
    """(source, address, symbol) of each instruction, and what was said."""
    run = Run("decode", path, "--show", "insn", "--format", "jsonl", "--sysroot", root, "--image-path", root, *options,
              status=status, env={"HOME": root})
    rows = [(row.get("src", 0), int(row["address"], 16), row.get("symbol", "").split("+")[0]) for row in run.rows()]
    return rows, run.err


def same(found, expected, what):
    """Lists that are too long to be shown."""
    for number, (one, other) in enumerate(zip(found + [None], expected + [None])):
        if one != other:
            context = expected[max(0, number - 2):number]
            raise AssertionError(f"{what}: instruction {number}, after {context}: expected {other}, found {one}")


def of_source(rows, source):
    return [row[1:] for row in rows if row[0] == source]


def true_rows(cpu):
    return [row[1:] for row in cpu.truth]


def judge(recording, cpu, root, name, pid):
    """The trace of one CPU, read out while `pid` runs: what is decoded is what the CPU executed."""
    recording.aux(encode(cpu, "--timestamps"), cpu.time, pid)
    rows, said = executed(write(name + ".data", recording.bytes()), root, "--timestamps")
    same(of_source(rows, 0), true_rows(cpu), said)


def map_program(recording, pid, program, time, address=None, **more):
    recording.mmap2(pid, program.address if address is None else address, PAGE, PAGE, "/" + program.name, time, **more)


def kernel_of(recording, kernel):
    recording.kernel(KERNEL, 0x200000, KERNEL)


@case("one process: the bytes of the trace are the stream, and the file names the images")
def _():
    root, world = programs()
    cpu = Cpu()
    for times in (3, 1, 40):
        cpu.user(100, world["first"], times, to=world["kernel"])
    stream = encode(cpu)
    for pmu, kind, header in ((RVTRACE, 8, b""), (RVTRACE, 7, b""), (XUANTIE, 9, block_header())):
        for padding in (True, False):
            recording = File(pmu)
            recording.info(kind)
            kernel_of(recording, world["kernel"])
            recording.comm(100, "first", 10)
            map_program(recording, 100, world["first"], 20)
            recording.start(100, 500)
            recording.aux(header + stream, cpu.time + 100, 100, padding=padding)
            path = write("one.data", recording.bytes())
            rows, _ = executed(path, root)
            same(of_source(rows, 0), true_rows(cpu), f"{pmu} {kind}")
            equal(Run("dump", path).out, Run("dump", write("one.nex", stream)).out, "messages")


def two_processes(recording, world, cpu, slices, contexts=None):
    """Slices of two processes at the same addresses, on CPU 0."""
    kernel = world["kernel"]
    names = {100: "first", 200: "second"}
    running = None
    for pid, times in slices:
        if running != pid:
            cpu.time += 100
            if running is not None:
                recording.switch(0, running, pid, cpu.time)
            cpu.time += 100
            cpu.switch((contexts or {}).get(pid, 0))
        running = pid
        cpu.user(pid, world[names[pid]], times, to=kernel)


SLICES = ((100, 3), (200, 2), (100, 5), (100, 1), (200, 9), (100, 2))


def begin_two(recording, world):
    kernel_of(recording, world["kernel"])
    for pid, name in ((100, "first"), (200, "second")):
        recording.comm(pid, name, 10)
        map_program(recording, pid, world[name], 20)
    recording.start(100, 500)


@case("two processes share addresses: the switch records and the times say whose code it is")
def _():
    root, world = programs()
    clocks = {
        "ns": (lambda time: time, None),
        "converted": (lambda time: (time - 700) // 5, (3, 40, 700)),
        "fitted": (lambda time: time // 10 + 123456, None),
    }
    for name, (ticks, conversion) in clocks.items():
        for pmu, header in ((RVTRACE, b""), (XUANTIE, block_header(timestamp_bits=48))):
            recording, cpu = File(pmu), Cpu(ticks=ticks)
            recording.info()
            if conversion:
                recording.time_conversion(*conversion)
            begin_two(recording, world)
            for part in (SLICES[:3], SLICES[2:]): # two fragments: a line goes through their ends
                two_processes(recording, world, cpu, part)
                recording.aux(header + encode(cpu, "--timestamps", "--ts-width", "48"), cpu.time, 200)
            path = write("two.data", recording.bytes())
            rows, said = executed(path, root, "--timestamps", "--ts-width", "48", status=None)
            same(of_source(rows, 0), true_rows(cpu), f"{name}, {pmu}: {said}")


@case("two processes without times: Ownership contexts are matched with the switch records")
def _():
    root, world = programs()
    recording, cpu = File(), Cpu()
    recording.info()
    begin_two(recording, world)
    cpu.switch(7)
    two_processes(recording, world, cpu, SLICES, {100: 7, 200: 9})
    recording.aux(encode(cpu, "--context"), cpu.time + 100, 200)
    path = write("owners.data", recording.bytes())
    rows, said = executed(path, root)
    same(of_source(rows, 0), true_rows(cpu), said)
    contexts = [row["scontext"] for row in Run("decode", path, "--show", "event", "--sysroot", root, "--image-path", root).rows()
                if row["kind"] == "context"]
    equal(set(contexts), {"0x64", "0xc8"}, "contexts are process ids")


@case("processes and the kernel are told apart by name")
def _():
    root, world = programs()
    recording, cpu = File(), Cpu()
    recording.info()
    begin_two(recording, world)
    two_processes(recording, world, cpu, SLICES)
    recording.aux(encode(cpu, "--timestamps"), cpu.time, 200)
    path = write("names.data", recording.bytes())
    rows = Run("profile", path, "--timestamps", "--sysroot", root, "--image-path", root, "--by", "image", "--format",
               "jsonl", env={"HOME": root}).rows()
    found = {row["image"]: row["self"] for row in rows}
    counts = {}
    for pid, _, symbol in cpu.truth:
        name = "[kernel]" if symbol == "kernel" else f"/{symbol} [{symbol} {pid}]"
        counts[name] = counts.get(name, 0) + 1
    equal(found, counts, "instructions by image")
    rows = Run("stat", path, "--timestamps", "--sysroot", root, "--image-path", root, "--format", "jsonl",
               env={"HOME": root}).rows()
    equal({(row["name"], row["pid"]) for row in rows if row["kind"] == "process"}, {("first", 100), ("second", 200)},
          "processes of stat")


@case("two CPUs, no SRC: one stream whose sources are the CPUs; a process migrates")
def _():
    root, world = programs()
    recording, cpus = File(), [Cpu(), Cpu(1005)]
    recording.info()
    kernel_of(recording, world["kernel"])
    for pid, name in ((100, "first"), (200, "second")):
        recording.comm(pid, name, 10)
        map_program(recording, pid, world[name], 20)
    names = {100: "first", 200: "second"}
    running = [100, 200]
    recording.start(100, 500, 0)
    recording.start(200, 500, 1)
    for turn in range(4):
        for number, cpu in enumerate(cpus):
            cpu.user(running[number], world[names[running[number]]], 4 + turn, to=world["kernel"])
        now = max(cpu.time for cpu in cpus) + 50
        running.reverse()
        for number, cpu in enumerate(cpus):
            recording.switch(number, running[1 - number], running[number], now)
            cpu.time = now + 50
    for number, cpu in enumerate(cpus):
        recording.aux(encode(cpu, "--timestamps"), cpu.time, 100, cpu=number, index=number)
    rows, said = executed(write("cpus.data", recording.bytes()), root, "--timestamps")
    for number, cpu in enumerate(cpus):
        same(of_source(rows, number), true_rows(cpu), f"CPU {number}: {said}")


def on_cpus(root, world, cpus, fragments, options=("--timestamps",)):
    """A recording in which each CPU executes loops of one process, and its trace is in `fragments` records."""
    recording = File()
    recording.info()
    kernel_of(recording, world["kernel"])
    recording.comm(100, "first", 10)
    map_program(recording, 100, world["first"], 20)
    for number in range(len(cpus)):
        recording.switch(number, 1, 100, 30 + number)
        recording.start(100, 500, number)
    for turn in range(fragments):
        for number, cpu in enumerate(cpus):
            cpu.user(100, world["first"], 3 + number + turn, to=world["kernel"])
        for number, cpu in enumerate(cpus):
            recording.aux(encode(cpu, *options), max(each.time for each in cpus) + 50, 100, cpu=number, index=number)
        for cpu in cpus:
            cpu.time += 200
    return recording


@case("two CPUs whose messages have the same SRC at the same time: it is replaced by the CPU", 12, 0, ("--timestamps",))
@case("two CPUs with the same SRC of 4 bits", 4, 7, ("--timestamps",))
@case("two CPUs with the same SRC of 7 bits, without times", 7, 127, ())
def _(width, source, options):
    root, world = programs()
    cpus = [Cpu(), Cpu(1005)]
    recording = on_cpus(root, world, cpus, 3, (*options, "--src-bits", str(width), "--src-id", str(source)))
    path = write("same.data", recording.bytes())
    rows, said = executed(path, root, *options, "--src-bits", width)
    matches(f"several CPUs have messages with SRC {source} at the same time: SRC is replaced by the number of the CPU", said, "a sentence")
    for number, cpu in enumerate(cpus):
        same(of_source(rows, number), true_rows(cpu), f"CPU {number}: {said}")


@case("two CPUs share a sink: the SRC of one is in the other's buffer at another time, and stays")
def _():
    root, world = programs()
    recording, cpu = on_cpus(root, world, [], 0), Cpu()
    for turn in range(4):
        cpu.user(100, world["first"], 3 + turn, to=world["kernel"])
        recording.aux(encode(cpu, "--timestamps", "--src-bits", "6", "--src-id", "5"), cpu.time, 100, cpu=turn % 2, index=turn % 2)
        cpu.time += 200
    rows, said = executed(write("shared.data", recording.bytes()), root, "--timestamps", "--src-bits", 6)
    same(of_source(rows, 5), true_rows(cpu), said)


@case("two CPUs, of which one has messages of two SRC, one of them the other's: refused by name")
def _():
    root, world = programs()
    cpus = [Cpu(), Cpu(1005)]
    options = ("--timestamps", "--src-bits", "12", "--src-id")
    recording = on_cpus(root, world, cpus, 2, (*options, "3"))
    third = Cpu(cpus[1].time)
    third.user(100, world["first"], 4, to=world["kernel"])
    recording.aux(encode(third, *options, "9"), third.time, 100, cpu=1, index=1)
    path = write("clash.data", recording.bytes())
    for command in ("decode", "stat", "dump"):
        said = Run(command, path, *options[:-1], status=2).err
        matches("CPUs 0 and 1: both have messages with SRC 3 at the same time, so SRC does not tell harts apart; record one", said, command)


@case("BPF programs: their code is in the file, their names are those of KSYMBOL records")
def _():
    root, world = programs()
    at = (0xffffffff01000000, 0xffffffff01000400)
    bpf = [Program(f"bpf_prog_{tag * 8}_probe", 3 + number, address, SRET) for number, (tag, address) in enumerate(zip(("ab", "cd"), at))]
    code = [(program.address, b"".join(struct.pack("<I", word) for word in program.words)) for program in bpf]
    for known, names, reason in ((True, [bpf[0].name, bpf[1].name], None), (True, [bpf[0].name], None), (False, [bpf[0].name], "no program image"),
                                 (True, [bpf[0].name, bpf[1].name, "bpf_prog_other"], "no program image"),
                                 (True, ["bpf_prog_" + "12" * 8 + "_other"], "several programs were at this address")):
        recording, cpu = File(), Cpu()
        recording.info()
        kernel_of(recording, world["kernel"])
        recording.comm(100, "first", 10)
        map_program(recording, 100, world["first"], 20)
        recording.start(100, 500)
        for times, program in ((4, bpf[0]), (2, world["kernel"]), (3, bpf[1])):
            cpu.user(100, world["first"], times, to=program)
        for number, name in enumerate(names):
            recording.symbol(at[number % 2], 64, name, 30 + number)
        if known:
            recording.bpf((b"\xab" * 8, code[:1]), (b"\xcd" * 8, code[1:]))
        recording.aux(encode(cpu), cpu.time, 100)
        rows, said = executed(write("bpf.data", recording.bytes()), root, status=1 if reason else 0)
        if reason:
            matches(reason, said, "what is said")
            continue
        same([row[0] for row in of_source(rows, 0)], [row[0] for row in true_rows(cpu)], "addresses")
        shown = Run("profile", os.path.join(scratch(), "bpf.data"), "--by", "image", "--format", "jsonl", "--sysroot", root, "--image-path", root,
                    env={"HOME": root}).rows()
        counts = {row["image"]: row["self"] for row in shown}
        for number, program in enumerate(bpf):
            name = program.name if number < len(names) else "bpf_prog_" + "cd" * 8
            equal(counts.get(name), sum(symbol == program.name for _, _, symbol in cpu.truth), f"instructions of {name}: {counts}")
    damaged = bytearray(recording.features[25])
    for size in (3, 40, len(damaged) - 1):
        recording.features[25] = bytes(damaged[:size])
        matches("the code of BPF programs is damaged", executed(write("bpf.data", recording.bytes()), root, status=1)[1], f"{size} bytes of the feature")


@case("BPF programs one after the other at the same address: each is used for its time", True, 0, True, ("ab", "cd"))
@case("BPF programs one after the other, without times: the code of none is used", False, 0, True, ("ab", "cd"))
@case("BPF programs one after the other, the second one a longer one that begins before", True, 0x40, True, ("ab", "cd"), long=True)
@case("BPF programs one after the other, without the end of the first", True, 0, False, ("ab", "cd"), long=True)
@case("BPF programs one after the other, whose tags are the same: the code of none is used", True, 0, True, ("ab", "ab"), long=True)
def _(dated, before, ends, tags):
    root, world = programs()
    at = (0xffffffff01000040, 0xffffffff01000040 - before)
    bpf = [Program(f"bpf_prog_{tag * 8}_probe", 3 + 20 * number, address, SRET) for number, (tag, address) in enumerate(zip(tags, at))]
    code = [[(program.address, b"".join(struct.pack("<I", word) for word in program.words))] for program in bpf]
    recording, cpu = File(), Cpu()
    recording.info()
    kernel_of(recording, world["kernel"])
    recording.comm(100, "first", 10)
    map_program(recording, 100, world["first"], 20)
    recording.start(100, 500)
    recording.symbol(at[0], 64, bpf[0].name, 0)
    for number, program in enumerate(bpf):
        if number:
            if ends:
                recording.symbol(at[0], 64, bpf[0].name, cpu.time + 5 if dated else 0, removed=True)
            recording.symbol(at[1], 256, program.name, cpu.time + 6 if dated else 0)
        for times in (4, 2, 3):
            cpu.user(100, world["first"], times, to=program)
    recording.bpf(*((bytes.fromhex(tag) * 8, functions) for tag, functions in zip(tags, code)))
    recording.aux(encode(cpu, "--timestamps"), cpu.time, 100)
    exact = dated and tags[0] != tags[1]
    rows, said = executed(write("bpf.data", recording.bytes()), root, "--timestamps", status=0 if exact else 1)
    true = true_rows(cpu)
    if exact:
        return same([row[0] for row in of_source(rows, 0)], [row[0] for row in true], said)
    matches("several programs were at this address, and the recording does not say when", said, "what is said")
    equal([row[0] for row in of_source(rows, 0)], [row[0] for row in true if row[0] < at[0]], "instructions of the program")


@case("two CPUs in one buffer: SRC tells them apart")
def _():
    root, world = programs()
    recording, cpus = File(XUANTIE), [Cpu(), Cpu()]
    recording.info()
    kernel_of(recording, world["kernel"])
    recording.comm(100, "first", 10)
    map_program(recording, 100, world["first"], 20)
    streams = []
    for number, cpu in enumerate(cpus):
        for times in (5, 2 + number):
            cpu.user(100, world["first"], times, to=world["kernel"])
        streams.append(encode(cpu, "--src-bits", "4", "--src-id", str(number + 3)))
    recording.aux(block_header(src_bits=4) + b"".join(streams), 5000, 100)
    rows, _ = executed(write("src.data", recording.bytes()), root)
    for number, cpu in enumerate(cpus):
        same(of_source(rows, number + 3), true_rows(cpu), f"source {number + 3}")


@case("fork: the child has the mappings of its parent; exec: others at the same addresses")
def _():
    root, world = programs()
    recording, cpu = File(), Cpu()
    recording.info()
    kernel = world["kernel"]
    kernel_of(recording, kernel)
    recording.comm(100, "first", 10)
    map_program(recording, 100, world["first"], 20)
    recording.start(100, 500)
    cpu.user(100, world["first"], 4, to=kernel)
    recording.fork(101, 100, cpu.time + 10)
    cpu.time += 100
    recording.switch(0, 100, 101, cpu.time)
    cpu.time += 100
    cpu.user(101, world["first"], 3, to=kernel)     # still the program of its parent
    cpu.time += 100
    recording.comm(101, "second", cpu.time, is_exec=True)
    map_program(recording, 101, world["second"], cpu.time + 20)
    cpu.time += 100
    cpu.user(101, world["second"], 6, to=kernel)
    cpu.time += 100
    recording.switch(0, 101, 100, cpu.time)
    cpu.time += 100
    cpu.user(100, world["first"], 2, to=kernel)
    recording.exit(101, cpu.time)
    judge(recording, cpu, root, "exec", 100)


@case("exec in the only process of the recording")
def _():
    root, world = programs()
    recording, cpu = File(), Cpu()
    recording.info()
    kernel_of(recording, world["kernel"])
    recording.comm(100, "sh", 10)
    map_program(recording, 100, world["first"], 20)
    recording.start(100, 500)
    cpu.user(100, world["first"], 4, to=world["kernel"])
    cpu.time += 100
    recording.comm(100, "second", cpu.time, is_exec=True)
    map_program(recording, 100, world["second"], cpu.time + 20)
    cpu.time += 100
    cpu.user(100, world["second"], 4, to=world["kernel"])
    judge(recording, cpu, root, "exec1", 100)


@case("dlopen: a library mapped later, and another one over it")
def _():
    root, world = programs()
    recording, cpu = File(), Cpu()
    recording.info()
    kernel, place = world["kernel"], 0x2a0000000
    begin_two(recording, world)
    cpu.user(100, world["first"], 4, to=kernel)
    recording.mmap2(100, place, PAGE, PAGE, "/library", cpu.time + 5)
    cpu.time += 100
    cpu.user(100, world["library"], 3, base=place, to=kernel)
    cpu.time += 100
    recording.mmap2(100, place, PAGE, PAGE, "/other", cpu.time)
    cpu.time += 100
    cpu.user(100, world["other"], 3, base=place, to=kernel)
    cpu.user(100, world["first"], 1, to=kernel)
    cpu.time += 100
    recording.switch(0, 100, 200, cpu.time)
    cpu.time += 100
    cpu.user(200, world["second"], 3, to=kernel)
    judge(recording, cpu, root, "dlopen", 200)


@case("the kernel's code changes: bytes before and after, twice at one place")
def _():
    root, world = programs()
    recording, cpu = File(), Cpu()
    recording.info()
    kernel = world["kernel"]
    begin_two(recording, world)
    two_processes(recording, world, cpu, SLICES[:2])
    names = [kernel.length]
    for length in (5, 7):
        # the branch back goes to its own copy: NOPs stay, so only the branch and what follows change
        cpu.time += 100
        place = KERNEL + 4 * 5
        before = b"".join(word.to_bytes(4, "little") for word in kernel.words[5:])
        changed = Program("kernel", length, KERNEL, SRET)
        after = b"".join(word.to_bytes(4, "little") for word in changed.words[5:]).ljust(16, b"\x13")[:16]
        recording.poke(place, before[:16], after, cpu.time)
        kernel = changed
        names.append(length)
        cpu.time += 100
        cpu.user(200, world["second"], 2, to=kernel)
    judge(recording, cpu, root, "poke", 200)


@case("a buffer for each thread: its trace is that of the process")
def _():
    root, world = programs()
    recording, cpus = File(), [Cpu(), Cpu()]
    recording.info()
    kernel_of(recording, world["kernel"])
    pids, names = (100, 200), ("first", "second")
    for pid, name, cpu, index in zip(pids, names, cpus, (0, 1)):
        recording.comm(pid, name, 10)
        map_program(recording, pid, world[name], 20)
        cpu.user(pid, world[name], 5, to=world["kernel"])
        recording.aux(encode(cpu), cpu.time, pid, tid=pid, index=index)
    rows, said = executed(write("threads.data", recording.bytes()), root)
    for number, cpu in enumerate(cpus):
        same(of_source(rows, number), true_rows(cpu), f"thread {number}: {said}")


@case("several sessions: fragments that continue one another, that begin anew, and losses")
def _():
    root, world = programs()
    recording, cpu = File(XUANTIE), Cpu()
    recording.info()
    kernel_of(recording, world["kernel"])
    recording.comm(100, "first", 10)
    map_program(recording, 100, world["first"], 20)
    for turn in range(3):
        cpu.user(100, world["first"], 2 + turn, to=world["kernel"])
        recording.aux(block_header() + encode(cpu), cpu.time, 100, skip=64 * turn)
    rows, _ = executed(write("sessions.data", recording.bytes()), root)
    same(of_source(rows, 0), true_rows(cpu), "sessions with headers")
    # one stream in three parts, cut inside messages
    recording, cpu = File(), Cpu()
    recording.info()
    kernel_of(recording, world["kernel"])
    recording.comm(100, "first", 10)
    map_program(recording, 100, world["first"], 20)
    for times in (5, 9, 3, 7):
        cpu.user(100, world["first"], times, to=world["kernel"])
    stream = encode(cpu)
    for at, end in ((0, 5), (5, 18), (18, len(stream))):
        recording.aux(stream[at:end], cpu.time, 100)
    rows, _ = executed(write("parts.data", recording.bytes()), root)
    same(of_source(rows, 0), true_rows(cpu), "touching fragments")
    # the middle is missing: a gap, and the rest is right
    recording.records.clear()
    recording.offsets.clear()
    recording.info()
    kernel_of(recording, world["kernel"])
    map_program(recording, 100, world["first"], 20)
    recording.aux(stream[:18], 900, 100)
    recording.aux(encode_again(cpu, world), cpu.time, 100, flags=TRUNCATED, skip=128)
    rows, said = executed(write("lost.data", recording.bytes()), root, status=1)
    matches("messages lost", said, "the loss is said")
    matches("1 AUX record: trace is missing before or after it", said, "the flag is said")
    same(of_source(rows, 0)[-len(cpu.truth):], true_rows(cpu), "after the loss")


def encode_again(cpu, world):
    cpu.truth.clear()
    cpu.user(100, world["first"], 6, to=world["kernel"])
    return encode(cpu)


@case("a wrapped ring begins inside a message: it is skipped")
def _():
    root, world = programs()
    cpu = Cpu()
    for times in (5, 9, 3):
        cpu.user(100, world["first"], times, to=world["kernel"])
    stream = encode(cpu, "--sync-mode", "messages", "--sync-max", "0")
    for name, recording, header, flags in (("header", File(XUANTIE), block_header(wrapped=1), 0),
                                           ("snapshot", File(), b"", OVERWRITE)):
        recording.info()
        kernel_of(recording, world["kernel"])
        map_program(recording, 100, world["first"], 20)
        recording.aux(header + stream[3:], cpu.time, 100, flags=flags)
        rows, _ = executed(write("wrapped.data", recording.bytes()), root, status=None)
        found = of_source(rows, 0)
        check(len(found) < len(cpu.truth), f"{name}: the beginning is missing")
        same(found, true_rows(cpu)[len(cpu.truth) - len(found):], name)


@case("CoreSight frames of two bridges, parameters of each CPU (SpacemiT)")
def _():
    root, world = programs()
    recording, cpus, payloads = File(), [Cpu(), Cpu()], []
    recording.info(8, [42 << 32 | 2, 0, 5, 1, 0, 0, 4, 0, 1, 5, 1, 0, 0, 4, 1])
    kernel_of(recording, world["kernel"])
    map_program(recording, 100, world["first"], 20)
    for number, cpu in enumerate(cpus):
        cpu.user(100, world["first"], 5 + number, to=world["kernel"])
        payloads.append((number + 16, encode(cpu, "--src-bits", "4", "--src-id", str(number))))
    # interleaved, a frame of each at a time
    parts = []
    for at in range(0, max(len(data) for _, data in payloads), 14):
        parts += [(number, data[at:at + 14]) for number, data in payloads if data[at:at + 14]]
    recording.aux(formatter_frames(parts), 5000, 100)
    rows, said = executed(write("frames.data", recording.bytes()), root)
    for number, cpu in enumerate(cpus):
        same(of_source(rows, number), true_rows(cpu), f"CPU {number}: {said}")


def recorded_forms():
    """A recording of two processes, the folder of their programs, and what they executed."""
    root, world = programs()
    recording, cpu = File(attr_size=136), Cpu()
    recording.info()
    begin_two(recording, world)
    two_processes(recording, world, cpu, SLICES)
    recording.aux(encode(cpu, "--timestamps"), cpu.time, 200)
    return recording, root, true_rows(cpu)


def same_form(path, root, expected, what):
    rows, said = executed(path, root, "--timestamps", "--ts-width", "64", status=int(what == "cut off"))
    same(of_source(rows, 0), expected, f"{what}: {said}")


@case("the forms of the file: pipe, folder, cut-off recording, long attributes")
def _():
    recording, root, expected = recorded_forms()
    folder = os.path.join(scratch(), "folder.data")
    os.makedirs(folder)
    whole = recording.bytes()
    side, aux = recording.records[:-2], recording.records[-2:]
    recording.records = side
    with open(os.path.join(folder, "data"), "wb") as file:
        file.write(recording.bytes())
    with open(os.path.join(folder, "data.0"), "wb") as file:
        file.write(b"".join(aux))
    recording.records = side + aux
    forms = {"file": write("form.data", whole), "pipe": write("form.pipe", recording.pipe()), "folder": folder,
             "cut off": write("form.cut", recording.bytes(data_size=0))}
    for name, path in forms.items():
        same_form(path, root, expected, name)


@case("a file whose end is missing: commands that need no program say so, too; status 1")
def _():
    recording, _, _ = recorded_forms()
    whole = recording.bytes()
    path = write("short.data", whole[:sum(struct.unpack_from("<QQ", whole, 40)) - 8])  # inside the last AUX data
    for command in ["dump"], ["dump", "--format", "none"], ["stat"]:
        matches("the file is damaged, or its end is missing", Run(*command, path, status=1).err, command[0])


def packed_record(kind, data):
    """COMPRESSED, or COMPRESSED2 of perf 6.16 and later, whose size is a multiple of 8 bytes."""
    return record(81, 0, data) if kind == 81 else record(83, 0, struct.pack("<Q", len(data)) + data + bytes(-len(data) % 8))


@case("compressed records", 81)
@case("compressed records of perf 6.16 and later", 83)
def _(kind):
    recording, root, expected = recorded_forms()
    packed = subprocess.run([need("zstd"), "-c"], input=b"".join(recording.records[1:-1]), capture_output=True, check=True).stdout
    half = len(packed) // 2
    recording.records = [recording.records[0], packed_record(kind, packed[:half]), packed_record(kind, packed[half:]), recording.records[-1]]
    path = write("form.packed", recording.bytes())
    if "zstd is not built in" in Run("stat", path, status=None).err:
        skip("build-zstd")
    same_form(path, root, expected, "compressed")


@case("-e: a file with another build id than the recorded one of its name is not the program that ran; vmlinux too")
def _():
    root, world = programs("given")
    recording, cpu = File(), Cpu()
    recording.info()
    recording.comm(100, "first", 10)
    recording.mmap2(100, BASE, PAGE, PAGE, "/gone/first", 20, build_id=world["first"].build_id)
    kernel_of(recording, world["kernel"])
    recording.build_id("[kernel.kallsyms]", world["kernel"].build_id, kernel=True)
    cpu.user(100, world["first"], 4, to=world["kernel"])
    recording.aux(encode(cpu), cpu.time, 100)
    path = write("given.data", recording.bytes())
    for which, name in (("first", "first"), ("kernel", "vmlinux")):
        for other in (False, True):
            if other:
                world[which].build_id = bytes(range(20))
            given = write(name, world[which].elf())
            said = Run("decode", path, "--show", "count", "-e", given, status=None)
            if other:
                equal(said.status, 1, "status")
                matches(f"{name}.* is not the program that ran .build id differs", said.err, "another file")
                matches("records the build id of the program that ran: leave out -e, and name the folder of its files with --sysroot", said.err, "next step")
            else:
                check("not the program that ran" not in said.err, said.err)


@case("files: the sysroot, ~/.debug, --image-path; a file with another build id is refused")
def _():
    root, world = programs("files")
    recording, cpu = File(), Cpu()
    program = world["first"]
    recording.info()
    recording.comm(100, "first", 10)
    recording.mmap2(100, BASE, PAGE, PAGE, "/gone/first", 20, build_id=program.build_id)
    kernel_of(recording, world["kernel"])
    recording.build_id("[kernel.kallsyms]", world["kernel"].build_id, kernel=True)
    cpu.user(100, program, 4, to=world["kernel"])
    recording.aux(encode(cpu), cpu.time, 100)
    path = write("files.data", recording.bytes())
    rows, _ = executed(path, root)
    same(of_source(rows, 0), true_rows(cpu), "--image-path")
    kept = os.path.join(scratch(), "home", ".debug", ".build-id")
    for kept_program, name in ((program, "elf"), (world["kernel"], "vmlinux")):
        digits = kept_program.build_id.hex()
        place = os.path.join(kept, digits[:2], digits[2:])
        os.makedirs(place)
        with open(os.path.join(place, name), "wb") as file:
            file.write(kept_program.elf())
    run = Run("decode", path, "--show", "pc", env={"HOME": os.path.join(scratch(), "home")})
    equal([int(line, 16) for line in run.lines()], [row[1] for row in cpu.truth], "~/.debug")
    program.build_id = bytes(20)
    program.write(root)
    rows, said = executed(path, root, status=1)
    matches("/gone/first: the file has another build id", said, "another build id")
    os.remove(os.path.join(root, "first"))
    rows, said = executed(path, root, status=1)
    matches("/gone/first: the file is not there", said, "no file")


@case("[vdso] is found by its build id; it and anonymous memory are missed only where they were executed")
def _():
    root, world = programs("vdso")
    recording, cpu = File(), Cpu()
    program, other = world["first"], world["second"]
    recording.info()
    recording.comm(100, "first", 10)
    recording.mmap2(100, BASE, PAGE, PAGE, "/first", 20)
    recording.mmap2(100, BASE + 8 * PAGE, PAGE, 0, "[vdso]", 20, build_id=bytes(range(20)))
    recording.mmap2(100, BASE + 16 * PAGE, PAGE, 0, "//anon", 20)
    kernel_of(recording, world["kernel"])
    cpu.user(100, program, 4, to=world["kernel"])
    recording.aux(encode(cpu), cpu.time, 100)
    run = Run("decode", write("unused.data", recording.bytes()), "--sysroot", root, "--image-path", root, "--show", "pc")
    equal([int(line, 16) for line in run.lines()], [row[1] for row in cpu.truth], "not executed")
    equal(run.err, "", "nothing is missed")
    recording, cpu = File(), Cpu()
    recording.info()
    recording.comm(100, "first", 10)
    recording.mmap2(100, BASE, PAGE, PAGE, "[vdso]", 20, build_id=other.build_id)
    kernel_of(recording, world["kernel"])
    cpu.user(100, other, 4, to=world["kernel"])
    recording.aux(encode(cpu), cpu.time, 100)
    path = write("vdso.data", recording.bytes())
    said = Run("decode", path, "--image-path", root, "--show", "pc", status=1).err
    matches("no program image at this address; execution unknown after 0x10000", said, "executed, but not there")
    digits = other.build_id.hex()
    place = os.path.join(scratch(), "home-vdso", ".debug", ".build-id", digits[:2], digits[2:])
    os.makedirs(place)
    with open(os.path.join(place, "vdso"), "wb") as file:
        file.write(other.elf())
    run = Run("decode", path, "--image-path", root, "--show", "pc", env={"HOME": os.path.join(scratch(), "home-vdso")})
    equal([int(line, 16) for line in run.lines()], [row[1] for row in cpu.truth], "~/.debug")


@case("what is not N-Trace, or not perf.data, is refused with a word")
def _():
    recording = File("intel_pt", 9)
    recording.info(1)
    recording.aux(b"\x02\x82" * 40, 100, 1)
    run = Run("decode", write("pt.data", recording.bytes()), status=2)
    matches("expected N-Trace, found Intel PT", run.err, "Intel PT")
    recording = File()
    recording.comm(1, "x", 5)
    matches("expected AUX data, found none", Run("decode", write("no.data", recording.bytes()), status=2).err, "no AUX")
    matches("big-endian", Run("decode", write("be.data", b"2ELIFREP" + bytes(200)), status=2).err, "big-endian")
    matches("too short", Run("decode", write("short.data", b"PERFILE2" + (104).to_bytes(8, "little")), status=2).err,
            "short")


@case("damaged files: every byte of a small recording changed or cut, no crash")
def _():
    root, world = programs()
    recording, cpu = File(XUANTIE), Cpu()
    recording.info()
    begin_two(recording, world)
    two_processes(recording, world, cpu, SLICES[:2])
    recording.aux(block_header(timestamp_bits=40) + encode(cpu, "--timestamps"), cpu.time, 200)
    whole = recording.bytes()
    seed = zlib.crc32(whole)
    for turn in range(60):
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        place, value = seed % len(whole), seed >> 8 & 255
        damaged = whole[:place] + (b"" if turn % 3 == 0 else bytes([value]) + whole[place + 1:])
        Run("decode", write("damaged.data", damaged), "--show", "count", "--sysroot", root, status=None)


if __name__ == "__main__":
    main()
