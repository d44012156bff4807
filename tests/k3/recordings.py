#!/usr/bin/env python3
"""perf.data in the layout of SpacemiT's kernel, made by a writer of its own: other harts, trace IDs, widths of SRC, threads, fragments.

usage: recordings.py NTRACE
"""
import os
import struct
import subprocess
import sys

sys.path += [os.path.join(sys.path[0], ".."), os.path.join(sys.path[0], "..", "perf")]
from coresight import BARRIER, frames, with_source
from harness import Run, case, check, main, matches, need, same_items, scratch, skip, write
from perf_file import TRUNCATED, record
from recording import K3, PROCESSES, stored
from samples import samples, truth

def recorded(harts, width=12, threads=None, cuts=(), **more):
    recording = K3(harts, width, **more)
    for pid, program in PROCESSES.items():
        if threads is None:
            recording.process(pid, program)
        else:
            recording.process(threads[program], program, [pid])
    data, begin = frames(recording.streams(), width, repeat=5), 0
    for end in (*cuts, len(data)):
        recording.trace(data[begin:end], time=100 + begin)
        begin = end
    return write("k3.data", recording.bytes())


def decode(path, *options, status=0):
    run = Run("decode", path, "--sysroot", "sysroot", "--show", "pc", *options, status=status, cwd=samples(), env={"HOME": scratch()})
    return run.lines(), run.err


def exact(path, harts, olds=(5, 1)):
    for old, new in zip(olds, harts):
        found, said = decode(path, "--src", new)
        same_items(found, truth(f"hart{old}").decode().splitlines(), f"hart {new}: {said[:400]}: program counter")


@case("other harts and trace IDs", {9: 0x13, 14: 0x6f}, 12)
@case("SRC of 6 bits", {6: 1, 3: 2}, 6)
@case("SRC of 4 bits", {15: 0x40, 0: 0x41}, 4)
def _(harts, width):
    exact(recorded(harts, width), harts)


@case("contexts are threads of processes with other numbers")
def _():
    harts = {5: 11, 1: 3}
    exact(recorded(harts, threads={"progA": 900, "progB": 70000}), harts)


@case("fragments that end inside a message continue in the next one")
def _():
    harts = {5: 11, 1: 3}
    exact(recorded(harts, cuts=(16 * 100, 16 * 101, 16 * 7000)), harts)


@case("a barrier in the middle of a fragment: a gap, and nothing is decoded across it")
def _():
    harts = {5: 11, 1: 3}
    recording = K3(harts)
    for pid, program in PROCESSES.items():
        recording.process(pid, program)
    data = frames(recording.streams(), 1, repeat=5)
    half = len(data) // 32 * 16
    recording.trace(data[:half] + BARRIER + data[half + 16 * 200:], TRUNCATED)
    path = write("k3.data", recording.bytes())
    for hart in harts:
        found, _ = decode(path, "--src", hart, status=1)
        expected = truth(f"hart{hart}").decode().splitlines()
        head = next(at for at, pair in enumerate(zip(found, expected)) if pair[0] != pair[1])
        tail = len(found) - head
        check(head > 1000 and tail > 1000 and found[head:] == expected[len(expected) - tail:], f"hart {hart}: {head}, {tail}")


@case("fragments that are no multiple of a frame, and begin inside of one", (1000, 2001, 30007), 0)
@case("one fragment that begins inside a frame", (), 16 * 50 + 8)
def _(cuts, skip):
    harts = {5: 11, 1: 3}
    recording = K3(harts)
    for pid, program in PROCESSES.items():
        recording.process(pid, program, time=0)
    data = frames(recording.streams(), 1, repeat=5)[skip:]
    begin = 0
    for end in (*cuts, len(data)):
        recording.trace(data[begin:end], time=100 + begin)
        begin = end
    path = write("k3.data", recording.bytes())
    if not skip:
        return exact(path, harts)
    for hart in harts:
        found, said = decode(path, "--src", hart, status=1)
        expected = truth(f"hart{hart}").decode().splitlines()
        check(len(found) > len(expected) * 0.99 and found == expected[len(expected) - len(found):], f"hart {hart}: {len(found)}: {said[:400]}")


@case("AUX data end before the trace: the flag truncated is said, with status 1")
def _():
    recording = K3({5: 11, 1: 3})
    for pid, program in PROCESSES.items():
        recording.process(pid, program, time=0)
    data = frames(recording.streams(), 1, repeat=5)
    recording.trace(data[:16 * 3000 + 7], TRUNCATED)
    path = write("k3.data", recording.bytes())
    for hart in (5, 1):
        found, said = decode(path, "--src", hart, status=1)
        check(len(found) > 10000 and found == truth(f"hart{hart}").decode().splitlines()[:len(found)], f"hart {hart}: {len(found)}")
        matches("1 AUX record: trace is missing before or after it", said, "what is said")
    for command in ("stat", "dump", "profile", "coverage"):
        matches("trace is missing", Run(command, path, *(["--sysroot", "sysroot"] if command[0] in "pc" else []), status=1, cwd=samples()).err, command)


