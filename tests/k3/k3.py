#!/usr/bin/env python3
"""Trace of a SpacemiT K3, from samples whose program counters are known (samples.tar.zst, whose README.md says how they were made): the
shortest command that a user would type gives them all.

usage: k3.py NTRACE
"""
import json
import os
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from coresight import messages, with_source
from harness import ROOT, Run, case, check, equal, main, matches, same_items, scratch, write
from samples import samples, truth

SYSROOT = ["--sysroot", "sysroot"]



def decode(*arguments, status=0):
    return Run("decode", *arguments, "--show", "pc", status=status, cwd=samples(), env={"HOME": scratch()})


def exact(name, *arguments, status=0):
    found, expected = decode(*arguments, status=status), truth(name)
    lines = found.bytes.splitlines(), expected.splitlines()
    same_items(*lines, f"{found.err[:500]}: program counter")
    check(len(lines[1]) > 1000, "the list is short")
    return found


PERF = {"perf_thread": ("perf_thread.data", []), "perf_thread_5": ("perf_thread.data", ["--src", "5"]), "perf_thread_1": ("perf_thread.data", ["--src", "1"]),
        "hart5": ("perf_system.data", ["--src", "5"]), "hart1": ("perf_system.data", ["--src", "1"]),
        "hart1_nonotify": ("perf_system_nonotify.data", ["--src", "1"]), "perf_cpu_5A": ("gtrace_ntrace.data", [])}
for each_name, (each_file, each_options) in PERF.items():
    case(f"{each_file} {' '.join(each_options)}", each_name, each_file, *SYSROOT, *each_options)(exact)
for each_file in "perf_cpu.data", "perf_cpu_noconv.data", "perf_tid.data":
    case(f"{each_file}, hart 5: both processes", "perf_cpu_5", each_file, *SYSROOT, "--src", "5")(exact)
    case(f"{each_file}, hart 1, whose messages are in the buffer of CPU 5", "perf_cpu_1A", each_file, *SYSROOT, "--src", "1")(exact)


PROGRAMS = [word for file in ("usr/bin/progA:ctx=2120", "usr/bin/progB:ctx=2121", "boot/vmlinux") for word in ("-e", "sysroot/" + file)]
for each_hart in "hart5", "hart1":
    for each_ending, each_status in ("", 0), ("_loss", 1), ("_many", 1):
        case(f"{each_hart}{each_ending}.nex: the messages of one hart", each_hart + each_ending, each_status, long=each_ending != "")(
            lambda name, status: exact(name, name + ".nex", *PROGRAMS, status=status))


def dumped(name, *fields):
    """The width of SRC, which no file says, is taken from the messages."""
    found = Run("dump", name, "--format", "jsonl", cwd=samples())
    matches("assumed from the stream: --src-bits 12", found.err, "what is said")
    return [(row["offset"], row["name"], *(row["fields"].get(field) for field in ("SRC", *fields))) for row in found.rows()]


@case("guide_head.nex, guide_tail.nex: messages and offsets that SpacemiT's guide prints")
def guide():
    head, tail = dumped("guide_head.nex", "ICNT", "TSTAMP"), dumped("guide_tail.nex", "ICNT")
    equal(head[0], (0, "ProgTraceSync", 5, 0, 0x32fb1f870), "the first message")
    equal([row[:2] for row in head[1:6]], [(21, "Ownership"), (26, "Ownership"), (34, "IndirectBranch"), (43, "IndirectBranch"), (51, "IndirectBranch")], "the next ones")
    equal((head[3][2:], head[6], head[-1][:4]), ((5, 0x16, 3), (59, "DirectBranch", 5, 0x10, 1), (116, "DirectBranch", 5, 3)), "counts")
    scontext = dumped("guide_head.nex", "PROCESS")[2][3] >> 5
    equal(scontext, 0x6b5, "scontext")
    equal(tail[0][3], 0xb, "I-CNT")
    equal([row[:2] for row in tail], [(0, "ProgTraceSync"), (22, "Ownership"), (27, "Ownership"), (34, "DirectBranch"), (39, "ProgTraceCorrelation")], "the tail")


@case("stat of the messages of one hart counts those of that hart, not others that another width of SRC would give", long=True)
def widths():
    for name in "hart5.nex", "hart1_many.nex":
        row = Run("stat", name, "--format", "json", cwd=samples())
        matches("assumed from the stream: --src-bits 12", row.err, name)
    matches("all of these errors vanish with --src-bits 12", Run("check", "hart5.nex", status=1, cwd=samples()).err, "check, which assumes nothing")


