#!/usr/bin/env python3
"""Names of code without symbols: by file and address, by the unwind table, of the procedure linkage table, from separate
debug files. Compared with nm, objdump and readelf. TAP on standard output.

usage: naming.py NTRACE

program.c calls library.c, which has functions with and without dynamic symbols. Both are traced with all symbols and
stripped; the instructions of each function must be the same.
"""
import collections
import csv
import glob
import http.server
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import threading

sys.path.append(os.path.join(sys.path[0], ".."))
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


# ---- separate debug files

def build_id(b, file):
    return re.search(r"Build ID: ([0-9a-f]+)", b.run(TOOLS + "readelf", "-n", os.path.join("bare", file))).group(1)


def keep_debug(b, file, to, *options):
    """The separate debug file of the library. Its symbols only, without DWARF, if the options say so."""
    os.makedirs(os.path.dirname(to), exist_ok=True)
    b.run(TOOLS + "objcopy", "--only-keep-debug", *options, os.path.join("whole", file), to)


def in_build_ids(b, folder, *options):
    """The debug file in a folder of build IDs."""
    number = build_id(b, "libshown.so")
    keep_debug(b, "libshown.so", b.path(folder, ".build-id", number[:2], number[2:] + ".debug"), *options)


NO_DWARF = ["-R", ".debug_info", "-R", ".debug_line", "-R", ".debug_abbrev", "-R", ".debug_str", "-R", ".debug_aranges",
            "-R", ".debug_line_str", "-R", ".debug_frame", "-R", ".debug_loclists", "-R", ".debug_rnglists"]


def agrees(b, trace, *options, env=None):
    """The functions of the library have the names and counts of the file with symbols."""
    whole, found = counts(b.rows("whole.ntrace")), counts(b.rows(trace, *options, env=env))
    for name in "hidden_one", "hidden_two", "shown_one", "unsized":
        assert whole["libshown.so", name] and found["libshown.so", name] == whole["libshown.so", name], (name, found, b.stderr)


def named_not(b, trace, *options):
    assert not counts(b.rows(trace, *options))["libshown.so", "hidden_one"]


def build_id_folder(b):
    named_not(b, "bare.ntrace")
    in_build_ids(b, "symbols_only", *NO_DWARF)
    agrees(b, "bare.ntrace", "--debug-path", b.path("symbols_only"))
    in_build_ids(b, "with_dwarf")
    agrees(b, "bare.ntrace", "--debug-path", b.path("with_dwarf"))
    places_agree(b, "with_dwarf")


def places_agree(b, folder):
    """Function and line of each executed instruction of the library are those of addr2line."""
    load = min(int(row["address"], 16) for row in b.rows("bare.ntrace", "--debug-path", folder) if row["function"] == "hidden_one")
    load -= b.names["libshown.so", "hidden_one"]
    rows = b.rows("bare.ntrace", "--by", "instruction", "--debug-path", folder)
    rows = [row for row in rows if row.get("file", "").endswith("library.c")]
    addresses = [hex(int(row["address"], 16) - load) for row in rows]
    lines = b.run(TOOLS + "addr2line", "-fe", os.path.join("whole", "libshown.so"), *addresses).splitlines()
    assert len(rows) > 20
    for row, name, place in zip(rows, lines[::2], lines[1::2]):
        number = place.split(":")[1].split()[0]
        assert (row["function"], str(row["line"])) == (name, number), (row, name, place)


def relative_folder(b):
    in_build_ids(b, "relative/to")
    agrees(b, "bare.ntrace", "--debug-path", "relative/to")
    agrees(b, "bare.ntrace", "--debug-path", "elsewhere:./relative/../relative/to")


def missing_folder(b):
    b.rows("bare.ntrace", "--debug-path", "no_such:bare.ntrace/capture.json")
    assert "--debug-path: no_such: No such file or directory\n" in b.stderr, b.stderr
    assert "--debug-path: bare.ntrace/capture.json: not a directory\n" in b.stderr, b.stderr


