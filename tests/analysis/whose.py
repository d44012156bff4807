#!/usr/bin/env python3
"""Decisions belong to the image whose code was executed: images of names, images inside of others, and images at one address. The
truth is counted by hand: each function is called with (1,1), (0,1) and (1,0).

usage: whose.py NTRACE
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, equal, main, matches, need, scratch

# ADDRESS FILE OFFSET ...: maps each file, and calls its function. `own` is behind the files, so that they are inside of the program.
HOST = """#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline, section(".far"))) int own(int a, int b) { if (a && b) return 1; return 2; }
int main(int argc, char **argv) {
    int s = own(1, 1) + own(0, 1) + own(1, 0);
    for (int i = 1; i + 2 < argc; i += 3) {
        int fd = open(argv[i + 1], O_RDONLY);
        char *at = mmap((void *)strtoul(argv[i], 0, 16), 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
        close(fd);
        int (*entry)(int, int) = (int (*)(int, int))(at + strtoul(argv[i + 2], 0, 16));
        s += entry(1, 1) + entry(0, 1) + entry(1, 0);
    }
    return s == 0;
}
"""
LIBRARY = "int entry_{0}(int a, int b) {{ if (a && b) return {0}; return 0; }}\n"
COVERED = ("covered", ["FF", "TT"])


def command(*words):
    return subprocess.run(words, cwd=scratch(), check=True, stdout=subprocess.PIPE, text=True).stdout


def built():
    gcc, place = need("riscv64-linux-gnu-gcc"), scratch()
    need("qemu-riscv64")
    if os.path.exists(os.path.join(place, "host")):
        return
    for name, text in (("host", HOST), ("lib1", LIBRARY.format(1)), ("lib2", LIBRARY.format(2))):
        with open(os.path.join(place, name + ".c"), "w", encoding="ascii") as file:
            file.write(text)
    for name in ("lib1", "lib2"):
        command(gcc, "-g", "-O0", "-shared", "-fPIC", "-nostdlib", name + ".c", "-o", name + ".so")
    command(gcc, "-g", "-O0", "-static", "host.c", "-Wl,--section-start=.far=0x1000000", "-o", "host")


def entry_of(name):
    return re.search(r"(\w+) T entry", command("riscv64-linux-gnu-nm", name))[1]


def recorded(bundle, *addresses):
    built()
    words = [word for i, address in enumerate(addresses, 1) for word in (f"{address:x}", f"lib{i}.so", entry_of(f"lib{i}.so"))]
    Run("run", "-q", "-o", bundle, "--", "./host", *words, cwd=scratch())


def decisions(bundle, status=0):
    """{function: (state, vectors with the values of the first condition and the result)} of `a && b`, and the messages."""
    done = Run("coverage", "--level", "decision", "--format", "json", "--only", scratch(), bundle, cwd=scratch(), status=status)
    found = {d["function"]: (d["decision"], sorted({v["values"][0] + v["result"] for v in d["vectors"] if v["values"][1] != "F"}))
             for d in json.loads(done.out)["decisions"] if d["text"] == "a && b"}
    return found, done.err


@case("libraries at addresses of their own, inside of the program")
def inside():
    recorded("inside.ntrace", 0x400000, 0x500000)
    equal(decisions("inside.ntrace")[0], {"own": COVERED, "entry_1": COVERED, "entry_2": COVERED}, "decisions")


@case("libraries at one address, one after the other: that of which the decisions are missing is named, with status 1")
def one_after_the_other():
    recorded("after.ntrace", 0x3000000000, 0x3000000000)
    found, error = decisions("after.ntrace", status=1)
    equal(found, {"own": COVERED, "entry_1": COVERED, "entry_2": ("not-determinable", [])}, "decisions")
    matches(r"lib2\.so: .*lib1\.so has code at the same addresses; its decisions are missing", error, "message")


@case("code that the trace has, with names of a file: the decisions of the file")
def names_only():
    recorded("whole.ntrace")
    names = os.path.join(scratch(), "names.ntrace")
    shutil.copytree(os.path.join(scratch(), "whole.ntrace"), names)
    images = [{"kind": "symbols", "file": "images/host", "name": "host"}]
    # .text, .far, and the procedure linkage table that newer C libraries have in a static program
    for section, address in re.findall(r"(?m)\] \.(\w+) +PROGBITS +(\w+) .* AX ", command("riscv64-linux-gnu-readelf", "-SW", "host")):
        command("riscv64-linux-gnu-objcopy", "-O", "binary", f"--only-section=.{section}", "host", f"names.ntrace/images/{section}")
        images.append({"kind": "raw", "file": f"images/{section}", "bias": "0x" + address, "isa": "rv64"})
    with open(os.path.join(names, "capture.json"), "r+", encoding="utf-8") as file:
        capture = json.load(file)
        file.seek(0)
        file.truncate()
        capture["images"] = images + [image for image in capture["images"] if image["kind"] == "raw"]  # the vDSO
        json.dump(capture, file)
    equal(decisions("names.ntrace")[0]["own"], COVERED, "with names")
    equal(decisions("whole.ntrace")[0]["own"], COVERED, "with the file")


main()
