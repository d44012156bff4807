#!/usr/bin/env python3
"""What a command finds around it: closed standard streams, few file descriptors, no further thread, full files.

Whatever is missing, the answer is the whole one, or the status is not 0 and a message says why. TAP on standard output.

usage: surroundings.py NTRACE
"""
import errno
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(sys.path[0], ".."))
import every
import lined
import tiny
from harness import NTRACE, Run, bytes_of, case, check, equal, main, matches, need, scratch, skip, until, write

NOBODY = 65534


def inputs():
    """Words of commands that use files in different ways; "%" is a file to write."""
    elf, trace = write("tiny.elf", tiny.elf()), write("trace", bytes_of(tiny.HTM))
    part = os.path.join(scratch(), "part")
    with_program = ["-e", elf, trace]
    Run("profile", "--partial", part, *with_program)
    capture = {"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {}, "images": [{"kind": "elf", "file": "tiny.elf"}]}
    for name, content in (("capture.json", json.dumps(capture).encode()), ("trace.nex", bytes_of(tiny.HTM)), ("tiny.elf", tiny.elf())):
        os.makedirs(os.path.join(scratch(), "b.ntrace"), exist_ok=True)
        write(f"b.ntrace/{name}", content)
    bundle = os.path.join(scratch(), "b.ntrace")
    return [["dump", trace], ["dump", "-o", "%", trace], ["decode", *with_program], ["decode", "--format", "jsonl", *with_program], ["profile", *with_program],
            ["profile", "--partial", "%", *with_program], ["combine", part, "profile"], ["flame", "-o", "%", *with_program], ["profile", bundle],
            ["diff", "-e", elf, trace, trace], ["export", "--to", "bolt", "-o", "%", *with_program],
            ["merge", "-o", "%", trace, trace], ["help", "decode"]]


def ended(words, close=(), limit=None, stderr=subprocess.PIPE, command=NTRACE, **more):
    """Status, output, messages and the file that was written (None: none)."""
    folder = os.path.join(scratch(), "out")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)

    def before():
        if limit:
            limit()
        for fd in close:
            os.close(fd)
    done = subprocess.run([command, *(os.path.join(folder, "answer") if word == "%" else word for word in words)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=stderr, preexec_fn=before, timeout=120, check=False, **more)
    left = os.listdir(folder)
    check(set(left) <= {"answer"}, f"{words}: left {left}")
    content = None
    if left:
        with open(os.path.join(folder, "answer"), "rb") as file:
            content = file.read()
    return done.returncode, done.stdout, (done.stderr or b"").decode(errors="replace"), content


def digests():
    found = {}
    for folder, _, names in os.walk(scratch()):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.join(folder, name)] = hashlib.sha256(file.read()).digest()
    return {path: digest for path, digest in found.items() if os.sep + "out" + os.sep not in path}


@case("standard streams that are closed: no file takes their place, and an answer that goes nowhere has status 2")
def closed():
    commands = inputs()
    before = digests()
    for words in commands:
        sound = ended(words)
        for close in ((0,), (1,), (2,), (1, 2), (0, 1, 2)):
            status, _, messages, content = ended(words, close=close)
            what = f"{' '.join(words)}, without {close}: status {status} {messages}"
            if 1 in close and sound[1]:
                check(status == 2, what)
            else:
                check(status == sound[0] and content == sound[3], what)
    equal(digests(), before, "files beside the answers")


def compared(words, sound, limit, what):
    status, out, messages, content = ended(words, limit=limit)
    what = f"{what}: {' '.join(words)}: status {status}: {messages}"
    if status == 127 and "shared libraries" in messages:
        return  # the command did not begin
    check(status in (0, 1, 2), what)
    if status == sound[0]:
        check((out, content) == (sound[1], sound[3]), f"{what}: another answer: {out[:200]}")
    else:
        check(messages.strip(), what)


@case("few descriptors: the whole answer, or a reason and a status that is not 0")
def descriptors():
    for words in inputs():
        sound = ended(words)
        for number in (4, 5, 6, 8):
            compared(words, sound, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number)), f"{number} descriptors")


@case("files of at most 0, 10 and 300 bytes: the whole answer, or a reason and status 2, and no file")
def file_size():
    for words in inputs():
        sound = ended(words)
        for size in (0, 10, 300):
            compared(words, sound, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)), f"{size} bytes")


def every_command():
    """Arguments of every command and format."""
    for (command, option), words in every.ROWS.items():
        yield [command, f"--{option}", "%", *every.filled(words)]
    for command in every.FORMATS:
        for name in every.formats(command):
            yield [command, "--to", name, "-o", "%", *every.filled(every.TRACED)]
    for command, options, values in (("decode", "--show", ("pc", "insn", "branch", "call", "count", "event", "data")),
                                     ("profile", "--by", ("line", "instruction", "data", "process", "thread", "interrupt"))):
        for value in values:
            yield [command, options, value, *every.filled(every.TRACED)]


