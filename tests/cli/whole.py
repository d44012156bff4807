#!/usr/bin/env python3
"""Output files are complete or absent, however the command ends. TAP on standard output."""
import os
import signal
import stat
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import NTRACE, Run, case, check, equal, main, matches, scratch, skip, until, write
from messages import MESSAGES

OLD = b"what was there before"


def folder(name):
    path = os.path.join(scratch(), name)
    os.makedirs(path)
    return path


def holds(path, expected):
    """The folder holds these files (name: content; None: any) and no other."""
    equal(sorted(os.listdir(path)), sorted(expected), "files")
    for name, content in expected.items():
        if content is not None:
            with open(os.path.join(path, name), "rb") as file:
                equal(file.read(), content, name)


def old(path, name):
    with open(os.path.join(path, name), "wb") as file:
        file.write(OLD)
    return os.path.join(path, name)


def interrupted(number, place, begun, stdin, *arguments):
    """Write half of the input, wait until `begun` reports a partial output, send the signal."""
    child = subprocess.Popen([NTRACE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # nohup ignores SIGHUP
    child.stdin.write(stdin)
    child.stdin.flush()
    until(lambda: begun(os.listdir(place)), lambda: f"half an output, not {os.listdir(place)},")
    child.send_signal(number)
    messages = child.communicate(timeout=60)[1]
    return child.returncode, messages


def temporary(names):
    return any(name.endswith(".tmp") for name in names)


@case("a command that fails keeps the old file")
def _():
    place = folder("fails")
    answer = old(place, "answer")
    bad = write("bad", (MESSAGES + "NoMessage\n").encode())
    Run("assemble", "-o", answer, bad, status=2)
    holds(place, {"answer": OLD})


@case("a command that a signal ends keeps the old file")
def _():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        place = folder(f"signal{number}")
        answer = old(place, "answer")
        status, _ = interrupted(number, place, temporary, MESSAGES.encode() * 100, "assemble", "-o", answer, "-")
        equal(status, -number, "ended by")
        holds(place, {"answer": OLD})


@case("several output files: all of them, or none")
def _():
    text = "".join(f"DirectBranch ICNT=3 SRC={i % 3}\n" for i in range(90000)).encode()
    trace = Run("assemble", "--src-bits", "2", "-", stdin=text).bytes
    place = folder("split")
    three = lambda names: sum(name.endswith(".tmp") for name in names) == 3
    status, messages = interrupted(signal.SIGTERM, place, three, trace, "split", "--src-bits", "2", "-o", os.path.join(place, "part"), "-")
    check(status in (-signal.SIGTERM, 1), f"status {status}: {messages}")
    if status == 1:  # the result so far, and a message says so
        check(b"so far" in messages, f"{messages}")
    check(not temporary(os.listdir(place)), f"left {os.listdir(place)}")


@case("inputs are not overwritten: traces, links to them, programs, files of bundles")
def _():
    place = folder("read")
    stream = Run("assemble", write("messages", MESSAGES.encode())).bytes
    names = {"trace": stream, "program": tiny.elf(), "capture.json": b'{"format":"ntrace-bundle","version":1,"stream":"trace","params":{"dialect":"ntrace-1.0"}}'}
    for name, content in names.items():
        with open(os.path.join(place, name), "wb") as file:
            file.write(content)
    trace, program = os.path.join(place, "trace"), os.path.join(place, "program")
    link = os.path.join(scratch(), "to-trace")
    os.symlink(trace, link)
    for arguments in (("dump", trace, "-o", trace), ("dump", trace, "-o", link), ("dump", link, "-o", trace),
                      ("merge", trace, trace, "-o", trace), ("convert", "--to", "pib4", trace, "-o", trace),
                      ("decode", trace, "-e", program, "-o", program), ("decode", place, "-e", program, "-o", trace),
                      ("flame", place, "-e", program, "-o", os.path.join(place, "capture.json"))):
        run = Run(*arguments, status=2)
        matches("is an input of this command", run.err, " ".join(arguments))
        holds(place, names)


@case("a symbolic link is kept, and its target is complete")
def _():
    place = folder("link")
    target, link = old(place, "target"), os.path.join(place, "link")
    os.symlink("target", link)
    bad = write("bad", (MESSAGES + "NoMessage\n").encode())
    Run("assemble", "-o", link, bad, status=2)
    holds(place, {"target": OLD, "link": OLD})
    good = write("good", MESSAGES.encode())
    Run("assemble", "-o", link, good)
    check(os.path.islink(link), "a link")
    holds(place, {"target": Run("assemble", good).bytes, "link": None})


@case("/dev/stdout is written in place")
def _():
    good = write("good", MESSAGES.encode())
    place = folder("stdout")
    with open(os.path.join(place, "answer"), "wb") as out:
        subprocess.run([NTRACE, "assemble", "-o", "/dev/stdout", good], stdout=out, check=True)
    holds(place, {"answer": Run("assemble", good).bytes})


@case("a database replaces the target of a link, and nothing that is not a file")
def _():
    trace, image = write("trace.nex", Run("assemble", write("tiny.htm", tiny.HTM.encode())).bytes), ["-e", write("tiny.elf", tiny.elf())]
    place = folder("database")
    target, link, pipe = old(place, "target"), os.path.join(place, "link"), os.path.join(place, "pipe")
    os.symlink("target", link)
    os.mkfifo(pipe)
    error = Run("export", "--to", "sqlite", trace, *image, "-o", pipe, status=None)
    if "no format '" in error.err:
        skip("build-sqlite")
    equal(error.status, 2, error.err)
    matches("pipe: expected the name of a regular file", error.err, "export")
    check(stat.S_ISFIFO(os.stat(pipe).st_mode), "a pipe")
    matches("requires -o FILE", Run("export", "--to", "sqlite", trace, *image, "-o", "-", status=2).err, "-o -")
    Run("export", "--to", "sqlite", trace, *image, "-o", link)
    check(os.path.islink(link), "a link")
    with open(target, "rb") as database:
        equal(database.read(6), b"SQLite", "the target")


@case("a full disk is reported")
def _():
    good, elf = write("good", tiny.HTM.encode()), write("tiny.elf", tiny.elf())
    trace = os.path.join(scratch(), "trace")
    Run("assemble", "-o", trace, good)
    for command in (["assemble", good], ["dump", trace], ["decode", "-e", elf, trace], ["profile", "-e", elf, trace], ["regs"],
                    ["stat", trace], ["report", "-e", elf, trace], ["check", "-e", elf, trace], ["--version"], ["help", "decode"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([NTRACE, *command], stdout=full, stderr=subprocess.PIPE, check=False)
        equal(done.returncode, 2, f"{command[0]}: status")
        check(b"space" in done.stderr, f"{command[0]}: {done.stderr}")


@case("a reader that closes the pipe is not an error")
def _():
    text = write("many", MESSAGES.encode() * 20000)
    child = subprocess.Popen([NTRACE, "assemble", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.read(1)
    child.stdout.close()
    equal((child.wait(timeout=60), child.stderr.read()), (0, b""), "status and messages")


main()
