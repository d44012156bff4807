#include "bundle/remove.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void remove_entry(int folder, const char *name, int depth);

static void remove_entries(int folder, int depth) {
    DIR *entries = fdopendir(folder);
    if (!entries) {
        close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_entry(dirfd(entries), entry->d_name, depth);
    }
    closedir(entries);
}

static void remove_entry(int folder, const char *name, int depth) {
    if (unlinkat(folder, name, 0) == 0 || depth == 0) return;
    int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0) return;
    remove_entries(inner, depth - 1);
    unlinkat(folder, name, AT_REMOVEDIR);
}

void ntr_bundle_remove(const char *folder) {
    remove_entry(AT_FDCWD, folder, 2);
}