def word_about_symbols(b):
    b.rows("bare.ntrace")
    found = re.search(r"functions without symbols: (.*); install debug symbols, or use --debug-path or DEBUGINFOD_URLS", b.stderr)
    assert found and re.search(r"\blibshown.so \d+ %", found.group(1)), b.stderr
    in_build_ids(b, "with_dwarf")
    b.rows("bare.ntrace", "--debug-path", "with_dwarf")
    assert "libshown.so" not in b.stderr, b.stderr


def in_sysroot(b):
    """usr/lib/debug of a folder above the place of the file is searched, here that of the sysroot."""
    os.makedirs(b.path("root", "usr", "lib"), exist_ok=True)
    shutil.copy(b.path("bare", "program"), b.path("root", "usr", "lib"))
    shutil.copy(b.path("bare", "libshown.so"), b.path("root", "usr", "lib"))
    b.run(b.ntrace, "run", "-o", "root.ntrace", "--", "root/usr/lib/program")
    named_not(b, "root.ntrace")
    in_build_ids(b, os.path.join("root", "usr", "lib", "debug"))
    agrees(b, "root.ntrace")
    shutil.rmtree(b.path("root", "usr", "lib", "debug"))


def debug_link(b):
    """A debug file that .gnu_debuglink names, beside the original file."""
    os.makedirs(b.path("linked"), exist_ok=True)
    shutil.copy(b.path("bare", "program"), b.path("linked"))
    b.run(TOOLS + "objcopy", "--only-keep-debug", os.path.join("whole", "libshown.so"), os.path.join("linked", "other.debug"))
    b.run(TOOLS + "objcopy", "-R", ".note.gnu.build-id", "--add-gnu-debuglink=" + b.path("linked", "other.debug"),
          os.path.join("bare", "libshown.so"), os.path.join("linked", "libshown.so"))
    b.run(b.ntrace, "run", "-o", "linked.ntrace", "--", "linked/program")
    agrees(b, "linked.ntrace")
    os.makedirs(b.path("moved"), exist_ok=True)
    os.rename(b.path("linked", "other.debug"), b.path("moved", "other.debug"))
    named_not(b, "linked.ntrace")
    agrees(b, "linked.ntrace", "--debug-path", "moved")


def mini_debug_info(b):
    """Symbols in .gnu_debugdata, as Fedora has them: an ELF file in xz."""
    cases.need("xz")
    os.makedirs(b.path("mini"), exist_ok=True)
    shutil.copy(b.path("bare", "program"), b.path("mini"))
    keep_debug(b, "libshown.so", b.path("mini", "symbols"), "-S", "--keep-symbol=hidden_one", "--keep-symbol=hidden_two")
    b.run("xz", "-f", b.path("mini", "symbols"))
    b.run(TOOLS + "objcopy", "--add-section", ".gnu_debugdata=" + b.path("mini", "symbols.xz"), os.path.join("bare", "libshown.so"),
          os.path.join("mini", "libshown.so"))
    b.run(b.ntrace, "run", "-o", "mini.ntrace", "--", "mini/program")
    agrees(b, "mini.ntrace")


def debug_server(b):
    """A server of debug files, only if DEBUGINFOD_URLS names it."""
    if not glob.glob("/usr/lib/*/libdebuginfod.so.1") and not glob.glob("/usr/lib*/libdebuginfod.so.1"):
        cases.skip("libdebuginfod")
    asked = []
    served = b.path("with_dwarf", ".build-id")
    in_build_ids(b, "with_dwarf")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            _, _, number, kind = self.path.split("/")[:4]
            file = os.path.join(served, number[:2], number[2:] + ".debug")
            found = kind == "debuginfo" and os.path.exists(file)
            self.send_response(200 if found else 404)
            self.end_headers()
            if found:
                with open(file, "rb") as content:
                    self.wfile.write(content.read())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        env = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}/", "DEBUGINFOD_CACHE_PATH": b.path("cache"),
               "HOME": b.folder, "http_proxy": "", "no_proxy": "*"}
        named_not(b, "bare.ntrace")
        assert not asked
        agrees(b, "bare.ntrace", env=env)
        assert any(build_id(b, "libshown.so") in path for path in asked), asked
        server.shutdown()


