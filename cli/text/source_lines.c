#include "text/source_lines.h"

#include <stdlib.h>
#include <string.h>

enum { FILES = 64 }; /* largest number of files in memory; the next file discards all of them */

struct file {
    const char *name; /* not copied: names of debug information outlive this object */
    char *text;
    size_t size;
    size_t *starts; /* offset of each line, and of the end of the last one */
    uint32_t lines;
};

struct cli_source_lines {
    ntr_read_source read;
    void *user;
    struct file files[FILES];
    size_t count;
};

struct cli_source_lines *cli_source_lines_open(ntr_read_source read, void *user) {
    struct cli_source_lines *lines = calloc(1, sizeof *lines);

    if (lines) {
        lines->read = read;
        lines->user = user;
    }
    return lines;
}

static void discard_files(struct cli_source_lines *lines) {
    while (lines->count) {
        struct file *file = &lines->files[--lines->count];
        free(file->text);
        free(file->starts);
    }
}

void cli_source_lines_close(struct cli_source_lines *lines) {
    if (!lines) return;
    discard_files(lines);
    free(lines);
}

static void find_starts(struct file *file) {
    size_t count = 1;

    for (size_t i = 0; i < file->size; i++) count += file->text[i] == '\n';
    file->starts = malloc((count + 1) * sizeof *file->starts);
    if (!file->starts) return;
    file->starts[file->lines++] = 0;
    for (size_t i = 0; i < file->size; i++)
        if (file->text[i] == '\n') file->starts[file->lines++] = i + 1;
    file->starts[file->lines] = file->size + 1; /* as if the last line ended with a line feed */
}

/* Loads a file. A file that cannot be read is stored as one without lines. */
static struct file *load(struct cli_source_lines *lines, const char *name) {
    ntr_bytes text;

    if (lines->count == FILES) discard_files(lines);
    struct file *file = &lines->files[lines->count++];
    *file = (struct file){.name = name};
    if (!lines->read || !lines->read(lines->user, name, &text)) return file;
    file->text = malloc(text.size ? text.size : 1);
    if (!file->text) return file;
    memcpy(file->text, text.data, text.size);
    file->size = text.size;
    find_starts(file);
    return file;
}

static struct file *find(struct cli_source_lines *lines, const char *name) {
    for (size_t i = 0; i < lines->count; i++)
        if (lines->files[i].name == name || strcmp(lines->files[i].name, name) == 0) return &lines->files[i];
    return load(lines, name);
}

const char *cli_source_line(struct cli_source_lines *lines, const char *name, uint32_t number, size_t *size) {
    const struct file *file = lines ? find(lines, name) : NULL;

    if (!file || number == 0 || number > file->lines) return NULL;
    const char *line = file->text + file->starts[number - 1];
    *size = file->starts[number] - file->starts[number - 1] - 1;
    if (*size && line[*size - 1] == '\r') --*size;
    return line;
}

const char *cli_source_line_copy(struct cli_source_lines *lines, const char *name, uint32_t number, char *copy,
                                 size_t room) {
    size_t size = 0;
    const char *line = cli_source_line(lines, name, number, &size);

    while (size && (*line == ' ' || *line == '\t')) line++, size--;
    if (size >= room) size = room - 1;
    if (size) memcpy(copy, line, size);
    copy[size] = '\0';
    return copy;
}
