/* The bundle of `ntrace capture`: the content of a RAM sink with the parameters of its encoders. */
#ifndef CLI_COMMANDS_CAPTURE_BUNDLE_H
#define CLI_COMMANDS_CAPTURE_BUNDLE_H

#include "commands/capture_content.h"

/* Before the target is touched: can the bundle be written at `path`, and does it take the images? Returns CLI_OK, or
 * CLI_FAILED after reporting the error. */
int capture_bundle_check(const char *path, const struct cli_images *images);

/* Reads the sink and writes the bundle. *bytes is the size of the stream; 0: nothing was stored, and no bundle is
 * written. Returns CLI_OK, CLI_DEFECTS if the bundle has losses, or CLI_FAILED after reporting the error. */
int capture_bundle_write(const struct capture_bundle *capture, uint64_t *bytes);

#endif
