#include "decision/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ntr_path_resolve(ntr_texts *texts, const char *name) {
    char path[PATH_MAX];
    return ntr_texts_keep(texts, realpath(name, path) ? path : name);
}

static bool find_below(const char *folder, size_t size, const char *name, char found[PATH_MAX]) {
    char path[PATH_MAX];
    for (const char *rest = name; rest; rest = strchr(rest, '/')) {
        while (*rest == '/') rest++;
        int length = snprintf(path, sizeof path, "%.*s/%s", (int)size, folder, rest);
        if (length > 0 && (size_t)length < sizeof path && *rest && realpath(path, found)) return true;
    }
    return false;
}

const char *ntr_path_find(ntr_texts *texts, const char *folders, const char *name) {
    char path[PATH_MAX];
    if (realpath(name, path)) return ntr_texts_keep(texts, path);
    for (const char *folder = folders; folder && *folder;) {
        size_t size = strcspn(folder, ":");
        if (size && find_below(folder, size, name, path)) return ntr_texts_keep(texts, path);
        folder += size + (folder[size] == ':');
    }
    return ntr_texts_keep(texts, name);
}
