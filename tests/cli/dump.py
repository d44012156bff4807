#!/usr/bin/env python3
"""dump and assemble: every form, every message, and back to the same bytes."""
import csv
import io
import json
import os
import stat
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, Run, bytes_of, case, check, equal, main, matches, need, scratch, skip, write
from messages import MESSAGES as TEXT

def numbered(text):
    return [line.split(" ", 2)[2] for line in text.splitlines() if not line.startswith("    #")]


@case("every message is assembled and dumped again")
def round_trip():
    data = bytes_of(TEXT)
    run = Run("dump", "-", stdin=data)
    equal(numbered(run.out), TEXT.splitlines(), "text")
    for form in ("text", "jsonl"):
        text = Run("dump", "--format", form, "-", stdin=data).bytes
        equal(Run("assemble", "-", stdin=text).bytes, data, form)
    equal(Run("assemble", "-", stdin=Run("dump", "--bytes", "-", stdin=data).bytes).bytes, data, "--bytes")


@case("the line of the specification's framing example")
def framing_example():
    data = bytes.fromhex("FF70D01D1DF8FFFF")
    equal(Run("dump", "-", stdin=data).out, "#1 @0x1 IndirectBranchHist BTYPE=0 ICNT=125 UADDR=0x7 HIST=0xffe\n", "dump")
    lines = Run("dump", "--bytes", "-", stdin=data).lines()
    equal(lines[1:4], ["    # @0x1 70 MDO=011100 MSEO=00 TCODE=28", "    # @0x2 d0 MDO=110100 MSEO=00 BTYPE=0",
                       "    # @0x3 1d MDO=000111 MSEO=01 ICNT=125"], "bytes")
    equal(len(lines), 7, "lines")


@case("JSON lines and CSV hold the same values")
def other_forms():
    data = bytes_of(TEXT)
    rows = [json.loads(line) for line in Run("dump", "--format", "jsonl", "-", stdin=data).lines()]
    table = list(csv.DictReader(io.StringIO(Run("dump", "--format", "csv", "-", stdin=data).out)))
    equal(len(rows), len(TEXT.splitlines()), "JSON rows")
    equal(len(table), len(rows), "CSV rows")
    for row, cells in zip(rows, table):
        equal(cells["name"], row["name"], "name")
        equal(int(cells["offset"]), row["offset"], "offset")
        for field, value in row["fields"].items():
            number = int(value, 0) if isinstance(value, str) else value
            equal(int(cells[field], 0), number, f"{row['name']} {field}")


@case("--format none only checks")
def silent():
    equal(Run("dump", "--format", "none", "-", stdin=bytes_of(TEXT)).out, "", "output")


@case("a part: by message, by byte, by source")
def parts():
    data = bytes_of(TEXT)
    everything = Run("dump", "-", stdin=data).lines()
    equal(Run("dump", "--from", "3", "--until", "#5", "-", stdin=data).lines(), everything[2:5], "messages")
    offset = everything[7].split()[1]
    equal(Run("dump", "--from", offset, "-", stdin=data).lines(), everything[7:], "bytes")
    equal(Run("dump", "--until", offset, "-", stdin=data).lines(), everything[:8], "to a byte")
    two = "".join(f"DirectBranch SRC={n % 3} ICNT={n}\n" for n in range(12))
    stream = Run("assemble", "--src-bits", "2", "-", stdin=two.encode()).bytes
    lines = Run("dump", "--src-bits", "2", "--src", "1", "-", stdin=stream).lines()
    equal([line.split()[-1] for line in lines], ["ICNT=1", "ICNT=4", "ICNT=7", "ICNT=10"], "source 1")
    matches("t:5: the trace has no time: no message has a TSTAMP", Run("dump", "--src-bits", "2", "--from", "t:5", "-", stdin=stream, status=2).err, "a time, in a stream without timestamps")


