"""Commands that together use every part of ntrace, on inputs of a few bytes."""
import os
import subprocess

import tiny
from harness import NTRACE, scratch, write

# name, arguments; "@..." are the inputs below, "%" a file to write
COMMANDS = [
    ("dump", ["dump", "@trace"]),
    ("dump to a file", ["dump", "--format", "jsonl", "-o", "%", "@trace"]),
    ("assemble", ["assemble", "-o", "%", "@text"]),
    ("decode", ["decode", "-e", "@elf", "--format", "jsonl", "@trace"]),
    ("decode to a file", ["decode", "--raw", "@image@0x100", "-o", "%", "@trace"]),
    ("decode compressed", ["decode", "-e", "@elf", "@packed"]),
    ("encode", ["encode", "-e", "@elf", "--pc", "@pcs", "-o", "%"]),
    ("stat", ["stat", "@trace"]),
    ("merge", ["merge", "-o", "%", "@trace", "@trace"]),
    ("split", ["split", "--src-bits", "2", "-o", "%", "@sources"]),
    ("convert", ["convert", "--to", "pib4", "--vcd-out", "-o", "%", "@trace"]),
    ("convert back", ["convert", "--from", "pib4", "--vcd-in", "-o", "%", "@vcd"]),
    ("regs", ["regs"]),
    ("profile", ["profile", "-e", "@elf", "@trace"]),
    ("report", ["report", "-e", "@elf", "-o", "%", "@trace"]),
    ("stat of what is unknown", ["stat", "--auto", "-e", "@elf", "@trace"]),
    ("coverage", ["coverage", "-e", "@elf", "@trace"]),
    ("flame", ["flame", "-e", "@elf", "-o", "%", "@trace"]),
    ("export callgrind", ["export", "--to", "callgrind", "-e", "@elf", "-o", "%", "@trace"]),
    ("export sqlite", ["export", "--to", "sqlite", "-e", "@elf", "-o", "%", "@trace"]),
    ("timeline", ["timeline", "-e", "@elf", "-o", "%", "@trace"]),
    ("diff", ["diff", "-e", "@elf", "@trace", "@trace"]),
    ("check", ["check", "-e", "@elf", "@trace"]),
    ("help", ["help", "decode"]),
]


def prepare():
    """The inputs, by name."""
    paths = {"elf": write("tiny.elf", tiny.elf()), "image": write("tiny.bin", tiny.image()),
             "text": write("text", tiny.HTM.encode()), "pcs": write("pcs", "".join(f"{pc:#x}\n" for pc in tiny.PCS).encode())}
    plain("assemble", "-o", os.path.join(scratch(), "trace"), paths["text"])
    paths["trace"] = os.path.join(scratch(), "trace")
    sources = write("sources.text", "".join(f"{line} SRC={i % 3}\n" for i, line in enumerate(tiny.BTM.splitlines())).encode())
    paths["sources"] = os.path.join(scratch(), "sources")
    plain("assemble", "--src-bits", "2", "-o", paths["sources"], sources)
    paths["vcd"] = os.path.join(scratch(), "vcd")
    plain("convert", "--to", "pib4", "--vcd-out", "-o", paths["vcd"], paths["trace"])
    paths["packed"] = paths["trace"] + ".zst"
    if subprocess.run(["zstd", "-q", "-f", paths["trace"], "-o", paths["packed"]], check=False).returncode:
        paths["packed"] = paths["trace"]
    return paths


def plain(*arguments):
    subprocess.run([NTRACE, *arguments], check=True, stdout=subprocess.DEVNULL)


def fill(argument, paths, answer):
    """The value of an argument of COMMANDS."""
    if argument == "%":
        return answer
    if not argument.startswith("@"):
        return argument
    name, _, rest = argument[1:].partition("@")
    return paths[name] + ("@" + rest if rest else "")
