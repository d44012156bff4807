#!/usr/bin/env python3
"""`ntrace run` where two runs are never the same, and where something goes wrong: timers, threads at the same time,
libraries that come and go, another program, Ctrl-C, limits, full disks.

QEMU writes its execution log in the very run that is traced, so that what was decoded can be compared with it.

usage: live.py NTRACE FOLDER      FOLDER holds the programs that tests/programs/build made
"""
import collections
import functools
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import DEADLINE, NTRACE, Run, case, check, equal, has_taken, main, matches, scratch, skip, until

import qemu_log
import user_qemu

FOLDER = os.path.abspath(sys.argv[2])
PLAIN = "--no-compress", "--no-repeated-history"  # otherwise the stream of an endless loop hardly grows
LOG_LIMIT = 256 << 20  # maximum size of a log in bytes
IN_BLOCK = re.compile(r"^0x([0-9a-f]+):\s+[0-9a-f]+\s+(\S+)")


class BlockLog:
    """The same as qemu_log.Log for a log without -singlestep, of one thread and without faults: a Trace line is a block,
    and its instructions are those listed when it was translated."""

    def __init__(self, path):
        blocks, block, pcs = {}, None, []
        with open(path, encoding="latin-1") as log:
            for line in log:
                found = IN_BLOCK.match(line)
                if line.startswith("IN:"):
                    block = None
                elif found:
                    pc = int(found[1], 16)
                    if block is None:
                        block = blocks[pc] = []
                    if found[2] not in qemu_log.NEVER_RETIRE:
                        block.append(pc)
                elif line.startswith("Stopped"):
                    pcs = pcs[:-len(blocks[int(qemu_log.STOPPED.match(line)[1], 16)])]
                else:
                    for found in qemu_log.TRACE.finditer(line):
                        pcs += blocks[int(found[2], 16)]
        self.harts = {0: pcs}


def path_of(name):
    return os.path.join(scratch(), name)


def command(name, *options, bundle="live.ntrace", operands=()):
    return [NTRACE, "run", *options, "-o", path_of(bundle), "--", os.path.join(FOLDER, name), *operands]


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LOG_LIMIT, resource.RLIM_INFINITY))


def logged_run(name, *options, status=0, singlestep=True, operands=()):
    log = path_of("log")
    if os.path.exists(log):
        os.unlink(log)
    qemu = (user_qemu.single_step() if singlestep else []) + ["-d", "exec,nochain,in_asm,strace", "-D", log]
    done = subprocess.run(command(name, *[f"--qemu-option={word}" for word in qemu], *options, operands=operands),
                          capture_output=True, timeout=120)
    equal(done.returncode, status, f"exit status ({done.stderr.decode()})")
    check(os.path.getsize(log) < LOG_LIMIT, "the log is not complete")
    return (qemu_log.Log if singlestep else BlockLog)(log), done.stderr.decode()


def decoded(hart=0, bundle="live.ntrace", status=0):
    return [int(line, 16) for line in Run("decode", path_of(bundle), "--src", hart, "--output", "pc", status=status).lines()]


def decoded_harts():
    """The same for each hart, by its SRC."""
    harts = collections.defaultdict(list)
    for line in Run("decode", path_of("live.ntrace"), "--output", "pc", "--format", "csv").lines()[1:]:
        src, address = line.split(",")
        harts[int(src)].append(int(address, 16))
    return harts


def same(found, expected, what):
    check(expected, f"{what}: nothing was logged")
    n = min(len(found), len(expected))
    at = next((i for i in range(n) if found[i] != expected[i]), n)
    check(found == expected, f"{what}: instruction {at} of {len(expected)}: expected "
          f"{[hex(pc) for pc in expected[max(0, at - 3):at + 4]]}, found {[hex(pc) for pc in found[max(0, at - 3):at + 4]]}")


@functools.lru_cache
def ranges_of(name, *functions):
    listed = subprocess.run(["riscv64-linux-gnu-nm", "-S", os.path.join(FOLDER, name)], capture_output=True, text=True,
                            check=True).stdout.splitlines()
    rows = [line.split() for line in listed if line.split()[-1:] and line.split()[-1] in (functions or ("work", "main"))]
    return [(int(row[0], 16), int(row[0], 16) + int(row[1], 16)) for row in rows]


def own_code(name, pcs, *functions):
    ranges = ranges_of(name, *functions)
    return [pc for pc in pcs if any(low <= pc < high for low, high in ranges)]


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


