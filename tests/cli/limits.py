#!/usr/bin/env python3
"""--limit NAME=VALUE: each limit is reached, which is said, and raised. docs/security.md lists them.

usage: limits.py NTRACE
"""
import gzip
import json
import os
import re
import struct
import subprocess
import sys
import zlib

sys.path += [os.path.join(sys.path[0], ".."), os.path.join(sys.path[0], "../perf")]
import lined
import tiny
from harness import NTRACE, Run, bytes_of, case, check, equal, main, matches, need, scratch, skip, write
from perf_file import NOBODY, File, text

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "security.md")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def trace():
    return write("trace", bytes_of(tiny.HTM))


def elf_with(name):
    return write("named.elf", tiny.elf(symbols=((name, 0x100, 0x16), ("left", 0x200, 4), ("right", 0x300, 6))))


def bundle(padding=0, **files):
    """A bundle of the tiny program. `padding`: spaces in capture.json."""
    os.makedirs(os.path.join(scratch(), "b.ntrace"), exist_ok=True)
    capture = {"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {},
               "images": [{"kind": "elf", "file": "tiny.elf"}]}
    for file, content in {"capture.json": json.dumps(capture).encode() + b" " * padding, "trace.nex": bytes_of(tiny.HTM), "tiny.elf": tiny.elf(), **files}.items():
        write(f"b.ntrace/{file}", content)
    return os.path.join(scratch(), "b.ntrace")


def zst(window=0x58, blocks=4):
    """A zstd frame of blocks of 128 KiB of one byte, and an empty last block."""
    block = struct.pack("<I", 1 << 1 | (128 << 10) << 3)[:3]
    return write("long.zst", b"\x28\xb5\x2f\xfd\x00" + bytes([window]) + (block + b"\xff") * blocks + b"\x01\x00\x00")


def recording():
    """A recording whose records are compressed."""
    plain = File()
    plain.info()
    plain.comm(1, "a", 10)
    packed = subprocess.run([need("zstd"), "-c"], input=plain.records[1] * 40, capture_output=True, check=True).stdout
    body = struct.pack("<IHH", 81, 0, 8 + len(packed)) + packed
    plain.records = [plain.records[0], body]
    plain.aux(bytes_of(tiny.HTM), 100, 1)
    return write("packed.data", plain.bytes())


def lines():
    need(lined.COMPILER)
    path, stream = lined.program()
    if "no line information" in Run("coverage", "-e", path, stream, status=None).err:
        skip("build-dwarf")
    return path, stream


def compressed_lines():
    """A program with a megabyte of zeros behind the strings of its debug information, compressed."""
    path, stream = lines()
    with open(path, "rb") as file:
        elf = bytearray(file.read())
    header, at, size = lined.sections(elf)[".debug_str"]
    text = bytes(elf[at:at + size]) + bytes(1 << 20)
    content = struct.pack("<IIQQ", 1, 0, len(text), 1) + zlib.compress(text)
    struct.pack_into("<QQQQ", elf, header + 8, 0x800, 0, len(elf), len(content))
    return write("packed.elf", bytes(elf) + content), stream


def decisions(*arguments):
    path, stream = lines()
    words = ["coverage", "--to", "decisions", "-e", path, *arguments, stream]
    if "libclang" in Run(*words, status=None).err:
        skip("build-feature")
    return words


def coverage(*arguments):
    path, stream = lines()
    return ["coverage", "-e", path, *arguments, stream]


def earlier():
    folder = os.path.join(scratch(), "evidence")
    words = coverage("--evidence", folder)
    if not os.path.exists(folder):
        Run(*words)
    return coverage("--diff", folder)


def memory():
    registers = {"rsz": "0x400", "sts": "0x5", "rrp": "0x1000", "rwp": "0x1010", "dba": "0x1000", "axictl": "0x0"}
    folder = os.path.join(scratch(), "mgmt")
    os.makedirs(folder, exist_ok=True)
    for name, value in registers.items():
        write(f"mgmt/{name}", value.encode() + b"\n")
    return ["dump", "--ram-registers", folder, write("memory.bin", bytes(4096))]


def module():
    """A recording with a kernel module whose file is compressed."""
    recording = File()
    recording.info()
    recording.comm(1, "a", 10)
    place = struct.pack("<IIQQQIIQQII", NOBODY, 0, 0xffffffff02000000, 0x1000, 0, 0, 0, 0, 0, 5, 2)
    recording.add(10, 1, place + text("/lib/modules/6.12/kernel/x.ko.gz"), NOBODY)
    recording.aux(bytes_of(tiny.HTM), 100, 1)
    os.makedirs(os.path.join(scratch(), "root/lib/modules/6.12/kernel"), exist_ok=True)
    write("root/lib/modules/6.12/kernel/x.ko.gz", gzip.compress(tiny.elf() + bytes(5000)))
    words = ["decode", "--sysroot", os.path.join(scratch(), "root"), write("module.data", recording.bytes())]
    if "no libarchive" in Run(*words, status=None).err:
        skip("build-libarchive")
    return words


def script_words():
    topology = os.path.join(os.path.dirname(os.path.dirname(PAGE)), "examples/board/topology.json")
    return ["capture", "-o", os.path.join(scratch(), "made.ntrace"), "-t", topology, "--words", write("words.txt", b"# r 0x0 0x0\n" * 20)]


