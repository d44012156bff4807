#include <stdbool.h>

#include "decision/libclang.h"

#include "base/macros.h"
#include "load/library.h"

#include <stdio.h>

enum { LIBCLANG_NEWEST = 24, LIBCLANG_OLDEST = 17 }; /* 17 is the first that has the kind of an operator */

static bool find_all(ntr_libclang *clang) {
    bool found = true;
#define NTR_CLANG(name) found = found && ntr_library_find(clang->library, "clang_" #name, &clang->name);
    NTR_CLANG_FUNCTIONS
#undef NTR_CLANG
    return found;
}

bool ntr_libclang_load(ntr_libclang *clang) {
    static const char *const names[] = {"libclang-%d.so.%d", "libclang-%d.so.1", "libclang.so.%d", "libclang-%d.so"};
    char name[40];
    for (int version = LIBCLANG_NEWEST; version >= LIBCLANG_OLDEST; version--)
        for (size_t i = 0; i < NTR_COUNT(names); i++) {
            snprintf(name, sizeof name, names[i], version, version);
            if (!(clang->library = ntr_library_open(name))) continue;
            if (find_all(clang)) return true;
            ntr_libclang_unload(clang);
        }
    return false;
}

void ntr_libclang_unload(ntr_libclang *clang) {
    ntr_library_close(clang->library);
    clang->library = NULL;
}
