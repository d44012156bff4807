#!/usr/bin/env python3
"""Hostile files: the command ends soon, in little memory, with an error message.

hostile.py NTRACE SANITIZER; with a sanitizer ("none": without) memory is not measured. TAP on standard output.
"""
import contextlib
import ctypes
import json
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree
import zlib

sys.path.append(os.path.join(sys.path[0], ".."))
import dwarf_packer
import lined
import tiny
from harness import NTRACE, Run, bytes_of, case, check, equal, folder, main, matches, need, scratch, skip, until, write

SANITIZER = sys.argv[2] if len(sys.argv) > 2 else "none"
SECONDS = 15 if SANITIZER == "none" else 60  # of CPU
MEGABYTES = 200
IN_CLOSE_NOWRITE, IN_OPEN = 0x10, 0x20  # of inotify(7)
ANSWERS = (["profile"], ["coverage"], ["flame"], ["decode"], ["report", "-o", "answer"])


def bounded(*arguments, status=(0, 1, 2), expected_text="", megabytes=MEGABYTES):
    """Run the command; it must stay within the limits, end by itself and print what is expected."""
    line = " ".join(map(str, arguments))[-200:]
    log = os.path.join(scratch(), "log")
    with open(log, "wb") as messages:
        child = subprocess.Popen([NTRACE, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages,
                                 cwd=scratch(), preexec_fn=limit)
        _, ended, used = os.wait4(child.pid, 0)
    child.returncode = 0
    with open(log, "rb") as file:
        messages = file.read().decode(errors="replace")
    code = os.waitstatus_to_exitcode(ended)
    check("Sanitizer" not in messages and "runtime error:" not in messages, f"{line}: {messages[-1500:]}")
    check(code in status, f"{line}: status {code}, expected {status}: {messages[-600:]}")
    if SANITIZER == "none":
        check(used.ru_maxrss < megabytes << 10, f"{line}: took {used.ru_maxrss >> 10} MiB: {messages[-300:]}")
    matches(expected_text, messages, line)


def limit():
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def trace():
    text = write("text", tiny.HTM.encode())
    subprocess.run([NTRACE, "assemble", "-o", os.path.join(scratch(), "trace"), text], check=True)
    return os.path.join(scratch(), "trace")


# ---- ELF

def elf_of(segments, parts, sections=b"", count=0, phnum=None, shnum=None, shoff=None):
    """ELF64 of (offset in parts, size, address) segments; `sections` are headers at the end."""
    phnum = len(segments) if phnum is None else phnum
    at = 64 + 56 * len(segments)
    headers = b"".join(struct.pack("<IIQQQQQQ", 1, 5, at + offset, address, address, size, size, 2)
                       for offset, size, address in segments)
    end = at + len(parts)
    shnum = count if shnum is None else shnum
    shoff = (end if sections else 0) if shoff is None else shoff
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, 0x100, 64, shoff, 1, 64, 56, phnum, 64, shnum, 0)
    return header + headers + parts + sections


def section(kind, flags, address, offset, size, link=0, info=0, entry=0):
    return struct.pack("<IIQQQQIIQQ", 0, kind, flags, address, offset, size, link, info, 1, entry)


def answers(elf, **expected):
    path = write("hostile.elf", elf)
    for command in ANSWERS:
        bounded(*command, "-e", path, trace(), **expected)


@case("ELF: 65,000 segments at one address")
def _():
    answers(elf_of([(0, 0x206, 0x100)] * 65000, tiny.image()))


@case("ELF: 65,000 segments, each at the next byte")
def _():
    answers(elf_of([(0, 0x206, 0x100 + i) for i in range(65000)], tiny.image()))


@case("ELF: a thousand segments of the same 4 MiB: 4 GiB of code in a small file")
def _():
    size = 4 << 20
    answers(elf_of([(0, size, 0x100 + i * size) for i in range(1000)], tiny.image() + bytes(size)))


@case("ELF: counts beyond the end of the file")
def _():
    answers(elf_of([(0, 0x206, 0x100)], tiny.image(), phnum=0xfffe), status=(2,), expected_text="program headers")
    zero = section(0, 0, 0, 0, 1 << 40, info=0xffffffff)
    answers(elf_of([(0, 0x206, 0x100)], tiny.image(), zero, 1, phnum=0xffff), status=(2,), expected_text="program header")
    answers(elf_of([(0, 0x206, 0x100)], tiny.image(), zero, 0))
    answers(elf_of([(0, 0x206, 0x100)], tiny.image(), zero, shnum=0xfeff))
    answers(elf_of([(0, 0x206, 0x100)], tiny.image(), shoff=(1 << 64) - 1, shnum=3))


def symbols(count, names, place, size):
    """A program with `count` symbols of that size; `names` is the string table."""
    segments, code = [(0, 0x206, 0x100)], tiny.image()
    at = 64 + 56
    table = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1 + i % (len(names) - 1), 0x12, 0, 1, place(i), size) for i in range(count))
    headers = (section(0, 0, 0, 0, 0) + section(1, 6, 0x100, at, 0x206) + section(2, 0, 0, at + 0x206, len(table), 3, 1, 24)
               + section(3, 0, 0, at + 0x206 + len(table), len(names)))
    return elf_of(segments, code + table + names, headers, 4)


@case("ELF: 100,000 symbols whose names are one string of 4 MiB")
def _():
    answers(symbols(100000, bytes([0]) + b"a" * (4 << 20) + bytes([0]), lambda i: 0x100 + i % 0x200, 2))


@case("ELF: 100,000 symbols at one address, each as large as memory")
def _():
    answers(symbols(100000, b"\0name\0", lambda i: 0x100, (1 << 64) - 1))
    answers(symbols(100000, b"\0name\0", lambda i: i, 1 << 63))


# ---- JSON and bundles

CAPTURE = '{"format":"ntrace-bundle","version":1,"stream":"trace.nex","params":{}%s}'


def bundle(name, capture, stream=b"\x24\x0d\x00\x0b"):
    folder = os.path.join(scratch(), name)
    os.makedirs(folder, exist_ok=True)
    for file, content in (("capture.json", capture), ("trace.nex", stream)):
        path = os.path.join(folder, file)
        if content is None or os.path.lexists(path):
            continue
        with open(path, "wb") as out:
            out.write(content if isinstance(content, bytes) else content.encode())
    return folder


def base(number, digits):
    """A reference of mangled names: "_" is 0, "0_" is 1."""
    text = ""
    while number > 0:
        number -= 1 if not text else 0
        text, number = digits[number % len(digits)] + text, number // len(digits)
    return text + "_"