@case("--max-size: the last part of the stream")
def max_size():
    seed = user_qemu.for_ntrace(user_qemu.repeatable())
    for limit, more in ("1", [*PLAIN, "--implicit-return", "off"]), ("1M", [*PLAIN, "--timestamps", "--mode", "btm"]):
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


@case("--skip, --start-at and --stop-at: the part that they name, to the instruction")
def parts():
    seed = user_qemu.for_ntrace(user_qemu.repeatable())
    for name in "signals", "algorithms", "selfmade":
        subprocess.run(command(name, *seed), check=True, timeout=60, capture_output=True)
        whole = decoded()
        for options, start, end in windows(whole):
            subprocess.run(command(name, *seed, *options), check=True, timeout=60, capture_output=True)
            found = decoded()
            equal(len(found), end - start, f"{name} {options}: instructions")
            same(found, whole[start:end], f"{name} {options}")
    done = subprocess.run(command("family", "--start-at", "work", "--stop-at", "printf", operands=["a", "b"]),
                          capture_output=True, text=True, timeout=60)
    listed = Run("decode", path_of("live.ntrace"), "--output", "insn").lines()
    matches("<work>", next(line for line in listed if not line.startswith("#")), "the first instruction of a symbol")
    check("not reached" not in done.stderr, done.stderr)
    done = subprocess.run(command("family", "--start-at", "nowhere", operands=["a", "b"]), capture_output=True, text=True,
                          timeout=60)
    matches("no file of the program has the symbol 'nowhere' of --start-at; nothing was traced", done.stderr, "what is said")
    matches(r": 0 instructions, \d+ bytes, 0 bits an instruction$", done.stderr.strip(), "the last line suggests nothing")
    equal(decoded(status=1), [], "what was traced")
    for options, said in ((["--skip", "1000000000"], "the program ended within the instructions that --skip leaves out; nothing was traced"),
                          (["--start-at", "0x10"], "the place at which tracing begins was not reached; nothing was traced"),
                          (["--stop-at", "0x10"], "the place at which tracing ends was not reached"),
                          (["--stop-at", "nowhere"], "no file of the program has the symbol 'nowhere' of --stop-at")):
        done = subprocess.run(command("algorithms", *options), capture_output=True, text=True, timeout=60)
        equal(done.stderr.splitlines()[0], "ntrace run: " + said, f"what is said, {options}")


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
    rows = Run("decode", path_of("live.ntrace"), "--output", "call").lines()  # not one row for each of a hundred million instructions
    ways = [re.match(r" *(?:0x\w+|\?) (interrupt) -> \S+ <on_tick>$|# (sync) .* <on_tick> ", row) for row in rows]
    interrupts, syncs = (sum(way is not None and way[n] is not None for way in ways) for n in (1, 2))
    # When ticks arrive faster than they are handled, the kernel enters one handler directly after another.
    check(interrupts and interrupts + syncs >= 20, f"the handler ran {interrupts} + {syncs} times")


@case("one handler for faults and for signals of another thread: exceptions and interrupts")
def senders():
    done = subprocess.run(command("senders"), capture_output=True, text=True, check=True, timeout=60)
    faults, sent = map(int, done.stdout.split())
    counts = dict(line.split() for line in Run("decode", path_of("live.ntrace"), "--src", 1, "--output", "count").lines())
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
    for threads, bits, more in (1, 6, []), (4, 6, ["shared"]), (70, 12, []):
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
    rows = Run("decode", path_of("live.ntrace"), "--output", "insn").out
    matches(r"<cbrt", rows, "the library's symbols")


@case("execve of a program for another machine: traced up to there, with a message")
def replaced():
    log, messages = logged_run("replaced", status=7)
    same(decoded(), log.harts[0], "replaced")
    matches("execve", messages, "what `run` says")
    matches("execve", Run("decode", path_of("live.ntrace"), "--output", "none").err, "what `decode` says")


def without_bundles():
    for old in glob.glob(path_of("live.*ntrace")):
        shutil.rmtree(old)


def family(program, *options, name=None):
    """Output and messages of a program that forks, spawns and executes `program`, by another name if there is one, and a script with it."""
    script = path_of("script")
    with open(script, "w", encoding="ascii") as file:
        file.write(f"#! {program} first  second\n")
    os.chmod(script, 0o755)
    without_bundles()
    done = subprocess.run(command("family", *options, operands=[name or program, script]), capture_output=True, text=True,
                          timeout=60, cwd=scratch(), env=dict(os.environ, PATH="/usr/bin:/bin"))
    return done.returncode, done.stdout.splitlines(), done.stderr


