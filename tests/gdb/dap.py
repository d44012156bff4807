#!/usr/bin/env python3
"""The Debug Adapter Protocol of GDB (14 and later), which editors use, over the server: attach, breakpoints, steps, stacks, reverse
commands, what is refused."""
import json
import os
import queue
import re
import subprocess
import sys
import threading

sys.path.append(os.path.join(sys.path[0], ".."))
from gdb import bundle, debuggers, program, server
from harness import ROOT, case, check, equal, main, matches, skip

LEAST, PATIENCE = 14, 120


def adapters():
    """GDBs with this interface: those of the other tests, or the GDB of tools/fetch_gdb."""
    found = []
    fetched = subprocess.run([os.path.join(ROOT, "tools", "fetch_gdb"), "--offline"], capture_output=True, text=True).stdout.split()
    for gdb in debuggers() + fetched:
        version = subprocess.run([gdb, "--version"], capture_output=True, text=True).stdout
        if int(re.search(r" (\d+)\.\d", version).group(1)) >= LEAST:
            found.append(gdb)
    return found or skip("gdb-14")


class Adapter:
    def __init__(self, gdb):
        options = ["-iex", "set osabi none", "-iex", "set trust-readonly-sections on", "-iex", "set remotetimeout 60"]
        self.process = subprocess.Popen([gdb, "-nx", "-q", *options, "-i", "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.number, self.messages = 0, queue.Queue()
        self.early = []  # stops that came before the answer to the request that made them
        threading.Thread(target=self.read, daemon=True).start()
        self.ask("initialize", adapterID="gdb")

    def read(self):
        file = self.process.stdout
        while line := file.readline():
            size = int(line.split(b":")[1])
            file.readline()
            self.messages.put(json.loads(file.read(size)))

    def send(self, command, **arguments):
        self.number += 1
        data = json.dumps({"seq": self.number, "type": "request", "command": command, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()
        return self.number

    def until(self, what, wanted):
        while True:
            try:
                message = self.messages.get(timeout=PATIENCE)
            except queue.Empty:
                check(False, f"no {what}")
            if wanted(message):
                return message
            if message.get("event") == "stopped":
                self.early.append(message)

    def ask(self, command, **arguments):
        number = self.send(command, **arguments)
        return self.until(command, lambda m: m.get("request_seq") == number)

    def stopped(self):
        stop = self.early.pop(0) if self.early else self.until("stop", lambda m: m.get("event") == "stopped")
        return stop["body"]["reason"]

    def go(self, command, **arguments):
        self.early.clear()
        done = self.ask(command, threadId=1, **arguments)
        check(done["success"], f"{command}: {done}")
        return self.stopped()

    def console(self, line):
        """A command of GDB, in an editor's debug console, that moves."""
        self.early.clear()
        done = self.ask("evaluate", expression=line, context="repl")
        check(done["success"], f"{line}: {done}")
        return done["body"]["result"]

    def frames(self):
        found = self.ask("stackTrace", threadId=1)["body"]["stackFrames"]
        return [(frame["name"], frame.get("line")) for frame in found]

    def names(self):
        return [name for name, _ in self.frames()]

    def close(self):
        self.ask("disconnect")
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)


def session(gdb, name):
    a = Adapter(gdb)
    number = a.send("attach", program=program(name), target=server(bundle(name)))
    found = a.ask("setFunctionBreakpoints", breakpoints=[{"name": "leaf"}])
    check(found["success"], f"setFunctionBreakpoints: {found}")
    a.ask("configurationDone")
    done = a.until("attach", lambda m: m.get("request_seq") == number)
    check(done["success"], f"attach: {done}")
    return a


@case("attach, breakpoints, steps, stacks, threads")
def forward():
    for gdb in adapters():
        a = session(gdb, "calls")
        equal(a.ask("threads")["body"]["threads"], [{"id": 1, "name": "hart 0, U-mode"}], "threads")
        equal(a.go("continue"), "breakpoint", "the reason of a stop")
        inside = [("leaf", 10), ("middle", 17), ("main", 35)]
        equal(a.frames(), inside, "the stack")
        equal(a.go("stepOut"), "step", "the reason of a stop")
        behind = a.frames()
        check(behind in ([("middle", 16), *inside[2:]], [("middle", 17), *inside[2:]]), f"behind stepOut: {behind}")
        a.ask("setFunctionBreakpoints", breakpoints=[])
        lines = [a.go("next") and a.frames()[0] for _ in range(3)]
        equal(lines[-2:] if lines[0][1] == 17 else lines[:2], [("middle", 16), ("middle", 17)], f"next goes around the loop: {lines}")
        while a.frames()[0] != ("middle", 17):
            equal(a.go("next"), "step", "the reason of a stop")
        a.go("stepIn")
        equal(a.frames(), inside, "stepIn")
        pc = a.ask("evaluate", expression="$pc", context="watch")["body"]["result"]
        a.go("stepIn", granularity="instruction")
        check(a.ask("evaluate", expression="$pc", context="watch")["body"]["result"] != pc, "one instruction")
        equal(a.frames(), inside, "the line is the same")
        source = a.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]["source"]["path"]
        done = a.ask("setBreakpoints", source={"path": source}, breakpoints=[{"line": 25}])
        check(done["body"]["breakpoints"][0]["verified"], f"setBreakpoints: {done}")
        a.go("continue")
        equal(a.frames(), [("fib", 25), ("main", 36)], "a breakpoint of a line")
        a.close()


@case("reverse commands of the debug console; the beginning and the end")
def backward():
    for gdb in adapters():
        a = session(gdb, "calls")
        a.go("continue")
        a.go("continue")
        first = a.ask("evaluate", expression="$pc", context="watch")["body"]["result"]
        a.console("reverse-continue")
        equal((a.names()[0], a.ask("evaluate", expression="$pc", context="watch")["body"]["result"]), ("leaf", first), "reverse-continue")
        a.ask("setFunctionBreakpoints", breakpoints=[])
        a.console("reverse-finish")
        equal(a.names()[:2], ["middle", "main"], "reverse-finish")
        a.console("reverse-continue")
        equal(a.names()[0], "_start", "the beginning")
        a.go("continue")
        check("_exit" in a.names()[0], f"the end: {a.frames()}")
        a.close()


@case("what a trace cannot do is refused; the adapter goes on")
def refused():
    for gdb in adapters():
        a = session(gdb, "calls")
        a.go("continue")
        # Not a call such as "leaf(1)": after one that fails, GDB 16 answers all requests with notStopped.
        pc = a.ask("evaluate", expression="$pc", context="watch")["body"]["result"]
        for command, text, arguments in (("setExpression", "Could not write register|cannot be changed", {"expression": "$a0", "value": "3"}),
                                         ("evaluate", "Cannot access memory", {"expression": "sink", "context": "watch"}),
                                         ("evaluate", "cannot be changed", {"expression": "set var $a0 = 3", "context": "repl"}),
                                         ("stepBack", "stepBack|unknown|unrecognized", {"threadId": 1})):
            done = a.ask(command, **arguments)
            check(not done["success"] and re.search(text, done["message"]), f"{command} {arguments}: {done}")
        done = a.ask("evaluate", expression="$a0", context="watch")
        matches("unavailable", str(done), "a register")
        done = a.ask("scopes", frameId=a.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]["id"])
        check(done["success"], f"scopes: {done}")
        for scope in done["body"]["scopes"]:
            done = a.ask("variables", variablesReference=scope["variablesReference"])
            check(done["success"] or "Cannot access memory" in done["message"], f"variables of {scope['name']}: {done}")
        code = a.ask("disassemble", memoryReference=a.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]["instructionPointerReference"],
                     instructionCount=5)
        equal(len(code["body"]["instructions"]), 5, "disassemble")
        equal(a.frames()[0], ("leaf", 10), "the place is the same")
        equal(a.ask("evaluate", expression="$pc", context="watch")["body"]["result"], pc, "the program counter is the same")
        a.close()


@case("the machine interface says reason=no-history at both ends of the trace, and where it stopped")
def ends_of_history():
    commands = [f"-target-select remote {server(bundle('calls'))}", "-exec-continue", "-exec-continue --reverse", "-exec-step-instruction --reverse", "-gdb-exit"]
    for gdb in adapters():
        done = subprocess.run([gdb, "-nx", "-q", "-iex", "set remotetimeout 60", "--interpreter=mi3", program("calls")], text=True, timeout=PATIENCE,
                              input="".join(line + "\n" for line in commands), capture_output=True)
        stops = re.findall(r'(?m)^\*stopped,(?:reason="([^"]*)",)?.*?frame=\{addr="([^"]*)"', done.stdout)
        equal([reason for reason, address in stops], ["", "no-history", "no-history", "no-history"], done.stdout)
        equal(stops[2:], [("no-history", stops[0][1])] * 2, "the beginning")
        check(stops[1][1] != stops[0][1], "the end")


main()
