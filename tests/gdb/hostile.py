#!/usr/bin/env python3
"""A hostile debugger at the real socket: damaged packets, packets in pieces, interrupts between bytes, switches of acknowledgement,
and random changes of a real conversation. Each packet has an answer, and the server goes on."""
import fcntl
import os
import random
import re
import socket
import struct
import subprocess
import sys
import termios
import time

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import bundle, long_loop
from harness import DEADLINE, NTRACE, case, check, equal, main, matches, scratch, until

SEED, CONVERSATIONS = 4711, 60
TALK = ["qSupported:swbreak+;hwbreak+", "vMustReplyEmpty", "QStartNoAckMode", "Hg0", "qTStatus", "?", "qfThreadInfo", "qsThreadInfo", "qC",
        "qXfer:features:read:target.xml:0,ffb", "qXfer:auxv:read::0,1000", "qXfer:libraries-svr4:read::0,1000", "qOffsets", "g", "p20",
        "m105b8,40", "Z0,105b8,2", "vCont?", "vCont;s:1;c", "vCont;r105b8,105c0:1", "vCont;c", "Hc1", "bs", "bc", "z0,105b8,2", "s", "c",
        "qThreadExtraInfo,1", "T1", "qRcmd,7768656e", "qRcmd,676f746f20353025", "qSymbol::", "P20=00", "G00", "M0,1:00", "X0,1:a", "vKill;1"]


def framed(packet):
    data = packet if isinstance(packet, bytes) else packet.encode("latin-1")
    return b"$" + data + b"#%02x" % (sum(data) & 255)


class Server:
    def __init__(self, *trace):
        self.path = os.path.join(scratch(), f"hostile-{time.monotonic_ns()}")
        self.process = subprocess.Popen([NTRACE, "gdb", "--listen", self.path, "--persistent", *(trace or [bundle("calls")])],
                                        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)

    def connect(self):
        def connected():
            link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                link.connect(self.path)
                link.settimeout(DEADLINE)
                return Link(link)
            except OSError:
                return link.close()

        return until(connected, "a connection")

    def close(self):
        self.process.terminate()
        error = self.process.stderr.read().decode()
        self.process.wait(timeout=60)
        check("Sanitizer" not in error and "runtime error" not in error, error[-2000:])
        equal(self.process.returncode, -15, f"status: {error[-500:]}")


class Link:
    def __init__(self, link):
        self.link, self.bytes = link, b""

    def all_read(self):
        """Whether the server has read all that was sent."""
        return not struct.unpack("i", fcntl.ioctl(self.link, termios.TIOCOUTQ, bytes(4)))[0]

    def send(self, data, at_once=None):
        for at in range(0, len(data), at_once or len(data) or 1):
            self.link.sendall(data[at:at + (at_once or len(data))])

    def more(self):
        data = self.link.recv(65536)
        check(data, "the server has closed the connection")
        self.bytes += data

    def answer(self):
        """The next answer: the content of a packet, "-" for a refused one; acknowledgements and console lines are passed over."""
        while True:
            found = re.match(rb"\+*(?:(-)|\$([^#]*)#(..))", self.bytes, re.S)
            if not found:
                self.more()
                continue
            self.bytes = self.bytes[found.end():]
            if found.group(1):
                return "-"
            equal(sum(found.group(2)) & 255, int(found.group(3), 16), "checksum of an answer")
            text = found.group(2).decode("latin-1")
            if not re.fullmatch("O([0-9a-f]{2})+", text):
                return text

    def ask(self, packet, at_once=None):
        self.send(framed(packet), at_once)
        return self.answer()


def with_server(test, *trace):
    server = Server(*trace)
    try:
        test(server)
    except BaseException:
        server.process.kill()
        raise
    server.close()


@case("packets in pieces: single bytes, halves, several in one piece")
def pieces():
    def test(server):
        answers = []
        for at_once in (None, 1, 3):  # a packet in one piece, in single bytes, in threes
            link = server.connect()
            answers.append([link.ask(packet, at_once) for packet in TALK[:-1]])
            link.link.close()
        check(sum(map(bool, answers[0])) > 30, f"a conversation: {answers[0]}")
        equal(answers[1], answers[0], "single bytes")
        equal(answers[2], answers[0], "three bytes at a time")
        link = server.connect()
        link.ask("QStartNoAckMode")
        link.send(b"".join(framed(x) for x in ("qC", "qAttached", "vCont?")))
        equal([link.answer() for _ in range(3)], ["QC1", "1", "vCont;c;C;s;S;t;r"], "three packets in one piece")
        link.send(framed("qProcessInfo"))
        equal(link.answer(), "pid:7fffffff;", "LLDB shows process 1 of its own machine without it")
        link.send(framed("qAttached")[:4])
        until(link.all_read, "that the first half is read")
        link.send(framed("qAttached")[4:])
        equal(link.answer(), "1", "two halves")
        link.send(framed("qC")[:3])
        link.link.close()  # half a packet, and away
        equal(server.connect().ask("qAttached"), "1", "the next debugger")
    with_server(test)


