#!/usr/bin/env python3
"""probe, capture: servers and helpers that die, stall, talk nonsense, or answer byte by byte."""
import os
import re
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from boards import free_port, program, topology
from harness import NTRACE, Run, bytes_of, case, catches, check, main, matches, scratch, until, write


@case("a server that dies, stalls or talks nonsense ends the capture with its reason")
def _():
    elf, _pc, _pcs = program()
    for command, expected in (("exit 0", "closed the connection|reset by peer|Broken pipe"), ("read x; sleep 9", "does not answer within 200 ms"),
                              ("yes hello", "expected a 32-bit number|of trRamControl failed"), ("yes error broken", "broken")):
        run = Run("capture", "-o", os.path.join(scratch(), "x.ntrace"), "-e", elf, "-t", topology(), "--exec", command, "--timeout",
                  "200", "--for", "10ms", status=2)
        matches(expected, run.err, command)
        check(not os.path.exists(os.path.join(scratch(), "x.ntrace")), "a bundle of nothing")
    for kind in ("openocd", "gdb"):
        matches("refused", Run("probe", "-t", topology(), f"--{kind}", f"127.0.0.1:{free_port()}", status=2).err, kind)


def packet(data):
    return b"$" + data + b"#%02x" % (sum(data) & 255)


class Flooding(socketserver.BaseRequestHandler):
    """A GDB server that never stops sending console output: after a request that `after` names."""
    after = b"?"

    def handle(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        waiting = b""
        while data := self.request.recv(65536):
            waiting += data
            while found := re.match(rb"[+-]*(?:\x03|\$([^#]*)#..)", waiting, re.S):
                waiting = waiting[found.end():]
                request = found[1]
                if request is None or request.startswith(self.after):
                    flood = packet(b"O41") * 10000
                    try:
                        while True:
                            self.request.sendall(flood)
                    except OSError:
                        return
                answer = {b"qS": b"PacketSize=4000", b"?": b"T05", b"M": b"OK", b"m": b"00000000"}
                self.request.sendall(b"+" + packet(next((a for k, a in answer.items() if request.startswith(k)), b"")))


@case("a server that floods: deadlines are looked at before data, and each signal ends the capture within a second")
def _():
    topology = write("flood.json", b'{"components": [{"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "ram"}, '
                     b'{"name": "ram", "type": "ram", "base": "0x10020000", "sram": 65536}]}')
    for after in b"?", b"m", b"M":
        kind = type("Kind", (Flooding,), {"after": after})
        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), kind) as server:
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            line = [NTRACE, "capture", "-o", os.path.join(scratch(), "flood.ntrace"), "-t", topology, "--for", "100ms", "-q", "--gdb",
                    f"127.0.0.1:{server.server_address[1]}"]
            begin = time.monotonic()
            done = subprocess.run([*line, "--timeout", "200"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
            check(done.returncode == 2 and time.monotonic() - begin < 10, f"{after}: {done.returncode} {done.stderr}")
            for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
                with subprocess.Popen([*line, "--timeout", "60000"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
                    until(lambda: catches(child.pid, number), "a handler")
                    time.sleep(0.2)
                    begin = time.monotonic()
                    child.send_signal(number)
                    child.communicate(timeout=60)
                    check(time.monotonic() - begin < 3, f"{after}, {number}: {time.monotonic() - begin:.1f} s")  # 1 s on a quiet machine
            server.shutdown()


@case("ntrace gdb --listen: a client that does not read is no reason to stay after a signal")
def _():
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
        place = os.path.join(scratch(), f"listen-{int(number)}")
        stream = write("short", bytes_of(tiny.HTM))
        # nohup ignores SIGHUP
        with subprocess.Popen([NTRACE, "gdb", "--listen", place, "-e", write("tiny.elf", tiny.elf()), stream], stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL)) as child:
            with socket.socket(socket.AF_UNIX) as client:
                until(lambda: client.connect_ex(place) == 0, "a socket that answers")  # its file is there before it listens
                client.setblocking(False)
                requests = packet(b"qXfer:features:read:target.xml:0,ffb") * 100
                try:
                    for _ in range(1000):
                        client.send(requests)
                        time.sleep(0.001)
                except BlockingIOError:
                    pass
                time.sleep(0.1)
                begin = time.monotonic()
                child.send_signal(number)
                child.communicate(timeout=30)
                check(time.monotonic() - begin < 3, f"{number}: {time.monotonic() - begin:.1f} s")


class Dripping(socketserver.BaseRequestHandler):
    """Sends a byte in less time than the limit, and never a whole answer."""

    def handle(self):
        try:
            self.request.sendall(b"+$")
            while True:
                time.sleep(0.05)
                self.request.sendall(b"0")
        except OSError:
            pass


@case("a server that answers byte by byte, each of them in time, has one time limit for the whole answer")
def _():
    elf, _pc, _pcs = program()
    helper = "printf '+$'; while sleep 0.05; do printf 0; done"
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Dripping) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{server.server_address[1]}"
        for option in (["--openocd", place], ["--gdb", place], ["--exec", helper]):
            run = Run("capture", "-o", os.path.join(scratch(), "drip.ntrace"), "-e", elf, "-t", topology(), *option, "--timeout", "200",
                      "--for", "10ms", status=2)
            matches("does not answer within 200 ms", run.err, option[0])
        server.shutdown()


main()
