#!/usr/bin/env python3
"""Eclipse's debug adapter (npm cdt-gdb-adapter), which VS Code's extensions use: it launches and attaches, and goes forward and backward.

usage: cdt.py NTRACE PROGRAMS
"""
import json
import os
import queue
import re
import subprocess
import sys
import threading

sys.path += [os.path.join(sys.path[0], ".."), os.path.join(sys.path[0], "..", "gdb")]
from gdb import bundle, program
from harness import NTRACE, case, check, equal, main, matches, need
from unpacked import adapter

PATIENCE = 120


class Adapter:
    """The Debug Adapter Protocol over pipes."""

    def __init__(self):
        self.process = subprocess.Popen([need("node"), adapter()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number, self.messages, self.kept = 0, queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        file = self.process.stdout
        while True:
            size = 0
            for line in iter(file.readline, b""):
                if not line.strip():
                    break
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            else:
                return self.messages.put(None)
            self.messages.put(json.loads(file.read(size)))

    def send(self, command, **arguments):
        self.number += 1
        body = json.dumps({"seq": self.number, "type": "request", "command": command, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        return self.number

    def find(self, wanted):
        """The first message that fits; the others are kept."""
        for place, message in enumerate(self.kept):
            if wanted(message):
                return self.kept.pop(place)
        while True:
            message = self.messages.get(timeout=PATIENCE)
            check(message is not None, "the adapter goes on")
            if wanted(message):
                return message
            self.kept.append(message)

    def event(self, name):
        return self.find(lambda message: message.get("event") == name)["body"]

    def ask(self, command, **arguments):
        number = self.send(command, **arguments)
        answer = self.find(lambda message: message["type"] == "response" and message["request_seq"] == number)
        check(answer["success"], f"{command}: {answer.get('message')}")
        return answer.get("body") or {}

    def stack(self, thread=1):
        return [(frame["name"], frame["line"]) for frame in self.ask("stackTrace", threadId=thread)["stackFrames"]]

    def move(self, command):
        self.ask(command, threadId=1)
        self.event("stopped")
        return self.stack()


@case("launch: the adapter starts the server", "launch")
@case("attach: to a server that listens", "attach")
def _(request):
    trace, served = bundle("calls-O0"), None
    arguments = {"program": program("calls-O0"), "gdb": need("gdb-multiarch"), "gdbArguments": [
        word for setting in ("osabi none", "trust-readonly-sections on", "remotetimeout 60", "sysroot /") for word in ("-iex", "set " + setting)]}
    if request == "launch":
        arguments["target"] = {"type": "remote", "server": NTRACE, "serverParameters": ["gdb", "--listen", "0", trace]}
    else:
        served = subprocess.Popen([NTRACE, "gdb", "--listen", "0", trace], stderr=subprocess.PIPE, text=True)
        host, port = re.search(r"gdb-remote (\S+):(\d+)", served.stderr.readline()).groups()
        arguments["target"] = {"type": "remote", "host": host, "port": port}
    a = Adapter()
    try:
        a.ask("initialize", adapterID="gdb", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
        a.send(request, **arguments)
        a.find(lambda message: message.get("event") == "initialized")
        equal([point["verified"] for point in a.ask("setFunctionBreakpoints", breakpoints=[{"name": "leaf"}])["breakpoints"]], [True], "breakpoint")
        a.ask("configurationDone")
        equal(a.event("stopped")["reason"], "function breakpoint", "the first stop")
        threads = a.ask("threads")["threads"]
        equal([thread["name"] for thread in threads], ["1 (hart 0, U-mode)"], "threads")
        first = a.stack()
        equal([name for name, _ in first], ["leaf", "middle", "main"], "stack")
        frame = a.ask("stackTrace", threadId=1)["stackFrames"][0]["id"]
        scope = a.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        equal([(row["name"], row["value"]) for row in a.ask("variables", variablesReference=scope)["variables"]], [("x", "")], "no value is invented")
        line = a.move("next")
        check(line[0][0] == "leaf" and line[0][1] > first[0][1] and line[1:] == first[1:], f"next: {line}")
        equal([name for name, _ in a.move("stepIn")], ["middle", "main"], "step out of leaf")
        again = a.move("continue")
        equal(again, first, "continue")
        a.ask("evaluate", expression=">reverse-finish", context="repl")
        a.event("stopped")
        equal([name for name, _ in a.stack()], ["middle", "main"], "reverse-finish")
        a.ask("evaluate", expression=">monitor when", context="repl")
        said = "".join(message["body"]["output"] for message in a.kept if message.get("event") == "output")
        matches(r"hart 0, U-mode: instruction \d+ of \d+", said, "monitor when")
        a.ask("disconnect")
    finally:
        a.process.kill()
        if served:
            served.kill()


if __name__ == "__main__":
    main()