B36, B62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def bombs(count=40):
    """{kind: mangled name whose text doubles `count` times}."""
    def doubled(begin, form, end="", first=0):
        return begin + "".join(form.replace("?", base(first + i, B36)) for i in range(count)) + end
    rust, places = "_RINvC1a1b", []
    for i in range(count):
        places.append(len(rust) - 2)
        rust += "TlllE" if i == 0 else "T" + 2 * f"B{base(places[-2], B62)}" + "E"
    return {
        "template": doubled("_Z1fSt4pairIiiE", "S_IS?S?E", first=1), "function type": doubled("_Z1fPi", "FvS?S?E"),
        "member": doubled("_Z1fPi", "MS?S?"), "nested": "_Z1fN1a1bIiEE" + "".join("NS_1cIS?S?EE".replace("?", base(2 + 2 * i, B36)) for i in range(count)),
        "packs": "_Z1fIJiiE" + "".join(f"JDpT{base(i, '0123456789')}DpT{base(i, '0123456789')}E" for i in range(count)) + "EvDpT30_",
        "conversion": "_ZN1AcvT_I" + doubled("P1B", "FvS?S?E", "", 1) + "EEv", "Rust": rust + "E",
    }


@case("names that stand for more text than memory holds: the mangled name is shown")
def _():
    for kind, name in bombs().items():
        path = write("bomb.elf", tiny.elf(symbols=((name, 0x100, 0x16), ("_ZN5shape4areaERKSt6vectorIiSaIiEES4_S4_S4_S4_S4_S4_S4_", 0x200, 4))))
        bounded("profile", "-e", path, trace(), status=(1,), expected_text="bomb.elf: a name: expected at most 1048576 characters and parts")
        found = Run("profile", "-e", path, trace(), status=1).out
        check(name[:200] in found, f"{kind}: {name} is not in {found[:400]}")
    path = write("bomb.elf", tiny.elf(symbols=(("_ZN5shape4areaERKSt6vectorIiSaIiEES4_S4_S4_S4_S4_S4_S4_", 0x100, 0x16), ("l", 0x200, 4))))
    matches(r"shape::area\(std::vector<int, std::allocator<int> > const&, ", Run("profile", "-e", path, trace()).out, "many references")


# ---- debug information

def second_line_table(elf, at, size):
    """The offset of the version of the second unit in .debug_line."""
    del size
    return at + 4 + struct.unpack_from("<I", elf, at)[0] + 4


def zeros(elf, header, at, size):
    del header
    elf[at:at + size] = bytes(size)


DAMAGE = {  # what: (section, function that changes the file)
    "version of the second line table": (".debug_line", lambda elf, header, at, size: elf.__setitem__(second_line_table(elf, at, size), 99)),
    "a line table that is not in the file": (".debug_line", lambda elf, header, at, size: struct.pack_into("<Q", elf, header + 24, 1 << 40)),
    "a line table that is cut": (".debug_line", lambda elf, header, at, size: struct.pack_into("<Q", elf, header + 32, size - 20)),
    "an empty line table": (".debug_line", lambda elf, header, at, size: struct.pack_into("<Q", elf, header + 32, 0)),
    "no abbreviations": (".debug_abbrev", lambda elf, header, at, size: elf.__setitem__(slice(at, at + size), bytes(size))),
    "version of the second unit": (".debug_info", lambda elf, header, at, size: elf.__setitem__(second_line_table(elf, at, size), 99)),
    "units that are cut": (".debug_info", lambda elf, header, at, size: struct.pack_into("<Q", elf, header + 32, size - 40)),
    "units that are not in the file": (".debug_info", lambda elf, header, at, size: struct.pack_into("<Q", elf, header + 24, len(elf) - 1)),
    "texts that are cut": (".debug_str", lambda elf, header, at, size: struct.pack_into("<Q", elf, header + 32, 8)),
    "a first unit that is longer than its section": (".debug_info", lambda elf, header, at, size: struct.pack_into("<I", elf, at, 0xffffffef)),
    "texts that are zeros": (".debug_str", zeros),
    "names of files that are zeros": (".debug_line_str", zeros),
    "addresses of a unit that are zeros": (".debug_rnglists", zeros),
    "symbols that are zeros": (".symtab", zeros),
    "a symbol table that is cut": (".symtab", lambda elf, header, at, size: struct.pack_into("<Q", elf, header + 32, 24)),
    "names of symbols that are zeros": (".strtab", zeros),
    "names of symbols that do not expand": (".strtab", lambda elf, header, at, size: struct.pack_into("<Q", elf, header + 8, 0x800)),
    "names of sections that are zeros": (".shstrtab", zeros),
    "a section that does not expand": (".debug_info", lambda elf, header, at, size: struct.pack_into("<Q", elf, header + 8, 0x800)),
}


def program_with_lines(*options):
    """A program and its trace; this build reads its lines."""
    need(lined.COMPILER)
    path, stream = lined.program(*options)
    if "no line information" in Run("coverage", "-e", path, stream, status=None).err:
        skip("build-dwarf")
    return path, stream


@case("damaged debug information: the answer says what is missing, and --fail-under fails")
def _():
    path, stream = program_with_lines("-ffunction-sections")
    with open(path, "rb") as file:
        sound = file.read()
    whole = Run("coverage", "-e", path, stream)
    equal(whole.err, "", "messages about the sound program")
    for what, (name, change) in DAMAGE.items():
        elf = bytearray(sound)
        change(elf, *lined.sections(elf)[name])
        hurt = write("hurt.elf", elf)
        for command in ("coverage",), ("coverage", "--fail-under", "0"):
            found = Run(*command, "-e", hurt, stream, status=None)
            equal(found.status, 1, f"{what}: {command}: status")
            matches("hurt.elf: .*(damaged|not inside|invalid|expand)", found.err, f"{what}: {command}")
        for command in ("profile", "--by", "line"), ("flame", "--to", "folded"):  # these read only the unit of what was executed
            found = Run(*command, "-e", hurt, stream, status=None)
            same = found.out == Run(*command, "-e", path, stream).out
            check(same if found.status == 0 else found.err, f"{what}: {command}: status {found.status}: {found.out} {found.err}")


def word_at(at, value):
    return lambda package: struct.pack_into("<I", package, at, value)


