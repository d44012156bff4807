/* The lines that were changed since a revision, from git. */
#ifndef CLI_COMMANDS_COVERAGE_PATCH_H
#define CLI_COMMANDS_COVERAGE_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines [first, end) of a file. */
struct cli_patch_lines {
    uint32_t first, end;
};

struct cli_patch_file {
    const char *path;       /* relative to the root */
    size_t first, count;    /* in `lines` */
    bool module;            /* a submodule: `path` is its folder */
    bool used;              /* submodule: the program has a source in it */
};

/* Paths relative to the root, each ends with a 0 byte; sorted. */
struct cli_patch_paths {
    char *text;
    const char **items;
    size_t count;
};

struct cli_patch {
    char *text;   /* output of git diff */
    char *root;   /* folder of the repository */
    char *prefix; /* of names in debug information that stand for `root`, with the last '/'; NULL: there are none */
    struct cli_patch_file *files;
    size_t file_count, file_capacity;
    struct cli_patch_lines *lines; /* by file and line */
    size_t line_count, line_capacity;
    struct cli_patch_paths tracked, untracked;
};

/* Reads the lines that differ between the working tree and the last common commit of `revision` and HEAD, of the
 * repository that contains the current folder. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_patch_read(struct cli_patch *patch, const char *revision);

/* Finds which of the files, names of debug information, are those of the repository: the files below its folder, or
 * if there are none, those of the folder in which the most names are names of the repository. Returns CLI_OK,
 * CLI_DEFECTS after reporting that there is no such folder, or that there are several, or CLI_FAILED. */
int cli_patch_place(struct cli_patch *patch, const char *const *files, size_t count);

/* Returns the path in the repository of such a file, or NULL: it is not in the repository. */
const char *cli_patch_path(const struct cli_patch *patch, const char *file, char *buffer, size_t size);

/* Returns the changes of a path of the repository, or NULL. A file of a submodule has those of the submodule. */
struct cli_patch_file *cli_patch_find(const struct cli_patch *patch, const char *path);

/* Returns whether git does not know this path, and does not ignore it either. */
bool cli_patch_untracked(const struct cli_patch *patch, const char *path);

bool cli_patch_has(const struct cli_patch *patch, const struct cli_patch_file *file, uint32_t line);

void cli_patch_release(struct cli_patch *patch);

#endif
