"""A model of a kernel on one hart and on several, which counts what it does.

It has functions with the names of Linux, threads with stacks of their own that sleep inside system calls, kernel threads
without an address space, and interrupts. It runs as Python generators, and writes each block as an ingress record.
"""
import collections
import json
import os
import random
import subprocess

from harness import NTRACE, folder

KERNEL, USER = 0xFFFFFFFF80000000, 0x10000
NOP, JALR, RET, SRET, ECALL = b"\x01\x00", b"\x82\x97", b"\x82\x80", b"\x73\x00\x20\x10", b"\x73\x00\x00\x00"
OFF, ON = b"\x73\x70\x01\x10", b"\x73\x60\x01\x10"  # csrci and csrsi sstatus, 2
# How each part of a function ends: c call, i call through a pointer, r return, s trap return, e ECALL, j jump to
# the begin, f jump to the next instruction, - nothing (trap here); o and O: nothing, interrupts are switched off and on.
CODE = {
    "_start_kernel": "3c", "start_kernel": "5c2c1c", "do_one_initcall": "2i1r", "init_uart": "30r", "init_net": "50r",
    "rest_init": "2c4c", "handle_exception": "4i3s", "do_trap_ecall_u": "3i2r", "do_page_fault": "20r",
    "__riscv_sys_read": "6c4r", "ksys_read": "7r", "__riscv_sys_nanosleep": "5c3r", "__riscv_sys_getpid": "2r",
    "__riscv_sys_exit_group": "3c2r", "do_exit": "5c1r", "schedule": "2c1r", "__schedule": "9c5r", "__switch_to": "8r",
    "do_irq": "3c2c2r", "handle_percpu_devid_irq": "2i1i2r", "add_interrupt_randomness": "5r", "riscv_timer_interrupt": "11r",
    "__handle_irq_event_percpu": "2i1r", "uart_interrupt": "13r", "worker_thread": "4c2c3j", "ret_from_fork": "2i1r",
    "do_idle": "3c1j", "process_work": "5O6o4f2O2f3o1f1O1f1r", "free_initmem": "4r",
}
USER_CODE = {"program": "9e3e5e7e11e2-"}
ITYPE = {"c": 9, "i": 8, "r": 13, "s": 3, "j": 15, "-": 0, "o": 0, "O": 0, "f": 15}
ENDS = {"c": None, "i": JALR, "r": RET, "s": SRET, "e": ECALL, "j": None, "-": NOP, "o": OFF, "O": ON, "f": None}


def parts(text):
    """(NOPs, end) of each part: "3c12r" is [(3, "c"), (12, "r")]."""
    number, found = "", []
    for c in text:
        if c.isdigit():
            number += c
        else:
            found.append((int(number), c))
            number = ""
    return found


def jal(offset):
    bits = offset & 0x1FFFFF
    return ((bits >> 20 & 1) << 31 | (bits >> 1 & 0x3FF) << 21 | (bits >> 11 & 1) << 20 | (bits >> 12 & 0xFF) << 12
            | 0xEF).to_bytes(4, "little")


def jump(offset):
    """c.j"""
    bit = [offset >> n & 1 for n in range(12)]
    order = (5, 1, 2, 3, 7, 6, 10, 8, 9, 4, 11)
    return (0xA001 | sum(bit[b] << 2 + n for n, b in enumerate(order))).to_bytes(2, "little")


