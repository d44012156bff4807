#!/usr/bin/env python3
"""perf.data as output: what Debian's perf prints of it equals our own profile, instruction list and source lines.

usage: perf_out.py NTRACE      with NTRACE_TEST_PERF=trixie, by the perf of Debian 13 (tests/consumers/unpacked.py)
"""
import functools
import html
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, need, scratch, skip

FORMS = {"static": ("-static",), "libraries": ("-pie",)}
FLAGS = {**FORMS, "short": ("-static", "-DROUNDS=2")}  # short: few samples, since perf asks addr2line about every one


@functools.cache
def command():
    """perf, and its environment."""
    if not os.environ.get("NTRACE_TEST_PERF"):
        return [need("perf")], dict(os.environ)
    sys.path.append(os.path.join(HERE, "..", "consumers"))
    import unpacked
    return unpacked.perf()


def tools():
    command()
    for tool in ("qemu-riscv64", "riscv64-linux-gnu-gcc"):
        need(tool)


def bundle(form, *options):
    tools()
    path = os.path.join(scratch(), form + ("-filtered" if options else "") + ".ntrace")
    if not os.path.exists(path):
        program = os.path.join(scratch(), "work_" + form)
        subprocess.run(["riscv64-linux-gnu-gcc", "-O1", "-g", os.path.join(HERE, "work.c"), "-o", program, *FLAGS[form]],
                       check=True)
        Run("run", *options, "-o", path, "--", program)
    return path


def code_of_main():
    """The filter for the code of work.c in the short program."""
    bundle("short")
    symbols = subprocess.run(["riscv64-linux-gnu-nm", "-S", os.path.join(scratch(), "work_short")], capture_output=True, text=True,
                             check=True).stdout
    rows = {match[3]: (int(match[1], 16), int(match[2], 16)) for match in re.finditer(r"(?m)^(\w+) (\w+) [Tt] (\w+)$", symbols)}
    places = [rows[name] for name in ("mix", "fill", "sum", "main")]
    return f"addr={min(at for at, _ in places):#x}-{max(at + size for at, size in places) - 1:#x}"


def perf(*arguments):
    program, environment = command()
    run = subprocess.run([*program, *arguments], capture_output=True, text=True, timeout=120,
                         env=dict(environment, HOME=scratch(), PAGER="cat"))
    check(run.returncode == 0, f"perf {' '.join(arguments)}: {run.stderr[-500:]}")
    return run.stdout


def profile(trace):
    counts = {}
    for row in Run("profile", trace, "--format", "jsonl").rows():
        if row["self"]:
            counts[row["function"]] = counts.get(row["function"], 0) + row["self"]
    return counts


def reported(path):
    found = {}
    for line in perf("report", "--stdio", "-g", "none", "-i", path, "-F", "period,sym").splitlines():
        row = re.match(r"\s*(\d+)\s+\[[.k]\] (\S.*\S|\S)\s*$", line)
        if row:
            found[row[2]] = found.get(row[2], 0) + int(row[1])
    return found


@case("perf report: with every instruction as a sample, the periods of functions are our profile")
def _():
    for form in FORMS:
        trace = bundle(form)
        path = os.path.join(scratch(), form + ".data")
        Run("export", "--to", "perf.data", "--every", "1", trace, "-o", path)
        ours, theirs = profile(trace), reported(path)
        equal(sum(theirs.values()), sum(ours.values()), f"{form}: event count")
        for name in ("sum", "mix", "fill", "main"):
            equal(theirs.get(name), ours[name], f"{form}: {name}")


THREADS = """#include <pthread.h>
static pthread_barrier_t all;
static volatile int sum;
static void *work(void *end) {
    pthread_barrier_wait(&all);
    for (long i = 0; i < (long)end; i++) sum++;
    return 0;
}
int main(void) {
    pthread_t threads[3];
    pthread_barrier_init(&all, 0, 4);
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)(4000 + i));
    pthread_barrier_wait(&all);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
"""


