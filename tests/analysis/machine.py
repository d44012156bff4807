#!/usr/bin/env python3
"""System calls, interrupts, threads and phases of a model of a kernel (kernel_model.py), against its own count.

usage: machine.py NTRACE
"""
import collections
import json
import os
import re
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import perfetto
from harness import case, main, skip
from kernel_model import Case, ManyHarts


def stretches(case, row):
    """Interrupts are off from each trap to the next return from one, which may be that of another thread, or to
    the instruction that switches them on; and between the instructions that switch them off and on."""
    off = sorted(case.model.off, reverse=True)
    found = row["instructions"]
    assert (row["count"], found["sum"], found["min"], found["max"]) == (len(off), sum(off), off[-1], off[0]), f"{row}, expected {off}"
    assert [long_one["instructions"] for long_one in row["longest"]] == off[:5], f"{row}, expected {off[:5]}"


def traps(case):
    rows = {(r["kind"], r.get("name")): r for r in case.rows("profile", "--by", "syscall")}
    for key, values in case.model.traps.items():
        known = [v for v in values if v is not None]
        row = rows[key]
        assert row["count"] == len(values), f"{key}: count {row['count']} instead of {len(values)}"
        assert row["unfinished"] == len(values) - len(known), f"{key}: unfinished {row['unfinished']}, {len(values) - len(known)}"
        if not known:
            continue
        found = row["instructions"]
        assert (found["sum"], found["min"], found["max"]) == (sum(known), min(known), max(known)), \
            f"{key}: {found}, expected {sum(known)} {min(known)} {max(known)}"
        assert ("ticks" in row) == case.timed
    kinds = set(case.model.traps) | {("total", None), ("off", "interrupts of S-mode")}
    assert set(rows) == kinds, set(rows) ^ kinds
    stretches(case, rows["off", "interrupts of S-mode"])
    assert rows["total", None]["switches"] == case.model.switches
    assert rows["total", None]["instructions"] == sum(t.instructions for t in case.model.threads)


def summary(case):
    """`timeline --to json` has the rows of `profile --by syscall`, and `timeline --to summary` a line for each of them."""
    document = json.loads(case.run("timeline", "--to", "json", *case.reading))
    found = {(t["kind"], t["name"]): (t["count"], t["unfinished"], t.get("instructions", {}).get("sum", 0)) for t in document["traps"]}
    expected = {key: (len(values), values.count(None), sum(v or 0 for v in values)) for key, values in case.model.traps.items()}
    assert found == expected, f"{found} instead of {expected}"
    assert document["switches"] == case.model.switches and document["handlers"]
    assert document["instructions"] == sum(t.instructions for t in case.model.threads)
    text = case.run("timeline", "--to", "summary", *case.reading)
    for (kind, name), (count, _, instructions) in expected.items():
        assert re.search(rf"(?m)^ *{count} +{instructions} .*  {re.escape(name)}( +\(.* unfinished\))?$", text), f"{kind} {name}: {text[:800]}"


def modes(case):
    """The instructions of each mode are exact; those of a process in U-mode are in the row of its context."""
    rows = {r["mode"]: r["self"] for r in case.rows("profile", "--by", "mode")}
    expected = collections.Counter()
    for thread in case.model.threads:
        expected.update(thread.modes)
    assert rows == dict(expected), f"{rows} instead of {expected}"
    rows = case.rows("profile", "--by", "process")
    assert sum(r["self"] for r in rows) == sum(expected.values())
    found = {r["scontext"]: r["self"] for r in rows if "scontext" in r}
    for thread in case.model.threads:
        if thread.scontext is not None:
            assert thread.modes["U"] <= found[thread.scontext] <= thread.instructions, thread.name


def unknown_modes(case):
    """A trace without Ownership messages does not say in which mode its instructions were executed, and nothing is invented."""
    case.run("encode", "--ingress", "ingress", *case.images, *["--timestamps"] * case.timed, "-o", "t.nex")
    total = sum(t.instructions for t in case.model.threads)
    assert [(r["mode"], r["self"]) for r in case.rows("profile", "--by", "mode")] == [("[unknown]", total)]
    for table in "process", "thread":
        text = case.run("profile", "--by", table, *case.reading)
        assert re.search("  src 0$", text, re.M) and not re.search("kernel|user mode", text), text
    assert re.search("  hart 0$", case.run("profile", "--by", "boot-phase", *case.reading), re.M)


