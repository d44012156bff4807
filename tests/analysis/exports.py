#!/usr/bin/env python3
"""Every exported file, opened by the tool for which it is made. TAP on standard output.

usage: exports.py NTRACE

One small program is traced; the totals that a tool gives back are compared with what `ntrace profile` and the
program itself say: fib(15) is entered 1973 times, mix 50 times.
"""
import collections
import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET

sys.path.append(os.path.join(sys.path[0], ".."))
import cases

HERE = os.path.dirname(os.path.abspath(__file__))
FIB, MIX = 1973, 50


class Bench:
    def __init__(self, ntrace, folder):
        self.ntrace, self.folder = ntrace, folder
        self.run("riscv64-linux-gnu-gcc", "-O1", "-g", "-static", os.path.join(HERE, "work.c"), "-o", "work")
        self.run(ntrace, "run", "-o", "work.ntrace", "--", "./work")
        rows = self.run(ntrace, "profile", "--format", "jsonl", "work.ntrace").splitlines()
        self.profile = {row["function"]: row for row in map(json.loads, rows) if row.get("function")}
        self.instructions = sum(json.loads(row)["self"] for row in rows)

    def run(self, *command, text=True):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=text)
        if done.returncode:
            raise AssertionError(f"{command[0]} {command[1]}: {done.returncode}: {str(done.stderr)[-300:]}")
        return done.stdout

    def executed(self):
        """{address: how often}, by every instruction of the program."""
        rows = self.run(self.ntrace, "profile", "--by", "instruction", "--format", "jsonl", "work.ntrace").splitlines()
        return {int(row["address"], 16): row["self"] for row in map(json.loads, rows)}

    def tool(self, *names):
        return cases.need(*names)

    def write(self, command, name):
        file = f"{command}.{name}"
        self.run(self.ntrace, command, "--to", name, "-o", file, "work.ntrace")
        return file, open(os.path.join(self.folder, file), "rb").read()


def profile_counts(b):
    counted = dict(line.split() for line in b.run(b.ntrace, "decode", "--show", "count", "work.ntrace").splitlines())
    assert int(counted["instructions"]) == b.instructions
    assert b.profile["fib"]["calls"] == FIB and b.profile["mix"]["calls"] == MIX
    assert b.profile["main"]["total"] >= b.profile["fib"]["total"] + b.profile["mix"]["total"]


def ticks(b):
    """A tick of `run --timestamps` is an instruction: the time of every row is its instructions."""
    b.run(b.ntrace, "run", "--timestamps", "-o", "timed.ntrace", "--", "./work")
    sums = set()
    for by in ("function", "line", "instruction", "hart", "context"):
        lines = b.run(b.ntrace, "profile", "--by", by, "--format", "jsonl", "--sort", "ticks", "timed.ntrace").splitlines()
        rows = [json.loads(line) for line in lines]
        assert [row["self_ticks"] for row in rows] == sorted((row["self_ticks"] for row in rows), reverse=True)
        sums.add(sum(row["self_ticks"] for row in rows))
        for row in rows:  # the time at which one function ends and the next begins, inside a message's time, is unknown
            assert abs(row["self_ticks"] - row["self"]) < 800 + row["self"] * 0.03, (by, row)
    assert len(sums) == 1, sums
    total = sums.pop()
    assert abs(total - b.instructions) < b.instructions * 0.01
    stream = ["timed.ntrace/trace.nex", "-e", "work", *cases.stream_options(os.path.join(b.folder, "timed.ntrace"))]
    for by in ("function", "line"):  # without timestamps
        rows = b.run(b.ntrace, "profile", "--by", by, "--format", "jsonl", *stream).splitlines()
        assert sum(json.loads(row)["self_ticks"] for row in rows) == total, by


