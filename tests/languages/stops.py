"""Run by GDB: at the first execution of each address, the program counters of all frames. Frames of inlined calls and of tail calls, which
GDB makes up from debug information, are left out."""
import json
import os

import gdb  # pylint: disable=import-error

for line in ("pagination off", "confirm off", "breakpoint always-inserted on", "backtrace past-main on", "backtrace limit 400",
             "auto-load off", "auto-load safe-path /"):
    try:
        gdb.execute("set " + line)
    except gdb.error:
        pass
gdb.execute("handle SIGURG SIGUSR1 SIGPIPE nostop noprint pass", to_string=True)
gdb.execute("target remote " + os.environ["STOPS_TARGET"], to_string=True)
with open(os.environ["STOPS_ADDRESSES"], encoding="ascii") as file:
    left = set(json.load(file))
for address in sorted(left):
    gdb.execute(f"tbreak *{address:#x}", to_string=True)
with open(os.environ["STOPS_FRAMES"], "w", encoding="ascii") as out:
    while left:
        try:
            gdb.execute("continue", to_string=True)
            frame = gdb.newest_frame()
        except gdb.error:
            break  # the program has ended
        counters = []
        try:
            while frame is not None:
                if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                    counters.append(frame.pc())
                frame = frame.older()
        except gdb.error:
            pass
        left.discard(counters[0])
        out.write(json.dumps(counters) + "\n")
gdb.execute("kill", to_string=True)
