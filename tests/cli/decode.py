#!/usr/bin/env python3
"""decode: every output in every form, with a small known program."""
import csv
import io
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import NTRACE, TESTS, Run, bytes_of, case, check, equal, main, matches, need, scratch, skip, write

PC_TEXT = "".join(f"0x{pc:x}\n" for pc in tiny.PCS)


def program():
    return write("tiny.elf", tiny.elf())


def trace(text=tiny.BTM):
    return write("trace.nex", bytes_of(text))


def decode(*options, text=tiny.BTM, status=0):
    return Run("decode", trace(text), "-e", program(), *options, status=status)


@case("program counters, in BTM and HTM, from ELF and from raw memory, from file and from pipe")
def program_counters():
    for text in (tiny.BTM, tiny.HTM):
        equal(decode("--show", "pc", text=text).out, PC_TEXT, "ELF")
        raw = write("image", tiny.image())
        equal(Run("decode", trace(text), "--raw", f"{raw}@0x100", "--show", "pc").out, PC_TEXT, "raw")
        equal(Run("decode", "-", "-e", program(), "--show", "pc", stdin=bytes_of(text)).out, PC_TEXT, "pipe")


@case("an ELF file at another address")
def loaded_elsewhere():
    text = tiny.BTM.replace("FADDR=0x80", "FADDR=0x2080")
    expected = "".join(f"0x{pc + 0x4000:x}\n" for pc in tiny.PCS)
    equal(Run("decode", trace(text), "-e", program() + "@0x4000", "--show", "pc").out, expected, "load address")


@case("spans, branches and calls as text")
def text_forms():
    sync = "# sync 3 (exit from debug) at 0x100 <start> [message 1, byte 0x0]\n"
    stop = "# stop 0 (entry into debug) at 0x304 <right+0x4> [message 3, byte 0x6]\n"
    equal(decode().out, sync + "0x100..0x102 2 insns not-taken -> 0x106 <start+0x6>\n"
          "0x106..0x10a 2 insns taken -> 0x300 <right>\n"
          "0x300..0x300 1 insn cut -> 0x304 <right+0x4>\n" + stop, "span")
    equal(decode("--show", "branch").out, sync + "0x102 not-taken -> 0x106 <start+0x6>\n"
          "0x10a taken -> 0x300 <right>\n" + stop, "branch")
    equal(decode("--show", "call").out, sync + stop, "call")
    equal(decode("--show", "none").out, "", "none")


@case("instructions: address, opcode, disassembly, symbol")
def instructions():
    run = decode("--show", "insn")
    if "no disassembly" in run.err:
        matches("built without LLVM|no libLLVM found", run.err, "reason")
        skip("build-llvm")
    equal([" ".join(line.split()) for line in run.lines() if not line.startswith("#")],
          ["0x100 908a add ra, ra, sp <start>", "0x102 0e000f63 beqz zero, 0x200 <start+0x2>",
           "0x106 003100b3 add ra, sp, gp <start+0x6>", "0x10a 1e000b63 beqz zero, 0x300 <start+0xa>",
           "0x300 003100b3 add ra, sp, gp <right>"], "lines")
    rows = [json.loads(line) for line in decode("--show", "insn", "--format", "jsonl").lines()]
    equal(rows[1], {"src": 0, "address": "0x102", "opcode": "0e000f63", "text": "beqz zero, 0x200", "symbol": "start+0x2"},
          "JSON")
    table = list(csv.DictReader(io.StringIO(decode("--show", "insn", "--format", "csv").out)))
    equal([row["address"] for row in table], [f"0x{pc:x}" for pc in tiny.PCS], "CSV")
    equal(table[1]["text"], "beqz zero, 0x200", "CSV text")


@case("instructions as JSON lines show the context in which they were executed, also where they repeat")
def instruction_contexts():
    turn = tiny.START + "Ownership PROCESS=0x%x\nDirectBranch ICNT=3\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1\n"
    contexts = [number % 5 if number % 3 else number for number in range(1, 200)]  # more than are remembered
    stream = write("contexts.nex", bytes_of("".join(turn % (context << 5 | 2) for context in contexts)))
    rows = [json.loads(line) for line in Run("decode", stream, "-e", write("program.elf", tiny.elf()), "--show", "insn", "--format", "jsonl").lines()]
    shown = [int(row["scontext"], 16) for row in rows if row["address"] == "0x100"]
    equal(shown, contexts, "contexts")


