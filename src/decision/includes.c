#include "decision/includes.h"

#include "analysis/texts.h"
#include "base/allocator.h"
#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { INCLUDED_MAX = 4096 };

static const char larger[] = "larger than the limit source";

typedef struct include_walk {
    const ntr_allocator *allocator;
    uint64_t most; /* bytes of a file */
    const char *const *arguments;
    size_t argument_count;
    ntr_texts texts;
    const char **files; /* found; those before `next` have been read */
    size_t count, capacity, next;
    ntr_status status;
    char *why;
    size_t why_size;
} include_walk;

static void refuse(include_walk *w, const char *path, const char *reason) {
    if (w->status) return;
    snprintf(w->why, w->why_size, "%.180s: %s", path, reason);
    w->status = NTR_E_FORMAT;
}

static void add(include_walk *w, const char *path) {
    const char *kept = ntr_texts_keep(&w->texts, path);
    for (size_t i = 0; i < w->count; i++)
        if (w->files[i] == kept) return;
    if (w->count == INCLUDED_MAX) {
        refuse(w, path, "includes more than 4096 files");
        return;
    }
    if (!kept || ntr_reserve(w->allocator, (void **)&w->files, &w->capacity, w->count + 1, sizeof *w->files))
        w->status = NTR_E_MEMORY;
    else
        w->files[w->count++] = kept;
}

/* A path that the front end may open. Folders can be named, but not be included. */
static void see(include_walk *w, const char *path, bool follow) {
    struct stat about;
    if (stat(path, &about) != 0 || S_ISDIR(about.st_mode)) return;
    if (!S_ISREG(about.st_mode))
        refuse(w, path, ntr_regular_error(EINVAL));
    else if ((uint64_t)about.st_size > w->most)
        refuse(w, path, larger);
    else if (follow && strncmp(path, "/usr/", 5) != 0)
        add(w, path);
}

static bool is_folder_option(const char *argument) {
    static const char *const options[] = {"-I", "-iquote", "-isystem", "-idirafter"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strcmp(argument, options[i]) == 0) return true;
    return false;
}

/* A name between quotes or angle brackets in a line of `file`. */
static void see_name(include_walk *w, const char *file, const char *name, size_t length, bool follow) {
    char path[PATH_MAX];
    const char *slash = strrchr(file, '/');
    if (!length || length >= PATH_MAX) return;
    if (name[0] == '/') {
        snprintf(path, sizeof path, "%.*s", (int)length, name);
        see(w, path, follow);
        return;
    }
    int size = snprintf(path, sizeof path, "%.*s/%.*s", slash ? (int)(slash - file) : 1, slash ? file : ".",
                        (int)length, name);
    if (size > 0 && (size_t)size < sizeof path) see(w, path, follow);
    for (size_t i = 0; i + 1 < w->argument_count && !w->status; i++) {
        if (!is_folder_option(w->arguments[i])) continue;
        size = snprintf(path, sizeof path, "%s/%.*s", w->arguments[i + 1], (int)length, name);
        if (size > 0 && (size_t)size < sizeof path) see(w, path, follow);
    }
}

/* Whether the front end may see a directive here: '#', or what is written for it. Comments and strings may hide and
 * imitate one, so each line that has the character counts. */
static bool has_directive(const char *line, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (line[i] == '#' || (line[i] == '%' && i + 1 < size && line[i + 1] == ':') ||
            (line[i] == '?' && i + 2 < size && line[i + 1] == '?' && line[i + 2] == '='))
            return true;
    return false;
}

static void see_line(include_walk *w, const char *file, const char *line, size_t size) {
    bool names = false;
    const bool includes = memmem(line, size, "include", 7) || memmem(line, size, "import", 6);
    for (size_t i = 0; i < size && !w->status; i++) {
        const char close = line[i] == '"' ? '"' : line[i] == '<' ? '>' : 0;
        const char *end = close ? memchr(line + i + 1, close, size - i - 1) : NULL;
        if (!end) continue;
        see_name(w, file, line + i + 1, (size_t)(end - line) - i - 1, true);
        names = true;
        if (close == '"') i = (size_t)(end - line);
    }
    if (includes && !names && memchr(line, '(', size) && !memmem(line, size, "__has_include", 13)) {
        const char *at = memmem(line, size, "include", 7);
        const char *end = line + size;
        for (at = at ? at + 7 : end; at < end && isspace((unsigned char)*at);) at++;
        if (at < end && (isalpha((unsigned char)*at) || *at == '_') && memchr(line, '#', size))
            refuse(w, file, "the name of an included file is the result of a macro with arguments");
    }
}

static void see_file(include_walk *w, const char *file) {
    char *text;
    size_t size;
    ntr_status status = ntr_read_regular(file, w->most, w->allocator, &text, &size);
    if (status == NTR_E_MEMORY) w->status = status;
    if (status == NTR_E_IO && w->next == 1 && errno != EINVAL && errno != EFBIG)
        w->status = NTR_E_IO; /* the main file */
    else if (status == NTR_E_IO)
        refuse(w, file, errno == EFBIG ? larger : ntr_regular_error(errno));
    if (status) return;
    for (size_t at = 0; at < size && !w->status;) {
        size_t end = at;
        do { /* a line, and those that continue it */
            const char *stop = memchr(text + end, '\n', size - end);
            end = stop ? (size_t)(stop - text) + 1 : size;
        } while (end < size && end >= 2 &&
                 (text[end - 2] == '\\' || (end >= 3 && text[end - 2] == '\r' && text[end - 3] == '\\')));
        if (has_directive(text + at, end - at)) see_line(w, file, text + at, end - at);
        at = end;
    }
    ntr_dealloc(w->allocator, text);
}

ntr_status ntr_includes_check(const char *file, const char *const *arguments, size_t count, uint64_t most,
                              const ntr_allocator *allocator, char *why, size_t size) {
    include_walk w = {.allocator = allocator,
                      .most = most,
                      .arguments = arguments,
                      .argument_count = count,
                      .texts = {.allocator = allocator},
                      .why = why,
                      .why_size = size};
    add(&w, file);
    for (size_t i = 0; i + 1 < count && !w.status; i++)
        if (strcmp(arguments[i], "-include") == 0 || strcmp(arguments[i], "-imacros") == 0)
            see_name(&w, file, arguments[i + 1], strlen(arguments[i + 1]), true);
    while (!w.status && w.next < w.count) {
        const char *next = w.files[w.next++];
        see_file(&w, next);
    }
    ntr_dealloc(allocator, w.files);
    ntr_texts_release(&w.texts);
    return w.status;
}
