#!/usr/bin/env python3
"""Bad input: reported in one line with file, byte, message and field; status 1 or 2; never a crash."""
import concurrent.futures
import os
import random
import re
import sqlite3
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import Run, bytes_of, case, check, equal, main, matches, scratch, skip, write
from messages import MESSAGES as TEXT

WORKERS = os.cpu_count() or 2
SEEDS = 100 if sys.argv[2:] not in ([], ["none"]) else 250  # sanitizers are slow


def error_of(run, path, where="dump"):
    """The first line of standard error, which names the file and the position."""
    check(run.status in (1, 2), f"status {run.status}")
    first = run.err.splitlines()[0] if run.err else ""
    matches(rf"^ntrace {where}: {re.escape(path)}: byte 0x[0-9a-f]+", first, "first line")
    return first


@case("an empty file")
def empty():
    path = write("empty.nex", b"")
    matches("expected a trace, found an empty file", Run("dump", path, status=2).err, "words")


@case("each of the 256 inputs of one byte")
def one_byte():
    def one(value):
        path = write(f"byte{value:02x}.nex", bytes([value]))
        error_of(Run("dump", path, status=1), path)

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(one, range(256)))


@case("only bytes 0x00, and only bytes 0xff, in all lengths up to some kilobytes")
def constant():
    for size in (1, 2, 5, 6, 63, 64, 1023, 1024, 1025, 5000):
        path = write("zeros.nex", bytes(size))
        error_of(Run("dump", path, status=1), path)
        path = write("ones.nex", b"\xff" * size)
        matches("found none", error_of(Run("dump", path, status=1), path), "words")


@case("every message cut after each of its bytes: the field is named")
def truncated():
    lead = bytes_of("DirectBranch ICNT=3\n")
    for line in TEXT.splitlines():
        data = bytes_of(line + "\n")
        for cut in range(1, len(data)):
            path = write("cut.nex", lead + data[:cut])
            first = error_of(Run("dump", path, status=1), path)
            matches(rf"byte 0x{len(lead):x}, message #2 ", first, line)
            if not line.startswith(("Vendor", "Reserved")):
                matches(r", field [A-Z0-9]+: expected .+, found the end of the stream$", first, f"{line} cut at {cut}")


@case("every message that ends early: the missing field is named")
def ended_early():
    for line in TEXT.splitlines():
        data = bytes_of(line + "\n")
        for cut in range(1, len(data)):
            if data[cut - 1] & 3 != 1:
                continue  # an end of message fits only at the end of a variable field
            path = write("early.nex", data[:cut - 1] + bytes([data[cut - 1] | 2]))
            run = Run("dump", path, status=None)
            if run.status:
                matches(r"message #1 \w+, field [A-Z0-9]+: expected", error_of(run, path), line)


@case("impossible field values")
def values():
    for raw, words in [
        ("7041F101", "message #1 IndirectBranchHist, field HIST: expected a history with its stop-bit (at least 0x1), "
                     "found 0x0"),
        ("848003", "message #1 ProgTraceCorrelation, field CDF: expected a value that is not reserved, found 0x2"),
        ("240E000B", "message #1 ProgTraceSync, field ICNT: expected MSEO 00, 01 or 11, found the reserved code 10"),
        ("240D000B01", "byte 0x4, message #2 Malformed: expected a start of message (MSEO 00) or idle, found MSEO 01"),
        ("0CF10303", "byte 0x3, message #2 Malformed: expected idle (0xff) or a start of message (MSEO 00), found 0x03"),
    ]:
        path = write("value.nex", bytes.fromhex(raw))
        check(words in error_of(Run("dump", path, status=1), path), f"{raw}: {words}")


