# The module that cffi makes: functions, constants and types of the headers, which have no types in Python.
from typing import Any

lib: Any
ffi: Any
