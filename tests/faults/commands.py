"""Commands that together use every part of ntrace, on inputs of a few bytes."""
import lzma
import os
import re
import shutil
import struct
import subprocess

import lined
import tiny
from harness import NTRACE, note, scratch, skip, write
from perf_file import File, block_header
from world import PAGE, Program

# name, arguments; "@..." are the inputs below, "%" a file to write
COMMANDS = [
    ("dump", ["dump", "@trace"]),
    ("dump to a file", ["dump", "--format", "jsonl", "-o", "%", "@trace"]),
    ("assemble", ["assemble", "-o", "%", "@text"]),
    ("decode", ["decode", "-e", "@elf", "--format", "jsonl", "@trace"]),
    ("decode to a file", ["decode", "--raw", "@image@0x100", "-o", "%", "@trace"]),
    ("decode compressed", ["decode", "-e", "@elf", "@packed"]),
    ("decode an Andes capture, version 1", ["decode", "-e", "@elf", "@andes1"]),
    ("decode an Andes capture, version 2", ["decode", "-e", "@elf", "@andes2"]),
    ("decode an Andes capture as text", ["decode", "-e", "@elf", "@andes-text"]),
    ("decode a XuanTie trace session", ["decode", "-e", "@elf", "@xuantie"]),
    ("decode CEDARtools", ["decode", "-e", "@elf", "@ctte"]),
    ("decode perf.data", ["decode", "--sysroot", "@root", "@perf"]),
    ("export perf.data", ["export", "--to", "perf.data", "-e", "@elf", "-o", "%", "@trace"]),
    ("encode", ["encode", "-e", "@elf", "--pc", "@pcs", "-o", "%"]),
    ("stat", ["stat", "@trace"]),
    ("merge", ["merge", "--src-bits", "2", "-o", "%", "@source-0", "@source-1"]),
    ("split", ["split", "--src-bits", "2", "-o", "%", "@sources"]),
    ("convert", ["convert", "--to", "pib4", "--vcd-out", "-o", "%", "@trace"]),
    ("convert back", ["convert", "--input-format", "pib4", "--vcd-in", "-o", "%", "@vcd"]),
    ("regs", ["regs"]),
    ("profile", ["profile", "-e", "@elf", "@trace"]),
    ("report", ["report", "-e", "@elf", "-o", "%", "@trace"]),
    ("stat of what is unknown", ["stat", "--auto", "-e", "@elf", "@trace"]),
    ("flame", ["flame", "-e", "@elf", "-o", "%", "@trace"]),
    ("export callgrind", ["export", "--to", "callgrind", "-e", "@elf", "-o", "%", "@trace"]),
    ("export sqlite", ["export", "--to", "sqlite", "-e", "@elf", "-o", "%", "@trace"]),
    ("timeline", ["timeline", "-e", "@elf", "-o", "%", "@trace"]),
    ("diff", ["diff", "-e", "@elf", "@trace", "@trace"]),
    ("check", ["check", "-e", "@elf", "@trace"]),
    ("lines of two units", ["coverage", "-e", "@lined", "@lined-trace"]),
    ("functions of two units", ["flame", "-e", "@lined", "@lined-trace"]),
    ("a bundle, compressed", ["stat", "@bundle"]),
    ("help", ["help", "decode"]),
]

# in `make soak`
LONG = [("report of a program with a build id", ["report", "-e", "@lined", "-o", "%", "@lined-trace"]),
        ("decisions of two units", ["coverage", "--to", "decisions", "-e", "@lined", "@lined-trace"]),
        ("database of two units", ["export", "--to", "sqlite", "-e", "@lined", "-o", "%", "@lined-trace"]),
        ("symbols in .gnu_debugdata", ["profile", "-e", "@hidden", "@lined-trace"])]

LOOP = "ProgTraceSync SYNC=1 ICNT=0 FADDR=0x8000\nProgTraceCorrelation EVCODE=0 CDF=1 ICNT=16 HIST=0x6\n"


