/* Parts of a capture (--shard) put together: combine.
 *
 * Events follow each other. Counts of code are sums. A call tree needs the call stacks at the end of the part before:
 * the trees are applied one after the other to those of the parts before. Two guesses of each part are checked: the
 * state of the decoder at its beginning, as text, and the functions that were on the call stacks. A part with a wrong
 * guess is decoded again: for the state, from the beginning of the stream; for the stacks, into the tree of the parts
 * before it. As the tree then has counts of the wrong part, everything is put together again. */
#include "commands/shared/analysis.h"
#include "io/memory.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum guess_verdict { GUESS_RIGHT = 0, STATE_WRONG, STACKS_WRONG };

struct joining {
    struct cli_partial_place *parts; /* a copy */
    size_t count;
    char **redone;     /* temporary files of parts that were decoded again; NULL: none */
    uint8_t *verdicts; /* enum guess_verdict of each part */
    const struct cli_redo *redo;
    struct cli_analysis_options options;
    struct cli_analysis a;
    ntr_partial_capture sum;
    struct cli_events_file *events; /* of the parts so far; NULL: they have counts */
    char *last_state;  /* at the end of the parts so far; NULL: none */
};

static int take_counts(struct joining *j, const ntr_partial_capture *c) {
    for (size_t i = 0; i < c->gaps && i < NTR_PARTIAL_GAPS && j->sum.gaps + i < NTR_PARTIAL_GAPS; i++)
        j->sum.gap[j->sum.gaps + i] = c->gap[i];
    j->sum.gaps += c->gaps;
    j->sum.reserved += c->reserved;
    j->sum.any |= c->any;
    j->sum.damaged |= c->damaged;
    j->sum.end = c->end;
    j->sum.digest = j->sum.digest * 31 + c->digest;
    free(j->last_state);
    j->last_state = strdup(c->end_state);
    return j->last_state ? CLI_OK : cli_fail("out of memory");
}

/* ---- decoding again */

struct again {
    struct cli_analysis *a;
    bool begun;
};

static ntr_status drain_again(void *user) {
    struct again *r = user;
    ntr_event events[256];
    ntr_status status = NTR_OK;

    while (status == NTR_OK) {
        size_t count = 0;
        status = ntr_decoder_read(r->a->decoder, events, 256, &count);
        if (!r->begun) {
            ntr_calltree_follow_time(r->a->data.tree, events, count);
        } else {
            ntr_status fed = ntr_calltree_feed(r->a->data.tree, events, count);
            if (fed < 0) return fed;
        }
    }
    return status;
}

static ntr_status begin_again(void *user) {
    struct again *r = user;
    r->begun = true;
    return NTR_OK;
}

/* Decodes a part into the call tree of the parts before it. */
static int decode_into_tree(struct joining *j, const ntr_partial_capture *c) {
    struct cli_analysis *a = &j->a;
    struct again again = {.a = a};
    struct cli_shard shard;
    ntr_functions *places; /* not those of the tree, which are numbered in the order of execution */
    char text[32];

    snprintf(text, sizeof text, "%" PRIu32 "/%" PRIu32, c->shard, c->shards);
    ntr_decoder_config_init(&a->config);
    a->config.params = a->trace.params;
    a->config.program = a->trace.program;
    a->config.proceed = cli_progress_proceed;
    ntr_decoder_free(a->decoder);
    a->decoder = cli_trace_decoder(&a->trace, &a->config);
    if (a->decoder) ntr_decoder_set_repeats(a->decoder, true);
    if (!a->decoder || cli_shard_parse(&shard, text) != CLI_OK ||
        cli_shard_open(&shard, &a->trace, a->path, a->decoder, false) != CLI_OK)
        return CLI_FAILED;
    shard.part.drain = drain_again;
    shard.part.start = begin_again;
    shard.part.user = &again;
    ntr_status status = ntr_functions_new(a->data.debug, &cli_memory, &places);
    if (status == NTR_OK) {
        ntr_decoder_set_division(a->decoder, ntr_functions_same, places);
        status = cli_shard_run(&shard, &a->trace, a->decoder);
    }
    ntr_functions_free(places);
    return status == NTR_END ? CLI_OK : cli_fail("%s: %s", a->path, ntr_status_text(status));
}

