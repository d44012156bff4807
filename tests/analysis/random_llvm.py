#!/usr/bin/env python3
"""Random programs of C and C++: line counts of code of clang are those of llvm-cov. TAP.

usage: random_llvm.py NTRACE [SEED [PROGRAMS]]

The statements are those of random_lines.py and those on which regions depend: macros with statements and conditions, conditions and
choices on several lines, switches that fall through, initializers in conditions, instances of templates with `if constexpr`,
structured bindings, lambdas in arguments. Each program is compiled twice by clang -O0: with -fcoverage-mapping for this machine, and
without for RISC-V.
"""
import os
import random
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
import llvm_native
import llvm_truth
import random_source
from harness import check, folder, need, note

SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
PROGRAMS = int(sys.argv[3]) if len(sys.argv) > 3 else 1
HEADER = """#define ADD(to, n) (to) += (n)
#define IF_ODD(n, to) if ((n) & 1) { ADD(to, n); } else { (to)--; }
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define RETURN_IF(condition, n) do { if (condition) return (n); } while (0)
"""
HEADER_CPP = """template <bool odd, class T> static int pick(T n) {
    T result = n;
    if constexpr (odd) {
        if (n % 2)
            result = n + 1;
        else
            result = n - 1;
    }
    if (odd && n > 3) {
        result += 2;
    }
    return (int)result;
}
struct Pair { int a, b; };
template <class F> static int apply(int n, F of) { return of(n) + of(n + 1); }
"""


class Function(random_source.Function):
    def statement(self, depth, levels):
        kinds = [kind for kind in dir(self) if kind.startswith(("extra_", "cpp_") if self.cpp else "extra_")]
        if levels > 0 and self.pick.random() < 0.4:
            getattr(self, self.pick.choice(kinds))(depth, levels - 1)
        else:
            super().statement(depth, levels)

    def make_goto(self, depth, levels):
        self.make_simple(depth, levels)  # a label has no code, and begins a region

    def extra_macro(self, depth, _):
        self.put(depth, self.pick.choice(["IF_ODD(s, n)", "IF_ODD(n, s);", "ADD(s, n);", "EACH(k, 3) s += k;", "RETURN_IF(s > 90, s);"]))

    def extra_each(self, depth, levels):
        self.put(depth, f"EACH({self.name()}, {self.pick.randint(0, 3)}) {{")
        self.body(depth, levels)
        self.put(depth, "}")

    def extra_condition(self, depth, levels):
        self.put(depth, f"if ({self.condition()} {self.pick.choice(['&&', '||'])}")
        self.put(depth + 1, f"({self.condition()} ||")
        self.put(depth + 1, f" {self.condition()})) {{")
        self.block(depth + 1, levels, 1)
        self.put(depth, "}")

    def extra_choice(self, depth, _):
        self.put(depth, f"s += {self.condition()} ? leaf(n) :")
        self.put(depth + 2, f"{self.condition()} ? {self.pick.choice(['3', 'leaf(s)'])} :")
        self.put(depth + 2, f"{self.condition()} ? n : {self.pick.choice(['1', 'two(n, s)'])};")

    def extra_chain(self, depth, levels):
        for word in ("if", "} else if", "} else if"):
            self.put(depth, f"{word} ({self.condition()}) {{")
            self.block(depth + 1, levels, 1)
        self.put(depth, self.pick.choice(["} else {\n" + "    " * (depth + 1) + "s--;\n" + "    " * depth + "}", "}"]))

    def extra_switch(self, depth, levels):
        self.put(depth, "switch (s & 7) {")
        for value in range(6):
            self.put(depth, f"case {value}:" + self.pick.choice(["", " s++;", " {"]))
            if self.lines[-1].endswith("{"):
                self.block(depth + 1, levels, 1)
                self.put(depth, "}" + self.pick.choice(["", " break;"]))
            elif not self.lines[-1].endswith(";"):
                self.put(depth + 1, self.pick.choice(["s += 2;", "break;", "return s;", "if (n > 1) break;"]))
        self.put(depth, "}")

    def extra_bare(self, depth, _):
        self.put(depth, f"if ({self.condition()})")
        self.put(depth + 1, f"if ({self.condition()}) s++;")
        self.put(depth + 1, "else s--;")
        self.put(depth, "else")
        self.put(depth + 1, "{ s += 2; };")

    def cpp_init(self, depth, levels):
        i = self.name()
        self.put(depth, f"if (int {i} = leaf(s); {i} > 1) {{")
        self.block(depth + 1, levels, 1)
        self.put(depth, "} else {")
        self.put(depth + 1, f"s += {i};")
        self.put(depth, "}")

    def cpp_binding(self, depth, _):
        i = self.name()
        self.put(depth, f"auto [{i}a, {i}b] = Pair{{s, n}};")
        self.put(depth, f"s += {i}a > {i}b ? {i}a - {i}b")
        self.put(depth + 2, f": {i}b;")

    def cpp_pick(self, depth, _):
        self.put(depth, "s += pick<true>(n) + pick<false>(s) + pick<true>(2.5f * 0 + (long)n);".replace("2.5f * 0 + ", ""))

    def cpp_apply(self, depth, _):
        self.put(depth, "s += apply(n, [&](int x) {")
        self.put(depth + 1, "if (x > 2)")
        self.put(depth + 2, "return x - 1;")
        self.put(depth + 1, f"return x & 1 ? x : s;")
        self.put(depth, "});")

    def cpp_catch(self, depth, levels):
        self.put(depth, "try {")
        self.put(depth + 1, f"if ({self.condition()}) throw s;")
        self.block(depth + 1, levels, 1)
        self.put(depth, "} catch (int caught) {")
        self.put(depth + 1, "s += caught;")
        self.put(depth, "}")


