#!/usr/bin/env python3
"""encode: program counters, ingress text and logs of simulators become the stream, with a small known program."""
import itertools
import os
import random
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import Run, case, check, equal, main, matches, scratch, write

PC_TEXT = "".join(f"0x{pc:x}\n" for pc in tiny.PCS)


def program():
    return write("tiny.elf", tiny.elf())


@case("encode and decode reproduce the list, in both modes")
def round_trip():
    pcs = write("list.txt", PC_TEXT.encode())
    for options in (["--mode", "btm"], ["--mode", "htm"], ["--best"], ["--timestamps"],
                    ["--src-bits", "4", "--src-id", "3"], ["--sync-mode", "halfwords", "--sync-max", "0"]):
        stream = write("encoded.nex", Run("encode", "-e", program(), "--pc", pcs, *options).bytes)
        back = ["--src-bits", "4", "--src", "3"] if "--src-bits" in options else []
        equal(Run("decode", stream, "-e", program(), "--show", "pc", *back).out, PC_TEXT, f"{options}")
    raw = write("image", tiny.image())
    stream = write("encoded.nex", Run("encode", "--raw", f"{raw}@0x100", "--pc", "-", stdin=PC_TEXT.encode()).bytes)
    equal(Run("decode", stream, "-e", program(), "--show", "pc").out, PC_TEXT, "raw image, list by pipe")


@case("ingress records from a list of program counters encode to the same stream")
def ingress():
    options = ["-e", program(), "--pc", write("list.txt", PC_TEXT.encode())]
    records = Run("encode", *options, "--show", "ingress").bytes
    equal(len(records.splitlines()), 4, "records: a heading and three blocks")
    equal(Run("encode", "--ingress", "-", stdin=records).bytes, Run("encode", *options).bytes, "stream")


@case("a log of Spike, both forms and together")
def spike_log():
    code = tiny.image()
    commit, trace_lines, both = [], [], []
    for pc in tiny.PCS:
        size = 4 if code[pc - tiny.BASE] & 3 == 3 else 2
        opcode = int.from_bytes(code[pc - tiny.BASE:pc - tiny.BASE + size], "little")
        commit.append(f"core   0: 3 0x{pc:016x} (0x{opcode:0{2 * size}x})")
        trace_lines.append(f"core   0: 0x{pc:016x} (0x{opcode:08x}) some text")
        both += [trace_lines[-1], commit[-1]]
    for lines in (commit, trace_lines, both):
        stream = Run("encode", "--spike-log", "-", stdin="".join(line + "\n" for line in lines).encode()).bytes
        equal(Run("decode", "-", "-e", program(), "--show", "pc", stdin=stream).out, PC_TEXT, lines[0])


@case("without given times, a branch has the time at which it retired")
def synthetic_times():
    # halfwords: 0x100 1, branch at 0x102 2, 0x106 2, branch at 0x10a 2, which is taken; 0x300 2
    stream = Run("encode", "-e", program(), "--pc", "-", "--mode", "btm", "--timestamps", stdin=PC_TEXT.encode()).bytes
    rows = Run("dump", "-", stdin=stream).lines()
    equal([row.split()[2] for row in rows], ["ProgTraceSync", "DirectBranch", "ProgTraceCorrelation"], "messages")
    times = [int(row.split("TSTAMP=")[1]) for row in rows]
    equal(times, [3, 7 - 3, 9 - 7], "the first block has retired; the taken branch; the last instruction")


INGRESS_DATA = """\
iaddr,iretire,ilastsize,itype,cycle,dtype,daddr,dbytes,data
0x100,3,1,4,1,1,0x80001000,4,0x11223344
,0,0,0,0,0,0x80001008,8,0xfedcba9876543210
0x106,4,1,5,1,,,,
0x300,2,1,0,1,0,0x80001001,1,0x7f
"""