/* Decodes a part again, from the beginning of the stream, into a temporary file, which takes the place of the part. */
static int decode_from_start(struct joining *j, size_t index) {
    const char *folder = getenv("TMPDIR");
    const ntr_partial_capture *c = &j->sum;
    struct cli_analysis_options options = *j->a.options; /* those of the capture */
    struct cli_analysis a;
    char shard[32], path[PATH_MAX];

    snprintf(path, sizeof path, "%s/ntrace-redo.XXXXXX", folder && *folder ? folder : "/tmp");
    const int fd = mkstemp(path);
    if (fd < 0) return cli_fail("%s: cannot create: %s", path, strerror(errno));
    close(fd);
    snprintf(shard, sizeof shard, "%zu/%zu", index + 1, j->count);
    options.join = false;
    options.join_at = 0;
    options.from_start = true;
    options.shard = shard;
    options.partial = path;
    const unsigned holds = ntr_partial_holds(j->a.answer);
    int status = cli_analysis_open(&a, c->path, &options);
    if (status == CLI_OK)
        status = cli_analysis_need(&a, (holds & NTR_PARTIAL_TALLY ? NTR_NEEDS_TALLY : 0u) |
                                           (holds & NTR_PARTIAL_TREE ? NTR_NEEDS_TREE : 0u));
    a.keep_time = holds & NTR_PARTIAL_TIME;
    if (holds & NTR_PARTIAL_TOTALS) a.data.totals = &a.totals;
    if (status == CLI_OK) status = cli_analysis_run(&a, holds & NTR_PARTIAL_EVENTS ? cli_events_file_take : NULL, NULL);
    cli_analysis_close(&a);
    if (status == CLI_FAILED || !(j->redone[index] = strdup(path))) {
        unlink(path);
        return CLI_FAILED;
    }
    j->parts[index] = (struct cli_partial_place){j->redone[index], 0};
    return CLI_OK;
}

/* ---- parts */

/* Checks the state at the beginning of a part. */
static bool state_fits(const struct joining *j, const ntr_partial_capture *c) {
    return !j->last_state || strcmp(j->last_state, c->begin_state) == 0;
}

static int report_state(const struct joining *j, const ntr_partial_capture *c) {
    cli_note("%s: part %" PRIu32 " of %" PRIu32
             " began with a wrong guess: it began in \"%s\", the part before ended in \"%s\"%s",
             c->path, c->shard, c->shards, c->begin_state, j->last_state,
             j->redo->on ? "; it is decoded again" : "; 'combine --redo' decodes it again");
    return CLI_DEFECTS;
}

/* Adds a part. *guess_verdict is the guess that is wrong, if there is one; the result is then CLI_DEFECTS. */
static int add_part(struct joining *j, size_t index, enum guess_verdict *guess_verdict) {
    ntr_partial *p;
    ntr_partial_new(NULL, &p);
    ntr_analysis data = j->a.data;
    int status = CLI_OK;

    *guess_verdict = GUESS_RIGHT;
    if (!p) return cli_fail("out of memory");
    const ntr_status opened = ntr_partial_open(p, j->parts[index].path, j->parts[index].offset);
    const ntr_partial_capture *c = opened == NTR_OK ? ntr_partial_capture_at(p, 0) : NULL;
    if (j->verdicts[index] == STACKS_WRONG) data.tree = NULL;
    if (!c) {
        status = cli_fail("%s", ntr_partial_error(p));
    } else if (!state_fits(j, c)) {
        *guess_verdict = STATE_WRONG;
        status = report_state(j, c);
    } else {
        const ntr_status loaded = ntr_partial_load(p, &data);
        if (loaded == NTR_E_STATE) {
            *guess_verdict = STACKS_WRONG;
            cli_note("%s%s", ntr_partial_error(p),
                     j->redo->on ? "; it is decoded again" : "; 'combine --redo' decodes it again");
            status = CLI_DEFECTS;
        } else if (loaded != NTR_OK) {
            status = cli_fail("%s", ntr_partial_error(p));
        }
    }
    if (c && status == CLI_OK && j->events) status = cli_events_file_append(j->events, p);
    if (c && status == CLI_OK && j->verdicts[index] == STACKS_WRONG) status = decode_into_tree(j, c);
    if (c && status == CLI_OK) status = take_counts(j, c);
    ntr_partial_free(p);
    return status;
}

