#!/usr/bin/env python3
"""probe, capture: servers and helpers that die, stall, talk nonsense, or answer byte by byte."""
import os
import socketserver
import sys
import threading
import time

sys.path.append(os.path.join(sys.path[0], ".."))
from boards import free_port, program, topology
from harness import Run, case, check, main, matches, scratch


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
