#!/usr/bin/env python3
"""The server without a GDB: packets, hostile input, monitor commands, sockets, gaps, interrupts."""
import os
import re
import socket
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import Session, bundle, damaged, debuggers, long_loop, program, run_gdb, server
from harness import DEADLINE, NTRACE, ROOT, Run, bytes_of, case, check, equal, main, matches, need, processor_seconds, scratch, until, write


def pcs_of(path, *options):
    return [int(line, 16) for line in Run("decode", "--show", "pc", path, *options, status=None).lines()]


@case("the subset of the protocol")
def subset():
    s = Session(bundle("calls"))
    matches("ReverseContinue", s.ask("qSupported:swbreak+"), "qSupported")
    for packet in ("vMustReplyEmpty", "qTStatus", "Z2,1000,8", "vFile:open:00", "QNonStop:1", "!", "unknown", ""):
        equal(s.ask(packet), "", packet)
    equal(s.ask("qC"), "QC1", "qC")
    equal(s.ask("qAttached"), "1", "qAttached")
    equal(s.ask("qfThreadInfo"), "m1", "qfThreadInfo")
    equal(s.ask("qsThreadInfo"), "l", "qsThreadInfo")
    matches("^T05thread:1;20:", s.ask("?"), "?")
    registers = s.ask("g")
    equal(len(registers), 2 * (33 * 8 + 32 * 8 + 3 * 4), "size of g")
    equal(registers[:16], "0" * 16, "x0")
    equal(registers[16 * 10:16 * 11], "x" * 16, "a0")
    for packet in ("G00", "P20=00", "M1000,1:00", "X1000,1:a", "c1000"):
        matches("cannot be changed", s.ask(packet), packet)
    equal(s.ask("vCont?"), "vCont;c;C;s;S;t;r", "vCont?")
    xml = s.ask("qXfer:features:read:target.xml:0,4000")
    matches("riscv:rv64.*org.gnu.gdb.riscv.fpu", xml.replace("\n", ""), "target.xml")
    parts = "".join(s.ask(f"qXfer:features:read:target.xml:{at:x},40")[1:] for at in range(0, len(xml), 0x40))
    equal(parts, xml[1:], "target.xml in parts")
    matches("/calls$", s.ask("qXfer:exec-file:read::0,fff"), "exec-file")
    equal(s.ask("D"), "OK", "D")
    equal(s.close(), 0, "status")


