#!/usr/bin/env python3
"""Random programs that load and unload libraries at the same addresses, generate, patch and free code, on three threads, and execute
other programs: every consumer of names and counts says how often each function was called. The truth is what the program itself
writes (actor.c): the calls, in their order.

With NTRACE_TEST_LONG=1, ten seeds are a few traces, and all consumers judge each: 500 seeds take about an hour of a quiet processor.

usage: seeded.py NTRACE [SEED...]
"""
import collections
import functools
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import user_qemu  # may change PATH
from harness import Run, case, equal, main, need, scratch
from named_calls import CONSUMERS, compare
from named_gdb import by_gdb
from named_more import by_llvm, by_parts, by_view, check_python, check_sum, check_top, entries

SEEDS, TOGETHER = 500, 10
# Of each group, a program executes the next one. 226: generated code where two other pieces were before. The first group has static programs.
DAILY = [(0, 3, 8, 11), (226, 1, 2, 4, 5, 6, 7, 9), (10, *range(12, 19))]
LIBRARIES, THREADS, SLOTS, OF_LOADER = 5, 3, 4, range(8, 11)
# An own function of each library at addresses that others have for another one.
LIBRARY = """{1}static __attribute__((noinline)) int leaf_{0}(int n) {{ volatile int s = n; {2}return s + {0}; }}
int entry_{0}(int n) {{ return leaf_{0}(n) + leaf_{0}(n + 1); }}
"""
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {"one": ["-static"], "two": ["-static", "-DSPACE"], "dynamic": ["-DDYNAMIC"]}


