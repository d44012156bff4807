#!/usr/bin/env python3
"""Trace of a SpacemiT K3 in frames and in the memory of its ETR: each sample, and others that coresight.py makes from them.

usage: frames.py NTRACE

The samples were made by a generator that shares no code with ntrace; their truth is QEMU's log of the instructions.
"""
import functools
import json
import os
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from coresight import BARRIER, Frames, frames, messages, scatter, with_source, wrap
from harness import ADDRESSES, Memo, Run, case, check, equal, main, matches, same_items, scratch, write
from samples import samples
from samples import truth as packed_truth

HARTS = {5: 11, 1: 3}  # and their trace IDs
PLACES = Memo(lambda line: int(line.split()[-1], 16))


def sample(name):
    return os.path.join(samples(), name)


def stored(name):
    with open(sample(name), "rb") as file:
        return file.read()


@functools.cache
def truth(name):
    return ADDRESSES.of(packed_truth(name).decode().split())


def programs():
    return ["-e", sample("sysroot/usr/bin/progA") + ":ctx=2120", "-e", sample("sysroot/usr/bin/progB") + ":ctx=2121", "-e",
            sample("sysroot/boot/vmlinux")]


def decode(*arguments, status=0):
    run = Run("decode", *arguments, "--show", "pc", status=status, env={"HOME": scratch()})
    return PLACES.of(run.lines()), run.err


def same(found, expected, what):
    same_items(found, expected, f"{what}: program counter")


def both(name, ending, *options, status=0, path=None):
    """The program counters of both harts."""
    for hart in HARTS:
        found, said = decode(path or sample(name), *programs(), *options, "--src", hart, status=status)
        same(found, truth(f"hart{hart}{ending}"), f"{name}, hart {hart}")
    return said


# ---- frames and memory: the rows of the samples' README


@case("frames.cs: both harts", "frames.cs", "", 0)
@case("etr_dev.bin: both harts", "etr_dev.bin", "", 0, long=True)
@case("etr_mem_1M.bin: the registers are in etr_mem_1M.json", "etr_mem_1M.bin", "", 0)
@case("etr_dev_wrapped.bin: begins with a barrier", "etr_dev_wrapped.bin", "_wrapped", 1)
@case("etr_mem_wrapped.bin: rotated at RWP", "etr_mem_wrapped.bin", "_wrapped", 1)
@case("etr_sg_region.bin: the scatter-gather table is walked", "etr_sg_region.bin", "_wrapped", 1)
def _(name, ending, status):
    said = both(name, ending, status=status)
    matches(r"CoreSight frames: trace IDs 3 \(\d+ bytes\), 11 \(\d+ bytes\)", said, "what is said of the file")


@case("frames_loss.cs, frames_many.cs: FIFO overflows are gaps")
def _():
    both("frames_loss.cs", "_loss", status=1)
    both("frames_many.cs", "_many", status=1)


@case("frames_nonotify.cs: 15 instructions after a switch cannot be named")
def _():
    both_status = {5: 1, 1: 0}
    for hart, status in both_status.items():
        found, _ = decode(sample("frames_nonotify.cs"), *programs(), "--src", hart, status=status)
        expected = truth(f"hart{hart}_nonotify")
        equal(len(found), len(expected), "program counters")
        wrong = [at for at, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]]
        check(len(wrong) <= 15 and (not wrong or wrong[-1] - wrong[0] < 15), f"hart {hart}: {len(wrong)} differ")


@case("--trace-id reads one hart; an unknown one has no messages")
def _():
    found, said = decode(sample("frames.cs"), *programs(), "--trace-id", 11)
    same(found, truth("hart5"), "trace ID 11")
    matches("trace ID 11 ", said, "what is said")
    run = Run("dump", sample("frames.cs"), "--trace-id", 12, status=1)
    matches("expected messages, found", run.err, "what is said")


@case("every command takes frames")
def _():
    for command, *options in (["dump"], ["check"], ["stat"], ["profile", *programs()], ["coverage", *programs()],
                              ["export", "--to", "callgrind", *programs()], ["timeline", *programs()], ["flame", *programs()]):
        run = Run(command, sample("frames.cs"), *options, "-o", write("out", b""), status=None)
        matches("CoreSight frames", run.err, command)
        check(run.status < 2, f"{command}: status {run.status}: {run.err}")


# ---- registers


def registers():
    return json.loads(stored("etr_mem_wrapped.json"))