def same_counts(b, ranges, executed=None):
    """Ranges of straight code (from, to the last instruction, count) contain how often each instruction was executed."""
    executed, ranges = executed or b.executed(), [(low, high, count) for low, high, count in ranges]
    assert all(low in executed and high in executed and low <= high and count > 0 for low, high, count in ranges)
    change = {}
    for low, high, count in ranges:
        change[low] = change.get(low, 0) + count
        change[high + 1] = change.get(high + 1, 0) - count
    edges, covered, at = sorted(change), 0, 0
    for address in sorted(executed):
        while at < len(edges) and edges[at] <= address:
            covered += change[edges[at]]
            at += 1
        assert covered == executed[address], (hex(address), covered, executed[address])


def folded(b):
    """flamegraph.pl takes the text before the last blank as the stack, with semicolons between frames."""
    _, data = b.write("flame", "folded")
    assert all(re.fullmatch(r"[^;]+(;[^;]+)* [1-9]\d*", line) for line in data.decode().splitlines())
    lines = [line.rsplit(" ", 1) for line in data.decode().splitlines()]
    assert sum(int(count) for _, count in lines) == b.instructions
    own = sum(int(count) for stack, count in lines if stack.split(";")[-1] == "fib")
    assert own == b.profile["fib"]["self"]
    kinds = {"interrupt": " [interrupt]", "exception": " [exception]"}
    path, expected = {0: []}, collections.Counter()
    for node in map(json.loads, b.write("export", "calltree")[1].decode().splitlines()):
        if node["parent"] is None:
            continue
        path[node["id"]] = path[node["parent"]] + [node["function"] + kinds.get(node["kind"], "")]
        expected[";".join(path[node["id"]])] += node["self"]
    assert {stack: int(count) for stack, count in lines} == {stack: count for stack, count in expected.items() if count}


def speedscope_schema(file):
    """The requirements of www.speedscope.app/file-format-schema.json for a file with sampled profiles."""
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(file) <= {"$schema", "profiles", "shared", "name", "activeProfileIndex", "exporter"}
    assert isinstance(file["name"], str) and 0 <= file["activeProfileIndex"] < len(file["profiles"])
    frames = file["shared"]["frames"]
    for frame in frames:
        assert set(frame) <= {"name", "file", "line", "col"} and isinstance(frame["name"], str) and frame["name"]
        assert isinstance(frame.get("file", ""), str) and frame.get("line", 1) >= 0
    for profile in file["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert profile["type"] == "sampled" and isinstance(profile["name"], str)
        assert profile["unit"] in ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")
        assert len(profile["samples"]) == len(profile["weights"]) > 0
        assert profile["startValue"] <= profile["endValue"]
        for stack, weight in zip(profile["samples"], profile["weights"]):
            assert stack and all(isinstance(f, int) and 0 <= f < len(frames) for f in stack) and weight >= 0


def speedscope(b):
    _, data = b.write("flame", "speedscope")
    file = json.loads(data)
    speedscope_schema(file)
    profile = file["profiles"][0]
    assert sum(profile["weights"]) == profile["endValue"] == b.instructions
    names = [frame["name"] for frame in file["shared"]["frames"]]
    own = sum(w for stack, w in zip(profile["samples"], profile["weights"]) if names[stack[-1]] == "fib")
    assert own == b.profile["fib"]["self"]
    assert any([names[frame] for frame in stack][-2:] == ["main", "mix"] for stack in profile["samples"]), "root first"


def speedscope_per_hart(b):
    """--per hart: a profile for each hart, with its name, and the instructions that `stat` counts for it."""
    source = os.path.join(b.folder, "harts.c")
    with open(source, "w", encoding="ascii") as file:
        file.write("#include <pthread.h>\nvolatile int sum;\nstatic void *work(void *p) { for (int i = 0; i < 999; i++) sum++; return p; }\n"
                   "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }\n")
    program, trace = os.path.join(b.folder, "harts"), os.path.join(b.folder, "harts.ntrace")
    b.run("riscv64-linux-gnu-gcc", "-O1", "-g", "-static", "-pthread", source, "-o", program)
    b.run(b.ntrace, "run", "-q", "-o", trace, "--", program)
    file = json.loads(b.run(b.ntrace, "flame", "--to", "speedscope", "--per", "hart", trace))
    speedscope_schema(file)
    assert [profile["name"] for profile in file["profiles"]] == ["hart 0", "hart 1"], file["profiles"]
    names = [frame["name"] for frame in file["shared"]["frames"]]
    own = [{names[stack[-1]] for stack in profile["samples"]} for profile in file["profiles"]]
    assert "work" in own[1] and "work" not in own[0] and "main" in own[0], own
    lines = b.run(b.ntrace, "decode", "--show", "pc", trace).splitlines()
    assert sum(sum(profile["weights"]) for profile in file["profiles"]) == len(lines)
    assert all(sum(profile["weights"]) == profile["endValue"] for profile in file["profiles"])
    together = json.loads(b.run(b.ntrace, "flame", "--to", "speedscope", "--per", "trace", trace))
    assert [profile["endValue"] for profile in together["profiles"]] == [len(lines)]


def svg(b):
    _, data = b.write("flame", "svg")
    root = ET.fromstring(data)
    frames = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "frame"]
    whole = [g for g in frames if g.get("data-name") == "all"]
    assert len(whole) == 1 and float(whole[0].get("data-w")) == 1
    mix = sum(float(g.get("data-w")) for g in frames if g.get("data-name") == "mix")
    assert abs(mix - b.profile["mix"]["total"] / b.instructions) < 1e-6


