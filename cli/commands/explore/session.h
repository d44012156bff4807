/* A trace that is explored: the explorer, and what it needs of the command. */
#ifndef CLI_COMMANDS_EXPLORE_SESSION_H
#define CLI_COMMANDS_EXPLORE_SESSION_H

#include "io/replay_input.h"
#include "io/source_text.h"
#include "text/disasm.h"

#include <ntrace/explore.h>

enum {
    EXPLORE_TRACES_MOST = 8,            /* open at the same time */
    EXPLORE_ANSWER_MILLISECONDS = 2000, /* after which a question is interrupted */
    EXPLORE_KEY_SIZE = 16,
};

struct explore_options {
    struct cli_replay_options replay;
    const char *source_path;
    const char *cache; /* NULL: the usual folder */
    struct cli_list questions;
    const char *listen;
    int no_browser;
};

extern const struct cli_group explore_groups[]; /* of explore_options */

/* Must not be moved in memory while it is open. */
struct explore_session {
    struct cli_replay replay;
    ntr_tasks *tasks;
    struct cli_source_text source;
    struct cli_source_match match; /* other sources than those of the program are not shown */
    struct cli_disasm *disasm; /* NULL: not available */
    ntr_explorer *explorer;
    struct cli_trace_facts facts;
    ntr_analysis analysis; /* of which `facts` and `losses` are used */
    uint64_t deadline; /* milliseconds of the monotonic clock at which a question is interrupted; 0: never */
    const char *path;  /* of the trace */

    /* index.c */
    uint8_t key[EXPLORE_KEY_SIZE]; /* of the kept index, if `has_key` */
    bool has_key, loaded, kept;
    uint64_t begun; /* milliseconds of that clock */
};

/* Returns CLI_OK, or CLI_FAILED after reporting the error. */
int explore_session_open(struct explore_session *session, const char *path, const struct explore_options *options);
void explore_session_close(struct explore_session *session);

/* Makes the whole index. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int explore_session_index(struct explore_session *session);

/* Milliseconds of the monotonic clock. */
uint64_t explore_clock(void);

#endif