@case("totals")
def totals():
    expected = {"instructions": 5, "halfwords": 9, "spans": 3, "branches": 2, "taken": 1, "calls": 0, "returns": 0,
                "exceptions": 0, "interrupts": 0, "gaps": 0, "messages": 3, "bytes": 9}
    equal(decode("--show", "count").out, "".join(f"{name} {value}\n" for name, value in expected.items()), "text")
    equal(json.loads(decode("--show", "count", "--format", "jsonl").out), expected, "JSON")


@case("events as JSON lines and CSV have the same values")
def events():
    rows = [json.loads(line) for line in decode("--show", "event").lines()]
    equal([row["kind"] for row in rows], ["sync", "span", "span", "span", "stop"], "kinds")
    equal(rows[2], {"kind": "span", "src": 0, "offset": 4, "message": 2, "address": "0x106", "last": "0x10a",
                    "instructions": 2, "halfwords": 4, "end": "taken", "target": "0x300"}, "span")
    table = list(csv.DictReader(io.StringIO(decode("--show", "event", "--format", "csv").out)))
    for row, cells in zip(rows, table):
        equal({name: str(value) for name, value in row.items()}, {k: v for k, v in cells.items() if v}, "CSV")


@case("a part: by message, byte and time")
def parts():
    equal(decode("--show", "pc", "--from", "3").out, "0x300\n", "from message 3")
    equal(decode("--show", "pc", "--until", "@0x4").out, "0x100\n0x102\n0x106\n0x10a\n", "to byte 4")
    timed = (tiny.START[:-1] + " TSTAMP=1000\nDirectBranch ICNT=7 TSTAMP=5\n"
             "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2 TSTAMP=5\n")
    equal(decode("--show", "pc", "--from", "t:1006", text=timed).out, "0x300\n", "from a time")
    equal(decode("--show", "pc", "--until", "t:1005", text=timed).out, "0x100\n0x102\n0x106\n0x10a\n", "to a time")


