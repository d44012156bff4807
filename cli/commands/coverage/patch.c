#include "commands/coverage/patch.h"

#include "options/diagnostics.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Reads all that git writes into a new string, which ends with a 0 byte, and stores its size. Returns CLI_OK, or
 * CLI_FAILED after reporting the error; git has then written why to standard error, except when it has found nothing.
 */
static int run_git(const char *const *arguments, char **text, size_t *length) {
    posix_spawn_file_actions_t actions;
    size_t size = 0, capacity = 0;
    ssize_t got = 1;
    int ends[2], status = 0;
    pid_t child;

    *text = NULL;
    if (pipe(ends) != 0) return cli_fail("git: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    const int error = posix_spawnp(&child, "git", &actions, NULL, (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (!error && got > 0) {
        if (capacity - size < 4096) {
            capacity = capacity ? 2 * capacity : 1 << 16;
            char *more = realloc(*text, capacity);
            if (!more) break;
            *text = more;
        }
        got = read(ends[0], *text + size, capacity - size - 1);
        if (got > 0) size += (size_t)got;
    }
    close(ends[0]);
    if (error) return cli_fail("git: %s; --since needs git", strerror(error));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (got != 0 || !*text) return cli_fail(got < 0 ? "git: the output cannot be read" : "out of memory");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return cli_fail("--since: git failed");
    (*text)[size] = '\0';
    *length = size;
    return CLI_OK;
}

static bool grow(void **items, size_t *capacity, size_t count, size_t size) {
    if (count < *capacity) return true;
    const size_t more = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(*items, more * size);
    if (!grown) return false;
    *items = grown;
    *capacity = more;
    return true;
}

/* ---- reading a diff ----------------------------------------------------------------------------- */

/* Replaces the escapes of a path that git has quoted, in place. `path` begins after the quote. */
static void unquote(char *path) {
    static const char letters[] = "abtnvfr\"\\", values[] = "\a\b\t\n\v\f\r\"\\";
    char *to = path;

    while (*path && *path != '"') {
        if (*path != '\\') {
            *to++ = *path++;
            continue;
        }
        const char *letter = path[1] ? strchr(letters, path[1]) : NULL;
        unsigned octal = 0, digits = 0;
        path++;
        if (letter) *to++ = values[letter - letters], path++;
        while (!letter && digits < 3 && *path >= '0' && *path <= '7')
            octal = 8 * octal + (unsigned)(*path++ - '0'), digits++;
        if (digits) *to++ = (char)octal;
    }
    *to = '\0';
}

/* "+++ b/PATH"; git appends a tab to a path with blanks, and quotes a path with control characters, '"' or '\'. */
static bool add_file(struct cli_patch *patch, char *line, bool module) {
    char *path = line + strlen("+++ ");

    if (*path == '"')
        unquote(++path);
    else
        path[strcspn(path, "\t")] = '\0';
    if (strncmp(path, "b/", 2) != 0) return true; /* /dev/null: removed */
    if (!grow((void **)&patch->files, &patch->file_capacity, patch->file_count, sizeof *patch->files)) return false;
    patch->files[patch->file_count++] =
        (struct cli_patch_file){.path = path + 2, .first = patch->line_count, .module = module};
    return true;
}

static bool add_line(struct cli_patch *patch, uint32_t line) {
    struct cli_patch_file *file = &patch->files[patch->file_count - 1];
    struct cli_patch_lines *last = file->count ? &patch->lines[patch->line_count - 1] : NULL;

    if (last && last->end == line) {
        last->end++;
        return true;
    }
    if (!grow((void **)&patch->lines, &patch->line_capacity, patch->line_count, sizeof *patch->lines) || !patch->lines)
        return false;
    patch->lines[patch->line_count++] = (struct cli_patch_lines){line, line + 1};
    file->count++;
    return true;
}

/* A hunk, of which some lines have been read. */
struct hunk {
    uint32_t line;               /* the next one, in the new file */
    unsigned long before, after; /* how many lines of both files are left */
};

/* "-FIRST[,COUNT]" */
static unsigned long read_range(const char **at, unsigned long *count) {
    char *end;
    const unsigned long first = strtoul(*at + 1, &end, 10);

    *count = *end == ',' ? strtoul(end + 1, &end, 10) : 1;
    *at = end + strspn(end, " ");
    return first;
}

/* "@@ -FIRST[,COUNT] +FIRST[,COUNT] @@" */
static struct hunk begin_hunk(const char *line) {
    struct hunk hunk;
    const char *at = line + strlen("@@ ");

    read_range(&at, &hunk.before);
    const unsigned long first = read_range(&at, &hunk.after);
    if (first > UINT32_MAX || hunk.after > UINT32_MAX - first) return (struct hunk){0};
    hunk.line = (uint32_t)first;
    return hunk;
}