@case("raw messages of one hart with other widths of SRC, with and without times: the width is found without a program", 12, 0, True, long=True)
@case("raw messages with SRC of 4 bits", 4, 5, True, long=True)
@case("raw messages with SRC of 6 bits, without times", 6, 33, False, long=True)
@case("raw messages with SRC of 10 bits", 10, 700, True)
@case("raw messages with SRC of 12 bits, without times", 12, 4095, False)
def other_widths(width, source, times):
    with open(os.path.join(samples(), "hart5_loss.nex"), "rb") as file:
        kept = messages(file.read())[:1000]
    if not times:
        for at, message in enumerate(kept):
            ends = [place for place, byte in enumerate(message) if byte & 3]
            kept[at] = message[:ends[-2]] + bytes([message[ends[-2]] | 3])
    path = write("width.nex", with_source(b"".join(kept), source, width))
    run = Run("dump", path, "--format", "jsonl")
    matches(f"assumed from the stream: --src-bits {width} ", run.err, "what is said")
    equal({row["fields"].get("SRC") for row in run.rows()}, {source}, "SRC of all messages")


@case("raw messages of two harts, some of them damaged: SRC has 12 bits")
def two_harts():
    rows = []
    for name in "hart5_loss.nex", "hart1_loss.nex":
        with open(os.path.join(samples(), name), "rb") as file:
            rows.append(messages(file.read())[:600])
    mixed = bytearray(b"".join(b"".join(pair) for pair in zip(*rows)))
    for place in 1500, 3000:
        mixed[place] ^= 0x54
    run = Run("dump", write("mixed.nex", bytes(mixed)), "--format", "jsonl", status=None)
    matches("assumed from the stream: --src-bits 12 ", run.err, "what is said")
    sources = [row["fields"].get("SRC") for row in run.rows()]
    check(sum(source in (1, 5) for source in sources) >= len(sources) - 6, f"SRC: {set(sources)}")


@case("topology/*.json: with a TMC as sink, a script; with none, what is missing is said")
def topologies():
    words = ["capture", "--script", "openocd", "-o", os.path.join(scratch(), "topology.tcl"), "--for", "1s", "--buffer", "0x90000000:0x4000000", "-t"]
    Run(*words, "topology/k3.json", cwd=samples())
    for name in "k3_bridges", "k3_nobridge", "k3_x":
        matches("expected a RAM sink, found only (bridge15|etr), whose trace another device records", Run(*words, f"topology/{name}.json", status=2, cwd=samples()).err, name)


@case("perf_trunc.data: all that is there, and a gap at the beginning")
def truncated():
    exact("perf_trunc", "perf_trunc.data", *SYSROOT, status=1)


@case("perf_system_nonotify.data, hart 5: the next synchronizing message shows that the process was another one")
def no_notify():
    found, expected = decode("perf_system_nonotify.data", *SYSROOT, "--src", "5", status=1), truth("hart5_nonotify").decode().splitlines()
    lines = found.out.splitlines()
    different = [i for i, (a, b) in enumerate(zip(lines, expected)) if a != b]
    equal((len(lines), len(different), different[-1] - different[0]), (len(expected), 15, 14), "instructions, and those of the other process")
    matches("address does not agree with the reconstructed flow", found.err, "what is said")


@case("a script for the ETR needs a buffer, which is said; with one, the ETR gets it")
def script():
    path, board = os.path.join(scratch(), "script.tcl"), os.path.join(ROOT, "examples/board/spacemit-k3.json")
    command = ["capture", "--script", "openocd", "-o", path, "-t", board, "--for", "1s"]
    matches(r"etr at 0xd9044000: stores trace in system memory: give it a buffer.*--buffer", Run(*command, status=2).err, "the reason")
    check(not os.path.exists(path), "no script is left")
    Run(*command, "--buffer", "0x90000000:0x100000")
    with open(path, encoding="ascii") as file:
        matches(rf"ntr_set 0xd9044118 .* {0x90000000} .*tmcBufferAddressLow", file.read(), "DBALO of the ETR")


@case("E-Trace is refused by its name")
def etrace():
    matches(r"gtrace_etrace.data: the trace is E-Trace \(AUX flag 0x0100\), not N-Trace", decode("gtrace_etrace.data", status=2).err, "the reason")


@case("profile --by process: the processes have perf's names, also where the context is the number of another thread")
def names():
    for name in "perf_cpu.data", "perf_tid.data":
        rows = Run("profile", name, *SYSROOT, "--by", "process", "--format", "jsonl", cwd=samples(), env={"HOME": scratch()}).rows()
        found = {row.get("name", row.get("process", "")): row["self"] for row in rows}
        for program in "progA", "progB":
            check(any(program in str(key) and count > 50000 for key, count in found.items()), f"{name}: {json.dumps(rows)[:600]}")


main()