def callgrind(b):
    tool = b.tool("callgrind_annotate")
    file, data = b.write("export", "callgrind")
    assert data.decode().splitlines().count(f"totals: {b.instructions}") == 1
    text = b.run(tool, "--threshold=100", file)
    totals = int(re.search(r"([\d,]+) \(100.0%\)\s+PROGRAM TOTALS", text).group(1).replace(",", ""))
    assert totals == b.instructions
    fib = int(re.search(r"([\d,]+) \([^)]*\)\s+(?:.*/)?work\.c:fib ", text).group(1).replace(",", ""))
    assert fib == b.profile["fib"]["self"]


def dot(b):
    tool = b.tool("dot")
    file, data = b.write("export", "dot")
    assert b.run(tool, "-Tplain", file).startswith("graph")
    name = re.search(r'(f\d+) \[label="fib"', data.decode()).group(1)
    calls = sum(int(n) for n in re.findall(rf'-> {name} \[label="(\d+)"', data.decode()))
    assert calls == FIB


def sqlite(b):
    tool = b.tool("sqlite3")
    file, _ = b.write("export", "sqlite")

    def ask(query):
        return b.run(tool, file, query).strip()

    assert ask("PRAGMA integrity_check") == "ok"
    assert ask("SELECT SUM(executed) FROM instructions") == str(b.instructions)
    assert ask("SELECT SUM(count * instructions) FROM edges") == str(b.instructions)
    assert ask("SELECT calls FROM functions WHERE name='fib'") == str(FIB)
    sites = ask("SELECT COUNT(*), SUM(c.count = executed) FROM calls c JOIN functions f ON f.id = callee"
                " JOIN instructions i ON i.address = site WHERE f.name IN ('fib', 'mix')")
    assert re.fullmatch(r"([3-9])\|\1", sites), f"a call is executed as often as it calls: {sites}"
    assert ask("SELECT COUNT(*) FROM gaps") == "0"
    documented = open(os.path.join(HERE, "..", "..", "docs", "exports.md"), encoding="utf-8").read()
    queries = re.sub("--.*", "", re.search(r"```sql\n(.*?)```", documented, re.S).group(1)).split(";\n")[:-1]
    assert len(queries) >= 6
    for query in queries:
        assert ask(query.replace("malloc", "mix")), query
    assert ask(queries[-1]).startswith("fib|"), "who calls itself"


