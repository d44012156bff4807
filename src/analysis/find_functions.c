/* Functions by their names in the source: "area", "shape::area" and "shape::area(int)" all mean a function with the
 * linkage name _ZN5shape4areaEi; the first two also its overloads. */
#include <ntrace/debug_info.h>

#include "analysis/demangle.h"
#include "analysis/find_functions.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

/* Returns the length of a demangled name without its parameters, which begin at the last '(' outside of all brackets.
 */
static size_t length_without_parameters(const char *text) {
    size_t end = strlen(text), depth = 0;
    for (size_t i = end; i-- > 0;) {
        if (text[i] == ')')
            depth++;
        else if (text[i] == '(' && depth && --depth == 0)
            return i;
    }
    return end;
}

static bool ends_with_name(const char *text, size_t size, const char *name, size_t name_size) {
    if (size < name_size || memcmp(text + size - name_size, name, name_size) != 0) return false;
    return size == name_size || (size >= name_size + 2 && memcmp(text + size - name_size - 2, "::", 2) == 0);
}

bool ntr_is_source_name(const char *text, const char *name) {
    const size_t size = strlen(name);
    return ends_with_name(text, strlen(text), name, size) ||
           ends_with_name(text, length_without_parameters(text), name, size);
}

static bool has_source_name(const char *linkage, const char *name, uint64_t most) {
    bool large = false;
    char *text = ntr_demangle(linkage, most, &large);
    const bool same = text && ntr_is_source_name(text, name);
    free(text);
    return same;
}

bool ntr_is_function_name(const ntr_program *program, const char *linkage, const char *name) {
    return strcmp(linkage, name) == 0 ||
           has_source_name(linkage, name, ntr_limits_get(&program->limits, NTR_LIMIT_DEMANGLED_NAME));
}

static size_t add(uint64_t address, uint64_t *entries, size_t count, size_t capacity) {
    for (size_t i = 0; i < count; i++)
        if (entries[i] == address) return count;
    if (count == capacity) return count;
    entries[count] = address;
    return count + 1;
}

/* Static functions of several files may have one name, and so may functions of several images. */
static size_t add_namesakes(const ntr_program *program, const char *name, const ntr_symbol *first, uint64_t *entries,
                            size_t capacity) {
    size_t count = add(first->address, entries, 0, capacity);
    for (size_t i = 0; i < program->image_count; i++) {
        const ntr_symbols *symbols = &program->images[i].symbols;
        for (size_t k = 0; k < symbols->count; k++)
            if (symbols->names[k].function && strcmp(symbols->names[k].name, name) == 0)
                count = add(symbols->names[k].address, entries, count, capacity);
    }
    return count;
}

size_t ntr_find_functions(const ntr_program *program, const char *name, uint64_t *entries, size_t capacity) {
    ntr_symbol symbol;
    size_t count = 0;
    const uint64_t most = ntr_limits_get(&program->limits, NTR_LIMIT_DEMANGLED_NAME);
    if (!capacity || !*name) return 0;
    if (ntr_program_find(program, name, &symbol) == NTR_OK)
        return add_namesakes(program, name, &symbol, entries, capacity);
    for (size_t i = 0; i < program->image_count; i++) {
        const ntr_symbols *symbols = &program->images[i].symbols;
        for (size_t k = 0; k < symbols->count; k++)
            if (symbols->names[k].function && has_source_name(symbols->names[k].name, name, most))
                count = add(symbols->names[k].address, entries, count, capacity);
    }
    return count;
}
