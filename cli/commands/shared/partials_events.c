/* Partial answers with all events, for outputs that need them in order: packed into a temporary file while a capture,
 * or a part of one, is decoded, and read again instead of decoding. */
#include "commands/shared/analysis.h"
#include "commands/shared/combine_members.h"
#include "io/memory.h"
#include "io/progress.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct cli_events_file {
    FILE *file;
    ntr_output output;
    ntr_event_log *log;
};

struct cli_events_file *cli_events_file_open(void) {
    struct cli_events_file *f = calloc(1, sizeof *f);
    char path[PATH_MAX];

    if (!f) {
        cli_note("out of memory");
        return NULL;
    }
    ntr_output_init(&f->output);
    f->file = cli_members_temporary(path);
    f->output.write = cli_members_write;
    f->output.user = f->file;
    if (f->file && ntr_event_log_new(&f->output, &cli_memory, &f->log) == NTR_OK) return f;
    if (f->file) cli_note("out of memory");
    cli_events_file_close(f);
    return NULL;
}

void cli_events_file_close(struct cli_events_file *f) {
    if (!f) return;
    ntr_event_log_free(f->log);
    if (f->file) fclose(f->file);
    free(f);
}

ntr_status cli_events_file_take(void *file, const ntr_event *events, size_t count) {
    return ntr_event_log_feed(((struct cli_events_file *)file)->log, events, count);
}

int cli_events_file_append(struct cli_events_file *f, ntr_partial *partial) {
    if (ntr_partial_copy_events(partial, &f->output) == NTR_OK) return CLI_OK;
    return *ntr_partial_error(partial) ? cli_fail("%s", ntr_partial_error(partial))
                                       : cli_fail("temporary file: %s", strerror(errno));
}

static ntr_status read_file(void *user, void *bytes, size_t size, size_t *got) {
    FILE *file = user;

    *got = fread(bytes, 1, size, file);
    return ferror(file) ? NTR_E_IO : NTR_OK;
}

ntr_status cli_events_file_write(struct cli_events_file *f, const ntr_program *program,
                                 const ntr_partial_capture *capture, const ntr_output *output) {
    const ntr_status status = ntr_event_log_finish(f->log);

    if (status != NTR_OK) return status;
    if (fflush(f->file) != 0 || fseeko(f->file, 0, SEEK_SET) != 0) return NTR_E_IO;
    return ntr_partial_write_events(program, capture, read_file, f->file, output, &cli_memory);
}

int cli_events_load(struct cli_analysis *a, ntr_analyzer *analyzer) {
    enum { UNPACKED_EVENTS = 256 };
    ntr_event events[UNPACKED_EVENTS];
    const ntr_partial_capture *c = ntr_partial_capture_at(a->answer, 0);
    size_t count;

    cli_progress_catch_stop();
    ntr_status status = ntr_partial_load(a->answer, &a->data);
    while (status == NTR_OK && !cli_progress_stopped() &&
           (status = ntr_partial_events(a->answer, events, UNPACKED_EVENTS, &count)) == NTR_OK)
        status = ntr_analyzer_feed(analyzer, events, count);
    if (status < 0)
        return cli_fail("%s", *ntr_partial_error(a->answer) ? ntr_partial_error(a->answer) : ntr_status_text(status));
    a->any = c->any;
    a->trace.input.damaged |= c->damaged;
    return cli_progress_stopped() ? CLI_DEFECTS : CLI_OK;
}
