#!/usr/bin/env python3
"""Random programs of C and C++: line and function counts of a traced program are those of gcov. TAP.

usage: random_lines.py NTRACE [SEED [PROGRAMS]]

A program has a header, whose inline functions and templates both of its units use, and functions of random statements: loops of each
kind, break, continue and goto, early returns, conditions with calls, ?:, statements of several lines, and in C++ destructors,
exceptions, lambdas and templates. It is compiled with gcc -O0. Lines that only one side lists have no executable statement
(docs/coverage-rules.md, "Lines").
"""
import json
import os
import random
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import harness
from harness import NTRACE, check, folder, note

SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
PROGRAMS = int(sys.argv[3]) if len(sys.argv) > 3 else 1
TOOLS = ("riscv64-linux-gnu-gcc", "riscv64-linux-gnu-g++", "riscv64-linux-gnu-gcov", "qemu-riscv64")

HEADER = """static inline int leaf(int n) { return n * 7 % 5; }
static inline int
two(int a, int b)
{
    if (a > b)
        return a;
    return b;
}
"""
HEADER_CPP = HEADER + """struct Guard {
    int &to;
    explicit Guard(int &n) : to(n) { to++; }
    ~Guard() { to += 2; }
};
template <class T> T twice(T n) {
    if (n > 2)
        return n + n;
    return n;
}
inline int thrower(int n) {
    if (n % 3 == 1)
        throw n;
    return n / 2;
}
struct Numbers {
    int at[4] = {3, 1, 4, 1};
    const int *begin() const { return at; }
    const int *end() const { return at + 4; }
};
"""


