/* What `ntrace capture` has read from the hardware: the content of a RAM sink, the parameters and sources of its
 * encoders. */
#ifndef CLI_COMMANDS_CAPTURE_CONTENT_H
#define CLI_COMMANDS_CAPTURE_CONTENT_H

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

#endif