static int open_first(struct joining *j) {
    j->options = (struct cli_analysis_options){
        .join = true, .join_at = j->parts[0].offset, .selection.source = -1, .index = j->redo->index};
    int status = cli_analysis_open(&j->a, j->parts[0].path, &j->options);
    if (status != CLI_OK) return status;
    const unsigned holds = ntr_partial_holds(j->a.answer);
    status = cli_analysis_need(&j->a, (holds & NTR_PARTIAL_TALLY ? NTR_NEEDS_TALLY : 0u) |
                                          (holds & NTR_PARTIAL_TREE ? NTR_NEEDS_TREE : 0u));
    if (status == CLI_OK && holds & NTR_PARTIAL_TIME) ntr_tally_keep_time(j->a.data.tally);
    if (holds & NTR_PARTIAL_TOTALS) j->a.data.totals = &j->a.totals;
    if (status == CLI_OK && holds & NTR_PARTIAL_EVENTS && !(j->events = cli_events_file_open())) status = CLI_FAILED;
    j->sum = *ntr_partial_capture_at(j->a.answer, 0);
    j->sum.begin = j->sum.gaps = j->sum.reserved = j->sum.digest = 0;
    j->sum.shard = j->sum.shards = 0;
    j->sum.begin_state = j->sum.end_state = "";
    return status;
}

/* Puts all parts together once. CLI_DEFECTS: a guess is wrong, that of part *at. */
static int join_once(struct joining *j, size_t *at, enum guess_verdict *guess_verdict) {
    int status = open_first(j);

    for (*at = 0; status == CLI_OK && *at < j->count; ++*at)
        if ((status = add_part(j, *at, guess_verdict)) != CLI_OK) break;
    return status;
}

static void close_once(struct joining *j) {
    cli_analysis_close(&j->a);
    cli_events_file_close(j->events);
    j->events = NULL;
    j->a = (struct cli_analysis){0};
    free(j->last_state);
    j->last_state = NULL;
}

static int write_joined(struct joining *j, const ntr_output *output) {
    if (j->a.data.tree) ntr_calltree_finish(j->a.data.tree);
    const ntr_status status = j->events ? cli_events_file_write(j->events, j->a.trace.program, &j->sum, output)
                                        : ntr_partial_write(&j->a.data, &j->sum, output, &cli_memory);
    return status == NTR_OK ? CLI_OK : cli_fail("%s", ntr_status_text(status));
}

int cli_partials_join(const struct cli_partial_place *parts, size_t count, const struct cli_redo *redo,
                      const ntr_output *output) {
    struct joining j = {.count = count,
                        .redo = redo,
                        .verdicts = calloc(count, 1),
                        .parts = calloc(count, sizeof *j.parts),
                        .redone = calloc(count, sizeof *j.redone)};
    const bool complete = j.verdicts && j.parts && j.redone;
    int status = complete ? CLI_OK : cli_fail("out of memory");

    if (complete) memcpy(j.parts, parts, count * sizeof *parts);
    while (complete && status == CLI_OK) {
        enum guess_verdict guess_verdict = GUESS_RIGHT;
        size_t at;
        status = join_once(&j, &at, &guess_verdict);
        if (status == CLI_OK) {
            status = write_joined(&j, output);
            close_once(&j);
            break;
        }
        const bool again =
            status == CLI_DEFECTS && redo->on && guess_verdict == STACKS_WRONG && j.verdicts[at] != STACKS_WRONG;
        if (again) {
            j.verdicts[at] = STACKS_WRONG;
            status = CLI_OK;
        }
        if (status == CLI_DEFECTS && redo->on && guess_verdict == STATE_WRONG && !j.redone[at])
            status = decode_from_start(&j, at);
        close_once(&j);
    }
    for (size_t i = 0; j.redone && i < count; i++) {
        if (j.redone[i]) unlink(j.redone[i]);
        free(j.redone[i]);
    }
    free(j.redone);
    free(j.parts);
    free(j.verdicts);
    return status;
}
