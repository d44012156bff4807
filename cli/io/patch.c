#include "io/patch.h"

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

/* Reads all that git writes into a new string. Returns CLI_OK, or CLI_FAILED after reporting the error; git has then
 * written why to standard error. */
static int run_git(const char *const *arguments, char **text) {
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

/* "+++ b/PATH"; git appends a tab to a path with blanks, and quotes one with control characters. /dev/null: removed. */
static bool add_file(struct cli_patch *patch, char *line) {
    char *path = line + strlen("+++ b/");

    path[strcspn(path, "\t")] = '\0';
    if (!grow((void **)&patch->files, &patch->file_capacity, patch->file_count, sizeof *patch->files)) return false;
    patch->files[patch->file_count++] = path;
    return true;
}

/* "@@ -FIRST[,COUNT] +FIRST[,COUNT] @@" */
static bool add_hunk(struct cli_patch *patch, const char *line) {
    const char *at = strchr(line, '+');
    char *end;

    if (!at || !patch->file_count) return true;
    const unsigned long first = strtoul(at + 1, &end, 10);
    const unsigned long count = *end == ',' ? strtoul(end + 1, NULL, 10) : 1;
    if (!count || first > UINT32_MAX || count > UINT32_MAX - first) return true;
    if (!grow((void **)&patch->hunks, &patch->hunk_capacity, patch->hunk_count, sizeof *patch->hunks)) return false;
    patch->hunks[patch->hunk_count++] =
        (struct cli_patch_hunk){patch->file_count - 1, (uint32_t)first, (uint32_t)(first + count)};
    return true;
}

/* Lines of a file begin with '+' or '-', also where they look like a head; heads are those before the first hunk. */
static int parse(struct cli_patch *patch) {
    bool in_head = false, good = true;

    for (char *line = patch->text; good && line && *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        if (strncmp(line, "diff --git ", strlen("diff --git ")) == 0)
            in_head = true;
        else if (in_head && strncmp(line, "+++ b/", strlen("+++ b/")) == 0)
            good = add_file(patch, line);
        else if (strncmp(line, "@@ ", 3) == 0)
            good = add_hunk(patch, line), in_head = false;
        line = end ? end + 1 : NULL;
    }
    return good ? CLI_OK : cli_fail("out of memory");
}

int cli_patch_read(struct cli_patch *patch, const char *revision) {
    const char *const root[] = {"git", "rev-parse", "--show-toplevel", NULL};
    const char *const diff[] = {"git",
                                "-c",
                                "core.quotePath=false",
                                "diff",
                                "--unified=0",
                                "--no-color",
                                "--no-ext-diff",
                                "--no-textconv",
                                "--src-prefix=a/",
                                "--dst-prefix=b/",
                                "--diff-filter=d",
                                revision,
                                "--",
                                NULL};

    if (revision[0] == '-') return cli_fail("--since: expected a revision, found '%s'", revision);
    if (run_git(root, &patch->root) != CLI_OK || run_git(diff, &patch->text) != CLI_OK) return CLI_FAILED;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): run_git has stored a text */
    patch->root[strcspn(patch->root, "\n")] = '\0';
    return parse(patch);
}

/* Names of debug information are absolute paths where the program was built; that may have been another folder. The
 * file in the repository is preferred, otherwise the longest path that the name ends with. */
const char *cli_patch_file(const struct cli_patch *patch, const char *file) {
    const size_t size = strlen(file), root = strlen(patch->root);
    const char *found = NULL;

    for (size_t i = 0; i < patch->file_count; i++) {
        const char *path = patch->files[i];
        const size_t length = strlen(path);
        if (length > size || strcmp(file + size - length, path) != 0) continue;
        if (length < size && file[size - length - 1] != '/') continue;
        if (size == root + 1 + length && strncmp(file, patch->root, root) == 0) return path;
        if (!found || strlen(found) < length) found = path;
    }
    /* a file in the repository that was not changed is not another one of the same name */
    if (strncmp(file, patch->root, root) == 0 && file[root] == '/') return NULL;
    return found;
}

bool cli_patch_has(const struct cli_patch *patch, const char *path, uint32_t line) {
    for (size_t i = 0; i < patch->hunk_count; i++) {
        const struct cli_patch_hunk *hunk = &patch->hunks[i];
        if (patch->files[hunk->file] == path && line >= hunk->first && line < hunk->end) return true;
    }
    return false;
}

void cli_patch_release(struct cli_patch *patch) {
    free(patch->text);
    free(patch->root);
    free(patch->files);
    free(patch->hunks);
    *patch = (struct cli_patch){0};
}