def llvm(b):
    file, data = b.write("export", "llvm-unsymbolized")
    same_counts(b, [(int(low, 16), int(high, 16), int(n)) for low, high, n in sections(data.decode(), 2)[0]])
    tool, _ = b.tool("llvm-profgen-19"), b.tool("llvm-profdata-19")
    b.run(tool, "--binary=work", f"--unsymbolized-profile={file}", "--use-offset=0", "--format=text", "-o", "work.prof")
    text = b.run("llvm-profdata-19", "show", "--sample", "work.prof")
    assert re.search(rf"Function: mix: \d+, {MIX},", text), text[:300]
    assert re.search(rf"Function: fib: \d+, {FIB},", text), text[:300]


def perf_script(b):
    tool = b.tool("llvm-profgen-19")
    file, _ = b.write("export", "perf-script")
    b.run(tool, "--binary=work", f"--perfscript={file}", "--format=text", "-o", "script.prof")
    assert "\nmix:" in "\n" + open(os.path.join(b.folder, "script.prof"), encoding="utf-8").read()


def sections(text, count):
    """The counted sections of an AutoFDO-like file as lists of (from, to, count)."""
    lines, at, found = text.split("\n"), 0, []
    for _ in range(count):
        size = int(lines[at])
        found.append([re.split(r"->|-|:", line) for line in lines[at + 1:at + 1 + size]])
        at += 1 + size
    assert lines[at:] == [""]
    return found