def alone(name="memory.bin", content=None):
    """The memory without a file beside it that has the registers."""
    os.makedirs(os.path.join(scratch(), "alone"), exist_ok=True)
    return write(f"alone/{name}", content or stored("etr_mem_wrapped.bin"))


@case("--ram-write-pointer and --ram-status rotate a wrapped buffer")
def _():
    r = registers()
    both("memory", "_wrapped", "--ram-write-pointer", hex(r["rwp"]), "--ram-status", r["sts"], "--ram-base", hex(r["dba"]), status=1,
         path=alone())


@case("--ram-registers: the folder mgmt/ of Linux, and its output as text")
def _():
    folder = os.path.join(scratch(), "mgmt")
    os.makedirs(folder)
    lines = []
    for name in ("dba", "rsz", "sts", "rrp", "rwp", "axictl"):
        value = hex(registers()[name])
        write(f"mgmt/{name}", value.encode() + b"\n")
        lines.append(f"/sys/bus/coresight/devices/tmc_etr0/mgmt/{name}:{value}\n")
    both("memory", "_wrapped", "--ram-registers", folder, status=1, path=alone())
    both("memory", "_wrapped", "--ram-registers", write("mgmt.txt", "".join(lines).encode()), status=1, path=alone())


@case("STS says that memory failed, or that the TMC was not stopped: status 1")
def _():
    r = registers()
    for sts, reason in ((0x2d, "an access to memory failed"), (0x9, "the TMC was not stopped")):
        said = Run("dump", alone(), "--ram-write-pointer", hex(r["rwp"]), "--ram-status", hex(sts), "--ram-base", hex(r["dba"]), status=1).err
        matches(reason, said, hex(sts))


@case("convert --input-format tmc: the messages of each hart in files")
def _():
    out = os.path.join(scratch(), "id-%.nex")
    Run("convert", "--input-format", "tmc", sample("etr_mem_1M.bin"), "-o", out)
    for hart, identity in HARTS.items():
        with open(out.replace("%", f"0x{identity:02x}"), "rb") as file:
            equal(messages(file.read()), messages(stored(f"hart{hart}.nex")), f"messages of hart {hart}")


@case("registers that contradict each other are refused")
def _():
    r = registers()
    base = ["dump", alone(), "--input-format", "tmc"]
    for options, expected in (
        ([], "where do the data end"),
        (["--ram-write-pointer", 16], "has the buffer wrapped"),
        (["--ram-write-pointer", hex(r["dba"] - 16), "--ram-status", 1, "--ram-base", hex(r["dba"])], "RWP: expected an address inside"),
        (["--ram-write-pointer", hex(r["rwp"] + 4), "--ram-status", 1, "--ram-base", hex(r["dba"])], "beginning of a frame"),
        (["--ram-write-pointer", "x", "--ram-status", 1], "--ram-write-pointer: expected a number, found 'x'"),
        (["--ram-write-pointer", 32, "--ram-status", 1, "--ram-size", 1 << 20], "expected the memory at 0x"),
        (["--ram-registers", write("none.txt", b"nothing\n")], "found no rwp"),
    ):
        matches(expected, Run(*base, *options, status=2).err, str(options))


@case("scatter-gather tables that are damaged are refused")
def _():
    region, r = bytearray(stored("etr_sg_region.bin")), json.loads(stored("etr_sg_region.json"))
    for place, value, expected in ((0, 0, "an entry of type 1, 2 or 3"), (4, 0xc, "an entry of type"), (0, 0xfffffff2, "expected the memory at"),
                                   (0, (r["dba"] >> 12) << 4 | 3, "its last entry"), (4, (r["dba"] >> 12) + 1 << 4 | 1, "pages for RSZ")):
        damaged = bytearray(region)
        damaged[place:place + 4] = value.to_bytes(4, "little")
        path = write("damaged.bin", bytes(damaged))
        write("damaged.json", json.dumps(r).encode())
        matches(expected, Run("dump", path, status=2).err, f"entry {place // 4}")


# ---- others of the same kind


def streams(width=12, harts=(5, 1), ids=(11, 3), **more):
    return {identity: with_source(stored(f"hart{old}.nex"), new, width, **more)
            for old, new, identity in zip((5, 1), harts, ids)}


def decode_both(path, harts, *options, status=0, ending=""):
    for old, new in zip((5, 1), harts):
        found, said = decode(path, *programs(), *options, "--src", new, status=status)
        same(found, truth(f"hart{old}{ending}"), f"hart {new}")
    return said


