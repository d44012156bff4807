#!/usr/bin/env python3
"""probe, capture, board, live input: the virtual board behind each connection, with the real OpenOCD and GDB when they are there."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from boards import Board, Process, TOPOLOGY, follows, free_port, helper, program, topology, wait_for_listener
from harness import DEADLINE, NTRACE, Run, bytes_of, case, check, equal, main, matches, need, scratch, skip, until, write


def without_values(rows):
    return [{key: value for key, value in row.items() if key != "control"} for row in rows]


@case("probe finds over a helper what the model implements, and agrees with the topology")
def _():
    rows = Run("probe", "-t", topology(), "--exec", helper(), "--format", "jsonl").rows()
    equal([row["name"] for row in rows], ["te0", "funnel", "ram"], "components")
    equal(rows[0]["abilities"]["modes"], [3, 6], "modes")
    equal(rows[2]["abilities"]["sram"], 1024, "sram")
    different = topology(TOPOLOGY.replace('"hart": 0', '"hart": 0, "modes": [3]'))
    run = Run("probe", "-t", different, "--exec", helper().replace(different, topology()), status=None)
    topology()
    equal(Run("probe", "-t", topology(), "--exec", "while read x; do echo error no cable; done", status=1).out, "", "output")


@case("probe --base writes a topology that probe accepts")
def _():
    draft = os.path.join(scratch(), "draft.json")
    Run("probe", "--base", "0x10000000", "--base", "0x10010000", "--base", "0x10020000", "--exec", helper(), "--draft", draft)
    with open(draft, encoding="utf-8") as file:
        names = [one["name"] for one in json.load(file)["components"]]
    equal(names, ["encoder0", "funnel0", "ram0"], "names")
    Run("probe", "-t", draft, "--exec", helper())
    matches("Impl reads 0x00000000|cannot be accessed", Run("probe", "--base", "0x20000000", "--exec", helper(), status=2).err, "error")


@case("probe --base knows encoder and multiplexer of Andes by DEVARCH, in both maps")
def _():
    def registers(words):
        page = bytearray(0x6000)
        for place, word in {0: 1, 0x2000: 1, 0x4000: 1, 0x5000: 1, **words}.items():
            page[place:place + 4] = word.to_bytes(4, "little")
        return write("andes", bytes(page))

    path = registers({0x1fbc: 0x47704500, 0x3fbc: 0x47704d00, 0x4fbc: 0x4500, 0x5004: 0x901})
    at = [part for base in (0, 0x2000, 0x4000, 0x5000) for part in ("--base", hex(base))]
    run = Run("probe", *at, "--read-only", "--mem", f"{path}@0x0", "--format", "jsonl", status=None)
    equal([(one["type"], int(one["base"], 16)) for one in run.rows()],
          [("encoder", 0), ("funnel", 0x2000), ("encoder", 0x4000), ("ram", 0x5000)], "components")
    equal(len(re.findall("of Andes NCETRACE200, by its register DEVARCH", run.err)), 3, run.err)
    path = registers({0x2fbc: 0x4501})  # another value; 0x3fbc is no place of a component at 0x3000
    for base in ("0x2000", "0x3000"):
        matches("no component of Trace Control 1.0", Run("probe", "--base", base, "--read-only", "--mem", f"{path}@0x0", status=2).err, base)


@case("a file with registers (--mem) is reported for what it is")
def _():
    page = write("page", bytes(4096))
    text = '{"components": [{"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "ram"},' \
           '{"name": "ram", "type": "ram", "base": "0x10001000"}]}'
    run = Run("probe", "-t", topology(text), "--mem", f"{page}@0x10000000", status=1)
    matches(r"te0 at 0x10000000: trTeActive does not become|te0 at 0x10000000: type 0", run.err, "a plain file is no encoder")
    matches(r"ram at 0x10001000: (read|write) of trRamControl failed \(no memory of the file is at 0x10001000\)", run.err, "outside")
    matches("expected one of --openocd", Run("probe", "-t", topology(), status=2).err, "no connection")
    topology()


@case("capture over a helper: the bundle decodes to what ran; options, filters and limits are those of the hardware")
def _():
    elf, pc, pcs = program()
    bundle = os.path.join(scratch(), "exec.ntrace")
    common = ["-e", elf, "-t", topology(), "--exec", helper("-e", elf, "--pc", pc)]
    run = Run("capture", "-o", bundle, *common, "--for", "100ms", status=None)
    check(run.status in (0, 1), run.err)
    follows(Run("decode", bundle, "--show", "pc", status=None).lines(), pcs)
    with open(os.path.join(bundle, "registers.json"), encoding="utf-8") as file:
        equal(int(json.load(file)["te0"]["trTeControl"], 16) & 6, 0, "trTeEnable and trTeInstTracing")
    matches("--icnt-bits: trace hardware has no register", Run("capture", "-o", bundle, *common, "--icnt-bits", 8, status=2).err, "option")
    matches("trTeInstEnAllJumps rejects", Run("capture", "-o", bundle, *common, "--all-jumps", status=2).err, "rejected")
    Run("capture", "-o", bundle, *common, "--for", "50ms", "--filter", "addr=0x80000000-0x8000ffff", status=None)
    run = Run("capture", "-o", bundle, *common, "--for", "50ms", "--filter", "addr=0x90000000-0x9000ffff", status=1)
    matches("has 1 messages and no address: nothing that ran can be decoded. Do filters exclude it", run.err, "a filter that nothing passes")
    matches("te0 at 0x10000000: trTeInstMode 6, trTeInstFilters 0x1", run.err, "explanation")
    for option in "--halt", "--resume", "--until-halt":
        matches(f"{option}: this connection controls no hart", Run("capture", "-o", bundle, *common, option, status=2).err, option)
    run = Run("capture", "-o", bundle, *common, "--for", "50ms", "--set", "funnel.trFunnelDisInput=1", status=2)
    matches("nothing was stored", run.err, "a funnel that takes nothing")
    matches("funnel at 0x10010000: trFunnelDisInput 0x1, trFunnelEmpty 1: inputs are disabled", run.err, "explanation")


@case("real OpenOCD: examine, probe, capture; both ways to read trace memory and the script give the same words")
def _():
    elf, pc, pcs = program()
    with Board("-e", elf, "--pc", pc) as board:
        there = ["-t", topology(), *board.openocd()]
        rows = Run("probe", *there, "--format", "jsonl").rows()
        equal(without_values(rows), without_values(Run("probe", "-t", topology(), "--exec", helper(), "--format", "jsonl").rows()),
              "OpenOCD and helper")
        first, second, third = (os.path.join(scratch(), name) for name in ("a.ntrace", "b.ntrace", "c.ntrace"))
        run = Run("capture", "-o", first, "-e", elf, *there, "--until-full", "--halt", status=1)
        matches("the sink was full and stopped", run.err, "loss")
        found = Run("decode", first, "--show", "pc", status=None).lines()
        follows(found, pcs)
        Run("capture", "-o", second, "-e", elf, *there, "--running", "--dmi", "--for", "1ms", status=1)
        with open(os.path.join(first, "trace.nex"), "rb") as one, open(os.path.join(second, "trace.nex"), "rb") as two:
            equal(two.read(), one.read(), "words read through registers of the debug module")
        script, words = os.path.join(scratch(), "capture.tcl"), os.path.join(scratch(), "words.txt")
        Run("capture", "--script", "openocd", "-o", script, "-t", topology(), "--until-full", "--for", "200ms", "--resume")
        with open(script, encoding="utf-8") as file:
            text = file.read().replace("words.txt", words)
        write("capture.tcl", text.encode())
        board.ask(f"source {script}")
        Run("capture", "-o", third, "-e", elf, "-t", topology(), "--words", words, status=1)
        follows(Run("decode", third, "--show", "pc", status=None).lines(), pcs)
        equal(board.ask("halt; expr {[read_memory 0x10000000 32 1 phys] & 2}"), "0", "trTeEnable at the end")


@case("--loop and --when keep the captures that are wanted; --restore leaves registers as they were")
def _():
    elf, pc, _pcs = program()
    base = os.path.join(scratch(), "many")
    common = ["-e", elf, "-t", topology(), "--exec", helper("-e", elf, "--pc", pc)]
    Run("capture", "-o", base + ".ntrace", *common, "--loop", 3, "--when", "full", "--until-full", status=1)
    equal([os.path.exists(f"{base}.{n}.ntrace") for n in (1, 2, 3, 4)], [True, True, True, False], "captures of a full buffer")
    run = Run("capture", "-o", base + "2.ntrace", *common, "--loop", 2, "--when", "halt", "--for", "20ms", "--quiet", status=2)
    check(not os.path.exists(base + "2.1.ntrace"), "a capture that did not end with a halt")
    matches(r"no capture ended with a halted hart \(--when\); no bundle was written", run.err, "why")
    timed = os.path.join(scratch(), "timed.ntrace")
    run = Run("capture", "-o", timed, *common, "--for", "50ms", "--timestamps", status=None)
    check(any("time" in row for row in Run("decode", timed, "--format", "jsonl", status=None).rows()), f"times: {run.err}")


@case("a program that is no ELF file, and a bundle that cannot be written, are reported before the helper is started")
def _():
    elf, _pc, _pcs = program()
    seen, folder = (os.path.join(scratch(), name) for name in ("seen", "folder"))
    os.makedirs(folder, exist_ok=True)
    text, before = write("text", b"no program"), sorted(os.listdir(scratch()))
    for options, expected in ((["-o", f"{seen}.ntrace", "-e", text], "text: .*ELF"), (["-o", f"{seen}.ntrace", "-e", f"{text}-not"], "text-not: No such file"),
                              (["-o", f"{seen}.ntrace", "--raw", f"{text}@0x1000"], "a bundle takes ELF files"),
                              (["-o", f"{text}/x.ntrace", "-e", elf], "text/x.ntrace: Not a directory"),
                              (["-o", f"{seen}/x.ntrace", "-e", elf, "--loop", "2"], "seen/x.1.ntrace: No such file or directory"),
                              (["-o", folder, "-e", elf], "folder: exists and is not a bundle")):
        matches(expected, Run("capture", *options, "-t", topology(), "--exec", f"touch {seen}; {helper()}", "--for", "20ms", status=2).err, str(options))
    equal(sorted(set(os.listdir(scratch())) - {"soc.json"}), sorted(set(before) - {"soc.json"}), "files")


@case("real OpenOCD: an interrupt ends a capture, and everything is disabled; wrong images are reported")
def _():
    elf, pc, _pcs = program()
    other = os.path.join(scratch(), "other")
    with open(elf, "rb") as one:
        content = bytearray(one.read())
    at = content.index(bytes.fromhex("93020000"))
    content[at + 4] ^= 0x80
    write("other", bytes(content))
    with Board("-e", elf, "--pc", pc) as board:
        command = [NTRACE, "capture", "-o", os.path.join(scratch(), "i.ntrace"), "-e", other, "-t", topology(),
                   *map(str, board.openocd())]
        for delay in (0.05, 0.3, 2):
            done = subprocess.Popen(command, stderr=subprocess.PIPE)
            time.sleep(delay)
            done.send_signal(signal.SIGINT)
            text = done.communicate(timeout=60)[1].decode()
            check(done.returncode in (1, 2, -signal.SIGINT), f"{done.returncode}: {text}")  # -: it had not begun
            for base in ("0x10000000", "0x10010000", "0x10020000"):
                equal(board.ask(f"expr {{[read_memory {base} 32 1 phys] & 2}}"), "0", f"Enable of {base} after {delay} s")
        matches("the image differs from the memory of the target", text, "note")


@case("connections: no listener, no such name, no port, IPv6; the reason is said")
def _():
    elf, _pc, _pcs = program()
    for place, expected in ((f"localhost:{free_port()}", "refused"), ("no-such-host.invalid:1", "not known|resolution|No address"),
                            ("host", "expected HOST:PORT"), ("localhost:", "expected HOST:PORT"), ("localhost:99999", "expected HOST:PORT")):
        for kind in ("openocd", "gdb"):
            matches(expected, Run("probe", "-t", topology(), f"--{kind}", place, status=2).err, f"{kind} {place}")
    matches("refused", Run("top", f"tcp:localhost:{free_port()}", "-e", elf, status=2).err, "top")
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        skip("ipv6")
    with server:
        server.settimeout(DEADLINE)
        place = f"[::1]:{server.getsockname()[1]}"
        live = subprocess.Popen([NTRACE, "probe", "-t", topology(), "--openocd", place], stderr=subprocess.PIPE)
        with server.accept()[0] as one:
            one.recv(100)
            one.sendall(b"0 x\x1a")
            matches("this is not OpenOCD", live.communicate(timeout=DEADLINE)[1].decode(), "answer over IPv6")
        live = subprocess.Popen([NTRACE, "top", f"tcp:{place}", "-e", elf, "--count", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        server.accept()[0].close()
        matches("connecting again", live.stderr.readline().decode() + live.stderr.readline().decode(), "top over IPv6")
        live.kill()
        live.communicate()


@case("GDB in front of QEMU: the program stops at a breakpoint, and trace registers are those of the model")
def _():
    elf, _pc, _pcs = program()
    gdb, qemu = need("gdb-multiarch"), need("qemu-system-riscv64")
    port = free_port()
    with Process("timeout", "-s", "KILL", "300", qemu, "-M", "virt", "-bios", "none", "-kernel", elf, "-gdb", f"tcp:127.0.0.1:{port}",
                 "-S", "-nographic", "-serial", "none", "-monitor", "none"):
        wait_for_listener(port)
        with Process(NTRACE, "board", topology(), "--gdb-port", "0", "--target", f"127.0.0.1:{port}") as board:
            front = board.port(r"GDB listens on 127\.0\.0\.1:(\d+)")
            rows = Run("probe", "-t", topology(), "--gdb", f"127.0.0.1:{front}", "--format", "jsonl").rows()
            equal(rows[0]["abilities"]["modes"], [3, 6], "modes over GDB packets")
            script, words = os.path.join(scratch(), "capture.gdb"), os.path.join(scratch(), "words.gdb")
            Run("capture", "--script", "gdb", "-o", script, "-t", topology(), "--for", "10ms")
            with open(script, encoding="utf-8") as file:
                text = file.read().replace("words.txt", words)
            write("capture.gdb", text.encode())
            done = subprocess.run([gdb, "-nx", "-batch", "-ex", "set architecture riscv:rv64", "-ex", f"target remote 127.0.0.1:{front}",
                                   "-ex", "x/2wx 0x10000000", "-ex", "break *0x80000010", "-ex", "continue", "-ex", "info registers t0",
                                   "-x", script, elf], capture_output=True, text=True, timeout=60)
            matches("0x10000000.*0x00010101", done.stdout, "trTeImpl")
            matches("Breakpoint 1, 0x0*80000010", done.stdout, "breakpoint")
            matches("0 words of trace", done.stdout, "script")
            with open(words, encoding="utf-8") as file:
                matches("# r 0x10000004 0x00010101", file.read(), "words")


@case("hostile clients of the virtual board: it answers the next one")
def _():
    with Process(NTRACE, "board", topology(), "--bitbang", "0") as board:
        port = board.port(r"listens on 127\.0\.0\.1:(\d+)")
        for data in (bytes(range(256)) * 50, b"0123456701234567R" * 2000, b"Q", b""):
            with socket.create_connection(("127.0.0.1", port)) as one:
                one.sendall(data)
        with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as one:
            one.sendall(b"u" + b"26" * 6 + b"R")
            equal(len(one.recv(1)), 1, "answer")


@case("live: decode -f and top follow a growing file and a TCP stream that is interrupted")
def _():
    elf, pc, pcs = program()
    stream = os.path.join(scratch(), "whole.nex")
    Run("encode", "--elf", elf, "--pc", pc, "--sync-mode", "messages", "--sync-max", "0", "-o", stream)
    with open(stream, "rb") as file:
        data = file.read()
    grown = write("grown.nex", b"")
    # With --no-timestamps nothing is inferred, for which it would wait for more of the stream.
    live = subprocess.Popen([NTRACE, "decode", "-f", grown, "-e", elf, "--no-timestamps", "--show", "pc"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(grown, "wb", buffering=0) as file:
        for at in range(0, len(data), 40):
            file.write(data[at:at + 40])
            time.sleep(0.001)  # some parts arrive alone
    shown = []
    reader = threading.Thread(target=lambda: shown.extend(live.stdout))
    reader.start()
    try:
        until(lambda: len(shown) >= len(pcs) - 4, lambda: f"{len(pcs)} lines, not {len(shown)},")
    finally:
        live.send_signal(signal.SIGINT)
    live.wait(DEADLINE)
    reader.join()
    equal(b"".join(shown).decode().split(), [f"{pc:#x}" for pc in pcs], "program counters of the growing file")
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"tcp:127.0.0.1:{server.getsockname()[1]}"
        live = subprocess.Popen([NTRACE, "top", place, "-e", elf, "--interval", "200", "--count", "4"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        for _ in range(2):
            one = server.accept()[0]
            one.sendall(data)
            one.close()
        out, err = (text.decode() for text in live.communicate(timeout=DEADLINE))
    os.utime(stream, (1, 1))
    matches("the file does not grow", Run("top", stream, "-e", elf).err, "a file that is finished")
    matches("the connection has ended; connecting again", err, "reconnect")
    matches(r"%  (_start|f)\n", out, "functions")
    matches(r"source 0, context 0x0", out, "contexts")


@case("top: processes with functions at the same address; exceptions and interrupts")
def _():
    start = "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\n"
    trap = "IndirectBranchHist BTYPE=%d ICNT=3 UADDR=0x0 HIST=0x1\n"
    stream = bytes_of(start + "Ownership PROCESS=0x22\n" + trap % 2 + "Ownership PROCESS=0x42\n" + trap % 3 * 3
                      + "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=1 HIST=0x1\n")
    images = []
    for number, name in (1, "alpha"), (2, "beta"):
        path = write(name, tiny.elf(base=0x1000, symbols=((name, 0x100, 0x16),)))
        images += ["-e", f"{path}:ctx={number}"]
    run = Run("top", "-", *images, "--no-timestamps", stdin=stream)
    for line in r" 22.22 %  alpha\n", r" 77.78 %  beta\n", r"source 0, context 0x2\n", r" 1    exception to alpha\n", r" 3    interrupt to beta\n":
        matches(line, run.out, f"top; {run.err}")


main()