def go_table(b):
    """The table of a Go program has functions and lines of a stripped file."""
    b.run(TOOLS + "gcc", "-nostdlib", "-static", "-s", os.path.join(HERE, "naming", "go.s"), "-o", "go")
    b.run(b.ntrace, "run", "-o", "go.ntrace", "--", "./go")
    rows = map(json.loads, b.run(b.ntrace, "profile", "--format", "jsonl", "go.ntrace").splitlines())
    found = {row["function"]: row["self"] for row in rows if "function" in row}
    assert found["main.one"] == 2 and found["main.(*T).two"] == 3 and len(found) == 3, found
    lines = csv.DictReader(b.run(b.ntrace, "profile", "--by", "line", "--format", "csv", "go.ntrace").splitlines())
    counts = {(row["file"], int(row["line"])): int(row["self"]) for row in lines if row["file"]}
    assert counts == {("main/one.go", 7): 1, ("main/one.go", 9): 1, ("main/two.go", 300): 1, ("main/two.go", 10): 2}, counts


def decode_names(b):
    """decode has the symbols of the debug files too."""
    in_build_ids(b, "symbols_only", *NO_DWARF)
    assert "hidden_one" not in b.run(b.ntrace, "decode", "--show", "call", "bare.ntrace")
    assert "hidden_one" in b.run(b.ntrace, "decode", "--show", "call", "--debug-path", "symbols_only", "bare.ntrace")


def decode_places(b):
    """decode names code without symbols by file and address."""
    text = b.run(b.ntrace, "decode", "--show", "call", "bare.ntrace")
    for name in "hidden_one", "hidden_two":
        assert re.search(rf" call -> 0x[0-9a-f]+ <libshown.so\+0x{b.names['libshown.so', name]:x}>", text), name
    assert "<shown_one+0x" in text and "<shown_one@plt>" in text


# ---- code made at run time

def perf_map(text, place):
    return "".join(f"{place + 0x100 * i:x} 8 {name}\n" for i, name in enumerate(text)).encode()


def jitdump(names, place):
    """Linux's jitdump: the code of the first is loaded elsewhere and moved to its place."""
    code = struct.pack("<II", 0x00150513, 0x00008067)
    records = b""
    for i, name in enumerate(names):
        body = struct.pack("<IIQQQQ", 1, 1, 0, (place + 0x100 * i) if i else 0x1000, len(code), i) + name.encode() + b"\0" + code
        records += struct.pack("<IIQ", 0, 16 + len(body), i) + body
    moved = struct.pack("<IIQQQQQ", 1, 1, 0, 0x1000, place, len(code), 0)
    records += struct.pack("<IIQ", 1, 16 + len(moved), 9) + moved
    return struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 243, 0, 1, 0, 0) + records


def made_code(b):
    """Names of a perf map and of a jitdump, in profile and decode."""
    b.run(TOOLS + "gcc", "-O1", os.path.join(HERE, "naming", "made.c"), "-o", "made")
    place = int(b.run(b.ntrace, "run", "-o", "made.ntrace", "--", "./made").split()[0], 16)
    names = ["Lazy:first", "second one"]
    for option, content in ("--perf-map", perf_map(names, place)), ("--jitdump", jitdump(names, place)):
        with open(b.path("names"), "wb") as file:
            file.write(content)
        rows = map(json.loads, b.run(b.ntrace, "profile", "--format", "jsonl", option, "names", "made.ntrace").splitlines())
        found = {row.get("function"): (row["self"], row["calls"]) for row in rows}
        assert all(found.get(name) == (20, 10) for name in names), (option, found)
        calls = b.run(b.ntrace, "decode", "--show", "call", option, "names", "made.ntrace")
        assert [calls.count(f" -> 0x{place + 0x100 * i:x} <{name}>") for i, name in enumerate(names)] == [10, 10], option


NAMESAKE = "static int __attribute__((noinline)) work(int n) { volatile int s = %d; while (n--) s += n; return s; }\nint %s(int n) { return work(n); }\n"


