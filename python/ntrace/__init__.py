"""ntrace: RISC-V N-Trace in Python.

    import ntrace
    trace = ntrace.open("program.ntrace")
    print(trace.count().instructions)
    print(trace.profile().head(10))
    for events in trace.event_arrays():
        print(events["instructions"].sum())

A trace is a capture bundle of `ntrace run` or a raw stream with its ELF files. Everything is done by libntrace and
libntrace-tools: the numbers are those of the command `ntrace`. While the libraries work, other Python threads run.
"""
from ._core import DamageWarning, Error, version
from .answers import Coverage, Flame, formats
from .codec import Encoder, assemble, encode, messages
from .events import Event
from .trace import Counts, Trace, open

__version__ = version()  # of the library that is loaded
__all__ = ["Coverage", "Counts", "DamageWarning", "Encoder", "Error", "Event", "Flame", "Trace", "assemble", "encode", "formats", "messages", "open"]
