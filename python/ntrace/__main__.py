"""python -m ntrace ARGUMENT...: the command `ntrace`, that of the wheel, or that of PATH."""
import os
import shutil
import sys


def main() -> None:
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "ntrace")
    command = own if os.access(own, os.X_OK) else shutil.which("ntrace")
    if not command:
        sys.exit("python -m ntrace: the command ntrace is neither in this package nor in PATH; `make install` installs it")
    os.execv(command, ["ntrace", *sys.argv[1:]])


main()
