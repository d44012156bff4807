#!/usr/bin/env python3
"""ntrace view in a terminal of tmux: what is on the screen after keys."""
import glob
import os
import re
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import bundle
from harness import NTRACE, Run, bytes_of, case, check, equal, main, matches, need, scratch, until, write
from view_terminal import Terminal


@case("search, step, next, finish, in both directions")
def walk():
    path = bundle("calls")
    pcs = [int(line, 16) for line in Run("decode", "--show", "pc", path).lines()]
    t = Terminal(path)
    try:
        t.keys("/", "leaf", "Enter")
        text = t.until(r"#0 +leaf:\d+\s*$")
        matches(r"calls\.c +leaf", text, "titles")
        matches(r">\s+\d+ +return x \* 3 \+ sink;", text, "the source line")
        matches(r"#1 +middle:\d+\n(.*\n)*.*#2 +main:\d+", text, "the call stack")
        leaf = t.place()
        matches(rf">{pcs[leaf]:x}  \S", text, "the disassembly")
        t.keys("i")
        equal(t.moved(leaf), leaf + 1, "i")
        t.keys("I")
        equal(t.moved(leaf + 1), leaf, "I")
        t.keys("f")
        t.until("#0 +middle")
        behind = t.place()
        check(behind > leaf and pcs[behind - 1] != pcs[leaf], "f is behind the call")
        t.keys("N")
        check(t.moved(behind) < leaf, "N goes back over the call")
        t.until("#0 +middle")
        t.keys("/", "leaf", "Enter")
        t.until("#0 +leaf")
        t.keys("F")
        t.until("#0 +middle")
        equal(pcs[t.place() + 1], pcs[leaf], "F is at the call")
        t.keys("s")
        t.until("#0 +leaf")
        t.keys("?", "main", "Enter")
        t.until(r"#0 +main")
        t.keys("/", "nothing", "Enter")
        t.until("no such function")
        t.keys("/", "calls.c:17", "Enter")
        t.until(r">\s+17 ")
        t.keys("g", "#1", "Enter")
        t.until("instruction 0 of")
    finally:
        t.close()


@case("C++: functions by the names that the source has, with and without parameters and classes")
def source_names():
    t = Terminal(bundle("callbacks-O0"), first="call stack")
    try:
        for name, shown in (("attempt", r"attempt\(Visitor&, int\*\)"), ("Visitor::compare", r"Visitor::compare\(int, int\)"),
                            ("compare", r"\w+::compare\(int, int\)"), ("~Noisy", r"Noisy::~Noisy\(\)"), ("twice(int)", r"twice\(int\)")):
            t.keys("Home", "/")
            t.tmux("send-keys", "-l", "--", name)
            t.keys("Enter")
            matches(rf"#0 +{shown}:\d+", t.until(rf" {shown}\s*$"), f"the call stack at {name}")
        t.keys("Home", "/", "ompare", "Enter")
        t.until("no such function")
    finally:
        t.close()


@case("per cent by keys and by the mouse, both ends, another size, quitting")
def places():
    t = Terminal(bundle("calls"))
    try:
        t.keys("5")
        t.until(r"^ (49|50)%")
        t.keys("End")
        t.until(r"100%  instruction (\d+) of \1 .*end")
        t.keys("s")
        t.until("the end of the trace")
        t.keys("Home")
        t.until("0%  instruction 0 of")
        t.keys("I")
        t.until("the beginning of the trace")
        t.click(41, 23)
        t.until(r"^ (49|50|51)%")
        t.resize(120, 40)
        until(lambda: len(rows_of(t)) == 40 and "q quit" in rows_of(t)[-1] and max(map(len, rows_of(t))) > 80, lambda: f"120x40, not\n{t.screen()}")
        t.resize(30, 5)
        t.until("too small")
        t.resize(80, 24)
        t.until("call stack")
        t.keys("q")
        t.until("status 0")
    finally:
        t.close()


