#!/usr/bin/env python3
"""`ntrace run` where two runs are never the same: timers, threads at the same time, libraries that come and go.

QEMU writes its execution log in the very run that is traced, so that what was decoded can be compared with it (traced.py).

usage: live.py NTRACE FOLDER      FOLDER holds the programs that tests/programs/build made
"""
import glob
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, matches, scratch
import user_qemu
from traced import PLAIN, command, decoded, decoded_harts, limit_files, logged_run, own_code, path_of, same


@case("perf maps and jitdump files of the program name the code that it made at run time")
def named():
    for operands, name in (["map"], "made_at_run_time"), (["dump", scratch()], "dumped_at_run_time"):
        done = subprocess.run(command("named", operands=operands), check=True, timeout=60, capture_output=True, text=True)
        for left in glob.glob(f"/tmp/perf-{int(done.stdout)}.map"):
            os.unlink(left)
        rows = {row["function"]: row for row in Run("profile", path_of("live.ntrace"), "--format", "jsonl").rows()}
        check(name in rows, f"functions: {list(rows)}")
        equal((rows[name]["self"], rows[name]["calls"]), (2000, 1000), "instructions and calls")
        equal(len(decoded()) > 2000, True, "the trace decodes")


@case("a perf map that is a link or another user's names nothing, as for perf")
def planted():
    for how in ("link", "foreign") if os.geteuid() == 0 else ("link",):
        done = subprocess.run(command("named", operands=[how]), check=True, timeout=60, capture_output=True, text=True)
        for left in glob.glob(f"/tmp/perf-{int(done.stdout)}.*"):
            os.unlink(left)
        rows = {row["function"]: row for row in Run("profile", path_of("live.ntrace"), "--format", "jsonl").rows()}
        check("made_at_run_time" not in rows, f"{how}: functions: {list(rows)}")
        # QEMU 10 has a vDSO, whose code has no name, either.
        code = [row for row in rows.values() if 1000 <= row["calls"] <= 1010 and 2000 <= row["self"] <= 2100]
        equal([row["function"] for row in code], ["[unknown]"], f"{how}: its code: {list(rows.values())[:6]}")


@case("--max-size: the last part of the stream, with times", "1M", ["--timestamps", "--mode", "btm"])
@case("--max-size: the last part of the stream", "1", ["--implicit-return", "off"], long=True)
def max_size(limit, more):
    seed, more = user_qemu.for_ntrace(user_qemu.repeatable()), [*PLAIN, *more]
    subprocess.run(command("algorithms", *seed, *more, operands=["150"]), check=True, timeout=60, capture_output=True)
    whole, size = decoded(), os.path.getsize(path_of("live.ntrace/trace.nex"))
    check(size > 2 << 20, f"the whole stream has {size} bytes")
    done = subprocess.run(command("algorithms", *seed, "--max-size", limit, *more, operands=["150"]), check=True,
                          timeout=60, capture_output=True, text=True)
    matches("its first part was dropped", done.stderr, "what is said")
    equal(sorted(os.listdir(path_of("live.ntrace"))), ["capture.json", "images", "trace.nex"], "the files")
    kept = os.path.getsize(path_of("live.ntrace/trace.nex"))
    check(0.7 < kept / (1 << 20) <= 1, f"{kept} bytes are left")
    found = decoded()
    check(len(found) > 100000, "the trace is short")
    same(found, whole[-len(found):], f"the end of {size} bytes")