def prepare():
    """The inputs, by name."""
    paths = {"elf": write("tiny.elf", tiny.elf()), "image": write("tiny.bin", tiny.image()),
             "text": write("text", tiny.HTM.encode()), "pcs": write("pcs", "".join(f"{pc:#x}\n" for pc in tiny.PCS).encode())}
    plain("assemble", "-o", os.path.join(scratch(), "trace"), paths["text"])
    paths["trace"] = os.path.join(scratch(), "trace")
    sources = write("sources.text", "".join(f"{line} SRC={i % 3}\n" for i, line in enumerate(tiny.BTM.splitlines())).encode())
    paths["sources"] = os.path.join(scratch(), "sources")
    plain("assemble", "--src-bits", "2", "-o", paths["sources"], sources)
    for source in 0, 1:
        paths[f"source-{source}"] = os.path.join(scratch(), f"source-{source}")
        lines = "".join(f"{line} SRC={source}\n" for line in tiny.BTM.splitlines())
        plain("assemble", "--src-bits", "2", "-o", paths[f"source-{source}"], write(f"source-{source}.text", lines.encode()))
    paths["vcd"] = os.path.join(scratch(), "vcd")
    plain("convert", "--to", "pib4", "--vcd-out", "-o", paths["vcd"], paths["trace"])
    paths["packed"] = paths["trace"] + ".zst"
    if subprocess.run(["zstd", "-q", "-f", paths["trace"], "-o", paths["packed"]], check=False).returncode:
        paths["packed"] = paths["trace"]
    with open(paths["trace"], "rb") as file:
        stream = file.read()
    return {**paths, **containers(stream), **perf_data(), **lined_paths(), "bundle": bundle(paths)}


def lined_paths():
    path, trace = lined.program()
    return {"lined": path, "lined-trace": trace, "hidden": hidden(path)}


def hidden(path):
    """The program without symbols; they are in .gnu_debugdata."""
    objcopy, target, symbols = shutil.which("riscv64-linux-gnu-objcopy"), path + ".hidden", path + ".symbols"
    if not objcopy:
        return path
    subprocess.run([objcopy, "--only-keep-debug", path, symbols], check=True)
    with open(symbols, "rb") as file:
        packed = write("symbols.xz", lzma.compress(file.read()))
    subprocess.run([objcopy, "--strip-all", "--add-section", ".gnu_debugdata=" + packed, path, target], check=True)
    return target


def bundle(paths):
    """A bundle with a compressed stream."""
    folder = os.path.join(scratch(), "one.ntrace")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(paths["packed"], folder)
    with open(os.path.join(folder, "capture.json"), "w", encoding="ascii") as file:
        file.write('{"format":"ntrace-bundle","version":1,"stream":"%s","params":{}}' % os.path.basename(paths["packed"]))
    return folder


def containers(stream):
    """Files of other producers with this stream."""
    header = bytes.fromhex("0d000002010100020100030140040100")
    capture = header + stream + bytes([0xff]) * (-len(stream) % 4)
    lines = "".join(f"{word:08x}\n" for (word,) in struct.iter_unpack("<I", capture))
    return {"andes1": write("andes1", bytes([0, 0, 64, 1]) + stream), "andes2": write("andes2", capture),
            "andes-text": write("andes.log", lines.encode()), "xuantie": write("xuantie", block_header() + stream),
            "ctte": write("ctte", bytes.fromhex("e8c4fcfcfc3dc400a089d1188904a1580807") + stream)}


def perf_data():
    """A recording of one process, and the folder with its program."""
    root = os.path.join(scratch(), "root")
    os.makedirs(root, exist_ok=True)
    program = Program("first", 3, 0x10000)
    program.write(root)
    recording = File()
    recording.info()
    recording.comm(100, "first", 10)
    recording.mmap2(100, program.address, PAGE, PAGE, "/first", 20)
    recording.start(100, 500)
    path = os.path.join(scratch(), "loop")
    plain("assemble", "-o", path, write("loop.text", LOOP.encode()))
    with open(path, "rb") as file:
        recording.aux(file.read(), 1000, 100)
    return {"root": root, "perf": write("one.data", recording.bytes())}


def plain(*arguments):
    subprocess.run([NTRACE, *arguments], check=True, stdout=subprocess.DEVNULL)


def skip_without_feature(status, messages):
    """A command that needs a library which is not part of this build."""
    if status == 2 and re.search("built without|this build|not built in|no format '", messages):
        note(messages.strip().splitlines()[-1])
        skip("build-feature")


def fill(argument, paths, answer):
    """The value of an argument of COMMANDS."""
    if argument == "%":
        return answer
    if not argument.startswith("@"):
        return argument
    name, _, rest = argument[1:].partition("@")
    return paths[name] + ("@" + rest if rest else "")