@case("sources: lines name them, --src keeps one")
def sources():
    text = "".join(line.replace(" ", f" SRC={n} ", 1) + "\n" for line in tiny.BTM.splitlines() for n in (1, 2))
    stream = write("two.nex", Run("assemble", "--src-bits", "2", "-", stdin=text.encode()).bytes)
    options = ["--src-bits", "2", "-e", program()]
    lines = Run("decode", stream, *options).lines()
    equal(len([line for line in lines if line.startswith("1: ")]), len(lines) // 2, "lines of source 1")
    one, two = (re.sub(r" \[.*\]", "", Run("decode", stream, *options, "--src", n).out) for n in (1, 2))
    equal(two, one, "one source")
    equal(one, re.sub(r" \[.*\]", "", decode().out), "as without SRC")
    equal(sorted(Run("decode", stream, *options, "--show", "pc").lines()), sorted(2 * PC_TEXT.split()), "both")
    split = os.path.join(scratch(), "part")
    Run("split", "--src-bits", "2", stream, "-o", split)
    equal(Run("decode", split + "-src1.nex", *options, "--show", "pc").out, PC_TEXT, "split")


@case("sources with timestamps are sorted by time")
def ordered():
    def lines(source, times):
        texts = [f"ProgTraceSync SRC={source} SYNC=3 ICNT=0 FADDR=0x80 TSTAMP={times[0]}", f"DirectBranch SRC={source} ICNT=7 TSTAMP={times[1]}",
                 f"ProgTraceCorrelation SRC={source} EVCODE=0 CDF=0 ICNT=2 TSTAMP=5"]
        return "\n".join(texts) + "\n"

    stream = write("times.nex", Run("assemble", "--src-bits", "1", "--timestamps", "-",
                                    stdin=(lines(0, (2000, 5)) + lines(1, (1000, 1003))).encode()).bytes)
    rows = Run("decode", stream, "--src-bits", "1", "--timestamps", "-e", program(), "--show", "event", "--format", "jsonl").lines()
    events = [(row["time"], row["src"]) for row in map(json.loads, rows) if row["kind"] == "span"]
    equal(events, sorted(events), "order of time")
    equal({source for _, source in events}, {0, 1}, "both sources")


@case("a gap covers the damaged part only, is reported in one line, and the status is 1")
def gaps():
    damaged = bytes_of(tiny.BTM) + bytes.fromhex("84800103") + bytes_of(tiny.HTM)
    path = write("damaged.nex", damaged)
    run = Run("decode", path, "-e", program(), "--dialect", "ntrace-1.0", "--show", "pc", status=1)
    equal(run.out, 2 * PC_TEXT, "what is sure")
    equal(len(run.err.splitlines()), 1, "lines")
    matches(r"^ntrace decode: \S+damaged.nex: byte 0x9, message #4 ProgTraceCorrelation, field CDF: expected .*, found",
            run.err, "words")
    equal(Run("decode", path, "-e", program(), "--show", "count", status=1).lines()[9], "gaps 1", "count")
    strict = Run("decode", path, "-e", program(), "--show", "pc", "--strict", status=1)
    equal(strict.out, PC_TEXT, "strict")
    matches(r"stopped at the first defect: message \d+ at byte \d+ \(\w+\)", strict.err, "strict")


@case("an interrupt directly after an indirect jump has an unknown address")
def interrupted_jump():
    image = ["--raw", write("jump", bytes.fromhex("8287")) + "@0x100"]  # c.jr a5
    path = trace(tiny.START + "IndirectBranch BTYPE=3 ICNT=1 UADDR=0x180\n")
    for output, lines in (("span", ["0x100..0x100 1 insn indirect-jump -> ?", "? 0 insns interrupt -> 0x200"]),
                          ("branch", ["0x100 indirect-jump -> ?", "? interrupt -> 0x200"]), ("call", ["? interrupt -> 0x200"])):
        shown = Run("decode", path, *image, "--show", output).lines()
        equal([line for line in shown if line[0] != "#"], lines, output)
    rows = Run("decode", path, *image, "--show", "span", "--format", "jsonl").rows()
    equal([(row.get("address"), row.get("target")) for row in rows if row["kind"] == "span"], [("0x100", None), (None, "0x200")], "JSON")


def says_doubtful(path, number):
    return (rf"(?m)^ntrace \w+: {re.escape(path)}: messages with a reserved TCODE or with bytes after their last field: {number}; "
            "the stream may be damaged, 'ntrace check' reports where$")


@case("surplus bytes of messages are reported, each time")
def surplus():
    start, turn, _ = tiny.TURNS.splitlines(keepends=True)
    long = bytes_of(turn)[:-1] + bytes.fromhex("0d0507")  # ICNT=3, TSTAMP=1, and one more field
    plain, path = write("turns.nex", bytes_of(start) + 2000 * bytes_of(turn)), write("surplus.nex", bytes_of(start) + 2000 * long)
    for command, *options in (("decode", "--show", "pc"), ("decode", "--show", "count"), ("decode", "--show", "pc", "-j2"),
                              ("decode", "--show", "count", "-j2"), ("profile",), ("coverage", "--level", "object"), ("profile", "--by", "line"), ("timeline",), ("report",)):
        run, without = (Run(command, name, "-e", program(), "--dialect", "ntrace-1.0", *options) for name in (path, plain))
        matches(says_doubtful(path, 2000), run.err, f"{command} {options}")
        equal(len(run.err.splitlines()), len(without.err.splitlines()) + 1, f"{command} {options}: lines")
        if "pc" in options:
            equal(run.out, without.out, "flow does not mind")


@case("reserved TCODEs are reported, because messages near them may be lost")
def reserved():
    start, *rest = tiny.BTM.splitlines(keepends=True)
    path = write("reserved.nex", bytes_of(start) + 3 * bytes.fromhex("0407") + bytes_of("".join(rest)) + bytes.fromhex("e003"))
    said = says_doubtful(path, 3)
    for command, *options in (("decode", "--show", "pc"), ("decode", "--show", "count"), ("decode", "-j2"), ("stat",),
                              ("profile",), ("flame", "--to", "folded")):
        run = Run(command, path, "-e", program(), *options)
        equal(len(run.err.splitlines()), 1, f"{command} {options}: lines")
        matches(said, run.err, f"{command} {options}")
        if "pc" in options:
            equal(run.out, PC_TEXT, "flow does not mind")
    run = Run("diff", path, trace(tiny.BTM), "-e", program())
    equal(len(run.err.splitlines()), 1, "diff: lines")
    matches(said, run.err, "diff")


DATA = (tiny.START + "DataWriteSync DSZ=4 ELSZ=0 DADDR=0x302 DDATA=0x2a\nDataRead DSZ=8 ELSZ=0 DADDR=0x6302 DDATA=0x7\n"
        "DataRead DSZ=2 ELSZ=0 DADDR=0x6000 DDATA=0x1\nWatchpoint WPHIT=0x5\nDirectBranch ICNT=7\n"
        "Error ETYPE=0 ECODE=0x2\nDataRead DSZ=1 ELSZ=0 DADDR=0x1 DDATA=0x9\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=2\n")


@case("loads and stores by symbol, by page, and without an address")
def data_profile():
    path = write("data.nex", bytes_of(DATA, "--dialect", "nexus-data"))
    options = ("--by", "data", "--dialect", "nexus-data", path, "-e", program())
    equal(Run("profile", *options, "--format", "csv").lines(),
          ["loads,stores,bytes_loaded,bytes_stored,address,symbol", "0,1,0,4,0x300,right", "1,0,8,0,0x6000,", "1,0,2,0,0x0,", "1,0,1,0,,"],
          "CSV")
    text = Run("profile", *options, "--top", "1").out
    matches(r"(?s)^# 4 loads and stores\n.*  right\n# and 3 more rows", text, "text")
    matches("no loads and stores", Run("profile", "--by", "data", trace(tiny.BTM), "-e", program(), status=1).err, "without data messages")
    matches("cannot be combined", Run("profile", *options, "--sort", "calls", status=2).err, "refused")
    part = os.path.join(scratch(), "data.part")
    Run("profile", *options, "--partial", part)
    equal(Run("combine", part, "profile", *options[:4]).out, Run("profile", *options).out, "partial answer")


@case("loads, stores and watchpoints are moments of the timeline")
def data_timeline():
    need("protoc")
    if "perfetto" not in Run("timeline", "--to", "list").out:
        skip("build-perfetto")
    path, written = write("data.nex", bytes_of(DATA, "--dialect", "nexus-data")), os.path.join(scratch(), "data.pftrace")
    Run("timeline", "--dialect", "nexus-data", path, "-e", program(), "-o", written)
    schema = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "src", "export")
    with open(written, "rb") as file:
        text = subprocess.run(["protoc", "--decode=ntr.perfetto.Trace", "-I", schema, "perfetto.proto"], stdin=file,
                              stdout=subprocess.PIPE, text=True, check=True).stdout
    moments = [(int(time), name) for time, name in re.findall(r'timestamp: (\d+)[^}]*?type: 3[^}]*?name: "([^"]*)"', text)]
    equal(moments, [(0, "write right+0x2: 0x2a (4 bytes)"), (0, "read 0x6000: 0x7 (8 bytes)"), (0, "read 0x0: 0x1 (2 bytes)"),
                    (4, "read ?: 0x9 (1 bytes)"), (0, "watchpoints 0x5")], "moments")
    for name in ("hart 0 loads and stores", "hart 0 watchpoints"):
        equal(text.count(f'name: "{name}"'), 1, name)


