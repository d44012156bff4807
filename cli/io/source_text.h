/* The text of source files, by the names that debug information gives them. */
#ifndef CLI_IO_SOURCE_TEXT_H
#define CLI_IO_SOURCE_TEXT_H

#include <ntrace/bytes.h>
#include <stdbool.h>

struct cli_source_text {
    const char *folders; /* --source-path; NULL: none */
    char *text;          /* of the last file */
};

/* An ntr_read_source; `user` is a struct cli_source_text. The file itself, else below each of the folders, with as
 * much of its path as leads to one. Quiet when there is none: debug information often tells of files elsewhere. */
bool cli_source_text_read(void *user, const char *file, ntr_bytes *text);

void cli_source_text_release(struct cli_source_text *source);

#endif