@functools.cache
def compiled():
    """The offset of entry_K in each library."""
    folder, gcc = scratch(), need("riscv64-linux-gnu-gcc")
    need("qemu-riscv64")
    for k in range(LIBRARIES):
        source = LIBRARY.format(k, f"int space_{k}(int n) {{ return n * n + n * {k}; }}\n" * (k % 2), "s += n * 3; " * (k // 2))
        with open(os.path.join(folder, f"l{k}.c"), "w", encoding="ascii") as file:
            file.write(source)
        subprocess.run([gcc, "-g", "-O1", "-shared", "-fPIC", "-nostdlib", f"l{k}.c", "-o", f"l{k}.so"], cwd=folder, check=True)
    for name, flags in PROGRAMS.items():
        names = [f"-DPROGRAM={name}", f'-DNAME_OF_OWN="own_{name}"', f'-DNAME_OF_INNER="inner_{name}"']
        subprocess.run([gcc, "-g", "-O1", "-w", "-pthread", *flags, *names, os.path.join(HERE, "actor.c"), "-o", name], cwd=folder, check=True)
    offsets = []
    for k in range(LIBRARIES):
        symbols = subprocess.run(["riscv64-linux-gnu-nm", f"l{k}.so"], cwd=folder, check=True, capture_output=True, text=True).stdout
        offsets.append(re.search(rf"(?m)^(\w+) T entry_{k}$", symbols)[1])
    return offsets


class Plan:
    """The steps of the programs of a seed. Behind them, those of the plan `then`."""

    def __init__(self, seed, offsets, then=None):
        self.random, self.seed, self.offsets, self.then = random.Random(seed), seed, offsets, then
        self.number = then.number if then else 0
        self.files, self.begin, self.is_static = [], self.random.choice(list(PROGRAMS)), True
        self.program(self.begin)
        self.naming = self.random.choice("mdn")

    def program(self, name, follow=True):
        file = f"steps_{self.seed}_{len(self.files)}"
        self.is_static &= name != "dynamic"
        self.files.append(file)
        lines = self.steps(name)
        if follow and self.random.random() < 0.6:
            other = self.random.choice(list(PROGRAMS))
            lines.append(f"x {self.random.randrange(THREADS)} ./{other} {self.program(other, len(self.files) < 4)}")
        elif self.then:
            lines.append(f"x 1 ./{self.then.begin} {self.then.files[0]} {self.then.naming}")
        with open(os.path.join(scratch(), file), "w", encoding="ascii") as out:
            out.write("\n".join(lines) + "\n")
        return file

    def steps(self, name):
        lines, slots, loaded = [], {}, {}
        for _ in range(self.random.randrange(6, 25)):
            thread, slot = self.random.randrange(THREADS), self.random.randrange(SLOTS)
            kinds = ["l", "g", "g", "w"] + ["u", "c", "c", "a"] * (slot in slots) + ["p"] * (slots.get(slot) == "g") * 2 + ["o"] * (name == "dynamic") * 4
            kind = self.random.choice(kinds)
            if kind == "l":
                k = self.random.randrange(LIBRARIES)
                lines.append(f"l {thread} {slot} ./l{k}.so {self.offsets[k]} entry_{k}")
            elif kind == "g":
                self.number += 1
                at, extra = self.random.choice((0, 0, 4, 64, 0x1f0)), self.random.randrange(8)
                lines.append(f"g {thread} {slot} made_{self.number} {at} {extra} {self.random.randrange(100)}")
            elif kind == "p":
                lines.append(f"p {thread} {slot} {self.random.randrange(100, 200)}")
            elif kind == "u":
                lines.append(f"u {thread} {slot}")
                del slots[slot]
            elif kind == "w":
                lines.append(f"w {thread} {self.random.randrange(4)}")
            elif kind == "o":
                self.load(lines, loaded, thread)
            if kind in "lg":
                slots[slot] = kind
            if kind in "lgcp":
                lines.append(f"c {self.random.randrange(THREADS)} {slot} {self.random.randrange(1, 4)}")
            elif kind == "a":
                lines.append(f"a {slot} {self.random.randrange(1, 4)}")
        return lines

    def load(self, lines, loaded, thread):
        """A library of the loader, which is unloaded in the next one of these steps."""
        if loaded:
            number, k = loaded.popitem()
            lines.append(f"c {self.random.randrange(THREADS)} {number} {self.random.randrange(1, 4)}")
            lines.append(f"k {thread} {number}")
        if self.random.random() < 0.8:
            number, k = self.random.choice(OF_LOADER), self.random.randrange(LIBRARIES)
            loaded[number] = k
            lines.append(f"o {thread} {number} ./l{k}.so entry_{k}")
            lines.append(f"c {thread} {number} {self.random.randrange(1, 4)}")


def true_calls(path):
    """[(thread, function)]; the program notes calls of entry_K, which calls leaf_K twice."""
    calls = []
    with open(path, encoding="ascii") as file:
        for thread, name in (line.split() for line in file):
            calls.append((int(thread), name))
            if name.startswith("entry_"):
                calls += [(int(thread), name.replace("entry", "leaf"))] * 2
    return calls


def by_timeline(bundle, wanted):
    calls = {}
    for event in json.loads(Run("timeline", "--to", "chrome", bundle).out)["traceEvents"]:
        if event["ph"] in "BX" and wanted(event["name"]):
            calls[event["name"]] = calls.get(event["name"], 0) + event.get("args", {}).get("calls", 1)
    return calls


MORE = CONSUMERS | {"timeline": by_timeline}


WANTED = re.compile(r"(entry|leaf|own|inner|made|space)_").match


def by_drcov(bundle):
    """The functions whose first instruction is in an executed range of their file."""
    data = Run("export", "--to", "drcov", bundle).bytes
    head, _, rest = data.partition(b"BB Table: ")
    count, _, table = rest.partition(b" bbs\n")
    found, files = set(), {}
    for number, base, path in re.findall(r"(?m)^ *(\d+), 0x(\w+), .*, (.*)$", head.decode()):
        low = 0 if path.endswith(".so") or path.endswith("dynamic") else int(base, 16)  # a program that is not moved
        files[int(number)] = {name: address - low for name, address in entries(path).items()}
    for i in range(int(count)):
        start, size, number = struct.unpack_from("<IHH", table, 8 * i)
        found.update(name for name, address in files[number].items() if start <= address < start + size)
    return found


def by_perf(bundle, own):
    """The instructions of the functions of files, as perf finds them."""
    path = bundle + ".data"
    Run("export", "--to", "perf.data", "--every", "1", "-o", path, bundle)
    environment = os.environ | {"HOME": scratch(), "PERF_CONFIG": "/dev/null", "PERF_BUILDID_DIR": "/dev/null"}
    text = subprocess.run(["perf", "report", "--stdio", "--no-children", "-g", "none", "-i", path, "-F", "period,sym", "-s", "sym"], check=True, env=environment,
                          capture_output=True, text=True).stdout
    found = collections.Counter()
    for period, name in re.findall(r"(?m)^ *(\d+) +\[\.\] (\S+) *$", text):
        found[name] += int(period)  # a row for each file
    return {name: found[name] for name in own}


def by_report(bundle):
    """The rows of the table of functions: name, file, line, own and all instructions, calls."""
    calls, path = collections.Counter(), bundle + ".html"
    Run("report", "-o", path, bundle)
    with open(path, encoding="utf-8") as file:
        for name, count in re.findall(r'\["(\w+)",(?:"[^"]*"|null),(?:\d+|null),\d+,\d+,(\d+),', file.read()):
            calls[name] += int(count) if WANTED(name) else 0
    return {name: count for name, count in calls.items() if count}


def traced(name, plans):
    folder, truth, bundle = scratch(), f"truth_{name}", f"{name}.ntrace"
    Run("run", *user_qemu.for_ntrace(user_qemu.repeatable()), "-q", "-o", bundle, "--", f"./{plans[0].begin}", plans[0].files[0], truth, plans[0].naming, cwd=folder)
    bundle = os.path.join(folder, bundle)
    with open(os.path.join(bundle, "capture.json"), encoding="utf-8") as file:
        for image in {image.get("name", "") for image in json.load(file)["images"] if "symbol" in image}:
            if os.path.exists(image):
                os.remove(image)  # the program leaves it in /tmp
    return bundle, true_calls(os.path.join(folder, truth))


BEFORE = []  # the last program of the long form: (bundle, truth)


def single(name, bundle, truth, of_files, seeds):
    """The consumers that are for the long form alone."""
    equal(by_gdb(bundle, WANTED), dict(truth), f"{name}: GDB")
    equal(by_report(bundle), dict(truth), f"{name}: report")
    equal(by_parts(bundle, WANTED), dict(truth), f"{name}: three parts")
    equal(by_llvm(bundle, WANTED, seeds[0]), {function: truth[function] for function in of_files}, f"{name}: LLVM")
    check_top(bundle, WANTED)
    check_python(bundle, dict(truth), WANTED)
    names = [of_files[seeds[0] // TOGETHER % len(of_files)]] if of_files else []  # it waits for the terminal at each call
    equal(by_view(bundle, names), {function: truth[function] for function in names}, f"{name}: view")
    if BEFORE:
        check_sum([BEFORE[0][0], bundle], [BEFORE[0][1], truth], WANTED)
    if not BEFORE or not any(function.startswith("made_") for function in truth):
        BEFORE[:] = [(bundle, truth)]


def seeded(name, seeds, part=None):
    """`part`: one third of the consumers; None: all."""
    plans = []
    for seed in reversed(seeds):
        plans.insert(0, Plan(seed, compiled(), plans[0] if plans else None))
    bundle, calls = traced(name, plans)
    truth = collections.Counter(function for _, function in calls)
    compare(bundle, dict(truth), wanted=WANTED, lined=lambda name: not name.startswith("made_"),
            consumers={key: by for at, (key, by) in enumerate(MORE.items()) if part is None or at % 3 == part})
    of_files = sorted(function for function in truth if not function.startswith("made_"))
    if part is None:
        single(name, bundle, truth, of_files, seeds)
    if part != 1:
        equal(sorted(by_drcov(bundle)), of_files, f"{name}: drcov")
    own = {row["function"]: row["self"] for row in Run("profile", bundle, "--format", "jsonl").rows() if row["function"] in of_files}
    if shutil.which("perf") and all(plan.is_static for plan in plans):  # a sample for each instruction
        equal(by_perf(bundle, own), own, f"{name}: instructions of perf report")


def several(name, seeds):
    """Seeds as traces of static programs, which perf judges as well, and of others."""
    static = [seed for seed in seeds if Plan(seed, compiled()).is_static]
    for kind, some in ("static", static), ("dynamic", [seed for seed in seeds if seed not in static]):
        if some:
            seeded(f"{name}-{kind}", some)


@case("GDB, forward and backward: seeds 0 and 2; code of the third program has no names where the first one had code with names")
def debugged():
    second = Plan(2, compiled())
    bundle, calls = traced("gdb", [Plan(0, compiled(), second), second])
    equal(by_gdb(bundle, WANTED), dict(collections.Counter(function for _, function in calls)), "stops at first instructions")


for number, group in enumerate(DAILY):
    case(f"seeds {', '.join(map(str, group))}", f"group{number}", list(group), number)(seeded)
for number in range(0, SEEDS, TOGETHER):
    case(f"seeds {number} to {number + TOGETHER - 1}", f"to{number}", list(range(number, number + TOGETHER)), long=True)(several)
for seed in sys.argv[2:]:
    case(f"seed {seed}", seed, [int(seed)])(seeded)
if __name__ == "__main__":
    main()
