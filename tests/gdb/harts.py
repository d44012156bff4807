#!/usr/bin/env python3
"""Several harts: the order of their instructions, with and without time, and which of them a debugger moves. Two harts run the same
loop; the stream has all messages of the first one before those of the second one, and their times alternate."""
import os
import re
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import Session, bundle, debuggers, program, run_gdb, server
from harness import Run, bytes_of, case, check, equal, main, matches, scratch, write

ROUNDS, BRANCH = 6, 0x1004  # 0x1000: add; beq to 0x1000


def messages(src, start, gap_behind=None, rounds=ROUNDS):
    lines = [f"ProgTraceSync SRC={src} SYNC=3 ICNT=0 FADDR=0x800 TSTAMP={start}"]
    for number in range(rounds):
        if number == gap_behind:
            lines += [f"Error SRC={src} ETYPE=0 ECODE=0 TSTAMP={start + 10 * number + 5}",
                      f"ProgTraceSync SRC={src} SYNC=7 ICNT=0 FADDR=0x800 TSTAMP={start + 10 * number + 5}"]
        lines.append(f"DirectBranch SRC={src} ICNT=4 TSTAMP={10 - 5 * (number == gap_behind)}")
    return lines


def stream(name, lines, timed=True):
    text = "\n".join(lines if timed else [re.sub(" TSTAMP=.*", "", line) for line in lines]) + "\n"
    options = ["--src-bits", "2", *(["--timestamps"] if timed else [])]
    loop = write("loop.bin", bytes.fromhex("3305c500" "e30ec5fe" "13000000"))
    return write(name, bytes_of(text, *options)), ["--raw", f"{loop}@0x1000", "--xlen", "64", *options]


def both(name="timed.nex", timed=True, gap_behind=None):
    return stream(name, messages(0, 100, gap_behind) + messages(1, 105), timed)


def place(session, thread):
    """Instructions executed by the thread, and the time of its next one."""
    equal(session.ask(f"Hg{thread}"), "OK", "Hg")
    text = session.monitor("when")
    return int(re.search(r"instruction (\d+)", text).group(1)), int((re.search(r"t:(\d+)", text) or [0, 0])[1])


def walk(path, options, expected):
    """Goes through all hits of a breakpoint, in both directions; compares threads."""
    s = Session(path, *options)
    s.ask(f"Z0,{BRANCH:x},4")
    found = []
    while "replaylog" not in (stop := s.ask("vCont;c")):
        found.append(int(re.search("thread:(.*?);", stop).group(1)))
        equal(s.pc(stop), BRANCH, "a hit")
        check(len(found) <= len(expected), f"forward: more hits than {expected}: {found}")
        s.ask(f"Hg{3 - found[-1]}")  # a debugger looks at the other thread: its breakpoint is not passed
    equal(found, expected, "forward")
    back = []
    while "replaylog" not in (stop := s.ask("bc")):
        back.append(int(re.search("thread:(.*?);", stop).group(1)))
    equal(back, expected[::-1], "backward")
    equal(s.close(), 0, "status")


@case("the order is that of time")
def timed():
    walk(*both(), [1, 2] * ROUNDS)
    path, options = both()
    s = Session(path, *options)
    for number in range(4 * ROUNDS - 2):  # as long as both execute
        s.monitor(f"goto {number * 100 // (4 * ROUNDS) + 1}%")
        current = int(s.ask("qC")[2:])
        check(place(s, current)[1] <= place(s, 3 - current)[1], f"the next instruction is the earliest, at {number}")
    for time, thread, instruction in ((100, 1, 0), (111, 2, 0), (115, 2, 0), (116, 1, 2), (141, 2, 6), (999, 2, 2 * ROUNDS)):
        s.monitor(f"goto t:{time}")
        equal((s.ask("qC"), place(s, thread)[0]), (f"QC{thread}", instruction), f"t:{time}")
    s.monitor("goto #9")  # the first round of the second hart, which is the eighth message
    equal((s.ask("qC"), place(s, 2)[0], place(s, 1)[0]), ("QC2", 0, 2), "goto #MESSAGE")
    equal(s.close(), 0, "status")


@case("without time, and with clocks of their own, the order is that of the stream")
def untimed():
    walk(*both("untimed.nex", timed=False), [1] * ROUNDS + [2] * ROUNDS)
    path = bundle("threads", "--timestamps", "--no-compress")
    s = Session(path)
    s.monitor("goto end")
    s.ask("vCont;c")
    matches("thread:[12];.*replaylog:end", s.ask("?"), "the end")
    equal(s.close(), 0, "status")


def times(path, options):
    """At some places: the time of the next instruction of the hart that executes, and that of the other one."""
    s = Session(path, *options)
    found = []
    for part in range(0, 100, 9):
        s.monitor(f"goto {part}%")
        current = int(s.ask("qC")[2:])
        found.append((place(s, current)[1], place(s, 3 - current)[1]))
    equal(s.close(), 0, "status")
    return found