def pids_of(lines, statuses):
    rows = [line.split() for line in lines if re.match(r"(forked|spawned|script) ", line)]
    equal({row[0]: int(row[2]) for row in rows}, statuses, "exit statuses")
    return {row[0]: int(row[1]) for row in rows}


@case("execve, posix_spawn and scripts: the guest's programs run, with their arguments and environment")
def executed():
    program = os.path.join(FOLDER, "family")
    for options, name in ([], None), (["--follow-fork"], None), ([], "/proc/self/exe"):
        status, lines, messages = family(program, *options, name=name)
        equal(status, 7, f"exit status ({messages})")
        pids_of(lines, {"forked": 3, "spawned": 7, "script": 7})
        shown = [line for line in lines if line.startswith("arguments")]
        named = "arguments [name of its own] [one] [two words] environment [A=b] [C=]"
        script = f"arguments [{program}] [first  second] [{path_of('script')}] [one] [two words] environment [A=b] [C=]"
        equal(shown, [named, script, named], "what the programs say")
        check("execve" not in messages, messages)
        equal("forked" in messages, not options, f"a message about child processes: {messages}")


@case("--follow-fork: children that start while their parent translates code")
def racing():
    for _ in range(3):
        without_bundles()
        subprocess.run(command("racing", "--follow-fork"), check=True, timeout=60, cwd=scratch())
        children = glob.glob(path_of("live.*.ntrace"))
        equal(len(children), 8, "bundles of children")
        for bundle in children:
            found = own_code("racing", decoded(bundle=os.path.basename(bundle)), "_Fork")
            check(len(found) > 5, "the child begins in _Fork")
            same(found, sorted(set(found)), "_Fork in a child, executed once and in order")


@case("--follow-fork: a bundle for each process, exact from its start to its end")
def follow_fork():
    program = os.path.join(FOLDER, "bare64")
    bare = subprocess.run(["qemu-riscv64", program], capture_output=True, timeout=60).returncode
    alone = logged_run("bare64", status=bare)[0].harts[0]
    status, lines, messages = family(program, "--follow-fork")
    equal(status, bare, f"exit status ({messages})")
    pids = pids_of(lines, {"forked": 3, "spawned": bare, "script": bare})
    bundles = {pid: f"live.{pid}.ntrace" for pid in pids.values()}
    found = set(os.path.basename(name) for name in glob.glob(path_of("live.*ntrace")))
    equal(len(found - set(bundles.values())), 2, f"bundles of the first process and of the second child: {found}")
    work = own_code("family", decoded(0), "work")
    check(len(work) > 3000, "the first process does not call work")
    for name in "spawned", "script":
        pcs = decoded(bundle=bundles[pids[name]])
        same(pcs[-len(alone):], alone, name)
        check(len(pcs) > len(alone), f"{name}: nothing was executed between fork and execve")
    same(decoded()[-len(alone):], alone, "the first process")
    child = own_code("family", decoded(1, bundles[pids["forked"]]), "work")
    same(child, work, "work in the child")
    check("live.ntrace" in found, f"the first bundle: {found}")
    grandchild, = found - set(bundles.values()) - {"live.ntrace"}
    half = own_code("family", decoded(1, grandchild), "work")
    check(len(work) * 0.49 < len(half) < len(work) * 0.51, f"work(500) in the grandchild: {len(half)} of {len(work)}")
    with open(path_of(bundles[pids["script"]]) + "/capture.json", encoding="ascii") as file:
        about = json.load(file)
    equal(about["sources"][0]["name"], "bare64", "name of the process")
    for by in ("hart", "process", "thread"):
        profile = ["profile", path_of(bundles[pids["script"]]), "--by", by]
        equal([row["source"] for row in Run(*profile, "--format", "jsonl").rows()], ["bare64"], f"--by {by}")
        matches(r"  src 0  bare64$", Run(*profile).lines()[-1], f"--by {by} as text")
    rows = Run("profile", path_of("live.ntrace"), "--format", "jsonl").rows()
    names = {row["function"]: row["self"] for row in rows}
    check({"work", "fibonacci"} <= set(names), f"functions of both programs: {names}")


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


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def wait_for_naps(pid):
    """The plugin waits by sleeping, thousands of times a second; a program that only computes hardly sleeps."""
    def naps():
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        count = int(fields.get("voluntary_ctxt_switches", -1))
        check(count >= 0 and "Z" not in fields["State"], "QEMU has ended before its trace was read")
        return count

    until(lambda: naps() >= 500, "500 naps of QEMU")


