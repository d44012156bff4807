#!/usr/bin/env python3
"""Every text that we write, of a bundle whose every name is hostile, read by a parser of its language: it has the shape of that of a harmless bundle.

usage: hostile_text.py NTRACE
Pages are judged by hostile_pages.py.
"""
import ast
import collections
import csv
import functools
import gzip
import io
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import xml.etree.ElementTree

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, ROOT, bytes_of, case, check, equal, main, matches, need, scratch, write

NAMES = (b"$(touch pwned)`touch pwned`;touch pwned #", b"[exec touch pwned]{$pwned}; exec touch pwned", b"\"'\\\"\\'\\\\ \\", b"</script>]]>--><x a='\">&lt;&#0;",
         b"\x01\x07\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8txt", b"\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80", b"=1+1", b"+cmd|' /C calc'!A0",
         b"-1,\"2\",@SUM(1)", b"@\t=1;2", b"fn=(1) injected\ncalls=99 0\nend_of_record\nSF:x\r\n", b"a" * 5000, b"%s%n%1$s {0} ${a} %41", b"a;b;c 99", b" ", b"*/ x /* :1,2=3 |\\l")
HAZARDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
C0 = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
FORMULA = re.compile("[=+@\t\r]|-(?![0-9.]+$)")


def named(number, hostile):
    return NAMES[number % len(NAMES)] + b"%d" % number if hostile else b"name%d" % number


def in_json(number, hostile):
    return named(number, hostile).decode(errors="replace")


def quoted(name):
    """A string of C."""
    return b"".join(b"\\%03o" % byte if byte in b'"\\\n\r?' or byte < 32 else bytes([byte]) for byte in name)


@functools.cache
def bundle(hostile, lined=True):
    """Functions that call each other, each in a file of its own; with lines, the names of functions are those of the debug information."""
    folder = os.path.join(scratch(), f"made-{hostile}-{lined}")
    os.makedirs(folder)
    count = len(NAMES)
    source = [b"void name0(void);"] + [b"void name%d(void);" % i for i in range(1, count)]
    for i in reversed(range(count)):
        body = b"name%d(); __asm__ volatile(\"\");" % (i + 1) if i + 1 < count else b"for (;;) ;"
        source += [b'# 1 "%s.c"' % quoted(named(i + 1, hostile).replace(b"/", b"-")[-200:]), b"__attribute__((noinline)) void name%d(void) { %s }" % (i, body)]
    source += [b'# 1 "start.c"', b"void _start(void) { name0(); __asm__ volatile(\"\"); }", b""]
    path, elf = os.path.join(folder, "source.c"), os.path.join(folder, "elf")
    with open(path, "wb") as file:
        file.write(b"\n".join(source))
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-g", "-w", "-O1", "-nostdlib", "-static", "-march=rv64imac", "-mabi=lp64", "-o", elf, path], check=True)
    renames = [word for i in range(count) for word in (b"--redefine-sym", b"name%d=" % i + named(i, hostile))]
    subprocess.run([need("riscv64-linux-gnu-objcopy"), *(renames if hostile else ()), *(() if lined else ("--strip-debug",)), elf], check=True)
    with open(elf, "rb") as file:
        code = file.read()
    entry = struct.unpack_from("<Q", code, 24)[0]
    place = os.path.join(os.fsencode(folder), named(1, hostile).replace(b"/", b"-") + b".ntrace")
    os.makedirs(os.path.join(place, b"images"))
    capture = {"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {}, "command": [in_json(i, hostile) for i in range(count)],
               "target": in_json(2, hostile), "tool": in_json(0, hostile), "test": in_json(10, hostile), "tick": "instruction",
               "losses": [{"position": i, "what": in_json(i, hostile)} for i in range(count)], "sources": [{"src": 0, "hart": 0, "name": in_json(10, hostile)}],
               "images": [{"file": "images/prog", "kind": "elf", "name": in_json(3, hostile)}]}
    tasks = b"ntrace-tasks 1\nposition src context task pid tgid comm\n" + b"".join(
        b"0 0 %d %d %d 7 %s\n" % (i, i + 1, i + 7, named(i, hostile).replace(b"\n", b" ").replace(b"\r", b" ")) for i in range(count))
    stream = f"ProgTraceSync SYNC=3 ICNT=0 FADDR={entry >> 1:#x}\nProgTraceCorrelation EVCODE=0 CDF=0 ICNT=900\n"
    for name, content in ((b"capture.json", json.dumps(capture).encode()), (b"images/prog", code), (b"trace.nex", bytes_of(stream)), (b"tasks", tasks)):
        with open(os.path.join(place, name), "wb") as file:
            file.write(content)
    return place