def program(seed, cpp):
    pick = random.Random(seed)
    functions = [Function(pick, f"f{i}", cpp) for i in range(8)]
    text = (HEADER + random_source.HEADER_CPP + HEADER_CPP) if cpp else HEADER + random_source.HEADER
    text += "".join("static " + "\n".join(f.lines) + "\n" for f in functions)
    calls = [f"f{i}(n)" for i in range(8)]
    text += "int main(void) {\n    int s = 0;\n    for (int n = 0; n < 6; n++) {\n"
    text += "".join(f"        try {{ s += {call}; }} catch (...) {{ s++; }}\n" if cpp else f"        s += {call};\n" for call in calls)
    return text + "    }\n    return s == 12345;\n}\n"


class Regions:
    """What llvm-cov says of its regions (llvm_truth.py)."""
    macros, gaps, resumed = frozenset(), frozenset(), {}


def differences(seed, cpp):
    place, source = folder(), "random.cc" if cpp else "random.c"
    text = program(seed, cpp)
    llvm_native.write(os.path.join(place, source), text)
    theirs = llvm_native.from_llvm_cov(source, place)
    llvm_native.trace("clang++-19" if cpp else "clang-19", [source], place, *llvm_native.TARGET)
    ours = llvm_native.lines_of(llvm_native.document(place), source)
    both, lines, found = sorted(set(ours) & set(theirs)), text.split("\n"), Regions()
    llvm_truth.read_regions(found, llvm_native.regions_of_llvm_cov(place))
    return [f"seed {seed} {source}:{n}: {ours[n]}, llvm-cov {theirs[n]}: {lines[n - 1]}" for n in both
            if ours[n] != theirs[n] and not (theirs[n] == 0 and llvm_truth.is_gap(lines[n - 1], found, (source, n)))], len(both)


@harness.case("C: random programs", False)
@harness.case("C++: random programs", True)
def compare(cpp):
    need("clang-19", "qemu-riscv64")
    found, compared = [], 0
    for seed in range(SEED, SEED + PROGRAMS):
        new, count = differences(seed, cpp)
        found += new
        compared += count
    note(f"{compared} lines, {len(found)} with other counts")
    check(not found, "\n".join(found))


harness.main("clang-19", "qemu-riscv64")