@case("more blocks than the shared memory holds")
def many_blocks():
    log, _ = logged_run("algorithms", singlestep=False, operands=["40"])
    same(decoded(), log.harts[0], "algorithms")


@case("many paths through indirect jumps")
def many_ways():
    log, _ = logged_run("ways", singlestep=False, operands=["30000"])
    same(decoded(), log.harts[0], "ways")


def script_that(name, *lines):
    path = path_of(name)
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(("#!/bin/sh",) + lines) + "\n")
    os.chmod(path, 0o755)
    return path


@case("a slow reader, with QEMU started by a script: the program waits")
def late_reader():
    becomes_qemu = script_that("becomes", 'exec qemu-riscv64 "$@"')
    script = script_that("starts", '[ "$1" = --version ] || echo $$ >"$0.pid"', 'qemu-riscv64 "$@"', "exit $?")
    options = user_qemu.for_ntrace(user_qemu.repeatable())
    subprocess.run(command("algorithms", "--qemu", becomes_qemu, *options, operands=["100"]), check=True,
                   stdout=subprocess.DEVNULL)
    expected = Run("stat", path_of("live.ntrace")).out
    run = subprocess.Popen(command("algorithms", "--qemu", script, *options, operands=["100"]), stdout=subprocess.DEVNULL)
    try:
        until(lambda: run.poll() is not None or os.path.exists(script + ".pid") and os.path.getsize(script + ".pid"), "the number of the script's process")
        run.send_signal(signal.SIGSTOP)
        with open(script + ".pid", encoding="ascii") as file:
            shell = int(file.read())
        until(lambda: run.poll() is not None or children(shell), "QEMU")
        qemu = children(shell)[0]
        wait_for_naps(qemu)
        run.send_signal(signal.SIGCONT)
        equal(run.wait(timeout=DEADLINE), 0, "exit status")
    finally:
        run.kill()
    equal(Run("stat", path_of("live.ntrace")).out, expected, "what was traced")


