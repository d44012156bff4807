"""What GDB says about how often functions were called: it stops at each first instruction, forward and backward, and names it."""
import collections
import json
import os
import subprocess

from harness import NTRACE, check, equal, need, same_items, scratch
from named_calls import first_instructions

# Stops at the addresses of a file in each direction. For each stop: the thread, the name, and that of the caller.
DRIVER = """
import gdb, json

def frame_name(frame):
    return frame.name() if frame and frame.is_valid() else None

found, stops = [], []
gdb.events.stop.connect(stops.append)
gdb.execute("monitor goto 0", to_string=True)
for address in json.load(open({given!r})):
    gdb.execute("hbreak *%#x" % address, to_string=True)
for command in ("continue", "reverse-continue"):
    rows = []
    while True:
        gdb.execute(command, to_string=True)
        if not isinstance(stops[-1], gdb.BreakpointEvent): # an end of the trace
            break
        frame = gdb.newest_frame()
        if " + " not in gdb.execute("info symbol $pc", to_string=True): # at that address, another program has the middle of a function
            rows.append([gdb.selected_thread().num, frame_name(frame), frame_name(frame.older())])
    found.append(rows)
json.dump(found, open({out!r}, "w"))
"""
SETTINGS = ["set osabi none", "set pagination off", "set confirm off", "set remotetimeout 60", "set print entry-values no",
            "maint set worker-threads 0"]  # GDB 13 reads names in threads, in any order


def by_gdb(bundle, wanted):
    """Names at the first instructions. Both directions stop at the same places; a function of a file has the caller that its source says."""
    gdb = need("gdb-multiarch")
    given, out, driver = (os.path.join(scratch(), f"{os.path.basename(bundle)}.{end}") for end in ("given", "out", "py"))
    with open(given, "w", encoding="ascii") as file:
        json.dump(sorted({int(address, 16) for address, name in first_instructions(bundle) if wanted(name)}), file)
    with open(driver, "w", encoding="ascii") as file:
        file.write(DRIVER.format(given=given, out=out))
    words = [word for line in SETTINGS for word in ("-iex", line)]
    done = subprocess.run([gdb, "-nx", "-q", "-batch", *words, "-ex", f"target remote | {NTRACE} gdb --stdio {bundle}", "-x", driver], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
    check(os.path.exists(out), f"GDB: {done.stdout[-300:]} {done.stderr[-900:]}")
    with open(out, encoding="ascii") as file:
        forward, backward = json.load(file)
    same_items(backward[::-1], forward, f"{bundle}: stops backward, and forward:")
    for _, name, caller in forward:
        kind, _, which = (name or "").partition("_")
        if kind in ("leaf", "inner"):
            equal(caller, f"{'entry' if kind == 'leaf' else 'own'}_{which}", f"caller of {name}")
    return dict(collections.Counter(name for _, name, _ in forward if name and wanted(name)))
