#!/usr/bin/env python3
"""Coverage of several runs, of traces with gaps, and with --fail-under. TAP on standard output.

usage: merge.py NTRACE

One program runs twice, each time another way (source/paths.c). What both runs covered together is compared with what
`lcov -a` makes of the two alone.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import cases

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = ("forward", "backward")


class Bench:
    def __init__(self, ntrace, folder):
        self.ntrace, self.folder = ntrace, folder
        shutil.copy(os.path.join(HERE, "source", "paths.c"), folder)
        self.run("riscv64-linux-gnu-gcc", "-O0", "-g", "-static", "paths.c", "-o", "paths")
        for name in RUNS:
            self.run(ntrace, "run", "-o", name + ".ntrace", "--", "./paths", name)
            self.run(ntrace, "coverage", "--to", "lcov", "-o", name + ".info", name + ".ntrace")

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *command):
        return subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def run(self, *command, status=0):
        done = self.call(*command)
        if done.returncode != status:
            raise AssertionError(f"{' '.join(command)[:100]}: {done.returncode}: {done.stderr[-300:]}")
        return done.stdout

    def coverage(self, *traces, status=0):
        """For paths.c alone: {line: count}, {line: branches}, {function: count}, {line: known}, gaps."""
        data = json.loads(self.run(self.ntrace, "coverage", "--to", "json", *traces, status=status))
        file = next(f for f in data["files"] if f["file"].endswith("paths.c"))
        return ({line["line"]: line["count"] for line in file["lines"]},
                {line["line"]: [(b["taken"], b["not_taken"]) for b in line["branches"]] for line in file["lines"] if "branches" in line},
                {f["name"]: f["count"] for f in file["functions"]},
                {line["line"]: line["known"] for line in file["lines"]}, data["gaps"])

    def line(self, text):
        with open(self.path("paths.c"), encoding="utf-8") as file:
            return next(number for number, line in enumerate(file, 1) if text in line)


def runs_add_up(b):
    one, other, both = b.coverage("forward.ntrace"), b.coverage("backward.ntrace"), b.coverage("forward.ntrace", "backward.ntrace")
    assert both[0] == {line: one[0][line] + other[0][line] for line in one[0]}
    assert both[1] == {line: [tuple(map(sum, zip(*pair))) for pair in zip(one[1][line], other[1][line])] for line in one[1]}
    assert both[2] == {"forward": 1, "backward": 1, "nowhere": 0, "main": 2}
    assert both == b.coverage("backward.ntrace", "forward.ntrace")
    assert both[0][b.line("sum ^= n")] == 11 and one[0][b.line("sum ^= n")] == 0
    assert all(both[3].values()) and both[4] == 0


def records(text):
    """The records of a tracefile as sets of lines, without sums."""
    found = {}
    for record in text.split("end_of_record\n"):
        name = re.search(r"^SF:(.*)$", record, re.M)
        if name:
            # lcov 2 has numbers of functions: FNL:number,line FNA:number,count,name
            begins = dict(re.findall(r"^FNL:(\d+),(\d+)", record, re.M))
            named = [line for k, count, f in re.findall(r"^FNA:(\d+),(\d+),(.*)$", record, re.M) for line in (f"FN:{begins[k]},{f}", f"FNDA:{count},{f}")]
            found[name.group(1)] = sorted(named + [line for line in record.splitlines() if re.match(r"(DA|BRDA|FNDA|FN|LF|LH|BRF|BRH|FNF|FNH):", line)])
    return found


def lcov_adds_alike(b):
    cases.need("lcov")
    b.run(b.ntrace, "coverage", "--to", "lcov", "-o", "both.info", "forward.ntrace", "backward.ntrace")
    b.run("lcov", "--rc", "lcov_branch_coverage=1", "-a", "forward.info", "-a", "backward.info", "-o", "added.info")
    texts = []
    for name in ("both.info", "added.info"):
        with open(b.path(name), encoding="utf-8") as file:
            texts.append(records(file.read()))
    assert texts[0] == texts[1], [set(texts[0][f]) ^ set(texts[1].get(f, [])) for f in texts[0]]


def genhtml_renders(b):
    cases.need("genhtml")
    b.run(b.ntrace, "coverage", "--to", "lcov", "-o", "both.info", "forward.ntrace", "backward.ntrace")
    text = b.run("genhtml", "--branch-coverage", "--legend", "-o", "html", "both.info")
    summary = b.run(b.ntrace, "coverage", "forward.ntrace", "backward.ntrace").splitlines()[-1]
    for what, (hit, whole) in zip(("lines", "branches", "functions"), re.findall(r"(\d+)/(\d+)", summary)):
        wanted = rf"{what}\.*: [\d.]+% \({hit} of {whole} {what[:-2] if what == 'branches' else what[:-1]}"
        assert re.search(wanted, text), (wanted, text[-300:])
    pages = [os.path.join(at, name) for at, _, names in os.walk(b.path("html")) for name in names if name == "paths.c.gcov.html"]
    with open(pages[0], encoding="utf-8") as file:
        page = re.sub(r"<[^>]*>", "", file.read())
    assert re.search(r" 11\s*:\s*sum \^= n \* 3;", page), "the count beside its line"


def two_builds_of_a_source(b):
    """Lines are those of the source: counts of different builds are added, too."""
    b.run("riscv64-linux-gnu-gcc", "-O1", "-g", "-static", "paths.c", "-o", "paths1")
    b.run(b.ntrace, "run", "-o", "other.ntrace", "--", "./paths1", "backward")
    one, other, both = b.coverage("forward.ntrace"), b.coverage("other.ntrace"), b.coverage("forward.ntrace", "other.ntrace")
    assert both[0] == {line: one[0].get(line, 0) + other[0].get(line, 0) for line in one[0].keys() | other[0].keys()}
    assert both[2]["main"] == 2 and both[2]["forward"] == both[2]["backward"] == 1


def damage(b):
    """forward.ntrace with a gap in the middle, as hole.ntrace."""
    shutil.copytree(b.path("forward.ntrace"), b.path("hole.ntrace"), dirs_exist_ok=True)
    with open(b.path("hole.ntrace/trace.nex"), "r+b") as file:
        stream = file.read()
        file.seek(0)
        file.truncate()
        file.write(cases.hole(stream, len(stream) // 3, 2 * len(stream) // 3))


def not_known_is_not_unexecuted(b):
    damage(b)
    counts, _, _, known, gaps = b.coverage("hole.ntrace", status=1)
    assert gaps >= 1
    assert all(known[line] == (counts[line] > 0) for line in counts) and not all(known.values())
    assert all(b.coverage("forward.ntrace")[3].values())
    unknown = [line for line in known if not known[line]]
    table = b.run(b.ntrace, "coverage", "hole.ntrace", status=1)
    assert re.search(rf" {len(unknown)}  \S*paths.c$", table, re.M) and "may have been executed" in table, table
    b.run(b.ntrace, "coverage", "--to", "lcov", "-o", "hole.info", "hole.ntrace", status=1)
    with open(b.path("hole.info"), encoding="utf-8") as file:
        record = next(r for name, r in records(file.read()).items() if name.endswith("paths.c"))
    listed = {int(line[3:].split(",")[0]) for line in record if line.startswith("DA:")}
    assert listed == {line for line in known if known[line]}, "lcov cannot express unknown lines"
    assert not any(line.startswith("FNDA:0,") or line.startswith("DA:") and line.endswith(",0") for line in record)


def joined_late(b):
    """A function of which only the end is in the trace was executed: the stream begins in a system call of printf."""
    calls = b.run(b.ntrace, "decode", "--show", "call", "forward.ntrace")
    first = int(re.search(r"<(?:__wrap_)?main>$.*?^# sync .*? byte (0x[0-9a-f]+)\]$", calls, re.M | re.S)[1], 16)
    with open(b.path("forward.ntrace/trace.nex"), "rb") as file:
        stream = file.read()
    with open(b.path("late.nex"), "wb") as file:
        file.write(stream[first:])
    counts, _, functions, _, _ = b.coverage(*cases.stream_options(b.path("forward.ntrace")), "-e", "paths", "late.nex")
    assert counts[b.line("int main(")] == 0 and counts[b.line("return 0;")] == 1, counts
    assert functions == {"main": 1, "forward": 0, "backward": 0, "nowhere": 0}, functions


def gap_in_one_of_two(b):
    """Code that one of the runs executed is known; other code is unknown, because one run has a gap."""
    damage(b)
    whole, hole = b.coverage("backward.ntrace"), b.coverage("hole.ntrace", status=1)
    counts, _, _, known, gaps = b.coverage("hole.ntrace", "backward.ntrace", status=1)
    assert gaps == hole[4]
    assert counts == {line: whole[0][line] + hole[0][line] for line in counts}
    assert all(known[line] == (counts[line] > 0) for line in counts)


def fail_under(b):
    lines = b.run(b.ntrace, "coverage", "forward.ntrace").splitlines()
    hit, whole = map(int, re.search(r"(\d+)/(\d+)", lines[-1]).groups())
    share = 100 * hit / whole
    for least, status in ((0, 0), (share - 0.01, 0), (share + 0.01, 1), (100, 1)):
        done = b.call(b.ntrace, "coverage", "--fail-under", f"{least:.4f}", "forward.ntrace")
        assert done.returncode == status and done.stdout.splitlines() == lines, (least, done)
        assert (f"{share:.2f} %" in done.stderr) == (status == 1), done.stderr
    for wrong in ("many", "101", "-1", "", "5x", "nan"):
        done = b.call(b.ntrace, "coverage", f"--fail-under={wrong}", "forward.ntrace")
        assert done.returncode == 2 and "a number from 0 to 100" in done.stderr, (wrong, done)
    better = b.call(b.ntrace, "coverage", "--fail-under", f"{share + 0.01:.4f}", "forward.ntrace", "backward.ntrace")
    assert better.returncode == 0, better


def threshold_that_is_not_known(b):
    """In a trace with gaps, a threshold between what was seen and what may have been executed is not decided. The share of the whole
    trace lies in this range."""
    damage(b)

    def share(trace, status=0):
        return tuple(map(int, re.search(r"(\d+)/(\d+).* total$", b.run(b.ntrace, "coverage", trace, status=status), re.M).groups()))
    whole = 100 * share("forward.ntrace")[0] / share("forward.ntrace")[1]
    known, lines = share("hole.ntrace", 1)
    unknown = sum(not value for value in b.coverage("hole.ntrace", status=1)[3].values())
    low, high = 100 * known / lines, 100 * (known + unknown) / lines
    assert low <= whole <= high > low, (low, whole, high)
    for least, said in ((low - 0.01, None), ((low + high) / 2, "whether it is reached is not known"), (high - 0.01, "whether it is reached is not known")):
        done = b.call(b.ntrace, "coverage", "--fail-under", f"{least:.4f}", "hole.ntrace")
        assert done.returncode == 1 and ("--fail-under" in done.stderr) == (said is not None) and (said or "") in done.stderr, (least, done)
        assert said is None or f"{low:.2f} to {high:.2f} %" in done.stderr, done.stderr


def without_lines(b):
    """A program without line information gives a note, and fails with --fail-under."""
    b.run("riscv64-linux-gnu-gcc", "-s", "-static", "paths.c", "-o", "bare")
    b.run(b.ntrace, "run", "-o", "bare.ntrace", "--", "./bare")
    done = b.call(b.ntrace, "coverage", "bare.ntrace")
    assert done.returncode == 1 and "no line information" in done.stderr and "-g" in done.stderr, done
    assert b.call(b.ntrace, "coverage", "--fail-under", "1", "bare.ntrace").returncode == 1
    assert not b.call(b.ntrace, "coverage", "forward.ntrace").stderr


CASES = [runs_add_up, lcov_adds_alike, genhtml_renders, two_builds_of_a_source, not_known_is_not_unexecuted, joined_late,
         gap_in_one_of_two, fail_under, threshold_that_is_not_known, without_lines]


if __name__ == "__main__":
    cases.main(CASES, Bench, ("riscv64-linux-gnu-gcc", "qemu-riscv64"))