@case("an address outside every image")
def no_image():
    run = decode("--show", "pc", text=tiny.BTM.replace("0x80", "0x8000"), status=1)
    matches(r"message #2 DirectBranch: no program image at this address; execution unknown after 0x10000", run.err, "words")
    equal(run.out, "", "output")


@case("a bundle without its image is decoded with -e; without -e the missing image is named")
def image_missing():
    folder = os.path.join(scratch(), "bare.ntrace")
    os.makedirs(folder)
    with open(os.path.join(folder, "capture.json"), "w", encoding="ascii") as file:
        json.dump({"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {},
                   "images": [{"kind": "elf", "file": "images/gone"}, {"kind": "raw", "file": "image", "bias": "0x100"}]}, file)
    shutil.copy(trace(), folder)
    missing = "No such file or directory; its code will be missing unless -e specifies the file"
    run = Run("decode", folder, "-e", program(), "--show", "pc")
    matches(missing, run.err, "both are missing")
    equal(run.out, PC_TEXT, "-e brings it")
    shutil.copy(write("image", tiny.image()), folder)
    run = Run("decode", folder, "--show", "pc", status=1)
    matches("images/gone: " + missing, run.err, "one is missing")
    equal(run.out, PC_TEXT, "the other one is there")
    for command in "stat", "check", "profile":  # also where no code is needed
        matches("images/gone: " + missing, Run(command, folder, status=1).err, command)


