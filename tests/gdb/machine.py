#!/usr/bin/env python3
"""A whole machine behind GDB: a kernel of which only the names are known, two processes with other programs at the same addresses,
an interrupt in a function that has not saved its return address. The trace is encoded from a list of executed blocks."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import Session, debuggers, run_gdb, server
from harness import DEADLINE, NTRACE, case, check, equal, main, matches, need, scratch

KERNEL, FIRMWARE, USER = 0xFFFFFFFF80000000, 0x80000000, 0x10000
SOURCES = {
    "kernel": (KERNEL, """
handle_exception: nop; jal ra, do_trap; sret
do_trap: csrr a0, scause; nop; nop; ecall; ret
"""),
    "firmware": (FIRMWARE, "handle_sbi: nop; jal ra, serve; mret; serve: nop; ret"),
    "one": (USER, "one_main: addi sp, sp, -16; sd ra, 8(sp); jal ra, one_leaf; nop; ecall; one_leaf: nop; nop; ret"),
    "two": (USER, "two_main: addi sp, sp, -16; sd ra, 8(sp); jal ra, two_leaf; nop; ecall; two_leaf: nop; ret"),
}
NONE, EXCEPTION, INTERRUPT, TRAP_RETURN, CALL, RETURN = 0, 1, 2, 3, 9, 13


def build(name):
    compiler = need("riscv64-linux-gnu-gcc")
    address, text = SOURCES[name]
    source, out = os.path.join(scratch(), name + ".S"), os.path.join(scratch(), name)
    labels = re.findall(r"(\w+):", text)
    with open(source, "w") as file:
        file.write(".option norvc\n.text\n" + "".join(f".globl {x}\n.type {x},@function\n" for x in labels) + text + "\n")
    subprocess.run([compiler, "-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,--no-relax", f"-Wl,-Ttext={address:#x}", "-Wl,-e,0",
                    "-o", out, source], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["riscv64-linux-gnu-objcopy", "-O", "binary", "-j", ".text", out, out + ".bin"], check=True)
    listed = subprocess.run(["riscv64-linux-gnu-nm", out], capture_output=True, text=True, check=True).stdout
    return {n: int(a, 16) for a, n in re.findall(r"^(\w+) T (\w+)$", listed, re.M) if n in labels}


def records(at):
    """(address, instructions, how the block ends, mode, context) of the run, and the position at which each name is first executed."""
    leaf, trap, serve = at["one_leaf"], at["do_trap"], at["serve"]
    enter = [(at["handle_exception"], 2, CALL, 1)]
    sbi = [(at["handle_sbi"], 2, CALL, 3), (serve, 2, RETURN, 3), (at["handle_sbi"] + 8, 1, TRAP_RETURN, 3)]
    leave = [(trap + 16, 1, RETURN, 1), (at["handle_exception"] + 8, 1, TRAP_RETURN, 1)]
    handler = enter + [(trap, 3, NONE, 1), (trap + 12, 0, EXCEPTION, 1)] + sbi + leave
    first = [(at["one_main"], 3, CALL, 0), (leaf, 1, NONE, 0), (leaf + 4, 0, INTERRUPT, 0)] + handler
    back = [(leaf + 4, 2, RETURN, 0), (at["one_main"] + 12, 1, NONE, 0), (at["one_main"] + 16, 0, EXCEPTION, 0)] + handler
    other = [(at["two_main"], 3, CALL, 0), (at["two_leaf"], 2, RETURN, 0), (at["two_main"] + 12, 1, NONE, 0),
             (at["two_main"] + 16, 0, EXCEPTION, 0)] + handler[:2]
    blocks = [(*b, 5) for b in first + back] + [(*b, 6) for b in other]
    last = len(first) + len(back) - 1 # the trap return to the other process
    blocks[last] = (*blocks[last][:4], 5)
    return blocks


def capture():
    """The bundle, and the names of the kernel."""
    at = {}
    for name in SOURCES:
        at |= build(name)
    path = os.path.join(scratch(), "machine.ntrace")
    names = os.path.join(scratch(), "kallsyms")
    if os.path.exists(path):
        return path, names, at
    os.mkdir(path)
    rows = ["iaddr,iretire,ilastsize,itype,priv,ctype,scontext"]
    rows += [f"{a:#x},{2 * n},{1 if n else 0},{end},{mode},2,{context}" for a, n, end, mode, context in records(at)]
    with open(os.path.join(path, "ingress"), "w") as file:
        file.write("\n".join(rows) + "\n")
    images = []
    for name, (address, _) in SOURCES.items():
        shutil.copy(os.path.join(scratch(), name), path)
        shutil.copy(os.path.join(scratch(), name + ".bin"), path)
        context = {"one": "0x5", "two": "0x6"}.get(name)
        limits = {"prv": 0, "scontext": context} if context else {}
        if context:
            images.append({"kind": "elf", "file": name, **limits})
        images.append({"kind": "raw", "file": name + ".bin", "bias": f"{address:#x}", **limits})
    capture_json = {"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {"dialect": "ntrace-1.0", "xlen": 64},
                    "images": images}
    with open(os.path.join(path, "capture.json"), "w") as file:
        json.dump(capture_json, file)
    encode = [NTRACE, "encode", "--ingress", "ingress", "--context", "-o", "trace.nex"]
    for number, name in enumerate(SOURCES):
        if name != "two":
            encode += ["--raw", f"{name}.bin@{SOURCES[name][0]:#x}"]
    done = subprocess.run(encode, cwd=path, capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    with open(names, "w") as file:
        file.write("".join(f"{at[name]:016x} T {name}\n" for name in ("handle_exception", "do_trap")))
    return path, names, at


def steps(gdb, lines):
    """What GDB prints for each command, as a list."""
    path, names, _ = capture()
    out = run_gdb(gdb, "", server(path, "--symbols", f"kernel={names}"), lines, ["set osabi none", "set python print-stack none"])
    return re.split(r"(?m)^> .*\n?", "\n".join(out))[1:]


def functions(text):
    """The names of the frames of a backtrace."""
    return re.findall(r"(?m)^#\d+ .*? in ([\w?]+) \(", text)


TRAPPED = ["do_trap", "handle_exception"]


@case("names of the kernel, and backtraces from firmware and kernel to the interrupted function of the process")
def backtraces():
    for gdb in debuggers():
        done = steps(gdb, ["break do_trap", "continue", "bt 4", "delete", "stepi 4", "bt 5", "break *handle_exception", "reverse-continue",
                           "bt 3", "reverse-stepi", "bt 2", "delete", "break do_trap", "continue", "continue", "bt 3", "continue", "bt 3"])
        matches("at 0xffffffff8000000c", done[0], "a name of the kernel")
        equal(functions(done[2]), [*TRAPPED, "one_leaf", "one_main"], "interrupt of a function that has not saved ra")
        equal(functions(done[5]), ["??", *TRAPPED, "one_leaf", "one_main"], "firmware without names")
        equal(functions(done[8]), ["handle_exception", "one_leaf", "one_main"], "entry")
        equal(functions(done[10]), ["one_leaf", "one_main"], "back in the process")
        equal(functions(done[15]), [*TRAPPED, "one_main"], "system call of the first process")
        equal(functions(done[17]), [*TRAPPED, "two_main"], "system call of the second process")


@case("finish out of a trap handler, and over the switch to another process")
def finish():
    for gdb in debuggers():
        done = steps(gdb, ["break do_trap", "continue", "finish", "finish", "continue", "finish", "stepi", "stepi 2", "info sharedlibrary",
                           "break two_leaf", "continue", "bt 2", "reverse-finish"])
        matches("in handle_exception", done[2], "to the entry code")
        matches("in one_leaf", done[3], "to the interrupted function")
        matches("in two_main", done[6], "names of the second process")
        check("/two" in done[8] and "/one" not in done[8], f"libraries are those of the process: {done[8]}")
        equal(functions(done[11])[-1:], ["two_main"], "a breakpoint in the second process")
        matches("in two_main", done[12], "reverse-finish")


@case("every step, in both directions: the name is that of the process at this place")
def walk():
    path, names, at = capture()
    pcs = [int(line, 16) for line in subprocess.run([NTRACE, "decode", "--show", "pc", path, "--symbols", f"kernel={names}"], check=True,
                                                    capture_output=True, text=True).stdout.split()]
    switch = max(i for i, pc in enumerate(pcs) if pc == at["one_main"]) # the last time: the second process begins
    check(switch > 20 and pcs.count(at["one_main"]) == 2, f"two processes at the same address: {pcs}")

    def name(i):
        if pcs[i] >= KERNEL:
            return "do_trap" if pcs[i] >= at["do_trap"] else "handle_exception"
        if pcs[i] >= FIRMWARE:
            return "??"
        process = "two" if i >= switch else "one"
        return f"{process}_leaf" if pcs[i] >= at[f"{process}_leaf"] else f"{process}_main"

    for gdb in debuggers():
        end = len(pcs)
        done = steps(gdb, ["stepi"] * (end - 1) + ["reverse-stepi"] * (end - 1))
        wanted = [*range(1, end), *range(end - 2, -1, -1)]
        for text, i in zip(done, wanted, strict=True):
            matches(rf"0x0*{pcs[i]:x} in {re.escape(name(i))} \(", text, f"{gdb}, instruction {i}")


@case("monitor caller and return: from the handler of a trap to the interrupted function, and to the caller")
def callers():
    path, names, at = capture()
    s = Session(path, "--symbols", f"kernel={names}")
    for times, interrupted in ((1, at["one_leaf"]), (2, at["one_main"] + 12)): # an interrupt, a system call
        s.monitor("goto begin")
        s.ask(f"Z0,{at['do_trap']:x},4")
        for _ in range(times):
            s.ask("vCont;c")
        s.ask(f"z0,{at['do_trap']:x},4")
        matches("handle_exception", s.monitor("caller"), "the call of do_trap")
        matches(f" at {interrupted:#x}", s.monitor("caller"), "what was interrupted")
        s.ask("vCont;s")
        matches("handle_exception", s.monitor("when"), "the handler")
        if times == 1:
            matches(f" at {interrupted + 4:#x}", s.monitor("return"), "behind the handler")
            matches(f" at {at['one_main'] + 8:#x}", s.monitor("caller"), "the call of the function")
    s.monitor("goto begin")
    matches("not known", s.monitor("caller"), "an outermost frame")
    equal(s.close(), 0, "status")


def left(temporary):
    return [name for name in os.listdir(temporary) if name.startswith("ntrace-gdb")]


@case("the files of a session are removed: at its end, by a signal")
def removed():
    path, names, _ = capture()
    temporary = os.path.join(scratch(), "temporary")
    os.mkdir(temporary)
    os.environ["TMPDIR"] = temporary
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored under nohup, also by what is started here
    try:
        for end in (None, signal.SIGTERM, signal.SIGHUP):
            s = Session(path, "--symbols", f"kernel={names}")
            file = s.ask("qXfer:exec-file:read::0,fff")[1:]
            check(file.startswith(temporary) and os.path.getsize(file) > 200, f"a symbol file: {file}")
            if end:
                s.process.send_signal(end)
                equal(s.process.wait(timeout=DEADLINE), -end, "status")
            else:
                equal(s.close(), 0, "status")
            equal(left(temporary), [], f"files after {end or 'the end'}")
    finally:
        del os.environ["TMPDIR"]


@case("the symbol file, read by binutils: names, sections, call frame information")
def file():
    path, names, _ = capture()
    s = Session(path, "--symbols", f"kernel={names}")
    file = s.ask("qXfer:exec-file:read::0,fff")[1:]
    tools = [["readelf", "-W", "-s", file], ["readelf", "-W", "-S", file], ["readelf", "--debug-dump=frames", file]]
    symbols, sections, frames = (subprocess.run(["riscv64-linux-gnu-" + t[0], *t[1:]], capture_output=True, text=True) for t in tools)
    s.close()
    for done in (symbols, sections, frames):
        equal(done.stderr, "", "problems that readelf finds")
    matches(r"ffffffff8000000c +\d+ FUNC +GLOBAL DEFAULT +1 do_trap", symbols.stdout, "symbols")
    matches(r"\.text +NOBITS +ffffffff80000000 .* WAX ", sections.stdout, "sections")
    matches(r"pc=ffffffff80000000\.\.ffffffff8000", frames.stdout, "frames")
    matches(r"DW_CFA_def_cfa: r2 \(sp\) ofs 32(.*\n)+.*r5 \(t0\) at cfa-8(.*\n)+.*r1 \(ra\) at cfa-16", frames.stdout, "rule")


main()
