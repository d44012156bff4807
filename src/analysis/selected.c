/* Selection of source files by folders and names. */
#include <ntrace/coverage.h>

#include <string.h>

/* Returns whether `path` ends with the components of `part`, or has them as a folder on its way. */
static bool has_part(const char *path, const char *part) {
    size_t size = strlen(part);
    while (size && part[size - 1] == '/') size--;
    if (!size) return true;
    for (const char *at = path; (at = strstr(at, part)); at++) {
        bool begins = at == path || at[-1] == '/' || part[0] == '/';
        if (begins && (at == path || part[0] != '/') && (at[size] == '\0' || at[size] == '/')) return true;
    }
    return false;
}

bool ntr_path_selected(const char *path, const char *const *only, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (has_part(path, only[i])) return true;
    return count == 0;
}