@case("damaged packages (.dwp): the units that are missing are named, and the status is 1; bytes that change anywhere crash nothing")
def _():
    path, stream = program_with_lines("-gdwarf-5", "-gsplit-dwarf", "-mno-relax")
    units = os.path.join(scratch(), "units")
    whole = Run("coverage", "--to", "json", "-e", path, stream)
    equal(whole.err, "", "messages about .dwo files")
    given = [os.path.join(place, name) for place in (units, scratch()) for name in os.listdir(place) if name.endswith(".dwo")]
    dwarf_packer.pack(given, path + ".dwp")
    for name in given:
        os.remove(name)
    equal(Run("coverage", "--to", "json", "-e", path, stream).out, whole.out, "coverage with a package")
    with open(path + ".dwp", "rb") as file:
        sound = file.read()
    _, at, _ = lined.sections(sound)[".debug_cu_index"]
    header, info, _ = lined.sections(sound)[".debug_info.dwo"]
    rows = at + 16 + struct.unpack_from("<I", sound, at + 12)[0] * 12
    columns = struct.unpack_from("<I", sound, at + 4)[0]
    cells = rows + columns * 4
    changes = {"version": word_at(at, 4), "slots": word_at(at + 12, 1 << 31), "columns": word_at(at + 4, 1 << 30), "a section twice": word_at(rows + 4, 1),
               "an offset": word_at(cells, 0xffffff00), "a size": word_at(cells + 8 * columns, 0xfffffff0), "another unit": word_at(cells, info and 8),
               "identifiers": lambda package: package.__setitem__(slice(at + 16, rows - 16), bytes(rows - at - 32)),
               "no sections": lambda package: struct.pack_into("<Q", package, 40, 0), "not ELF": word_at(0, 0), "compressed": lambda package: struct.pack_into("<Q", package, header + 8, 0x800)}
    for what, change in changes.items():
        package = bytearray(sound)
        change(package)
        write("lined.dwp", package)
        found = Run("coverage", "--to", "json", "-e", path, stream, status=1)
        matches("debug information: .*\\.dwo: not found beside .* or in a package|lined.dwp: ", found.err, what)
    for at in range(0, len(sound), len(sound) // 24):
        package = bytearray(sound)
        package[at] ^= 0xff
        write("lined.dwp", package)
        bounded("coverage", "-e", path, stream, status=(0, 1))
    os.remove(path + ".dwp")


LOOP = """
  .text
  .globl _start
_start:
  addi a0, a0, 1
1:
  j 1b
.Lend:
  .section .debug_abbrev,"",@progbits
  .byte 1, 0x11, 1, 0x3, 0x8, 0x11, 0x1, 0x12, 0x7, 0, 0  # unit: name, low_pc, high_pc
  .byte 2, 0x2e, 0, 0x31, 0x13, 0x11, 0x1, 0x12, 0x7, 0, 0, 0  # function: abstract_origin, low_pc, high_pc
  .section .debug_info,"",@progbits
.Lunit:
  .4byte .Lstop - .Lversion
.Lversion:
  .2byte 4
  .4byte 0
  .byte 8, 1
  .string "loop.s"
  .8byte _start, .Lend - _start
.Lfunction:
  .byte 2
  .4byte .Lfunction - .Lunit
  .8byte _start, .Lend - _start
  .byte 0
.Lstop:
"""


@case("debug information that refers to itself: the function has no name, which is said")
def _():
    _, stream = program_with_lines()
    path = os.path.join(scratch(), "loop")
    subprocess.run([lined.COMPILER, "-nostdlib", "-static", "-march=rv64imac", "-mabi=lp64", "-o", path, write("loop.s", LOOP.encode())], check=True)
    with open(path, "rb") as file:
        entry = struct.unpack_from("<Q", file.read(), 24)[0]
    text = f"ProgTraceSync SYNC=3 ICNT=0 FADDR={entry >> 1:#x}\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1\n"
    subprocess.run([NTRACE, "assemble", "-o", stream, write("loop.text", text.encode())], check=True)
    for command in ("flame",), ("profile",), ("report", "-o", "answer"):
        bounded(*command, "-e", path, stream, status=(1,), expected_text="loop: debug information: unit loop.s: attributes of entries: damaged")


@case("ELF: section headers that are not in the file: names are missing, which is said")
def _():
    path = write("headers.elf", elf_of([(0, 0x206, 0x100)], tiny.image(), shoff=1 << 40, shnum=5))
    matches("headers.elf: section headers: expected 5 of", Run("profile", "-e", path, trace(), status=1).err, "profile")


@case("a damaged note is not a missing build id: it is said, and the status is 1")
def _():
    def elf(note):
        at, names = 64 + 56 + 0x206, b"\0.note\0"
        headers = section(0, 0, 0, 0, 0) + section(7, 2, 0, at, len(note)) + section(3, 0, 0, at + len(note), len(names))
        made = elf_of([(0, 0x206, 0x100)], tiny.image() + note + names, headers, 3)
        return made[:62] + struct.pack("<H", 2) + made[64:]  # the section with the names of sections
    good = struct.pack("<III4s", 4, 20, 3, b"GNU") + bytes(range(20))
    for what, note, expected in (("whole", good, "build id 000102"), ("of no bytes", struct.pack("<III4s", 4, 0, 3, b"GNU"), ""),
                                 ("none", b"", "no build id"), ("another", struct.pack("<III4s4s", 4, 4, 1, b"GNU", b"abcd"), "no build id"),
                                 ("cut", good[:-4], ""), ("name", struct.pack("<I", 0xfffffff0) + good[4:], ""), ("long", good[:4] + b"\xff" * 4 + good[8:], "")):
        path, page = write("note.elf", elf(note)), os.path.join(scratch(), "note.html")
        done = Run("report", "-e", path, "-o", page, trace(), status=0 if expected else 1)
        matches("(?s)^(?!.*build id)" if expected else "note.elf: the build id cannot be read: sections or notes are damaged", done.err, what)
        with open(page, encoding="utf-8") as file:
            matches(f"note.elf, {expected or 'build id that cannot be read'}", file.read(), what)
        done = Run("stat", "--format", "json", "-e", path, trace(), status=0 if expected else 1)
        equal(json.loads(done.out)["quality"]["images"][0]["build_id"], bytes(range(20)).hex() if what == "whole" else None, what)


@case("debug information that expands to gigabytes is not read, which is said")
def _():
    path, stream = program_with_lines()
    with open(path, "rb") as file:
        sound = file.read()
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(512)) + packer.flush()
    for name in ".debug_info", ".debug_str", ".debug_line":
        header, _, _ = lined.sections(sound)[name]
        content = struct.pack("<IIQQ", 1, 0, 512 << 20, 1) + packed
        elf = bytearray(sound) + content
        struct.pack_into("<QQQQ", elf, header + 8, 0x800, 0, len(sound), len(content))
        large = write("large.elf", elf)
        bounded("coverage", "-e", large, stream, status=(1,), expected_text=f"large.elf: section {name}: more than 67108864 bytes")
        struct.pack_into("<Q", elf, len(sound) + 8, 1 << 62)  # claimed only
        bounded("coverage", "-e", write("large.elf", elf), stream, status=(1,), expected_text=f"large.elf: section {name}: more than")
    path, stream = lined.program("-gz")
    equal(Run("coverage", "-e", path, stream).err, "", "messages about a sound program with compressed sections")


