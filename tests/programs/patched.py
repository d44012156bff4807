#!/usr/bin/env python3
"""Code that is patched while the program runs: each consumer shows the counts of the instruction that it shows. The truth is
how often the source calls the function, with which arguments, before and after the patch.

usage: patched.py NTRACE
"""
import json
import os
import re
import sqlite3
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import user_qemu  # may change PATH
from harness import Run, case, check, equal, main, matches, need, scratch

# The branch of `if (x)` is inverted: before, it is executed with one outcome only; afterwards with the other one only.
SOURCE = """#include <stdint.h>
#include <sys/mman.h>
__attribute__((noinline, aligned(8))) int test(int x) {
    if (x)
        return 3;
    return 7;
}
int main(void) {
    uint32_t *at = (uint32_t *)(uintptr_t)test;
    int s = 0;
    for (int i = 0; i < BEFORE; i++) s += test(1);
    while ((*at & 0x7f) != 0x63) at++;
    mprotect((void *)((uintptr_t)at & ~4095ul), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    *at ^= 0x1000; /* BEQ and BNE */
    __builtin___clear_cache((char *)at, (char *)(at + 1));
    for (int i = 0; i < 3; i++) s += test(1);
    return s == 0;
}
"""


def bundle(before):
    gcc, place = need("riscv64-linux-gnu-gcc"), scratch()
    need("qemu-riscv64")
    name = f"patched_{before}"
    if not os.path.exists(os.path.join(place, name + ".ntrace")):
        with open(os.path.join(place, name + ".c"), "w", encoding="ascii") as file:
            file.write(SOURCE.replace("BEFORE", str(before)))
        subprocess.run([gcc, "-g", "-O0", "-march=rv64g", "-static", name + ".c", "-o", name], cwd=place, check=True)
        Run("run", *user_qemu.for_ntrace(user_qemu.repeatable()), "-q", "-o", name + ".ntrace", "--", "./" + name, cwd=place)
    return os.path.join(place, name + ".ntrace")


def test_of(text):
    return next(f for f in json.loads(text)["functions"] if f["name"] == "test")


@case("profile --annotate shows both versions of the branch, and all executions of what did not change")
def annotate():
    rows = [row for row in Run("profile", "--annotate=test", "--format", "jsonl", bundle(10)).rows() if row["executed"]]
    branches = [(row["executed"], row["taken"], row["not_taken"]) for row in rows if "taken" in row]
    equal(sorted(branches), [(3, 3, 0), (10, 0, 10)], "executed, taken, not taken")
    equal({row["executed"] for row in rows if "taken" not in row}, {3, 10, 13}, "what is before, behind and between")
    total = next(row["self"] for row in Run("profile", "--format", "jsonl", bundle(10)).rows() if row["function"] == "test")
    equal(sum(row["executed"] for row in rows), total, "the sum is that of the profile")


@case("object coverage: the outcome of a branch that it was changed to is not one of the branch that is shown")
def outcomes():
    found = test_of(Run("coverage", "--level", "object", "--format", "json", bundle(10)).out)
    equal((found["outcomes"], found["outcomes_seen"]), (2, 1), "outcomes")
    equal([b["never"] for b in found["one_outcome"]], ["taken"], "the branch of the program was never taken")


@case("object coverage: code that was executed only after it was changed is shown as it was executed")
def changed_before():
    found = test_of(Run("coverage", "--level", "object", "--format", "json", bundle(0)).out)
    equal((found["outcomes"], found["outcomes_seen"]), (2, 1), "outcomes")
    branch = found["one_outcome"][0]
    equal(branch["never"], "not-taken", "outcome")
    equal(int(branch["branch"]["opcode"], 16) >> 12 & 7, 1, "BNE")


@case("lines: the line has all executions, its branch has the outcomes of the branch of the program")
def lines():
    info = Run("coverage", "--to", "lcov", bundle(10)).out
    check("DA:4,13" in info, "13 executions of line 4")
    equal(re.findall(r"^BRDA:4,\d+,\d+,(.+)$", info, re.M), ["10", "0"], "outcomes of line 4")


