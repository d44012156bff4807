#!/usr/bin/env python3
"""LLDB walks through a trace: what it shows is what GDB shows of the same trace (transcripts.py compares that with QEMU), and what a trace
does not have is unavailable."""
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import bundle, debuggers, program, run_gdb, server
from harness import NTRACE, case, check, equal, main, matches, scratch, skip, write

UNPACKED = os.environ.get("NTRACE_TEST_LLDB") == "unpacked-14"  # of Debian 12, by tests/consumers/unpacked.py
LLDB = next(filter(None, map(shutil.which, os.environ.get("NTRACE_TEST_LLDB", "lldb-19 lldb-14 lldb").split())), None)
KNOWN = ("zero", "ra", "sp", "pc", "fp", "s0", "t0")  # registers that a trace can determine


def command():
    if UNPACKED:
        sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "consumers"))
        import unpacked
        return unpacked.whole("lldb-14", "lib", "llvm-14", "bin", "lldb")
    return [LLDB or skip("lldb")]


def lldb(name, *commands):
    """What LLDB prints for each command: a list of lists of lines."""
    program_of_lldb = command()
    served = subprocess.Popen([NTRACE, "gdb", "--listen", "0", bundle(name)], stderr=subprocess.PIPE, text=True)
    try:
        place = re.search(r"gdb-remote (\S+)", served.stderr.readline())[1]
        lines = ["settings set target.use-fast-stepping false", "settings set stop-disassembly-display never", "settings set use-color false",
                 f"target create {program(name)}", f"gdb-remote {place}", *commands]
        done = subprocess.run([*program_of_lldb, "--no-lldbinit", "-b", "-s", write("commands.lldb", "".join(f"{line}\n" for line in lines).encode())],
                              capture_output=True, text=True, timeout=120, cwd=scratch())
        parts = re.split(r"(?m)^\(lldb\) .*\n", done.stdout)[2:]
        equal(len(parts), len(lines), f"commands that LLDB executed: {done.stdout}{done.stderr}")
        return [part.splitlines() for part in parts[-len(commands):]]
    finally:
        served.kill()
        served.communicate()


def lldb_frames(lines):
    """[(function, line)] of frames; the line is None where there is no debug information."""
    found = []
    for line in lines:
        frame = re.match(r"[ *]*frame #\d+: 0x\w+ \S*?`:*([\w:~]+)(?:\([^)]*\))?(?: at \S+?:(\d+))?", line)
        if frame:
            found.append((frame[1], int(frame[2]) if frame[2] else None))
    return found


def gdb_frames(name, *commands):
    gdb = debuggers()[0]
    lines = run_gdb(gdb, program(name), server(bundle(name)), [*commands, "bt"], ["set osabi none", "set trust-readonly-sections on"])
    found = []
    for line in lines[lines.index("> bt"):]:
        frame = re.match(r"#\d+ +(?:0x\w+ in )?([\w:~]+)(?: \(.*?\))?(?: at \S+?:(\d+))?", line)
        if frame:
            found.append((frame[1], int(frame[2]) if frame[2] else None))
    return found


def program_frames(frames):
    """From the innermost one to main. Functions without a name are None; at the innermost one, a debugger chooses between the lines of
    a prologue."""
    names = [None if re.match("0x|___lldb", name) else name for name, _ in frames]
    lines = [None, *(line for _, line in frames[1:])]
    return list(zip(names, lines))[:names.index("main") + 1 if "main" in names else None]


PLACES = {"calls-O0": ("leaf", 2), "recursion": ("sum", 5), "recursion-O0": ("even", 9), "throws": ("measure", 3), "callbacks-O0": ("order", 3),
          "callbacks-O2": ("order", 2)}
for each_name, (each_function, each_times) in PLACES.items():
    @case(f"{each_name}, breakpoint at {each_function}, {each_times} times: the frames that GDB shows")
    def frames(name=each_name, function=each_function, times=each_times):
        found = lldb(name, f"breakpoint set -n {function}", *["process continue"] * times, "bt")
        expected = gdb_frames(name, f"break {function}", *["continue"] * times)
        check(len(program_frames(expected)) >= 2, f"GDB shows {expected}")
        shown, expected = program_frames(lldb_frames(found[-1])), program_frames(expected)
        if UNPACKED and 2 <= len(shown) < len(expected):  # LLDB 14 knows no ABI of RISC-V: it finds no sp of outer frames, so frames by sp end
            expected = expected[:len(shown)]
        equal(shown, expected, "\n".join(found[-1]))


@case("registers and variables that a trace does not have are unavailable")
def unavailable():
    found = lldb("calls-O0", "register read", "breakpoint set -n fib", "process continue", "register read", "frame variable n")
    for lines in found[0], found[3]:
        values = dict(re.findall(r"(?m)^ *(\w+) = (0x\w+)", "\n".join(lines)))
        check({"pc", "sp"} <= set(values) <= set(KNOWN), f"registers with values: {values}")
    matches(r"were unavailable", "\n".join(found[3]), "the others")
    check(not re.search(r"n = -?\d", "\n".join(found[4])), f"a variable: {found[4]}")


@case("libraries are there from the first stop on")
def libraries():
    found = "\n".join(lldb("callbacks-O0", "image list")[0])
    for name in "callbacks-O0", "liblibrary-O0.so", "libc.so.6":
        matches(rf"(?m)/{re.escape(name)} *$", found, "images")


@case("steps: of an instruction, of a line, out of a function")
def steps():
    gdb = debuggers()[0]
    found = lldb("calls-O0", "breakpoint set -n middle", "process continue", "thread step-inst", "thread until 17", "thread step-in", "bt", "thread step-out",
                 "bt", "register read pc")
    equal(lldb_frames(found[5])[:2], [("leaf", 10), ("middle", 17)], "step into a call")
    equal(lldb_frames(found[7])[0][0], "middle", "step out")
    lines = run_gdb(gdb, program("calls-O0"), server(bundle("calls-O0")), ["break leaf", "continue", "finish", "print $pc"],
                    ["set osabi none", "set trust-readonly-sections on"])
    expected = int(re.search(r"0x\w+", lines[lines.index("> print $pc") + 1])[0], 16)
    equal(int(re.search(r"pc = (0x\w+)", "\n".join(found[8]))[1], 16), expected, "the program counter behind the call")


@case("the end of the trace is a stop, and LLDB detaches")
def end():
    found = lldb("calls-O0", "process continue", "thread list", "process detach")
    matches(r"stopped", "\n".join(found[0] + found[1]), "the stop")
    matches(r"detached", "\n".join(found[2]), "the end")


main()
