/* Whether sources are those from which a program was made.
 *
 * Compilers that write the MD5 of each source into debug information (clang and rustc with DWARF 5) decide it: a file
 * with another MD5 is another source, whatever its age, and its text is not shown. Without an MD5 a source that is
 * newer than the program may be another one; its text is shown, and the file is named. */
#ifndef CLI_IO_SOURCE_MATCH_H
#define CLI_IO_SOURCE_MATCH_H

#include <ntrace/coverage.h>
#include <sys/stat.h>

/* A source that differs, or may differ. */
struct cli_other_source {
    char *file, *program;
    bool differs; /* its MD5 is another one; otherwise it is newer than the program */
};

struct cli_source_match {
    const ntr_program *program; /* NULL: only what was found before is known */
    ntr_debug_info *debug;
    struct cli_known_source *known; /* the sources of the program, sorted by name */
    size_t known_count, known_capacity;
    bool listed;                    /* `known` is complete */
    struct cli_other_source *others;
    size_t other_count, other_capacity;
    bool failed; /* out of memory */
};

/* Compares with the debug information of this program until cli_source_match_end. What was found is kept. */
void cli_source_match_begin(struct cli_source_match *match, const ntr_program *program, ntr_debug_info *debug);
void cli_source_match_end(struct cli_source_match *match);

/* Returns whether `text`, read from a file that `about` describes, may be the source that debug information calls
 * `file`. */
bool cli_source_match_accepts(struct cli_source_match *match, const char *file, ntr_bytes text,
                              const struct stat *about);

/* Returns whether the source that was read for `file` may be another one. */
bool cli_source_match_doubts(const struct cli_source_match *match, const char *file);

/* Notes that no file found for `file` was accepted. */
void cli_source_match_refused(struct cli_source_match *match, const char *file);

/* Reports what was found: with an MD5 that differs the exit status is 1. */
void cli_source_match_report(const struct cli_source_match *match);
void cli_source_match_release(struct cli_source_match *match);

#endif
