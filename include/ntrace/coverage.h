/* Coverage: execution counts of the lines, branches and functions of a program, without instrumentation.
 *
 * The count of a line is the number of times that control reached it from another line, plus the number of loops of
 * the line to itself. This is the definition of gcov. In code of clang it is the greatest count of what is on the line,
 * which is the definition of llvm-cov (ntr_cover_rule). Lines and functions that were not executed have count 0.
 * Objects are not thread-safe. */
#ifndef NTRACE_COVERAGE_H
#define NTRACE_COVERAGE_H

#include <ntrace/bytes.h>
#include <ntrace/debug_info.h>
#include <ntrace/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What decision coverage demands (<ntrace/decision.h>). */
typedef enum ntr_decision_level {
    NTR_LEVEL_DECISION, /* both results; all decisions */
    NTR_LEVEL_MCDC, /* unique-cause MC/DC; decisions with two and more conditions */
    NTR_LEVEL_MASKING, /* masking MC/DC */
} ntr_decision_level;

typedef struct ntr_coverage ntr_coverage;

typedef struct ntr_cover_line {
    const char *file;
    uint32_t line;
    bool known;          /* false: the count is 0, but executions may be hidden by a gap in the trace */
    bool only_end;       /* only ends of functions that return a value: gcov does not list the line */
    uint64_t count;
    size_t first_branch; /* index of its first branch in ntr_coverage_branches */
    size_t branches;
} ntr_cover_line;

/* A conditional branch instruction. `address` is its address as linked. */
typedef struct ntr_cover_branch {
    const char *file;
    uint32_t line;
    uint64_t address;
    uint64_t taken, not_taken;
} ntr_cover_branch;

/* By what the lines of a function were counted (ntr_coverage_set_sources). */
typedef enum ntr_cover_source {
    NTR_COVER_SOURCE_NOT_NEEDED, /* it was not counted as llvm-cov does, or it is inlined everywhere */
    NTR_COVER_SOURCE_USED,
    NTR_COVER_SOURCE_OPTIMIZED, /* its code: the source says nothing */
    NTR_COVER_SOURCE_UNKNOWN,   /* the source is not at hand, or is not of C or C++ */
    NTR_COVER_SOURCE_NOT_UNDERSTOOD,
    NTR_COVER_SOURCE_COUNT,
} ntr_cover_source;

typedef struct ntr_cover_function {
    const char *name, *linkage, *file;
    uint32_t line;
    bool known;
    ntr_cover_source source; /* of several copies: the last one of the enumeration */
    uint64_t count;    /* number of entries */
    uint64_t returned; /* how often it returned; the entries, where that is not known */
} ntr_cover_function;

/* Makes an empty object. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_coverage_new(const ntr_allocator *allocator, ntr_coverage **out);
NTR_API void ntr_coverage_free(ntr_coverage *coverage);

/* Stores the text of a source file that debug information names. Returns false when it is not available. The text is
 * valid until the next call. */
typedef bool (*ntr_read_source)(void *user, const char *file, ntr_bytes *text);

/* How lines are counted. */
typedef enum ntr_cover_rule {
    NTR_COVER_RULE_PRODUCER, /* as llvm-cov does in units that a compiler of LLVM made, as gcov does in others */
    NTR_COVER_RULE_GCOV,     /* passes through the line */
    NTR_COVER_RULE_LLVM,     /* the greatest count of what is on the line */
} ntr_cover_rule;
/* Selects the rule for what is added from now on. */
NTR_API void ntr_coverage_set_rule(ntr_coverage *coverage, ntr_cover_rule rule);
/* Gives the sources of the program for what is added from now on. With them, lines of C and C++ of clang are counted as
 * llvm-cov does by the statements that the source has; without, by the code of the line alone. A source that is not
 * the one of the program must not be given. `read` is called by ntr_coverage_add. NULL: no source. */
