/* Decisions: decision coverage and MC/DC of a program that was not instrumented.
 *
 * The conditions of each decision come from the source (libclang). The conditional branches that evaluate them come
 * from the line table and the control-flow graph of the code. The outcomes of these branches, in the order of
 * execution, are the condition vector of one evaluation of the decision. Where source and code cannot be matched with
 * certainty, the decision is "not determinable", with the reason. Objects are not thread-safe. docs/coverage-rules.md
 * has the definitions. */
#ifndef NTRACE_DECISION_H
#define NTRACE_DECISION_H

#include <ntrace/callstack.h>
#include <ntrace/config.h>
#include <ntrace/coverage.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of conditions of a decision that is evaluated. Larger decisions are not determinable. */
#define NTR_CONDITIONS_MAX 32

typedef enum ntr_cover_state {
    NTR_COVER_COVERED,
    NTR_COVER_NOT_COVERED,
    NTR_COVER_NOT_DETERMINABLE,
} ntr_cover_state;

/* A place in the source. */
typedef struct ntr_source_place {
    const char *file;
    uint32_t line, column;
} ntr_source_place;

/* A condition: an operand of a decision that is not itself `&&`, `||` or `!` of these. */
typedef struct ntr_condition {
    uint32_t line, column;    /* of its first token; in a macro: of the expansion */
    ntr_source_place spelled; /* where that token is written: differs from the above in macros */
    const char *text;         /* source text, in one line; in a macro: of the macro's name */
    bool constant, value;     /* the condition is a constant and has this value */
    bool true_seen, false_seen;
    bool covered; /* an independence pair exists, unique-cause: no other condition differs where both vectors
                     evaluate it */
    bool masking; /* an independence pair exists, masking: other conditions that differ are masked */
    bool open, open_masking; /* whether such a pair exists depends on values that are not known ('?') */
    uint32_t pair[2]; /* indexes of the two vectors of that pair; unique-cause if it exists */
    uint64_t reserved[2];
} ntr_condition;

/* Evaluations of a decision with the same outcomes. `values` has 'T', 'F', '-' (not evaluated) or '?' (not known) per
 * condition. Only the condition that is evaluated last can be '?'. */
typedef struct ntr_vector {
    char values[NTR_CONDITIONS_MAX + 1];
    bool result;
    bool open; /* a value is '?': the result is not known, and `result` is false */
    uint64_t count;
    uint64_t
        runs; /* bit I: run number I (from 0, in the order of ntr_decisions_begin) has one; bit 63: any later run */
} ntr_vector;

/* Returns 'T', 'F' or '?': the result of a vector. */
static inline char ntr_vector_result(const ntr_vector *vector) {
    return vector->open ? '?' : vector->result ? 'T' : 'F';
}

typedef enum ntr_decision_kind {
    NTR_DECISION_LOGICAL, /* an expression with && or || */
    NTR_DECISION_SINGLE, /* a single condition of if, while, do, for or ?: */
} ntr_decision_kind;

typedef struct ntr_decision {
    uint8_t kind; /* ntr_decision_kind */
    uint8_t state; /* ntr_cover_state of MC/DC, unique-cause */
    uint8_t masking_state; /* ntr_cover_state of MC/DC, masking */
    uint8_t decision_state; /* ntr_cover_state of decision coverage: both results were seen */
    const char *reason; /* why a state is not determinable, or why evaluations may be missing; NULL otherwise */
    const char *file, *function;
    uint32_t line, column, end_line, end_column; /* `end`: of the last character; in a macro: of the expansion */
    ntr_source_place spelled;
    const char *text; /* source text, in one line */
    ntr_condition *conditions;
    size_t condition_count;
    const ntr_vector *vectors; /* sorted by values */
    size_t vector_count;
    uint64_t unknown; /* evaluations of which a part is missing (gap, begin or end of the trace) */
    uint64_t copies; /* copies of its code: inlined or duplicated */
    bool true_seen, false_seen; /* results that certainly occurred, also of evaluations without a vector */
    bool partly; /* only values of conditions are not known ('?'): other conditions are determinable */
    uint64_t reserved[3];
} ntr_decision;

