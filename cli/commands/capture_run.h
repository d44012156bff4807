/* `ntrace capture`: what its files share. */
#ifndef CLI_COMMANDS_CAPTURE_RUN_H
#define CLI_COMMANDS_CAPTURE_RUN_H

#include "commands/capture_bundle.h"
#include "io/target.h"
#include "options/encoder_options.h"

enum { WHEN_ALWAYS, WHEN_FULL, WHEN_HALT, WHEN_TRIGGER, WHEN_LOST };
enum { MS_IN_S = 1000 };

struct capture_options {
    struct cli_connection connection;
    struct cli_encoder encoder;
    struct cli_images images;
    const char *bundle, *topology, *sink, *run_for, *script, *words;
    struct cli_list buffers, sets;
    int until_full, until_halt, resume, halt, restore, keep, quiet, when;
    int64_t loop;
};

struct capture_run {
    const struct capture_options *options;
    struct cli_target target;
    struct capture_losses losses;
    bool stopping; /* notes are about trace that was lost */
    uint64_t run_ms; /* 0: no limit */
    int64_t wanted;  /* captures that ended as --when demands */
    size_t sink;
    const char *leaves; /* the PIB sink or ATB bridge, if there is no RAM sink to read: then no bundle is written */
    ntr_target_state state;
    char how[128];
    char *words;
};

/* capture_options.c: reads a time such as 500ms or 10s; finds the sink, and gives the target what options say about its
 * registers. */
bool capture_time(const char *text, uint64_t *ms);
int capture_configure(struct capture_run *run);

/* capture_trace.c: can the (first) bundle be written; a sentence of the target; --loop captures; the bundle. */
int capture_check_files(const struct capture_run *run);
void capture_take_note(void *user, const char *sentence);
int capture_all(struct capture_run *run);
int capture_write_bundle(struct capture_run *run, const char *path);

/* capture_script.c: --script and --words. */
int capture_write_script(struct capture_run *run);
int capture_read_words(struct capture_run *run);

#endif
