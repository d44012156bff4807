#!/usr/bin/env python3
"""An input of another kind than a command takes is named, with what to do with it; the status is 2. So are windows, options
and runs that cannot have a result.

usage: recognized.py NTRACE
"""
import bz2
import gzip
import io
import json
import lzma
import os
import re
import pty
import struct
import subprocess
import sys
import tarfile
import zipfile

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import NTRACE, Run, bytes_of, case, check, equal, main, matches, need, scratch, write

STREAM = tiny.BTM * 3


def elf(kind=2, machine=243):
    data = bytearray(tiny.elf())
    data[16:20] = struct.pack("<HH", kind, machine)
    return bytes(data)


def archive():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("x"))
    return out.getvalue()


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("x", "y")
    return out.getvalue()


DUMP = "#1 @0x0 ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n#2 @0x4 DirectBranch ICNT=3\n"
KINDS = [  # name, bytes, how the message goes on behind "found "
    ("hello", elf(), "a program (ELF for RISC-V); 'ntrace run PATH' traces it"),
    ("true", elf(machine=62), "a program (ELF for x86-64); ntrace reads programs for RISC-V"),
    ("core", elf(kind=4), "a core file (ELF for RISC-V); a core file is the memory of a process and has no trace; "
                          "'ntrace run PROGRAM' makes one"),
    ("x.o", elf(kind=1), "an object file (ELF for RISC-V); link it first; a program that was linked is traced by 'ntrace run'"),
    ("x.gz", gzip.compress(b"x"), "a file compressed by gzip; 'gzip -dc PATH' unpacks it: ntrace reads streams packed by zstd"),
    ("x.xz", lzma.compress(b"x"), "a file compressed by xz; 'xz -dc PATH' unpacks it: ntrace reads streams packed by zstd"),
    ("x.bz2", bz2.compress(b"x"), "a file compressed by bzip2; 'bzip2 -dc PATH' unpacks it: ntrace reads streams packed by zstd"),
    ("x.zip", zipped(), "a zip archive; 'unzip PATH' unpacks it"),
    ("x.tar", archive(), "a tar archive; 'tar xf PATH' unpacks it"),
    ("x.pcap", struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1), "a capture of network packets (pcap); "
     "write the payload that has the trace to a file; of a TCP port, 'ntrace decode -f tcp:HOST:PORT' reads it live"),
    ("x.pcapng", b"\n\r\r\n" + bytes(28), "a capture of network packets (pcapng); write the payload that has the trace to a file"),
    ("x.vcd", b"$date today $end\n$timescale 1ns $end\n", "a value change dump (VCD); 'ntrace convert --vcd-in' reads the "
     "wires of a trace in it"),
    ("dump.txt", DUMP.encode(), "the text of messages ('ntrace dump'); 'ntrace assemble PATH' makes the stream of it"),
    ("x.json", b'{"a": [1, 2, 3], "b": 4}\n', "text (JSON)"),
    ("x.csv", b"name,count\nmain,1\nwork,20\n", "text (CSV)"),
    ("x.pc", b"0x80000000\n0x80000004\n", "a list of numbers, perhaps program counters; 'ntrace encode' makes a trace of program counters"),
    ("x.c", b"int main(void) { return 0; }\n", "text"),
    ("spike.log", b"core   0: 0x00001000 (0x00000297) auipc t0, 0x0\n", "a log of Spike; 'ntrace encode PATH' makes a trace of it"),
    ("u16.c", "int main(void) { return 0; }\n".encode("utf-16"), "text (UTF-16)"),
    ("x.db", b"SQLite format 3\0" + bytes(84), "a database of SQLite; 'sqlite3 PATH' reads it"),
    ("x.html", b"<!DOCTYPE html><title>report</title>\n", "a page (HTML); a browser shows it"),
    ("x.pdf", b"%PDF-1.7\n" + bytes(32), "a PDF"),
    ("x.lcov", b"TN:\nSF:/x.c\nend_of_record\n", "coverage data (lcov); 'genhtml PATH' shows it"),
    ("x.pftrace", b"".join(b"\n" + bytes([n, 0x10, 1]) + bytes(n - 2) for n in (4, 60, 30)), "a trace for Perfetto; ui.perfetto.dev opens it"),
    ("x.ctf", struct.pack("<I", 0xc1fc1fc1) + bytes(60), "a stream of the Common Trace Format; babeltrace2 reads the folder that has it"),
    ("gmon.out", b"gmon" + struct.pack("<I", 1) + bytes(12), "counts for gprof (gmon.out)"),
    ("x.gcda", struct.pack("<I", 0x67636461) + b"*21B" + bytes(8), "counts for gcov (.gcda)"),
    ("x.gcno", struct.pack("<I", 0x67636e6f) + b"*21B" + bytes(8), "a graph for gcov (.gcno)"),
    ("x.profraw", struct.pack("<Q", 0xff6c70726f667281) + bytes(64), "counts for llvm-profdata (.profraw)"),
    ("x.profdata", struct.pack("<Q", 0x8169666f72706cff) + bytes(64), "counts for llvm-cov (.profdata)"),
    ("x.class", b"\xca\xfe\xba\xbe\0\0\0\x3d" + bytes(32), "a class of Java or a program of macOS (Mach-O)"),
    ("x.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(32), "an image (JPEG)"),
    ("empty", b"", "an empty file"),
]


