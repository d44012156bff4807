"""The traced program of this folder, and questions about a trace."""
import functools
import json
import os
import subprocess

import harness
from harness import NTRACE, check, need, scratch

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "story.c")


@functools.cache
def program(*options):
    path = os.path.join(scratch(), "".join(["story", *options]))
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-g", "-O1", "-static", *options, "-o", path, SOURCE], check=True)
    return path


def traced(path, name, *options):
    """The bundle of a program."""
    need("qemu-riscv64")
    path, command = os.path.join(scratch(), name + ".ntrace"), path
    done = subprocess.run([NTRACE, "run", "-q", *options, "-o", path, "--", command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, timeout=harness.DEADLINE, check=False)
    check(os.path.exists(path), f"ntrace run: {done.stderr[-500:]}")
    return path


@functools.cache
def bundle(*options):
    return traced(program(), "".join(["story", *options]), *options)


@functools.cache
def damaged():
    """The stream with bytes in the middle that no message has, and the options to read it."""
    path = bundle("--no-compress")
    with open(os.path.join(path, "trace.nex"), "rb") as file:
        stream = file.read()
    middle = len(stream) // 2
    stream = harness.write("damaged.nex", stream[:middle] + b"\x02" * 40 + stream[middle + 40:])
    with open(os.path.join(path, "capture.json"), encoding="utf-8") as file:
        params = json.load(file)["params"]
    options = ["-e", program()] + [f"--{key.replace('_', '-')}={value}" for key, value in params.items()
                                   if key in ("src_bits", "implicit_return", "return_stack")]
    return stream, options + [f"--{key.replace('_', '-')}" for key in ("sequential_jump", "extend_addr", "all_jumps") if params.get(key)]


@functools.cache
def crashed():
    """The bundle of a program that ends by a signal: in store(), called by bad(), after many calls of good()."""
    source = """int *nowhere;
__attribute__((noipa)) void store(int *at) { *at = 1; }
__attribute__((noipa)) void good(void) { int here; store(&here); }
__attribute__((noipa)) void bad(void) { store(nowhere); __asm__ volatile(""); }
int main(void) { for (int i = 0; i < 100; i++) good(); bad(); return 0; }
"""
    path = os.path.join(scratch(), "crash")
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-g", "-O1", "-static", "-o", path, harness.write("crash.c", source.encode())], check=True)
    return traced(path, "crash")


@functools.cache
def trapped():
    """A stream with 30 interrupts of 4 instructions and 10 exceptions of 2, and the options to read it. The schedule is written here."""
    source = """
.globl loop, quick, fault
.type loop, @function
.type quick, @function
.type fault, @function
loop: .rept 8; c.nop; .endr; c.j loop
.size loop, . - loop
.org 0x100
quick: .rept 3; c.nop; .endr; mret
.size quick, . - quick
.org 0x200
fault: c.nop; mret
.size fault, . - fault
"""
    records = ["cycle,iaddr,iretire,ilastsize,itype,priv"]
    for turn in range(400):
        records.append("1,0x1000,9,0,15,3")
        if turn % 10 == 5:
            interrupt = turn % 40 != 35
            records.append(f"1,0x1000,0,0,{2 if interrupt else 1},3")
            records.append("1,0x1100,5,1,3,3" if interrupt else "1,0x1200,3,1,3,3")
    elf, stream = os.path.join(scratch(), "traps.elf"), os.path.join(scratch(), "traps.nex")
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-march=rv64gc", "-nostdlib", "-static", "-Wl,-Ttext=0x1000,-e,loop,--build-id=none", "-o", elf,
                    harness.write("traps.s", source.encode())], check=True)
    harness.Run("encode", "--ingress", harness.write("traps.csv", "\n".join(records + ["1,0x1000,9,0,15,3"]).encode() + b"\n"), "-e", elf, "-o", stream)
    return stream, ["-e", elf]


@functools.cache
def called():
    """A stream with 12 system calls of 5 instructions (read) and 5 of 5 (write), one after the other, and the options to read it. The
    schedule is written here."""
    source = """
.globl loop, handler, __riscv_sys_read, __se_sys_read, __riscv_sys_write
.type loop, @function
.type handler, @function
.type __riscv_sys_read, @function
.type __se_sys_read, @function
.type __riscv_sys_write, @function
loop: .rept 8; c.nop; .endr; c.j loop
.size loop, . - loop
.org 0x200
handler: c.jalr a5; mret
.size handler, . - handler
.org 0x300
__riscv_sys_read: c.nop; c.j __se_sys_read
.size __riscv_sys_read, . - __riscv_sys_read
.org 0x400
__se_sys_read: c.nop; c.nop; ret
.size __se_sys_read, . - __se_sys_read
.org 0x500
__riscv_sys_write: .rept 4; c.nop; .endr; ret
.size __riscv_sys_write, . - __riscv_sys_write
"""
    bodies = {"read": ["1,0x1300,2,0,15,3", "1,0x1400,3,0,13,3"], "write": ["1,0x1500,5,0,13,3"]}
    records = ["cycle,iaddr,iretire,ilastsize,itype,priv"]
    for name in ["read"] * 12 + ["write"] * 5:
        records += ["1,0x1000,9,0,15,3"] * 4 + ["1,0x1000,0,0,1,3", "1,0x1200,1,0,8,3", *bodies[name], "1,0x1202,2,1,3,3"]
    elf, stream = os.path.join(scratch(), "called.elf"), os.path.join(scratch(), "called.nex")
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-march=rv64gc", "-nostdlib", "-static", "-Wl,-Ttext=0x1000,-e,loop,--build-id=none", "-o", elf,
                    harness.write("called.s", source.encode())], check=True)
    harness.Run("encode", "--ingress", harness.write("called.csv", "\n".join(records + ["1,0x1000,9,0,15,3"]).encode() + b"\n"), "-e", elf, "-o", stream)
    return stream, ["-e", elf]


def ask(trace, *questions, status=0, options=()):
    """The answers to the questions, in order. Without --cache, nothing is kept."""
    options = options if "--cache" in options else [*options, "--cache", "none"]
    words = [word for question in questions for word in ("--ask", question if isinstance(question, str) else json.dumps(question))]
    run = harness.Run("explore", trace, *options, *words, status=status)
    return [json.loads(line) for line in run.lines()]


def names(answer):
    return [function["name"] for function in answer["functions"]]