TASKS = b"ntrace-tasks 1\nposition src context task pid tgid comm\n0 - 1 1 1 1 one\n"
# Limit: words of a command that reaches it, and a value that is too small for it.
REACHED = {
    "capture-json": (lambda: ["dump", bundle(padding=2000)], 1000),
    "zst-output": (lambda: ["dump", zst()], "64K"),
    "zst-window": (lambda: ["dump", zst(window=0x60)], "1M"),
    "perf-output": (lambda: ["stat", recording()], 100),
    "symbol-name": (lambda: ["profile", "-e", elf_with("a" * 60), trace()], 20),
    "demangled-name": (lambda: ["profile", "-e", elf_with("_ZN5shape4areaERKSt6vectorIiSaIiEES4_S4_S4_S4_S4_S4_S4_"), trace()], 40),
    "debug-output": (lambda: ["coverage", "-e", *compressed_lines()], "8K"),
    "source": (decisions, 20),
    "parse-memory": (decisions, "1M"),
    "compile-commands": (lambda: decisions("--compile-commands", write("compile_commands.json", b"[]" + b" " * 50)), 10),
    "raw-image": (lambda: ["decode", "--raw", write("code", tiny.image()) + "@0x100", trace()], 100),
    "memory-image": (memory, 1000),
    "evidence": (earlier, 30),
    "justifications": (lambda: coverage("--justify", write("why.txt", b"# nothing\n")), 5),
    "kernel-module": (module, 2000),
    "script-words": (script_words, 100),
    "maps": (lambda: ["decode", "--map", "1=" + write("maps", b"00010000-00012000 r-xp 00000000 00:00 0 [anon]\n"), "-e", write("t.elf", tiny.elf()),
                      trace()], 10),
    "tasks": (lambda: ["profile", "--by", "thread", bundle(tasks=TASKS)], 20),
}


def listed():
    """{name: value} as `ntrace help limits` shows them."""
    rows = re.findall(r"^  ([a-z-]+) +(\d+)([KMGT]?)  \S", Run("help", "limits").out, re.M)
    return {name: int(number) * UNITS[unit] for name, number, unit in rows}


@case("each limit has a row of docs/security.md with its default, and a test here")
def table():
    with open(PAGE, encoding="utf-8") as file:
        rows = re.findall(r"^\|[^|]*\|[^|]*\|[^|]*\| `([a-z-]+)` = (\d+)([KMGT]?) \|$", file.read(), re.M)
    equal({name: int(number) * UNITS[unit] for name, number, unit in rows}, listed(), "the table of the page")
    equal(sorted(REACHED), sorted(listed()), "limits with a test")


@case("each test that docs/security.md names is there")
def tests():
    root = os.path.dirname(os.path.dirname(PAGE))
    with open(PAGE, encoding="utf-8") as file:
        rows = [line for line in file.read().split("## How it is tested")[1].split("\n## ")[0].splitlines() if line.startswith("| ")]
    check(len(rows) > 25, f"{len(rows)} rows")
    for row in rows:
        named = re.findall(r"`((?:tests|web|tools)/[\w/.]+)`", row)
        texts = []
        for path in named:
            check(os.path.exists(os.path.join(root, path)), f"{path}: {row}")
            if os.path.isfile(os.path.join(root, path)):
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    texts.append(file.read())
        for words in re.findall(r'"([^"]+)"', row):
            check(any(re.search(r"[\"'(]" + re.escape(words), text) for text in texts), f"no test begins with {words!r}: {named}")


def reached(name):
    words, small = REACHED[name]
    words = words()
    sound = Run(*words, status=None)
    if re.search("zstd is not built in|(was|is|ntrace) built without", sound.err):
        skip("build-feature")
    check(f"limit {name}" not in sound.err, f"{name}: with the default: {sound.err}")
    low = Run(words[0], "--limit", f"{name}={small}", *words[1:], status=None)
    matches(rf"limit {name}\b", low.err, name)
    check(low.status in (1, 2), f"{name}: status {low.status}")
    high = Run(words[0], f"--limit={name}=1G", *words[1:], status=None)
    equal((high.status, high.out, high.err), (sound.status, sound.out, sound.err), f"{name}: the answer with a high limit")


with open(NTRACE, "rb") as binary:
    sanitized = b"__asan_init" in binary.read()
for limit in REACHED:
    if sanitized and limit == "parse-memory":
        continue  # AddressSanitizer has its address space when it starts
    case(f"{limit}: a value that is too small is named, and the status is not 0", limit)(reached)


@case("a name that is too large by default is shown when the limit is raised")
def _():
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    name = "_Z1fSt4pairIiiE" + "".join(f"S_IS{digits[i]}_S{digits[i]}_E" for i in range(14))
    words = ["profile", "-e", elf_with(name), trace()]
    low = Run(*words, status=1)
    matches("limit demangled-name", low.err, "without the option")
    check(name[:100] in low.out, "the mangled name is shown")
    check("f(std::pair<int, int>, std::pair" in Run(*words, "--limit", "demangled-name=16M").out, "the demangled name is shown")


@case("the name of a thread of more than 4,096 bytes is cut at 1,023")
def _():
    tasks = TASKS.rsplit(b"\n", 2)[0] + b"\n0 0 - 1 1 1 " + b"n" * 5000 + b"\n"
    found = Run("profile", "--by", "thread", "--format", "json", bundle(tasks=tasks)).out
    equal(max(map(len, re.findall("n+", found))), 1023, "characters")


@case("what is no limit: a sentence, and status 2")
def _():
    for text, said in (("sorce=3", "did you mean 'source'"), ("nothing=3", "'ntrace help limits' lists"), ("source", "expected NAME=VALUE, found 'source'"),
                       ("source=0", "a number from 1 to"), ("source=1Q", "found '1Q'"), ("source=99999999T", "a number from 1 to"),
                       ("source=-1", "found '-1'"), ("source=", "found ''"), ("zst-window=4G", "a number from 1 to 2147483648")):
        matches(said, Run("dump", "--limit", text, trace(), status=2).err, text)


main()