@case("symbols in .gnu_debugdata that expand to gigabytes are not read, which is said")
def _():
    path, stream = program_with_lines()
    objcopy = need("riscv64-linux-gnu-objcopy")
    packer = lzma.LZMACompressor(preset=0)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()
    symbols_of = os.path.join(scratch(), "symbols")
    subprocess.run([objcopy, "--only-keep-debug", path, symbols_of], check=True)
    with open(symbols_of, "rb") as file:
        small = lzma.compress(file.read())
    for name, content, status, said in (
        ("large", packed, (1,), "large: section .gnu_debugdata: more than 67108864 bytes"),
        ("expands", small, (0,), ""),
        ("damaged", small[:40] + bytes(40) + small[80:], (1,), "damaged: debug information: section .gnu_debugdata: damaged"),
        ("cut", small[:-60], (1,), "cut: debug information: section .gnu_debugdata: damaged"),
    ):
        target = os.path.join(scratch(), name)
        subprocess.run([objcopy, "--strip-all", "--add-section", ".gnu_debugdata=" + write("packed", content), path, target], check=True)
        bounded("flame", "-e", target, stream, status=status, expected_text=said)
        matches("_start" if name == "expands" else "%", Run("profile", "-e", target, stream, status=status[0]).out, f"{name}: functions")


# ---- files that an input names

def recorded(options):
    """The program, whose first unit says that clang compiled it with these options."""
    path, stream = lined.program()
    with open(path, "rb") as file:
        elf = file.read()
    begin = elf.index(b"GNU C")
    text = f"clang version 14.0.6 -grecord-command-line -O1 {options}".encode()
    end = elf.index(b"\0", begin)
    check(len(text) <= end - begin, "the string has room")
    return write("recorded", elf[:begin] + text + bytes(end - begin - len(text)) + elf[end:]), stream


def decisions(path, stream, *options):
    """The messages of coverage with decisions; skips without libclang."""
    found = Run("coverage", "--to", "decisions", *options, "-e", path, stream, status=None)
    if "libclang" in found.err and found.status == 2:
        skip("build-feature")
    return found


@case("options that a program has recorded do not include a device, a FIFO or a file elsewhere")
def _():
    program_with_lines()
    os.makedirs(os.path.join(scratch(), "units"), exist_ok=True)
    fifo, foreign = os.path.join(scratch(), "units", "fifo"), write("foreign.h", b"int foreign;\n")
    os.mkfifo(fifo)
    for options in ("-include /dev/zero", f"-include {fifo}", "-imacros /dev/zero", f"-include {foreign}", "-include /etc/passwd"):
        path, stream = recorded(options)
        found = decisions(path, stream)
        equal(found.status, 1, f"{options}: status: {found.out} {found.err}")
        matches("a\.c: (its recorded options include|.*not a regular file)", found.err, options)
        bounded("coverage", "--to", "decisions", "-e", path, stream, status=(1,))
    own = os.path.join(scratch(), "units", "own.h")
    with open(own, "w", encoding="ascii") as file:
        file.write("#define OWN 1\n")
    path, stream = recorded("-include own.h -O1 -c")
    found = decisions(path, stream)
    equal((found.status, found.err), (0, ""), "a file of the folder of compilation")


@case("a source that is nested so deeply that libclang crashes, or whose macros expand to gigabytes: the other sources are read, and the status is 1")
def _():
    path, stream = program_with_lines()
    source = os.path.join(scratch(), "units", "a.c")
    with open(source, encoding="ascii") as file:
        sound = file.read()
    try:
        bomb = "".join(f"#define A{i} {f'A{i + 1} ' * 10}\n" for i in range(9)) + "#define A9 + x\n"
        for begin, text in ("", "!" * 20000 + "x"), ("", "(char)" * 20000 + "x"), (bomb, "x A0"):
            with open(source, "w", encoding="ascii") as file:
                file.write(f"{begin}int a(int x) {{\n  if ({text}) return 1;\n  return 2;\n}}\n")
            os.utime(source, (0, 0))
            found = decisions(path, stream, "--limit", "parse-memory=256M")
            equal(found.status, 1, f"status: {found.out} {found.err}")
            matches(r"a\.c: libclang (crashes|cannot parse it).*its decisions are missing", found.err, "message")
    finally:
        with open(source, "w", encoding="ascii") as file:
            file.write(sound)
        os.utime(source, (0, 0))


@case("a source that includes a device or a FIFO, in any spelling, is not parsed, which is said")
def _():
    path, stream = program_with_lines()
    source = os.path.join(scratch(), "units", "a.c")
    fifo = os.path.join(scratch(), "units", "pipe.h")
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    for line in ('#include "/dev/zero"', "#include </dev/zero>", f' /* # */ # include "{os.path.basename(fifo)}"', "%:include </dev/zero>",
                 '#define WHICH "/dev/zero"\n#include WHICH', '#inc\\\nlude "/dev/zero"', "#define S(x) #x\n#include S(/dev/zero)",
                 '#include "units2.h"'):
        with open(os.path.join(scratch(), "units", "units2.h"), "w", encoding="ascii") as file:
            file.write('#include "/dev/zero"\n')
        with open(source, "w", encoding="ascii") as file:
            file.write(line + "\n" + lined.UNITS["a.c"])
        found = decisions(path, stream)
        equal(found.status, 1, f"{line}: status: {found.out} {found.err}")
        matches("not a regular file|the name of an included", found.err, line)
    os.unlink(source)
    os.mkfifo(source)
    matches("not a regular file", decisions(path, stream).err, "the source is a FIFO")
    os.unlink(source)
    matches("the source is not here", decisions(path, stream).out, "a source that is not here is no failure")


@case("the list of threads of a bundle is not read through a link that may lead out, or from a FIFO, which is said")
def _():
    place = bundle("threads.ntrace", CAPTURE % "")
    for make in os.mkfifo, lambda name: os.symlink(write("secret", b"ntrace-tasks 1\nposition src context task pid tgid comm\n0 0 - 1 1 1 secret\n"), name):
        make(os.path.join(place, "tasks"))
        found = Run("profile", "--by", "thread", "-e", write("tiny.elf", tiny.elf()), place, status=1)
        matches("threads.ntrace/tasks: not a regular file: threads have no names", found.err, "message")
        check("secret" not in found.out, found.out)
        os.unlink(os.path.join(place, "tasks"))


