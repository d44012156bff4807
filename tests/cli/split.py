#!/usr/bin/env python3
"""split and merge: one stream per source and back, thousands of sources, time order, parts at syncs; and stat."""
import glob
import json
import os
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import Run, bytes_of, case, check, equal, main, matches, scratch, write


def assemble(text, bits):
    return Run("assemble", "--src-bits", bits, "-", stdin=text.encode()).bytes


def lines_of(path, *options):
    return [line.split(" ", 2)[2] for line in Run("dump", *options, path).lines()]


def pieces(prefix):
    return sorted(glob.glob(os.path.join(scratch(), prefix + "-*.nex")))


@case("each source in a separate file; merged alternately without timestamps")
def by_source():
    text = "".join(f"DirectBranch SRC={s} ICNT={n}\n" for n in range(4) for s in (0, 1, 3))
    stream = write("three.nex", assemble(text, 2))
    prefix = os.path.join(scratch(), "three")
    Run("split", "--src-bits", 2, stream)
    equal([os.path.basename(path) for path in pieces("three")], ["three-src0.nex", "three-src1.nex", "three-src3.nex"],
          "files")
    equal(lines_of(prefix + "-src3.nex", "--src-bits", 2), [f"DirectBranch SRC=3 ICNT={n}" for n in range(4)], "source 3")
    merged = Run("merge", "--src-bits", 2, *pieces("three")).bytes
    equal(merged, open(stream, "rb").read(), "merged")


@case("4,096 sources, split and merged")
def thousands():
    text = "".join(f"DirectBranch SRC={s} ICNT={n}\n" for n in range(3) for s in range(4096))
    stream = write("many.nex", assemble(text, 12))
    prefix = os.path.join(scratch(), "all")
    Run("split", "--src-bits", 12, stream, "-o", prefix)
    files = [f"{prefix}-src{s}.nex" for s in range(4096)]
    check(all(map(os.path.exists, files)), "files are missing")
    target = os.path.join(scratch(), "merged.nex")
    Run("merge", "--src-bits", 12, *files, "-o", target)
    check(open(target, "rb").read() == open(stream, "rb").read(), "merged differs")
    for path in files:
        os.remove(path)


@case("merged by time with timestamps")
def by_time():
    one = "ProgTraceSync SRC=0 SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=100\n" + "DirectBranch SRC=0 ICNT=3 TSTAMP=10\n" * 3
    two = "ProgTraceSync SRC=1 SYNC=5 ICNT=0 FADDR=0x80 TSTAMP=105\n" + "DirectBranch SRC=1 ICNT=3 TSTAMP=7\n" * 3
    files = [write(name, assemble(text, 1)) for name, text in (("one.nex", one), ("two.nex", two))]
    merged = write("merged.nex", Run("merge", "--src-bits", 1, *files).bytes)
    order = [line.split("SRC=")[1][0] for line in lines_of(merged, "--src-bits", 1)]
    # 0 at 100 110 120 130, 1 at 105 112 119 126
    equal("".join(order), "01011010", "order")


@case("parts that begin at synchronizing messages are decodable alone, and together are the stream")
def by_sync():
    stream = write("syncs.nex", bytes_of(tiny.BTM * 5))
    elf = write("tiny.elf", tiny.elf())
    Run("split", "--parts", "sync", stream)
    parts = [os.path.join(scratch(), f"syncs-part{n}.nex") for n in range(5)]
    equal(pieces("syncs"), parts, "files")
    equal(b"".join(open(part, "rb").read() for part in parts), open(stream, "rb").read(), "together")
    for part in parts:
        equal(Run("decode", part, "-e", elf, "--show", "pc").lines(), [f"0x{pc:x}" for pc in tiny.PCS], part)
    Run("split", "--parts", "sync", "--part-size", 15, "-o", os.path.join(scratch(), "big"), stream)
    equal(len(pieces("big")), 3, "parts of at least 15 bytes")


@case("an empty file name is refused")
def nameless():
    run = Run("split", write("good.nex", bytes_of(tiny.BTM)), "-o", "", status=2)
    matches("expected a prefix of file names", run.err, "an empty prefix")


@case("damage is reported and left out")
def damage():
    stream = write("bad.nex", bytes_of(tiny.BTM) + b"\x01\xff" + bytes_of(tiny.BTM))
    run = Run("split", stream, status=1)
    matches("byte 0x9, message #4 Malformed: expected", run.err, "split")
    good = write("good.nex", bytes_of(tiny.BTM))
    equal(Run("merge", stream, "-o", os.path.join(scratch(), "m.nex"), status=1).out, "", "merge")
    equal(open(os.path.join(scratch(), "m.nex"), "rb").read(), 2 * open(good, "rb").read(), "what is sound")
    equal(open(os.path.join(scratch(), "bad-src0.nex"), "rb").read(), 2 * open(good, "rb").read(), "what is sound")


@case("an unreadable stream leaves no files")
def unreadable():
    target = os.path.join(scratch(), "never.nex")
    Run("merge", write("good.nex", bytes_of(tiny.BTM)), "/nonexistent", "-o", target, status=2)
    check(not os.path.exists(target), "file")
    run = Run("split", write("good.nex", bytes_of(tiny.BTM)), "-o", os.path.join(scratch(), "no", "folder"), status=2)
    matches("cannot write: No such file or directory", run.err, "folder")


@case("stat counts messages, fields, syncs, sources and the execution")
def statistics():
    stream, elf = write("stat.nex", bytes_of(tiny.BTM) + b"\xff\xff"), write("tiny.elf", tiny.elf())
    rows = [json.loads(line) for line in Run("stat", "--format", "jsonl", stream, "-e", elf).lines()]
    kinds = {}
    for row in rows:
        kinds.setdefault(row.pop("kind"), {})[row.pop("name")] = row
    stream_row, = kinds["stream"].values()
    equal((stream_row["bytes"], stream_row["idle_bytes"], stream_row["messages"], stream_row["syncs"]), (11, 2, 3, 1),
          "stream")
    equal({name: row["count"] for name, row in kinds["message"].items()},
          {"DirectBranch": 1, "ProgTraceSync": 1, "ProgTraceCorrelation": 1}, "messages")
    equal(kinds["field"]["ICNT"]["count"], 3, "ICNT")
    equal(list(kinds["SYNC"]), ["3 exit from debug"], "SYNC")
    execution, = kinds["execution"].values()
    equal((execution["instructions"], execution["branches"], execution["gaps"]), (5, 2, 0), "execution")
    matches(r"(?m)^  instructions +5$", Run("stat", stream, "-e", elf).out, "text")


@case("stat of one source, or of a part")
def part_statistics():
    stream = write("two.nex", bytes_of("""ProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x80
DirectBranch SRC=2 ICNT=4
DirectBranch SRC=1 ICNT=2
DirectBranch SRC=1 ICNT=6
""", "--src-bits", "2"))

    def count(*options, status=0):
        rows = Run("stat", "--src-bits", "2", "--format", "jsonl", *options, stream, status=status).rows()
        return {row["name"]: row["count"] for row in rows if row["kind"] == "message"}

    equal(count("--src", "1"), {"ProgTraceSync": 1, "DirectBranch": 2}, "--src")
    equal(count("--from", "2", "--until", "3"), {"DirectBranch": 2}, "--from, --to")
    equal(count("--src", "3", status=1), {}, "a source that is not there")


if __name__ == "__main__":
    main()
