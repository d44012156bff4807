#include "analysis/demangle.h"

#include "analysis/mangled_size.h"
#include "load/library.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Itanium ABI, section "demangler API": status 0 is success, the result is malloc'ed. */
typedef char *(*cxa_demangle)(const char *name, char *buffer, size_t *size, int *status);

static char *demangle_cxx(const char *name) {
    void *library = ntr_library_open("libstdc++.so.6");
    if (!library) return NULL;
    cxa_demangle demangle;
    int status = -1;
    char *text = ntr_library_find(library, "__cxa_demangle", &demangle) ? demangle(name, NULL, NULL, &status) : NULL;
    if (status == 0) return text;
    free(text);
    return NULL;
}

/* llvm::rustDemangle has had three forms. A std::string_view is passed in two registers; the result is allocated with
 * malloc, on every ABI for which libLLVM is built here. */
typedef void (*any_function)(void);
typedef char *(*rust_of_view)(size_t size, const char *name);
typedef char *(*rust_of_text)(const char *name);
typedef char *(*rust_of_buffer)(const char *name, char *buffer, size_t *size, int *status);

static char *call_view(any_function function, const char *name) {
    return ((rust_of_view)function)(strlen(name), name);
}

static char *call_text(any_function function, const char *name) {
    return ((rust_of_text)function)(name);
}

static char *call_buffer(any_function function, const char *name) {
    return ((rust_of_buffer)function)(name, NULL, NULL, NULL);
}

static const struct {
    const char *symbol;
    char *(*call)(any_function function, const char *name);
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
        void *library = ntr_library_open(libraries[i]);
        for (size_t k = 0; library && k < sizeof rust_forms / sizeof rust_forms[0]; k++) {
            any_function function;
            if (ntr_library_find(library, rust_forms[k].symbol, &function)) return rust_forms[k].call(function, name);
        }
    }
    return NULL;
}

char *ntr_demangle(const char *name, uint64_t most, bool *large) {
    if (name[0] == '_' && name[1] == 'D') {
        if (strlen(name) > most) *large = true;
        return ntr_demangle_d(name, (size_t)most);
    }
    const bool rust = name[0] == '_' && name[1] == 'R';
    if (name[0] != '_' || (!rust && name[1] != 'Z')) return NULL;
    char *text = rust ? NULL : ntr_demangle_rust_legacy(name);
    if (text) return text;
    const ntr_mangled_size size = (rust ? ntr_mangled_rust_size : ntr_mangled_cxx_size)(name, (uint32_t)most);
    if (size == NTR_MANGLED_LARGE) *large = true;
    if (size != NTR_MANGLED_SMALL) return NULL;
    return rust ? demangle_rust(name) : demangle_cxx(name);
}
