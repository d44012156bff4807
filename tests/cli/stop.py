#!/usr/bin/env python3
"""Progress on a terminal, and a clean stop by a signal, for every analysis. TAP on standard output."""
import fcntl
import json
import os
import pty
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import DEADLINE, NTRACE, Run, bytes_of, case, catches, check, equal, has_taken, main, processor_seconds, scratch, until, write

TURNS = 20000


def stream():
    """A loop of two instructions in branch trace: one message for each iteration."""
    code = write("code", b"\x01\x00\x7d\xfd") + "@0x1000"  # c.nop; c.bnez a0, -2
    steps = write("pc", b"0x1000\n0x1002\n" * TURNS)
    return code, Run("encode", "--mode", "btm", "--pc", steps, "--raw", code).bytes


def shown_until(terminal, text, seconds):
    """The terminal's content up to `text`."""
    shown, end = b"", time.monotonic() + seconds
    while text not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # closed by the command
                break
    return shown.decode()


def stopped(command, *options, by=signal.SIGINT):
    """Feed half of a trace slowly, stop the command while it waits for more. Returns its output and its messages."""
    code, data = stream()
    half, rest = data[:len(data) // 2], data[len(data) // 2:]
    terminal, end = pty.openpty()
    done = subprocess.Popen([NTRACE, command, "-", "--raw", code, *options], cwd=scratch(), stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=end)
    os.close(end)
    shown = ""
    done.stdin.write(half)
    for place in range(1500):  # until progress is shown, which takes a second
        done.stdin.write(rest[place:place + 1])
        done.stdin.flush()
        shown += shown_until(terminal, b"MB\r", 0.02)
        if " MB\r" in shown:
            break
    check(" MB\r" in shown, f"progress, found {shown!r}")
    limit = threading.Timer(DEADLINE, done.kill)
    limit.start()
    done.send_signal(by)
    shown += shown_until(terminal, b"seen so far", DEADLINE)
    output = done.stdout.read()
    limit.cancel()
    equal(done.wait(timeout=DEADLINE), 1, "exit status")
    done.stdin.close()
    check("-: interrupted: the output covers only the part decoded so far" in shown, f"the word, found {shown!r}")
    os.close(terminal)
    return output


def half_of_it(instructions):
    check(TURNS * 0.9 < instructions < TURNS * 1.1, f"half of {2 * TURNS} instructions, found {instructions}")


@case("profile stops with the result so far")
def profile():
    rows = stopped("profile", "--by", "hart", "--format", "jsonl").splitlines()
    half_of_it(sum(json.loads(row)["self"] for row in rows))


@case("coverage stops, and leaves out the remaining traces")
def coverage():
    output = stopped("coverage", "--to", "json", "missing.nex")
    check("files" in json.loads(output), "a whole document")


@case("flame stops with the result so far")
def flame():
    half_of_it(sum(int(line.split()[-1]) for line in stopped("flame", "--to", "folded").splitlines()))


@case("timeline stops with the result so far")
def timeline():
    check("handlers" in json.loads(stopped("timeline", "--to", "json")), "a whole document")


@case("export stops with the result so far, also to a file, also by SIGTERM")
def export():
    stopped("export", "--to", "calltree", "-o", "tree.jsonl", by=signal.SIGTERM)
    with open(os.path.join(scratch(), "tree.jsonl"), encoding="utf-8") as lines:
        half_of_it(sum(json.loads(line)["self"] for line in lines))
    check(not [name for name in os.listdir(scratch()) if "part" in name or "tmp" in name], "no temporary file")


def program():
    """A function that calls itself, 2^21 times in each message: no loop that could be multiplied, since the stack grows."""
    code = write("code", b"\xef\x00\x00\x00") + "@0x1000"  # jal ra, 0
    start = "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\n"
    return code, write("long.nex", bytes_of(start + "ResourceFull RCODE=0 RDATA0=0x3ffffe\n" * 4000))


@case("a signal stops several threads in the middle of a message")
def inside():
    code, trace = program()
    for command in (["timeline", "--to", "json"], ["flame", "--to", "folded"]):
        done = subprocess.Popen([NTRACE, *command, "-j", "2", trace, "--raw", code], cwd=scratch(), stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)
        until(lambda: done.poll() is not None or catches(done.pid, signal.SIGTERM), "a handler")
        begin = processor_seconds(done.pid)
        until(lambda: done.poll() is not None or processor_seconds(done.pid) > begin + 0.1, "0.1 s of processor time")
        equal(done.poll(), None, f"{command}: it works long; exit status")
        done.send_signal(signal.SIGTERM)
        try:
            equal(done.wait(timeout=DEADLINE), 1, f"{command}: exit status")
        finally:
            done.kill()
        check(b"interrupted" in done.stderr.read(), f"{command}: the word")


def answer(command, by):
    """Stops a command that works inside of one message. Returns its processor time since then, and what it reports."""
    done = subprocess.Popen(command, cwd=scratch(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    limit = threading.Timer(DEADLINE, done.kill)
    limit.start()
    until(lambda: done.poll() is not None or catches(done.pid, by), "a handler")
    equal(done.poll(), None, f"{command}: it works long; exit status")
    begin = processor_seconds(done.pid)
    until(lambda: done.poll() is not None or processor_seconds(done.pid) > begin + 0.1, "0.1 s of processor time")
    equal(done.poll(), None, f"{command}: it works long; exit status")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = processor_seconds(done.pid)
    done.send_signal(by)
    report = done.stderr.read().decode()
    check(done.wait(timeout=DEADLINE) in (1, 2), f"{command}: exit status {done.returncode}; {report}")
    limit.cancel()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime - begin, report


@case("a signal is answered inside of one message that stands for 134 million calls, by one thread and by two")
def long_messages():
    trace = os.path.join(scratch(), "long.ntrace")
    os.mkdir(trace)
    text = "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\n" + "ProgTraceSync SYNC=2 ICNT=0xffffffe FADDR=0x800\n" * 400
    images = [{"kind": "raw", "file": "code", "bias": "0x1000", "isa": "rv64"}]
    capture = {"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {"implicit_return": "full"}, "images": images}
    for name, content in (("code", b"\xef\x00\x00\x00"), ("trace.nex", bytes_of(text)), ("capture.json", json.dumps(capture).encode())):
        with open(os.path.join(trace, name), "wb") as out:
            out.write(content)
    for command in (["profile", "--by", "instruction"], ["flame", "-o", "flame.svg"]):
        for jobs in ("1", "2"):
            seconds, report = answer([NTRACE, *command, "-j", jobs, trace], signal.SIGINT)
            check("interrupted" in report, f"{command}: {report}")
            check(seconds < 0.5, f"{command} -j {jobs}: {seconds:.2f} s of processor time after the signal")


def waiting_bytes(pipe):
    """The bytes in a pipe that were not read."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


@case("a second signal ends a command that cannot end", {"1": [signal.SIGINT], "2": [signal.SIGTERM]})
@case("a second signal ends a command that cannot end: both signals, with one thread and with two",
      {"1": [signal.SIGINT, signal.SIGTERM], "2": [signal.SIGINT, signal.SIGTERM]}, long=True)
def second(signals):
    code, trace = program()
    for jobs, chosen in signals.items():
        for by in chosen:
            done = subprocess.Popen([NTRACE, "export", "--to", "jsonl", "-j", jobs, trace, "--raw", code], cwd=scratch(),
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            until(lambda: done.poll() is not None or waiting_bytes(done.stdout) >= 65536, "a full pipe: it waits for a reader of its output")
            done.send_signal(by)
            until(lambda: done.poll() is not None or has_taken(done.pid, by), "the first signal to be taken")
            equal(done.poll(), None, f"-j {jobs}, {by.name}: it still waits; exit status")
            done.send_signal(by)
            try:
                equal(done.wait(timeout=DEADLINE), -by, f"-j {jobs}, {by.name}: exit status")
            finally:
                done.kill()


main()
