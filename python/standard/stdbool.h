/* Empty: cffi knows the standard types (build_ffi.py). */