def random_bytes(seeds):
    def one(seed):
        generator = random.Random(seed)
        data = generator.randbytes(generator.randrange(1, 400))
        path = write(f"random{seed}.nex", data)
        bits = str(generator.randrange(13))
        run = Run("dump", "--src-bits", bits, path, status=None)
        if run.status:
            error_of(run, path)
        os.remove(path)
        return run.status

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        statuses = list(pool.map(one, range(seeds)))
    check(statuses.count(2) == 0, "status 2 for a readable file")
    check(statuses.count(1) > seeds * 9 // 10, f"only {statuses.count(1)} of {seeds} were reported")


for number, is_long in {SEEDS: False, 2000: True}.items():
    case(f"random bytes, {number} seeds", number, long=is_long)(random_bytes)


@case("many defects: ten are printed, the others are counted")
def many():
    path = write("many.nex", bytes([0x01]) * 1000)
    run = Run("dump", "--format", "none", path, status=1)
    check(len(run.err.splitlines()) <= 11, f"{len(run.err.splitlines())} lines")


@case("missing files, and folders as files")
def missing():
    path = os.path.join(scratch(), "nothing")
    equal(Run("dump", path, status=2).err, f"ntrace dump: {path}: cannot open: No such file or directory\n", "words")
    matches("found a directory", Run("dump", scratch(), status=2).err, "folder")


@case("standard input named twice, --to before --from")
def twice():
    good = write("good", Run("assemble", "-", stdin=TEXT.encode()).bytes)
    matches("can be read only once", Run("merge", "-", "-", stdin=bytes_of(TEXT), status=2).err, "merge")
    matches("at or after the beginning", Run("dump", good, "--from", "5", "--until", "4", status=2).err, "dump")
    equal(Run("dump", good, "--from", "5", "--until", "5").out.count("\n"), 1, "one message")


@case("an input of another format is an error, not an empty result")
def none_of_it():
    error = Run("encode", "--spike-log", write("words", b"hello\n"), status=2).err
    matches("expected instructions of 'core   0:', found none", error, "encode")
    noise = write("noise", bytes(range(256)) * 40)
    for transport in ("swt-uart", "coresight"):
        error = Run("convert", "--input-format", transport, noise if transport == "swt-uart" else write("zeros", bytes(5120)), status=1).err
        matches(f"expected messages over {transport}, found none", error, transport)
    error = Run("assemble", write("zero", b"DirectBranch ICNT=3\nDirectBranch\0 ICNT=3\n"), status=2).err
    matches("line 2, column 13: expected text, found a zero byte", error, "assemble")


@case("sources and positions that are not in the stream, odd program counters")
def nowhere():
    good, image = write("two.nex", bytes_of(tiny.HTM)), ("-e", write("two.elf", tiny.elf()))
    for command in ("decode", "profile", "stat"):
        error = Run(command, good, *image, "--src", "5", status=2 if command != "stat" else None).err
        if command != "stat":
            matches("--src: expected a source of at most 0, as SRC has 0 bits, found 5", error, command)
    matches("at most 0, as SRC has 0 bits", Run("diff", good, good, *image, "--src", "5", status=2).err, "diff")
    equal(Run("decode", good, *image, "--from", "99999", "--show", "pc", status=1).out, "", "behind the end")
    error = Run("encode", *image, "--pc", write("odd", b"0x100\n0x101\n"), status=2).err
    matches("line 2: expected an even program counter, found 0x101", error, "encode")


@case("what would give a plausible answer is refused: sources merged twice, an order by time without time, an empty list, another program")
def plausible():
    trace, image = write("two.nex", bytes_of(tiny.HTM)), ("-e", write("two.elf", tiny.elf()))
    matches(r"two.nex, .*two.nex: expected messages with SRC, which say whose they are, found none", Run("merge", trace, trace, status=2).err, "no SRC")
    both = write("one.nex", Run("assemble", "--src-bits", "2", "-", stdin=b"ProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x80\n").bytes)
    matches("expected different sources, found source 1 in both", Run("merge", "--src-bits", "2", both, both, status=2).err, "SRC 1 twice")
    for key in ("ticks", "total-ticks"):
        matches("--sort: the trace has no time: no message has a TSTAMP", Run("profile", trace, *image, "--sort", key, status=2).err, key)
    matches("--merge: .*: expected names of traces, one a line, found none", Run("coverage", trace, *image, "--merge", write("list", b"# none\n"), status=2).err, "--merge")
    pcs, target = "0x100\n0x108\n" * 20, os.path.join(scratch(), "encoded.nex")
    error = Run("encode", *image, "--pc", write("pcs", pcs.encode()), "-o", target, status=1).err
    matches("found 39 that do not.*; the program is not the one that ran; no trace is written", error, "encode")
    check(not os.path.exists(target), "a trace was written")


@case("a database of a damaged trace contains its gaps")
def gaps():
    sound = bytes_of(tiny.HTM)
    trace, path = write("hole.nex", sound[:9] + b"\x67" * 3 + sound[9:] + sound), os.path.join(scratch(), "hole.db")
    error = Run("export", "--to", "sqlite", trace, "-e", write("tiny.elf", tiny.elf()), "-o", path, status=None)
    if "no format '" in error.err:
        skip("build-sqlite")
    equal(error.status, 1, error.err)
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT src, offset, until, message, reason FROM gaps").fetchall()
    check(rows and all(row[1] < row[2] <= 2 * len(sound) + 3 and row[4] for row in rows), f"gaps: {rows}")


@case("raw to raw: idle bytes are removed, messages are kept")
def raw():
    sound = bytes_of(TEXT)
    equal(Run("convert", write("idle.nex", b"\xff\xff" + sound + b"\xff" + sound)).bytes, sound + sound, "bytes")


@case("lists of program counters: other text, zero bytes, endless lines, folders, long comments")
def lists():
    stream = write("t.nex", Run("assemble", "-", stdin=b"ProgTraceSync SYNC=5 ICNT=0 FADDR=0x800\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n").bytes)
    image = ("--raw", write("code", b"\x13\0\0\0" * 4) + "@0x1000")
    def diff(name, content, status):
        return Run("diff", stream, *image, "--pc-list", write(name, content), status=status).err

    diff("good", b"# " + b"x" * 200 + b"\n0x1000\n", 0)
    diff("bare", b"1000\r\n", 0)
    matches("line 2: expected a program counter, found 'hello'", diff("word", b"0x1000\nhello\n", 2), "word")
    matches("line 1: expected a program counter, found '-1000'", diff("minus", b"-1000\n", 2), "minus")
    matches("line 1: expected a program counter", diff("long", b"0x11112222333344445\n", 2), "seventeen digits")
    matches("line 1: expected", diff("zero", bytes(200), 2), "zero bytes")
    matches("at most 65535 characters", Run("diff", stream, *image, "--pc-list", "/dev/zero", status=2).err, "endless")
    matches("a directory", Run("diff", stream, *image, "--pc-list", scratch(), status=2).err, "folder")


if __name__ == "__main__":
    main()