def interrupts(case):
    rows = {r["interrupt"]: r for r in case.rows("profile", "--by", "interrupt")}
    for (kind, name), values in case.model.traps.items():
        if kind == "interrupt":
            assert rows[name]["self"] == sum(v or 0 for v in values), name
            assert rows[name]["calls"] == len(values), name
    threads = case.rows("profile", "--by", "thread")
    for column in "self", "self_ticks":
        if column in threads[0]:  # without timestamps there are no ticks
            assert sum(row[column] for row in rows.values()) == sum(row[column] for row in threads) > 0, column
    assert not case.timed or rows["(no interrupt)"]["self_ticks"] > sum(row["self_ticks"] for row in rows.values()) / 2


def boot(case):
    rows = case.rows("profile", "--by", "boot-phase")
    initcalls = {r["name"]: r["instructions"] for r in rows if r["table"] == "initcall"}
    assert initcalls == case.model.initcalls, initcalls
    phases = [r["name"] for r in rows if r["table"] == "phase"]
    assert phases == ["supervisor: before start_kernel", "kernel: entry", "kernel: start_kernel", "kernel: first threads",
                      "kernel: start of init", "user mode"], phases
    total = sum(t.instructions for t in case.model.threads)
    assert sum(r["instructions"] for r in rows if r["table"] == "phase") == total
    assert sum(r["instructions"] for r in rows if r["table"] == "process") == total


def named(case):
    """With the file `tasks` every instruction belongs to the right thread, by name and number."""
    case.bundle()
    rows = {(r.get("thread"), r.get("pid")): r["self"] for r in case.rows("profile", "--by", "thread")}
    expected = {(t.name, t.pid): t.instructions for t in case.model.threads if t.instructions}
    assert rows == expected, f"{rows} instead of {expected}"
    traps(case)
    longest, total = max(case.model.off), sum(case.model.off)
    found = {r["name"]: r for r in json.loads(case.run("timeline", "--to", "json", *case.reading))["off"]}
    text = case.run("timeline", "--to", "summary", *case.reading)
    assert set(found) == {"interrupts of S-mode"}, found
    for name, row in found.items():
        assert (row["longest"], row["instructions"]["sum"]) == (longest, total), f"{row}, expected {longest} of {total}"
        assert f"longest time without {name}: {longest} instructions, hart 0" in text, text[:800]


def stacks(case):
    """The root of a call stack is its process. Without the file `tasks` there are no processes."""
    text = case.run("flame", "--to", "folded", *case.reading)
    assert not re.search(r"(?m)^[^;]* \(\d+\);", text), text[:300]
    case.bundle()
    found = collections.Counter()
    for line in case.run("flame", "--to", "folded", *case.reading).splitlines():
        stack, count = line.rsplit(" ", 1)
        found[stack.split(";")[0]] += int(count)
    expected = {f"{t.name} ({t.pid})" if t.pid else t.name + " (0)": t.instructions for t in case.model.threads if t.instructions}
    assert dict(found) == expected, f"{found} instead of {expected}"
    whole = case.run("flame", "--to", "folded", "--per", "trace", *case.reading)
    assert "shell" not in whole and sum(int(line.rsplit(" ", 1)[1]) for line in whole.splitlines()) == sum(expected.values())


def tracks(case):
    """The timeline has a track of the functions of each thread, one of its system calls and interrupts by name, and one of the threads of the
    hart."""
    if not re.search("^perfetto ", case.run("timeline", "--to", "list"), re.M):
        skip("build-perfetto")
    case.bundle()
    case.run("timeline", "-o", "t.pftrace", *case.reading)
    with open(os.path.join(case.folder, "t.pftrace"), "rb") as file:
        found = perfetto.tracks(file.read())
    names = {name: slices for (_, name), slices in found.items()}
    order = [case.model.order[0]]
    for thread in [*case.model.order, case.model.current]:
        if thread is not order[-1]:
            order.append(thread)
    assert [s.name for s in names["hart 0 threads"]] == [f"{t.name} ({t.pid})" for t in order if t.instructions][:len(names["hart 0 threads"])]
    assert len(order) - len(names["hart 0 threads"]) <= 1, "the last thread may have no instruction"
    counts = collections.Counter(s.name for name, slices in names.items() if name.endswith(": system calls and traps") for s in slices)
    expected = {name: len(values) for (_, name), values in case.model.traps.items() if name != "uart_interrupt"}
    assert counts == expected, f"{counts} instead of {expected}"
    processes = {process for (process, name) in found if name.endswith("traps")}
    assert processes == {t.name for t in case.model.threads if t.scontext is not None and t.instructions}, processes


