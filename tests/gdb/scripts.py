"""The commands of the transcripts, by program. N*COMMAND repeats a command."""

CALLS = """
break leaf; continue; bt; finish; next; step; bt; finish; delete; next; next; step; stepi; stepi; bt; 2*nexti; bt
break fib; 3*continue; bt; finish; finish; up; down; delete; tbreak compare; continue; bt; finish; 5*next
info line; tbreak compare; continue; stepi; bt; break compare; 2*continue; bt; 2*until; 2*next; delete
advance leaf; tbreak printf; continue; bt; finish; 3*next
"""
CALLS_O0 = """
break leaf; continue; bt; 4*step; bt; 3*next; delete; 4*stepi; bt; break fib; 4*continue; bt; finish; up; up; down
delete; 3*next; tbreak compare; continue; bt; 3*step; 5*nexti; tbreak compare; continue; finish; tbreak 41; continue
bt; 3*next
"""
THROWS = """
break measure; continue; bt; 4*step; bt; finish; 2*next; 2*continue; bt; 2*step; 3*next; bt; 2*next; bt; delete
tbreak attempt; continue; bt; next; 4*step; bt; finish; 2*next; step; bt; finish; 3*next
"""
THROWS_EARLY = """
tbreak main; continue; bt; break attempt; continue; next; 4*step; bt; finish; 2*next; bt; 2*continue; bt; 3*step
bt; 4*next; bt; finish; delete; tbreak measure; continue; bt; 5*next; bt; 2*stepi; bt; up; 2*next
"""
# Inside of a handler there is no backtrace here: a GDB without OS ABI does not know the frame that the kernel makes. It shows
# the interrupted function below the handler.
SIGNALS = """
handle SIGUSR1 SIGUSR2 nostop noprint pass; tbreak main; continue; bt; 2*next; bt; break first; continue; 3*next
delete; tbreak 36; continue; bt; step; 4*next; bt; finish; 2*next; bt; 2*stepi; tbreak 36; continue; 3*step; bt
2*finish; tbreak work; continue; 4*next; up; down; bt; 6*nexti
"""
SIGNALS_INSIDE = """
handle SIGUSR1 SIGUSR2 nostop noprint pass; break second; continue; 6*stepi; next; 3*nexti; delete; tbreak 26
continue; step; 3*next; 5*stepi; tbreak 36; continue; bt; 2*stepi; step; bt; 4*next; finish; bt; 2*next; 6*nexti; bt
tbreak second; continue; 2*stepi; 3*nexti
"""
JUMPS = """
break deep; continue; bt; 2*continue; bt; 3*stepi; bt; delete; tbreak attempt; continue; bt; 2*next; bt; tbreak attempt
continue; bt; 3*next; step; bt; tbreak deep; continue; bt; break deep; 4*continue; bt; delete; tbreak attempt; continue
bt; next; step; bt; 2*stepi; bt
"""
RECURSION = """
tbreak main; continue; next; bt; 3*step; bt 3; delete; break sum; 20*continue; bt 5; bt -3; finish
delete; up 3; down 2; 5*next; bt 4
"""
RECURSION_DEEP = """
tbreak 9; continue; bt 3; bt -3; next; bt 2; 4*next; bt 2; finish; bt 2; 2*finish; 3*next; up 900; down 3; stepi; bt 2
tbreak even; continue; 3*step; next; 4*step; bt; 2*finish; bt; 2*next; bt; 4*stepi; next
"""
THREADS = """
break run; continue; bt; 2*step; bt; 3*step; bt; 3*next; step; bt; 8*next; bt; delete; 3*stepi; bt
tbreak work; continue; bt; 2*next; finish; bt; 2*next; 12*nexti; bt; 6*stepi
"""
BARE = """
break leaf; continue; bt; finish; 3*next; 2*step; bt; finish; delete; break sum; continue; bt; 2*next; 3*step; bt
finish; 2*next; 6*stepi; bt; info registers pc; break leaf; continue; bt; up; down; finish; 2*nexti; bt; delete; 3*next
finish; 2*next
"""