def survives(limit, what):
    """No signal ends a command, and one that fails says why."""
    wrong = []
    for words in every_command():
        place = os.path.join(scratch(), "limited")
        shutil.rmtree(place, ignore_errors=True)
        os.mkdir(place)
        done = subprocess.run([NTRACE, *(word.replace("%", "answer") for word in words)], stdin=subprocess.DEVNULL, capture_output=True, cwd=place,
                              preexec_fn=limit, timeout=120, check=False)
        messages = done.stderr.decode(errors="replace")
        if done.returncode == 127 and "shared libraries" in messages:
            continue  # the command did not begin
        if done.returncode not in (0, 1, 2) or (done.returncode == 2 and not messages.strip()):
            wrong.append(f"{' '.join(words)}: {done.returncode} {messages[-200:]}")
    check(not wrong, f"{what}: " + "\n".join(wrong))


@case("a stack of 256 KiB is enough; with less there is an answer or a reason", 256)
def small_stack(kib):
    """One command each day; all of them below."""
    words = ["profile", *every.filled(every.TRACED)]
    done = subprocess.run([NTRACE, *words], capture_output=True, timeout=120, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (kib << 10, kib << 10)))
    equal(done.returncode, 0, f"{kib} KiB: {done.stderr}")
    done = subprocess.run([NTRACE, *words], capture_output=True, timeout=120, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (96 << 10, 96 << 10)))
    check(done.returncode == 0 or (done.returncode == 2 and b"the stack is too small" in done.stderr) or done.returncode == 127, f"96 KiB: {done.returncode} {done.stderr}")


for size in (512, 256, 192, 128):
    @case(f"every command with a stack of {size} KiB: an answer or a reason, no signal", size, long=True)
    def all_stacks(kib):
        survives(lambda: resource.setrlimit(resource.RLIMIT_STACK, (kib << 10, kib << 10)), f"a stack of {kib} KiB")


for size in (60, 100, 150, 200, 300, 400):
    @case(f"every command with {size} MiB of memory: an answer or a reason, no signal", size, long=True)
    def all_memory(mib):
        survives(lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20)), f"{mib} MiB")


@case("no further thread: the decisions are not known, which is said; no signal")
def no_thread():
    need(lined.COMPILER)
    path, trace = lined.program()
    words = ["coverage", "--to", "decisions", "-e", path, trace]
    sound = ended(words)
    if sound[0] != 0:
        skip("build-feature" if "libclang" in sound[2] else "build-dwarf")

    def limit():
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        if os.getuid() == 0:  # which has no such limit
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    command = NTRACE
    if os.getuid() == 0:  # the build folder can be one that nobody else may enter
        os.chmod(scratch(), 0o755)
        command = shutil.copy(NTRACE, scratch())
    status, _, messages, _ = ended(words, limit=limit, command=command)
    equal(status, 1, f"status: {messages}")
    matches(f"cannot start a thread: {os.strerror(errno.EAGAIN)}", messages, "reason")


@case("commands that wait for a FIFO end within a second of SIGTERM, SIGINT and SIGHUP, and leave nothing")
def fifo():
    elf, trace = write("tiny.elf", tiny.elf()), write("trace", bytes_of(tiny.HTM))
    pipe = os.path.join(scratch(), "pipe")
    os.mkfifo(pipe)
    for words in (["dump", pipe], ["profile", "-e", elf, pipe], ["encode", "-e", elf, "--pc", pipe, "-o", "%"], ["convert", "--to", "pib4", "-o", "%", pipe],
                  ["dump", "-o", pipe, trace], ["combine", pipe, "profile"], ["assemble", pipe]):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            folder = os.path.join(scratch(), "wait")
            os.makedirs(folder, exist_ok=True)
            child = subprocess.Popen([NTRACE, *(os.path.join(folder, "answer") if word == "%" else word for word in words)], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until(lambda: waits(child.pid), "the command waits")
            child.send_signal(number)
            began = time.monotonic()
            child.wait(60)
            check(time.monotonic() - began < 5, f"{words}: took {time.monotonic() - began:.1f} s")  # a busy machine
            check(child.returncode, f"{words}: status 0")
            equal(os.listdir(folder), [], f"{words}: files")


def waits(process):
    """Whether it sleeps in the opening of a FIFO."""
    with open(f"/proc/{process}/wchan", encoding="ascii") as file:
        where = file.read()
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        return "wait_for_partner" in where or (where in ("0", "") and file.read().rpartition(")")[2].split()[0] == "S")


main()