def error(*arguments, **more):
    lines = Run(*arguments, status=2, **more).err.splitlines()
    check(lines, f"{arguments}: a message")
    return lines[-1].split(": ", 1)[1]


for name, data, found in KINDS:
    @case(f"a trace is expected, and found {found.split(';')[0]}", name, data, found)
    def no_trace(name, data, found):
        path = write(name, data)
        equal(error("decode", path, "-e", write("tiny.elf", tiny.elf())), f"{path}: expected a trace, found {found.replace('PATH', path)}", name)


@case("a trace that begins in the middle of a message with the first bytes of another kind is a trace")
def only_begins():
    for start in (b"MZ", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b\x03", b"BZh"):
        path = write("middle.nex", start + bytes_of(tiny.HTM) * 40)
        matches(rf"^ntrace dump: {path}: byte 0x[0-9], message #1", Run("dump", path, status=1).err, repr(start))
    matches("a kernel image or a program of Windows", error("dump", write("Image", b"MZ" + bytes(46) + b"RISCV\0\0\0" + bytes(64))), "a kernel")


@case("a partial answer, where a command takes none")
def partial():
    path = write("x.part", b"NTRACEPA\1\1\x0f" + bytes(40))
    for command in (["dump"], ["stat"], ["check"], ["gdb"], ["convert", "--to", "raw"]):
        equal(error(*command, path), f"{path}: expected a trace, found a partial answer; the command that wrote it reads it, and 'ntrace combine {path} ...'",
              command[0])


@case("the address of a stream, without --follow")
def address():
    for command in (["dump"], ["stat"], ["profile"]):
        equal(error(*command, "tcp:localhost:1"), "tcp:localhost:1: expected a file or a bundle, found the address of a stream; "
              "'ntrace decode -f tcp:localhost:1' reads it while it comes", command[0])


@case("every command that takes a trace says so")
def every_command():
    path = write("hello", elf())
    for command in (["dump"], ["stat"], ["check"], ["profile"], ["coverage"], ["flame"], ["timeline", "--to", "perfetto"], ["report"],
                    ["export", "--to", "callgrind"], ["gdb"], ["split", "-o", path + ".x"], ["diff", path]):
        matches("hello: expected a trace, found a program", error(*command, path), command[0])
    matches("hello: expected a trace, found a program", error("merge", path, path, "-o", path + ".y"), "merge")
    matches("expected a trace, found a program", error("dump", "-", stdin=elf()), "standard input")
    matches("expected a trace, found a program", error("convert", "--input-format", "swt-uart", path, "-o", path + ".y"), "convert")


@case("convert: bytes that are no messages are said, with status 1; a recording may begin inside of one")
def no_messages():
    whole = bytes_of(STREAM) * 3
    for words in ([], ["--input-format", "raw"]):
        for to in ("raw", "coresight", "pib4", "mdo14"):
            path = write("zeros", bytes(3000))
            matches(r"zeros: expected N-Trace messages, found 1 piece that is none beside 0 messages, the first at byte 0x0 of the stream\n",
                    Run("convert", *words, "--to", to, path, "-o", path + ".y", status=1).err, f"{words} {to}")
            path = write("whole", whole)
            equal(Run("convert", *words, "--to", to, path, "-o", path + ".y").err, "", f"{words} {to}")
    path = write("middle", whole[1:])
    matches("middle: expected N-Trace messages, found 1 piece", Run("convert", "--to", "raw", path, "-o", path + ".y", status=1).err, "begins inside")
    equal(Run("convert", "--to", "raw", "--cut", path, "-o", path + ".y").err, "", "--cut")
    frames = write("frames", Run("convert", "--to", "coresight", "--trace-id", "0x11", write("zeros", bytes(3000)), status=1).bytes)
    matches(r"frames: trace ID 0x..: expected N-Trace messages, found none\n", Run("convert", "--input-format", "coresight", frames, "--to", "raw", status=1).err, "frames")


@case("a program is expected, and found a trace, a text, a folder, a program for another processor")
def no_program():
    trace = write("t.nex", bytes_of(STREAM))
    for name, data, found in (
            ("t2.nex", bytes_of(STREAM), "a stream of N-Trace messages; the operand TRACE takes it, and -e the program that ran"),
            ("x.c", b"int main(void) { return 0; }\n", "text"), ("true", elf(machine=62), "a program (ELF for x86-64); ntrace reads programs for RISC-V"),
            ("core", elf(kind=4), "a core file (ELF for RISC-V); a core file is the memory of a process and has no trace; 'ntrace run PROGRAM' makes one")):
        path = write(name, data)
        equal(error("decode", trace, "-e", path), f"-e {path}: expected a program (ELF for RISC-V), found {found}", name)
    equal(error("decode", trace, "-e", scratch()), f"-e {scratch()}: expected a program (ELF for RISC-V), found a directory", "folder")


@case("operands that are swapped")
def swapped():
    trace, program = write("t.nex", bytes_of(STREAM)), write("hello", elf())
    equal(error("profile", program, "-e", trace), f"{program}: expected a trace, found a program (ELF for RISC-V), and -e {trace} is a stream of "
          f"N-Trace messages: they are swapped; 'ntrace decode {trace} -e {program}' reads them", "message")
    for operands in (trace, program), (program, trace):
        equal(error("profile", *operands), f"unexpected operand '{program}': it is a program (ELF); 'ntrace profile {trace} -e {program}' takes it as one", "two")
    equal(error("profile", trace, trace), f"unexpected operand '{trace}'; usage: ntrace profile [OPTION]... TRACE", "two traces")


@case("files of a bundle: the bundle is named")
def of_bundle():
    folder = os.path.join(scratch(), "b.ntrace")
    os.makedirs(os.path.join(folder, "images"), exist_ok=True)
    with open(os.path.join(folder, "capture.json"), "w", encoding="ascii") as file:
        file.write('{"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {}}')
    with open(os.path.join(folder, "images", "hello"), "wb") as file:
        file.write(elf())
    equal(error("convert", folder), f"{folder}: expected a stream, found a bundle; its file capture.json names the stream in it (trace.nex)", "convert")
    next_step = f"it is a file of the bundle {folder}: 'ntrace decode {folder}' reads the bundle"
    for name, what in (("capture.json", "the description of a bundle"), ("images/hello", "a program (ELF for RISC-V)")):
        path = os.path.join(folder, name)
        equal(error("stat", path), f"{path}: expected a trace, found {what}; {next_step}", name)


@case("text is expected, and found something else")
def no_text():
    program = write("hello", elf())
    for arguments, what in ((["assemble"], "the text of messages"), (["encode", "-e", program, "--pc"], "a list of program counters"),
                            (["encode", "-e", program, "--ingress"], "ingress records")):
        equal(error(*arguments, program), f"{program}: expected {what}, found a program (ELF for RISC-V); 'ntrace run {program}' traces it", arguments[0])


@case("a window of time needs a trace with time")
def windows():
    trace, program = write("t.nex", bytes_of(STREAM)), write("tiny.elf", tiny.elf())
    for command in (["decode", "-e", program], ["profile", "-e", program], ["dump"], ["stat"], ["diff", "-e", program, trace]):
        equal(error(*command, trace, "--from", "t:5"), f"{trace}: t:5: the trace has no time: no message has a TSTAMP; expected N (message) or @N (byte)", command[0])


@case("run: a trace is no program, options of machines need one, and nothing traced is no success")
def runs():
    trace = write("t.nex", bytes_of(STREAM))
    equal(error("run", trace), f"{trace}: expected a program, found a stream of N-Trace messages; 'ntrace decode {trace}' reads it", "a trace")
    for name, data, found in ("p.c", b"int main(void) { return 0; }\n", "text"), ("p.gz", gzip.compress(b"x"), "a file compressed by gzip; 'gzip -dc PATH' unpacks it"):
        path = write(name, data)
        matches("^" + re.escape(f"{path}: expected a program, found {found.replace('PATH', path)}"), error("run", path), name)
    for option in (["--kernel", "x"], ["--harts", "2"], ["--memory", "1G"], ["--for", "1s"]):
        equal(error("run", *option, "./hello"), f"{option[0]}: only for machines; --machine virt runs one, and the operand is then its firmware", option[0])


@case("run: --start-at that is not reached, and a missing dynamic linker: status 2, and --sysroot is named")
def nothing_traced():
    need("qemu-riscv64")
    source = write("p.c", b"int main(void) { return 0; }\n")
    for name, options in (("static", ["-static"]), ("dynamic", [])):
        subprocess.run([need("riscv64-linux-gnu-gcc"), *options, "-o", os.path.join(scratch(), name), source], check=True)
    bundle = os.path.join(scratch(), "n.ntrace")
    equal(error("run", "--start-at", "nosuch", "-o", bundle, "--", os.path.join(scratch(), "static")),
          f"{bundle}: nothing was traced: tracing began at no place that was reached (--start-at, --skip)", "start")
    equal(error("run", "-L", "/nowhere", "-o", bundle, "--", os.path.join(scratch(), "dynamic")),
          f"{bundle}: nothing was traced: the program executed no instruction; if its dynamic linker was not found, --sysroot names the "
          "folder that has its libraries", "linker")


@case("boot on the trace of a program in user mode")
def no_boot():
    need("qemu-riscv64")
    source = write("p.c", b"int main(void) { return 0; }\n")
    program, bundle = os.path.join(scratch(), "booted"), os.path.join(scratch(), "booted.ntrace")
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-static", "-o", program, source], check=True)
    Run("run", "-q", "-o", bundle, "--", program)
    equal(error("profile", "--by", "boot-phase", bundle), f"{bundle}: expected the trace of a machine that boots, found that of a program in user mode; "
          f"'ntrace profile {bundle}' shows its functions", "message")


def on_terminal(*arguments):
    """Status and standard error of a command whose standard output is a terminal."""
    master, slave = pty.openpty()
    try:
        done = subprocess.run([NTRACE, *arguments], stdout=slave, stderr=subprocess.PIPE, text=True, timeout=60)
    finally:
        os.close(slave)
        os.close(master)
    return done.returncode, done.stderr


@case("binary output to a terminal is refused; -o - forces it")
def terminal():
    text, trace, program = write("dump.txt", DUMP.encode()), write("t.nex", bytes_of(STREAM)), write("tiny.elf", tiny.elf())
    refusal = "refusing to write binary data to a terminal; name a file with -o, or force it with -o -"
    for command in (["assemble", text], ["merge", trace], ["convert", "--to", "pib4", trace], ["export", "--to", "drcov", trace, "-e", program]):
        status, message = on_terminal(*command)
        equal((status, message.strip().split(": ", 1)[-1]), (2, refusal), command[0])
    equal(on_terminal("assemble", text, "-o", "-")[0], 0, "forced")


@case("on a terminal, a command ends with the next step; never in a format for programs, a pipe, or for a stream without its program")
def next_step():
    stream = bytes_of(STREAM)
    folder = os.path.join(scratch(), "next step.ntrace")
    os.makedirs(os.path.join(folder, "images"))
    for name, data in (("trace.nex", stream), ("images/tiny", tiny.elf()), ("capture.json", json.dumps(
            {"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {}, "images": [{"file": "images/tiny", "kind": "elf"}]}).encode())):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)

    def said(*words):
        master, slave = pty.openpty()
        child = subprocess.Popen([NTRACE, *words], stdout=slave, stderr=slave)
        os.close(slave)
        text = b""
        try:
            while part := os.read(master, 65536):
                text += part
        except OSError:  # the end
            pass
        os.close(master)
        check(child.wait() < 2, f"{words}: {text[-300:]}")
        return text.decode().replace("\r", "")

    for command, after in (("stat", "check"), ("profile", "profile --annotate"), ("decode", "view"), ("dump", "decode")):
        check(said(command, folder).endswith(f"ntrace {command}: next: ntrace {after} '{folder}'\n"), command)
        check("next:" not in said(command, folder, "--format", "jsonl"), f"{command}: JSON lines")
        check("next:" not in Run(command, folder, status=None).err, f"{command}: no terminal")
    trace, program = write("t.nex", stream), write("next program.elf", tiny.elf())
    check("next:" not in said("stat", trace), "a stream without a program")
    for command, after in (("profile", "profile --annotate"), ("decode", "view")):
        said_at_the_end = said(command, trace, "--src-bits=0", "-e", program)
        check(said_at_the_end.endswith(f"ntrace {command}: next: ntrace {after} {trace} -e '{program}' --src-bits 0\n"), said_at_the_end[-300:])


main()