/* A line of a hunk. Settings of git may add lines that were not changed. */
static bool read_line(struct cli_patch *patch, struct hunk *hunk, char kind) {
    if (kind == '\\') return true; /* "\ No newline at end of file" */
    const bool added = kind == '+', removed = kind == '-';
    const bool good = !added || !patch->file_count || add_line(patch, hunk->line);

    if (!added && hunk->before) hunk->before--;
    if (!removed && hunk->after) hunk->after--, hunk->line++;
    return good;
}

static int parse(struct cli_patch *patch, size_t size) {
    const char *end = patch->text + size;
    struct hunk hunk = {0};
    bool good = true, module = false;

    for (char *line = patch->text; good && line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop) *stop = '\0';
        if (hunk.before || hunk.after)
            good = read_line(patch, &hunk, *line);
        else if (strncmp(line, "diff --git ", strlen("diff --git ")) == 0)
            module = false;
        else if (strncmp(line, "index ", 6) == 0 || strncmp(line, "new file mode ", 14) == 0)
            module |= strstr(line, " 160000") != NULL;
        else if (strncmp(line, "+++ ", 4) == 0)
            good = add_file(patch, line, module);
        else if (strncmp(line, "@@ ", 3) == 0)
            hunk = begin_hunk(line);
        line = stop ? stop + 1 : patch->text + size;
    }
    return good ? CLI_OK : cli_fail("out of memory");
}

/* ---- what git knows ----------------------------------------------------------------------------- */

static int by_path(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_file(const void *a, const void *b) {
    return strcmp(((const struct cli_patch_file *)a)->path, ((const struct cli_patch_file *)b)->path);
}

/* Reads paths that git has separated by 0 bytes. */
static int read_paths(struct cli_patch_paths *paths, const char *root, const char *option, const char *more) {
    const char *const list[] = {"git", "-C", root, "ls-files", "-z", option, more, NULL};
    size_t size, capacity = 0;

    if (run_git(list, &paths->text, &size) != CLI_OK) return CLI_FAILED;
    for (const char *at = paths->text; at < paths->text + size; at += strlen(at) + 1) {
        if (!grow((void **)&paths->items, &capacity, paths->count, sizeof *paths->items))
            return cli_fail("out of memory");
        paths->items[paths->count++] = at;
    }
    if (paths->count) qsort(paths->items, paths->count, sizeof *paths->items, by_path);
    return CLI_OK;
}

static bool has_path(const struct cli_patch_paths *paths, const char *path) {
    return paths->count && bsearch(&path, paths->items, paths->count, sizeof *paths->items, by_path);
}

bool cli_patch_untracked(const struct cli_patch *patch, const char *path) {
    return has_path(&patch->untracked, path);
}

/* The last common commit: what another branch has changed since then is no change of this one. */
static int find_base(const char *root, const char *revision, char **base) {
    const char *const merge_base[] = {"git", "-C", root, "merge-base", revision, "HEAD", NULL};
    size_t size;

    if (run_git(merge_base, base, &size) != CLI_OK)
        return cli_fail("--since: expected a revision with a common commit with HEAD, found '%s'; in a shallow clone, "
                        "fetch more commits",
                        revision);
    (*base)[strcspn(*base, "\n")] = '\0';
    return CLI_OK;
}

int cli_patch_read(struct cli_patch *patch, const char *revision) {
    const char *const top[] = {"git", "rev-parse", "--show-toplevel", NULL};
    char *base = NULL;
    size_t size;

    if (revision[0] == '-') return cli_fail("--since: expected a revision, found '%s'", revision);
    if (run_git(top, &patch->root, &size) != CLI_OK) return CLI_FAILED;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): run_git has stored a text */
    patch->root[strcspn(patch->root, "\n")] = '\0';
    int status = find_base(patch->root, revision, &base);
    const char *const diff[] = {"git",
                                "-C",
                                patch->root,
                                "-c",
                                "core.quotePath=false",
                                "diff",
                                "--unified=0",
                                "--text",
                                "--no-color",
                                "--no-ext-diff",
                                "--no-textconv",
                                "--no-relative",
                                "--find-renames",
                                "--submodule=short",
                                "--src-prefix=a/",
                                "--dst-prefix=b/",
                                base,
                                "--",
                                NULL};
    if (status == CLI_OK) status = run_git(diff, &patch->text, &size);
    free(base);
    if (status == CLI_OK) status = parse(patch, size);
    if (status == CLI_OK) status = read_paths(&patch->tracked, patch->root, "--cached", NULL);
    if (status == CLI_OK) status = read_paths(&patch->untracked, patch->root, "--others", "--exclude-standard");
    if (patch->file_count) qsort(patch->files, patch->file_count, sizeof *patch->files, by_file);
    return status;
}

/* ---- files -------------------------------------------------------------------------------------- */

/* Returns the part of a path below a folder, or NULL. */
static const char *below(const char *path, const char *folder) {
    const size_t size = strlen(folder);

    if (strncmp(path, folder, size) != 0) return NULL;
    return size && folder[size - 1] == '/' ? path + size : path[size] == '/' ? path + size + 1 : NULL;
}

