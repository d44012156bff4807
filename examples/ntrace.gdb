# Set-up of GDB for ntrace gdb, and commands that move through a trace. "ntrace gdb TRACE" loads it. In a GDB of your own, load
# it before the program:
#
#     gdb-multiarch -x ntrace.gdb hello
#     (gdb) target remote | ntrace gdb --stdio hello.ntrace
#     (gdb) goto 37%
#
# docs/gdb.md has the reasons.

set osabi none
set trust-readonly-sections on
set print finish off
set remotetimeout 60
set sysroot /

define goto
  monitor goto $arg0
  ntrace-moved
end
document goto
Go to a place of the trace: goto N | #MESSAGE | @OFFSET | t:TIME | begin | end | 37%
end

define when
  monitor when
end
document when
Show the place in the trace: hart, instruction, message, byte offset, time.
end

define next-gap
  monitor next-gap
  ntrace-moved
end
document next-gap
Go to the next place of the trace where execution is missing.
end

define prev-gap
  monitor prev-gap
  ntrace-moved
end
document prev-gap
Go to the previous place of the trace where execution is missing.
end

define to-caller
  monitor caller
  ntrace-moved
end
document to-caller
Go back to the call of this frame; from the handler of a trap to the last instruction before it.
end

define to-return
  monitor return
  ntrace-moved
end
document to-return
Go to behind the call of this frame.
end

# The server has moved: what GDB keeps is out of date.
define ntrace-moved
  maintenance flush register-cache
  maintenance flush dcache
  sharedlibrary
  frame
end
document ntrace-moved
Read the place again after the server has moved.
end

# GDB asks for a watchpoint at the next continue, which then fails each time: refuse it when it is set.
python
class NtraceRefuse(gdb.Command):
    """Refuse a command that a recorded execution cannot do."""

    def __init__(self):
        super().__init__("ntrace-refuse", gdb.COMMAND_OBSCURE)

    def invoke(self, argument, from_tty):
        raise gdb.GdbError(argument + ": a recorded execution has no memory to watch; use break, or "
                           "'ntrace decode --show data' on a trace of run --data")

NtraceRefuse()
end
define hook-watch
  ntrace-refuse watch
end
define hook-rwatch
  ntrace-refuse rwatch
end
define hook-awatch
  ntrace-refuse awatch
end

# A step has just entered the handler of an interrupt or a signal: after the stop, read its callers again.
python
def ntrace_stopped(event):
    try:
        if "changed" in gdb.execute("monitor stopped", to_string=True):
            gdb.execute("maintenance flush register-cache", to_string=True)
    except gdb.error:
        pass

gdb.events.stop.connect(ntrace_stopped)
end

# "monitor goto" has changed the place: what GDB keeps is out of date, and no stop tells it.
python
def ntrace_monitored():
    try:
        if "changed" in gdb.execute("monitor stopped", to_string=True):
            gdb.execute("maintenance flush register-cache", to_string=True)
            gdb.execute("maintenance flush dcache", to_string=True)
    except gdb.error:
        pass
end
define hookpost-monitor
  python ntrace_monitored()
end
