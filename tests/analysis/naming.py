#!/usr/bin/env python3
"""Names of code without symbols: by file and address, by the unwind table, of the procedure linkage table, from separate
debug files. Compared with nm, objdump and readelf. TAP on standard output.

usage: naming.py NTRACE

program.c calls library.c, which has functions with and without dynamic symbols. Both are traced with all symbols and
stripped; the instructions of each function must be the same.
"""
import collections
import json
import os
import re
import shutil
import subprocess

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = "riscv64-linux-gnu-"
FLAGS = ["-O1", "-g", "-fasynchronous-unwind-tables", "-Wl,--build-id", "-Wl,-z,lazy"]


class Bench:
    """The folder `whole` has the files with symbols, `bare` the same files without."""

    def __init__(self, ntrace, folder):
        self.ntrace, self.folder = ntrace, folder
        for name in "whole", "bare":
            os.mkdir(self.path(name))
        for name in "library.c", "program.c":
            shutil.copy(os.path.join(HERE, "naming", name), self.path("whole"))
        self.run(TOOLS + "gcc", *FLAGS, "-shared", "-fPIC", "library.c", "-o", "libshown.so", at="whole")
        self.run(TOOLS + "gcc", *FLAGS, "-pie", "-fPIE", "-fno-builtin", "program.c", "-L.", "-lshown",
                 "-Wl,-rpath,$ORIGIN", "-o", "program", at="whole")
        for name in "program", "libshown.so":
            self.run(TOOLS + "strip", "-o", self.path("bare", name), self.path("whole", name))
        for name in "whole", "bare":
            self.run(ntrace, "run", "-o", name + ".ntrace", "--", os.path.join(name, "program"))
        self.names = self.functions()

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run(self, *command, at=".", env=None):
        done = subprocess.run(command, cwd=self.path(at), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env=env and dict(os.environ, **env))
        if done.returncode:
            raise AssertionError(f"{command[0]} {command[1]}: {done.returncode}: {done.stderr[-300:]}")
        self.stderr = done.stderr
        return done.stdout

    def rows(self, trace, *options, env=None):
        """Rows of the profile by function, of the two files only."""
        rows = self.run(self.ntrace, "profile", "--format", "jsonl", *options, trace, env=env).splitlines()
        return [row for row in map(json.loads, rows) if os.path.basename(row.get("image", "")) in ("program", "libshown.so")]

    def functions(self):
        """(file, name) of each function that nm lists: its address in the file."""
        found = {}
        for name in "program", "libshown.so":
            for line in self.run(TOOLS + "nm", self.path("whole", name)).splitlines():
                part = line.split()
                if len(part) == 3 and part[1] in "tT" and not part[2].startswith("$"):
                    found[name, part[2]] = int(part[0], 16)
        return found


def counts(rows):
    """Instructions by image and name."""
    found = collections.Counter()
    for row in rows:
        found[os.path.basename(row["image"]), row.get("function", "[unknown]")] += row["self"]
    return found


def stripped_functions(b):
    """Functions without symbol have the name FILE+0xADDRESS; nm knows their names in the file with symbols."""
    whole, bare = counts(b.rows("whole.ntrace")), counts(b.rows("bare.ntrace"))
    for file, name in ("program", "own"), ("libshown.so", "hidden_one"), ("libshown.so", "hidden_two"):
        place = f"{file}+0x{b.names[file, name]:x}"
        assert whole[file, name] and bare[file, place] == whole[file, name], (name, place, whole, bare)
    for file, name in ("libshown.so", "shown_one"), ("libshown.so", "shown_two"):
        assert whole[file, name] and bare[file, name] == whole[file, name], (name, bare)
    assert not [name for _, name in bare if name == "[unknown]"], bare


def unsized_symbol(b):
    """A symbol without size does not extend over the function after it."""
    whole, bare = counts(b.rows("whole.ntrace")), counts(b.rows("bare.ntrace"))
    assert whole["libshown.so", "unsized"] == bare["libshown.so", "unsized"] == 20 * 2, (whole, bare)


def unwind_ranges(b):
    """Ranges of functions are those that readelf reads from .eh_frame."""
    text = b.run(TOOLS + "readelf", "--debug-dump=frames", os.path.join("bare", "libshown.so"))
    starts = {int(first, 16) for first in re.findall(r" FDE cie=\S+ pc=([0-9a-f]+)\.\.", text)}
    assert len(starts) >= 4
    found = {int(name.split("+0x")[1], 16) for file, name in counts(b.rows("bare.ntrace")) if name.startswith("libshown.so+0x")}
    hidden = {b.names["libshown.so", name] for name in ("hidden_one", "hidden_two")}
    assert hidden <= found & starts, (hidden, found, starts)


def linkage_table(b):
    """Entries of the procedure linkage table are those of objdump."""
    bare = counts(b.rows("bare.ntrace"))
    for file, names in ("program", ("shown_one", "shown_two", "unsized", "abs")), ("libshown.so", ("shown_one",)):
        dump = b.run(TOOLS + "objdump", "-d", "-j", ".plt", os.path.join("bare", file))
        listed = set(re.findall(r"<(\w+@plt)>:", dump))
        assert {name + "@plt" for name in names} <= listed, listed
        for name in names:
            assert bare[file, name + "@plt"] == 20 * 3, (name, bare) # the nop at its end is not executed
        assert {name for image, name in bare if image == file and name.endswith("@plt")} <= listed, bare


CASES = [stripped_functions, unsized_symbol, unwind_ranges, linkage_table]

if __name__ == "__main__":
    cases.main(CASES, Bench, ["qemu-riscv64", TOOLS + "gcc"])