def state(pid):
    """The state of a process, from ps; an ended process counts as ended before its parent has waited for it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def guest_of(pid, program):
    """The process below `pid` that is QEMU with this program, or None."""
    for child in children(pid):
        with open(f"/proc/{child}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
        found = child if words[0].endswith(b"qemu-riscv64") and program in words else guest_of(child, program)
        if found:
            return found
    return None


@case("a reader that is killed: the program ends, too, and what was written can be decoded")
def killed_reader():
    program = os.path.join(FOLDER, "endless").encode()
    for script in [], ["--qemu", script_that("goes_on", 'qemu-riscv64 "$@"', "exit $?")]:
        with open(path_of("output"), "wb") as file:
            run = subprocess.Popen(command("endless", *PLAIN, *script, bundle="killed.ntrace", operands=["on", "in blocks"]),
                                   stdout=file)
        until(lambda: run.poll() is not None or glob.glob(path_of("killed.ntrace.*/capture.json")) and stream_size("killed.ntrace") >= 100000,
              "100,000 bytes of the stream")
        guest = guest_of(run.pid, program)
        run.kill()
        run.wait()
        check(guest, "the program had ended before")
        try:
            until(lambda: state(guest) == "Z", "the end of the program")
        except Exception:
            os.kill(guest, signal.SIGKILL)
            raise
        left, = glob.glob(path_of("killed.ntrace.*"))
        found = Run("decode", left, "--output", "count", status=None)
        check(int(found.lines()[0].split()[1]) > 10000, f"{found.out}{found.err}")
        matches("the end of the trace is missing", found.err, "what `decode` says")
        shutil.rmtree(left)


@case("a reader that is killed while it keeps the last part of the stream: that part can be decoded")
def killed_ring():
    run = subprocess.Popen(command("endless", *PLAIN, "--max-size", "1", bundle="ring.ntrace", operands=["on", "in blocks"]),
                           stdout=subprocess.DEVNULL)

    def copied():
        check(run.poll() is None, "the command has ended")
        return any(os.path.getsize(name) >= 700000 for name in copies_in_use("ring.ntrace"))

    try:
        until(copied, "a copy of the last part of the stream, to which capture.json refers")
    finally:
        run.kill()
        run.wait()
    left, = glob.glob(path_of("ring.ntrace.*"))
    found = Run("decode", left, "--output", "count", status=None)
    counts = dict(line.split()[:2] for line in found.lines())
    check(int(counts["bytes"]) >= 700000 and int(counts["gaps"]) <= 1, f"{found.out}{found.err}")
    matches("its first part was dropped", found.err, "what `decode` says")
    shutil.rmtree(left)


def copies_in_use(bundle):
    """The copies of the last part of the stream that capture.json names; the files change while this looks."""
    found = []
    for path in glob.glob(path_of(f"{bundle}.*/capture.json")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        found += [name for name in glob.glob(os.path.join(os.path.dirname(path), "trace.nex.copy-*")) if f'"{os.path.basename(name)}"' in text]
    return found


def stream_size(bundle="live.ntrace"):
    """The size of the stream in the bundle that is being written."""
    return max([os.path.getsize(name) for name in glob.glob(path_of(f"{bundle}.*/trace.nex"))], default=0)


def interrupted(operands, number=signal.SIGINT, size=0, again=False, **more):
    """Exit status, messages and output of a program that gets the signal when the stream has `size` bytes, and `again` when the
    command has taken the first one: two within 200 ms are one, and two of 3 s have nothing to do with each other."""
    process = subprocess.Popen(command("endless", *PLAIN, operands=operands), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True, **more)
    try:
        equal(process.stdout.readline(), b"ready\n", "the program's output")
        until(lambda: stream_size() >= size or process.poll() is not None, f"{size} bytes of the stream")
        process.send_signal(number)
        if again:
            until(lambda: process.poll() is not None or has_taken(process.pid, number), "the first signal to be taken")
            check(process.poll() is None, "the first signal has ended the program")
            end = time.monotonic() + DEADLINE
            while process.poll() is None and time.monotonic() < end:
                time.sleep(0.5)
                process.send_signal(number)
        out, messages = process.communicate(timeout=DEADLINE)
        return process.returncode, messages.decode(), out.decode()
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # the process has ended


@case("SIGINT and SIGTERM go to the program; the bundle is complete")
def interrupt():
    equal(interrupted([])[0], 128 + signal.SIGINT, "exit status, SIGINT kills")
    check(len(decoded()) > 1000, "the trace is short")
    equal(interrupted([], signal.SIGTERM)[0], 128 + signal.SIGTERM, "exit status, SIGTERM kills")
    equal(interrupted(["on"])[0], 42, "exit status, SIGINT is caught")
    matches("<on_signal>", Run("decode", path_of("live.ntrace"), "--output", "insn").out, "the handler")


@case("a second SIGINT or SIGTERM kills a program that ignores them; the bundle is complete")
def insisted():
    for number in signal.SIGINT, signal.SIGTERM:
        shutil.rmtree(path_of("live.ntrace"), ignore_errors=True)
        equal(interrupted(["on", "in blocks", "ignore"], number, again=True)[0], 128 + signal.SIGKILL, f"exit status, signal {number}")
        Run("check", path_of("live.ntrace"))


@case("an endless loop is encoded while it runs")
def long_loop():
    status, _, out = interrupted(["on"], size=1 << 19)
    equal(status, 42, "exit status")
    most = Run("profile", path_of("live.ntrace"), "--by", "instruction", "--top", 1, "--format", "jsonl").rows()[0]["self"]
    check(most - int(out) in (0, 1), f"the program went round {out.strip()} times, in the trace {most}")


def failed_run(why, bundle="live.ntrace", **more):
    shutil.rmtree(path_of("live.ntrace"), ignore_errors=True)
    done = subprocess.run(command("algorithms", bundle=bundle), capture_output=True, text=True, timeout=60, **more)
    equal(done.returncode, 2, f"exit status ({done.stderr})")
    matches(why, done.stderr, "what is said")
    left = [name for name in os.listdir(os.path.dirname(path_of(bundle))) if "live.ntrace" in name]
    equal(left, [], "what is left")


@case("a limit to the size of files is reported, and does not end ntrace by a signal")
def file_size():
    for hard in resource.RLIM_INFINITY, 4096:
        failed_run("File too large", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard)))
    limit = 1 << 20  # the program's own file is smaller
    limits = limit, resource.RLIM_INFINITY
    status, messages, _ = interrupted(["on", "in blocks"], size=limit,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits))
    equal(status, 2, "exit status")
    matches("trace.nex: File too large; what was written before is in", messages, "what is said")
    found = Run("decode", path_of("live.ntrace"), "--output", "count", status=None)
    check(int(found.lines()[0].split()[1]) > 100000, f"{found.out}{found.err}")
    matches("the end of the trace is missing", found.err, "what `decode` says")


@case("--compress: the same trace, smaller")
def compressed():
    done = subprocess.run(command("algorithms", "--compress", bundle="first.ntrace"), capture_output=True, text=True,
                          timeout=60)
    if "without zstd" in done.stderr:
        skip("build-zstd")
    subprocess.run(command("algorithms", "--no-compress"), check=True, timeout=60, stdout=subprocess.DEVNULL)
    plain = os.path.getsize(path_of("live.ntrace/trace.nex"))
    log, _ = logged_run("algorithms", "--compress")
    packed = path_of("live.ntrace/trace.nex.zst")
    check(os.path.getsize(packed) < plain * 3 / 4, f"{os.path.getsize(packed)} bytes, {plain} plain")
    same(decoded(), log.harts[0], "algorithms")
    with open(packed, "rb") as stream:  # the stream alone can be decoded, too
        elf = os.path.join(FOLDER, "algorithms")
        small = "--implicit-return", "full", "--sequential-jump"
        lines = Run("decode", "-", *small, "-e", elf, "--output", "pc", stdin=stream.read()).lines()
    same([int(line, 16) for line in lines], log.harts[0], "the raw stream")


def window(*options):
    return Run("decode", path_of("live.ntrace"), "--output", "event", *options).out


@case("the index: a part of the trace decodes as in the whole trace, also with a missing or damaged index")
def index():
    sync = "--sync-mode", "messages", "--sync-form", "exact", "--sync-max", 2
    for more in [], ["--compress"]:
        done = subprocess.run(command("algorithms", "--timestamps", *map(str, sync), *more, operands=["10"]),
                              capture_output=True, text=True, timeout=60)
        if "without zstd" in done.stderr:
            break
        equal(done.returncode, 0, f"exit status ({done.stderr})")
        path = path_of("live.ntrace/index")
        last = Run("decode", path_of("live.ntrace"), "--format", "jsonl", "--output", "event").rows()[-1]
        check(not os.path.exists(path), "an index that was not needed")
        places = [("", last["message"]), ("@", last["offset"]), ("t:", last["time"])]
        windows = [("--from", f"{unit}{size * part // 8}", "--to", f"{unit}{size * part // 8 + 100}")
                   for unit, size in places for part in range(8)]
        # --strict decodes from the start: the stream has no defects, so the result is the same.
        whole = [window(*part, "--strict") for part in windows]
        check(not os.path.exists(path), "--strict must see all")
        check(sum(map(len, whole)) > 10000, "the windows are empty")
        equal([window(*part) for part in windows], whole, "by the index")
        with open(path, encoding="ascii") as file:
            good = file.read()
        check(good.count("\nsync 0 ") > 0 and good.endswith("end\n"), f"the index:\n{good}")
        damages = [("end\n", ""), (" 0x", " 0y"), ("sync", "sink"), (good, ""), ("stream ", "stream 1")]
        for damage in [good.replace(*change, 1) for change in damages]:
            with open(path, "w", encoding="ascii") as file:
                file.write(damage)
            equal(window(*windows[6]), whole[6], "with a damaged index")
            with open(path, encoding="ascii") as file:
                equal(file.read(), good, "the index, mended")


@case("a full disk is reported, and no file is left")
def full_disk():
    small = path_of("small")
    os.makedirs(small, exist_ok=True)
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True)
    if mount.returncode:
        skip("mount")
    try:
        failed_run("No space left", bundle=os.path.join("small", "live.ntrace"))
    finally:
        subprocess.run(["umount", small], check=True)


@case("a missing program, one for another machine, and one that is not executable")
def not_there():
    for program in path_of("none"), "/bin/sh", __file__:
        Run("run", "-o", path_of("live.ntrace"), "--", program, status=2)
    plain = path_of("not_executable")
    shutil.copyfile(os.path.join(FOLDER, "bare64"), plain)
    matches("not_executable: Permission denied", Run("run", "-o", path_of("live.ntrace"), "--", plain, status=2).err, "what is said")


limit_files()
main()
