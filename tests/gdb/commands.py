#!/usr/bin/env python3
"""The files of examples/ that set up a debugger, and the session of README.md, as a user would use them."""
import json
import os
import pty
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import bundle, debuggers, program, run_gdb, server
from harness import DEADLINE, NTRACE, bytes_of, case, check, equal, main, matches, need, scratch, write

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def example(name):
    return os.path.join(ROOT, "examples", name)


@case("examples/ntrace.gdb: its set-up and its commands")
def script():
    for gdb in debuggers():
        lines = ["when", "break leaf", "continue", "bt", "goto end", "goto begin", "goto 50%", "goto #1", "next-gap", "prev-gap"]
        text = "\n".join(run_gdb(gdb, program("calls"), server(bundle("calls")), lines, [f"source {example('ntrace.gdb')}"]))
        parts = dict(re.findall(r"^> (.*)\n((?:(?!> ).*\n?)*)", text, re.M))
        matches(r"hart 0, U-mode: instruction 0 of \d+ at 0x", parts["when"], "when")
        matches(r"#0 +leaf .*\n#1 .* in middle ", parts["bt"], "bt")
        matches(r"instruction \d+ at 0x(.*\n)*#0 ", parts["goto end"], "goto end")
        matches(r"instruction 0 at 0x.*<_start\+0>(.*\n)*#0 .* _start", parts["goto begin"], "goto begin")
        matches(r"instruction [1-9]\d+ at", parts["goto 50%"], "goto 50%")
        matches("instruction 0 at", parts["goto #1"], "goto #1")
        lines = ["break leaf", "continue", "bt", "monitor goto begin", "bt 1", "monitor goto end", "monitor goto 0", "info registers pc"]
        text = "\n".join(run_gdb(gdb, program("calls"), server(bundle("calls")), lines, [f"source {example('ntrace.gdb')}"]))
        after = dict(re.findall(r"^> (.*)\n((?:(?!> ).*\n?)*)", text, re.M))
        matches(r"#0 +leaf ", after["bt"], "bt at the breakpoint")
        matches(r"#0 .* _start", after["bt 1"], "bt after monitor goto")
        matches("_start", after["info registers pc"], "pc after monitor goto")
        matches("no gap after", parts["next-gap"], "next-gap")
        matches("no gap before", parts["prev-gap"], "prev-gap")


@case("examples/launch.json: its commands, with the machine interface that VS Code uses")
def launch():
    with open(example("launch.json")) as file:
        text = re.sub(r"^\s*//.*$", "", file.read(), flags=re.M)
    configuration = json.loads(text)["configurations"][0]
    equal(configuration["MIMode"], "gdb", "MIMode")
    host, port = configuration["miDebuggerServerAddress"].split(":")
    gdb = need(configuration["miDebuggerPath"])
    comment = re.search(r"ntrace (gdb --listen \d+ --persistent) hello\.ntrace", open(example("launch.json")).read())
    options = comment.group(1).split()
    equal(options[2], port, "the port of the comment")
    options[2] = "0" # any port that is free
    server_process = subprocess.Popen([NTRACE, *options, bundle("calls")], stderr=subprocess.PIPE, text=True)
    try:
        free = re.search(r"127\.0\.0\.1:(\d+)", server_process.stderr.readline()).group(1)
        address = f"{host}:{free}"
        out = requests(gdb, [
            "-gdb-set mi-async on", "-list-features",
            *(f"-interpreter-exec console \"{command['text']}\"" for command in configuration["setupCommands"]),
            f"-environment-cd {os.path.dirname(program('calls'))}", f"-file-exec-and-symbols {program('calls')}", f"-target-select remote {address}",
            "-list-target-features", "-break-insert -f leaf", "-exec-continue", "-thread-info", "-stack-list-frames --thread 1 0 1000",
            "-stack-list-variables --thread 1 --frame 1 0", "-stack-select-frame 0", "-data-disassemble -s $pc -e \"$pc + 16\" -- 2",
            "-var-create - * $pc", "-data-list-register-values x 32", "-exec-next", "-exec-finish", "-exec-next --reverse",
            "-exec-step-instruction --reverse", "-exec-step", "-break-delete", "-exec-continue --reverse", "-exec-continue", "-gdb-exit"])
    finally:
        server_process.terminate()
        server_process.wait(timeout=DEADLINE)
    matches(r'features=\[[^]]*"reverse"', out, "reverse is offered")
    matches(r'stopped,reason="breakpoint-hit".*func="leaf"', out, "the breakpoint")
    matches(r'stack=\[frame=\{level="0".*func="leaf".*level="1".*func="middle".*func="main"', out, "frames")
    matches(r'target-id="Thread 1",details="hart 0, U-mode"', out, "threads")
    matches(r'asm_insns=\[.*func-name="leaf"', out, "disassembly")
    matches(r'register-values=\[\{number="32",value="0x[0-9a-f]+"', out, "a register")
    equal(len(re.findall(r"^\*stopped", out, re.M)), 9, f"stops: {out[-3000:]}")
    check("^error" not in out, f"an error: {out[-1500:]}")