@case("a source that exists and cannot be shown is named, with status 1; one that is not on this machine is not")
def _():
    path, stream = program_with_lines()
    source = os.path.join(scratch(), "units", "a.c")
    for make, expected in ((os.mkfifo, "not a regular file"), (lambda name: os.symlink(name, name), "Too many levels"),
                           (lambda name: write("units/a.c", b""), "expected a text, found an empty file"),
                           (lambda name: write("units/a.c", b"int a;\n\0"), "expected a text, found a byte 0"), (lambda name: None, "")):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(source)
        make(source)
        if os.path.isfile(source):
            os.utime(source, (0, 0))
        found = Run("profile", "--annotate", "-e", path, stream, status=1 if expected else 0)
        matches(f"units/a.c: {expected}.*; it is not shown" if expected else "^$", found.err, expected)


@case("coverage --evidence reads no device that a line table names")
def _():
    path, stream = program_with_lines()
    unit = write("named.c", b'# 1 "/dev/zero"\nvoid _start(void) {\n  for (;;) ;\n}\n')
    subprocess.run([lined.COMPILER, "-g", "-nostdlib", "-static", "-march=rv64imac", "-mabi=lp64", "-o", path, unit], check=True)
    bounded("coverage", "--evidence", os.path.join(scratch(), "evidence"), "-e", path, stream)
    bounded("coverage", "--merge", "/dev/zero", status=(2,), expected_text="line of more than")
    bounded("coverage", "--compile-commands", "/dev/zero", "--to", "decisions", "-e", path, stream, status=(1, 2))
    bounded("coverage", "--diff", write("evidence.json", b"{}")[:-14], "-e", path, stream, status=(2,))


@case("an ELF file that changes while a live trace is decoded: a sentence and a status, never SIGBUS")
def _():
    first, rest = bytes_of(tiny.TURNS * 2000), bytes_of(tiny.HTM)  # other code
    for what, change, expected in (("truncated", lambda path: os.truncate(path, 0), (2, "truncated while it was read")),
                                   ("written", lambda path: os.utime(path, (1, 1)), (1, "changed while it was read"))):
        place = folder()
        fifo, elf = os.path.join(place, "fifo"), os.path.join(place, "live.elf")
        os.mkfifo(fifo)
        with open(elf, "wb") as file:
            file.write(tiny.elf() + bytes(1 << 16))
        with open(os.path.join(place, "out"), "wb") as out, \
                subprocess.Popen([NTRACE, "decode", "--follow", "--show", "insn", "-e", elf, fifo], stdout=out, stderr=subprocess.PIPE) as child:
            with open(fifo, "wb") as end:
                end.write(first)
                end.flush()
                until(lambda: os.path.getsize(os.path.join(place, "out")), "output")
                change(elf)
                end.write(rest)
            messages = child.communicate(timeout=60)[1].decode()
        matches(expected[1], messages, what)
        equal(child.returncode, expected[0], f"{what}: status")


