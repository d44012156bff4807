#!/usr/bin/env python3
"""The call tree compared with a record that the program makes itself.

usage: calltree.py NTRACE

Each program is built twice: with -finstrument-functions and calls/record.c, which writes down who entered whom,
and plain, which is traced. Compared is how often each function of the program was entered below each stack of
functions of the program; what libraries do between them is left out, the record cannot see it. The two differ
by tail calls (Bench.tail_calls), and for the reasons in EXPLAINED.
"""
import collections
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
from harness import NTRACE, case, folder, note

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls")
COMMON = ["-g", "-pthread", "-fno-inline", "-fno-ipa-icf", "-fno-ipa-cp", "-fno-ipa-sra", "-fno-partial-inlining"]

# Through a pointer; the direct ones are read off the disassembly.
INDIRECT_TAIL_CALLS = {("indirect", "hop"), ("indirect", "skip"), ("indirect", "land")}

# {program: {stack: (recorded, traced)}}
EXPLAINED = {
    # The branch into the handler shows the function, not which call of it; the innermost call is assumed. The tree is
    # right again when that call returns. Only the unwinder's tables contain that the innermost call has no handler there.
    "unwind.cc": {("main", "thrower", "thrower", "note"): (1, 0),
                  ("main", "thrower", "thrower", "thrower", "note"): (0, 1)},
}


def plain_name(name):
    """Without parameters: DWARF of static C++ functions does not contain them."""
    return name.split("(")[0].split(" ")[0]


class Bench:
    def __init__(self, ntrace, folder):
        self.ntrace, self.folder = ntrace, folder
        self.run("riscv64-linux-gnu-gcc", "-O2", "-c", os.path.join(HERE, "record.c"))

    def run(self, *command, **options):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120, **options)
        if done.returncode:
            raise AssertionError(f"{' '.join(command[:3])}: {done.returncode}: {done.stderr[-300:]}")
        return done.stdout

    def build(self, source, flags):
        compiler = "riscv64-linux-gnu-g++" if source.endswith(".cc") else "riscv64-linux-gnu-gcc"
        common = [compiler, *COMMON, *flags, os.path.join(HERE, source)]
        self.run(*common, "-o", "plain")
        self.run(*common, "-finstrument-functions", "-fno-omit-frame-pointer",
                 "-fno-optimize-sibling-calls", "record.o", "-static", "-o", "recorded")

    def build_by_t0(self, source, flags):
        """The plain program again: every call and tail call inside of it goes through t0, as in Go and OpenJDK."""
        compiler = "riscv64-linux-gnu-g++" if source.endswith(".cc") else "riscv64-linux-gnu-gcc"
        self.run(compiler, *COMMON, *flags, "-S", os.path.join(HERE, source), "-o", "plain.s")
        path = os.path.join(self.folder, "plain.s")
        with open(path, encoding="ascii") as file:
            text = file.read()
        own = set(re.findall(r"(?m)^\t\.type\t(\w+), @function", text))
        text, calls = re.subn(r"(?m)^\tcall\t(\w+)$", lambda f: f"\tla\tt0,{f[1]}\n\tjalr\tra,0(t0)" if f[1] in own else f[0], text)
        text, tails = re.subn(r"(?m)^\ttail\t(\w+)$", lambda f: f"\tla\tt0,{f[1]}\n\tjr\tt0" if f[1] in own else f[0], text)
        text, pointers = re.subn(r"(?m)^\tjalr\t(\w+)$", r"\tmv\tt0,\1\n\tjalr\tra,0(t0)", text)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        self.run(compiler, *flags, "-pthread", "plain.s", "-o", "plain")
        assert calls > 10 and (tails or "-O2" not in flags), (calls, tails, pointers)

    def tail_calls(self, names):
        """{(caller, callee)}: functions of the program that jump to the beginning of another one.

        The plain program jumps, so the callee takes the caller's place. In the instrumented one the caller still
        has to say that it is left, so it stays below the callee.
        """
        found, function = set(), None
        for line in self.run("riscv64-linux-gnu-objdump", "-dC", "--no-show-raw-insn", "plain").splitlines():
            begins = re.match(r"[0-9a-f]+ <(.*)>:$", line)
            jumps = re.search(r"\t(?:j|b\w+)\t.*<([^+]*)>$", line)
            if begins:
                function = plain_name(begins.group(1))
            elif jumps and {function, plain_name(jumps.group(1))} <= names:
                found.add((function, plain_name(jumps.group(1))))
        return {pair for pair in found | (INDIRECT_TAIL_CALLS if found else set()) if pair[0] != pair[1]}

    def recorded(self):
        """{stack of functions: times entered} from the record of the instrumented program."""
        self.run("sh", "-c", "qemu-riscv64 ./recorded 3>record.txt")
        symbols = {int(line.split()[0], 16): plain_name(line.split(" ", 2)[2])
                   for line in self.run("nm", "-C", "recorded").splitlines()
                   if re.match(r"[0-9a-f]+ [tTwW] [^$.]", line)}
        stacks, calls = {0: ()}, collections.Counter()
        for line in open(os.path.join(self.folder, "record.txt"), encoding="utf-8"):
            number, parent, address, count = line.split()
            stacks[int(number)] = stacks[int(parent)] + (symbols[int(address, 16)],)
            calls[stacks[int(number)]] += int(count)
        return calls

    def traced(self, names):
        """The same from the trace; functions that are not in `names` are left out of the stacks."""
        self.run(self.ntrace, "run", "-o", "plain.ntrace", "--", "./plain")
        stacks, calls = {0: ()}, collections.Counter()
        for line in self.run(self.ntrace, "export", "--to", "calltree", "plain.ntrace").splitlines():
            node = json.loads(line)
            name = plain_name(node["function"])
            own = name in names
            stacks[node["id"]] = stacks[node["parent"]] + ((name,) if own else ())
            if own:
                calls[stacks[node["id"]]] += node["calls"]
        return calls