@case("other trace IDs, harts and widths of SRC", 6, (9, 14), (0x11, 0x6f), long=True)
@case("other trace IDs, harts and widths of SRC: 4 bits", 4, (0, 15), (1, 2))
@case("other trace IDs, harts and widths of SRC: 10 bits", 10, (700, 3), (0x31, 0x5), long=True)
def _(width, harts, ids):
    for seed in range(2 if os.environ.get("NTRACE_TEST_LONG") else 1):
        data = frames(streams(width, harts, ids, idle=50), seed, repeat=3 + seed * 20, burst=1 + seed * 60)
        decode_both(write("other.cs", data), harts)


@case("frames that begin in the middle: at any byte of a frame, and inside messages", long=True)
def _():
    data = frames(streams(), 3)
    complete = [truth(f"hart{hart}") for hart in (5, 1)]
    for skip in (7, 16 * 40, 16 * 91 + 5):
        for hart, expected in zip((5, 1), complete):
            found, _ = decode(write("middle.cs", data[skip:]), *programs(), "--src", hart, status=None)
            check(len(found) > len(expected) * 0.9, f"skip {skip}, hart {hart}: {len(found)} of {len(expected)}")
            same(found, expected[len(expected) - len(found):], f"skip {skip}, hart {hart}")


@case("a barrier in the middle is a loss: nothing is decoded across it")
def _():
    streams_ = streams()
    data = frames(streams_, 4)
    half = len(data) // 32 * 16
    joined = data[:half] + BARRIER + data[half + 16 * 200:]
    for hart in (5, 1):
        found, said = decode(write("barrier.cs", joined), *programs(), "--src", hart, status=1)
        expected = truth(f"hart{hart}")
        matches("missing at 1 barriers", said, "what is said")
        head = next((at for at, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), len(found))
        tail = len(found) - head
        check(head > 1000 and tail > 1000, f"hart {hart}: {head} and {tail}")
        same(found[head:], expected[len(expected) - tail:], f"hart {hart}, after the barrier")


