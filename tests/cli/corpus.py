#!/usr/bin/env python3
"""The corpus: every stream decodes to its list of program counters, and every list encodes to a stream that decodes
to the list again. Skipped where ../shared or zstd is missing."""
import os
import shutil
import struct
import subprocess

from harness import NTRACE, case, check, main, scratch, shared, skip, write


def corpus(*parts):
    return shared("corpus", *parts)


def compare(command, *arguments):
    """Run a comparison of two streams in bash; neither is loaded into memory."""
    if not shutil.which("zstd"):
        skip("no zstd")
    done = subprocess.run(["bash", "-c", command, "bash", *arguments], capture_output=True, text=True)
    check(done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"[:1000])


def same(stream, options, listing, without=os.devnull):
    """The program counters of decode are those of the listing, except those in the file `without`."""
    compare('cmp <(zstd -dcq "$1" | if [ -s "$2" ]; then grep -vxFf "$2"; else cat; fi) <("${@:3}")', listing, without,
            NTRACE, "decode", stream, "--output", "pc", *options)


def each_program():
    folder = corpus("refcode")
    for name in sorted(os.listdir(folder)):
        if os.path.isdir(os.path.join(folder, name)):
            yield os.path.join(folder, name)


@case("reference streams, in the five settings")
def reference_streams():
    stack = ["--implicit-return", "full", "--return-stack", "8"]
    for folder in each_program():
        for setting in ("btm", "htm", "htm-repeat", "htm-stack", "htm-stack-repeat"):
            options = ["--dialect", "refcode", "-e", os.path.join(folder, "program.elf")]
            same(os.path.join(folder, setting + ".nex.zst"), options + (stack if "stack" in setting else []),
                 os.path.join(folder, "pc.txt.zst"))


@case("silicon captures")
def silicon():
    extra = {"dv-650": ["--src-bits", "4"], "timestamp": ["--timestamps"]}
    for name in ("dv-650", "dv-850", "dv-uaddr1", "e31_hello_debug", "e31_coremark_release", "eol", "itc_printf",
                 "event-call", "pc-sample-itc", "timestamp"):
        same(corpus("silicon", name, "trace.rtd"),
             ["--dialect", "sifive-pre1.0", "-e", corpus("silicon", name, "program.elf"), *extra.get(name, [])],
             corpus("silicon", name, "src0.pc.zst"))


@case("text of an instrumentation channel")
def channel_text():
    done = subprocess.run([NTRACE, "decode", "--dialect", "sifive-pre1.0", "--output", "itc",
                           "-e", corpus("silicon", "itc_printf", "program.elf"),
                           corpus("silicon", "itc_printf", "trace.rtd")], capture_output=True, check=True)
    expected = open(corpus("silicon", "itc_printf", "itc.txt"), "rb").read().replace(b"\r\n", b"\n")
    check(done.stdout == expected, "text differs")


def traps(elf):
    """A file with the addresses of ECALL and EBREAK, which do not retire."""
    data = open(elf, "rb").read()
    wide = data[4] == 2
    table, size, count = (struct.unpack_from("<Q", data, 32)[0], 56, data[56]) if wide else (
        struct.unpack_from("<I", data, 28)[0], 32, data[44])
    places = set()
    for at in range(table, table + size * count, size):
        kind, = struct.unpack_from("<I", data, at)
        offset, address, _, length = struct.unpack_from("<QQQQ" if wide else "<IIII", data, at + (8 if wide else 4))
        for pc in range(0, length - 1, 2) if kind == 1 else ():
            if data[offset + pc:offset + pc + 4] in (b"\x73\0\0\0", b"\x73\0\x10\0") or \
                    data[offset + pc:offset + pc + 2] == b"\x02\x90":
                places.add(address + pc)
    return write("traps", "".join(f"0x{place:x}\n" for place in places).encode())


@case("lists are encoded and decoded back, in both modes and with all options")
def lists():
    for folder in each_program():
        elf, listing = os.path.join(folder, "program.elf"), os.path.join(folder, "pc.txt.zst")
        for options, back in ((["--mode", "btm"], []), (["--mode", "htm"], []),
                              (["--best"], ["--implicit-return", "full", "--sequential-jump"])):
            stream = os.path.join(scratch(), "encoded.nex")
            done = subprocess.run([NTRACE, "encode", "-e", elf, "--pc", listing, "-o", stream, *options],
                                  capture_output=True, text=True)
            check(done.returncode == 0, f"{folder} {options}: {done.stderr}")
            same(stream, ["-e", elf, *back], listing, traps(elf))


@case("dump and assemble reproduce every stream")
def assembled():
    for folder in each_program():
        stream = os.path.join(folder, "htm-repeat.nex.zst")
        compare('cmp <(zstd -dcq "$1") <("$2" dump "$1" | "$2" assemble -)', stream, NTRACE)


if __name__ == "__main__":
    main()