def without_tail_callers(calls, tail_calls):
    """Remove callers that made a tail call from the stacks of the functions they jumped to."""
    lifted = collections.Counter()
    for stack, count in calls.items():
        kept = [f for f, above in zip(stack, stack[1:] + (None,)) if (f, above) not in tail_calls]
        lifted[tuple(kept)] += count
    return lifted


def difference(expected, seen, explained):
    lines = []
    for stack in sorted(expected.keys() | seen.keys()):
        if explained.get(stack, (expected[stack], expected[stack])) != (expected[stack], seen[stack]):
            lines.append(f"{' > '.join(stack)}: recorded {expected[stack]}, traced {seen[stack]}")
    return lines


def compare(bench, source, flags, by_t0=False):
    bench.build(source, flags)
    recorded = bench.recorded()
    names = {stack[-1] for stack in recorded}
    tail_calls = bench.tail_calls(names)
    if by_t0:
        bench.build_by_t0(source, flags)
    seen = bench.traced(names)
    assert bool(tail_calls) == ("-O2" in flags), tail_calls
    expected = without_tail_callers(recorded, tail_calls)
    lines = difference(expected, seen, EXPLAINED.get(source, {}))
    assert not lines, f"{len(lines)} of {len(expected)} differ\n" + "\n".join(lines[:8])
    note(f"{len(expected)} stacks, {sum(expected.values())} calls")
    assert len(expected) > 5, expected


def per_hart(bench):
    """One tree for each hart has the instructions of that hart alone; together they are the tree without the option."""
    def tree(*options):
        lines = bench.run(bench.ntrace, "export", "--to", "calltree", *options, "plain.ntrace").splitlines()
        return [json.loads(line) for line in lines]

    bench.build("flow.c", ["-O2", "-static"])
    bench.run(bench.ntrace, "run", "-o", "plain.ntrace", "--", "./plain")
    harts = {node["function"]: node["total"] for node in tree("--per", "hart") if node["parent"] == 0}
    assert len(harts) > 1, harts
    for name, total in harts.items():
        src = re.fullmatch(r"hart (\d+)", name).group(1)
        counted = bench.run(bench.ntrace, "decode", "--show", "count", "--src", src, "plain.ntrace")
        assert f"instructions {total}\n" in counted, name
    calls = collections.Counter()
    for sign, nodes in ((1, tree()), (-1, tree("--per", "hart"))):
        for node in nodes:
            if not node["function"].startswith("hart "):
                calls[(node["function"], node["kind"])] += sign * node["calls"]
    assert not any(calls.values()), {name: count for name, count in calls.items() if count}


for each_source, each_flags in [(source, flags) for source in ("flow.c", "unwind.cc") for flags in (["-O2", "-static"], ["-O0", "-static"], ["-O2"])]:
    case(f"{each_source} {' '.join(each_flags)}", each_source, each_flags, long="-static" in each_flags)(
        lambda source, flags: compare(Bench(NTRACE, folder()), source, flags))
for each_source, each_flags in [(source, [level, "-static"]) for source in ("flow.c", "unwind.cc") for level in ("-O2", "-O0")]:
    case(f"{each_source} {' '.join(each_flags)}, calls through t0", each_source, each_flags, long="-O0" in each_flags or each_source == "flow.c")(
        lambda source, flags: compare(Bench(NTRACE, folder()), source, flags, True))
case("flow.c, a tree for each hart")(lambda: per_hart(Bench(NTRACE, folder())))
harness.main("riscv64-linux-gnu-gcc", "riscv64-linux-gnu-g++", "qemu-riscv64")
