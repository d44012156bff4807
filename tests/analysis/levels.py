#!/usr/bin/env python3
"""States of decisions by level: decision coverage is often known where MC/DC is not, and every output says both. TAP.

usage: levels.py NTRACE

gcc -Og computes `c >= '0' && c <= '9'` with one branch. Its outcome is the result; which condition was false is not in the trace.
"""
import os
import re
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import cases
import mcdc

SOURCE = """#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static void digit(int c) { if (c >= '0' && c <= '9') sink = 1; else sink = c; }
__attribute__((noinline)) static void both(int a, int b) { if (a > 2 && sink != b) sink = a; }
__attribute__((noinline)) static void alone(int a) { if (a > 5) sink = 2; else sink = a; }
int main(int argc, char **argv) { for (int i = 1; i < argc; i++) { digit(atoi(argv[i])); both(atoi(argv[i]), 1); alone(atoi(argv[i])); } return 0; }
"""
DIGIT, BOTH, ALONE = "c >= '0' && c <= '9'", "a > 2 && sink != b", "a > 5"
# inputs, and of DIGIT and ALONE: decision coverage, true seen, false seen
RUNS = [(("50", "40"), ("covered", True, True), ("not-covered", True, False)),
        (("50", "51"), ("not-covered", True, False), ("not-covered", True, False)),
        (("1", "9"), ("not-covered", False, True), ("covered", True, True)),
        ((), ("not-covered", False, False), ("not-covered", False, False))]


def trace(bench, *inputs):
    bench.source("levels.c", SOURCE)
    return bench.trace("levels.c", "-Og", *inputs)


def document(bench, traced, level):
    return mcdc.json.loads(bench.run(bench.ntrace, "coverage", "--level", level, "--format", "json", "--only", "levels.c", traced))


def one(found, text):
    return next(decision for decision in found["decisions"] if decision["text"] == text)


def states_by_level(bench):
    """JSON: each decision has the state of each level and the results that were seen, at every --level."""
    for inputs, digit, alone in RUNS:
        traced = trace(bench, *inputs)
        for level, member in (("decision", "decision"), ("mcdc", "mcdc"), ("masking", "masking")):
            found = document(bench, traced, level)
            decision = one(found, DIGIT)
            assert (decision["decision"], decision["true"], decision["false"]) == digit, (inputs, level, decision)
            unknown = "not-determinable" if inputs and digit[2] else "not-covered"
            assert decision["mcdc"] == decision["masking"] == unknown, (inputs, level, decision)
            assert ("only the result is known" in decision.get("reason", "")) == (unknown == "not-determinable"), decision
            assert decision["state"] == decision[member], (level, decision)
            assert level == "decision" or ALONE not in [one["text"] for one in found["decisions"]]
        single = one(document(bench, traced, "decision"), ALONE)
        assert (single["decision"], single["true"], single["false"]) == alone, (inputs, single)


def sums_of_levels(bench):
    """JSON and text have the number of each state of each level, and they are those of the decisions."""
    traced = trace(bench, "50", "40")
    found = document(bench, traced, "decision")
    text = bench.run(bench.ntrace, "coverage", "--level", "decision", "--only", "levels.c", traced)
    for level, title in (("decision", "decision coverage"), ("mcdc", "MC/DC, unique-cause"), ("masking", "MC/DC, masking")):
        listed = [decision[level] for decision in found["decisions"] if level == "decision" or len(decision["conditions"]) > 1]
        counts = {state: listed.count(state) for state in ("covered", "not-covered", "not-determinable")}
        assert {state: found["levels"][level][state] for state in counts} == counts, (level, found["levels"])
        assert document(bench, traced, level)["sums"] == found["levels"][level]
        shown = re.search(rf"(?m)^{title}: (\d+) decisions\n((?:[a-z-]+ +\d+ .*\n){{3}})", text)
        assert shown and int(shown[1]) == len(listed), (level, text)
        assert {line.split()[0]: int(line.split()[1]) for line in shown[2].splitlines()} == counts, (level, shown[2])
    assert found["levels"]["decision"]["not-determinable"] == 0 and found["levels"]["mcdc"]["not-determinable"] == 1, found["levels"]


def reasons_by_level(bench):
    """Text: the reason is that of MC/DC, where decision coverage is known; and what was seen."""
    traced = trace(bench, "50", "40")
    for level, state, word in (("decision", "covered", "MC/DC is not determinable: the compiler computed"), ("mcdc", "not-determinable", "the compiler computed")):
        text = bench.run(bench.ntrace, "coverage", "--level", level, "--only", "levels.c", traced)
        assert f": {state}: {DIGIT}\n    decision coverage: covered, true and false were seen\n    {word}" in text, text
    assert f": not-covered: {ALONE}\n    decision coverage: not-covered, only true was seen\n    C1" in bench.run(
        bench.ntrace, "coverage", "--level", "decision", "--only", "levels.c", traced)


def other_outputs(bench):
    """The report has both, lcov has no MC/DC of this decision, and a threshold counts the level that it names."""
    traced = trace(bench, "50", "40")
    bench.run(bench.ntrace, "coverage", "--evidence", "levels", "--only", "levels.c", traced)
    with open(os.path.join(bench.folder, "levels", "report.html"), encoding="utf-8") as file:
        page = file.read()
    assert re.search(r'<td>decisions</td><td class="n">(\d+)</td>.*<td class="n">0 \(0\.00 %\)</td></tr>\n', page), page[:2000]
    assert re.search(r'<td>MC/DC, unique-cause</td><td class="n">2</td>.*<td class="n">1 \(50\.00 %\)</td></tr>\n', page)
    open_, closed = page.split('<h2 id="mcdc">MC/DC by decision</h2>')
    assert f"<code>{ALONE.replace('>', '&gt;')}</code></td><td>not covered</td><td>true</td>" in open_, open_
    assert "c &gt;= " not in open_.split("<h3>Decisions that are not covered</h3>")[1]
    assert re.search(r"c &gt;= .*</code></td><td>not determinable<br>the compiler computed .*<br>decision coverage: covered</td>", closed), closed[:1500]
    with open(os.path.join(bench.folder, "levels", "lcov.info"), encoding="utf-8") as file:
        records = set(re.findall(r"(?m)^MCDC:(\d+),", file.read()))
    assert records == {str(SOURCE[:SOURCE.index("void both")].count("\n") + 1)}, records
    for level, status in (("decision=100", 1), ("decision=30", 0), ("mcdc=1", 1)):
        bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--fail-under", level, "--only", "levels.c", traced, status=status)


if __name__ == "__main__":
    cases.main([states_by_level, sums_of_levels, reasons_by_level, other_outputs], mcdc.Bench, ("riscv64-linux-gnu-gcc", "qemu-riscv64"))