NTR_API void ntr_coverage_set_sources(ntr_coverage *coverage, ntr_read_source read, void *user);
/* Returns the rules of the lines that were added so far: bits 1 << NTR_COVER_RULE_GCOV and 1 << NTR_COVER_RULE_LLVM. */
NTR_API unsigned ntr_coverage_rules(const ntr_coverage *coverage);

/* Restricts what is added from now on to sources in these folders or with these names. The
 * strings must outlive the object. `count` 0: all sources. */
NTR_API void ntr_coverage_only(ntr_coverage *coverage, const char *const *only, size_t count);
/* Returns whether the path of a source is selected by a list of folders and file names. An empty list selects all. */
NTR_API bool ntr_path_selected(const char *path, const char *const *only, size_t count);

/* Adds one run. The counts of several runs are summed. The arguments are not used after the call.
 * Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_coverage_add(ntr_coverage *coverage, const ntr_program *program, ntr_debug_info *debug,
                                    ntr_tally *tally);

/* How the functions of one coverage differ from the same functions (by file and linkage name) of another one. */
typedef struct ntr_cover_merge {
    uint64_t moved; /* on another line, with the same lines of code below it */
    uint64_t changed; /* with other lines of code */
    const char *file, *function; /* one that has moved, otherwise one that has changed; NULL: none */
    uint32_t line, other_line; /* of `function`: in `from` and in `to` */
} ntr_cover_merge;

/* Adds the coverage of other runs, and compares the functions, of which *result tells. The sources were not the same if
 * a function has moved: then returns NTR_E_STATE and adds nothing, unless `other_builds` is set. With `other_builds`,
 * lines and branches of functions that have moved are added where `to` has them, and functions that have changed are
 * left out. `from` must not be used afterwards, except for freeing it; the strings of *result are valid until then.
 * Errors: NTR_E_STATE, NTR_E_MEMORY. */
NTR_API ntr_status ntr_coverage_merge(ntr_coverage *to, ntr_coverage *from, bool other_builds, ntr_cover_merge *result);

/* Return arrays sorted by (file, line), by (file, line, address), and by (file, line, linkage), and store the number of
 * elements in *count. The arrays are valid until the next ntr_coverage_add. */
NTR_API const ntr_cover_line *ntr_coverage_lines(ntr_coverage *coverage, size_t *count);
NTR_API const ntr_cover_branch *ntr_coverage_branches(ntr_coverage *coverage, size_t *count);
NTR_API const ntr_cover_function *ntr_coverage_functions(ntr_coverage *coverage, size_t *count);

/* Returns the last line with code of each function of ntr_coverage_functions; the line of the function itself, when
 * nothing else is known. Functions and lambdas that begin before it lie in the function. Valid as the functions are. */
NTR_API const uint32_t *ntr_coverage_function_ends(ntr_coverage *coverage);

/* Returns the number of gaps in the traces of all runs. */
NTR_API uint64_t ntr_coverage_gaps(const ntr_coverage *coverage);

typedef struct ntr_cover_sums {
    uint64_t lines, lines_hit, lines_unknown;
    uint64_t branches, branches_hit; /* outcomes: two per branch instruction */
    uint64_t functions, functions_hit, functions_unknown;
    uint64_t by_source[NTR_COVER_SOURCE_COUNT]; /* functions, by ntr_cover_source */
} ntr_cover_sums;

/* Computes the sums of one file, or of all files when `file` is NULL. */
NTR_API void ntr_coverage_sums(ntr_coverage *coverage, const char *file, ntr_cover_sums *sums);

/* What is removed of a line: the line with its branches, and the functions that are declared there; or its branches. */
enum { NTR_COVER_REMOVE_LINE = 1, NTR_COVER_REMOVE_BRANCHES = 2 };

/* Calls `judge` for each line with code, and for each line where a function is declared, and removes what it returns.
 * Stores the sums of what was removed. `file` has the same address for all lines of a file. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_coverage_remove(ntr_coverage *coverage,
                                       unsigned (*judge)(void *user, const char *file, uint32_t line), void *user,
                                       ntr_cover_sums *removed);

#ifdef __cplusplus
}
#endif
#endif