@case("words of synchronization between frames are no loss", long=True)
def _():
    data = frames(streams(), 5)
    word = b"\xff\xff\xff\x7f"
    with_words = b"".join(word * (1 + at // 16 % 3 // 2) + data[at:at + 640] for at in range(0, len(data), 640))
    decode_both(write("words.cs", with_words), (5, 1))


@case("wrapped and scattered buffers of other sizes, at other addresses", long=True)
def _():
    data = frames(streams(), 6, repeat=4)
    lasts = {hart: truth(f"hart{hart}") for hart in (5, 1)}
    for size, base in ((0x4000, 0x170000000), (0x18000, 0x8000), (0x480000, 0)):  # the last one has two pages of table
        memory, regs = wrap(data, size, base)
        for hart in (5, 1):
            results = []
            for form, (content, values) in (("flat", (memory, regs)), ("scattered", scatter(memory, regs, 0x9_0000_0000, size))):
                path = write("wrap.bin", content)
                write("wrap.json", json.dumps(values).encode())
                found, _ = decode(path, *programs(), "--src", hart, status=None)
                same(found, lasts[hart][len(lasts[hart]) - len(found):], f"{form}, size {size:#x}, hart {hart}")
                results.append(len(found))
            check(results[0] == results[1] and results[0] >= (len(lasts[hart]) if size > 0x40000 else 1), f"size {size:#x}: {results}")


@case("a file that ends inside a frame: said, status 1; a flush in the middle, and triggers, are no loss", 1, 15)
@case("a file that ends inside a frame, at other bytes", 4, 8, long=True)
def _(*ends):
    data, whole = frames({11: stored("hart5.nex")}, 2), truth("hart5")
    for end in ends:
        found, said = decode(write("cut.cs", data[:-160 - end]), *programs(), status=1)
        matches("1 CoreSight frame: expected 16 bytes, found fewer", said, f"without {end} bytes")
        same(found, whole[:len(found)], f"without {end} bytes")
    writer, stream = Frames(5), stored("hart5.nex")
    for at, byte in enumerate(stream):
        writer.put(11, byte)
        if at in (5000, 50003):
            writer.put(0x7d, 0)  # a trigger
        elif at == len(stream) // 2 + 3:
            writer.flush()  # which fills the frame up
    found, _ = decode(write("flush.cs", writer.flush()), *programs())
    same(found, whole, "with a flush")


@case("trace IDs that SRC does not tell apart are refused; --trace-id chooses")
def _():
    data = frames({11: stored("hart5.nex"), 12: with_source(stored("hart1.nex"), 5, 12)}, 7)
    path = write("mixed.cs", data)
    matches("trace IDs 11 and 12: both have messages with the same SRC", Run("stat", path, "--src-bits", 12, status=2).err, "error")
    found, _ = decode(path, *programs(), "--trace-id", 11)
    same(found, truth("hart5"), "trace ID 11")


@case("a stream of messages is not mistaken for frames")
def _():
    for name in ("hart5.nex", "hart1_many.nex", "guide_head.nex", "guide_tail.nex"):
        check("CoreSight" not in Run("stat", sample(name), "--src-bits", 12, status=None).err, name)


@case("--from decides where the stream is, or where the selection begins")
def _():
    whole = Run("dump", sample("frames.cs"), "--input-format", "coresight", "--src-bits", 12).lines()
    part = Run("dump", sample("frames.cs"), "--input-format", "coresight", "--from", "20", "--until", "29", "--src-bits", 12).lines()
    equal(part[-10:], [line for line in whole if line in part[-10:]][:10], "messages 20 to 29")
    matches("expected N or #N", Run("dump", sample("frames.cs"), "--from", "elsewhere", status=2).err, "error")


# ---- processes of a raw stream, and what was lost


@case("--map and --threads: scontext is the number of a thread; processes have names")
def _():
    listed = write("ps.txt", b"    PID     TID COMMAND\n   2000    2000 manager\n   2000    2120 worker\n   2121    2121 progB\n")
    maps = b"".join(b"%08x-%08x %s %08x 08:01 42 /usr/bin/progA\n" % (0x10000 + at, 0x10000 + at + size, flags, at)
                    for at, size, flags in ((0, 0x61000, b"r-xp"), (0x61000, 0x3000, b"r--p")))
    kernel = ["-e", sample("sysroot/boot/vmlinux")]
    options = ["--map", "2000=" + write("maps.txt", maps + b"7ffd0000-7ffd2000 rw-p 00000000 00:00 0 [stack]\n"), "--threads", listed,
               "--map", "2121=" + sample("sysroot/usr/bin/progB"), "--sysroot", sample("sysroot"), *kernel]
    for hart in HARTS:
        found, _ = decode(sample("frames.cs"), *options, "--src", hart)
        same(found, truth(f"hart{hart}"), f"hart {hart}")
    rows = Run("profile", sample("frames.cs"), *options, "--by", "process", "--format", "jsonl").rows()
    names = " ".join(str(row.get("name", row.get("process"))) for row in rows)
    for name in ("manager", "progB"):
        matches(name, names, "the names of processes")
    for value, expected in (("2000", "expected PID=FILE"), ("x=y", "expected PID=FILE"), ("1=" + listed, "expected a line of /proc/PID/maps")):
        matches(expected, Run("decode", sample("frames.cs"), "--map", value, *kernel, status=2).err, value)


@case("stat: how often the FIFO has lost messages, and for which share of the time")
def _():
    for name in ("frames_loss.cs", "frames_many.cs"):
        rows = Run("dump", sample(name), "--format", "jsonl", "--src-bits", 12).rows()
        time, since, losses, lost, all_ = {}, {}, 0, 0, 0
        for row in rows:
            fields = row["fields"]
            source, stamp = fields["SRC"], fields.get("TSTAMP")
            if stamp is not None:
                now = stamp if "SYNC" in fields else time[source] + stamp
                before = time.get(source)
                if source in time:
                    all_ += now - time[source]
                    lost += now - since.pop(source) if source in since and row["name"] != "Error" else 0
                time[source] = now
            if row["name"] == "Error":
                losses += 1
                since.setdefault(source, before)
        row = next(row for row in Run("stat", sample(name), "--src-bits", 12, "--tick-rate", 24000000, "--format", "jsonl", status=None).rows()
                   if "FIFO overflows" in row.values())
        equal((row["overflows"], row["ticks_without_trace"]), (losses, lost), f"{name}: overflows and ticks")
        check(losses and lost and abs(row["%_of_the_time_without_trace"] - 100 * lost / all_) < 0.01, str(row))
        check(abs(row["overflows_a_second_of_each_hart"] - losses * 24e6 / all_) < 0.1, str(row))


if __name__ == "__main__":
    main()
