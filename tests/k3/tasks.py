#!/usr/bin/env python3
"""perf.data of SpacemiT's kernel whose tasks change: exec, fork, threads that end, numbers that are used again, CPUs that are offline, code that the
kernel changes. The trace is that of the samples, whose program counters are known; the numbers of threads in it are replaced.

usage: tasks.py NTRACE
"""
import collections
import os
import struct
import sys

sys.path += [os.path.join(sys.path[0], ".."), os.path.join(sys.path[0], "..", "perf")]
from coresight import frames, messages
from harness import Run, case, check, equal, main, matches, same_items, scratch, write
from recording import K3, PROGRAM_BYTES, stored
from samples import samples, truth

NS, PAUSE = 1000, 2000  # ns of a tick in these files; ticks
OWNERSHIP, SYNC, SRC_BITS, SCONTEXT = 2, 9, 12, 2  # TCODEs; FORMAT of PROCESS


def fields(message):
    """Each field of variable length, with what is packed before it."""
    out, value, at = [], 0, 0
    for byte in message:
        value |= byte >> 2 << at
        at += 6
        if byte & 3:
            out.append(value)
            value = at = 0
    return out


def packed(values):
    out = bytearray()
    for number, value in enumerate(values):
        groups = max(1, -(-value.bit_length() // 6))
        out += bytearray((value >> 6 * at & 63) << 2 for at in range(groups))
        out[-1] |= 3 if number + 1 == len(values) else 1
    return bytes(out)


def process_of(values):
    """PROCESS of an Ownership message with the number of a thread, or None."""
    process = values[0] >> 6 + SRC_BITS
    return process if values[0] & 63 == OWNERSHIP and process & 3 == SCONTEXT else None


def renumbered(name, numbers):
    """The stream with other numbers of threads. Before the last one that is new, time passes: the kernel changes the mappings. Returns the stream,
    a time in between, and the time of the end."""
    rows, begins, change, known, last = [fields(message) for message in messages(stored(name))], 0, 0, set(), 0
    for at, values in enumerate(rows):
        begins = at if values[0] & 63 == SYNC else begins
        process = process_of(values)
        if process is not None and process >> 5 not in known:
            known.add(process >> 5)
            change = begins
    for at, values in enumerate(rows):
        process = process_of(values)
        if process is not None:
            values[0] = values[0] & (1 << 6 + SRC_BITS) - 1 | (process & 31 | numbers.get(process >> 5, process >> 5) << 5) << 6 + SRC_BITS
        if values[0] & 63 == SYNC and at >= change:
            values[-1] += PAUSE
        last = values[-1] if values[0] & 63 == SYNC else last + values[-1]
    return b"".join(packed(values) for values in rows), (rows[change][-1] - PAUSE // 2) * NS, last * NS


def recording_of(streams, end, **more):
    """One buffer; `streams`: {hart: stream}."""
    recording = K3({hart: 2 * hart + 1 for hart in streams}, **more)
    recording.time_conversion(0, NS, 0)
    recording.trace(frames({2 * hart + 1: stream for hart, stream in streams.items()}), time=end + NS)
    return recording


def program(recording, pid, name, time, is_exec=True):
    recording.comm(pid, name, time, is_exec=is_exec)
    recording.mmap2(pid, 0x10000, PROGRAM_BYTES, 0, f"/usr/bin/{name}", time)


def exact(recording, hart, name="hart5", status=0):
    path = write("k3.data", recording.bytes())
    run = Run("decode", path, "--sysroot", "sysroot", "--show", "pc", "--src", hart, status=status, cwd=samples(), env={"HOME": scratch()})
    same_items(run.lines(), truth(name).decode().splitlines(), f"{run.err[:400]}: program counter")
    return path


@case("exec: one thread, two programs one after the other")
def _():
    stream, begins, end = renumbered("hart5.nex", {2121: 2120})
    recording = recording_of({5: stream}, end)
    program(recording, 2120, "progA", 0)
    program(recording, 2120, "progB", begins)
    exact(recording, 5)


@case("a process ends, and another one gets its number", long=True)
def _():
    stream, begins, end = renumbered("hart5.nex", {2121: 2120})
    recording = recording_of({5: stream}, end)
    program(recording, 2120, "progA", 0)
    recording.exit(2120, begins - 2)
    recording.fork(2120, 1, begins - 1)
    program(recording, 2120, "progB", begins)
    exact(recording, 5)


@case("a thread ends, and one of another process gets its number", long=True)
def _():
    stream, begins, end = renumbered("hart5.nex", {2120: 77, 2121: 77})
    recording = recording_of({5: stream}, end)
    for pid, name in ((900, "progA"), (901, "progB")):
        program(recording, pid, name, 0)
    recording.fork(900, 900, 1, tid=77)
    recording.fork(901, 901, begins, tid=77)
    exact(recording, 5)


@case("fork without exec, and fork with exec")
def _():
    (first, begins, end), (rest, _, later) = renumbered("hart5.nex", {}), renumbered("hart1.nex", {2120: 2130})
    recording = recording_of({5: first, 1: rest}, max(end, later))
    program(recording, 2120, "progA", 0)
    recording.fork(2130, 2120, 5)
    recording.fork(2121, 2120, 5)
    program(recording, 2121, "progB", begins - 1)
    exact(recording, 1, "hart1")
    path = exact(recording, 5)
    rows = Run("profile", path, "--sysroot", "sysroot", "--by", "process", "--format", "jsonl", cwd=samples(), env={"HOME": scratch()}).rows()
    names = sorted(str(row.get("name", row.get("process"))) for row in rows)
    check(sum("progA" in name for name in names) == 2 and sum("progB" in name for name in names) == 1, f"names of processes: {names}")


@case("CPUs that are offline have no entry in AUXTRACE_INFO", long=True)
def _():
    first, _, end = renumbered("hart5.nex", {})
    rest, _, later = renumbered("hart1.nex", {})
    recording = recording_of({5: first, 1: rest}, max(end, later), cpus=[1, 3, 5, 14])
    for pid, name in ((2120, "progA"), (2121, "progB")):
        program(recording, pid, name, 0)
    exact(recording, 1, "hart1")
    exact(recording, 5)


@case("code of the kernel that changes while the trace of all harts is in one fragment: the bytes of the time")
def _():
    stream, begins, end = renumbered("hart5.nex", {})
    recording = recording_of({5: stream}, end)
    for pid, name in ((2120, "progA"), (2121, "progB")):
        program(recording, pid, name, 0)
    with open(os.path.join(samples(), "sysroot/boot/vmlinux"), "rb") as file:
        kernel = file.read()
    header, count = struct.unpack_from("<Q", kernel, 32)[0], struct.unpack_from("<H", kernel, 56)[0]
    loads = [struct.unpack_from("<IIQQQQ", kernel, header + 56 * number) for number in range(count)]
    executed = collections.Counter(int(line, 16) for line in truth("hart5").split())

    def opcode(at):
        return next((struct.unpack_from("<I", kernel, offset + at - address)[0] for kind, _, offset, address, _, size in loads
                     if kind == 1 and address <= at < address + size), 0)
    poked = max((at for at in executed if at >> 63 and opcode(at) & 0x7f == 0x13), key=executed.get)  # an addi
    old, new = struct.pack("<I", opcode(poked)), struct.pack("<I", opcode(poked) ^ 1 << 20)
    recording.poke(poked, old, new, begins)
    rows = Run("decode", write("k3.data", recording.bytes()), "--sysroot", "sysroot", "--show", "insn", "--format", "jsonl", cwd=samples(), env={"HOME": scratch()}).rows()
    seen = [int(row["opcode"], 16) for row in rows if int(row["address"], 16) == poked]
    changes = sum(a != b for a, b in zip(seen, seen[1:]))
    equal((len(seen), seen[0], seen[-1], changes), (executed[poked], opcode(poked), opcode(poked) ^ 1 << 20, 1), f"opcodes: how many, first and last, and changes")


@case("the times are not known: two programs of one thread are not told apart, which has status 1", long=True)
def _():
    stream, _, end = renumbered("hart5.nex", {2121: 2120})
    recording = K3({5: 11})
    recording.trace(frames({11: stream}), time=0)
    program(recording, 2120, "progA", 0)
    program(recording, 2120, "progB", 0)
    path = write("k3.data", recording.bytes())
    run = Run("decode", path, "--sysroot", "sysroot", "--show", "pc", "--src", 5, status=None, cwd=samples(), env={"HOME": scratch()})
    expected = truth("hart5").decode().splitlines()
    check(run.status == 1 or run.lines() == expected, f"status {run.status}, {len(run.lines())} program counters, not those that ran: {run.err[:300]}")


main()
