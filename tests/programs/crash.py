#!/usr/bin/env python3
"""`ntrace run` of a program that a signal ends: the signal, the instruction, its line, the call stack; and the bundle before is kept.

The truth is in the source: each program crashes at a line and in functions that it names.

usage: crash.py NTRACE
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main, matches, need, scratch, write

LOAD = b"""static int fetch(int *p) {
    return *p; /* the fault */
}
int main(int argc, char **argv) {
    (void)argv;
    return fetch((int *)(long)(argc - 1));
}
"""
ABORT = b"""#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *sleeper(void *p) { sleep(60); return p; }
static void inner(int n) { if (n > 2) abort(); }
static void *worker(void *p) { inner(3); return p; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, sleeper, 0);
    usleep(1000);
    pthread_create(&b, 0, worker, 0);
    pthread_join(b, 0);
}
"""
NOWHERE = b"void (*volatile call)(void);\nint main(void) {\n    call();\n    return 0;\n}\n"
STATUS = b"int main(void) { return 139; }\n"
ALARM = b"#include <signal.h>\nint main(void) { raise(SIGALRM); return 0; }\n"


def crashed(name, source, status):
    """The messages of a run, without their prefix."""
    program = os.path.join(scratch(), name)
    if not os.path.exists(program):
        subprocess.run([need("riscv64-linux-gnu-gcc"), "-g", "-O0", "-static", "-o", program, write(f"{name}.c", source), "-lpthread"], check=True)
    run = Run("run", program, status=status, cwd=scratch())
    return [line.removeprefix("ntrace run: ") for line in run.err.splitlines()]


@case("a load from 0: SIGSEGV, the instruction and its line, the callers; the last line names the bundle and the next step")
def load():
    lines = crashed("load", LOAD, 139)
    matches(r"^SIGSEGV \(Segmentation fault\) at 0x[0-9a-f]+ <fetch\+0x[0-9a-f]+>, \S+load\.c:2(: (c\.)?lw\s+a5, 0x0\(a5\)|: lw\s+a5, 0\(a5\)|: 439c)$", lines[0], "story")
    matches(r"^  #0 fetch \S+load\.c:2$", lines[1], "frame 0")
    matches(r"^  #1 main \S+load\.c:6$", lines[2], "frame 1")
    matches(r"^load\.ntrace: \d+ instructions, .*; next: ntrace view --at end load\.ntrace$", lines[-1], "last line")


@case("abort() in a thread, while another one sleeps: the stack of the thread that called it")
def abort():
    lines = crashed("abort", ABORT, 134)
    matches(r"^SIGABRT \(Aborted\) in source 2 at 0x", lines[0], "story")
    stack = [line.split()[1] for line in lines[1:-1]]
    equal(stack[stack.index("abort"):][:3], ["abort", "inner", "worker"], "stack")
    check("sleeper" not in stack and "main" not in stack, stack)


@case("a jump to where no code is: the instruction that jumped")
def nowhere():
    lines = crashed("nowhere", NOWHERE, 139)
    matches(r"^SIGSEGV \(Segmentation fault\) after 0x[0-9a-f]+ <main\+0x[0-9a-f]+>, \S+nowhere\.c:3", lines[0], "story")
    matches(r"^  #0 main \S+nowhere\.c:3$", lines[1], "frame 0")


@case("an exit status of 139 is no signal; a signal that is no fault has no story")
def no_fault():
    lines = crashed("status", STATUS, 139)
    equal(len(lines), 1, lines)
    matches(r"; next: ntrace profile status\.ntrace$", lines[0], "last line")
    lines = crashed("alarm", ALARM, 142)
    equal(lines[0], "SIGALRM (Alarm clock)", "signal")
    equal(len(lines), 2, lines)


@case("the bundle before is kept as .old; -q says nothing")
def old():
    folder = os.path.join(scratch(), "status.ntrace")
    check(crashed("status", STATUS, 139)[-1], "a bundle")
    mark = os.path.join(folder, "mark")
    open(mark, "w").close()
    equal(crashed("status", STATUS, 139)[0], "status.ntrace: the earlier bundle of this name is now status.ntrace.old", "note")
    check(os.path.exists(f"{folder}.old/mark") and not os.path.exists(mark), "the first bundle is the old one")
    Run("stat", f"{folder}.old")
    equal(Run("run", "-q", os.path.join(scratch(), "status"), status=139, cwd=scratch()).err, "", "-q")
    check(not os.path.exists(f"{folder}.old/mark"), "the second bundle is the old one")
    os.rename(f"{folder}.old", f"{folder}.moved")
    os.mkdir(f"{folder}.old")
    matches(r"status\.ntrace\.old: exists and is not a bundle", Run("run", os.path.join(scratch(), "status"), status=2, cwd=scratch()).err, "a folder of somebody else")


main()