@case("damaged packets, with and without acknowledgements")
def damaged():
    def test(server):
        link = server.connect()
        for data in (b"$qC#00", b"$qC#zz", b"$qC#b", b"$" + b"m" * 40000 + b"#00"):
            link.send(data if data[-2:] != b"#b" else data + b"$")
            if data == b"$qC#b":  # the end is missing: the next packet begins
                link.send(framed("qAttached")[1:])
                equal(link.answer(), "1", "behind a packet without end")
            else:
                equal(link.answer(), "-", repr(data[:20]))
        equal(link.ask("QStartNoAckMode"), "OK", "no acknowledgements")
        link.send(b"$qC#00")
        equal(link.answer(), "E01", "a wrong checksum")
        link.send(b"$" + b"m" * 40000 + b"#00")
        equal(link.answer(), "E01", "a packet that is too long")
        equal(link.ask("QStartNoAckMode"), "OK", "again")
        link.send(b"+-+-\x03\x03\x00\xff}#}*")
        equal(link.ask("qAttached"), "1", "bytes outside of packets")
        for packet in ("Hg7fffffff", "Hc-5", "T7fffffffffffffff", "qThreadExtraInfo,zz", "vCont;s:7f", "Z0,fffffffffffffffff,1", "m,", "pffffffffffff"):
            check(link.ask(packet)[:1] in ("E", "O"), f"{packet}: an error")
    with_server(test)


@case("interrupts between the bytes of packets, and while it searches")
def interrupts():
    def test(server):
        link = server.connect()
        link.ask("QStartNoAckMode")
        for _ in range(50):
            link.send(b"\x03" + framed("qAttached") + b"\x03")
            equal(link.answer(), "1", "a packet between two interrupts")
        first, where = link.ask("?"), "thread:1;20:[0-9a-f]{16};"
        interrupted = 0
        for _ in range(10):
            link.send(framed("vCont;c") + b"\x03")
            stop = link.answer()
            check(re.match(f"T02({where}|thread:1;$)", stop) or re.match(f"T05{where}.*replaylog:end;$", stop), f"a stop: {stop}")
            interrupted += stop.startswith("T02")
            equal(link.ask("?"), stop, "the last stop")
            matches("^[0-9a-f]{16}$", link.ask("p20"), "the program counter, also if it was not known at once")
            back = link.ask("bc")
            equal((back[:3], back[-16:], link.ask("p20")), ("T05", "replaylog:begin;", re.search("20:(.*?);", first).group(1)), "back at the beginning")
        check(interrupted > 5, f"{interrupted} of 10 searches interrupted")
    with_server(test, *long_loop())


def changed(chance, data):
    data = bytearray(data)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(data) + 1)
        what = chance.randrange(4)
        if what == 0:
            data[at:at] = bytes([chance.choice(b"$#}*\x03+-:;,0fzT\x00\xff")])
        elif what == 1:
            del data[at:at + chance.randrange(1, 5)]
        elif what == 2 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        else:
            data[at:at] = data[at // 2:at]
    return bytes(data)


@case("random changes of a conversation: the server answers the next debugger")
def changes():
    def test(server):
        chance = random.Random(SEED)
        for number in range(CONVERSATIONS):
            link = server.connect()
            packets = []
            for packet in chance.choices(TALK[:-1], k=60):
                inside = changed(chance, packet.encode())
                packets.append(framed(inside) if chance.random() < 0.7 else changed(chance, framed(packet)))
            closed = False
            try:
                for packet in packets:
                    link.send(packet)
                link.send(b"$#00" + framed("qAttached"))
                link.link.shutdown(socket.SHUT_WR)
                while data := link.link.recv(65536):
                    link.bytes += data
            except (BrokenPipeError, ConnectionResetError):
                closed = True  # a changed packet was D (detach): the server closes the connection before all is sent
            link.link.close()
            check(server.process.poll() is None, f"conversation {number}: the server has ended")
            check(closed or b"$1#31" in link.bytes or b"$OK#9a" in link.bytes, f"conversation {number}: no answer at the end")
    with_server(test)


main()
