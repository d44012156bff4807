"""The samples of K3 trace (samples.tar.zst, whose README.md says how they were made), unpacked."""
import functools
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import need, scratch

HERE = os.path.dirname(os.path.abspath(__file__))


def samples():
    folder = os.path.join(scratch(), "samples")
    if not os.path.isdir(folder):
        os.makedirs(folder)
        packed = os.path.join(HERE, "samples.tar.zst")
        subprocess.run(f"{need('zstd')} -dcq --long=27 '{packed}' | tar xf - -C '{folder}'", shell=True, check=True)
    return folder


@functools.cache
def truth(name):
    return subprocess.run([need("zstd"), "-dcq", os.path.join(samples(), name + ".pc.zst")], stdout=subprocess.PIPE, check=True).stdout