@case("programs that cannot be used")
def programs():
    stream = trace()
    for options, words in [
        ([], "no program: specify its ELF file with -e"),
        (["-e", "/nonexistent"], "/nonexistent: No such file or directory"),
        (["-e", write("x86.elf", tiny.elf(machine=62))], "x86.elf: expected a program (ELF for RISC-V), found a program (ELF for x86-64)"),
        (["-e", stream], "not an ELF file"),
        (["-e", program() + ":ctx=x"], "expected a number after ':ctx=', found 'x'"),
        (["-e", program() + ":prv=X:ctx=1"], "expected U, S or M after ':prv=', found 'X'"),
        (["-e", program() + ":v=1"], ":v=1 requires :prv=U or :prv=S"),
        (["-e", program() + ":until=0"], "expected a byte offset above 0 after ':until=', found '0'"),
        (["--jitdump", program()], "not a jitdump"),
        (["--perf-map", write("no.map", b"this is no map\n9000 8 name\n")], "no.map"),
        (["--raw", program()], "expected FILE@ADDR, found no address"),
    ]:
        run = Run("decode", stream, *options, status=2)
        check(words in run.err, f"{options}: {run.err}")
        equal(run.out, "", "output")


@case("images bound to contexts and privilege: a kernel, two processes at the same addresses, one on both harts")
def operating_system():
    one = write("one.bin", tiny.image()) + "@0x100:ctx=5:prv=U"
    two = write("two.bin", bytes.fromhex("0100") * 8) + "@0x100:ctx=7:prv=U"      # c.nop
    kernel = write("kernel.bin", bytes.fromhex("8a9073002010")) + "@0x1000:prv=S"  # c.add, sret
    user = write("user.bin", bytes.fromhex("0100") * 4) + "@0x1000:prv=U"  # where the kernel is, for S
    module = write("module.bin", bytes.fromhex("0100") * 4) + "@0x1100:prv=S"
    text = """\
ProgTraceSync SRC=0 SYNC=3 ICNT=0 FADDR=0x80
Ownership SRC=0 PROCESS=0xa2
DirectBranch SRC=0 ICNT=3
IndirectBranch SRC=0 BTYPE=2 ICNT=1 UADDR=0x880
Ownership SRC=0 PROCESS=0x4
ProgTraceSync SRC=1 SYNC=3 ICNT=0 FADDR=0x80
Ownership SRC=1 PROCESS=0xa2
DirectBranch SRC=1 ICNT=7
IndirectBranch SRC=0 BTYPE=0 ICNT=3 UADDR=0x880
Ownership SRC=0 PROCESS=0xe2
IndirectBranch SRC=0 BTYPE=3 ICNT=2 UADDR=0x800
Ownership SRC=0 PROCESS=0x4
ProgTraceCorrelation SRC=0 EVCODE=4 CDF=0 ICNT=2
ProgTraceCorrelation SRC=1 EVCODE=4 CDF=0 ICNT=2
"""
    stream = write("os.nex", Run("assemble", "--src-bits", "1", "-", stdin=text.encode()).bytes)
    options = [stream, "--src-bits", "1", "--raw", one, "--raw", two, "--raw", kernel, "--raw", module, "--raw", user, "--show", "pc"]
    equal(Run("decode", *options, "--src", "0").out.split(), "0x100 0x102 0x200 0x1000 0x1002 0x100 0x102 0x1100 0x1102".split(), "hart 0")
    equal(Run("decode", *options, "--src", "1").out.split(), "0x100 0x102 0x106 0x10a 0x300".split(), "hart 1")
    equal(Run("decode", stream, "--src-bits", "1", "--raw", one, "--show", "pc", "--src", "0", status=1).out.split(),
          "0x100 0x102 0x200".split(), "without the kernel")


@case("the name of an address depends on the process")
def names_by_context():
    images = []
    for number, name in ((5, "first"), (7, "second")):
        images += ["-e", write(name + ".elf", tiny.elf(symbols=(("start", 0x100, 0x16), (name, 0x200, 4)))) + f":ctx={number}"]
    turn = tiny.START + "Ownership PROCESS=0x%x\nDirectBranch ICNT=3\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1\n"
    stream = write("turns.nex", bytes_of("".join(turn % process for process in (0xa2, 0xe2, 0xe2, 0xa2))))
    for jobs in ("1", "2"):
        found = re.findall("0x200 <(.*?)>", Run("decode", "-j", jobs, *images, stream, "--show", "branch").out)
        equal([name for name in found if "+" not in name], ["first", "second", "second", "first"], f"-j {jobs}")
        found = re.findall("0x200 <(.*?)>", Run("decode", "-j", jobs, *images, stream, "--show", "branch", "--from", "15").out)
        equal(found[:1], ["first"], f"-j {jobs}, the window begins behind the Ownership message")