@case("loads and stores of ingress text become data messages, and are read back")
def data_columns():
    options = ("--mode", "btm", "--dialect", "nexus-data")
    stream = Run("encode", "--ingress", "-", *options, stdin=INGRESS_DATA.encode()).bytes
    said = [row.split()[2:] for row in Run("dump", "--dialect", "nexus-data", "-", stdin=stream).lines()]
    accesses = [row for row in said if row[0].startswith("Data")]
    equal([row[0] for row in accesses], ["DataWriteSync", "DataRead", "DataRead"], "messages")
    equal([row[3] for row in accesses], ["DADDR=0x80001000", "DADDR=0x8", "DADDR=0x9"], "full address, then XOR with the one before")
    rows = [row for row in Run("decode", "--dialect", "nexus-data", "-e", program(), "--show", "event", "--format", "jsonl", "-",
                               stdin=stream).rows() if row["kind"] == "access"]
    equal([(row["name"], int(row["address"], 16), int(row["data"], 16)) for row in rows],
          [("write", 0x80001000, 0x11223344), ("read", 0x80001008, 0xfedcba9876543210), ("read", 0x80001001, 0x7f)], "accesses")
    plain = Run("encode", "--ingress", "-", "--mode", "btm", stdin=INGRESS_DATA.encode(), status=2)
    matches("line 2: a load or store, but the dialect has no data messages; --dialect nexus-data has", plain.err, "another dialect")
    for bad, words in (("9,1", "column dbytes: 9 is more than 8"), ("8,x", 'column data: "x" is no number')):
        text = INGRESS_DATA.replace("4,0x11223344", bad)
        matches(words, Run("encode", "--ingress", "-", *options, stdin=text.encode(), status=2).err, bad)


@case("300 random loads and stores in a loop are read back, in both dialects and modes, with timestamps and frames")
def random_accesses():
    draw = random.Random(21)
    rows, truth = [], []
    for _ in range(300):
        access, size = draw.randrange(2), draw.choice((1, 2, 4, 8))
        address, data = draw.choice((0x80000000, 0x7fffff0000000000, 0)) + draw.randrange(1 << 16), draw.getrandbits(8 * size)
        rows.append(f"0x206,3,1,5,1,{access},{address:#x},{size},{data:#x}")
        truth.append((("read", "write")[access], address, size, data))
    text = ("iaddr,iretire,ilastsize,itype,cycle,dtype,daddr,dbytes,data\n" + "\n".join(rows) + "\n").encode()
    for dialect, mode, *more in itertools.product(("nexus-data", "ctte"), ("btm", "htm"), ("--timestamps", "--no-timestamps"), ("0", "96")):
        options = ("--dialect", dialect, "--mode", mode, more[0], "--frame", more[1], "--sync-mode", "messages", "--sync-max", "1")
        stream = Run("encode", "--ingress", "-", *options, stdin=text).bytes
        events = Run("decode", "--dialect", dialect, "-e", program(), "--show", "event", "--format", "jsonl", "-", stdin=stream).rows()
        found = [(row["name"], int(row["address"], 16), row["data_size"], int(row["data"], 16)) for row in events if row["kind"] == "access"]
        equal(found, truth, f"{dialect} {mode} {more}")
        turns = sum(row["instructions"] for row in events if row["kind"] == "span")
        equal(turns, 600, "instructions")


@case("inputs that encode refuses")
def encode_refuses():
    target = os.path.join(scratch(), "never.nex")
    for options, stdin, words in [
        ([], "", "expected exactly one of --pc, --ingress, --spike-log, --rvvi and --rvfi, found none"),
        (["--pc", "-"], PC_TEXT, "--pc requires the program"),
        (["--pc", "a", "--spike-log", "b"], "", "expected exactly one of .*, found several"),
        (["--ingress", "-"], "iaddr,foo\n", "standard input: line 1: there is no column \"foo\""),
        (["--ingress", "-"], "iaddr,iretire,itype\n0x100,1,7\n", "line 2: record 1: itype 7 is reserved"),
        (["--spike-log", "-"], "core   0: 3 0xzz\n", "standard input: line 1: "),
        (["--ingress", "-", "--show", "ingress"], "", "the input already consists of ingress records"),
        (["-e", program(), "--pc", "-"], "0x100\n0x102\nhello\n", "line 3: expected a program counter .*, found 'hello'"),
        (["-e", program(), "--pc", "-"], "", "expected program counters .*, found none"),
        (["-e", program(), "--pc", "-"], "0x100\n0x9000\n", "no program image"),
        (["-e", program(), "--pc", "-", "--icnt-bits", "23"], PC_TEXT, "--icnt-bits: expected a number from 2 to 22, found '23'"),
        (["-e", program(), "--pc", "-", "--mode", "xyz"], PC_TEXT, "--mode: expected one of btm|htm, found 'xyz'"),
        (["-e", program(), "--pc", "-", "--best=1"], PC_TEXT, "--best takes no value"),
    ]:
        run = Run("encode", *options, "-o", target, stdin=stdin.encode(), status=2)
        matches(words.replace("btm|htm", r"btm\|htm"), run.err, f"{options}")
        check(not os.path.exists(target), "a file was left")


main()