class Function:
    """Random statements, one source line in each element of `lines`."""
    def __init__(self, pick, name, cpp):
        self.pick, self.cpp, self.names, self.lines = pick, cpp, 0, []
        self.loops, self.labels = 0, 0
        self.put(0, f"int {name}(int n)" + (" {" if pick.random() < 0.7 else ""))
        if not self.lines[-1].endswith("{"):
            self.put(0, "{")
        self.put(1, "int s = n;")
        self.block(1, 3, pick.randint(3, 6))
        self.put(1, pick.choice(["return s;", "return s > 3 ? s : leaf(s);", "return two(s, leaf(n));"]))
        self.put(0, "}")

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def condition(self):
        return self.pick.choice(["n > 2", "s % 2", "leaf(s) > 1", "n > 1 && leaf(s) < 3", "s & 1 || n == 2", "!(n & 1) && (s > 3 || leaf(n) == 2)"])

    def simple(self):
        texts = ["s += n;", "s = leaf(s + n);", "s ^= two(n, 3);", "s += n & 1 ? leaf(n) : 2;", "s += (n > 2 && s > 1);", "n++;", "s -= leaf(leaf(n)) + two(s, n);"]
        if self.cpp:
            texts += ["s += twice(n);", "s += (int)twice(s * 0.5);", "s += [n](int x) { return x + n; }(s);"]
        return self.pick.choice(texts)

    def block(self, depth, levels, count):
        for _ in range(count):
            self.statement(depth, levels)

    def statement(self, depth, levels):
        kinds = ["simple", "simple", "lines", "one_line_if", "early"]
        if self.loops:
            kinds += ["leave", "leave"]
        if levels > 0:
            kinds += ["if", "if_else", "for", "while", "do", "forever", "one_line_loop", "goto", "switch", "scope"]
            if self.cpp:
                kinds += ["guard", "guard", "try", "try", "lambda", "range"]
        getattr(self, "make_" + self.pick.choice(kinds))(depth, levels - 1)

    def make_simple(self, depth, _):
        self.put(depth, self.simple())

    def make_lines(self, depth, _):
        self.put(depth, "s += two(n,")
        self.put(depth + 2, self.pick.choice(["leaf(s));", "s & 3);", "leaf(n) + leaf(s));"]))

    def make_one_line_if(self, depth, _):
        self.put(depth, f"if ({self.condition()}) {self.simple()}")

    def make_early(self, depth, _):
        self.put(depth, f"if (s > {self.pick.randint(20, 60)})")
        self.put(depth + 1, "return s;")

    def make_leave(self, depth, _):
        self.put(depth, f"if ({self.condition()})")
        self.put(depth + 1, self.pick.choice(["break;", "continue;"]))

    def make_if(self, depth, levels):
        self.put(depth, f"if ({self.condition()}) {{")
        self.block(depth + 1, levels, self.pick.randint(1, 2))
        self.put(depth, "}")

    def make_if_else(self, depth, levels):
        self.put(depth, f"if ({self.condition()}) {{")
        self.block(depth + 1, levels, 1)
        self.put(depth, "} else {")
        self.block(depth + 1, levels, 1)
        self.put(depth, "}")

    def body(self, depth, levels):
        self.loops += 1
        self.block(depth + 1, levels, self.pick.randint(1, 3))
        self.loops -= 1

    def make_for(self, depth, levels):
        i = self.name()
        self.put(depth, f"for (int {i} = 0; {i} < {self.pick.randint(0, 4)}; {i}++) {{")
        self.body(depth, levels)
        self.put(depth, "}")

    def make_while(self, depth, levels):
        i = self.name()
        self.put(depth, f"int {i} = {self.pick.randint(0, 4)};")
        self.put(depth, f"while ({i}-- > 0) {{")
        self.body(depth, levels)
        self.put(depth, "}")

    def make_do(self, depth, levels):
        i = self.name()
        self.put(depth, f"int {i} = {self.pick.randint(1, 4)};")
        self.put(depth, "do {")
        self.body(depth, levels)
        self.put(depth, f"}} while (--{i} > 0);")

    def make_forever(self, depth, levels):
        i = self.name()
        self.put(depth, f"int {i} = 0;")
        self.put(depth, self.pick.choice(["for (;;) {", "while (1) {"]))
        self.put(depth + 1, f"if (++{i} > {self.pick.randint(1, 4)})" + self.pick.choice([" break;", "\n" + "    " * (depth + 2) + "break;"]))
        self.body(depth, levels)
        self.put(depth, "}")

    def make_one_line_loop(self, depth, _):
        i = self.name()
        self.put(depth, self.pick.choice([f"for (int {i} = 0; {i} < 3; {i}++) {self.simple()}", f"int {i} = 3; while ({i}--) s++;", f"int {i} = 2; do s += leaf(s); while (--{i});"]))

    def make_goto(self, depth, _):
        i = self.name()
        self.labels += 1
        self.put(depth, f"int {i} = 0;")
        self.lines.append(f"again{self.labels}:")
        self.put(depth, self.simple())
        self.put(depth, f"if (++{i} < 3)")
        self.put(depth + 1, f"goto again{self.labels};")

    def make_switch(self, depth, _):
        self.put(depth, "switch (n & 3) {")
        for value in range(3):
            self.put(depth, f"case {value}:")
            self.put(depth + 1, self.simple())
            if self.pick.random() < 0.7:
                self.put(depth + 1, "break;")
        self.put(depth, "default:")
        self.put(depth + 1, self.simple())
        self.put(depth, "}")

    def make_scope(self, depth, levels):
        self.put(depth, "{")
        self.put(depth + 1, "int s0 = s;")
        self.block(depth + 1, levels, 1)
        self.put(depth + 1, "s += s0 & 1;")
        self.put(depth, "}")

    def make_guard(self, depth, levels):
        self.put(depth, "{")
        self.put(depth + 1, f"Guard {self.name()}(s);")
        if self.pick.random() < 0.3:
            self.put(depth + 1, f"Guard {self.name()}(n);")
        self.block(depth + 1, levels, self.pick.randint(1, 2))
        self.put(depth, "}")

    def make_try(self, depth, levels):
        self.put(depth, "try {")
        self.block(depth + 1, levels, 1)
        self.put(depth + 1, "s += thrower(s);")
        self.put(depth, self.pick.choice(["} catch (int e) {", "} catch (...) {"]))
        self.block(depth + 1, 0, 1)
        self.put(depth, "}")

    def make_lambda(self, depth, _):
        f = self.name()
        self.put(depth, f"auto {f} = [&](int x) {{")
        self.put(depth + 1, "if (x > 3)")
        self.put(depth + 2, "return x - s;")
        self.put(depth + 1, "return x;")
        self.put(depth, "};")
        self.put(depth, f"s += {f}(n);")

    def make_range(self, depth, levels):
        self.put(depth, f"for (int {self.name()} : Numbers()) {{")
        self.body(depth, levels)
        self.put(depth, "}")


def program(seed, cpp):
    """{file name: text}"""
    pick = random.Random(seed)
    units = [[Function(pick, f"u{unit}f{i}", cpp) for i in range(6)] for unit in range(2)]
    texts = {"shared.h": HEADER_CPP if cpp else HEADER}
    for unit, functions in enumerate(units):
        text = '#include "shared.h"\n' + "".join("\n".join(f.lines) + "\n" for f in functions)
        calls = [f"u{unit}f{i}(n)" for i in range(6)]
        calls = [f"try {{ s += {call}; }} catch (...) {{ s++; }}" if cpp else f"s += {call};" for call in calls]
        text += f"int unit{unit}(int n) {{\n    int s = 0;\n" + "".join(f"    {call}\n" for call in calls) + "    return s;\n}\n"
        texts[f"u{unit}" + (".cc" if cpp else ".c")] = text
    texts["u0" + (".cc" if cpp else ".c")] += """int unit1(int n);
int main(void) {
    int s = 0;
    for (int n = 0; n < 6; n++)
        s += unit0(n) + unit1(n);
    return s == 12345;
}
"""
    return texts


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)[:200]}: {done.returncode}: {done.stderr[-500:].decode(errors='replace')}")
    return done.stdout