def namesakes(b):
    """Static functions of one name are rows of their own without debug information, too, with the counts that they have with it, at
    the addresses of nm; also in a sum of partial answers of two runs. Each of the two processes has the program elsewhere."""
    for number, name in enumerate(("first", "second")):
        with open(b.path(name + ".c"), "w", encoding="utf-8") as file:
            file.write(NAMESAKE % (number, name))
    with open(b.path("both.c"), "w", encoding="utf-8") as file:
        file.write("#include <unistd.h>\nint first(int), second(int);\n"
                   "int main(int n, char **a) { first(3); second(100); second(n); if (n == 1) execl(a[0], a[0], \"x\", (char *)0); return 0; }\n")
    sources = ["first.c", "second.c", "both.c"]
    b.run(TOOLS + "gcc", "-O1", "-pie", "-fPIE", *sources, "-o", "namesakes")
    b.run(TOOLS + "gcc", "-O1", "-pie", "-fPIE", "-g", *sources, "-o", "described")
    places = sorted(int(line.split()[0], 16) for line in b.run(TOOLS + "nm", "namesakes").splitlines() if line.endswith(" t work"))
    expected = {}
    for program in "namesakes", "described":
        b.run(b.ntrace, "run", "-o", program + ".ntrace", "--", "./" + program)
        rows = [row for row in map(json.loads, b.run(b.ntrace, "profile", "--format", "jsonl", program + ".ntrace").splitlines()) if row["function"] == "work"]
        expected[program] = sorted((row["self"], row["calls"]) for row in rows)
        assert all(("file" in row) == (program == "described") for row in rows), rows
    assert expected["namesakes"] == expected["described"] and len(places) == 2, expected
    found = [int(row["address"], 16) for row in map(json.loads, b.run(b.ntrace, "profile", "--format", "jsonl", "namesakes.ntrace").splitlines()) if row["function"] == "work"]
    assert abs(found[0] - found[1]) == places[1] - places[0], (found, places)
    text = b.run(b.ntrace, "profile", "--top", "1000", "namesakes.ntrace")
    assert len(set(re.findall(r"work  \(namesakes, (0x[0-9a-f]+)\)", text))) == 2, text
    b.run(b.ntrace, "run", "-o", "again.ntrace", "--", "./namesakes", "once")
    for trace in "namesakes", "again":
        b.run(b.ntrace, "profile", "--partial", trace + ".part", trace + ".ntrace")
    counts_of = {}
    for words in (["profile", "again.ntrace"], ["combine", "namesakes.part", "again.part", "profile"]):
        rows = map(json.loads, b.run(b.ntrace, *words, "--format", "jsonl").splitlines())
        counts_of[words[0]] = sorted((row["self"], row["calls"]) for row in rows if row["function"] == "work")
    assert counts_of["combine"] == [tuple(map(sum, zip(*pair))) for pair in zip(expected["described"], counts_of["profile"])], counts_of


# ---- damaged files

def damaged_debug_files(b):
    """No damage of a debug file ends the command otherwise than with a result."""
    in_build_ids(b, "damaged")
    number = build_id(b, "libshown.so")
    path = b.path("damaged", ".build-id", number[:2], number[2:] + ".debug")
    with open(path, "rb") as file:
        good = file.read()
    dice = random.Random(19)
    for turn in range(40):
        bad = bytearray(good[:dice.randrange(1, len(good))] if turn % 4 == 0 else good)
        for _ in range(dice.choice((1, 10, 300))):
            bad[dice.randrange(len(bad))] = dice.randrange(256)
        with open(path, "wb") as file:
            file.write(bad)
        for command in (["profile"], ["profile", "--by", "line"], ["decode", "--show", "call"]):
            done = subprocess.run([b.ntrace, *command, "--debug-path", "damaged", "bare.ntrace"], cwd=b.folder, timeout=60,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            assert done.returncode in (0, 1) and done.stdout, (turn, command, done.returncode, done.stderr[-300:])


CASES = [stripped_functions, unsized_symbol, unwind_ranges, linkage_table, build_id_folder, relative_folder, missing_folder,
         word_about_symbols, in_sysroot, debug_link, mini_debug_info, debug_server, go_table,
         decode_names, decode_places, made_code, namesakes, damaged_debug_files]

if __name__ == "__main__":
    cases.main(CASES, Bench, ("qemu-riscv64", TOOLS + "gcc"))
