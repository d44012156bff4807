#!/usr/bin/env python3
"""Self counts of `profile`, and costs of the export for callgrind, are those of a plugin that counts each instruction of the same run,
and those of callgrind itself. TAP on standard output.

usage: self_counts.py NTRACE COUNT_PCS [every]
every: also shared libraries, C++, stripped and optimized programs, Debian's programs, and callgrind, which Debian has for riscv64

An instruction belongs to the function whose symbol contains it, as for callgrind: recursion, tail calls and inlined code do not
matter. Symbols are those of nm, addresses of files those of the operating system. Code without a symbol is compared instruction by
instruction, and its rows by the symbols next to them.
"""
import bisect
import collections
import functools
import glob
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path += [os.path.join(sys.path[0], "..", name) for name in ("", "../bench")]
import user_qemu  # may change PATH, which the next one reads
import real_programs
import harness
from harness import NTRACE, case, check, equal, folder, need, note

PLUGIN = user_qemu.plugin(os.path.abspath(sys.argv[2]))
EVERY = "every" in sys.argv
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs")
GCC, GXX = "riscv64-linux-gnu-gcc", "riscv64-linux-gnu-g++"


def run(*command, cwd):
    environment = {**os.environ, "QEMU_LD_PREFIX": "/usr/riscv64-linux-gnu"}
    done = subprocess.run(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=500, check=False)
    check(done.returncode == 0, f"{' '.join(command)[:300]}: {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def symbols(path, flags):
    return subprocess.run([need("riscv64-linux-gnu-nm"), "--defined-only", flags, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


class File:
    """An ELF file of the process: its functions at the addresses that they have there."""
    def __init__(self, path, bias):
        self.path, self.names, self.ends = path, collections.defaultdict(set), {}
        table = "-S" if symbols(path, "-S") else "-SD"
        for text in symbols(path, table), symbols(path, table + "C"):
            for start, size, name in re.findall(r"^(\w+) (\w+) [tTwWiu] (.*)$", text, re.M):
                start, size = int(start, 16) + bias, int(size, 16)
                name = re.sub("@.*", "", name)
                self.names[start].update((name, re.sub(r"(\.(constprop|isra|part|lto_priv)\.\d+)+$", "", name)))  # debug information has names of the source
                self.ends[start] = max(self.ends.get(start, 0), start + size)
        self.starts = sorted(start for start, end in self.ends.items() if end > start)

    def function(self, address):
        """The address of the symbol that contains this one, or None."""
        at = bisect.bisect_right(self.starts, address) - 1
        return self.starts[at] if at >= 0 and address < self.ends[self.starts[at]] else None


def is_riscv(path):
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(20)[18:] == b"\xf3\x00"


def first_page(path):
    """The address of the page with the file's first byte, as linked."""
    text = subprocess.run(["riscv64-linux-gnu-readelf", "-lW", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    offset, address = re.search(r"^  LOAD +(0x\w+) (0x\w+)", text, re.M).groups()
    return (int(address, 16) - int(offset, 16)) & ~0xFFF


def truth(path):
    """({address: executions}, [(first, last, File)])"""
    counts, maps, files = collections.Counter(), collections.defaultdict(list), []
    with open(path, encoding="utf-8") as text:
        difference = int(next(text))
        for line in text:
            mapped = re.match(r"(\w+)-(\w+) \S+ (\w+) \S+ \S+ +(/.*)$", line)
            if mapped:
                low, high, offset = (int(n, 16) for n in mapped.groups()[:3])
                maps[mapped[4]].append((low - difference, high - difference, offset))
            elif line.startswith("0x"):
                address, count = line.split()
                counts[int(address, 16)] += int(count)
    for name, parts in maps.items():
        if not is_riscv(name):
            continue
        low = min(low - offset for low, _, offset in parts)
        files.append((low, max(high for _, high, _ in parts), File(name, low - first_page(name))))
    return counts, files


def costs(text):
    """[(object, function, address, cost)] of the functions themselves, of a file for callgrind."""
    found, names, place, call, at = [], {}, {}, False, 0
    for line in text.splitlines():
        named = re.match(r"(c?)(ob|fn)=(?:\((\d+)\))? ?(.*)$", line)
        if named:
            called, kind, number, name = named.groups()
            name = names.setdefault((kind, number), name) if number else name
            place.update({} if called else {kind: name})
        elif line.startswith(("calls=", "jump=", "jcnd=")):
            call = True
        elif re.match(r"[0-9+*-]", line):
            position, *_, cost = line.split()
            at = at if position == "*" else int(position, 0) + (at if position[0] in "+-" else 0)
            found += [] if call else [(place["ob"], place["fn"], at, int(cost))]
            call = False
    return found


class Truth:
    """What the plugin saw, by function: an address for those with a symbol."""
    def __init__(self, path):
        self.counts, self.files = truth(path)
        self.functions = collections.Counter()
        for address, count in self.counts.items():
            self.functions[self.function(address)] += count

    def file(self, address):
        return next((file for low, high, file in self.files if low <= address < high), None)

    def function(self, address):
        """(path, address of the symbol or None)"""
        file = self.file(address)
        return (file.path, file.function(address)) if file else (None, None)

    def is_name(self, name, address):
        """Whether the symbol that contains this address has the name; code without one may have any that no symbol beside it has."""
        file = self.file(address)
        start = file and file.function(address)
        return start is None or name in file.names[start]


def same_counts(found, expected, what):
    wrong = {hex(at): (found.get(at), expected.get(at)) for at in found.keys() | expected.keys() if found.get(at) != expected.get(at)}
    check(not wrong, f"{what}: {len(wrong)} of {len(expected)}: {list(wrong.items())[:30]}")


def compare(place, command, *options):
    """Returns what the plugin saw."""
    plugin = user_qemu.for_ntrace(["-plugin", f"{PLUGIN},out=seen,counts=counts"])
    run(NTRACE, "run", "-q", *options, *plugin, "-o", "t.ntrace", "--", *command, cwd=place)
    seen = Truth(os.path.join(place, "counts"))
    rows = {by: [json.loads(line) for line in run(NTRACE, "profile", "--by", by, "--format", "jsonl", "t.ntrace", cwd=place).splitlines()]
            for by in ("instruction", "function")}
    same_counts({int(row["address"], 16): row["self"] for row in rows["instruction"]}, seen.counts, "executions")
    found, wrong = collections.Counter(), []
    for row in rows["function"]:
        address = int(row["address"], 16)
        path, start = seen.function(address)
        found[path, start] += row["self"]
        wrong += [] if start in (None, address) and seen.is_name(row["function"], address) else [row]
    wrong += [(key, found[key], count) for key, count in seen.functions.items() if found[key] != count]
    check(not wrong, f"{len(wrong)} of {len(found)} functions: {wrong[:3]}")
    exported, bad = collections.Counter(), []
    for path, name, address, cost in costs(run(NTRACE, "export", "--to", "callgrind", "t.ntrace", cwd=place)):
        exported[address] += cost
        file = seen.file(address)
        bad += [] if file and path == file.path and seen.is_name(name, address) else [(path, name, hex(address), cost)]
    check(not bad, f"callgrind: {bad[:3]}")
    same_counts(exported, seen.counts, "costs for callgrind")
    note(f"{sum(start is not None for _, start in seen.functions)} functions with a symbol, {sum(seen.counts.values())} instructions")
    return seen


LIBRARY = """__attribute__((visibility("hidden"))) int leaf(int n) { return n * 7 % 5; }
int visit(int (*next)(int), int n) { return n ? next(n - 1) + leaf(n) : 0; }
int again(int n) __attribute__((alias("visit_twice")));
int visit_twice(int n) { return leaf(n) + leaf(n + 1); }
"""
CALLS = """#include <stdio.h>
#include <stdlib.h>
int visit(int (*next)(int), int n);
int again(int n);
static inline int small(int n) { return n & 1 ? n * 3 : n + 2; }
__attribute__((noinline)) static int odd(int n);
__attribute__((noinline)) static int even(int n) { return n ? odd(n - 1) : 1; }
static int odd(int n) { return n ? even(n - 1) : 0; }
static int back(int n) { return visit(back, n) + small(n); }
static int compare(const void *a, const void *b) { return small(*(const int *)a) - small(*(const int *)b); }
int main(void) {
    int v[40], s = 0;
    for (int i = 0; i < 40; i++) v[i] = small(i * 31 % 17) + again(i);
    qsort(v, 40, sizeof *v, compare);
    for (int i = 0; i < 40; i++) s += even(i) + back(i) + v[i];
    return printf("%d\\n", s) < 0;
}
"""


def built(*commands, **sources):
    place = folder()
    for name, text in sources.items():
        with open(os.path.join(place, name.replace("_", ".")), "w", encoding="utf-8") as file:
            file.write(text)
    for name in glob.glob(os.path.join(PROGRAMS, "*.c*")):
        shutil.copy(name, place)
    for command in commands:
        words = command.split()
        run(need(words[0]), *words[1:], cwd=place)
    return place


@functools.cache
def calls():
    """The folder of the program and its trace, and what the plugin saw."""
    place = built(f"{GCC} -O2 -shared -fPIC part.c -o libpart.so", f"{GCC} -O2 -g calls.c -L. -lpart -Wl,-rpath,/proc/self/cwd -o calls", calls_c=CALLS, part_c=LIBRARY)
    return place, compare(place, ["./calls"])


@case("tail calls, recursion, inlined code, calls between a program and a library")
def functions():
    _, seen = calls()
    check(sum(start is not None for _, start in seen.functions) > 40, "functions")


@case("callgrind_annotate: the costs of each function")
def annotate():
    tool = need("callgrind_annotate")
    place, seen = calls()
    run(NTRACE, "export", "--to", "callgrind", "-o", "t.callgrind", "t.ntrace", cwd=place)
    text = run(tool, "--threshold=100", "t.callgrind", cwd=place)
    found = collections.Counter()
    for cost, name, path in re.findall(r"^ *([\d,]+) \([^)]*\)  [^\n]*?:(\S+) \[(.*)\]$", text, re.M):
        found[path, name] += int(cost.replace(",", ""))
    for (path, start), count in seen.functions.items():
        names = [name for of, name in found if of == path and start and seen.is_name(name, start)]
        check(start is None or [found[path, name] for name in names] == [count], f"{path} {start and hex(start)}: {names}, expected {count}")
    equal(sum(found.values()), sum(seen.counts.values()), "all costs")


BUILDS = {
    "C++ with exceptions, static": [f"{GXX} -O2 -g -static exceptions.cc -o t"], "C++ with exceptions, libraries": [f"{GXX} -O0 exceptions.cc -o t"],
    "threads": [f"{GCC} -O2 -g -static -pthread threads.c -o t"], "link-time optimization": [f"{GCC} -O2 -g -flto algorithms.c -o t"],
    "a stripped program": [f"{GCC} -O2 -s algorithms.c -o t"],
    "clang": ["clang-19 --target=riscv64-linux-gnu -O1 -g -fuse-ld=lld-19 algorithms.c -o t"], "not relaxed": [f"{GCC} -O1 -mno-relax -static algorithms.c -o t"],
}
for each in BUILDS if EVERY else ():
    @case(each, BUILDS[each])
    def program(commands):
        compare(built(*commands), ["./t"])


def valgrind():
    """The folder of the tools for riscv64: of Debian's unstable distribution, since version 3.25."""
    command = [os.path.join(harness.ROOT, "tools", "debian_root"), "--suite", "sid", "--arch", "riscv64", "--offline", "--no-depends", "valgrind"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        harness.skip("valgrind-riscv64")
    return os.path.join(done.stdout.strip(), "usr")


def by_callgrind(place):
    """{address: executions} of the program ./t."""
    usr = valgrind()
    tool = os.path.join(usr, "libexec", "valgrind")
    environment = {**os.environ, "VALGRIND_LIB": tool, "VALGRIND_LAUNCHER": os.path.join(usr, "bin", "valgrind")}
    command = ["qemu-riscv64", os.path.join(tool, "callgrind-riscv64-linux"), "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file=c.out", "./t"]
    done = subprocess.run(command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=500, check=False)
    check(done.returncode == 0, done.stderr[-500:])
    counts = collections.Counter()
    with open(os.path.join(place, "c.out"), encoding="utf-8") as text:
        for path, _, address, cost in costs(text.read()):
            if path == os.path.join(place, "t"):
                counts[address] += cost
    return counts


for each in ("-O0", "-O1", "-O2", "-O2 -flto") if EVERY else ():
    @case(f"callgrind on RISC-V: the costs of each instruction of the source's functions, {each}", each)
    def callgrind(level):
        place = built(f"{GCC} {level} -g -static calls.c part.c -o t", calls_c=CALLS, part_c=LIBRARY)
        theirs = by_callgrind(place)
        run(NTRACE, "run", "-q", "-o", "t.ntrace", "--", "./t", cwd=place)
        rows = [json.loads(line) for line in run(NTRACE, "profile", "--by", "instruction", "--format", "jsonl", "t.ntrace", cwd=place).splitlines()]
        ours = {int(row["address"], 16): row["self"] for row in rows if re.search(r"(calls|part)\.c$", row.get("file", ""))}
        check(len(ours) > 80, "instructions")  # those of the C library depend on the stack and the environment
        same_counts(ours, {address: theirs[address] for address in ours}, "callgrind")


for each in ("gawk", "lua", "sqlite", "python") if EVERY else ():
    @case(f"Debian's {each}", each)
    def debian(name):
        program, = real_programs.take([name])
        try:
            place = real_programs.prepare([program], offline=True)
        except real_programs.Unavailable as error:
            note(str(error))
            harness.skip("real-programs")
        compare(place.work, place.command(program), "--sysroot", place.root)


harness.main(GCC, "qemu-riscv64")
