/* `ntrace capture`: what its files share. */
#ifndef CLI_COMMANDS_CAPTURE_RUN_H
#define CLI_COMMANDS_CAPTURE_RUN_H

#include "io/images.h"
#include "io/target.h"
#include "options/stream_options.h"

#include <ntrace/bundle.h>
#include <ntrace/target.h>

/* ---- What `ntrace capture` has read from the hardware: the content of a RAM sink, the parameters and sources of its
 * encoders. */

enum { CAPTURE_LOSSES = 64, CAPTURE_LOSS_TEXT = 640 };

struct capture_losses {
    char text[CAPTURE_LOSSES][CAPTURE_LOSS_TEXT];
    size_t count;
};

/* Adds a line, unless it is there already. */
void capture_losses_add(struct capture_losses *losses, const char *text);
/* Says what is missing in the capture, and adds the line. */
void __attribute__((format(printf, 2, 3))) capture_lose(struct capture_losses *losses, const char *format, ...);

struct capture_bundle {
    const char *path;
    ntr_target *target;
    const ntr_bus *bus;       /* to compare images with the memory of the target; read32 NULL: no connection */
    size_t sink;              /* index of the RAM sink */
    const struct cli_images *images;
    const char *how;          /* connection, for capture.json */
    struct capture_losses *losses;
};

enum { CAPTURE_SOURCES = 256, CAPTURE_IMAGES = 256 };

struct capture_content {
    const struct capture_bundle *capture;
    uint8_t *bytes;
    size_t size, capacity;
    ntr_params params;
    uint8_t mode;
    ntr_bundle_source sources[CAPTURE_SOURCES];
    size_t source_count;
    ntr_bundle_image images[CAPTURE_IMAGES];
    size_t image_count;
    ntr_program *program;
    ntr_bundle *bundle;
};

/* Reads the sink into c->bytes, which the caller frees, and notes what it has lost. Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int capture_content_stream(struct capture_content *c);

/* Reads parameters and sources from the registers of the encoders that lead to the sink. Returns as above. */
int capture_content_encoders(struct capture_content *c);

/* Notes what is wrong with the messages, and images that differ from the memory of the target at the first addresses.
 */
void capture_content_examine(struct capture_content *c);

/* ---- The bundle of `ntrace capture`: the content of a RAM sink with the parameters of its encoders. */

/* Before the target is touched: can the bundle be written at `path`, and does it take the images? Returns CLI_OK, or
 * CLI_FAILED after reporting the error. */
int capture_bundle_check(const char *path, const struct cli_images *images);

/* Reads the sink and writes the bundle. *bytes is the size of the stream; 0: nothing was stored, and no bundle is
 * written. Returns CLI_OK, CLI_DEFECTS if the bundle has losses, or CLI_FAILED after reporting the error. */
int capture_bundle_write(const struct capture_bundle *capture, uint64_t *bytes);

enum { WHEN_ALWAYS, WHEN_FULL, WHEN_HALT, WHEN_TRIGGER, WHEN_LOST };
enum { MS_IN_S = 1000 };

struct capture_options {
    struct cli_connection connection;
    struct cli_encoder encoder;
    struct cli_images images;
    const char *bundle, *topology, *sink, *run_for, *script, *words, *root;
    struct cli_list buffers, sets, harts;
    int until_full, until_halt, resume, halt, restore, keep, quiet, when;
    int linux_files, all, read_only, perf; /* --linux */
    int64_t loop;
};

struct capture_run {
    const struct capture_options *options;
    struct cli_target target;
    struct capture_losses losses;
    bool stopping; /* notes are about trace that was lost */
    uint64_t run_ms; /* 0: no limit */
    int64_t wanted; /* captures that ended as --when demands */
    size_t sink;
    uint64_t buffer_bytes; /* of the sink, as --buffer says; 0: not given */
    const char *leaves; /* the PIB sink or ATB bridge, if there is no RAM sink to read: then no bundle is written */
    ntr_target_state state;
    char how[128];
    char *words;
};

/* options.c: reads a time such as 500ms or 10s; finds the sink, and gives the target what options say about its
 * registers. */
bool capture_time(const char *text, uint64_t *ms);
int capture_configure(struct capture_run *run);

/* trace.c: can the (first) bundle be written; a sentence of the target; --loop captures; the bundle. */
int capture_check_files(const struct capture_run *run);
void capture_take_note(void *user, const char *sentence);
int capture_all(struct capture_run *run);
int capture_write_bundle(struct capture_run *run, const char *path);

/* script.c: --script and --words. */
int capture_write_script(struct capture_run *run);
int capture_read_words(struct capture_run *run);

#endif
