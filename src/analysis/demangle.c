#include "analysis/demangle.h"

#include "analysis/mangled_size.h"

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

/* llvm::rustDemangle has had three forms. A std::string_view is passed in two registers; the result is allocated with
 * malloc, on every ABI for which libLLVM is built here. */
typedef char *(*rust_of_view)(size_t size, const char *name);
typedef char *(*rust_of_text)(const char *name);
typedef char *(*rust_of_buffer)(const char *name, char *buffer, size_t *size, int *status);

static char *call_view(void *function, const char *name) {
    rust_of_view demangle;
    *(void **)&demangle = function;
    return demangle(strlen(name), name);
}

static char *call_text(void *function, const char *name) {
    rust_of_text demangle;
    *(void **)&demangle = function;
    return demangle(name);
}

static char *call_buffer(void *function, const char *name) {
    rust_of_buffer demangle;
    *(void **)&demangle = function;
    return demangle(name, NULL, NULL, NULL);
}

static const struct {
    const char *symbol;
    char *(*call)(void *function, const char *name);
} rust_forms[] = {
    {"_ZN4llvm12rustDemangleESt17basic_string_viewIcSt11char_traitsIcEE", call_view},
    {"_ZN4llvm12rustDemangleEPKc", call_text},
    {"_ZN4llvm12rustDemangleEPKcPcPmPi", call_buffer},
};

/* Calls the demangler of the first of the libraries that has one. */
static char *demangle_rust(const char *name) {
    static const char *const libraries[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-18.so.1", "libLLVM-17.so.1",
                                            "libLLVM-16.so.1", "libLLVM-15.so.1", "libLLVM-14.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        for (size_t k = 0; library && k < sizeof rust_forms / sizeof rust_forms[0]; k++) {
            void *function = dlsym(library, rust_forms[k].symbol);
            if (function) return rust_forms[k].call(function, name);
        }
    }
    return NULL;
}

char *ntr_demangle(const char *name, uint64_t most, bool *large) {
    const bool rust = name[0] == '_' && name[1] == 'R';
    if (name[0] != '_' || (!rust && name[1] != 'Z')) return NULL;
    char *text = rust ? NULL : ntr_demangle_rust_legacy(name);
    if (text) return text;
    const ntr_mangled_size size = (rust ? ntr_mangled_rust_size : ntr_mangled_cxx_size)(name, (uint32_t)most);
    if (size == NTR_MANGLED_LARGE) *large = true;
    if (size != NTR_MANGLED_SMALL) return NULL;
    return rust ? demangle_rust(name) : demangle_cxx(name);
}
