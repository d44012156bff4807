"""A trace compared with what was executed: all of it; or, where something is missing, each part is there, in order."""
import json
import subprocess

import harness
from harness import check, equal, same_items


def check_same(program, bundle, seen, timeout=120):
    """What same_modes, this program, says of a bundle and of what the plugin each_instruction has seen."""
    done = subprocess.run([program, bundle, seen], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)
    equal(done.returncode, 0, f"status of same_modes; {done.stdout}")
    return done.stdout


def parts(bundle, src=0):
    """Of one source: lists of spans (address, mode, instructions), between which something is missing."""
    done = subprocess.run([harness.NTRACE, "decode", bundle, "--show", "event", "--format", "jsonl", "--src", str(src)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=120)
    found, mode = [[]], "M"
    for e in map(json.loads, done.stdout.splitlines()):
        if e["kind"] == "span" and e["instructions"]:
            found[-1].append((e["address"], mode, e["instructions"]))
        elif e["kind"] == "context":
            mode = "US?M"[e["prv"]]
        elif e["kind"] in ("gap", "sync"):
            found.append([])
    return [part for part in found if part]


def behind(part, expected, begin):
    """Where the instructions of the part end if they begin at number `begin` of those that were executed; None: they are others."""
    for address, mode, instructions in part:
        if begin >= len(expected):
            return begin  # the loop at the end of the program
        if expected[begin] != f"{address} {mode}":
            return None
        begin += instructions
    return begin


def in_order(found, expected):
    """What was found is a part of what was executed, in this order. The program ends in a loop, which QEMU executes until the machine has stopped:
    each part of that loop is left out."""
    at, places = 0, {}
    loop = {found[-1][-1]} if found else set()
    while found and set(found[-1]) == loop:
        found = found[:-1]
    for number, line in enumerate(expected):
        places.setdefault(line, []).append(number)
    for number, part in enumerate(found):
        if at >= len(expected):
            return
        ends = (behind(part, expected, place) for place in places.get(f"{part[0][0]} {part[0][1]}", ()) if place >= at)
        at = next((end for end in ends if end is not None), None)
        check(at is not None, f"part {number} of {len(found)} begins with {part[:3]}, and was not executed")


def traced(found):
    return sum(instructions for part in found for _, _, instructions in part)


def without(lines, last):
    end = len(lines)
    while end and lines[end - 1] == last:
        end -= 1
    return lines[:end]


def same(found, expected):
    """The program ends in a loop; how often QEMU executes it depends on when the machine stops."""
    last = max(found, expected, key=len)[-1]
    found, expected = without(found, last), without(expected, last)
    same_items(found, expected, "instruction")