def requests(gdb, lines):
    """What GDB answers to requests of its machine interface, each sent when the one before is done and execution has stopped."""
    process = subprocess.Popen([gdb, "-nx", "-q", "--interpreter=mi2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    out = ""
    for number, line in enumerate(lines, 1):
        process.stdin.write(f"{number}{line}\n")
        process.stdin.flush()
        done, running = False, line.startswith(("-exec", "-target"))
        while not done or running:
            text = process.stdout.readline()
            if not text:
                break
            out += text
            done |= text.startswith(f"{number}^")
            running &= not text.startswith(("*stopped", f"{number}^error"))
    process.stdin.close()
    process.wait(timeout=60)
    return out


END = "No more reverse-execution history|Reached end of recorded history"  # GDB 13 and 16


@case("watch, rwatch and awatch are refused when they are set, and execution goes on")
def watchpoints():
    path = bundle("calls")
    for word in "watch", "rwatch", "awatch":
        done = subprocess.run([debuggers()[0], "-q", "-nx", "-batch", "-ix", example("ntrace.gdb"), "-ex", f"target remote | {NTRACE} gdb --stdio {path}",
                               "-ex", f"{word} *(int *)0x1000", "-ex", "info breakpoints", "-ex", "continue", f"{path}/images/calls"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE)
        matches(f"^{word}: a recorded execution has no memory to watch; use break, or 'ntrace decode --show data' on a trace of run --data\n",
                done.stderr, word)
        matches(r"No breakpoints(, watchpoints, tracepoints, or catchpoints| or watchpoints)\.\n(.*\n)*(" + END + ")", done.stdout, "nothing is set, and continue goes to the end")


@case("memory and registers that were not recorded are unavailable, never zero; both ends of history are said")
def unavailable():
    for gdb in debuggers():
        lines = ["break leaf", "continue", "info registers a0", "print $a0", "x/2wx 0x10000000", "x/2wx $sp - 4096", "print *(int *)0x20000000",
                 "delete", "continue", "reverse-continue"]
        text = "\n".join(run_gdb(gdb, program("calls"), server(bundle("calls")), lines, [f"source {example('ntrace.gdb')}"]))
        parts = dict(re.findall(r"^> (.*)\n((?:(?!> ).*\n?)*)", text, re.M))
        matches(r"Breakpoint 1, .*leaf", text, "the breakpoint")
        equal(parts["info registers a0"].split(), ["a0", "<unavailable>"], "info registers")
        equal(parts["print $a0"].strip(), "$1 = <unavailable>", "print")
        for line in lines[4:7]:
            matches(r"Cannot access memory at address 0x|<unavailable>", parts[line], line)
        equal(len(re.findall(END, text)), 2, f"the ends of history: {text}")


SPIN = 100_000_000_000_000


@case("a spin of 10^14 instructions: positions inside of it and its end are shown at once, also after a step over its line")
def spin():
    code = write("spin.code", bytes.fromhex("130000006f000000"))  # nop; j .
    text = f"ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\nProgTraceCorrelation EVCODE=4 CDF=0 ICNT={2 * SPIN}\n"
    trace = write("spin.nex", bytes_of(text))
    done = subprocess.run([debuggers()[0], "-q", "-nx", "-batch", "-ex", "set osabi none", "-ex", "set architecture riscv:rv64",
                           "-ex", f"target remote | {NTRACE} gdb --stdio --src-bits 0 --raw {code}@0x1000 {trace}", "-ex", "monitor goto 50%",
                           "-ex", "monitor when", "-ex", "monitor goto end", "-ex", "monitor when", "-ex", "break *0x1000",
                           "-ex", "reverse-continue", "-ex", "monitor when", "-ex", "maintenance packet vCont;r1000,1008", "-ex", "monitor when"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    found = re.findall(r"instruction (\d+) of (\d+) at (0x[0-9a-f]+)", done.stderr)
    equal(found, [(str(SPIN // 2), str(SPIN), "0x1004"), (str(SPIN), str(SPIN), "0x1004"), ("0", str(SPIN), "0x1000"),
                  (str(SPIN), str(SPIN), "0x1004")], done.stdout + done.stderr)


def in_terminal(arguments, lines):
    """What `ntrace ARGUMENTS` and its GDB show in a terminal, where the lines are typed; the last one ends it."""
    folder = tempfile.mkdtemp(dir=scratch())
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", TMPDIR=folder, COLUMNS="200")
        os.execv(NTRACE, [NTRACE, *arguments])
    text = ""

    def read():
        nonlocal text
        try:
            more = os.read(terminal, 65536)
        except OSError:  # its other end is closed
            more = b""
        text += more.decode().replace("\r", "")
        return more

    for line in ["set width 0", "set confirm off", *lines]:
        before = text.count("(gdb) ")
        while text.count("(gdb) ") == before and read():
            pass
        os.write(terminal, line.encode() + b"\n")
    while read():
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    equal(os.listdir(folder), [], "files that are left")
    return f"{text}status {status}"


@case("the session of README.md, in the demo of 'make demo', in a terminal")
def readme():
    with open(os.path.join(ROOT, "README.md")) as file:
        text = file.read()
    block = re.search(r"build/ntrace gdb build/demo/compress\.ntrace.*\n((?:\(gdb\) .*\n)+)", text)
    commands = re.findall(r"\(gdb\) (.*)", block.group(1))
    compiler = need("riscv64-linux-gnu-gcc")
    path, trace = os.path.join(scratch(), "compress"), os.path.join(scratch(), "compress.ntrace")
    subprocess.run([compiler, "-g", "-O2", "-static", "-o", path, example("compress.c")], check=True)
    subprocess.run([NTRACE, "run", "-q", "-o", trace, "--", path], check=True, stdout=subprocess.DEVNULL)
    out = in_terminal(["gdb", trace, "--debugger", debuggers()[0]], [*commands, "when", "goto 50%", "to-caller", "goto end", "next-gap", "quit"])
    matches(r"Breakpoint 1, find_match (.*\n)+#0 +find_match .*\n#1 .* in compress_text .*\n#2 .* in main ", out, "the session")
    matches(r"reverse-finish\n(.*\n)+.* in compress_text ", out, "reverse-finish")
    matches(r"\(gdb\) when\nhart 0, U-mode: instruction \d+ of \d+ at ", out, "the commands of ntrace.gdb")
    matches(r"\(gdb\) goto 50%\nhart 0.*\n#0 (.*\n)+\(gdb\) to-caller\n.*\n#0 (.*\n)+\(gdb\) goto end\n.*\n#0 ", out, "places are shown")
    matches(r"\(gdb\) next-gap\nno gap after", out, "next-gap")
    matches("status 0$", out, "the status")
    with open(os.path.join(ROOT, "examples", "demo")) as file:
        matches(r"\$ntrace gdb \$work/compress\.ntrace", file.read(), "make demo prints the command")


main()