@case("perf report: every thread has the name of its program, and a number of its own")
def _():
    tools()
    folder = scratch()
    with open(os.path.join(folder, "threads.c"), "w", encoding="ascii") as file:
        file.write(THREADS)
    subprocess.run(["riscv64-linux-gnu-gcc", "-O1", "-g", "-pthread", "-static", "threads.c", "-o", "threads"], cwd=folder, check=True)
    Run("run", "-q", "-o", "bundle.ntrace", "--", "./threads", cwd=folder)
    path = os.path.join(folder, "named.data")
    Run("export", "--to", "perf.data", "--every", "1", "-o", path, "bundle.ntrace", cwd=folder)
    found = {}
    for name, pid, tid in re.findall(r"(?m)^ *(\S.*?) +(\d+)/(\d+) *$", perf("script", "-i", path, "-G", "-F", "comm,pid,tid")):
        found.setdefault((name, pid), set()).add(tid)
    equal([(key, len(tids)) for key, tids in found.items()], [(("threads", "1"), 4)], "name and process; number of threads")
    check("1" in found["threads", "1"], "the first thread has the number of the process")
    names = re.findall(r"(?m)^ +[\d.]+% +(\S+) *$", perf("report", "--stdio", "--no-children", "-g", "none", "-i", path, "-s", "comm"))
    equal(names, ["threads"], "perf report --sort comm")


NAMES = """#define _GNU_SOURCE
#include <pthread.h>
static pthread_barrier_t all;
static volatile int sum;
static void *work(void *name) {
    if (name) pthread_setname_np(pthread_self(), name);
    pthread_barrier_wait(&all);
    for (int i = 0; i < 4000; i++) sum++;
    pthread_barrier_wait(&all);
    return 0;
}
int main(void) {
    pthread_t threads[4];
    char *names[] = {"net \\"io\\"", 0, 0, "\\xff\\nline"};
    pthread_barrier_init(&all, 0, 5);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, names[i]);
    pthread_setname_np(threads[1], "worker");
    pthread_barrier_wait(&all);
    pthread_barrier_wait(&all);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return 0;
}
"""


@case("names of threads: what they call themselves, or another thread calls them; in the bundle, perf script, timelines and profile --by hart")
def _():
    tools()
    folder = scratch()
    with open(os.path.join(folder, "names.c"), "w", encoding="ascii") as file:
        file.write(NAMES)
    subprocess.run(["riscv64-linux-gnu-gcc", "-O1", "-g", "-pthread", "-static", "names.c", "-o", "names"], cwd=folder, check=True)
    Run("run", "-q", "-o", "names.ntrace", "--", "./names", cwd=folder)
    with open(os.path.join(folder, "names.ntrace", "capture.json"), encoding="utf-8") as file:
        named = {source.get("name") for source in json.load(file)["sources"]}
    equal(named, {None, 'net "io"', "worker", "??line"}, "names in capture.json")
    sources = Run("stat", "--format", "jsonl", "names.ntrace", cwd=folder).rows()
    equal({row["name"].partition(" ")[2] for row in sources if row["kind"] == "source"}, {"", 'net "io"', "worker", "??line"}, "names of stat")
    about = json.loads(Run("explore", "names.ntrace", "--cache", "none", "--ask", '{"query":"about"}', cwd=folder).out)
    equal({hart.get("name") for hart in about["harts"]}, {None, 'net "io"', "worker", "??line"}, "names of the explorer")
    packet = b"qXfer:threads:read::0,ffff"
    listed = Run("gdb", "--stdio", "names.ntrace", cwd=folder, stdin=b"$vCont;c#a8+$" + packet + b"#%02x" % (sum(packet) % 256), status=None).bytes
    listed = re.sub(rb"}(.)", lambda found: bytes([found[1][0] ^ 0x20]), listed).decode()
    equal({html.unescape(name) for name in re.findall('name="(.*?)"', listed)}, {'net "io"', "worker", "??line"}, "names of info threads")
    path = os.path.join(folder, "names.data")
    Run("export", "--to", "perf.data", "--every", "1", "-o", path, "names.ntrace", cwd=folder)
    found = set(re.findall(r"(?m)^ *(\S.*?) +\d+ *$", perf("script", "-i", path, "-G", "-F", "comm,tid")))
    equal(found, {"names", 'net "io"', "worker", "??line"}, "names of perf script")
    events = json.loads(Run("timeline", "--to", "chrome", "names.ntrace", cwd=folder).out)["traceEvents"]
    tracks = {event["args"]["name"].split(":")[0] for event in events if event.get("name") == "thread_name" and event["args"]["name"].endswith("functions")}
    check({'net "io"', "worker", "??line"} < tracks, f"names of tracks: {tracks}")
    text = Run("profile", "--by", "hart", "names.ntrace", cwd=folder).out
    check(all(name in text for name in ('net "io"', "worker", "??line")), text)