@case("the pipe form, the folder form, and compressed records of perf before and after 6.16")
def _():
    harts = {5: 11, 1: 3}
    recording = K3(harts)
    for pid, program in PROCESSES.items():
        recording.process(pid, program)
    recording.trace(frames(recording.streams(), 9, repeat=5))
    exact(write("k3.pipe", recording.pipe()), {5: 11})
    side, aux = recording.records[:-2], recording.records[-2:]
    folder = os.path.join(scratch(), "k3.folder")
    os.makedirs(folder)
    recording.records = side
    write("k3.folder/data", recording.bytes())
    write("k3.folder/data.0", b"".join(aux))
    exact(folder, {1: 3}, (1,))
    packed = subprocess.run([need("zstd"), "-c"], input=b"".join(side[1:]), capture_output=True, check=True).stdout
    for kind, body in ((81, packed), (83, struct.pack("<Q", len(packed)) + packed + bytes(-len(packed) % 8))):
        recording.records = [side[0], record(kind, 0, body), *aux]
        path = write("k3.packed", recording.bytes())
        if "zstd is not built in" in Run("stat", path, status=None).err:
            skip("build-zstd")
        found, said = decode(path, "--src", 1)
        check(found == truth("hart1").decode().splitlines(), f"record {kind}: {len(found)}: {said[:400]}")


@case("FORMAT 0, E-Trace, is refused by name")
def _():
    recording = K3({5: 11, 1: 3}, form=0)
    recording.trace(frames(recording.streams(), 1))
    matches("E-Trace", decode(write("k3.data", recording.bytes()), status=2)[1], "the reason")


@case("CPUs of two formats: both are named", {5: (0, 0, 12), 7: (0, 0, 12)}, "one FORMAT, found N-Trace of CPU 1, E-Trace of CPU 5$")
@case("CPUs of two widths of SRC: both are named", {5: (1, 0, 6)}, "one width of SRC, found 12 of CPU 1, another of CPU 5$")
@case("SRC is inhibited for a CPU: it is named", {5: (1, 1, 12)}, "one width of SRC, found 12 of CPU 1, another of CPU 5$")
@case("CPUs that differ, which traced is not known: the list is cut", {cpu: (1, 0, 4) for cpu in range(1, 64)}, r"found 12 of CPU 0, another of CPU 1 2 3 .* \.\.\.$")
def _(others, reason):
    harts = {5: 11, 1: 3}
    recording = K3(harts, cpus=64, others=others, announced=len(others) < 63)
    recording.trace(frames(recording.streams(), 1))
    path = write("k3.data", recording.bytes())
    matches(reason, decode(path, status=2)[1].strip(), "the reason")
    for command in ("stat", "check", "dump", "profile"):
        matches(reason, Run(command, path, status=2, cwd=samples()).err.strip(), command)


@case("two trace IDs with the same SRC are refused; --trace-id reads one", 5, 12, 0, "trace IDs 3 and 11: both have messages with the same SRC")
@case("SRC is inhibited: two trace IDs are refused; --trace-id reads one", 0, 0, 1, "trace IDs 3 and 11: no SRC says who sent a message")
def _(source, width, inhibit, reason):
    recording = K3({5: 11, 1: 3}, inhibit=inhibit)
    for pid, program in PROCESSES.items():
        recording.process(pid, program)
    ids = {5: 11, 1: 3}
    streams = {identity: with_source(stored(f"hart{hart}.nex"), source, width) for hart, identity in ids.items()}
    recording.trace(frames(streams, 2, repeat=5))
    path = write("k3.data", recording.bytes())
    for command in ("decode", "stat", "check", "dump", "profile"):
        matches(reason, Run(command, path, status=2, cwd=samples()).err.strip(), command)
    for hart, identity in ids.items():
        found, said = decode(path, "--trace-id", identity)
        check(found == truth(f"hart{hart}").decode().splitlines(), f"trace ID {identity}: {len(found)}: {said[:400]}")
    matches("expected messages with trace ID 12, found none", decode(path, "--trace-id", 12, status=2)[1], "another ID")


@case("two CPUs with one trace ID and one SRC are refused by name; with other numbers they are read")
def _():
    recording = K3({5: 11, 1: 11}, numbers={1: 5})
    recording.trace(frames({11: with_source(stored("hart5.nex"), 5, 12)}, 1))
    matches("CPUs 1 and 5: both have trace ID 11 and SRC 5, so nothing tells", Run("stat", write("k3.data", recording.bytes()), status=2).err, "the reason")
    recording = K3({5: 11, 1: 11})
    recording.trace(frames({11: with_source(stored("hart5.nex"), 5, 12)}, 1))
    Run("stat", write("k3.data", recording.bytes()), status=0)


@case("CPUs that have not traced may differ")
def _():
    harts = {5: 11, 1: 3}
    exact(recorded(harts, others={0: (0, 0, 12), 7: (1, 0, 4), 15: (1, 1, 12)}), harts)


@case("AUXTRACE_INFO ends before all CPUs, or at the first: what is missing is named", 4, "entries of 16 CPUs, found 4: the others are read as CPU 1")
@case("AUXTRACE_INFO without a CPU: the width of SRC is not known", 0, None)
def _(entries, reason):
    harts = {5: 11, 1: 3}
    if reason is None:
        recording = K3(harts, others={1: (1, 0, 13)})
        reason = "the width of SRC is not known"
    else:
        recording = K3(harts, entries=entries)
    recording.trace(frames(recording.streams(), 1))
    matches(reason, Run("stat", write("k3.data", recording.bytes()), status=1, cwd=samples()).err, "the reason")


main()
