/* Reads source files by their names in debug information. */
#ifndef CLI_IO_SOURCE_TEXT_H
#define CLI_IO_SOURCE_TEXT_H

#include "io/source_match.h"

#include <ntrace/bytes.h>
#include <stdbool.h>

struct cli_source_text {
    const char *folders; /* --source-path, separated by colons; NULL: none */
    char *text;          /* contents of the last file read */
    struct cli_source_match *match; /* refuses texts that are not the source of the program; NULL: all are taken */
};

/* Sets the folders; one that cannot be searched is reported once. */
void cli_source_text_search(struct cli_source_text *source, const char *folders);

/* Implements ntr_read_source; `user` is a struct cli_source_text. Tries the path itself, then below each directory the
 * longest suffix of the path that exists; a text that `match` refuses does not count. *text is valid until the next
 * call. Returns false if no file is found; this is not reported, because debug information often names files that are
 * not on this machine. */
bool cli_source_text_read(void *user, const char *file, ntr_bytes *text);

/* The same without sources that may be others (source_match.h): lines are counted by these. */
bool cli_source_text_certain(void *user, const char *file, ntr_bytes *text);

void cli_source_text_release(struct cli_source_text *source);

#endif