@case("a FIFO is opened once: its writer sees each opening, and loses what it writes when that one ends")
def _():
    fifo, inotify = os.path.join(folder(), "fifo"), ctypes.CDLL(None, use_errno=True)
    os.mkfifo(fifo)
    watch = inotify.inotify_init()
    check(inotify.inotify_add_watch(watch, os.fsencode(fifo), IN_CLOSE_NOWRITE | IN_OPEN) >= 0, "inotify watches the FIFO")
    for command in (["decode", "--follow", "--show", "insn"], ["decode"], ["profile"], ["coverage", "--level", "object"], ["flame"]):
        with subprocess.Popen([NTRACE, *command, "-e", write("once.elf", tiny.elf()), fifo], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as child:
            with open(fifo, "wb") as end:
                time.sleep(0.1)
                end.write(bytes_of(tiny.TURNS * 20))
            messages = child.communicate(timeout=60)[1].decode()
        equal(child.returncode, 0, f"{command}: {messages}")
        events = [mask for _, mask, _ in struct.iter_unpack("iI8s", os.read(watch, 4096))]
        equal(events.count(IN_CLOSE_NOWRITE), 1, f"{command}: times that the FIFO was closed by a reader")
    os.close(watch)


# ---- what is written

@case("export --to perf.data: links in OUTPUT.images are not followed, and nothing is left after a failure")
def _():
    path, stream = program_with_lines()
    place = os.path.join(scratch(), "planted")
    os.makedirs(f"{place}.images/0")
    victim = write("victim", b"precious")
    os.symlink(victim, f"{place}.images/0/lined")
    Run("export", "--to", "perf.data", "-o", place, "-e", path, stream)
    with open(victim, "rb") as file:
        equal(file.read(), b"precious", "a file that a planted link names")
    check(not os.path.islink(f"{place}.images/0/lined"), "the link was replaced")
    for kind in "images", "images/0":
        place = os.path.join(scratch(), "folder-" + kind[-1])
        other = os.path.join(scratch(), "other-" + kind[-1])
        os.makedirs(other)
        if "/" in kind:
            os.makedirs(place + ".images")
        os.symlink(other, f"{place}.{kind}")
        matches("OUTPUT.images", Run("export", "--to", "perf.data", "-o", place, "-e", path, stream, status=2).err, kind)
        equal(os.listdir(other), [], f"{kind} is a link")
    for arguments in (["-o", "/dev/full"],):
        Run("export", "--to", "perf.data", *arguments, "-e", path, stream, status=2)
        check(not os.path.exists("/dev/full.images"), "copies are removed")


HAZARDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
EVIL = "\x1b[31mE\x07\r\nfn=(1) injected\ncalls=99 0\u009b5m\u202etxt\u2066,\"=cmd"


def lined_units(text):
    """A source file whose name has terminal controls."""
    folder = os.path.join(scratch(), "evil")
    os.makedirs(folder, exist_ok=True)
    name = os.path.join(folder, "\x1b[2J\u202eevil.c")
    with open(name, "w", encoding="ascii") as file:
        file.write(text)
    return name


@case("a bundle whose every name is hostile: no line, terminal, spreadsheet or page obeys one of them")
def _():
    path = os.path.join(scratch(), "evil.elf")
    unit = lined_units("void _start(void) {\n  for (;;) ;\n}\n")
    if shutil.which(lined.COMPILER):
        subprocess.run([lined.COMPILER, "-g", "-nostdlib", "-static", "-march=rv64imac", "-mabi=lp64", "-o", path, unit], check=True)
        subprocess.run(["riscv64-linux-gnu-objcopy", "--redefine-sym", "_start=" + EVIL.replace("\n", "\x0b"), path], check=True)
    else:
        path = write("evil.elf", tiny.elf(symbols=((EVIL, 0x100, 0x16),)))
    with open(path, "rb") as file:
        elf = file.read()
    entry = struct.unpack_from("<Q", elf, 24)[0]
    stream = bytes_of(f"ProgTraceSync SYNC=3 ICNT=0 FADDR={entry >> 1:#x}\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1\n")
    whole = bundle("evil\x1b[5m.ntrace", json.dumps({
        "format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {}, "command": [EVIL, "=1+1"], "target": EVIL, "tool": EVIL,
        "images": [{"file": "images/prog", "kind": "elf", "name": EVIL}]}), stream)
    os.makedirs(os.path.join(whole, "images"), exist_ok=True)
    with open(os.path.join(whole, "images", "prog"), "wb") as file:
        file.write(elf)
    for command in (["profile"], ["profile", "--by", "line"], ["profile", "--by", "instruction", "--format", "csv"], ["profile", "--by", "instruction"],
                    ["flame", "--to", "folded"], ["coverage"], ["decode", "--show", "insn"], ["decode", "--show", "call"],
                    ["decode", "--show", "insn", "--format", "csv"], ["decode"], ["export", "--to", "callgrind"], ["stat"], ["check"],
                    ["coverage", "--to", "lcov"], ["diff", whole], ["dump"]):
        found = Run(*command, whole, status=None)
        check(found.status in (0, 1), f"{command}: {found.err}")
        for line in (found.out + found.err).split("\n"):
            check(not HAZARDS.search(line), f"{' '.join(command[:3])}: {line!r}")
            check(not re.match(r"(fn=\(1\) injected|calls=99 0)", line), f"{' '.join(command[:3])}: {line!r}")
            check("csv" not in command or not re.search('(^|,)"?[=+@]', line), f"{' '.join(command[:3])}: {line!r}")
    for command in (["report"], ["flame"]):
        out = write("evil.out", b"")
        found = Run(*command, "-o", out, whole, status=None)
        with open(out, "rb") as file:
            text = file.read().decode("utf-8")
        if text.lstrip().startswith(("{", "[")):
            json.loads(text)
        if "<svg" in text[:300]:
            xml.etree.ElementTree.fromstring(text)
        check("\x1b" not in text, f"{command}: an escape")


@case("the text of sources does not control a terminal")
def _():
    program_with_lines()
    path, source = os.path.join(scratch(), "colour"), write("colour.c", b"void _start(void) { /* \x1b[31m \x1b]0;title\x07 */\n  for (;;) ;\n}\n")
    subprocess.run([need(lined.COMPILER), "-g", "-nostdlib", "-static", "-march=rv64imac", "-mabi=lp64", "-o", path, source], check=True)
    with open(path, "rb") as file:
        entry = struct.unpack_from("<Q", file.read(), 24)[0]
    stream = write("colour.nex", bytes_of(f"ProgTraceSync SYNC=3 ICNT=0 FADDR={entry >> 1:#x}\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=1\n"))
    text = Run("profile", "--annotate", "-e", path, stream).out
    matches(r"colour.c:1  void _start\(void\) \{ /\* \?\[31m \?\]0;title\? \*/", text, "the line of the source")
    check(not any(HAZARDS.search(line) for line in text.split("\n")), text)


@case("names in topologies are words: a script has no commands of them")
def _():
    for name in ("r\nshell touch pwned\n", "r} ; exec touch pwned; list {", "te0}} reason]} {}; exec touch pwned; if {[catch {", "$(touch pwned)",
                 "a b", "-x", "", "a" * 65, "\u202e", "[x]", "a;b", "a:b"):
        place = write("topology.json", json.dumps({"components": [
            {"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": name},
            {"name": name, "type": "ram", "base": "0x10020000", "sram": 65536}]}).encode())
        for script in "gdb", "openocd":
            found = Run("capture", "--script", script, "-o", os.path.join(scratch(), "script"), "-t", place, "--for", "100ms", status=2)
            matches("components.1..name: expected", found.err, repr(name))
            check(not HAZARDS.search(found.err.replace("\n", "")), repr(found.err))


def recorder(folder, name, result="exit 0"):
    """A program that writes its arguments to NAME.arguments, one a line."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >> {path}.arguments\n{result}\n")
    os.chmod(path, 0o755)
    return path + ".arguments"


@case("programs that are started get no options and no other page from names of files")
def _():
    programs, place = folder(), folder()
    with open(write("gdb.elf", tiny.elf()), "rb") as file:
        elf = file.read()
    name = "-eval-command=shell touch pwned; true .ntrace"
    os.makedirs(os.path.join(place, name, "images"))
    for part, content in (("capture.json", b'{"format":"ntrace-bundle","version":1,"stream":"trace.nex","params":{},'
                           b'"images":[{"kind":"elf","file":"images/prog"}]}'), ("trace.nex", bytes_of(tiny.HTM)), ("images/prog", elf)):
        with open(os.path.join(place, name, part), "wb") as file:
            file.write(content)
    arguments = recorder(programs, "gdb-multiarch", "echo riscv:rv64; exit 0")
    path = {"PATH": f"{programs}:{os.environ['PATH']}"}
    Run("gdb", "--", name, cwd=place, env=path, status=None)
    with open(arguments, encoding="utf-8") as file:
        given = file.read().splitlines()
    check(f"./{name}/images/prog" in given and not [each for each in given if each.startswith("-eval")], str(given))
    arguments = recorder(programs, "weasyprint", "exit 127"), recorder(programs, "chromium", 'for a; do case $a in --print-to-pdf=*) : > "${a#*=}";; esac; done')
    Run("coverage", "--evidence", "q#z?%41", "--pdf", "--", name, cwd=place, env=path, status=None)
    with open(arguments[1], encoding="utf-8") as file:
        given = file.read().splitlines()
    matches(r"^file:///.*/q%23z%3F%2541/[^#?]*\.html$", given[-1], "the address of the page")


@case("names with line feeds and terminal controls: each such character is a question mark")
def _():
    names = ("fn=(1) evil\nfn=(2) worse\r", "\x1b[2J\x07gone\x7f", "plain")
    elf = write("names.elf", tiny.elf(symbols=tuple((name, *place) for name, place in zip(names, ((0x100, 0x16), (0x200, 4), (0x300, 6))))))
    for arguments in (("profile",), ("flame", "--to", "folded"), ("export", "--to", "callgrind"), ("decode", "--show", "insn"),
                      ("decode", "--show", "call"), ("coverage",)):
        shown = Run(*arguments, trace(), "-e", elf, status=None).bytes
        check(not any(byte in shown for byte in b"\x1b\x07\x7f\r") and b"\nfn=(2) worse" not in shown, " ".join(arguments))
    shown = Run("decode", "--show", "insn", trace(), "-e", elf).out
    matches(r"fn=\(1\) evil\?fn=\(2\) worse\?", shown, "the name")
    matches("<?plain", shown, "another name")


@case("bundle: a valid one is read")
def _():
    bounded("dump", bundle("sound", CAPTURE % ""), status=(0,))


@case("JSON: a million brackets, long numbers, duplicate keys, bytes that are not text")
def _():
    for name, text, expected_text in (("deep", "[" * 1000000, "depth"), ("deeper", '{"a":' * 1000000, "depth"),
                              ("number", CAPTURE % (',"x":1' + "0" * 400), "number|big|range"),
                              ("exponent", CAPTURE % ',"x":1e999999', "real|number|overflow"),
                              ("twice", CAPTURE % ',"version":1', "duplicate"),
                              ("bytes", b'{"\xff":1}', "unable to decode"), ("end", "{", "end of file"), ("none", b"", "empty")):
        bounded("dump", bundle(name, text), status=(2,), expected_text=expected_text)


@case("JSON: 16 MB of the smallest values; more is refused")
def _():
    bounded("dump", bundle("wide", CAPTURE % (',"x":[' + "[]," * 5000000 + "0]")), status=(0, 2), megabytes=900)
    bounded("dump", bundle("wider", CAPTURE % (',"x":"' + "a" * (17 << 20) + '"')), status=(2,), expected_text="limit capture-json")


@case("bundle: 100,000 images")
def _():
    images = ",".join('{"kind":"raw","file":"trace.nex","bias":"0x%x"}' % (i * 8) for i in range(100000))
    bounded("decode", bundle("images", CAPTURE % f',"images":[{images}]'))


@case("bundle: names and links that lead out of the folder are refused")
def _():
    secret = write("secret", b'{"token": x')
    named = '{"format":"ntrace-bundle","version":1,"stream":"%s","params":{}}'
    for number, name in enumerate(("/etc/passwd", "../secret", "a/../../secret", ".", "", "a//b", "trace.nex/", "./trace.nex")):
        bounded("dump", bundle(f"name{number}", named % name), status=(2,), expected_text="not the name of a file inside|expected")
    for name, files in (("stream", [("trace.nex", secret)]), ("capture", [("capture.json", secret)]),
                        ("device", [("trace.nex", "/dev/zero")]), ("loop", [("trace.nex", "trace.nex")])):
        folder = os.path.join(scratch(), "link-" + name)
        os.makedirs(folder)
        for link, target in files:
            os.symlink(target, os.path.join(folder, link))
        bundle("link-" + name, CAPTURE % "")
        bounded("dump", folder, status=(2,), expected_text="outside|levels of symbolic links|no such|not a regular")
    outer = bundle("outer", CAPTURE % ',"images":[{"kind":"raw","file":"folder/secret","bias":"0x100"}]')
    os.symlink(scratch(), os.path.join(outer, "folder"))
    bounded("decode", outer, status=(2,), expected_text="outside")


@case("bundle: an index that is a pipe, a device, a folder, endless or wrong")
def _():
    folder = bundle("indexed", CAPTURE % "")
    index = os.path.join(folder, "index")

    def decode():
        bounded("decode", folder, "-e", write("indexed.elf", tiny.elf()), "--from", "2")

    def remove():
        (os.rmdir if os.path.isdir(index) else os.unlink)(index)

    decode()
    with open(index, encoding="ascii") as file:
        header = "".join(file.readlines()[:2])
    matches("^ntrace-index 1 stream .*\nkind src .*\n$", header, "header")
    remove()
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink(path, path)):
        make(index)
        decode()
        remove()
    last = (1 << 64) - 1
    for points in ("x" * 1000000, f"sync 0 {last} 1 0 0 0 0 - 0 - -\nend\n", f"first 0 0 {last} {last} 1 0 2 3 1 {last} {last}\nend\n",
                   "sync 65535 0 1 0 0 0 0 - 0 - -\nend\n", "sync 0 0 1 0 0 0 0 - 0 - -\n" * 1200000 + "end\n"):
        with open(index, "w", encoding="ascii") as file:
            file.write(header + points)
        decode()
        remove()


@case("bundle: a pipe without a writer")
def _():
    folder = bundle("pipe", CAPTURE % "", None)
    os.mkfifo(os.path.join(folder, "trace.nex"))
    bounded("dump", folder, status=(2,), expected_text="not a regular file")
    folder = os.path.join(scratch(), "pipe2")
    os.makedirs(folder)
    os.mkfifo(os.path.join(folder, "capture.json"))
    bounded("dump", folder, status=(2,))


# ---- zstd

def frame(blocks, window=0x58):
    """A zstd frame: magic, a header with a window, blocks of one byte repeated 128 KiB, an empty last block."""
    block = struct.pack("<I", 1 << 1 | (128 << 10) << 3)[:3]
    return b"\x28\xb5\x2f\xfd\x00" + bytes([window]) + (block + b"\xff") * blocks + b"\x01\x00\x00"


@case("zstd: endless frames that expand 4 bytes to 128 KiB")
def _():
    bounded("dump", write("bomb.zst", frame(100000)), status=(2,), expected_text="limit zst-output|without zstd")


@case("zstd: a window of a terabyte")
def _():
    bounded("dump", write("window.zst", frame(1, window=0xf8)), expected_text="limit zst-window|without zstd", status=(1, 2))


# ---- text

@case("text: one line of 8 MB, a million short ones, no line at all")
def _():
    for content in (b"a" * (8 << 20), b"\n" * 1000000, b"0x" * 1000, bytes(1 << 20), b"[" * 60000, b"{\"a\":" * 12000):
        path = write("lines", content)
        bounded("assemble", "-o", "answer", path)
        code = write("code", tiny.image()) + "@0x100"
        for option in ("--pc", "--spike-log", "--ingress"):
            bounded("encode", "--raw", code, "-o", "answer", option, path)
        for kind in ("jitdump", "perf-map"):
            bounded("decode", "--" + kind, path, trace())


@case("run: an endless topology")
def _():
    guest = write("guest.elf", tiny.elf())
    bounded("run", "--topology", "/dev/zero", "-o", os.path.join(scratch(), "never.ntrace"), "--", guest, status=(2,),
            expected_text="expected at most 1048576 bytes|plugin|qemu")


@case("VCD: widths, times and names beyond the limits")
def _():
    head = "$timescale 1 ns $end\n$scope module top $end\n"
    for body in ("$var wire 4294967295 ! TRC_DATA $end\n$enddefinitions $end\n#0\nb" + "1" * 1000000 + " !\n",
                 "$var wire 4 ! TRC_DATA $end\n$enddefinitions $end\n" + "#18446744073709551615\nb1 !\n#0\nb0 !\n" * 1000,
                 "$var wire 4 " + "!" * 1000000 + " TRC_DATA $end\n$enddefinitions $end\n",
                 "".join(f"$var wire 1 {i} N{i} $end\n" for i in range(20000)) + "$enddefinitions $end\n"):
        bounded("convert", "--input-format", "pib4", "--vcd-in", "-o", "answer", write("vcd", (head + body).encode()))


# ---- containers of other producers

ANDES = "0d000002 010106 020100 030130 040100"
XUANTIE = "18000000 06000000 02000000 28000000 00000000 00000000"
CTTE = "e8c4fcfcfc3dc400a089d1188904a1580807"
LARGE = 2 << 20 if SANITIZER == "none" else 1 << 18


def words_of(data):
    return "".join(f"{word:08x}\n" for (word,) in struct.iter_unpack("<I", data + bytes(-len(data) % 4))).encode()


def hostile_andes():
    """(bytes, expected words) of capture files."""
    header = bytes.fromhex(ANDES)
    return [
        (header, "found none|expected messages"),                               # a header alone
        (header + bytes(LARGE), "no end|rest of the message|expected"),         # one message without end
        (header + b"\x03" * LARGE, "expected"),                                 # only ends of messages
        (bytes.fromhex("3f000002") + b"\xfe\x00" * 31, "missing|runs over"),    # only padding
        (bytes.fromhex("3f000002") + b"\x77\xff" * 31, "runs over the end"),
        (bytes.fromhex("0d000002 0101ff 020100 030130 040100"), "outside its limits"),
        (bytes.fromhex("0d000002 010106 020100 030100 040100"), "outside its limits"),
        (bytes.fromhex("0d000002 010106 010106 010106 010106"), "missing"),     # one value four times
        (bytes.fromhex("0d0000020101"), "ends inside it"),
        (bytes.fromhex("0d000002 010006 0201"), "wrong length|ends inside"),
        (bytes.fromhex("06012701"), "found none|expected messages"),            # version 1, a header alone
        (bytes.fromhex("06012701") + bytes(LARGE), "expected"),
    ]


def hostile_xuantie():
    header = bytes.fromhex(XUANTIE)

    def with_word(number, value):
        return header[:4 * number] + struct.pack("<I", value) + header[4 * number + 4:]
    return [
        (header, "found none|expected messages"),
        (with_word(4, 1), "found none|expected messages"),                      # wrapped, and nothing behind
        (with_word(4, 1) + bytes(LARGE), "expected|found none"),                # wrapped, and no message ever ends
        (header + bytes(LARGE), "expected"),
        (header + b"\x03" * LARGE, "expected"),
        *((with_word(number, 0xffffffff) + b"\x24\x05\x00\x0b", "expected|byte 0x") for number in range(6)),
    ]


def hostile_ctte():
    config = bytes.fromhex(CTTE)
    return [
        (config, ""),
        (config + bytes(LARGE), "expected"),
        (config * 100000, ""),
        (b"\xff" * 4096 + config, ""),                                          # far from the beginning
        (config[:-1], "expected"),
        (b"\xe8" * LARGE, "expected"),                                          # every byte may begin Config
        (b"\xe8\x03" * (LARGE // 64), ""),
        (config + bytes.fromhex("1cf0") + b"\xfc" * 4096 + b"\x03", "expected"), # DQDATA without limit
        (config + bytes.fromhex("7cfcfcfcfcfcfcfcfcfcfd1907"), ""),             # RepeatInstruction, 2^60 times
        (config + bytes.fromhex("e0fcfcfcfcfcfcfcfcfcff") * 100, ""),           # BranchPredict, 2^60 branches
    ]


def containers(files, text=False):
    elf = write("hostile.elf", tiny.elf())
    for data, words in files:
        path = write("hostile.bin", words_of(data) if text else data)
        bounded("dump", "-o", "answer", path, expected_text=words)
        for command in (["decode"], ["stat"]):
            bounded(*command, "-e", elf, path)


@case("Andes capture files: headers without end, values outside their limits, streams of one message")
def _():
    containers(hostile_andes())


@case("the same as text, and text that is none")
def _():
    containers([(data, "") for data, _ in hostile_andes() if len(data) < LARGE], text=True)
    for data in (b"0d000002\n" * 1000, b"0d000002\n" + b"f" * LARGE, b"0d000002\n\0" + bytes(LARGE), b"00000001\n0d0000\n"):
        bounded("dump", "-o", "answer", write("hostile.log", data))


@case("XuanTie trace sessions: words outside their limits, wrapped buffers in which no message ends")
def _():
    containers(hostile_xuantie())


@case("CEDARtools: Config alone, many times, cut; counts of 2^60")
def _():
    containers(hostile_ctte())


# ---- images of programs that write themselves

@case("jitdump: 10,000 code blocks, each moved over all others")
def _():
    def record(kind, body):
        return struct.pack("<IIQ", kind, 16 + len(body), 0) + body
    code = tiny.image() * 200
    load = b"".join(record(0, struct.pack("<IIQQQQ", 1, 1, 0x100, 0x100 + i, len(code) if i == 0 else 2, i) + b"f\0"
                           + (code if i == 0 else b"\x01\x00")) for i in range(10000))
    moves = b"".join(record(1, struct.pack("<IIQQQQQ", 1, 1, 0x100, 0x100, 0x100 + i, len(code), 0)[:48]) for i in range(10000))
    head = struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 243, 0, 1, 0, 0)
    path = write("jit.dump", head + load + moves)
    for command in ANSWERS:
        bounded(*command, "--jitdump", path, trace())


# ---- many sources

@case("bytes are lost while 17, 300 and 4,096 sources are traced: a gap for each, in every command")
def a_gap_for_each_source():
    elf = write("nops.elf", elf_of([(0, 64, 0x100)], b"\x01\x00" * 32))
    for count in (17, 300, 4096):
        text = "".join(f"{message} SRC={source}\n" for message in ("ProgTraceSync SYNC=1 ICNT=0 FADDR=0x80", "ResourceFull RCODE=0 RDATA0=4")
                       for source in range(count))
        stream = write("sources", bytes_of(text, "--src-bits", "12") + b"\x03")
        known = ("--src-bits", "12", "-e", elf, stream)
        rows = Run("decode", *known, "--format", "jsonl", status=1).rows()
        equal([row["src"] for row in rows if row["kind"] == "gap"], list(range(count)), "sources with a gap")
        equal(sum(row.get("instructions", 0) for row in rows), 4 * count, "instructions before the gaps")
        for words in (["decode"], ["decode", "-j", "2"], ["decode", "--show", "insn"], ["decode", "--show", "pc"], ["check"], ["profile"],
                      ["profile", "-j", "2"], ["coverage"], ["flame"], ["timeline"], ["report", "-o", "answer"], ["stat"]):
            bounded(*words, *known, status=(1,))
        matches(rf"\ngaps {count}\n", Run("decode", "--show", "count", *known, status=1).out, "count")


main()
