"""A program of two units with debug information, and a trace of its first instruction."""
import os
import shutil
import struct
import subprocess

import tiny
from harness import NTRACE, note, scratch, write

UNITS = {"a.c": "int b(int);\nint a(int x) {\n  return x > 3 ? x * 2 : x;\n}\nvoid _start(void) {\n  a(1);\n  b(2);\n  for (;;) ;\n}\n",
         "b.c": "static int twice(int x) {\n  return x + x;\n}\nint b(int x) {\n  if (x > 1000)\n    return twice(7);\n  return x + 1;\n}\n"}
COMPILER = "riscv64-linux-gnu-gcc"


def program(*options):
    """The paths of the program and its trace. Where there is no compiler, the tiny program, without lines."""
    folder, path = os.path.join(scratch(), "units"), os.path.join(scratch(), "lined")
    os.makedirs(folder, exist_ok=True)
    for name, text in UNITS.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    if shutil.which(COMPILER):
        subprocess.run([COMPILER, "-g", "-O1", "-nostdlib", "-static", "-march=rv64imac", "-mabi=lp64", "-fno-asynchronous-unwind-tables",
                        *options, "-o", path, *sorted(UNITS)], check=True, cwd=folder)
    else:
        note(f"{COMPILER} is not installed: a program without lines")
        shutil.copy(write("tiny.elf", tiny.elf()), path)
    with open(path, "rb") as file:
        entry = struct.unpack_from("<Q", file.read(), 24)[0]
    text = f"ProgTraceSync SYNC=3 ICNT=0 FADDR={entry >> 1:#x}\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1\n"
    subprocess.run([NTRACE, "assemble", "-o", path + ".trace", write("lined.text", text.encode())], check=True)
    return path, path + ".trace"


def sections(elf):
    """{name: (place of the header, offset, size)} of an ELF64 file."""
    start, size, count, names = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HHH", elf, 58)
    place = struct.unpack_from("<Q", elf, start + names * size + 24)[0]
    found = {}
    for at in range(start, start + count * size, size):
        name = place + struct.unpack_from("<I", elf, at)[0]
        found[bytes(elf[name:elf.index(0, name)]).decode()] = (at, *struct.unpack_from("<QQ", elf, at + 24))
    return found
