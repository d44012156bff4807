#!/usr/bin/env python3
"""perf.data as input: files in the form of each producer, made from the layout (perf_file.py), decode to the truth.

usage: perf_in.py NTRACE
"""
import os
import struct
import sys

os.environ.pop("PERF_BUILDID_DIR", None)  # perf sets it for what it starts

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, matches, scratch, write
from perf_file import OVERWRITE, RVTRACE, TRUNCATED, XUANTIE, File, block_header, formatter_frames
from recorded import SLICES, begin_two, encode, executed, judge, kernel_of, map_program, of_source, programs, same, true_rows, two_processes
from world import KERNEL, PAGE, SRET, Cpu, Program


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


main()
