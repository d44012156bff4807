#include "analysis/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Itanium ABI, section "demangler API": status 0 is success, the result is malloc'ed. */
typedef char *(*cxa_demangle)(const char *name, char *buffer, size_t *size, int *status);

static char *demangle_cxx(const char *name) {
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return NULL;
    cxa_demangle demangle = NULL;
    *(void **)&demangle = dlsym(library, "__cxa_demangle");
    int status = -1;
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    if (status == 0) return text;
    free(text);
    return NULL;
}

/* llvm::rustDemangle(std::string_view): the argument is passed in two registers and the result is allocated with
 * malloc, on every ABI for which libLLVM is built here. */
typedef char *(*rust_demangle)(size_t size, const char *name);

static char *demangle_rust(const char *name) {
    static const char *const libraries[] = {"libLLVM-19.so.1", "libLLVM.so.19.1", "libLLVM-18.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        if (!library) continue;
        rust_demangle demangle = NULL;
        *(void **)&demangle = dlsym(library, "_ZN4llvm12rustDemangleESt17basic_string_viewIcSt11char_traitsIcEE");
        char *text = demangle ? demangle(strlen(name), name) : NULL;
        if (text) return text;
    }
    return NULL;
}

/* Legacy Rust names are Itanium names that end in a hash: "::h" and 16 hexadecimal digits. */
static void drop_rust_hash(char *text) {
    enum { HASH = 19 };
    size_t size = strlen(text);
    if (size <= HASH) return;
    char *hash = text + size - HASH;
    if (strncmp(hash, "::h", 3) != 0) return;
    for (char *c = hash + 3; *c; c++)
        if (!isxdigit((unsigned char)*c)) return;
    *hash = '\0';
}

char *ntr_demangle(const char *name) {
    if (name[0] != '_') return NULL;
    if (name[1] == 'R') return demangle_rust(name);
    if (name[1] != 'Z') return NULL;
    char *text = demangle_cxx(name);
    if (text) drop_rust_hash(text);
    return text;
}