@case("nonsense in searches, clicks everywhere, many sizes: it says so, and goes on")
def nonsense():
    t = Terminal(bundle("calls"))
    try:
        for text in ("%s%n$#@!", "0xzz", "99999999999999999999", ":", "calls.c:", "x" * 120, "*", "nothing.c:17", "0x"):
            t.keys("/")
            t.tmux("send-keys", "-l", "--", text)
            t.until(re.escape("/" + text[:40]))
            t.keys("Enter")
            t.until("no such function|expected a function")
            t.keys("z")  # no command: clears the message
            t.until("q quit")
        t.keys("g", "Enter")
        t.until("expected a function")
        t.keys("/", "BSpace", "BSpace", "Escape")
        t.until("q quit")
        for text, expected in (("#99999999", r"100%  instruction (\d+) of \1"), ("@0", "instruction 0 of"), ("200%", "100%  "), ("0%", " 0%  ")):
            t.keys("g", text, "Enter")
            t.until(expected)
        for column, row in ((1, 1), (80, 1), (90, 90), (40, 24), (1, 24), (1, 23), (80, 23)):
            t.click(column, row)
        t.until("100%  ")
        t.keys("g", "#5", "Enter")
        for number in range(12):
            t.resize(20 + 17 * (number * 5 % 12), 3 + 9 * (number * 7 % 12))
            t.keys("s", "N", "i", "I")
        t.resize(1, 1)
        t.resize(80, 24)
        t.until("call stack")
        t.keys("/")
        t.resize(60, 20)  # while it asks
        t.keys("leaf", "Enter")
        t.until("#0 +leaf")
        t.keys("q")
        t.until("status 0")
    finally:
        t.close()


@case("a terminal of 20x5, and one that is too small to show anything: keys work, and nothing is drawn outside")
def small():
    path = bundle("calls")
    pcs = [int(line, 16) for line in Run("decode", "--show", "pc", path).lines()]
    for columns, lines, first in ((20, 5, "^the window is too s"), (2, 2, "^th$"), (39, 24, "too small"), (40, 5, "too small"), (40, 6, "call stack")):
        t = Terminal(path, columns=columns, lines=lines, first=first)
        try:
            rows = t.screen().splitlines()
            if "too" in first:
                equal([row for row in rows[1:] if row.strip()], [], f"{columns}x{lines}: nothing else")
            t.keys("/", "leaf", "Enter")
            if first == "call stack":
                t.until("#0 +leaf")
            t.resize(80, 24)
            t.until("#0 +leaf:10")
            leaf = t.place()
            t.resize(columns, lines)
            t.keys("f")
            t.resize(80, 24)
            t.until("#0 +middle")
            check(leaf < t.place() < leaf + 20 and pcs[t.place() - 1] != pcs[leaf], "f, in a small terminal")
            t.keys("q")
            t.until("status 0")
        finally:
            t.close()


def rows_of(terminal):
    return terminal.screen().splitlines()


def size_of(terminal):
    """Rows and columns as the command would see them: tmux changes them later than its own picture."""
    end = os.open(terminal.tmux("list-panes", "-F", "#{pane_tty}").strip(), os.O_RDONLY | os.O_NOCTTY)
    try:
        return os.get_terminal_size(end)[::-1]
    finally:
        os.close(end)


@case("a terminal that was small for a moment is drawn again; a message stays when the size changes, and so does a line that is typed")
def resized():
    t = Terminal(bundle("calls"))
    try:
        whole = t.until("q quit")
        shell = t.tmux("list-panes", "-F", "#{pane_pid}").strip()
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as file:
            process = int(file.read().split()[0])
        os.kill(process, signal.SIGSTOP)
        for columns, lines in (20, 5), (80, 24):
            t.resize(columns, lines)
            until(lambda size=(lines, columns): size_of(t) == size, f"a terminal of {columns}x{lines}")
        check("call stack" not in t.screen(), "the terminal has lost what it showed")
        os.kill(process, signal.SIGCONT)
        until(lambda: t.screen() == whole, lambda: f"all of the screen again, which is\n{t.screen()}")
        t.keys("I")
        t.until("the beginning of the trace")
        t.resize(100, 30)
        until(lambda: len(rows_of(t)) == 30 and "the beginning of the trace" in rows_of(t)[-1] and "instruction 0 of" in rows_of(t)[-2],
              lambda: f"the message in the last of 30 rows, not\n{t.screen()}")
        t.keys("/", "le")
        t.until("^/le$")
        t.resize(80, 24)
        until(lambda: len(rows_of(t)) == 24 and rows_of(t)[-1] == "/le" and "instruction 0 of" in rows_of(t)[-2], lambda: f"the typed line, not\n{t.screen()}")
        t.keys("af", "Enter")
        t.until("#0 +leaf")
        t.keys("q")
        t.until("status 0")
    finally:
        t.close()


