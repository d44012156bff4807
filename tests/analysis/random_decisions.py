#!/usr/bin/env python3
"""Random decisions with an oracle of its own: the vectors of each decision, with their counts, are computed here from the inputs. TAP.

usage: random_decisions.py NTRACE [SEED [PROGRAMS]]

Each program has functions of C, and of C++ where a compiler of C++ is used. gcc and clang compile it without optimization, for
debugging and with optimization. A decision that is determinable has exactly the vectors and counts of the oracle; one that is not
has none that did not happen. The share that is determinable has a lower limit for each compiler.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import cases

NAMES = "abcdef"
KINDS = ["plain", "plain", "not", "greater", "equal", "call", "nested", "unlikely", "choice"]
INPUTS = [[(k * 2654435761 % 2**32) // 3**i % 3 for i in range(len(NAMES))] for k in range(40)]

# compiler, level, C++, least share of decisions that are determinable; without optimization, clang also with loads (`run --data`): all
BUILDS = [("riscv64-linux-gnu-gcc", "-O0", False, 0.95), ("riscv64-linux-gnu-gcc", "-Og", False, 0.05), ("riscv64-linux-gnu-gcc", "-O2", False, 0),
          ("clang-19", "-O0", False, 1), ("clang-19", "-Og", False, 0), ("riscv64-linux-gnu-g++", "-O0", True, 0.95),
          ("riscv64-linux-gnu-g++", "-Og", True, 0.25), ("clang++-19", "-O0", True, 1),
          ("riscv64-linux-gnu-gcc", "-Og -fno-thread-jumps -fno-tree-fre -fno-tree-dominator-opts -mbranch-cost=1", False, 0.15), ("riscv64-linux-gnu-g++", "-Og -fno-thread-jumps -fno-tree-fre -fno-tree-dominator-opts -mbranch-cost=1", True, 0.5)]


class Leaf:
    def __init__(self, pick, name, cpp):
        kind, number = pick.choice(KINDS + (["object"] if cpp else [])), pick.randint(0, 2)
        self.inner = None
        if kind == "choice":
            self.choice(pick, name, cpp)
        elif kind in ("nested", "unlikely"):
            other = pick.choice(NAMES)
            self.inner = Tree(pick, [name, other], cpp, leaves=("greater", "call"))
            self.text = f"get({self.inner.text})" if kind == "nested" else f"__builtin_expect(({self.inner.text}) != 0, 0)"
            self.value = lambda env, seen: self.inner.evaluate(env, seen)
        else:
            self.text = {"plain": name, "not": f"!{name}", "greater": f"{name} > {number}", "equal": f"{name} == {number}",
                         "call": f"get({name})", "object": f"Flag({name})"}[kind]
            self.value = {"plain": lambda env, seen: env[name] != 0, "not": lambda env, seen: env[name] == 0,
                          "greater": lambda env, seen: env[name] > number, "equal": lambda env, seen: env[name] == number,
                          "call": lambda env, seen: env[name] % 2 == 1, "object": lambda env, seen: env[name] != 0}[kind]


    def choice(self, pick, name, cpp):
        """?: with a decision as its second operand, maybe negated, or as the second one of another ?:."""
        other, negated, deep = pick.choice(NAMES), pick.random() < 0.3, pick.random() < 0.3
        self.inner = Tree(pick, [name, other], cpp, leaves=("greater", "call"))
        operand = f"!({self.inner.text})" if negated else f"({self.inner.text})"
        self.text = f"({other} ? {f'({name} ? {operand} : get({other}))' if deep else operand} : {name})"

        def value(env, seen):
            if not env[other]:
                return env[name] != 0
            if deep and not env[name]:
                return env[other] % 2 == 1
            return self.inner.evaluate(env, seen) != negated
        self.value = value


class Simple(Leaf):
    def __init__(self, pick, name, cpp, leaves):
        kind, number = pick.choice(leaves), pick.randint(0, 1)
        self.inner = None
        self.text = f"{name} > {number}" if kind == "greater" else f"get({name})"
        self.value = (lambda env, seen: env[name] > number) if kind == "greater" else (lambda env, seen: env[name] % 2 == 1)


class Tree:
    """A decision: a random tree of && and || over the names, with ! in front of parentheses."""
    def __init__(self, pick, names, cpp, leaves=None):
        self.leaves = []
        self.root = self.grow(pick, names, cpp, leaves)
        self.text = self.print(self.root, True)

    def grow(self, pick, names, cpp, leaves):
        if len(names) == 1:
            self.leaves.append(Simple(pick, names[0], cpp, leaves) if leaves else Leaf(pick, names[0], cpp))
            return len(self.leaves) - 1
        cut = pick.randint(1, len(names) - 1)
        operator, negated = pick.choice(["&&", "||"]), pick.random() < 0.15
        left = self.grow(pick, names[:cut], cpp, leaves)
        return operator, left, self.grow(pick, names[cut:], cpp, leaves), negated

    def print(self, node, outermost=False):
        if isinstance(node, int):
            return self.leaves[node].text
        text = f"{self.print(node[1])} {node[0]} {self.print(node[2])}"
        if node[3] and not outermost:
            return f"!({text})"
        return text if outermost else f"({text})"

    def evaluate(self, env, seen):
        values = ["-"] * len(self.leaves)

        def visit(node, outermost=False):
            if isinstance(node, int):
                value = self.leaves[node].value(env, seen)
                values[node] = "FT"[value]
                return value
            value = visit(node[1])
            if value == (node[0] == "&&"):
                value = visit(node[2])
            return value != (node[3] and not outermost)
        result = visit(self.root, True)
        seen[self.text][tuple(values), "FT"[result]] += 1
        return result


def loop(e, env, seen):
    n = 0
    while e.evaluate(env, seen) and env["a"] != -2:
        n, env["a"] = n + 1, env["a"] - 1
    return n


# source with {e} for the decision, and what it does: it returns nothing, and counts evaluations.
def body_once(e, env, seen):
    e.evaluate(env, seen)


def body_loop(e, env, seen):
    for _ in range(3):
        if not e.evaluate(env, seen):
            break
        env["a"] -= 1


def body_do(e, env, seen):
    for _ in range(2):
        if not e.evaluate(env, seen):
            break
        env["b"] += 1


def body_after(e, env, seen):
    if env["a"] <= 1:
        e.evaluate(env, seen)


def body_first(e, env, seen):
    if env["a"] != 2:
        e.evaluate(env, seen)


def body_small(e, env, seen):
    if env["b"] != 2:
        e.evaluate(env, seen)


def body_zero(e, env, seen):
    if env["a"] == 0:
        e.evaluate(env, seen)


def body_both(e, env, seen):
    e.evaluate(env, seen)
    if env["b"] != 2:
        e.evaluate(env, seen)


def body_nested(e, env, seen):
    if env["c"] == 2 and env["a"] != 2:
        e.evaluate(env, seen)


def body_case(e, env, seen):
    if env["c"] == 1:
        e.evaluate(env, seen)


def body_endless(e, env, seen):
    while not e.evaluate(env, seen) and env["a"] > 0:
        env["a"] -= 1


def body_changed(e, env, seen):
    if env["b"] != 0:
        env["c"] = 1
    e.evaluate(env, seen)


def body_known(e, env, seen):
    if env["a"] == 0 or env["b"] <= 1:
        e.evaluate(env, seen)


def body_again(e, env, seen):
    for _ in range(3):
        if env["a"] == 0:
            env["b"] -= 1
        elif not e.evaluate(env, seen):
            env["a"] -= 1


BODIES = [("if ({e}) return 1; return 0;", body_once), ("if ({e}) sink = 1; else sink = 2; return sink;", body_once),
          ("return ({e}) ? sink : 7;", body_once), ("if (__builtin_expect(!!({e}), 1)) sink++; return 3;", body_once),
          ("for (int n = 0; n < 3; n++) {{ if (!({e})) break; a--; }} return a;", body_loop),
          ("int n = 0; while ({e}) {{ a--; if (++n == 3) break; }} return a;", body_loop),
          ("int n = 0; do {{ if (n == 2) break; n++; if (!({e})) return 2; b++; }} while (1); return b;", body_do),
          ("if (a > 1) return 3; if ({e}) sink++; return 4;", body_after),
          ("for (;;) {{ sink = get(b); if ({e}) break; if (a <= 0) return 2; a--; }} return 3;", body_endless),
          ("while (1) {{ if ({e}) return 1; sink++; if (a <= 0) break; a--; }} return sink;", body_endless),
          ("if (b == 7) goto end; sink = get(c); if ({e}) sink = 4; end: return sink;", body_once),
          ("if (b) c = 1; if ({e}) sink = 4; return sink;", body_changed), ("if (a) {{ if (b > 1) return 2; }} if ({e}) sink = 4; return c;", body_known),
          ("for (int n = 0; n < 3; n++) {{ if (a == 0) {{ b--; continue; }} if ({e}) continue; a--; }} return a + b;", body_again),
          ("int r = 0; if (a == 2) {{ r = -5; goto end; }} if ({e}) {{ r = -5; goto end; }} if (d) {{ r = 3; goto end; }} r = 1; end: sink = r; return r;", body_first),
          ("if (a == 2) return 0; if ({e}) return 0; if (d) {{ sink = 1; return 1; }} return 0;", body_first),
          ("if (b > 5) stop(a); if ({e}) sink = 1; if (c > 5) {{ sink = 2; leave(b); }} return sink;", body_once),
          ("switch (c) {{ case 1: sink = 3; break; case 2: if (a == 2) break; if ({e}) sink = 8; break; case 9: stop(2); case 4: sink = a; }} return 5;", body_nested),
          ("if (setjmp(jump)) return 6; if (a == 2) sink = 3; MUST({e}); return sink;", body_once),
          ("switch (c) {{ case 0: sink = 3; break; case 1: if ({e}) return 8; break; default: sink = a; }} return 5;", body_case)]
STORED = [("return {e};", body_once), ("int x = {e}; sink = x; return x + 1;", body_once), ("sink = get({e}); return 1;", body_once),
          ("return !({e});", body_once), ("int x = {e}; return !x;", body_once), ("return 7 - ({e});", body_once)]
CPP = [("for (int i : {{1, 2, 3}}) {{ if (!({e})) break; a -= i > 0; }} return a;", body_loop),
       ("auto made = [&](int x) {{ if ({e}) return x; return x + 1; }}; return made(a);", body_once),
       ("return chosen<int>(a, b, [&] {{ return ({e}) ? 4 : 5; }});", body_once),
       ("try {{ if ({e}) throw 1; sink = 2; }} catch (int x) {{ sink = x; }} return sink;", body_once),
       ("try {{ if (a == 2) throw 1; if ({e}) sink++; }} catch (int) {{ sink = 3; }} return 4;", body_first),
       ("try {{ if (c) sink = 2; risky(b); if ({e}) sink = 1; if (d) sink = 5; }} catch (int x) {{ sink = x; }} return sink;", body_small),
       ("try {{ if ({e}) sink = 1; risky(b); if ({e}) sink = 2; }} catch (int x) {{ if (x == a) sink = 4; }} return sink;", body_both),
       ("for (int i : {{1, 2, 3}}) {{ if (i == a) break; if (i == b) continue; sink = i; }} if (a > 1) sink++; if ({e}) return 1; return sink;", body_once),
       ("for (int i : {{1, 2}}) if (i == a) return i; if (d) sink = 3; if ({e}) sink = 2; return sink;", body_zero),
       ("Steps steps(a); switch (c) {{ case 1: steps.begin(b); if ({e}) return 8; break; default: sink = a; }} return steps.value;", body_case),
       ("Steps steps(a); for (int n = 0; n < 3; n++) {{ steps.begin(n); if (!({e})) break; a--; }} return steps.value;", body_loop),
       ("if (b > 5) fail(a); if ({e}) sink = 1; if (c > 5) {{ sink = 2; fail(b); }} return sink;", body_once),
       ("try {{ if (c) sink = 5; MUST_NOT({e}); if (d) sink = 6; }} catch (int x) {{ sink = x; }} return sink;", body_once),
       ("Guard guard(a); if ({e}) return guard.value; return 0;", body_once), ("if (Text(a).same(Text(b))) sink = 1; if ({e}) return 1; return 0;", body_once)]
HEAD = """#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static int get(int x) { return x & 1; }
__attribute__((noinline, noreturn)) static void stop(int x) { sink = x; exit(x); }
__attribute__((noinline)) static void leave(int x) { if (x > 2) exit(x); sink = x; stop(x); }
static jmp_buf jump;
#define MUST(x) ((x) ? (void)0 : longjmp(jump, 1))
"""
HEAD_CPP = """#include <initializer_list>
struct Guard { int value; explicit Guard(int x) : value(x) {} ~Guard() { sink = value; } };
[[noreturn]] __attribute__((noinline)) static void fail(int x) { throw x; }
#define MUST_NOT(x) do { if (x) fail(4); } while (0)
__attribute__((noinline)) static void risky(int x) { if (x == 2) fail(x); }
struct Flag { int x; explicit Flag(int y) : x(y) {} explicit operator bool() const; };
__attribute__((noinline)) Flag::operator bool() const { return x != 0; }
struct Steps { int value; explicit Steps(int x) : value(x) {} void begin(int x); };
__attribute__((noinline)) void Steps::begin(int x) { value += x; }
struct Text { int x; explicit Text(int y) : x(y) {} bool same(const Text &other) const { return x == other.x; } ~Text() { sink = x; } };
template <typename T, typename F> __attribute__((noinline)) static T chosen(T a, T b, F f) { return f() + (a > b); }
"""


def make(seed, count, cpp):
    """Source, and for each function its decision and what it does."""
    pick, functions, source, calls = random.Random(seed), [], [HEAD + (HEAD_CPP if cpp else "")], []
    for number in range(count):
        e = Tree(pick, [pick.choice(NAMES) for _ in range(pick.randint(2, 6))], cpp)
        text, body = pick.choice((BODIES + CPP if cpp else BODIES) + ([] if pick.random() < 0.7 else STORED))
        parameters = ", ".join("int " + name for name in NAMES)
        if pick.random() < 0.1 and "setjmp" not in text:  # inlined
            source.append(f"__attribute__((always_inline)) static inline int g{number}({parameters}) {{ {text.format(e=e.text)} }} ")
            text, e_text = "return g%d(a, b, c, d, e, f);" % number, ""
        else:
            e_text = e.text
        source.append(f"__attribute__((noinline)) static int f{number}({parameters}) {{ {text.format(e=e_text)} }}\n")
        calls.append(f"s += f{number}({', '.join(f'in[k][{i}]' for i in range(len(NAMES)))});")
        functions.append((e, body))
    rows = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in INPUTS)
    source.append(f"static const int in[][{len(NAMES)}] = {{{rows}}};\nint main(void) {{ int s = 0;\nfor (int k = 0; k < {len(INPUTS)}; k++) {{\n"
                  + "\n".join(calls) + '\n}\nprintf("%d\\n", s); return 0; }\n')
    return "".join(source), functions


def expected(functions):
    found = {}
    for number, (e, body) in enumerate(functions):
        seen = collections.defaultdict(collections.Counter)
        for row in INPUTS:
            body(e, dict(zip(NAMES, row)), seen)
        found[f"f{number}"] = seen
    return found


class Bench:
    def __init__(self, ntrace, folder):
        self.ntrace, self.folder = ntrace, folder

    def run(self, *command):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=250, check=False)
        assert done.returncode == 0, (command, done.returncode, done.stderr[-300:])
        return done.stdout

    def document(self, compiler, level, source, loads):
        flags = [compiler, "-g", "-w", *level.split()]
        if "clang" in compiler:
            flags += ["--target=riscv64-linux-gnu", "-mno-relax", "-fuse-ld=lld"]
        self.run(*flags, "-static", source, "-o", "random")
        self.run(self.ntrace, "run", *loads, "-o", "random.ntrace", "--", "./random")
        return json.loads(self.run(self.ntrace, "coverage", "--level", "mcdc", "--format", "json", "--only", source, "random.ntrace"))


def fits(ours, theirs, some):
    """Whether the vectors are those that are expected; '?' is a value that is not known. `some`: evaluations may be missing."""
    left = collections.Counter(theirs)
    for (values, result), count in sorted(ours.items(), key=lambda item: str(item).count("?")):
        for key in [k for k in left if all(a in (b, "?") for a, b in zip((*values, result), (*k[0], k[1])))]:
            taken = min(count, left[key])
            left[key] -= taken
            count -= taken
        if count:
            return False
    return some or not any(left.values())


def compare(document, truth):
    """Number of decisions, of those that are determinable, and what differs. A function may evaluate one text in several places."""
    count, known, wrong, groups = 0, 0, [], collections.defaultdict(list)
    for decision in document["decisions"]:
        function = next((name for name in (decision["function"], f"f{decision['line'] - document['first']}") if name in truth), None)
        if function:
            groups[function, decision["text"]].append(decision)
    for (function, text), decisions in groups.items():
        theirs = next((seen for whole, seen in truth[function].items() if whole == text or (text.endswith("...") and whole.startswith(text[:-3]))), {})
        if text in ("MUST", "MUST_NOT"):  # all decisions of a macro have this name
            theirs = sum(truth[function].values(), collections.Counter())
        ours = collections.Counter()
        for decision in decisions:
            for vector in decision["vectors"]:
                ours[tuple(vector["values"]), vector["result"]] += vector["count"]
        count += 1
        known += all(decision["state"] != "not-determinable" for decision in decisions)
        some = any("reason" in decision for decision in decisions)  # evaluations may be missing
        if not fits(ours, theirs, some):
            wrong.append((function, text, ours, theirs))
    return count, known, wrong


def one(bench, build, seeds, count):
    compiler, level, cpp, least = build
    cases.need(compiler)
    if "clang" in compiler:
        cases.need("ld.lld")
    decisions, known = 0, 0
    for seed in seeds:
        text, functions = make(seed, count, cpp)
        name = "random.cpp" if cpp else "random.c"
        with open(os.path.join(bench.folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        document = bench.document(compiler, level, name, ["--data"] if least == 1 else [])
        document["first"] = text[:re.search(r"static (?:inline )?int [fg]0\(", text).start()].count("\n") + 1
        found, determinable, wrong = compare(document, expected(functions))
        assert not wrong, (seed, len(wrong), wrong[0])
        assert found >= count and not document["unparsed"], (seed, found, document["unparsed"])
        decisions, known = decisions + found, known + determinable
    print(f"# {compiler} {level}: {known} of {decisions} decisions are determinable")
    assert known >= least * decisions, (known, decisions)


def case(build, seeds, count):
    def run(bench):
        one(bench, build, seeds, count)
    run.__name__ = f"{build[0]}{build[1]}{'-data' * (build[3] == 1)}".replace("riscv64-linux-gnu-", "").replace(" ", "")
    return run


MORE = [("clang-19", "-O0", False, 0.6), ("clang++-19", "-O0", True, 0.5)]  # without loads


if __name__ == "__main__":
    FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    SEEDS = range(FIRST, FIRST + (int(sys.argv[3]) if len(sys.argv) > 3 else 1))
    cases.main([case(build, SEEDS, 30 if len(SEEDS) == 1 else 60) for build in BUILDS + (MORE if len(SEEDS) > 1 else [])], Bench, ("riscv64-linux-gnu-gcc", "qemu-riscv64"))