typedef struct ntr_decisions ntr_decisions;

/* Calls `parse(unit)` where it does no harm if libclang crashes or works without end, for example in a child process.
 * Returns why the source cannot be parsed, or NULL. */
typedef const char *(*ntr_source_guard)(bool (*parse)(const void *unit), const void *unit);

/* Which sources are parsed, and how. A zeroed struct with `size` set: the files that debug information names, with the
 * macros and folders that it has. */
typedef struct ntr_source_options {
    size_t size; /* sizeof(ntr_source_options) */
    const char *compile_commands; /* compile_commands.json, or the folder that has it; NULL: none */
    const char *const *arguments; /* further arguments for libclang, such as "-DNAME" */
    size_t argument_count;
    const char *const *only; /* only sources in these folders or with these names; none: all */
    size_t only_count;
    const char *source_path; /* folders of sources that have moved, separated by colons; NULL: none */
    ntr_source_guard guard; /* called before a source is parsed; NULL: a source can make the process crash */
    uint64_t reserved[3];
} ntr_source_options;

NTR_DEFINE_CONFIG_INIT(ntr_source_options)

/* Makes an empty object. Errors: NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_decisions_new(const ntr_allocator *allocator, ntr_decisions **out);
NTR_LAB_API void ntr_decisions_free(ntr_decisions *decisions);

/* Begins a run: parses the sources of the program that are not yet parsed, and finds the branches of each decision.
 * `program` and `functions` (of `debug`) must outlive ntr_decisions_finish.
 * Errors: NTR_E_MEMORY; NTR_E_UNSUPPORTED when libclang is missing; NTR_E_FORMAT and NTR_E_IO (compile_commands).
 * ntr_decisions_error has the reason in a sentence. */
NTR_LAB_API ntr_status ntr_decisions_begin(ntr_decisions *decisions, const ntr_source_options *options,
                                           const ntr_program *program, ntr_debug_info *debug, ntr_functions *functions);
NTR_LAB_API const char *ntr_decisions_error(const ntr_decisions *decisions);

/* Passes events of the run, in stream order. Errors: NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_decisions_feed(ntr_decisions *decisions, const ntr_event *events, size_t count);

/* Ends the run and adds its vectors to those of earlier runs. Errors: NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_decisions_finish(ntr_decisions *decisions);

/* Returns the decisions, sorted by (file, line, column), and stores their number in *count. Valid until the next call
 * of ntr_decisions_begin. */
NTR_LAB_API const ntr_decision *ntr_decisions_list(const ntr_decisions *decisions, size_t *count);

/* Returns the number of source files that could not be parsed; `index` below it selects the description of one in
 * *text, which file and why. */
NTR_LAB_API size_t ntr_decisions_unparsed(const ntr_decisions *decisions, size_t index, const char **text);

/* Returns how many of these files are there, but the parser or what they include failed. */
NTR_LAB_API size_t ntr_decisions_failed(const ntr_decisions *decisions);

/* Returns the version of libclang ("" before the first source was parsed). */
NTR_LAB_API const char *ntr_decisions_parser(const ntr_decisions *decisions);

typedef struct ntr_decision_sums {
    uint64_t decisions[3]; /* number of decisions by ntr_cover_state, of `level` */
    uint64_t conditions, conditions_covered; /* that are determinable; constants are not counted */
} ntr_decision_sums;

/* Computes the sums of one file, or of all files when `file` is NULL. */
NTR_LAB_API void ntr_decisions_sums(const ntr_decisions *decisions, ntr_decision_level level, const char *file,
                                    ntr_decision_sums *sums);

#ifdef __cplusplus
}
#endif
#endif