# A process that is slow between its look at the size and its wait for a key.
SLOW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
ssize_t read(int file, void *bytes, size_t size) {
    if (file == 0) nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    return ((ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read"))(file, bytes, size);
}
"""


def runs(session):
    """Whether ntrace is a process of this session."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8") as file:
                if re.search(rf"\(ntrace\) [^Z] \d+ \d+ {session} ", file.read()):
                    return True
        except OSError:
            pass  # it has ended
    return False


@case("another size just before the wait for a key is shown without one; the end of the terminal ends it")
def slow():
    compiler = need("gcc")
    library = os.path.join(scratch(), "slow.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, write("slow.c", SLOW.encode()), "-ldl"], check=True)
    t = Terminal(bundle("calls"), columns=20, lines=5, first="^the window is too s", preload=library)
    try:
        t.resize(80, 24)
        t.until("call stack")
        session = t.tmux("list-panes", "-F", "#{pane_pid}").strip()
        check(runs(session), "it runs")
    finally:
        t.close()
    until(lambda: not runs(session), "the end of the command, whose terminal is gone")


@case("gaps: where they are, what was lost; the size of the terminal changes while the trace is read")
def gaps():
    lost = "Error ETYPE=0 ECODE=0\n"
    loop = "ProgTraceSync SYNC={} ICNT=0 FADDR=0x800\n" + "DirectBranch ICNT=4\n" * 3
    stream = bytes_of(loop.format(3) + lost + loop.format(7) + lost + loop.format(7) + lost)
    code = write("gaps.bin", bytes.fromhex("3305c500" "e30ec5fe" "13000000"))
    fifo = os.path.join(scratch(), "gaps.nex")
    os.mkfifo(fifo)
    t = Terminal(fifo, "--raw", f"{code}@0x1000", "--xlen", "64", "--src-bits", "0", columns=100, lines=30, first="^$")
    try:
        t.resize(70, 20)
        with open(fifo, "wb") as file:
            file.write(stream)
        rows = t.until("instruction 0 of 18").splitlines()
        check(len(rows) == 20 and max(map(len, rows)) <= 70 and "instruction 0 of" in rows[-2], f"the size that the terminal has:\n{rows}")
        t.resize(100, 24)
        for key, place in (("l", 6), ("l", 12), ("l", 18), ("L", 12), ("L", 6)):
            t.keys(key)
            text = t.until(f"instruction {place} of 18")
            matches(rf"\n 2 bytes lost here \(message #{5 * place // 6}\): messages lost by FIFO overflow\n", text, f"{key} to {place}")
        for key, message in (("L", "no gap before this place"), ("End", "lost here"), ("l", "no gap after this place"), ("I", "q quit"),
                             ("i", "lost here")):
            t.keys(key)
            t.until(message)
        t.keys("q")
        t.until("status")
    finally:
        t.close()


@case("without symbols and source; names of 5,000 characters")
def names():
    t = Terminal(write("loop.nex", bytes_of("ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n")),
                 "--raw", write("loop.bin", bytes.fromhex("13000000" * 4)) + "@0x1000", "--xlen", "64", "--src-bits", "0")
    try:
        rows = t.until("no source").splitlines()
        matches(r">1000  nop", "\n".join(rows), "the code")
        matches("no line information here", rows[2], "the source")
        check("#0  ?" in t.screen(), f"the call stack:\n{t.screen()}")
        t.keys("f")
        t.until("the caller is not known")
        t.keys("i")
        t.until(r">1004  nop")
        t.keys("s")
        t.until("the end of the trace")
        t.keys("q")
        t.until("status 0")
    finally:
        t.close()
    compiler = need("riscv64-linux-gnu-gcc")
    name, path, trace = "n" * 5000, os.path.join(scratch(), "long"), os.path.join(scratch(), "long.ntrace")
    source = write("long.c", f"__attribute__((noinline)) void {name}(void) {{ __asm__(\"nop\"); }}\nint main(void) {{ {name}(); return 0; }}\n".encode())
    subprocess.run([compiler, "-g", "-O1", "-static", "-o", path, source], check=True)
    subprocess.run([NTRACE, "run", "-q", "-o", trace, "--", path], check=True, stdout=subprocess.DEVNULL)
    t = Terminal(trace)
    try:
        t.keys("/", "long.c:1", "Enter")
        rows = t.until("#0 +nnnnnn").splitlines()
        check(len(rows) == 24 and all(len(row) <= 80 for row in rows), f"lines of 80 columns:\n{rows}")
        matches("^#0  n{36}$", next(row for row in rows if "#0 " in row)[40:], "a name that is cut")
        check(rows[0][40:].strip() == "n" * 39, f"the title: {rows[0]}")
        t.keys("f")
        t.until("#0 +main")
        t.keys("q")
        t.until("status 0")
    finally:
        t.close()


@case("--at: the end, a function; a place that does not exist is refused")
def at():
    for where, first in (("end", r"instruction (\d+) of \1\b"), ("50%", r"instruction [1-9]\d* of")):
        t = Terminal(bundle("calls"), "--at", where, first=first)
        try:
            t.keys("q")
            t.until("status 0")
        finally:
            t.close()
    t = Terminal(bundle("calls"), "--at", "no_such_function", first="--at no_such_function: ")
    try:
        t.until("status 2")
    finally:
        t.close()


@case("without a terminal")
def none():
    matches("expected a terminal", Run("view", bundle("calls"), status=2).err, "message")


main()
