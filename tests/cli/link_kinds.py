"""Servers for each kind of connection: helpers, OpenOCD's Tcl port and GDB packets in front of `ntrace board --stdio` (board_memory.py)."""
import re

from board_memory import Failed
from links import Link

CLIENT = 'exec 3<>/dev/tcp/127.0.0.1/%d || exit 1; { cat <&3; kill 0; } & cat >&3; kill 0'


class Helper(Link):
    def options(self):
        return ["--exec", f"bash -c '{CLIENT % self.port}'"]

    def requests(self, data):
        *lines, rest = data.split(b"\n")
        return lines, rest

    def answer(self, request):
        words = request.decode().split()
        try:
            if words[0] == "w":
                self.memory.write(int(words[1], 16), int(words[2], 16))
                return b"ok\n"
            return b"0x%08x\n" % self.memory.read(int(words[1], 16))
        except Failed as why:
            return f"error {why}\n".encode()


class Tcl(Link):
    """OpenOCD's Tcl port: what `list [catch {COMMAND} r] $r` returns, as the real one does (tests/cli/target.py compares them). The state of the hart
    is not known before it was polled."""
    polled = False

    def options(self):
        return ["--openocd", f"127.0.0.1:{self.port}"]

    def requests(self, data):
        *commands, rest = data.split(b"\x1a")
        return commands, rest

    def answer(self, request):
        command = re.fullmatch(r"list \[catch \{(.*)\} r\] \$r", request.decode())
        try:
            text = f"0 {{{self.result(command[1])}}}"
        except Failed as why:
            text = f"1 {{{why}}}"
        return text.encode() + b"\x1a"

    def result(self, command):
        one = re.fullmatch(r"read_memory (0x[0-9a-f]+) 32 (\d+) phys", command)
        many = re.fullmatch(r"set r \{\}; for .*\{\$i < (\d+)\} .*\[read_memory (0x[0-9a-f]+) 32 1 phys\] .*", command)
        store = re.fullmatch(r"write_memory (0x[0-9a-f]+) 32 \{(0x[0-9a-f]+)\} phys", command)
        why = re.fullmatch(r"capture \{catch \{mdw phys (0x[0-9a-f]+)\}\}", command)
        try:
            if one:
                return " ".join(f"{self.memory.read(int(one[1], 16) + 4 * i):#x}" for i in range(int(one[2])))
            if many:
                return "".join(f"{self.memory.read(int(many[2], 16)):#x} " for _ in range(int(many[1])))
        except Failed as reason:
            raise Failed("read_memory: failed to read memory") from reason
        if store:
            self.memory.write(int(store[1], 16), int(store[2], 16))
        if why:
            try:
                self.memory.read(int(why[1], 16))
            except Failed as reason:
                return str(reason)
        self.polled |= command == "[target current] arp_poll"
        return {"version": "Open On-Chip Debugger 0.12.0", "info commands read_memory": "read_memory",
                "[target current] curstate": "running" if self.polled else "unknown"}.get(command, "")


class Gdb(Link):
    """A GDB server that is neither OpenOCD nor QEMU. `hides`: it answers failed reads with zeros."""
    hides = False

    def options(self):
        return ["--gdb", f"127.0.0.1:{self.port}"]

    def requests(self, data):
        found, at = [], 0
        for one in re.finditer(rb"\x03|\$([^#]*)#..", data, re.DOTALL):
            found.append(one[1] if one[1] is not None else b"\x03")
            at = one.end()
        return found, data[at:].lstrip(b"+-")

    def answer(self, request):
        text = self.result(request.decode())
        return b"" if text is None else f"+${text}#{sum(text.encode()) & 255:02x}".encode()

    def result(self, packet):
        fixed = {"QStartNoAckMode": "OK", "?": "S05", "D": "OK", "c": None, "\x03": "S02"}
        if packet in fixed:
            return fixed[packet]
        if packet.startswith("qSupported"):
            return "PacketSize=1000;QStartNoAckMode+"
        read, store = re.fullmatch(r"m([0-9a-f]+),([0-9a-f]+)", packet), re.fullmatch(r"M([0-9a-f]+),4:([0-9a-f]{8})", packet)
        try:
            if read:
                words = range(0, int(read[2], 16), 4)
                return "".join(self.memory.read(int(read[1], 16) + at).to_bytes(4, "little").hex() for at in words)
            if store:
                self.memory.write(int(store[1], 16), int.from_bytes(bytes.fromhex(store[2]), "little"))
                return "OK"
        except Failed:
            return "0" * (2 * int(read[2], 16)) if self.hides and read else "OK" if self.hides else "E0E"
        return ""


class HidingGdb(Gdb):
    hides = True


class StrictGdb(Gdb):
    """What servers of J-Link and probe-rs are documented to do differently from QEMU and OpenOCD: small packets, no QStartNoAckMode, neither
    vCont nor qXfer, acknowledgements, and no access while the hart runs. `told`: the answer to qSupported."""
    size, told = 0x40, "PacketSize=40"

    def __init__(self, memory):
        super().__init__(memory)
        self.refused, self.longest = [], 0

    def requests(self, data):
        found, rest = super().requests(data)
        self.longest = max([self.longest, *(len(one) + 4 for one in found)])
        return found, rest

    def answer(self, request):
        return super().answer(request) or b"+"

    def result(self, packet):
        if packet.startswith("qSupported"):
            return self.told
        if packet == "QStartNoAckMode" or packet.startswith(("vCont", "qXfer", "X")):
            self.refused.append(packet)
            return ""
        if packet in ("c", "\x03"):
            self.running = packet == "c"
        read = re.fullmatch(r"m[0-9a-f]+,([0-9a-f]+)", packet)
        if self.running and packet[0] in "mM" or (read and 2 * int(read[1], 16) + 4 > self.size):
            self.refused.append(packet)
            return "E01"
        return super().result(packet)


class SilentGdb(StrictGdb):
    """It does not take qSupported, and its packets have the size that GDB takes for granted."""
    size, told = 400, ""


KINDS = {"helper": Helper, "OpenOCD": Tcl, "GDB": Gdb}