def of_two_harts(places, offsets):
    """Streams, each cut at its messages into 40 parts, which take turns. The second one begins first."""
    streams, parts = [], []
    for place, starts in zip(places, offsets):
        with open(os.path.join(place, "t.nex"), "rb") as file:
            streams.append(file.read())
        cuts = [starts[len(starts) * i // 40] for i in range(40)] + [len(streams[-1])]
        parts.append([streams[-1][a:b] for a, b in zip(cuts, cuts[1:])])
    return b"".join(parts[1][:8]) + b"".join(a + b for a, b in zip(parts[0], parts[1][8:])) + b"".join(parts[0][32:])


def ticks_of(rows):
    return {(r["kind"], r.get("name")): (r["count"], r.get("ticks", {}).get("sum", 0), r.get("ticks", {}).get("max", 0)) for r in rows if "count" in r and r["kind"] != "off"}


@case("two harts: ticks of each trap are those of its own hart, whatever the time of the other one")
def two_harts():
    cases, starts = [Case(seed, True) for seed in (1, 2)], []
    for number, one in enumerate(cases):
        with open(os.path.join(one.folder, "ingress"), encoding="ascii") as file:
            header, *records = file.read().splitlines()
        context = header.split(",").index("scontext")
        rows = [record.split(",") for record in records]
        for row in rows:  # the processes of the two are others
            if number and row[context]:
                row[context] = hex(int(row[context], 0) + 0x100000)
        one.write("ingress", "\n".join([header, *map(",".join, rows), ""]).encode())
        one.run("encode", "--ingress", "ingress", *one.images, "--context", "--timestamps", "--src-bits", "1", "--src-id", str(number), "-o", "t.nex")
        one.reading += ["--src-bits", "1"]
        dumped = one.run("dump", "--src-bits", "1", "--timestamps", "--format", "jsonl", "t.nex").splitlines()
        starts.append([json.loads(line)["offset"] for line in dumped])
    alone = [ticks_of(one.rows("profile", "--by", "syscall")) for one in cases]
    cases[0].write("t.nex", of_two_harts([one.folder for one in cases], starts))
    both = ticks_of(cases[0].rows("profile", "--by", "syscall"))
    for key in set(alone[0]) | set(alone[1]):
        one, other = (part.get(key, (0, 0, 0)) for part in alone)
        expected = one[0] + other[0], one[1] + other[1], max(one[2], other[2])
        assert both[key] == expected, f"{key}: count, sum and maximum of ticks {both[key]} instead of {expected}"


@case("threads that move between harts, whose parts come in another order than they were executed")
def moved():
    for lag, seeds in (0, [0]), (1, [0, 1]), (2, [2, 3, 6]):
        for seed in seeds:
            one = ManyHarts(seed, lag)
            rows = {(r["kind"], r.get("name")): r for r in one.rows("profile", "--by", "syscall")}
            threads = {(r["thread"], r["pid"]): r["self"] for r in one.rows("profile", "--by", "thread")}
            expected = {(t.name, t.pid): t.instructions for t in one.model.threads if t.instructions}
            assert threads == expected, f"lag {lag}, seed {seed}: {threads} instead of {expected}"
            for key, values in one.model.traps.items():
                row, known = rows[key], [v for v in values if v is not None]
                found = row["count"], row["unfinished"], row.get("instructions", {}).get("sum", 0), row.get("instructions", {}).get("max", 0)
                assert found == (len(values), values.count(None), sum(known), max(known, default=0)), \
                    f"lag {lag}, seed {seed}, {key}: {found} instead of {len(values)}, {values.count(None)}, {sum(known)}, {max(known, default=0)}"


for each_check in traps, summary, modes, unknown_modes, interrupts, boot, named, stacks, tracks:
    for each_seed, each_timed in [(seed, timed) for seed in (1, 2, 3) for timed in (True, False)]:
        case(f"{each_check.__name__}, seed {each_seed}, {'timed' if each_timed else 'not timed'}", each_check, each_seed, each_timed)(
            lambda check, seed, timed: check(Case(seed, timed)))
main()