def answer(hostile, command, *arguments, lined=True):
    """What the command writes, in a folder of its own; no name was run."""
    place = os.path.join(scratch(), "place")
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    done = subprocess.run([NTRACE, command, *arguments, "--", bundle(hostile, lined)], cwd=place, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    line = f"{command} {' '.join(arguments)}"
    check(done.returncode in (0, 1), f"{line}: {done.returncode} {done.stderr[-500:]}")
    harmless(done.stderr, line + ": messages")
    equal(sorted(os.listdir(place)), sorted(set(arguments) & {"out"}), f"{line}: files")
    if "out" not in arguments:
        return done.stdout
    with open(os.path.join(place, "out"), "rb") as file:
        return file.read()


def harmless(text, what, encoding="utf-8"):
    """UTF-8 without a control. Files for other tools have the bytes of the names of files, also of ISO 8859-1."""
    for line in text.decode(encoding).split("\n"):
        check(not (HAZARDS if encoding == "utf-8" else C0).search(line), f"{what}: {line[:300]!r}")


def shape(value, at=""):
    """How often each place of a JSON value has each kind of value."""
    found = collections.Counter({(at, type(value).__name__ if not isinstance(value, (int, float)) else "number"): 1})
    for key, inner in value.items() if isinstance(value, dict) else [("[]", each) for each in value] if isinstance(value, list) else []:
        found += shape(inner, f"{at}/{key}" if not re.search("name[0-9]", key) and key in KEYS else at + "/*")
    return found


KEYS = set()


def keys(value):
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []:
        KEYS.add(key)
        keys(inner)


def same(judge, *command):
    for lined in (True, False):
        what = f"{' '.join(command)}{'' if lined else ', without lines'}"
        found, expected = (judge(answer(hostile, *command, lined=lined), what) for hostile in (True, False))
        differing = {key: (found.get(key), expected.get(key)) for key in {*found, *expected} if found.get(key) != expected.get(key)} if isinstance(found, dict) else ""
        check(found == expected, f"{what}: another shape: {str(differing or (found, expected))[:800]}")


def whole_json(text, what):
    value = json.loads(gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text.decode("utf-8"))
    return shape(value)


def lines_json(text, what):
    return sum((shape(json.loads(line)) for line in text.decode("utf-8").split("\n") if line), collections.Counter())


@case("JSON: the same places have the same kinds of values")
def _():
    for command in (("profile", "--format", "json"), ("profile", "--by", "line", "--format", "json"), ("coverage", "--to", "json"), ("coverage", "--to", "gcovr-json"),
                    ("coverage", "--to", "decisions-json"), ("flame", "--to", "speedscope"), ("timeline", "--to", "chrome", "-o", "out"), ("timeline", "--to", "firefox", "-o", "out"),
                    ("timeline", "--to", "json", "-o", "out"), ("stat", "--format", "json"), ("check", "--format", "json"), ("check", "--format", "sarif"), ("dump", "--format", "json"),
                    ("decode", "--format", "json")):
        plain = answer(False, *command)
        if "check" not in command:
            keys(json.loads(gzip.decompress(plain) if plain[:2] == b"\x1f\x8b" else plain))
        same(whole_json, *command)
    for command in (("decode", "--format", "jsonl"), ("export", "--to", "jsonl"), ("export", "--to", "calltree")):
        for line in answer(False, *command).splitlines():
            keys(json.loads(line))
        same(lines_json, *command)


def table(text, what):
    harmless(text, what)
    rows = list(csv.reader(io.StringIO(text.decode(), newline=""), strict=True))
    for cell in (cell for row in rows for cell in row):
        check(not FORMULA.match(cell), f"{what}: {cell!r}")
    return [len(row) for row in rows]


@case("CSV: as many rows and cells, and no formula")
def _():
    for command in (("profile", "--format", "csv"), ("profile", "--by", "line", "--format", "csv"), ("profile", "--by", "instruction", "--format", "csv"),
                    ("decode", "--format", "csv"), ("decode", "--show", "insn", "--format", "csv"), ("decode", "--show", "call", "--format", "csv")):
        same(table, *command)


def tags(text, what):
    harmless(text, what)
    return collections.Counter((each.tag, tuple(sorted(each.attrib))) for each in xml.etree.ElementTree.fromstring(text.decode()).iter())


@case("XML: the same elements with the same attributes")
def _():
    for command in (("coverage", "--to", "cobertura"), ("coverage", "--to", "sonarqube"), ("flame", "--to", "svg"), ("check", "--format", "junit")):
        same(tags, *command)


def kinds(pattern):
    def judge(text, what):
        harmless(text, what, "latin-1")
        found = [(re.match(pattern, line), line) for line in text.decode("latin-1").split("\n") if line]
        for match, line in found:
            check(match, f"{what}: {line[:300]!r}")
        return collections.Counter(match[1] for match, _ in found)
    return judge


def frames(text, what):
    harmless(text, what, "latin-1")
    return sorted(line.count(";") for line in text.decode("latin-1").split("\n"))


def count_lines(text, what):
    harmless(text, what, "latin-1")
    return text.count(b"\n")


@case("formats of lines: the same kinds of lines, as often")
def _():
    same(frames, "flame", "--to", "folded")
    same(kinds(r"(SF|TN|FN|FNDA|FNF|FNH|FNL|FNA|DA|LF|LH|BRDA|BRF|BRH|VER|end_of_record)\b"), "coverage", "--to", "lcov")
    same(kinds(r"(SF|TN|FN|FNDA|FNF|FNH|FNL|FNA|DA|LF|LH|BRDA|BRF|BRH|VER|end_of_record)\b"), "coverage", "--to", "lcov2")
    same(kinds(r"(version|creator|cmd|positions|events?|desc|part|ob|fl|fi|fe|fn|cob|cfi|cfl|cfn|calls|summary|totals|[0-9+*-]|#)"), "export", "--to", "callgrind")
    for name in ("autofdo", "bolt", "perf-script", "llvm", "konata", "rvvi"):
        same(count_lines, "export", "--to", name, "-o", "out")


@case("text: no control reaches a terminal")
def _():
    for command in (("profile",), ("profile", "--by", "line"), ("profile", "--annotate"), ("coverage",), ("coverage", "--to", "decisions"), ("decode",), ("decode", "--show", "insn"),
                    ("decode", "--show", "call"), ("stat",), ("check",), ("dump",), ("timeline", "--to", "summary")):
        harmless(answer(True, *command), " ".join(command))
        harmless(answer(True, *command, lined=False), " ".join(command))


@case("callgrind_annotate and genhtml read the names", "callgrind_annotate")
@case("callgrind_annotate and genhtml read the names", "genhtml")
def _(program):
    need(program)
    data = write("data." + program, answer(True, *(("export", "--to", "callgrind") if program.startswith("callgrind") else ("coverage", "--to", "lcov"))))
    place = os.path.join(scratch(), "read")
    os.makedirs(place, exist_ok=True)
    options = ["--ignore-errors", "source", "-q", "-o", os.path.join(place, "page")] if program == "genhtml" else ["--threshold=100"]
    done = subprocess.run([program, *options, data], cwd=place, capture_output=True, timeout=60, check=False)
    equal(done.returncode, 0, f"{program}: {done.stderr[-800:]}")
    check("pwned" not in os.listdir(place), program)


@case("dot reads the call graph: as many nodes and edges")
def _():
    def judge(text, what):
        drawn = subprocess.run([need("dot"), "-Tplain"], input=text, capture_output=True, timeout=60, check=False)
        equal((drawn.returncode, b"rror" in drawn.stderr), (0, False), what)
        return len(re.findall(rb"(?m)^node ", drawn.stdout)), len(re.findall(rb"(?m)^edge ", drawn.stdout))
    same(judge, "export", "--to", "dot")


@case("protobuf: pprof and Perfetto have the same fields as often, and every text is UTF-8 without a control")
def _():
    def read(kind):
        def judge(text, what):
            shown = subprocess.run([need("protoc"), f"--proto_path={ROOT}/src/export", f"--decode=ntr.{kind}", f"{ROOT}/src/export/{kind.partition('.')[0]}.proto"],
                                   input=gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text, capture_output=True, timeout=60, check=False)
            equal((shown.returncode, shown.stderr), (0, b""), what)
            for name in re.findall(rb'"((?:[^"\\]|\\.)*)"$', shown.stdout, re.M):
                harmless(ast.literal_eval(f"b'{name.decode()}'"), what)
            return collections.Counter(re.match(rb"\s*\w*", line)[0] for line in shown.stdout.splitlines())
        return judge
    same(read("pprof.Profile"), "export", "--to", "pprof", "-o", "out")
    same(read("perfetto.Trace"), "timeline", "--to", "perfetto", "-o", "out")


@case("CTF: babeltrace2 reads as many events, each on one line")
def _():
    for lined in (True, False):
        counts = []
        for hostile in (True, False):
            place = os.path.join(scratch(), f"ctf-{hostile}-{lined}")
            done = subprocess.run([NTRACE, "timeline", "--to", "ctf", "-o", place, "--", bundle(hostile, lined)], capture_output=True, timeout=60, check=False)
            check(done.returncode in (0, 1), f"timeline --to ctf: {done.stderr[-500:]}")
            shown = subprocess.run([need("babeltrace2"), place], capture_output=True, timeout=60, check=False)
            equal((shown.returncode, shown.stderr), (0, b""), "babeltrace2")
            harmless(shown.stdout, "babeltrace2")
            counts.append(shown.stdout.count(b"\n"))
        equal(counts[0], counts[1], "lines")


@case("SQLite: the database is whole and has as many rows")
def _():
    def judge(text, what):
        with sqlite3.connect(write("database", text)) as database:
            equal(database.execute("pragma integrity_check").fetchall(), [("ok",)], what)
            tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
            return {name: database.execute(f'select count(*) from "{name}"').fetchone() for name in tables}
    same(judge, "export", "--to", "sqlite", "-o", "out")


@case("capture scripts: names of files are words of Tcl and of GDB, or are refused")
def _():
    place = os.path.join(scratch(), "scripts")
    os.makedirs(place, exist_ok=True)
    topology = write("topology.json", json.dumps({"components": [
        {"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "ram0"},
        {"name": "ram0", "type": "ram", "base": "0x10020000", "sram": 65536}]}).encode())
    for name in NAMES:
        name = name.replace(b"/", b"-")[:200]
        for kind, program in (("openocd", ["tclsh"]), ("gdb", ["gdb", "-nx", "-batch", "-x"])):
            if kind == "gdb" and not shutil.which("gdb") or kind == "openocd" and not shutil.which("tclsh"):
                continue
            done = subprocess.run([NTRACE, "capture", "--script", kind, "-t", topology, "--for", "10ms", "-o", b"./" + name], cwd=place, capture_output=True, check=False)
            if done.returncode:
                matches("expected|cannot|characters", done.stderr.decode(), repr(name))
                continue
            prelude = b"proc unknown args {return 0}\n" if kind == "openocd" else b""
            script = write("script", prelude + done.stdout)
            subprocess.run([*program, script], cwd=place, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
            check(not os.path.exists(os.path.join(place, "pwned")), f"{kind}: {name!r} was run")


main()