@case("a decision whose branch was changed is not determinable, and says so")
def decision():
    text = Run("coverage", "--level", "decision", "--format", "json", bundle(10), status=None).out
    found = next(d for d in json.loads(text)["decisions"] if d["line"] == 4)
    equal((found["decision"], found["reason"]), ("not-determinable", "its branches were changed while the program ran"), "decision")


@case("SQLite: a row for each version, unchanged instructions have one")
def rows():
    path = os.path.join(scratch(), "patched.db")
    Run("export", "--to", "sqlite", "-o", path, bundle(10))
    found = sqlite3.connect(path).execute("SELECT address, executed, taken FROM instructions WHERE function = (SELECT id FROM functions WHERE name = 'test')").fetchall()
    addresses = [address for address, _, _ in found]
    branch = [address for address in addresses if addresses.count(address) > 1]
    equal(len(set(branch)), 1, "addresses with several rows")
    equal(sorted(row[1:] for row in found if row[0] == branch[0]), [(3, 3), (10, 0)], "executed, taken")


@case("a program that patches itself: the capture says so once, and no command repeats it, as nothing is lost")
def said_once():
    trace, place = bundle(10), scratch()
    done = Run("run", *user_qemu.for_ntrace(user_qemu.repeatable()), "-o", "once.ntrace", "--", "./patched_10", cwd=place)
    matches("/patched_10: expected the code of the file, found other bytes executed, first at 0x[0-9a-f]+; the bundle has them, and its functions keep", done.err, "run")
    with open(os.path.join(trace, "capture.json"), encoding="utf-8") as file:
        equal(json.load(file).get("losses", []), [], "losses")
    equal(Run("profile", trace).err, "", "profile")


# Other code is written over a function.
OVER = """#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline, aligned(4096))) int victim(int x) { volatile int s = x; s += 3; s *= 7; s ^= 5; return s + x; }
__attribute__((noinline, aligned(4096))) int other(int x) { volatile int s = x; return s + 3; }
int main(void) {
    static const uint32_t code[] = {0x00150513, 0x00150513, 0x00250513, 0x00350513, 0x00450513, 0x00008067};
    int s = victim(1);
    mprotect((void *)victim, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy((void *)victim, code, sizeof code);
    __asm__ volatile("fence.i" ::: "memory"); // no call of the vDSO
    s += victim(2) + victim(3) + other(1);
    return s == 0;
}
"""


@case("code that is written over a function has not its name and lines, and is reported")
def written_over():
    gcc, place = need("riscv64-linux-gnu-gcc"), scratch()
    need("qemu-riscv64")
    with open(os.path.join(place, "over.c"), "w", encoding="ascii") as file:
        file.write(OVER)
    subprocess.run([gcc, "-g", "-O1", "-static", "over.c", "-o", "over"], cwd=place, check=True)
    error = Run("run", *user_qemu.for_ntrace(user_qemu.repeatable()), "-o", "over.ntrace", "--", "./over", cwd=place).err
    matches(r"/over: expected the code of the file, found other bytes executed, first at 0x[0-9a-f]+000;", error, "message of the run")
    trace = os.path.join(place, "over.ntrace")
    done = Run("profile", "--format", "jsonl", trace)
    rows = {row["function"]: row for row in done.rows()}
    equal([rows[name]["calls"] for name in ("victim", "other", "[unknown]")], [1, 1, 2], "calls")
    equal(rows["[unknown]"]["self"], 12, "instructions of the other code")
    matches("other bytes executed", done.err, "message of the profile")
    found = re.findall(r"(?m)^FNDA:(\d+),(victim|other)$", Run("coverage", "--to", "lcov", trace).out)
    equal(sorted(found), [("1", "other"), ("1", "victim")], "coverage")


main()
