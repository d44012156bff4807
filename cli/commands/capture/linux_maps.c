/* The mappings of processes on the target. */
#include "commands/capture/linux.h"
#include "options/diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *linux_word(const char *at, char *word, size_t size) {
    at += strspn(at, " \t");
    const size_t length = strcspn(at, " \t\n");
    snprintf(word, size, "%.*s", (int)length, at);
    return at + length;
}

bool linux_mapping_of(const char *line, struct linux_mapping *mapping) {
    char word[40], *end;

    *mapping = (struct linux_mapping){0};
    line = linux_word(line, word, sizeof word);
    mapping->start = strtoull(word, &end, 16);
    if (end == word || *end != '-') return false;
    mapping->end = strtoull(end + 1, &end, 16);
    if (*end || mapping->end <= mapping->start) return false;
    line = linux_word(line, word, sizeof word);
    if (strlen(word) < 4) return false;
    mapping->runs = word[2] == 'x';
    line = linux_word(line, word, sizeof word);
    mapping->offset = strtoull(word, NULL, 16);
    line = linux_word(line, word, sizeof word); /* device */
    line = linux_word(line, word, sizeof word); /* inode */
    mapping->path = line + strspn(line, " ");
    return true;
}

static void read_vdso(struct linux_maps *maps) {
    const char *line = strstr(maps->text, "[vdso]");
    char path[PATH_MAX];
    struct linux_mapping at;

    while (line && line > maps->text && line[-1] != '\n') line--;
    if (!line || !linux_mapping_of(line, &at) || at.end - at.start > LINUX_VDSO) return;
    snprintf(path, sizeof path, "%s/proc/%d/mem", maps->root, (int)maps->pid);
    FILE *file = fopen(path, "re");
    maps->vdso_bytes = malloc((size_t)(at.end - at.start));
    if (file && maps->vdso_bytes && fseeko(file, (off_t)at.start, SEEK_SET) == 0)
        maps->vdso_size = fread(maps->vdso_bytes, 1, (size_t)(at.end - at.start), file);
    maps->vdso = at.start;
    if (file) fclose(file);
}

/* A process that ptrace follows is of this system, also with --root. */
static bool is_ours(const struct linux_run *run, pid_t pid) {
    for (size_t i = 0; i < run->process.thread_count; i++)
        if (run->process.threads[i].pid == pid) return true;
    return false;
}

void linux_keep_maps(struct linux_run *run, pid_t pid) {
    struct linux_maps *one = &run->maps[run->map_count];
    const char *root = is_ours(run, pid) ? "" : run->devices.root;
    char path[64], whole[PATH_MAX];
    size_t size;

    for (size_t i = 0; i < run->map_count; i++)
        if (run->maps[i].pid == pid) return;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    snprintf(whole, sizeof whole, "%s%s", root, path);
    if (run->map_count == LINUX_MAPS || access(whole, R_OK) != 0) return;
    uint8_t *bytes = linux_read_file(root, path, &size);
    char *text = bytes ? realloc(bytes, size + 1) : NULL;
    if (!text) {
        free(bytes);
        return;
    }
    text[size] = 0;
    *one = (struct linux_maps){.pid = pid, .root = root, .text = text};
    read_vdso(one);
    run->map_count++;
}