# Steps into and out of functions that are called by t0.
SAVES = """
tbreak *&__riscv_save_0; continue; bt; stepi; bt; 4*stepi; bt; 3*stepi; bt; tbreak *&__riscv_save_4; continue; bt; 3*stepi; bt
6*stepi; bt; tbreak *&__riscv_restore_4; continue; stepi; 4*nexti; bt; 3*nexti; 2*step; bt; tbreak leaf; continue; bt; up
down; finish; 2*nexti; bt; 3*next; 2*step; bt; finish
"""

# Functions of a shared library are bound at their first call; `step` goes to them, from a breakpoint at the call, too.
# A visible stop in a stub, in front of the jump that ends a function: from there, stepi shows how the function is bound.
CALLBACKS = """
tbreak main; continue; bt; break attempt; continue; step; bt; 6*step; bt; tbreak sort_with; step; bt; break order; continue; bt
3*step; bt; 2*next; 2*bt; stepi 7; bt; 3*stepi; delete; tbreak guarded; continue; bt; next; 2*step; bt; finish; 3*step; 2*next; bt
tbreak order; continue; 2*step; bt; finish; tbreak 24; continue; bt; step; bt; 3*next; bt
"""
CALLBACKS_WITHOUT = """
advance main; step; bt; 12*step; bt; 3*next; bt; 12*step; bt; 2*finish; 5*step; bt; 4*next; 3*step; bt; 5*stepi; next; bt; 5*next
"""
# The first call of a function, by the jump that ends another one: `next` stops in the stub, and stepi leads through the dynamic linker.
CALLBACKS_STUB = """
break main; continue; tbreak Limited::compare; continue; bt; 2*next; bt 1; 9*stepi; bt 1; 20*stepi; bt 1; 5*stepi; bt 1; delete
"""
# Behind the end of a handler, the debugger is at the interrupted instruction.
ALTSTACK = """
handle SIGUSR1 SIGUSR2 nostop noprint pass; break leaf; continue; finish; 3*next; bt; 2*next; bt; continue; bt 1; finish; bt 1
continue; 2*step; 3*next; 2*up; 2*down; bt; delete; tbreak round_of; continue; bt; next; tbreak escape; next; step; 2*next
tbreak round_of; continue; bt; 3*step; bt; tbreak inner; continue; 3*next; 2*stepi; next; bt 1; tbreak leaf; continue; finish; 4*next; bt
"""
TAILS = """
tbreak main; continue; step; bt; 6*step; bt; break pang; continue; bt; 4*step; bt; 2*finish; bt; delete; tbreak deep; continue; bt
3*step; bt; tbreak ping; continue; bt -4; bt 4; 3*next; 3*step; bt 2; 2*finish; bt 2; 5*finish; 9*stepi; break wide; continue; bt
6*continue; bt; finish; delete; 9*next; bt; advance pang; 3*step; bt; tbreak ping; continue; bt; 3*next; bt
"""

# Program, script.
TRANSCRIPTS = [
    ("calls", CALLS), ("calls-O0", CALLS_O0), ("calls-pie", CALLS), ("throws", THROWS), ("throws-pie-O0", THROWS_EARLY),
    ("signals", SIGNALS), ("signals", SIGNALS_INSIDE), ("jumps", JUMPS), ("recursion", RECURSION),
    ("recursion", RECURSION_DEEP), ("recursion-O0", RECURSION), ("threads", THREADS), ("bare32", BARE),
    ("bare32-Os", BARE), ("bare32-saves", SAVES), ("callbacks-O0", CALLBACKS), ("callbacks-O2", CALLBACKS), ("callbacks-O0", CALLBACKS_WITHOUT),
    ("callbacks-O2", CALLBACKS_WITHOUT), ("callbacks-O2", CALLBACKS_STUB),
    ("altstack", ALTSTACK), ("altstack-O0", ALTSTACK), ("tails", TAILS), ("tails-O0", TAILS),
]


def commands(script):
    for item in script.replace("\n", ";").split(";"):
        item = item.strip()
        if not item:
            continue
        times, star, command = item.partition("*")
        yield from [command] * int(times) if star and times.isdigit() else [item]