@case("code generated at run time: jitdump (bytes, names), perf map (names), :from and :until (validity)")
def made_at_run_time():
    code, name = bytes.fromhex("0100") * 4, b"jitted\0"
    load = struct.pack("<IIQQQQ", 1, 1, 0x9000, 0x9000, len(code), 1) + name + code
    load = struct.pack("<IIQQ", 0, 24 + len(load) - 8, 1, 0)[:16] + load
    dump = struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 243, 0, 9, 0, 0) + load
    text = "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x4800\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=3\n"
    stream = write("jit.nex", bytes_of(text * 2))
    run = Run("decode", stream, "--jitdump", write("jit.dump", dump), "--show", "insn")
    equal(sum("jitted" in line for line in run.lines() if line[0] != "#"), 6, "names in " + run.out)
    names = write("perf-9.map", b"9000 8 mapped by hand\n")
    run = Run("decode", stream, "--raw", write("jit.bin", code) + "@0x9000", "--perf-map", names, "--show", "insn")
    equal(sum("mapped by hand" in line for line in run.lines() if line[0] != "#"), 6, "names in " + run.out)
    second = len(bytes_of(text))
    run = Run("decode", stream, "--raw", f"{write('jit.bin', code)}@0x9000:from={second}", "--show", "pc", status=1)
    equal(run.out.split(), ["0x9000", "0x9002", "0x9004"], "the second run alone")


