/* The private state of an explorer, and what its questions share. */
#ifndef NTR_EXPLORE_STATE_H
#define NTR_EXPLORE_STATE_H

#include "explore/answer.h"
#include "explore/index.h"

#include <jansson.h>
#include <ntrace/explore.h>

enum {
    NTR_LIVE_MOST = 1 << 21,      /* instructions that one question walks over */
    NTR_ROWS_MOST = 4000,         /* of one table of an answer */
    NTR_COLUMNS_MOST = 2000,      /* of an overview */
    NTR_COLUMN_VALUES_MOST = 1 << 16, /* columns times harts */
};

/* The arguments of a question, and its answer. */
typedef struct ntr_question {
    const json_t *arguments;
    ntr_answer *answer;
    char error[200];   /* why it cannot be answered; "": it can */
    bool interrupted;  /* by `proceed`: the answer is not complete */
    bool partial;      /* the index is not complete up to where the answer needs it */
} ntr_question;

struct ntr_explorer {
    ntr_explorer_config config;
    ntr_decoder_config decoder;
    ntr_allocator allocator_copy;
    const ntr_allocator *allocator;
    ntr_replay *replay;
    ntr_nodes nodes;
    ntr_explore_index index;
    uint64_t *executed; /* by a hart, as an index that was loaded says; in the order of the harts of the replay */
    size_t executed_count;
    ntr_answer answer;
};

/* Each answers a question: writes members into the answer. Errors: NTR_E_MEMORY; NTR_E_INVALID, with question->error.
 */
typedef ntr_status ntr_answering(ntr_explorer *x, ntr_question *q);
ntr_answering ntr_answer_about, ntr_answer_overview, ntr_answer_slices, ntr_answer_tree, ntr_answer_functions,
    ntr_answer_at, ntr_answer_messages, ntr_answer_find, ntr_answer_named, ntr_answer_gaps, ntr_answer_source,
    ntr_answer_lines, ntr_answer_syscalls;

/* ---- explorer.c */

/* Returns the instructions of hart number `index`, as far as they are known. */
uint64_t ntr_explorer_executed(const ntr_explorer *x, size_t index);

/* Drops the index, so that it is made anew. */
void ntr_explorer_forget(ntr_explorer *x);

/* ---- arguments.c */

/* Returns NTR_E_INVALID after storing the sentence. */
ntr_status ntr_question_fail(ntr_question *q, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads a number (a JSON integer, or a string of digits or 0x...), `otherwise` if the member is missing; it must be in
 * [low, high]. */
ntr_status ntr_question_number(ntr_question *q, const char *key, uint64_t otherwise, uint64_t low, uint64_t high,
                               uint64_t *value);

/* Returns whether the question has the member. */
bool ntr_question_has(const ntr_question *q, const char *key);

/* Reads a text; `otherwise` if the member is missing. */
ntr_status ntr_question_text(ntr_question *q, const char *key, const char *otherwise, const char **text);

/* Reads "src", or takes the hart that executes at the position of the replay. */
ntr_status ntr_question_hart(ntr_explorer *x, ntr_question *q, uint16_t *src, bool *given);

/* ---- sums.c */

/* Instructions and calls by node in a range. */
typedef struct ntr_sums {
    uint64_t from, to; /* the range that was summed */
    uint64_t *self, *calls, *total; /* `count` elements; total: with what was called */
    size_t count;
} ntr_sums;

/* Reads "from" and "to" of the question (default: the whole trace) and cuts them at what is known. */
ntr_status ntr_question_range(ntr_explorer *x, ntr_question *q, uint64_t *from, uint64_t *to);

/* Sums a range. Errors: NTR_E_MEMORY, those of the replay. */
ntr_status ntr_sums_take(ntr_explorer *x, ntr_question *q, uint64_t from, uint64_t to, ntr_sums *sums);
void ntr_sums_release(ntr_explorer *x, ntr_sums *sums);

/* Returns whether a range is walked over, rather than looked up in the index. */
bool ntr_range_is_live(uint64_t from, uint64_t to);

/* Returns the status of a walk or a replay, with NTR_END (interrupted) noted in the question. */
ntr_status ntr_question_went(ntr_question *q, ntr_status status);

/* ---- places.c: parts of answers */

void ntr_answer_context(ntr_answer *answer, const char *key, const ntr_context *context);
void ntr_answer_gap(ntr_answer *answer, const char *key, uint64_t position, const ntr_event *gap);
const char *ntr_frame_kind_text(uint8_t kind);

#endif
