/* The lines that were changed since a revision, from git. */
#ifndef CLI_IO_PATCH_H
#define CLI_IO_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines [first, end) of a file. */
struct cli_patch_hunk {
    size_t file; /* index in `files` */
    uint32_t first, end;
};

struct cli_patch {
    char *text;  /* output of git */
    char *root;  /* folder of the repository */
    char **files; /* paths relative to `root`; in `text` */
    size_t file_count, file_capacity;
    struct cli_patch_hunk *hunks; /* in the order of git: by file and line */
    size_t hunk_count, hunk_capacity;
};

/* Reads the lines that differ between `revision` and the working tree, of the repository that contains the current
 * folder. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_patch_read(struct cli_patch *patch, const char *revision);

/* Returns the path in the repository of a file that was changed, or NULL. `file` is a name of debug information. */
const char *cli_patch_file(const struct cli_patch *patch, const char *file);

/* Returns whether a line of such a path was changed. */
bool cli_patch_has(const struct cli_patch *patch, const char *path, uint32_t line);

void cli_patch_release(struct cli_patch *patch);

#endif
