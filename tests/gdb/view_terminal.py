"""`ntrace view` in a terminal of tmux."""
import os
import re
import subprocess
import time

from harness import DEADLINE, NTRACE, need, scratch, until


class Terminal:
    """A terminal that shows the trace."""

    def __init__(self, path, *options, columns=80, lines=24, first="instruction 0 of", preload=""):
        need("tmux")
        self.socket = os.path.join(scratch(), f"tmux-{time.monotonic_ns()}")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(lines),
                  # Without SIGHUP, the command itself must see that its terminal is gone.
                  f"trap '' HUP; ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD='{preload}' '{NTRACE}' view {' '.join([path, *options])}; echo status $? && trap - HUP && sleep 60")
        try:
            self.until(first)
        except Exception:
            self.close()
            raise

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True, text=True, timeout=DEADLINE,
                              env=dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8"))
        return done.stdout

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def until(self, pattern):
        """The screen as soon as it has the pattern and does not change any more: a part of it may be that of before."""
        shown = [None]

        def settled():
            shown.append(self.screen())
            return shown[-1] == shown[-2] and re.search(pattern, shown[-1], re.M)

        until(settled, lambda: f"{pattern!r} on the screen, which is\n{shown[-1]}\n")
        return shown[-1]

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def place(self):
        return int(re.search(r"instruction (\d+) of", self.screen()).group(1))

    def moved(self, before):
        until(lambda: self.place() != before, f"another place than {before}")
        return self.place()

    def close(self):
        self.tmux("kill-server")

    def click(self, column, row):
        """As the terminal type of tmux encodes it."""
        place = chr(32 + column) + chr(32 + row)
        self.tmux("send-keys", "-l", f"\x1b[M {place}\x1b[M#{place}")

    def resize(self, columns, lines):
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))