def autofdo(b):
    """Addresses count from the first segment; the tool knows DWARF 4 only."""
    _, data = b.write("export", "autofdo")
    runs, samples, branches = sections(data.decode(), 3)
    assert runs and branches and not samples
    first = int(re.search(r"^  LOAD +\S+ 0x(\S+)", b.run("riscv64-linux-gnu-readelf", "-lW", "work"), re.M).group(1), 16)
    same_counts(b, [(int(low, 16) + first, int(high, 16) + first, int(n)) for low, high, n in runs])
    tool, _ = b.tool("create_llvm_prof"), b.tool("llvm-profdata-19")
    b.run("riscv64-linux-gnu-gcc", "-O1", "-gdwarf-4", "-static", os.path.join(HERE, "work.c"), "-o", "work4")
    b.run(b.ntrace, "run", "-o", "work4.ntrace", "--", "./work4")
    b.run(b.ntrace, "export", "--to", "autofdo", "-o", "work4.txt", "work4.ntrace")
    if "support was not enabled" not in subprocess.run([tool], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout:
        b.run(tool, "--profiler=text", "--profile=work4.txt", "--binary=work4", "--out=work4.prof")  # Debian 13's knows no LLVM
        text = b.run("llvm-profdata-19", "show", "--sample", "work4.prof")
        assert re.search(rf"Function: mix: \d+, {MIX},", text) and f"calls: mix:{MIX}" in text, text[:300]
        assert re.search(rf"Function: fib: \d+, {FIB},", text), text[:300]
    b.run("create_gcov", "--profiler=text", "--profile=work4.txt", "--binary=work4", "--gcov=work4.afdo", "--gcov_version=2")
    text = b.run("dump_gcov", "--gcov_version=2", "work4.afdo")
    assert "mix total:" in text and re.search(rf"^fib total:\d+ head:{FIB}$", text, re.M), text[:300]


def bolt(b):
    tool = next((p for p in ("/usr/lib/llvm-19/bin/perf2bolt",) if os.path.exists(p)), None)
    _, data = b.write("export", "bolt")
    for line in data.decode().splitlines():
        assert re.fullmatch(r"B [0-9a-f]+ [0-9a-f]+ \d+ 0|[Ff] [0-9a-f]+ [0-9a-f]+ \d+", line), line
    runs = [line.split()[1:] for line in data.decode().splitlines() if line[0] in "Ff"]
    # perf2bolt knows no linkage table; static programs of glibc 2.41 have one
    table = re.search(r" \.plt +(\w+) +(\w+) ", b.run("riscv64-linux-gnu-objdump", "-h", "work"))
    first, size = (int(table[2], 16), int(table[1], 16)) if table else (0, 0)
    executed = {address: n for address, n in b.executed().items() if not first <= address < first + size}
    same_counts(b, [(int(low, 16), int(high, 16), int(n)) for low, high, n in runs], executed)
    if not tool:
        cases.skip("perf2bolt")
    b.run("riscv64-linux-gnu-gcc", "-O1", "-g", "-static", "-Wl,-q", os.path.join(HERE, "work.c"), "-o", "bolted")
    b.run(b.ntrace, "run", "-o", "bolted.ntrace", "--", "./bolted")
    b.run(b.ntrace, "export", "--to", "bolt", "-o", "bolted.txt", "bolted.ntrace")
    b.run(tool, "-p", "bolted.txt", "-pa", "-o", "bolted.fdata", "bolted")
    fdata = open(os.path.join(b.folder, "bolted.fdata"), encoding="utf-8").read()
    calls = [int(line.split()[-1]) for line in fdata.splitlines() if re.search(r" 1 mix(/\d+)? 0 ", line)]
    assert sum(calls) == MIX, calls
    b.run("/usr/lib/llvm-19/bin/llvm-bolt", "bolted", "-o", "layout", "-data=bolted.fdata", "-reorder-blocks=ext-tsp", "-reorder-functions=hfsort")
    assert b.run("qemu-riscv64", "./layout") == b.run("qemu-riscv64", "./bolted"), "a static program works after it"


def drcov(b):
    """Debian has no reader: the bytes of the table must be exactly those of the executed instructions."""
    _, data = b.write("export", "drcov")
    form = (rb"DRCOV VERSION: 2\nDRCOV FLAVOR: \w+\nModule Table: version 2, count 1\nColumns: id, base, end, entry, path\n"
            rb"  0, 0x([0-9a-f]{16}), 0x([0-9a-f]{16}), 0x[0-9a-f]{16}, \S.*\nBB Table: (\d+) bbs\n")
    head = re.match(form, data)
    base, end, count = int(head.group(1), 16), int(head.group(2), 16), int(head.group(3))
    table = data[head.end():]
    assert len(table) == 8 * count > 0
    executed, covered = b.executed(), set()
    for start, size, module in struct.iter_unpack("<IHH", table):
        assert size > 0 and module == 0 and base + start in executed and base + start + size <= end
        covered.update(range(base + start, base + start + size, 2))
    assert covered >= executed.keys()
    assert all(address in executed or address - 2 in executed for address in covered)


def loaded_elsewhere(b):
    """A position-independent program with libraries: profiles are of the program, its addresses as linked."""
    if not os.path.isdir("/usr/riscv64-linux-gnu/lib"):
        cases.skip("riscv-libraries")
    b.run("riscv64-linux-gnu-gcc", "-O1", "-g", "-pie", os.path.join(HERE, "work.c"), "-o", "pie")
    os.environ["QEMU_LD_PREFIX"] = "/usr/riscv64-linux-gnu"
    b.run(b.ntrace, "run", "-o", "pie.ntrace", "--", "./pie")
    rows = map(json.loads, b.run(b.ntrace, "profile", "--by", "instruction", "--format", "jsonl", "pie.ntrace").splitlines())
    ran = {int(row["address"], 16): row["self"] for row in rows if (row.get("image") or "").endswith("/pie")}
    module = b.run(b.ntrace, "export", "--to", "drcov", "pie.ntrace", text=False).split(b"\n")[4].decode().split(", ")
    bias = int(module[1], 16)
    assert bias and module[4].endswith("/pie") and bias <= min(ran) <= max(ran) < int(module[2], 16)
    linked = {address - bias: count for address, count in ran.items()}
    for name, count in (("llvm-unsymbolized", 2), ("autofdo", 3)):
        runs = sections(b.run(b.ntrace, "export", "--to", name, "pie.ntrace"), count)[0]
        same_counts(b, [(int(low, 16), int(high, 16), int(n)) for low, high, n in runs], linked)
    runs = [[word.split(":")[-1] for word in line.split()[1:]] for line in b.run(b.ntrace, "export", "--to", "bolt", "pie.ntrace").splitlines() if line[0] in "Ff"]
    plt = linkage_table(b, "pie")
    same_counts(b, [(int(low, 16), int(high, 16), int(n)) for low, high, n in runs],
                {address: count for address, count in linked.items() if address not in plt})
    profile = {row["function"]: row for row in map(json.loads, b.run(b.ntrace, "profile", "--format", "jsonl", "pie.ntrace")
                                                   .splitlines()) if row.get("function")}
    assert profile["fib"]["calls"] == FIB and profile["mix"]["calls"] == MIX
    b.run(b.ntrace, "export", "--to", "llvm", "-o", "pie.txt", "pie.ntrace")
    b.run(b.tool("llvm-profgen-19"), "--binary=pie", "--unsymbolized-profile=pie.txt", "--use-offset=0", "--format=text",
          "-o", "pie.prof")
    text = b.run(b.tool("llvm-profdata-19"), "show", "--sample", "pie.prof")
    assert re.search(rf"Function: mix: \d+, {MIX},", text) and re.search(rf"Function: fib: \d+, {FIB},", text), text[:300]


CTXP = {"SYNC": (False, True), "OVERFLOW": (False, False), **dict.fromkeys(
    ("BRANCH_TAKEN", "BRANCH_NOTTAKEN", "INTERRUPT", "RFI", "CALL", "RETURN"), (True, True))}


def ctxp(b):
    """Each type has its required values, and each event begins where the previous one led."""
    _, data = b.write("export", "ctxp")
    lines = data.decode().splitlines()
    assert lines[0] == "HDR:format=accemic//ctxp-txt,ver=1" and data.endswith(b"\n")
    form = re.compile(r"#(\d+):([A-Z_]+):(0x[0-9a-f]+)?:(0x[0-9a-f]+)?( @ \d+)?")
    executed, at = b.executed(), None
    for line in lines[1:]:
        source, kind, origin, target, cycle = form.fullmatch(line).groups()
        assert int(source) <= 255 and (origin is not None, target is not None) == CTXP[kind], line
        assert not cycle, "the trace has no time"
        if kind == "SYNC":
            assert at is None, line
        elif kind != "OVERFLOW":
            assert int(origin, 16) in executed and at <= int(origin, 16) <= at + 4 * len(executed), line
        at = int(target, 16) if target else None
    counted = dict(line.split() for line in b.run(b.ntrace, "decode", "--show", "count", "work.ntrace").splitlines())
    assert sum(":CALL:" in line for line in lines) == int(counted["calls"])
    assert sum(":RETURN:" in line for line in lines) == int(counted["returns"])
    assert sum(":BRANCH_NOTTAKEN:" in line for line in lines) == int(counted["branches"]) - int(counted["taken"])


def jsonl(b):
    _, data = b.write("export", "jsonl")
    assert data.decode() == b.run(b.ntrace, "decode", "--show", "event", "work.ntrace")
    spans = [e for e in map(json.loads, data.decode().splitlines()) if e["kind"] == "span"]
    assert sum(e["instructions"] for e in spans) == b.instructions


def calltree(b):
    _, data = b.write("export", "calltree")
    nodes = [json.loads(line) for line in data.decode().splitlines()]
    assert sum(n["self"] for n in nodes) == b.instructions
    assert sum(n["calls"] for n in nodes if n["function"] == "fib") == FIB
    assert max(n["depth"] for n in nodes if n["function"] == "fib") > 15
    for n in nodes:
        assert n["total"] == n["self"] + sum(c["total"] for c in nodes if c["parent"] == n["id"])


def aliases(b):
    for command, name, alias in (("export", "callgrind", "kcachegrind"), ("flame", "folded", "collapsed"),
                                 ("export", "dot", "graphviz")):
        _, data = b.write(command, name)
        assert b.write(command, alias)[1] == data, alias
        listed = b.run(b.ntrace, command, "--to", "list")
        assert re.search(rf"^{name} .*; also: .*\b{alias}\b", listed, re.M), alias


def perfetto(b):
    tool = b.tool("protoc")
    schema = os.path.join(HERE, "..", "..", "src", "export")
    b.write("timeline", "perfetto")
    with open(os.path.join(b.folder, "timeline.perfetto"), "rb") as file:
        text = subprocess.run([tool, "--decode=ntr.perfetto.Trace", "-I", schema, "perfetto.proto"], stdin=file,
                              stdout=subprocess.PIPE, text=True, check=True).stdout
    names = dict(re.findall(r'event_names \{\s*iid: (\d+)\s*name: "([^"]*)"', text))
    calls, lasted, stack, now = {}, {}, [], 0
    for packet in text.split("packet {")[1:]:
        kind = re.search(r"type: ([12])", packet)
        if not kind:
            continue
        time = int(re.search(r"timestamp: (\d+)", packet).group(1))
        assert time >= now, "in order"
        now = time
        if kind.group(1) == "1":
            stack.append((names[re.search(r"name_iid: (\d+)", packet).group(1)], time))
            calls[stack[-1][0]] = calls.get(stack[-1][0], 0) + 1
            continue
        name, begin = stack.pop()
        if name not in [open_name for open_name, _ in stack]:
            lasted[name] = lasted.get(name, 0) + time - begin
    assert not stack and calls["fib"] == FIB and calls["mix"] == MIX
    for name in ("main", "fib", "mix"):
        assert lasted[name] == b.profile[name]["total"], name


def linkage_table(b, name):
    """The addresses of .plt, as linked."""
    low, size = re.search(r"\.plt +PROGBITS +(\w+) \w+ (\w+)", b.run("riscv64-linux-gnu-readelf", "-SW", name)).groups()
    return range(int(low, 16), int(low, 16) + int(size, 16))


def modules(b):
    """A program with libraries: drcov has all executed modules; --image selects one of them; BOLT gets no linkage entries."""
    if not os.path.isdir("/usr/riscv64-linux-gnu/lib"):
        cases.skip("riscv-libraries")
    b.run("riscv64-linux-gnu-gcc", "-O1", "-g", "-pie", "-Wl,-q", os.path.join(HERE, "work.c"), "-o", "linked")
    os.environ["QEMU_LD_PREFIX"] = "/usr/riscv64-linux-gnu"
    b.run(b.ntrace, "run", "-o", "linked.ntrace", "--", "./linked")
    executed = {}
    for row in map(json.loads, b.run(b.ntrace, "profile", "--by", "instruction", "--format", "jsonl", "linked.ntrace").splitlines()):
        executed.setdefault(os.path.basename(row.get("image") or ""), {})[int(row["address"], 16)] = row["self"]
    data = b.run(b.ntrace, "export", "--to", "drcov", "linked.ntrace", text=False)
    head, table = data.split(b" bbs\n", 1)
    count = int(re.search(rb"count (\d+)\n", head)[1])
    rows = [line.split(", ") for line in head.decode().splitlines()[4:4 + count]]
    assert [int(row[0]) for row in rows] == list(range(count)) and {os.path.basename(row[4]) for row in rows} == set(executed), rows
    covered = {}
    for start, size, module in struct.iter_unpack("<IHH", table):
        base = int(rows[module][1], 16)
        covered.setdefault(os.path.basename(rows[module][4]), set()).update(range(base + start, base + start + size, 2))
    for name, addresses in executed.items():
        assert covered[name] >= addresses.keys(), name
        assert all(at in addresses or at - 2 in addresses for at in covered[name]), name
    libc = next(name for name in executed if name.startswith("libc.so"))
    bias = next(int(row[1], 16) for row in rows if os.path.basename(row[4]) == libc)
    for name, sections_ in (("llvm-unsymbolized", 2), ("autofdo", 3)):
        runs = sections(b.run(b.ntrace, "export", "--to", name, "--image", libc, "linked.ntrace"), sections_)[0]
        same_counts(b, [(int(low, 16), int(high, 16), int(n)) for low, high, n in runs], {at - bias: n for at, n in executed[libc].items()})
    one = b.run(b.ntrace, "export", "--to", "drcov", "--image", libc, "linked.ntrace", text=False)
    assert b"count 1\n" in one and libc.encode() in one.split(b"\n")[4]
    for arguments, sentence in ((("bolt", "--image", "libnone.so"), "no ELF file of the trace has this name"),
                                (("callgrind", "--image", libc), "is not a format of one ELF file")):
        done = subprocess.run([b.ntrace, "export", "--to", *arguments, "linked.ntrace"], cwd=b.folder, capture_output=True, text=True)
        assert done.returncode == 2 and sentence in done.stderr and not done.stdout, done
    plt = linkage_table(b, "linked")
    b.run(b.ntrace, "export", "--to", "bolt", "-o", "linked.bolt", "linked.ntrace")
    with open(os.path.join(b.folder, "linked.bolt"), encoding="ascii") as file:
        lines = [line.split() for line in file]
    assert not [line for line in lines if line[0] == "F" and int(line[1], 16) in plt]
    assert [line for line in lines if line[0] == "B" and int(line[2], 16) in plt], "calls of linkage entries stay"
    pairs = [pair for line in b.run(b.ntrace, "export", "--to", "perf-script", "linked.ntrace").splitlines() for pair in line.split()[1:]]
    assert pairs and not [pair for pair in pairs if pair.startswith("0x0/0x0/")], "branches of other files"
    if not os.path.exists("/usr/lib/llvm-19/bin/perf2bolt"):
        cases.skip("perf2bolt")
    done = subprocess.run(["/usr/lib/llvm-19/bin/perf2bolt", "-p", "linked.bolt", "-pa", "-o", "linked.fdata", "linked"], cwd=b.folder, capture_output=True, text=True)
    share = float(re.search(r"mismatching disassembled function contents: \d+ \(([\d.]+)%\)", done.stdout + done.stderr)[1])
    assert share < 1, done.stderr


def bolt_library(b):
    """perf2bolt uses only places with the build id of its file when that is a library, and only those without an id for a program."""
    for name, text in (("part.c", "int part(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 3 ? i : s ^ i; return s; }\n"),
                       ("whole.c", "int part(int); int main(void) { volatile int s = 0; for (int i = 0; i < 50; i++) s += part(i); return 0; }\n")):
        with open(os.path.join(b.folder, name), "w", encoding="ascii") as file:
            file.write(text)
    b.run("riscv64-linux-gnu-gcc", "-O1", "-shared", "-fPIC", "-Wl,--build-id", "part.c", "-o", "libpart.so")
    b.run("riscv64-linux-gnu-gcc", "-O1", "-Wl,--build-id", "whole.c", "-L.", "-lpart", f"-Wl,-rpath,{b.folder}", "-o", "whole")
    b.run(b.ntrace, "run", "-o", "whole.ntrace", "--", "./whole")
    build_id = re.search(r"Build ID: (\w+)", b.run("riscv64-linux-gnu-readelf", "-n", "libpart.so"))[1]
    lines = [line.split() for line in b.run(b.ntrace, "export", "--to", "bolt", "--image", "libpart.so", "whole.ntrace").splitlines()]
    places = [place for line in lines for place in line[1:3]]
    assert all(place == "0" or re.fullmatch(build_id + ":[1-9a-f][0-9a-f]*", place) for place in places), places
    runs = [[place.split(":")[1] for place in line[1:3]] for line in lines if line[0] == "F"]
    part = int(b.run("riscv64-linux-gnu-nm", "libpart.so").split(" T part")[0].split()[-1], 16)
    assert part in [int(first, 16) for first, _ in runs], runs
    assert ":" not in b.run(b.ntrace, "export", "--to", "bolt", "whole.ntrace"), "places of the program"


CASES = [modules, bolt_library, profile_counts, ticks, folded, speedscope, speedscope_per_hart, svg, callgrind, dot, sqlite, llvm, perf_script, autofdo, bolt, drcov, ctxp,
         perfetto, jsonl, calltree, aliases, loaded_elsewhere]


if __name__ == "__main__":
    cases.main(CASES, Bench, ("riscv64-linux-gnu-gcc", "qemu-riscv64"))