def add(into, key, count):
    into[key] = into.get(key, 0) + count


def from_gcov(compiler, units, place):
    run(compiler, "-w", "-O0", "-g", "--coverage", "-static", *units, "-o", "counted", cwd=place)
    run("qemu-riscv64", "./counted", cwd=place)
    lines, functions = {}, {}
    data = sorted(name for name in os.listdir(place) if name.endswith(".gcda"))
    for name in data:
        for file in json.loads(run("riscv64-linux-gnu-gcov", "--json-format", "--stdout", name, cwd=place))["files"]:
            for line in file["lines"]:
                add(lines, (os.path.basename(file["file"]), line["line_number"]), line["count"])
            for function in file["functions"]:
                add(functions, function["name"], function["execution_count"])
    return lines, functions


def from_trace(compiler, units, place):
    run(compiler, "-w", "-O0", "-g", "-static", *units, "-o", "plain", cwd=place)
    run(NTRACE, "run", "-q", "-o", "plain.ntrace", "--", "./plain", cwd=place)
    lines, functions = {}, {}
    for file in json.loads(run(NTRACE, "coverage", "--to", "json", "--only", place, "plain.ntrace", cwd=place))["files"]:
        for line in file["lines"]:
            lines[os.path.basename(file["file"]), line["line"]] = line["count"]
        for function in file["functions"]:
            add(functions, function["linkage"], function["count"])
    return lines, functions


def may_stand_alone(text):
    """Whether only one side may list the line."""
    text = text.strip()
    head = re.match(r"^(static inline |inline |template <class T> )?[a-zA-Z].*\)\s*\{?$", text) is not None
    return head or text in ("{", "}", "};", "try {", "do {", "for (;;) {", "while (1) {") or re.match(r"(case .*|default|again\d+):$", text) is not None


named = {}  # rule: number of lines


def named_rule(line, cpp, ours, theirs):
    """The rule of docs/coverage-rules.md by which the counts may differ, or None."""
    line = line.strip()
    if line in ("continue;", "break;", "for (;;) {", "while (1) {", "} else {") or re.match(r"if \(\+\+v\d+ > \d\) break;$", line):
        return "jumps"
    if re.match(r"(if \(.*\{|for \(int v\d+ = .*\{|leaf\(.*\);)$", line) and (theirs or 0) > (ours or 0) > 0:
        return "jumps"
    if line.startswith("switch"):
        return "switch"
    if cpp and line in ("}", "try {"):
        return "ways out of a scope in C++"
    if cpp and re.match(r"return .*\(", line) and theirs == 2 * ours:
        return "ways out of a scope in C++"
    if cpp and re.match(r"for \(.*\{$|return s;", line):
        return "ways out of a scope in C++"
    return None


def differences(seed, cpp):
    """Returns differences, and the number of lines compared."""
    place = folder()
    texts = program(seed, cpp)
    for name, text in texts.items():
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            file.write(text)
    compiler = "riscv64-linux-gnu-g++" if cpp else "riscv64-linux-gnu-gcc"
    units = [name for name in texts if not name.endswith(".h")]
    (ours, our_functions), (theirs, their_functions) = from_trace(compiler, units, place), from_gcov(compiler, units, place)
    found = [f"{name}: {our_functions.get(name)}, gcov {count}" for name, count in their_functions.items()
             if our_functions.get(name) != count]
    for name, number in sorted(set(ours) | set(theirs)):
        if name not in texts:
            continue
        line = texts[name].split("\n")[number - 1]
        our, their = ours.get((name, number)), theirs.get((name, number))
        if our == their or ((our is None or their is None) and may_stand_alone(line)):
            continue
        rule = named_rule(line, cpp, our, their)
        named[rule] = named.get(rule, 0) + 1
        if rule is None:
            found.append(f"seed {seed} {name}:{number}: {our}, gcov {their}: {line}")
    return found, len(set(ours) & set(theirs))


def compare(cpp):
    found, compared = [], 0
    named.clear()
    for seed in range(SEED, SEED + PROGRAMS):
        new, count = differences(seed, cpp)
        found += new
        compared += count
    note(f"{compared} lines, by named rules: {named}")
    note("\n".join(found[:40]))
    check(len(found) * 2000 <= compared, "more than 1 of 2,000 lines differ by no rule that has a name")
    check(compared > 100 * PROGRAMS and sum(named.values()) * 50 < compared, "too many lines differ by rules")


harness.case("C: lines and functions as gcov counts them", False)(compare)
harness.case("C++: lines and functions as gcov counts them", True)(compare)
harness.main(*TOOLS)