class Layout:
    """Addresses and bytes. `segments[name]` has (address, halfwords, instructions, end, size of the last) of each part."""

    CALLS = {("_start_kernel", 0): "start_kernel", ("start_kernel", 0): "do_one_initcall", ("start_kernel", 1): "do_one_initcall",
             ("start_kernel", 2): "rest_init", ("rest_init", 0): "free_initmem", ("rest_init", 1): "do_idle",
             ("__riscv_sys_read", 0): "ksys_read",
             ("__riscv_sys_nanosleep", 0): "schedule", ("__riscv_sys_exit_group", 0): "do_exit", ("do_exit", 0): "schedule",
             ("schedule", 0): "__schedule", ("__schedule", 0): "__switch_to", ("do_irq", 0): "handle_percpu_devid_irq",
             ("do_irq", 1): "__handle_irq_event_percpu", ("worker_thread", 0): "schedule", ("worker_thread", 1): "process_work",
             ("do_idle", 0): "schedule"}

    def __init__(self):
        self.start, self.segments, self.images = {}, {}, {}
        for base, code in (KERNEL, CODE), (USER, USER_CODE):
            for number, name in enumerate(code):
                self.start[name] = base + 0x100 * number
        for base, code in (KERNEL, CODE), (USER, USER_CODE):
            memory = bytearray()
            for name, text in code.items():
                memory += bytes(self.start[name] - base - len(memory))
                memory += self.assemble(name, parts(text))
            self.images[base] = bytes(memory)

    def assemble(self, name, text):
        code, self.segments[name] = b"", []
        for number, (nops, end) in enumerate(text):
            at = self.start[name] + len(code)
            code += NOP * nops
            here = self.start[name] + len(code)
            last = ENDS[end] or (jump(self.start[name] - here if end == "j" else 2) if end in "jf" else None) or jal(self.start[self.CALLS[name, number]] - here)
            code += last
            self.segments[name].append((at, nops + len(last) // 2, nops + 1, end, len(last) // 4))
        return code

    def kallsyms(self):
        return "".join(f"{address:016x} {'T' if name in CODE else 'd'} {name}\n" for name, address in self.start.items()
                       if name in CODE) + f"{KERNEL + 0x10000:016x} B _end\n"


class Thread:
    def __init__(self, pid, name, scontext, body):
        self.pid, self.name, self.scontext, self.body = pid, name, scontext, body
        self.instructions, self.modes, self.ended = 0, collections.Counter(), False


class Model:
    def __init__(self, layout, seed):
        self.layout, self.random = layout, random.Random(seed)
        self.records, self.time, self.priv, self.scontext = [], 0, 1, 0
        self.current, self.next_pid, self.told = None, 1, None
        self.threads, self.switches, self.order = [], 0, []
        self.traps = collections.defaultdict(list)  # (kind, name): instructions of each; None: not finished
        self.initcalls = {}
        self.instructions, self.off_since, self.off = 0, None, []  # of the hart; while interrupts are off; how long they were

    # ---- records

    def record(self, address, halfwords, lastsize, itype):
        self.time += self.random.choice((1, 2, 9))
        context = self.priv, self.scontext
        ctype = 2 if context != self.told else 0  # each report of a context ends a span
        self.told = context
        self.records.append(f"1,{address:#x},{halfwords},{lastsize},{itype},{self.priv},{ctype},{self.scontext},{self.time}")
        if itype in (1, 2) and self.off_since is None:
            self.off_since = self.instructions

    def segment(self, name, number):
        address, halfwords, instructions, end, lastsize = self.layout.segments[name][number]
        if end == "e":
            self.record(address, halfwords - 2, 0, 0)
            instructions -= 1
        else:
            self.record(address, halfwords, lastsize, ITYPE[end])
        self.current.instructions += instructions
        self.current.modes["US"[self.priv]] += instructions
        self.instructions += instructions
        if end == "o" and self.off_since is None:
            self.off_since = self.instructions
        if end in "sO" and self.off_since is not None:
            self.off.append(self.instructions - self.off_since)
            self.off_since = None
        return address + 2 * halfwords

    def run(self, name, *calls):
        """Executes a function of the kernel; `calls` are the bodies of the functions that it calls, in order."""
        calls = list(calls)
        for number, part in enumerate(self.layout.segments[name]):
            self.segment(name, number)
            if part[3] in "ci":
                yield from calls.pop(0)

    # ---- kernel

    def schedule(self):
        yield from self.run("schedule", self.run("__schedule", self.switch()))

    def switch(self):
        yield from self.run("__switch_to")
        self.switches += 1
        yield "switch"

    def trap(self, itype, address, names, body):
        """A trap at `address`. names: (kind, name) of what it counts as."""
        thread, priv = self.current, self.priv
        self.record(address, 0, 0, itype)
        self.priv, since = 1, thread.instructions
        open_names = [self.traps[n] for n in names]
        for found in open_names:
            found.append(None)
        places = [len(found) - 1 for found in open_names]
        yield from self.run("handle_exception", body)
        open_names[0][places[0]] = thread.instructions - since
        self.priv = priv

    def syscall(self, name, address):
        thread = self.current
        bodies = {
            "read": lambda: self.run("__riscv_sys_read", self.run("ksys_read")),
            "nanosleep": lambda: self.run("__riscv_sys_nanosleep", self.schedule()),
            "getpid": lambda: self.run("__riscv_sys_getpid"),
            "exit_group": lambda: self.run("__riscv_sys_exit_group", self.run("do_exit", self.exit(thread))),
        }
        yield from self.trap(1, address, [("system call", name)], self.run("do_trap_ecall_u", bodies[name]()))

    def exit(self, thread):
        thread.ended = True
        yield from self.schedule()

    def timer(self):
        return self.run("handle_percpu_devid_irq", self.run("riscv_timer_interrupt"), self.run("add_interrupt_randomness"))

    def interrupt(self, address):
        """One trap, two handlers; the second one counts from its own entry to its return."""
        def second():
            since = self.current.instructions
            yield from self.run("uart_interrupt")
            self.traps["interrupt", "uart_interrupt"].append(self.current.instructions - since)
        irq = self.run("do_irq", self.timer(), self.run("__handle_irq_event_percpu", second()))
        yield from self.trap(2, address, [("interrupt", "supervisor timer interrupt")], irq)

    # ---- threads

    def user(self, rounds):
        """Each round executes the whole program, with a system call at each of its ECALLs."""
        for turn in range(rounds):
            for number, (address, halfwords, _, end, _) in enumerate(self.layout.segments["program"]):
                self.priv, self.scontext = 0, self.current.scontext
                if self.random.random() < 0.2:
                    yield from self.interrupt(address)
                if self.random.random() < 0.1:
                    yield from self.trap(1, address, [("exception", "page fault")], self.run("do_page_fault"))
                self.segment("program", number)
                if end == "e":
                    name = self.random.choice(("read", "nanosleep", "getpid"))
                    if turn == rounds - 1 and number == 4:
                        name = "exit_group"
                    yield from self.syscall(name, address + 2 * halfwords - 4)
            self.record(address + 2 * halfwords, 0, 0, 2)  # back to the begin of the program by an interrupt
            self.priv = 1
            self.traps["interrupt", "supervisor timer interrupt"].append(None)
            since = self.current.instructions
            irq = self.run("do_irq", self.timer(), self.run("__handle_irq_event_percpu", self.uart()))
            place = len(self.traps["interrupt", "supervisor timer interrupt"]) - 1
            yield from self.run("handle_exception", irq)
            self.traps["interrupt", "supervisor timer interrupt"][place] = self.current.instructions - since

    def uart(self):
        since = self.current.instructions
        yield from self.run("uart_interrupt")
        self.traps["interrupt", "uart_interrupt"].append(self.current.instructions - since)

    def fork(self, rounds):
        """A new process leaves the kernel behind ret_from_fork's call by a trap return."""
        def nothing():
            yield from self.run("process_work")
        self.segment("ret_from_fork", 0)
        yield from nothing()
        self.segment("handle_exception", 1)  # the way out that all traps share
        yield from self.user(rounds)

    def idle(self):
        def initcall(name):
            def body():
                since = self.current.instructions
                yield from self.run(name)
                self.initcalls[name] = self.current.instructions - since
            return self.run("do_one_initcall", body())

        def forever():
            while True:
                yield from self.run("do_idle", self.schedule())
        yield from self.run("_start_kernel", self.run("start_kernel", initcall("init_uart"), initcall("init_net"),
                            self.run("rest_init", self.run("free_initmem"), forever())))

    def add(self, name, scontext, body):
        thread = Thread(len(self.threads), name, scontext, body)
        self.threads.append(thread)
        return thread

    def simulate(self, steps):
        self.add("swapper", None, self.idle())
        for number in range(3):
            self.add(f"shell {number}", 5 + number, self.fork(6 + number))
        self.add("kworker/0:1", None, self.kworker())
        self.add("kworker/0:2", None, self.kworker())
        self.current = self.threads[0]
        for _ in range(steps):
            self.order.append(self.current)
            if next(self.current.body, None) is None:
                raise AssertionError(f"{self.current.name} returned")
            ready = [t for t in self.threads if not t.ended and t is not self.current]
            self.current = self.random.choice(ready)
            self.priv = 1
            if self.current.scontext is not None:
                self.scontext = self.current.scontext
        self.segment("__schedule", 1)
        return "cycle,iaddr,iretire,ilastsize,itype,priv,ctype,scontext,time\n" + "\n".join(self.records) + "\n"

    def kworker(self):
        """A kernel thread: a new one begins in ret_from_fork."""
        def work():
            while True:
                yield from self.run("worker_thread", self.schedule(), self.run("process_work"))
        yield from self.run("ret_from_fork", work())


class Case:
    def __init__(self, seed, timed):
        self.folder, self.timed = folder(), timed
        self.layout = Layout()
        self.model = Model(self.layout, seed)
        self.write("ingress", self.model.simulate(150).encode())
        self.write("kallsyms", self.layout.kallsyms().encode())
        self.images = []
        for base, code in self.layout.images.items():
            self.write(f"{base:x}", code)
            self.images += ["--raw", f"{base:x}@{base:#x}"]
        self.run("encode", "--ingress", "ingress", *self.images, "--context", *["--timestamps"] * timed, "-o", "t.nex")
        self.reading = ["t.nex", *self.images, "--symbols", "kernel=kallsyms", "--timestamps" if timed else "--no-timestamps"]

    def bundle(self):
        """The same stream as a bundle with a file `tasks`. A switch is in the message with which the return from __switch_to ends."""
        os.mkdir(os.path.join(self.folder, "b.ntrace"))
        for name in "t.nex", *(f"{base:x}" for base in self.layout.images):
            os.link(os.path.join(self.folder, name), os.path.join(self.folder, "b.ntrace", name))
        capture = {"format": "ntrace-bundle", "version": 1, "stream": "t.nex", "params": {"dialect": "ntrace-1.0", "xlen": 64},
                   "images": [{"kind": "raw", "file": f"{base:x}", "bias": f"{base:#x}"} for base in self.layout.images]}
        if self.timed:
            capture["params"]["timestamps"] = "on"
        self.write("b.ntrace/capture.json", json.dumps(capture).encode())
        last = self.layout.segments["__switch_to"][0][0]
        spans = [json.loads(line) for line in self.run("decode", "--show", "span", "--format", "jsonl", *self.reading).splitlines()]
        offsets = [0] + [s["offset"] for s in spans if s.get("end") == "return" and int(s.get("address", "0"), 16) == last]
        order = self.model.order + [self.model.current]
        assert len(offsets) == len(order), f"{len(offsets)} switches seen, {len(order)} threads"
        lines = [f"{at} 0 - {0x1000 + t.pid:#x} {t.pid} {t.pid} {t.name}\n" for at, t in zip(offsets, order)]
        self.write("b.ntrace/tasks", ("ntrace-tasks 1\nposition src context task pid tgid comm\n" + "".join(lines)).encode())
        self.reading = ["b.ntrace", "--symbols", "kernel=kallsyms"]

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as out:
            out.write(content)

    def run(self, *command):
        done = subprocess.run([NTRACE, *command], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}: {done.stderr[-300:]}"
        return done.stdout

    def rows(self, *command):
        return [json.loads(line) for line in self.run(*command, *self.reading, "--format", "jsonl").splitlines()]


class Harts(Model):
    """The model on several harts: threads move. `steps`: which thread ran where, each until the switch that ends it, in the true order."""

    OF_HART = "records told priv scontext current off_since instructions off".split()

    def __init__(self, layout, seed, count):
        super().__init__(layout, seed)
        self.harts, self.steps, self.hart = [], [], None
        for _ in range(count):
            state = {"records": [], "told": None, "priv": 1, "scontext": 0, "current": None, "off_since": None, "instructions": 0, "off": []}
            self.harts.append(state)

    def select(self, hart):
        if self.hart is not None:
            self.harts[self.hart] = {name: getattr(self, name) for name in self.OF_HART}
        self.hart = hart
        for name in self.OF_HART:
            setattr(self, name, self.harts[hart][name])

    def idle_later(self):
        while True:
            yield from self.run("do_idle", self.schedule())

    def simulate_all(self, steps):
        for number, state in enumerate(self.harts):
            state["current"] = self.add(f"swapper/{number}", None, self.idle_later() if number else self.idle())
        own = {state["current"]: number for number, state in enumerate(self.harts)}
        for number in range(6):
            self.add(f"shell {number}", 5 + number, self.fork(4 + number))
        for number in range(len(self.harts)):
            self.add(f"kworker/{number}:0", None, self.kworker())
        for _ in range(steps):
            self.select(self.random.randrange(len(self.harts)))
            self.steps.append((self.hart, self.current))
            if next(self.current.body, None) is None:
                raise AssertionError(f"{self.current.name} returned")
            elsewhere = [state["current"] for number, state in enumerate(self.harts) if number != self.hart]
            ready = [t for t in self.threads if not t.ended and t is not self.current and t not in elsewhere and own.get(t, self.hart) == self.hart]
            self.current = self.random.choice(ready)
            self.priv = 1
            if self.current.scontext is not None:
                self.scontext = self.current.scontext
        for number in range(len(self.harts)):
            self.select(number)
            self.steps.append((number, self.current))
            self.segment("__schedule", 1)
        self.select(0)
        return [state["records"] for state in self.harts]


class ManyHarts:
    """A bundle of Harts. The parts of a hart, each up to a switch, come in their order; one of another hart may come earlier than `lag`
    parts that were executed before it."""

    COUNT = 3

    def __init__(self, seed, lag):
        self.folder, self.layout, self.lag = folder(), Layout(), lag
        self.model = Harts(self.layout, seed, self.COUNT)
        self.images, self.reading = [], ["b.ntrace", "--symbols", "kernel=kallsyms"]
        os.mkdir(os.path.join(self.folder, "b.ntrace"))
        self.write("kallsyms", self.layout.kallsyms().encode())
        for base, code in self.layout.images.items():
            self.write(f"{base:x}", code)
            self.write(f"b.ntrace/{base:x}", code)
            self.images += ["--raw", f"{base:x}@{base:#x}"]
        parts = [self.parts(number, records) for number, records in enumerate(self.model.simulate_all(400))]
        self.deliver(parts, random.Random(seed))

    write, run, rows = Case.write, Case.run, Case.rows

    def parts(self, number, records):
        """[bytes, where the last switch begins in them] of each step of a hart."""
        self.write("ingress", ("cycle,iaddr,iretire,ilastsize,itype,priv,ctype,scontext,time\n" + "\n".join(records) + "\n").encode())
        self.run("encode", "--ingress", "ingress", *self.images, "--context", "--src-bits", "2", "--src-id", str(number), "-o", "h.nex")
        reading = ["h.nex", "--src-bits", "2", "--no-timestamps"]
        starts = [json.loads(line)["offset"] for line in self.run("dump", "--format", "jsonl", *reading).splitlines()]
        spans = [json.loads(line) for line in self.run("decode", "--show", "span", "--format", "jsonl", *reading, *self.images).splitlines()]
        last = self.layout.segments["__switch_to"][0][0]
        switches = [s["offset"] for s in spans if s.get("end") == "return" and int(s.get("address", "0"), 16) == last]
        with open(os.path.join(self.folder, "h.nex"), "rb") as file:
            stream = file.read()
        ends = [next((at for at in starts if at > switch), len(stream)) for switch in switches] + [len(stream)]
        begins = [0] + ends[:-1]
        return [(stream[a:b], (switch or b) - a) for a, b, switch in zip(begins, ends, switches + [None])]

    def deliver(self, parts, order):
        waiting, stream, lines, next_entry = list(enumerate(self.model.steps)), b"", [], [0] * self.COUNT
        while waiting:
            first = {}
            for number, (hart, thread) in waiting:
                first.setdefault(hart, (number, thread))
            hart = order.choice([h for h, (number, _) in first.items() if number <= waiting[0][0] + self.lag])
            number, thread = first[hart]
            data, switch = parts[hart].pop(0)
            lines.append(f"{next_entry[hart]} {hart} - {0x1000 + thread.pid:#x} {thread.pid} {thread.pid} {thread.name}\n")
            next_entry[hart] = len(stream) + switch
            stream += data
            waiting.remove((number, (hart, thread)))
        self.write("b.ntrace/t.nex", stream)
        capture = {"format": "ntrace-bundle", "version": 1, "stream": "t.nex", "params": {"dialect": "ntrace-1.0", "xlen": 64, "src_bits": 2},
                   "images": [{"kind": "raw", "file": f"{base:x}", "bias": f"{base:#x}"} for base in self.layout.images]}
        self.write("b.ntrace/capture.json", json.dumps(capture).encode())
        self.write("b.ntrace/tasks", ("ntrace-tasks 1\nposition src context task pid tgid comm\n" + "".join(lines)).encode())