@case("text is the same whether it is made or copied: thousands of spans, short and long, twice")
def repeated_code():
    generator = random.Random(19)
    spans = [(generator.randrange(0x800) * 0x200, generator.choice((1, 2, 5, 11, 12, 1500, 1500, 2500))) for _ in range(1500)] * 2
    messages = "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x%x\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=%d\n"
    stream = write("nops.nex", bytes_of("".join(messages % (start // 2, count) for start, count in spans)))
    image = write("nops", b"\1\0" * 0x90000) + "@0"
    expected = "".join(f"0x{start + 2 * n:x}\n" for start, count in spans for n in range(count))
    lines = [f"0x{a:x}..0x{a + 2 * n - 2:x} {n} insn{'s' * (n != 1)} cut -> 0x{a + 2 * n:x}" for a, n in spans]
    for jobs in ("1", "2"):
        options = ["-j", jobs, stream, "--raw", image, "--show"]
        check(Run("decode", *options, "pc").out == expected, f"pc, -j {jobs}")
        found = [line for line in Run("decode", *options, "span").lines() if line[0] != "#"]
        check(found == lines, f"span, -j {jobs}")
    name = "n" * 200
    elf = write("long.elf", tiny.elf(symbols=(("start", 0x100, 0x16), (name, 0x300, 4))))
    found = re.findall("-> 0x300 <(.*)>", Run("decode", write("loop.nex", bytes_of(tiny.BTM) * 3), "-e", elf).out)
    equal(found, [name] * 3, "a long name")


@case("in-circuit trace and channel text need no program")
def without_program():
    stream = write("itc.nex", bytes.fromhex("1C01205418 6CB007 1C0984A3 1C0D2B"))
    equal(Run("decode", "--dialect", "sifive-pre1.0", "--show", "itc", stream).out, "Hell!\n\n", "text")
    equal(Run("decode", "--dialect", "sifive-pre1.0", "--show", "itc", "--channel", "3", stream).out, "", "other channel")


@case("--auto infers parameters, reports them, does not change given ones, and is refused by assemble")
def automatic():
    stream = write("auto.nex", Run("encode", "-e", program(), "--pc", "-", "--src-bits", 4, "--src-id", 9, "--timestamps",
                                   stdin=PC_TEXT.encode()).bytes)
    run = Run("decode", "--auto", "--src-bits", 4, stream, "-e", program(), "--show", "pc")
    equal(run.out, PC_TEXT, "program counters")
    matches(r"^ntrace decode: \S*auto.nex: auto: --timestamps \((sure|likely)\), mode htm; -v prints the reasons\n$", run.err, "what was found")
    reasons = Run("decode", "--auto", "-v", "--src-bits", 4, stream, "-e", program(), "--show", "pc").err
    matches(r"auto.nex: auto: timestamps on, (sure|likely): ", reasons, "reasons")
    check("src-bits" not in run.err, "what was given is not looked for")
    lines = Run("dump", "--auto", "--src-bits", 4, "-", stdin=open(stream, "rb").read()).lines()
    matches("#1 @0x0 ProgTraceSync SRC=9 .* TSTAMP=", lines[0], "dump from a pipe")
    pcs = PC_TEXT * 40
    stream = write("auto.nex", Run("encode", "-e", program(), "--pc", "-", "--src-bits", 4, "--src-id", 9, "--timestamps",
                                   stdin=pcs.encode()).bytes)
    untold = Run("decode", stream, "-e", program(), "--show", "pc")
    equal(untold.out, pcs, "without any parameter, the stream is inspected")
    matches(r"auto.nex: assumed from the stream: .*--src-bits 4 \((sure|likely)\)", untold.err, "one line says what was assumed")
    equal(untold.err.count("\n"), 1, "lines of messages")
    call = b"".join(word.to_bytes(4, "little") for word in (0x010000ef, 0x00c50533, 0x00c50533, 0x00c50533, 0x00c50533, 0x00008067))
    messages = b"ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=8\n" * 40
    returning = write("return.nex", Run("assemble", "-", stdin=messages).bytes)
    untold = Run("decode", returning, "--raw", write("call.bin", call) + "@0x100", "--show", "pc")
    equal(untold.out.split(), ["0x100", "0x110", "0x114", "0x104"] * 40, "returns without a message")
    matches(r"--implicit-return full \((sure|likely)\), a return stack as deep as needed \(assumed\)", untold.err, "assumed depth")
    given = Run("decode", stream, "-e", program(), "--src-bits", 1, "--show", "count", status=1)
    check("assumed" not in given.err and "--auto" not in given.err, "a given parameter is taken as it is")


@case("capture files of producers' tools are recognized, and options prevail")
def containers():
    stream = Run("encode", "-e", program(), "--pc", "-", "--src-bits", 6, "--src-id", 5, stdin=PC_TEXT.encode()).bytes
    header = bytes([6, 0, 64, 1])
    capture = write("andes.bin", header + stream)
    run = Run("decode", capture, "-e", program(), "--show", "pc")
    equal(run.out, PC_TEXT, "program counters")
    matches("andes.bin: Andes capture file: 64-bit addresses", run.err, "what it is")
    matches("^container .*Andes capture file", Run("stat", capture).out, "stat")
    words = header + stream + b"\xff" * (-len(stream) % 4)
    text = "".join("%08x\n" % int.from_bytes(words[i:i + 4], "little") for i in range(0, len(words), 4))
    equal(Run("decode", write("andes.log", text.encode()), "-e", program(), "--show", "pc").out, PC_TEXT, "text twin")
    equal(Run("decode", "-", "-e", program(), "--show", "pc", stdin=text.encode()).out, PC_TEXT, "text twin from a pipe")
    said = Run("decode", capture, "-e", program(), "--src-bits", 2, "--show", "none", status=1).err
    matches("the header says src-bits 6, the option says 2; the option is used", said, "contradiction")
    check("Andes" not in Run("dump", "--plain", capture, status=1).err, "--plain")
    matches("header: a value has the wrong length",
            Run("dump", write("bad.bin", bytes([10, 0, 0, 2, 1, 2, 6, 0, 2, 1, 0, 3, 1]) + stream), status=2).err, "refused")
    matches("parameters cannot be inferred from it", Run("assemble", "--auto", "-", status=2).err, "assemble")


@case("damaged streams do not crash the decoder: 100 seeds, every output")
def random_streams():
    outputs = ["pc", "insn", "branch", "span", "call", "count", "itc", "event", "none"]
    sound = bytes_of(tiny.BTM + tiny.HTM)
    for seed in range(100):
        generator = random.Random(seed)
        data = bytearray(sound * 3)
        for _ in range(generator.randrange(1, 6)):
            data[generator.randrange(len(data))] = generator.randrange(256)
        if seed % 3 == 0:
            data = generator.randbytes(200)
        run = Run("decode", "-", "-e", program(), "--show", outputs[seed % 9], "--dialect",
                  generator.choice(["ntrace-1.0", "sifive-pre1.0", "refcode"]), stdin=bytes(data), status=None)
        check(run.status in (0, 1), f"seed {seed}: status {run.status}: {run.err}")
        check(run.status == 0 or "byte 0x" in run.err or "gaps" in run.err, f"seed {seed}: {run.err}")


NOTHING = "nothing was decoded, because no synchronizing message was found"
READERS = (*(("decode", "--show", show) for show in ("pc", "insn", "branch", "span", "call", "count", "event", "none")), ("profile",),
           ("coverage", "--format", "json"), ("flame",), ("timeline", "-o", "timeline"), ("report",), ("stat",))


@case("a stream with messages, but none to begin at: every command says that nothing was decoded, status 1")
def no_sync():
    texts = {"ends": "ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=4\n", "owner": "Ownership PROCESS=0x2\n", "branch": "DirectBranch ICNT=3\n",
             "vendor": "Vendor56 DATA=0x1:6\n", "all": "Ownership PROCESS=0x2\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=4\nDirectBranch ICNT=3\n"}
    for name, text in texts.items():
        stream = write(f"{name}.nex", bytes_of(text))
        bundle = os.path.join(scratch(), f"{name}.ntrace")
        os.makedirs(bundle)
        shutil.copy(stream, os.path.join(bundle, "trace.nex"))
        with open(os.path.join(bundle, "capture.json"), "w") as file:
            json.dump({"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {}, "begins_inside": True}, file)
        for command in READERS if name == "ends" else READERS[:1] + READERS[5:7] + READERS[8:9]:
            for path in (stream, bundle):
                run = Run(*command, path, "-e", program(), status=1, cwd=scratch())
                if "count" not in command and command != ("stat",): # these count gaps
                    matches(NOTHING, run.err + run.out, f"{command} {path}")
                else:
                    matches("1 gaps", run.err, f"{command} {path}")
    first = json.loads(decode("--show", "event", text=texts["all"], status=1).lines()[-1])
    equal((first["kind"], first["name"], first["message"], first["until_message"]), ("gap", "NTR_E_NO_SYNC", 3, 4), "the gap")


@case("a stream of instrumentation or data alone is whole, and one that synchronizes late has no other gap than before")
def no_sync_needed():
    for show in ("event", "data", "count"):
        found = Run("decode", write("data.nex", bytes.fromhex("1c0984a3")), "-e", program(), "--dialect", "sifive-pre1.0", "--show", show).out
        check(show == "count" or "a21" in found, found)
    late = decode("--show", "pc", text="Ownership PROCESS=0x2\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0\n" + tiny.BTM)
    equal(late.out, PC_TEXT, "program counters")


@case("a closed pipe is not an error")
def closed_pipe():
    path = write("loop.nex", bytes_of(tiny.BTM) * 20000)
    done = subprocess.run(["bash", "-c", '"$@" | head -2; echo ${PIPESTATUS[0]}', "bash", NTRACE, "decode", path, "-e", program(),
                           "--show", "pc"], text=True, capture_output=True)
    equal(done.stdout, "0x100\n0x102\n0\n", "output and status")
    equal(done.stderr, "", "standard error")


if __name__ == "__main__":
    OVERLAYS = os.path.join(TESTS, "corpus", "overlays", "overlays")


@case("segments that overlap: a warning that names both, and a choice")
def overlays():
    def insns(binding, status):
        run = Run("decode", f"{OVERLAYS}.nex", "-e", f"{OVERLAYS}.elf{binding}", "--show", "insn", status=status)
        return re.findall(r"(?m)^0x2\w+ +\w+ +(\w+).*<(\w+)", run.out), run.err

    first, second = [("nop", "o1"), ("nop", "o1"), ("ret", "o1")], [("beqz", "o2"), ("nop", "o2"), ("ret", "o2")]
    found, err = insns("", 1)
    if "no disassembly" in err:
        skip("build-llvm")
    equal(found, second, "the later segment")
    matches("program headers 2 and 3.* 0x20000; .*segment=N", err, "the warning")
    equal(insns(":segment=2", 0), (first, ""), "the first segment")
    equal(insns(":segment=3", 0), (second, ""), "the second segment")
    matches("program header 9: expected", insns(":segment=9", 2)[1], "a segment that the file does not have")


main()
