/* The bundle of `ntrace capture`: the content of a RAM sink with the parameters of its encoders. */
#ifndef CLI_COMMANDS_CAPTURE_BUNDLE_H
#define CLI_COMMANDS_CAPTURE_BUNDLE_H

#include "io/images.h"

#include <ntrace/bundle.h>
#include <ntrace/target.h>

enum { CAPTURE_LOSSES = 64, CAPTURE_LOSS_TEXT = 640 };

struct capture_losses {
    char text[CAPTURE_LOSSES][CAPTURE_LOSS_TEXT];
    size_t count;
};

/* Adds a line, unless it is there already. */
void capture_losses_add(struct capture_losses *losses, const char *text);

struct capture_bundle {
    const char *path;
    ntr_target *target;
    const ntr_bus *bus;       /* to compare images with the memory of the target; read32 NULL: no connection */
    size_t sink;              /* index of the RAM sink */
    const struct cli_images *images;
    const char *how;          /* connection, for capture.json */
    struct capture_losses *losses;
};

/* Before the target is touched: can the bundle be written at `path`, and does it take the images? Returns CLI_OK, or CLI_FAILED after
 * reporting the error. */
int capture_bundle_check(const char *path, const struct cli_images *images);

/* Reads the sink and writes the bundle. *bytes is the size of the stream; 0: nothing was stored, and no bundle is written.
 * Returns CLI_OK, CLI_DEFECTS if the bundle has losses, or CLI_FAILED after reporting the error. */
int capture_bundle_write(const struct capture_bundle *capture, uint64_t *bytes);

#endif