def windows(pcs):
    """Places to begin and to end at: (options, first instruction, the one behind the last)."""
    for part in 0.01, 0.3, 0.62, 0.99:
        at = int(len(pcs) * part)
        yield ["--skip", str(at)], at, len(pcs)
        start = pcs.index(pcs[at])
        for stop in pcs[start + 1], pcs[(start + len(pcs)) // 2]:
            end = pcs.index(stop, start + 1)
            yield ["--start-at", hex(pcs[at]), "--stop-at", hex(stop)], start, end
    at = len(pcs) // 3
    start = pcs.index(pcs[2 * at], at)
    yield ["--skip", str(at), "--start-at", hex(pcs[2 * at])], start, len(pcs)


@case("--skip, --start-at and --stop-at: the part that they name, to the instruction", 2)  # each kind of place with one program or two
@case("--skip, --start-at and --stop-at: each part, to the instruction", 1, long=True)
def parts(step):
    seed = user_qemu.for_ntrace(user_qemu.repeatable())
    for number, name in enumerate(("signals", "algorithms", "selfmade")):
        subprocess.run(command(name, *seed), check=True, timeout=60, capture_output=True)
        whole = decoded()
        for options, start, end in list(windows(whole))[number % step::step]:
            subprocess.run(command(name, *seed, *options), check=True, timeout=60, capture_output=True)
            found = decoded()
            equal(len(found), end - start, f"{name} {options}: instructions")
            same(found, whole[start:end], f"{name} {options}")


@case("--start-at and --stop-at: symbols, and what is said where nothing is traced")
def places():
    done = subprocess.run(command("family", "--start-at", "work", "--stop-at", "printf", operands=["a", "b"]),
                          capture_output=True, text=True, timeout=60)
    listed = Run("decode", path_of("live.ntrace"), "--show", "insn").lines()
    matches("<work>", next(line for line in listed if not line.startswith("#")), "the first instruction of a symbol")
    check("not reached" not in done.stderr, done.stderr)
    done = subprocess.run(command("family", "--start-at", "nowhere", operands=["a", "b"]), capture_output=True, text=True,
                          timeout=60)
    matches("no file of the program has the symbol 'nowhere' of --start-at; nothing was traced", done.stderr, "what is said")
    equal(done.returncode, 2, "status: nothing was traced")
    check("next:" not in done.stderr, "the last line suggests nothing")
    equal(decoded(status=1), [], "what was traced")
    for options, said in ((["--skip", "1000000000"], "the program ended within the instructions that --skip leaves out; nothing was traced"),
                          (["--start-at", "0x10"], "--start-at: expected the program to reach this place, found that it never did; nothing was traced"),
                          (["--stop-at", "0x10"], "--stop-at: expected the program to reach this place, found that it never did; the trace goes to the end"),
                          (["--stop-at", "nowhere"], "no file of the program has the symbol 'nowhere' of --stop-at")):
        done = subprocess.run(command("algorithms", *options), capture_output=True, text=True, timeout=60)
        check("ntrace run: " + said in done.stderr.splitlines(), f"what is said, {options}: {done.stderr}")


@case("signals of a timer, one instruction in each block")
def timer_by_instructions():
    for before in "nothing", "fault":
        log, _ = logged_run("timer", operands=[before])
        same(decoded(), log.harts[0], f"timer behind {before}")


@case("signals of a timer, between blocks")
def timer_by_blocks():
    for mode, before in ("htm", "nothing"), ("btm", "nothing"), ("htm", "code"):
        log, _ = logged_run("timer", "--mode", mode, singlestep=False, operands=[before])
        same(decoded(), log.harts[0], f"timer behind {before}, {mode}")


@case("signals of a timer are interrupts that lead to the handler")
def timer_events():
    subprocess.run(command("timer"), check=True, timeout=60)
    rows = Run("decode", path_of("live.ntrace"), "--show", "call").lines()  # not one row for each of a hundred million instructions
    ways = [re.match(r" *(?:0x\w+|\?) (interrupt) -> \S+ <on_tick>$|# (sync) .* <on_tick> ", row) for row in rows]
    interrupts, syncs = (sum(way is not None and way[n] is not None for way in ways) for n in (1, 2))
    # When ticks arrive faster than they are handled, the kernel enters one handler directly after another.
    check(interrupts and interrupts + syncs >= 20, f"the handler ran {interrupts} + {syncs} times")


@case("one handler for faults and for signals of another thread: exceptions and interrupts")
def senders():
    done = subprocess.run(command("senders"), capture_output=True, text=True, check=True, timeout=60)
    faults, sent = map(int, done.stdout.split())
    counts = dict(line.split() for line in Run("decode", path_of("live.ntrace"), "--src", 1, "--show", "count").lines())
    equal(int(counts["exceptions"]), faults, "exceptions")
    # A signal that arrives in a system call, or at the start of the thread, is no interrupt of the trace. How many do depends on the machine.
    check(sent // 3 <= int(counts["interrupts"]) <= sent, f"{counts['interrupts']} interrupts, {sent} signals were sent")


@case("threads that run at the same time")
def parallel():
    log, _ = logged_run("parallel")
    equal(sorted(log.harts), [0, 1, 2, 3, 4], "harts")
    for hart in log.harts:
        same(own_code("parallel", decoded(hart)), own_code("parallel", log.harts[hart]), f"hart {hart}")
    subprocess.run(command("parallel"), check=True, timeout=60, stdout=subprocess.DEVNULL)
    for hart in log.harts:  # in blocks, on all cores: the program's own code is the same
        same(own_code("parallel", decoded(hart)), own_code("parallel", log.harts[hart]), f"hart {hart}, in blocks")


def src_bits():
    with open(path_of("live.ntrace/capture.json"), encoding="utf-8") as file:
        return json.load(file)["params"].get("src_bits", 0)


@case("SRC has no bits for one thread, 6 for 64, 12 for more; what was written before is rewritten")
def widened():
    for threads, bits, more in (4, 6, ["shared"]), (70, 12, []):
        log, _ = logged_run("parallel", operands=[str(threads), *more])
        equal(src_bits(), bits, "bits of SRC")
        equal(sorted(log.harts), list(range(threads + 1)), "harts")
        harts = decoded_harts()
        for hart in log.harts:
            same(own_code("parallel", harts[hart]), own_code("parallel", log.harts[hart]), f"hart {hart}")
    for operands, bits in ([], 0), (["thread"], 6):
        log, _ = logged_run("selfmade", operands=operands)  # code changes at offsets before and behind
        equal(src_bits(), bits, "bits of SRC")
        for hart in log.harts:
            same(decoded(hart), log.harts[hart], f"selfmade, hart {hart}")


@case("a library that is loaded while the program runs")
def library():
    log, _ = logged_run("library")
    same(decoded(), log.harts[0], "library")
    rows = Run("decode", path_of("live.ntrace"), "--show", "insn").out
    matches(r"<cbrt", rows, "the library's symbols")


def lateness(rows):
    """For each message with instructions: its time minus the instructions executed up to its end."""
    executed, found = 0, {}
    for row in rows:
        executed += row.get("instructions", 0)
        if row.get("instructions"):
            found[row["message"]] = row["time"] - executed
    return list(found.values())


@case("--timestamps: a tick is an instruction, a message has the time of the block that caused it")
def timestamps():
    # a trap is sent with the handler's first instruction, a full history with the branch that does not fit
    for mode, latest in ("btm", 1), ("htm", 64):
        log, _ = logged_run("timer", "--timestamps", "--mode", mode)
        same(decoded(), log.harts[0], "timer")
        late = lateness(Run("decode", path_of("live.ntrace"), "--format", "jsonl").rows())
        check(len(late) > 20 and min(late) == 0 and max(late) <= latest, f"{mode}: times are off by {min(late)} to {max(late)}")


@case("more blocks than the shared memory holds")
def many_blocks():
    log, _ = logged_run("algorithms", singlestep=False, operands=["40"])
    same(decoded(), log.harts[0], "algorithms")


@case("many paths through indirect jumps", 10000)
@case("very many paths through indirect jumps", 30000, long=True)
def many_ways(number):
    log, _ = logged_run("ways", singlestep=False, operands=[str(number)])
    same(decoded(), log.harts[0], "ways")


limit_files()
@case("threads at the same time, 60 runs: no callback that QEMU 7.2 has given up (docs/run.md) is called", long=True)
@case("threads at the same time, 60 runs with --data: no callback that QEMU 7.2 has given up is called", "--data", long=True)
def without_assertion(*options):
    for number in range(60):
        done = subprocess.run(command("parallel", *options, operands=["8"]), capture_output=True, text=True, timeout=120, check=False)
        check("ERROR:" not in done.stderr and done.returncode == 0, f"run {number}: status {done.returncode}: {done.stderr}")


main()