@case("perf script: addresses, symbols and call chains are those of the execution")
def _():
    trace = bundle("static")
    path = os.path.join(scratch(), "script.data")
    Run("export", "--to", "perf.data", "--every", "100", trace, "-o", path)
    pcs = Run("decode", trace, "--show", "pc").lines()
    blocks = perf("script", "-i", path, "-F", "ip,sym,period").strip().split("\n\n")
    equal(len(blocks), -(-len(pcs) // 100), "samples")
    periods = [int(block.split("\n")[0].split()[0]) for block in blocks]
    equal(sum(periods), len(pcs), "instructions")
    seen = 0
    for block in blocks:
        frames = [line.split()[1] for line in block.split("\n")[1:]]
        if frames and frames[0] == "mix":
            seen += 1
            equal(frames[1:3], ["fill", "main"], "callers of mix")
    check(seen > 20, "samples in mix")


@case("perf script: the sampled addresses, in order; branch stacks end at them")
def _():
    trace = bundle("static")
    path = os.path.join(scratch(), "branches.data")
    Run("export", "--to", "perf.data", "--every", "1000", "--branches", "16", trace, "-o", path)
    rows = [row for row in Run("decode", trace, "--show", "insn", "--format", "jsonl").rows() if "address" in row]
    addresses = [int(row["address"], 16) for row in rows]
    lines = [line for line in perf("script", "-i", path, "-F", "brstack").splitlines() if "/" in line]
    taken = [(addresses[i], addresses[i + 1]) for i in range(len(addresses) - 1)
             if addresses[i + 1] not in (addresses[i] + 2, addresses[i] + 4)]
    known = set(taken)
    check(len(lines) > 40, "samples with branches")
    for line in lines:
        stack = [tuple(int(part, 16) for part in entry.split("/")[:2]) for entry in line.split()]
        check(all(pair in known or pair[1] - pair[0] in (2, 4) for pair in stack), f"branches of {line[:200]}")


@case("perf annotate and source lines")
def _():
    path = os.path.join(scratch(), "lines.data")
    trace = bundle("short", "--filter", code_of_main())
    Run("export", "--to", "perf.data", "--every", "1", trace, "-o", path)
    lines = perf("report", "--stdio", "-g", "none", "-i", path, "-F", "period,srcline", "-s", "srcline").splitlines()
    found = {match[2]: int(match[1]) for match in (re.match(r"\s*(\d+)\s+(work\.c:\d+)\s*$", line) for line in lines) if match}
    ours = {}
    for row in Run("profile", trace, "--by", "line", "--format", "jsonl").rows():
        if row.get("file") and row["file"].endswith("work.c"):
            name = f"work.c:{row['line']}"
            ours[name] = ours.get(name, 0) + row["self"]
    if not found:
        skip("perf-lines")
    equal(found, ours, "instructions by line")


@case("the number of samples is limited, and the periods add up whatever the interval")
def _():
    trace = bundle("static")
    total = sum(profile(trace).values())
    for every in ("7", "4096", "1000000"):
        path = os.path.join(scratch(), "every.data")
        Run("export", "--to", "perf.data", "--every", every, trace, "-o", path)
        equal(sum(reported(path).values()), total, f"--every {every}")


if __name__ == "__main__":
    main()
