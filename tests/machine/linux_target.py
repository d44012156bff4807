#!/usr/bin/env python3
"""The static command inside of a Linux guest: it reads trace registers and trace memory through /dev/mem. `make test-linux`. TAP.

usage: linux_target.py NTRACE TARGET [--fetch]     TARGET: the static command, of `make target`

The guest's memory is a file of the host. Behind what its kernel uses are the registers of a board as they are after a capture, with the
encoder and the sink enabled, and the sink's buffer. The guest captures with --keep; the host compares the trace, and what is in the file at the
end. Such registers do not react; that registers react is shown with the other connections.
"""
import hashlib
import os
import subprocess
import sys

sys.path += [os.path.join(sys.path[0], "..", name) for name in ("", "cli")]
import boards
import harness
import linux_guest
from board_memory import Failed, Memory
from harness import Run, case, check, equal, matches, scratch, write
from link_kinds import Helper

TARGET = os.path.abspath(sys.argv[2])
RAM, BYTES, USED = 0x80000000, 512 << 20, "384M"
TE0, SINK, BUFFER, BUFFER_BYTES = 0x9c000000, 0x9c001000, 0x9c100000, 4096
TEXT = """{"components": [
  {"name": "te0", "type": "encoder", "base": "%#x", "hart": 0, "to": "ram"},
  {"name": "ram", "type": "ram", "base": "%#x", "sram": 0, "smem": true, "smem_start": "%#x", "smem_size": %d, "stop_on_wrap": true}]}"""
INIT = """#!/usr/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t devtmpfs dev /dev
echo probe begins
/ntrace probe --read-only -t /board.json --mem /dev/mem
echo status $?
/ntrace capture --keep -q -o /x.ntrace -e /bare -t /board.json --mem /dev/mem --for 10ms
echo capture status $?
/ntrace decode /x.ntrace --show pc | busybox md5sum
/ntrace probe --read-only -t /nothing.json --mem /dev/mem
/ntrace probe --read-only -t /kernel.json --mem /dev/mem
busybox poweroff -f
"""


def topology(te0, sink):
    return (TEXT % (te0, sink, BUFFER, BUFFER_BYTES)).encode()


def word(memory, address):
    try:
        return memory.plain(address)
    except Failed:
        return 0


def recorded():
    """The program, the bundle of a capture on the board, and {address: word}."""
    elf, pc, pcs = boards.program()
    path, bundle = write("board.json", topology(TE0, SINK)), os.path.join(scratch(), "host.ntrace")
    memory = Memory(path, ["-e", elf, "--pc", pc, "--ram", f"{BUFFER:#x}:{BUFFER_BYTES:#x}"])
    link = Helper(memory)
    status, text = link.run(["capture", "-o", bundle, "-e", elf, "-t", path, "--until-full"])
    check(status == 1 and "the sink was full" in text, text)
    words = {address: word(memory, address) for base, size in ((TE0, 4096), (SINK, 4096), (BUFFER, BUFFER_BYTES))
             for address in range(base, base + size, 4)}
    link.close()
    memory.end()
    boards.follows(Run("decode", bundle, "--show", "pc", status=None).lines(), pcs)
    return elf, bundle, words


def run_guest(elf, words):
    """The console, and the file with the memory."""
    path = os.path.join(scratch(), "memory")
    with open(path, "wb") as file:
        file.truncate(BYTES)
        for address, value in words.items():
            file.seek(address - RAM)
            file.write(value.to_bytes(4, "little"))
    files = {"ntrace": TARGET, "bare": elf, "board.json": os.path.join(scratch(), "board.json"),
             "nothing.json": write("nothing.json", topology(0xc0000000, 0xc0001000)),
             "kernel.json": write("kernel.json", topology(RAM + 0x1000000, RAM + 0x1001000))}
    guest = linux_guest.tool("fetch_guest", "--init", write("init", INIT.encode()),
                             *(option for name, file in files.items() for option in ("--add", f"{name}={file}")), os.path.join(scratch(), "guest"))
    done = subprocess.run([linux_guest.emulator(), "-M", "virt,memory-backend=ram", "-m",
                           f"{BYTES >> 20}M", "-object", f"memory-backend-file,id=ram,size={BYTES},mem-path={path},share=on", "-nographic",
                           "-no-reboot", "-kernel", f"{guest}/kernel", "-initrd", f"{guest}/initrd.cpio", "-append",
                           f"console=ttyS0 panic=-1 quiet mem={USED}"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
    return done.stdout.decode("utf-8", "replace").replace("\r", ""), path


@case("/dev/mem in Linux: probe, and a capture whose trace is that of the board; everything is disabled in the memory of the machine")
def devmem():
    if not os.path.exists(TARGET):
        harness.skip("static-command")
    elf, bundle, words = recorded()
    for control in TE0, SINK:
        words[control] |= 2
    console, path = run_guest(elf, words)
    matches(r"te0 at 0x9c000000: .*Impl 0x00010101, Control was 0x[0-9a-f]{7}[2367abef]", console, "probe")
    matches(r"ram at 0x9c001000: ", console, "probe")
    matches(r"capture status 1\n", console, "capture")
    text = Run("decode", bundle, "--show", "pc", status=None).bytes
    matches(hashlib.md5(text).hexdigest(), console, "the trace that the guest has read")
    with open(path, "rb") as file:
        for control in TE0, SINK:
            file.seek(control - RAM)
            value = int.from_bytes(file.read(4), "little")
            equal(value & 6, 0, f"Enable at {control:#x} ({value:#x})")
            written = 0x1006  # Enable, trTeInstTracing, and trTeInstStallOrOverflow, to which a write of 0 does nothing in hardware
            equal(value | written, words[control] | written, f"the other bits at {control:#x}")
    os.unlink(path)
    matches("te0 at 0xc0000000: .*failed .(bus error at 0xc0000000: nothing answers there|mmap of)", console, "no memory there")
    matches("te0 at 0x81000000: .*not permitted: root .*iomem=relaxed", console, "memory of the kernel")


harness.main()