/* A folder that may be the repository where the program was built. */
struct candidate {
    const char *file;
    size_t size, files, parts; /* its length in `file`; how many names and parts of names git knows below it */
};

struct candidates {
    struct candidate *items;
    size_t count, capacity;
};

static bool add_candidate(struct candidates *c, const char *file, const char *path) {
    const size_t size = (size_t)(path - file);
    size_t parts = 1, i = 0;

    for (const char *p = path; *p; p++) parts += *p == '/';
    while (i < c->count && (c->items[i].size != size || memcmp(c->items[i].file, file, size) != 0)) i++;
    if (i == c->count) {
        if (!grow((void **)&c->items, &c->capacity, c->count, sizeof *c->items)) return false;
        c->items[c->count++] = (struct candidate){file, size, 0, 0};
    }
    c->items[i].files++;
    c->items[i].parts += parts;
    return true;
}

static int compare(const struct candidate *a, const struct candidate *b) {
    if (a->files != b->files) return a->files < b->files ? -1 : 1;
    return a->parts == b->parts ? 0 : a->parts < b->parts ? -1 : 1;
}

/* Chooses the folder in which the most names are names of the repository. */
static int choose(struct cli_patch *patch, const struct candidates *c) {
    size_t best = 0, equal = 0;

    for (size_t i = 1; i < c->count; i++) {
        const int order = compare(&c->items[i], &c->items[best]);
        equal = order == 0 ? i : order > 0 ? 0 : equal;
        best = order > 0 ? i : best;
    }
    if (!c->count) {
        cli_note("--since: expected a program from sources of the repository %s, found none of them in its debug "
                 "information",
                 patch->root);
        return CLI_DEFECTS;
    }
    if (equal) {
        cli_note("--since: expected one folder that stands for the repository %s, found %.*s and %.*s in debug "
                 "information",
                 patch->root, (int)c->items[best].size, c->items[best].file, (int)c->items[equal].size,
                 c->items[equal].file);
        return CLI_DEFECTS;
    }
    patch->prefix = strndup(c->items[best].file, c->items[best].size);
    if (!patch->prefix) return cli_fail("out of memory");
    cli_note("--since: sources of the program in '%s' are compared with the repository %s", patch->prefix, patch->root);
    return CLI_OK;
}

const char *cli_patch_path(const struct cli_patch *patch, const char *file, char *buffer, size_t size) {
    const char *path = below(file, patch->prefix ? patch->prefix : patch->root);
    char here[PATH_MAX];

    if (patch->prefix && !path) return NULL;
    const int length = snprintf(here, sizeof here, "%s%s%s", patch->prefix ? patch->root : file,
                                patch->prefix ? "/" : "", patch->prefix ? path : "");
    if (length < 0 || (size_t)length >= sizeof here || size < PATH_MAX || !realpath(here, buffer)) return path;
    const char *real = below(buffer, patch->root); /* git knows a file by one name, not by those through links */
    return real ? real : path;
}

int cli_patch_place(struct cli_patch *patch, const char *const *files, size_t count) {
    struct candidates c = {0};
    char buffer[PATH_MAX];
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        const char *path = cli_patch_path(patch, files[i], buffer, sizeof buffer);
        if (path && (has_path(&patch->tracked, path) || cli_patch_find(patch, path))) return CLI_OK;
    }
    for (size_t i = 0; good && i < count; i++)
        for (const char *p = files[i]; good && p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
            if (has_path(&patch->tracked, p)) good = add_candidate(&c, files[i], p);
    const int status = good ? choose(patch, &c) : cli_fail("out of memory");
    free(c.items);
    return status;
}

struct cli_patch_file *cli_patch_find(const struct cli_patch *patch, const char *path) {
    const struct cli_patch_file key = {.path = path};
    struct cli_patch_file *found =
        patch->file_count ? bsearch(&key, patch->files, patch->file_count, sizeof key, by_file) : NULL;

    for (size_t i = 0; !found && i < patch->file_count; i++)
        if (patch->files[i].module && below(path, patch->files[i].path)) found = &patch->files[i];
    return found;
}

bool cli_patch_has(const struct cli_patch *patch, const struct cli_patch_file *file, uint32_t line) {
    size_t low = 0, high = file->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (patch->lines[file->first + middle].end <= line)
            low = middle + 1;
        else
            high = middle;
    }
    return !file->module && low < file->count && line >= patch->lines[file->first + low].first;
}

void cli_patch_release(struct cli_patch *patch) {
    free(patch->text);
    free(patch->root);
    free(patch->prefix);
    free(patch->files);
    free(patch->lines);
    free(patch->tracked.text);
    free((void *)patch->tracked.items);
    free(patch->untracked.text);
    free((void *)patch->untracked.items);
    *patch = (struct cli_patch){0};
}