@case("errors in the text are reported with line and column, and no file is written")
def mistakes():
    target = os.path.join(scratch(), "never.nex")
    for text, words in [
        ("DirectBranch ICNT=3\nFoo\n", "standard input: line 2, column 1: unknown name, found 'Foo'"),
        ("ProgTraceSync SYNC=33 ICNT=0 FADDR=0x80\n", "line 1, column 20: .*found '33'"),
        ("ProgTraceSync SYNC=3 ICNT=0\n", "line 1, column 14: message ends before this mandatory field"),
        ("DirectBranch ICNT=3 HIST=1\n", "line 1, column 26: message has no such field, found '1'"),
        ("DirectBranch ICNT=x\n", "line 1, column 19: .*found 'x'"),
        ('{"name":"DirectBranch","fields":{"ICNT":3}\n', "line 1, column"),
        ("DirectBranch ICNT=" + "1" * 70000, "line 1: expected at most 65535 characters"),
    ]:
        run = Run("assemble", "-", "-o", target, stdin=text.encode(), status=2)
        matches(words, run.err, text[:40])
        check(not os.path.exists(target), f"{text[:40]!r} left a file")
        equal(os.listdir(scratch()).count("never.nex"), 0, "files")
        check(not [name for name in os.listdir(scratch()) if name.endswith(".tmp")], "temporary files stay behind")


@case("-o replaces a file atomically, writes to devices, and reports files that cannot be written")
def output_file():
    target = write("out.txt", b"old")
    data = write("in.nex", bytes_of(TEXT))
    Run("dump", data, "-o", target)
    equal(open(target).read(), Run("dump", data).out, "content")
    Run("dump", data, "-o", "/dev/null")
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null is a device no more")
    run = Run("dump", data, "-o", os.path.join(scratch(), "no", "folder"), status=2)
    matches("cannot write: No such file or directory", run.err, "folder")
    run = Run("dump", data, "-o", "/dev/full", status=2)
    matches("/dev/full: No space left on device", run.err, "full")


@case("a reader that closes the pipe is not an error")
def closed_pipe():
    path = write("long.nex", bytes_of("DirectBranch ICNT=3\n") * 500000)
    done = subprocess.run(["bash", "-c", '"$@" | head -1; echo ${PIPESTATUS[0]}', "bash", NTRACE, "dump", path], text=True,
                          capture_output=True)
    equal(done.stdout, "#1 @0x0 DirectBranch ICNT=3\n0\n", "output and status")
    equal(done.stderr, "", "standard error")


@case("a pipe is read without waiting for its end")
def pipe():
    process = subprocess.Popen([NTRACE, "dump", "--format", "none", "-"], stdin=subprocess.PIPE)
    for byte in bytes_of(TEXT):
        process.stdin.write(bytes([byte]))
        process.stdin.flush()
    process.stdin.close()
    equal(process.wait(timeout=60), 0, "status")


@case("compressed input is recognized; damage in it affects only the damaged part")
def compressed():
    data = bytes_of(TEXT) * 200
    packed = subprocess.run([need("zstd"), "-qc"], input=data, capture_output=True, check=True).stdout
    run = Run("dump", "-", stdin=packed, status=None)
    if "was built without zstd" in run.err:
        equal(run.status, 2, "status without zstd")
        matches(r"standard input: expected a plain stream, found zstd data", run.err, "refusal")
        skip("build-zstd")
    equal(run.out, Run("dump", "-", stdin=data).out, "output")
    equal(Run("dump", write("two.nex.zst", packed + packed)).lines().__len__(), 2 * len(run.lines()), "two frames")
    cut = Run("dump", "-", stdin=packed[:-20], status=1)
    matches("expected the rest of a zstd frame, found the end of the file", cut.err, "cut")
    bad = Run("dump", "-", stdin=packed + b"junk", status=1)
    matches("expected zstd data, found damage", bad.err, "junk")
    equal(bad.out, run.out, "what came before the damage")


if __name__ == "__main__":
    main()
