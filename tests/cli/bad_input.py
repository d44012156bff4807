#!/usr/bin/env python3
"""Bad input: told in one line with file, byte, message and field; status 1 or 2; never a crash."""
import concurrent.futures
import os
import random
import re

from harness import MESSAGES as TEXT, Run, bytes_of, case, check, equal, main, matches, scratch, write

WORKERS = os.cpu_count() or 2


def told(run, path, where="dump"):
    """The first line of standard error names the file and the place."""
    check(run.status in (1, 2), f"status {run.status}")
    first = run.err.splitlines()[0] if run.err else ""
    matches(rf"^ntrace {where}: {re.escape(path)}: byte 0x[0-9a-f]+", first, "first line")
    return first


@case("an empty file")
def empty():
    path = write("empty.nex", b"")
    matches("expected messages, found an empty file", told(Run("dump", path, status=1), path), "words")


@case("one byte, each of the 256")
def one_byte():
    def one(value):
        path = write(f"byte{value:02x}.nex", bytes([value]))
        told(Run("dump", path, status=1), path)

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(one, range(256)))


@case("nothing but 0x00, nothing but 0xff, in all lengths up to some kilobytes")
def constant():
    for size in (1, 2, 5, 6, 63, 64, 1023, 1024, 1025, 5000):
        path = write("zeros.nex", bytes(size))
        told(Run("dump", path, status=1), path)
        path = write("ones.nex", b"\xff" * size)
        matches("found none", told(Run("dump", path, status=1), path), "words")


@case("every message cut after each of its bytes: the field is named")
def truncated():
    lead = bytes_of("DirectBranch ICNT=3\n")
    for line in TEXT.splitlines():
        data = bytes_of(line + "\n")
        for cut in range(1, len(data)):
            path = write("cut.nex", lead + data[:cut])
            first = told(Run("dump", path, status=1), path)
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
                matches(r"message #1 \w+, field [A-Z0-9]+: expected", told(run, path), line)


@case("values that cannot be")
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
        check(words in told(Run("dump", path, status=1), path), f"{raw}: {words}")


@case("random bytes, 1,000 seeds")
def random_bytes():
    def one(seed):
        generator = random.Random(seed)
        data = generator.randbytes(generator.randrange(1, 400))
        path = write(f"random{seed}.nex", data)
        bits = str(generator.randrange(13))
        run = Run("dump", "--src-bits", bits, path, status=None)
        if run.status:
            told(run, path)
        os.remove(path)
        return run.status

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        statuses = list(pool.map(one, range(1000)))
    check(statuses.count(2) == 0, "status 2 for a readable file")
    check(statuses.count(1) > 900, f"only {statuses.count(1)} of 1000 were told")


@case("many defects: ten are shown, the rest is a number")
def many():
    path = write("many.nex", bytes([0x01]) * 1000)
    run = Run("dump", "--format", "none", path, status=1)
    check(len(run.err.splitlines()) <= 11, f"{len(run.err.splitlines())} lines")


@case("files that are not there, or not files")
def missing():
    path = os.path.join(scratch(), "nothing")
    equal(Run("dump", path, status=2).err, f"ntrace dump: {path}: cannot be opened: No such file or directory\n", "words")
    matches("found a directory", Run("dump", scratch(), status=2).err, "folder")


if __name__ == "__main__":
    main()