@case("harts that are far apart in the stream: 'ntrace split' and 'ntrace merge' put it into the order of time")
def far():
    rounds = 60000
    path, options = stream("far.nex", messages(0, 100, rounds=rounds) + messages(1, 105, rounds=rounds))
    check(os.path.getsize(path) > 300000, "more than one window")
    check(any(time > other for time, other in times(path, options)), "far.nex is in the order of time")
    parts, merged = os.path.join(scratch(), "far"), os.path.join(scratch(), "merged.nex")
    Run("split", "--src-bits", "2", "--timestamps", "-o", parts, path)
    Run("merge", "--src-bits", "2", "--timestamps", "-o", merged, f"{parts}-src0.nex", f"{parts}-src1.nex")
    found = times(merged, options)
    for part, (time, other) in enumerate(found):
        check(0 <= other - time <= 10 and abs(time - rounds * 10 * part * 9 // 100) < 200, f"at {9 * part}%: {found}")


@case("a gap stays before the same instruction of its hart")
def gaps():
    path, options = both("gap.nex", gap_behind=3)
    s = Session(path, *options)
    stop = s.ask("vCont;c")
    equal((re.search("thread:(.*?);", stop).group(1), place(s, 1)), ("1", (6, 140)), "the stop at the gap")
    equal(place(s, 2), (6, 145), "the other hart")
    matches("lost", s.console, "the sentence")
    s.monitor("goto end")
    matches("lost", s.monitor("prev-gap"), "prev-gap")
    equal(place(s, 1), (6, 140), "backward")
    equal(s.close(), 0, "status")


@case("a gap behind the last instruction: next-gap goes there, to no other")
def last_gap():
    path, options = stream("end.nex", [*messages(0, 100, gap_behind=3), "Error SRC=0 ETYPE=0 ECODE=0 TSTAMP=5"])
    s = Session(path, *options)
    matches("lost(.*\n)+.*instruction 6 ", s.monitor("next-gap"), "the gap in the middle")
    for _ in range(2):
        matches(f"lost(.*\n)+.*instruction {2 * ROUNDS} ", s.monitor("next-gap"), "the gap at the end")
        equal(s.monitor("next-gap"), "no gap after this place\n", "at the end")
        matches("lost(.*\n)+.*instruction 6 ", s.monitor("prev-gap"), "back to the one in the middle")
    equal(s.close(), 0, "status")


def steps(gdb, target, path, lines):
    out = run_gdb(gdb, path, target, lines, ["set osabi none", "set print thread-events off"])
    return re.split(r"(?m)^> .*\n?", "\n".join(out))[1:]


def hits(texts):
    return [int(found.group(1)) if (found := re.search(r"Thread (\d) hit", text)) else None for text in texts]


@case("set scheduler-locking: off, on, step, replay")
def locking():
    path, options = both()
    for gdb in debuggers():
        done = steps(gdb, server(path, *options), "", ["break *0x1004", *["continue"] * 3, "set scheduler-locking on", "continue", "continue",
                     "monitor when", "thread 2", "stepi", "monitor when", "continue", "reverse-continue", "reverse-stepi", "monitor when",
                     "thread 1", "reverse-continue", "monitor when", "set scheduler-locking step", "continue", "thread 1", "stepi", "stepi",
                     "set scheduler-locking replay", "continue", "continue"])
        equal(hits(done[1:4]), [1, 2, 1], "off: whichever is first")
        equal(hits(done[5:7]), [1, 1], "on: the hits of the other hart do not count")
        matches("hart 0: instruction 7 of", done[7], "on")
        matches("0x0*1004 in", done[9], f"{gdb}: on: stepi of the other hart")
        matches("hart 1: instruction 7 of", done[10], "its place moved along")
        equal(hits(done[11:13]), [2, 2], "on: continue and reverse-continue")
        matches("hart 1: instruction 6 of", done[14], "on: reverse-stepi")
        equal(hits(done[16:17]), [1], "on: reverse-continue of the other hart")
        matches("hart 0: instruction 7 of", done[17], "on: its place")
        equal(hits(done[19:20]), [2], "step: continue is for all")
        check("Thread 2" not in done[21] + done[22], f"step: a step is for one hart: {done[21]}{done[22]}")
        equal(hits(done[24:26]) in ([1, 2], [2, 1]), True, f"replay: {done[24:26]}")


@case("an Hc packet holds until the next one")
def selected():
    path, options = both()
    s = Session(path, *options)
    s.ask(f"Z0,{BRANCH:x},4")
    s.monitor("goto end")
    s.ask("Hc1")
    for _ in range(3):  # a debugger does not repeat Hc1
        matches("thread:1;", s.ask("bc"), "bc of one hart")
    s.ask("Hc0")
    matches("thread:2;", s.ask("bc"), "bc of all harts")
    s.ask("Hc1")
    matches("thread:1;", s.ask("c"), "c of one hart")
    matches("thread:1;", s.ask("c"), "c of one hart")
    s.ask("Hc2")
    matches("thread:2;", s.ask("s"), "s of one hart")
    equal(s.close(), 0, "status")


@case("bt in each instruction of a prologue with loads between the stores")
def prologue():
    for gdb in debuggers():
        done = steps(gdb, server(bundle("threads")), program("threads"), ["tbreak *pthread_create", "continue", *["bt", "stepi"] * 24])
        for number, text in enumerate(done[2::2]):
            matches(r"#0 .* in pthread_create .*\n#1 .* in main ", text.replace("#0  pthread_create", "#0  0x0 in pthread_create"),
                    f"{gdb}, instruction {number}")


@case("thread apply all bt")
def backtraces():
    for gdb in debuggers():
        done = steps(gdb, server(bundle("threads")), program("threads"), ["tbreak work", "continue", "thread apply all bt", "tbreak run",
                                                                          "continue", "bt", "thread 1", "info threads"])
        matches(r"Thread 2 .*\n#0 .* in clone ", done[2], f"{gdb}: the thread has not begun")
        matches(r"Thread 1 .*\n#0 +work .*\n#1 .* in main ", done[2], f"{gdb}: the main thread")
        matches(r"#0 +run .*\n#1 .* in start_thread ", done[5], f"{gdb}: the thread")
        matches(r"\n\* 1 .*hart 0", "\n" + done[7], "info threads")


main()
