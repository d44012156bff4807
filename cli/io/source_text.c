#include "io/source_text.h"

#include "io/input.h"
#include "options/diagnostics.h"

#include <errno.h>

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A search for a file. `refused`: one was found that is not the source of the program. */
struct source_search {
    struct cli_source_text *source;
    const char *file; /* as debug information names it */
    bool refused;
};

/* Says why a file that exists is not shown. Sources that are not on this machine are no damage. Returns false. */
static bool hide(const char *path, int error, const char *found) {
    struct stat about;

    if (!error && cli_first_time("no text", path))
        cli_doubt("%s: expected a text, found %s; it is not shown", path, found);
    if (!error || error == ENOENT || lstat(path, &about) != 0 || S_ISDIR(about.st_mode)) return false;
    if (error == EFBIG && cli_first_time("larger", path))
        cli_doubt("%s: expected at most %llu bytes (limit source), found more; it is not shown", path,
                  (unsigned long long)cli_limit(CLI_LIMIT_SOURCE));
    if (error != EFBIG && cli_first_time("unreadable", path))
        cli_doubt("%s: %s; it is not shown", path, error == EINVAL ? "not a regular file" : strerror(error));
    return false;
}

/* Loads one file. Its name comes from the traced program and is not trusted: only regular text files of at most
 * as many bytes as the limit source allows are read, and open does not block on a device. */
static bool load(struct source_search *search, const char *path, ntr_bytes *text) {
    struct cli_source_text *source = search->source;
    struct stat about = {0};
    int fd = cli_open_regular(path, cli_limit(CLI_LIMIT_SOURCE));

    if (fd < 0 || fstat(fd, &about) != 0) return hide(path, errno, NULL);
    free(source->text);
    source->text = malloc((size_t)about.st_size + 1);
    errno = source->text ? EIO : ENOMEM; /* a file that became shorter is EIO, too */
    size_t size = source->text ? cli_read_all(fd, source->text, (size_t)about.st_size) : 0;
    const int error = errno;
    close(fd);
    if (!source->text || size != (size_t)about.st_size) return hide(path, error, NULL);
    *text = (ntr_bytes){(const uint8_t *)source->text, size};
    if (source->match && !cli_source_match_accepts(source->match, search->file, *text, &about)) {
        search->refused = true;
        return false;
    }
    if (size && !memchr(source->text, 0, size)) return true;
    return hide(path, 0, size ? "a byte 0" : "an empty file");
}

/* Searches a directory: for the whole path, then without its first component, and so on, down to the file name. */
static bool load_below(struct source_search *search, const char *folder, size_t size, ntr_bytes *text) {
    char path[PATH_MAX];

    for (const char *rest = search->file; rest; rest = strchr(rest, '/')) {
        while (*rest == '/') rest++;
        int length = snprintf(path, sizeof path, "%.*s/%s", (int)size, folder, rest);
        if (length > 0 && (size_t)length < sizeof path && load(search, path, text)) return true;
    }
    return false;
}

bool cli_source_text_read(void *user, const char *file, ntr_bytes *text) {
    struct cli_source_text *source = user;

    struct source_search search = {.source = source, .file = file};
    if (load(&search, file, text)) return true;
    for (const char *folder = source->folders; folder && *folder;) {
        size_t size = strcspn(folder, ":");
        if (size && load_below(&search, folder, size, text)) return true;
        folder += size + (folder[size] == ':');
    }
    if (search.refused) cli_source_match_refused(source->match, file);
    return false;
}

bool cli_source_text_certain(void *user, const char *file, ntr_bytes *text) {
    const struct cli_source_text *source = user;

    return cli_source_text_read(user, file, text) && !(source->match && cli_source_match_doubts(source->match, file));
}

void cli_source_text_search(struct cli_source_text *source, const char *folders) {
    char path[PATH_MAX];

    source->folders = folders;
    for (const char *folder = folders; folder && *folder;) {
        const size_t size = strcspn(folder, ":");
        struct stat about = {0};
        snprintf(path, sizeof path, "%.*s", (int)size, folder);
        const char *why = !size                     ? NULL
                          : stat(path, &about) != 0 ? strerror(errno)
                          : !S_ISDIR(about.st_mode) ? "expected a folder, found a file"
                                                    : NULL;
        if (why && cli_first_time("source-path", path)) cli_note("--source-path %s: %s", path, why);
        folder += size + (folder[size] == ':');
    }
}

void cli_source_text_release(struct cli_source_text *source) {
    free(source->text);
    source->text = NULL;
}
