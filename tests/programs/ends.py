#!/usr/bin/env python3
"""`ntrace run` that ends early or badly: Ctrl-C, a reader that is slow or killed, limits, full disks; compressed streams and the index.

QEMU writes its execution log in the very run that is traced, so that what was decoded can be compared with it (traced.py).

usage: ends.py NTRACE FOLDER      FOLDER holds the programs that tests/programs/build made
"""
import glob
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import DEADLINE, Run, case, check, equal, has_taken, main, matches, skip, until
import user_qemu
from traced import FOLDER, PLAIN, command, decoded, limit_files, logged_run, path_of, same


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
        found = Run("decode", left, "--show", "count", status=None)
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
    found = Run("decode", left, "--show", "count", status=None)
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
    for left in glob.glob(path_of("live.ntrace.*")):  # of a command that was killed: stream_size() is that of the new one
        shutil.rmtree(left)
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
                time.sleep(0.25)
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
    counts = dict(line.split() for line in Run("decode", path_of("live.ntrace"), "--show", "count").lines())
    check(int(counts["instructions"]) > 1000, "the trace is short")
    equal(interrupted([], signal.SIGTERM)[0], 128 + signal.SIGTERM, "exit status, SIGTERM kills")
    equal(interrupted(["on"])[0], 42, "exit status, SIGINT is caught")
    matches("on_signal", Run("profile", path_of("live.ntrace"), "--format", "csv").out, "the handler")


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
    for name in "live.ntrace", "live.ntrace.old":
        shutil.rmtree(path_of(name), ignore_errors=True)
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
    found = Run("decode", path_of("live.ntrace"), "--show", "count", status=None)
    check(int(found.lines()[0].split()[1]) > 100000, f"{found.out}{found.err}")
    matches("the end of the trace is missing", found.err, "what `decode` says")


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
        lines = Run("decode", "-", *small, "-e", elf, "--show", "pc", stdin=stream.read()).lines()
    same([int(line, 16) for line in lines], log.harts[0], "the raw stream")


def window(*options):  # a small one can be empty, with status 1
    return Run("decode", path_of("live.ntrace"), "--show", "event", *options, status=None).out


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
        last = Run("decode", path_of("live.ntrace"), "--format", "jsonl", "--show", "event").rows()[-1]
        check(not os.path.exists(path), "an index that was not needed")
        places = [("", last["message"]), ("@", last["offset"]), ("t:", last["time"])]
        windows = [("--from", f"{unit}{size * part // 8}", "--until", f"{unit}{size * part // 8 + 100}")
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


limit_files()
main()
