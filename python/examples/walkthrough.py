"""A walk through a trace: python3 walkthrough.py TRACE [ELF] [PARAMETER=VALUE]...

    ntrace run -o demo.ntrace -- ./program
    python3 walkthrough.py demo.ntrace
"""
import sys

if len(sys.argv) < 2:
    sys.exit(__doc__.strip())

import ntrace  # noqa: E402 (it need not be installed to see how this is used)

path, *rest = sys.argv[1:]
elf = [word for word in rest if "=" not in word]
trace = ntrace.open(path, elf=elf, **dict(word.split("=", 1) for word in rest if "=" in word))

# What is in the trace?
totals = trace.count()
print(f"{totals.instructions:,} instructions in {totals.bytes:,} bytes, {8 * totals.bytes / totals.instructions:.2f} bits each")
for name, (value, sure) in trace.inferred.items():
    print(f"  {name} = {value} ({sure})")

# Where was the time spent? The ten hottest functions.
for row in trace.profile(frame=False)[:10]:
    print(f"{row['self']:12,}  {row['name']}")

# Which branch is the least predictable? Events as numpy arrays: no Python object for each.
try:
    import numpy
except ImportError:
    sys.exit("numpy is not installed: that is all")

outcomes: dict = {}
for spans in trace.span_arrays():
    ends = numpy.isin(spans["end"], (1, 2))  # not taken, taken
    places, which = numpy.unique(spans["last"][ends], return_inverse=True)
    taken = numpy.bincount(which, weights=spans["end"][ends] == 2, minlength=len(places))
    for place, n, all_ in zip(places.tolist(), taken.tolist(), numpy.bincount(which).tolist()):
        before = outcomes.get(place, (0, 0))
        outcomes[place] = before[0] + n, before[1] + all_
place, (taken, executed) = max(outcomes.items(), key=lambda item: min(item[1][0], item[1][1] - item[1][0]))
print(f"branch at {place:#x} ({trace.symbol(place, None) or 'no symbol'}): {executed:,.0f} times, {taken / executed:.0%} taken")