def one_segment(path):
    """A copy of a 32-bit program whose segments of code can be written, as in much firmware. Its sections stay as they are."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    headers, size, count = int.from_bytes(data[28:32], "little"), data[42], data[44]
    for at in range(headers, headers + size * count, size):
        if data[at] == 1 and data[at + 24] & 1:  # PT_LOAD, PF_X
            data[at + 24] |= 2  # PF_W
    return write("one-segment", bytes(data))


@case("code in a segment that can be written is read, as far as its sections cannot be written")
def firmware():
    path = program("bare32")
    out = subprocess.run(["riscv64-linux-gnu-readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    sections = {m[1]: (int(m[2], 16), int(m[3], 16), int(m[4], 16), m[5])
                for m in re.finditer(r"\] (\S+) +\S+ +(\w+) (\w+) (\w+) \w+ +(\w+) ", out)}
    address, offset, size, flags = sections[".text"]
    equal(flags, "AX", "flags of .text")
    stream = os.path.join(bundle("bare32", "--no-compress"), "trace.nex")
    with open(path, "rb") as file:
        text = file.read()[offset:offset + size]
    s = Session(stream, "-e", one_segment(path), "--auto")
    equal(s.ask(f"m{address:x},20"), text[:32].hex(), "first bytes")
    equal(s.ask(f"m{address + size - 4:x},4"), text[-4:].hex(), "last bytes")
    for name, (begin, _, _, kind) in sections.items():
        if kind == "WA":
            equal(s.ask(f"m{begin:x},1"), "E01", name)
    equal(s.close(), 0, "status")


@case("malformed packets are answered by an error or nothing")
def hostile():
    s = Session(bundle("calls"))
    for packet in ("m", "m1", "m1,", "m1,zz", "mffffffffffffffff,ffff", "mfffffffffffffffff,1", "p", "pzz", "p44", "pffffffff",
                   "Z0", "Z0,", "Z0,zz,2", "z0,1", "Hg", "Hg99", "Hx1", "T", "T77", "T-", "vCont", "vCont;", "vCont;x",
                   "vCont;s:99", "vCont;r1,2", "vCont;r1", "vCont;c:1;", "vCont;s:1junk", "qXfer:features:read:target.xml:",
                   "qXfer:features:read:target.xml:fffffff,10", "qXfer:memory-map:read::0,10", "qXfer:", "qRcmd,", "qRcmd,1",
                   "qRcmd,zz", "qThreadExtraInfo,", "qThreadExtraInfo,99", "bX", "b", "s12", "\x00", "}", "qSupported" * 900):
        answer = s.ask(packet)
        check(answer is not None, f"{packet[:40]!r}: the server has gone")
    check(s.ask("?").startswith("T"), "a server that works")
    s.send(b"$" + b"m" * 40000 + b"#00")
    equal(s.receive(), "E01", "a too long packet")
    s.send(b"$?#00")
    equal(s.receive(), "E01", "a wrong checksum")
    s.send(b"+++\x03\x03---$qC$qC#b4")
    equal(s.receive(), "QC1", "a packet without end before another")
    s.send(b"$m10,")
    equal(s.close(), 0, "status when the input ends inside of a packet")


@case("a wrong checksum is refused while packets are acknowledged")
def acknowledged():
    done = subprocess.run([NTRACE, "gdb", "--stdio", bundle("calls")], input=b"$qC#00$qC#b4-", capture_output=True, timeout=60)
    equal(done.stdout, b"-+$QC1#c5$QC1#c5", "answers")


@case("steps and breakpoints, forward and backward, agree with the list of program counters")
def agreement():
    for name in ("calls", "calls-pie", "bare32"):
        path = bundle(name)
        pcs = pcs_of(path)
        s = Session(path)
        equal(s.pc(), pcs[0], f"{name}: first")
        for at in (1, 2, 3):
            equal(s.pc(s.ask("vCont;s:1;c")), pcs[at], f"{name}: step {at}")
        for at in (2, 1):
            equal(s.pc(s.ask("bs")), pcs[at], f"{name}: step back to {at}")
        target = pcs[len(pcs) // 2]
        hits = [at for at, pc in enumerate(pcs) if pc == target and at > 1]
        s.ask(f"Z0,{target:x},2")
        for _ in hits:
            matches("swbreak", s.ask("vCont;c"), f"{name}: hit")
        matches("replaylog:end", s.ask("vCont;c"), f"{name}: end")
        matches("replaylog:end", s.ask("vCont;c"), f"{name}: end again")
        for at in reversed(hits):
            matches("swbreak", s.ask("bc"), f"{name}: hit back")
            matches(f"instruction {at} of {len(pcs)}", s.monitor("when"), f"{name}: when")
        while "replaylog:begin" not in s.ask("bc"):
            pass
        equal(s.pc(), pcs[0], f"{name}: begin")
        equal(s.close(), 0, "status")


@case("monitor commands")
def monitor():
    path = bundle("calls")
    pcs = pcs_of(path)
    s = Session(path)
    for word in ("when", "goto", "next-gap", "prev-gap", "caller", "return", "hits", "gaps"):
        matches(rf"^{word}", s.monitor("help")[s.monitor("help").index(f"\n{word}") + 1:], f"help of {word}")
    matches(r"hart 0, U-mode: instruction 0 of \d+ at 0x.*message #\d+ at byte @0x", s.monitor("when"), "when")
    for place, expected in (("end", len(pcs)), ("begin", 0), ("1234", 1234), ("50%", None), ("100%", len(pcs)), ("0x10", 16)):
        found = int(re.search(r"instruction (\d+)", s.monitor(f"goto {place}")).group(1))
        check(found == expected or (expected is None and abs(found - len(pcs) // 2) <= 1), f"goto {place}: {found}")
    # Places that decode prints lead to what decode prints there.
    rows = [row for row in Run("decode", "--show", "branch", "--format", "jsonl", path).rows() if row["kind"] == "span"]
    for row in rows[100:2000:400]:
        s.monitor(f"goto #{row['message']}")
        first = next(r for r in rows if r["message"] >= row["message"])
        message = int(re.search(r"#(\d+)", s.monitor("when")).group(1))
        equal(message, first["message"], "goto #MESSAGE")
        s.monitor(f"goto @{row['offset']}")
        matches(rf"@{row['offset']:#x}", s.monitor("when"), "goto @OFFSET")
    for wrong in ("goto", "goto x", "goto 12x", "goto #", "hits nothing", "gaps", "dance"):
        matches("expected|no command", s.monitor(wrong), wrong)
    address = Run("decode", "--show", "insn", path).out
    leaf = int(re.search(r"(0x\w+) .*<leaf>", address).group(1), 16)
    matches(f"executed {pcs.count(leaf)} times; first as instruction {pcs.index(leaf)}", s.monitor("hits leaf"), "hits")
    s.monitor(f"goto {pcs.index(leaf)}")
    matches("<middle", s.monitor("caller"), "caller")
    matches("<leaf", s.monitor(f"goto {pcs.index(leaf)}"), "goto leaf")
    matches("<middle", s.monitor("return"), "return")
    matches("no gap", s.monitor("next-gap"), "next-gap")
    equal(s.close(), 0, "status")


@case("gaps stop with a sentence, and can be passed")
def gaps():
    path = damaged()
    pcs = pcs_of(path)
    s = Session(path)
    stop = s.ask("vCont;c")
    check("replaylog" not in stop, "a stop at the gap")
    matches(r"ntrace: \d+ bytes lost here \(message \d+ at byte 0x", s.console, "the sentence")
    at = int(re.search(r"instruction (\d+)", s.monitor("when")).group(1))
    equal(s.pc(stop), pcs[at], "behind the gap")
    s.monitor("goto begin")
    matches("bytes lost here", s.monitor("next-gap"), "next-gap")
    s.monitor("goto end")
    matches("bytes lost here", s.monitor("prev-gap"), "prev-gap")
    s.monitor("goto begin")
    matches("does not stop", s.monitor("gaps pass"), "gaps pass")
    matches("replaylog:end", s.ask("vCont;c"), "the end")
    equal(s.close(), 0, "status")


@case("harts are threads, each with its own program counters")
def harts():
    path = bundle("threads")
    s = Session(path)
    s.monitor("goto end")
    threads = s.ask("qfThreadInfo")[1:].split(",")
    equal(len(threads), 2, "threads")
    for thread, source in zip(threads, (0, 1)):
        pcs = pcs_of(path, "--src", source)
        s.monitor("goto begin")
        s.ask(f"Hc{thread}")
        s.ask(f"Hg{thread}")
        for at in range(1, 200):
            found = s.pc(s.ask(f"vCont;s:{thread};c"))
            equal(found, pcs[at], f"thread {thread}, step {at}")
        for at in range(198, 100, -1):
            s.ask(f"Hc{thread}")
            equal(s.pc(s.ask("bs")), pcs[at], f"thread {thread}, step back to {at}")
        matches(f"hart {source}", bytes.fromhex(s.ask(f"qThreadExtraInfo,{thread}")).decode(), "extra info")
    equal(s.close(), 0, "status")


def connect(kind, where):
    def connected():
        link = socket.socket(kind, socket.SOCK_STREAM)
        try:
            link.connect(where)
            return link
        except OSError:
            return link.close()

    return until(connected, f"a connection to {where}")


@case("--listen: a Unix socket, a port, one debugger after the other with --persistent")
def listen():
    path = os.path.join(scratch(), "listen")
    process = subprocess.Popen([NTRACE, "gdb", "--listen", path, "--persistent", bundle("calls")], stderr=subprocess.DEVNULL)
    for _ in range(2):
        link = connect(socket.AF_UNIX, path)
        link.sendall(b"$qC#b4")
        equal(link.recv(100), b"+$QC1#c5", "answer")
        link.sendall(b"$k#6b")
        link.close()
    process.terminate()
    process.wait(timeout=DEADLINE)
    process = subprocess.Popen([NTRACE, "gdb", "--listen", "0", bundle("calls")], stderr=subprocess.PIPE, text=True)
    port = int(re.search(r"127\.0\.0\.1:(\d+)", process.stderr.readline()).group(1))
    link = connect(socket.AF_INET, ("127.0.0.1", port))
    link.sendall(b"$D#44")
    matches("OK", link.recv(100).decode(), "answer")
    link.close()
    equal(process.wait(timeout=DEADLINE), 0, "status")


def on_port(path):
    """The server of a bundle at a port: the process and the port, by the line that debug adapters look for."""
    process = subprocess.Popen([NTRACE, "gdb", "--listen", "0", path], stderr=subprocess.PIPE, text=True)
    lines = iter(process.stderr.readline, "")
    return process, next(int(found[1]) for line in lines if (found := re.search(r"Listening on port ([0-9]+)\r?\n", line)))


def packet(link, text):
    """The answer to a packet, with its escapes resolved."""
    link.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 255))
    data = b""
    while not re.search(rb"\$[^#]*#..$", data, re.S):
        data += link.recv(65536)
    data = data[data.index(b"$") + 1:-3]
    return re.sub(rb"}(.)", lambda m: bytes([m[1][0] ^ 0x20]), data, flags=re.S)


@case("vFile: the program and its libraries, at a port; no other file, and nothing is written")
def files():
    path = bundle("callbacks-O0")
    process, port = on_port(path)
    link = connect(socket.AF_INET, ("127.0.0.1", port))
    try:
        packet(link, "QStartNoAckMode")
        names = re.findall(r'library name="([^"]*)"', packet(link, "qXfer:libraries-svr4:read::0,3000").decode())
        check(len(names) > 2, f"libraries: {names}")
        names.append(packet(link, "qXfer:exec-file:read::0,1000").decode()[1:])
        equal(packet(link, "vFile:setfs:0"), b"F0", "setfs")
        for name in names:
            with open(name, "rb") as file:
                expected = file.read()
            opened = packet(link, f"vFile:open:{name.encode().hex()},0,1c0")
            equal(opened, b"F0", f"open {name}")
            state = packet(link, "vFile:fstat:0")
            equal((state[:4], int.from_bytes(state[4 + 28:4 + 36], "big")), (b"F40;", len(expected)), f"size of {name}")
            data = b""
            while (part := packet(link, f"vFile:pread:0,4000,{len(data):x}")) != b"F0;":
                size, part = part[1:].split(b";", 1)
                equal(len(part), int(size, 16), "bytes of an answer")
                data += part
            check(data == expected, f"content of {name}")
            equal(packet(link, "vFile:close:0"), b"F0", "close")
        for other in "/etc/passwd", names[0] + "/../../capture.json", os.path.join(path, "capture.json"), "":
            check(packet(link, f"vFile:open:{other.encode().hex()},0,0").startswith(b"F-1,"), f"open {other!r}")
        check(packet(link, f"vFile:open:{names[0].encode().hex()},2,1c0").startswith(b"F-1,"), "open for writing")
        for text in "vFile:open:zz,0,0", "vFile:pread:9,10,0", "vFile:pread:0,10,0", "vFile:close:ffffffffffffffff", "vFile:unlink:2f", "vFile:fstat:0", "vFile:open:2f":
            check(packet(link, text).startswith(b"F-1,"), text)
        found = [packet(link, f"vFile:open:{names[0].encode().hex()},0,0") for _ in range(20)]
        check(found[15] == b"Ff" and found[16].startswith(b"F-1,"), f"many files: {found}")
    finally:
        link.close()
        process.kill()
        process.communicate()


@case("a GDB on another machine has the program and the libraries from the bundle; a local one is not told to")
def from_bundle():
    for gdb in debuggers():
        process, port = on_port(bundle("callbacks-O0"))
        lines = "\n".join(run_gdb(gdb, None, f"127.0.0.1:{port}", ["break order", "continue", "bt 2"], ["set osabi none"]))
        process.kill()
        process.communicate()
        matches(r"Reading \S+liblibrary-O0.so from remote target", lines, "a library")
        matches(r"Reading \S+callbacks-O0 from remote target", lines, "the program")
        matches(r"#0 +order \(.*library.cc:10", lines, "a breakpoint in a library")
        done = subprocess.run([gdb, "-nx", "-q", "-batch", "-ix", os.path.join(ROOT, "examples", "ntrace.gdb"), program("callbacks-O0"), "-ex",
                               f"target remote {server(bundle('callbacks-O0'))}", "-ex", "info sharedlibrary"], capture_output=True, text=True, timeout=120)
        matches(r"0x\w+ +Yes.*liblibrary-O0.so", done.stdout, f"libraries of a local one: {done.stderr}")
        check("warning" not in done.stderr and "Reading" not in done.stdout, f"what a local one says: {done.stdout}{done.stderr}")


def raw_stream():
    """The stream of a bundle, its program, and the options for its parameters."""
    path = bundle("calls", "--no-compress")
    elf = os.path.join(path, "images", os.listdir(os.path.join(path, "images"))[0])
    options = ["-e", elf, "--implicit-return", "full", "--return-stack", "32", "--sequential-jump"]
    return os.path.join(path, "trace.nex"), options


@case("raw streams: with parameters, inferred, compressed")
def raw():
    stream, options = raw_stream()
    pcs = pcs_of(bundle("calls", "--no-compress"))
    inputs = [(stream, options), (stream, options[:2] + ["--auto"])]
    subprocess.run([need("zstd"), "-q", "-f", stream, "-o", stream + ".zst"], check=True)
    inputs.append((stream + ".zst", options))
    for path, given in inputs:
        s = Session(path, *given)
        matches(f"instruction {len(pcs)} ", s.monitor("goto end"), " ".join(given))
        s.monitor("goto 77")
        equal(s.pc(), pcs[77], " ".join(given))
        equal(s.close(), 0, "status")


@case("raw streams that can be read only once: standard input, a pipe")
def once():
    stream, options = raw_stream()
    pcs = pcs_of(bundle("calls", "--no-compress"))
    path, fifo = os.path.join(scratch(), "once"), os.path.join(scratch(), "fifo")
    with open(stream, "rb") as file:
        process = subprocess.Popen([NTRACE, "gdb", "--listen", path, "-", *options], stdin=file, stderr=subprocess.DEVNULL)
    link = connect(socket.AF_UNIX, path)
    link.sendall(b"$p20#d2")
    found = link.recv(100)
    check(found.startswith(b"+$" + pcs[0].to_bytes(8, "little").hex().encode()), f"the first address: {found}")
    link.close()
    process.wait(timeout=DEADLINE)
    os.mkfifo(fifo)
    writer = subprocess.Popen(["cp", stream, fifo])
    s = Session(fifo, *options)
    matches(f"instruction {len(pcs)} ", s.monitor("goto end"), "a named pipe")
    s.monitor("goto 99")
    equal(s.pc(), pcs[99], "a named pipe")
    equal(s.close(), 0, "status")
    writer.wait(timeout=DEADLINE)


@case("a breakpoint at an ECALL is not reached, and the server says so once")
def ecall():
    path = bundle("bare32")
    pcs = pcs_of(path)
    stop = Run("decode", "--show", "insn", path).lines()[-1] # the program ends with its system call
    address = int(re.search(r"# stop 4 .* at (0x\w+)", stop).group(1), 16)
    s = Session(path)
    s.ask(f"Z0,{pcs[5]:x},2")
    s.ask("vCont;c")
    equal(s.console, "", "before")
    s.ask(f"Z0,{address:x},4")
    matches("replaylog:end", s.ask("vCont;c"), "the end")
    matches(f"^ntrace: a trace has no ECALL.*the breakpoint at {address:#x} is not reached", s.console, "the sentence")
    s.ask("vCont;c")
    equal(s.console.count("ntrace: "), 1, "once")
    equal(s.close(), 0, "status")


@case("an interrupt ends a long search at once, at the place that it has reached")
def interrupt():
    s = Session(*long_loop())
    s.ask("Z0,1008,4")
    s.send(b"$vCont;c#a8\x03") # in one piece: not to be lost
    stop = s.receive()
    check(stop.startswith("T02"), f"the stop: {stop}")
    at = int(re.search(r"instruction (\d+) of", s.monitor("goto end") and s.monitor("when")).group(1))
    check(at > 20000000, f"the end is {at}")
    s.monitor("goto begin")
    s.monitor("goto begin")
    used = processor_seconds(s.process.pid)
    s.send(b"$vCont;c#a8")
    matches("replaylog:end", s.receive(), "without an interrupt")
    s.send(b"\x03")
    matches("T05", s.ask("?"), "an interrupt while stopped is nothing")
    used = processor_seconds(s.process.pid) - used
    check(used < 60, f"a search took {used} s of processor time")
    equal(s.close(), 0, "status")


@case("an interrupt that waits behind other packets does not make a step run to the end")
def early_interrupt():
    for packet in (b"$s#73", b"$vCont;s#b8"):
        done = subprocess.run([NTRACE, "gdb", "--stdio", bundle("calls")], input=packet + b"$qC#b4\x03$qC#b4", capture_output=True, timeout=60)
        matches(r"^\+\$T0[25]thread:1;(?!.*replaylog).*\+\$QC1#c5\+\$QC1#c5$", done.stdout.decode(), repr(packet))


@case("wrong usage")
def usage():
    path = bundle("calls")
    for options, text in (((path, "--stdio", "--listen", "1"), "cannot be combined"), (("-",), "use --listen"), (("--stdio", "-"), "use --listen"),
                          ((path, "--persistent"), "needs --listen"), ((path, "--listen", scratch() + "/no/where"), "No such file"),
                          ((path, "--debugger", "/bin/true"), "not a GDB"), ((scratch() + "/no",), "cannot open")):
        matches(text, Run("gdb", *options, status=2).err, " ".join(options))
    empty = write("empty.nex", bytes_of(""))
    elf = os.path.join(path, "images", "calls")
    done = subprocess.run([NTRACE, "gdb", "--stdio", empty, "-e", elf], input=b"$?#3f", timeout=60, capture_output=True)
    equal((done.returncode, done.stdout), (2, b""), "an empty trace")
    matches("empty.nex: expected a trace, found an empty file$", done.stderr.decode().strip(), "an empty trace")


main()
