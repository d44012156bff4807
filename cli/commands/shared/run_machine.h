/* Whole machines for `ntrace run`: its options, and which QEMU there is. */
#ifndef CLI_COMMANDS_SHARED_RUN_MACHINE_H
#define CLI_COMMANDS_SHARED_RUN_MACHINE_H

#include "options/stream_options.h"

#include <ntrace/capture.h>

#include <limits.h>

struct machine_options {
    const char *name; /* NULL: no machine */
    const char *kernel, *initrd, *append, *memory, *limit, *clock;
    const char *qemu; /* of `ntrace board` */
    uint64_t harts, xlen;
    struct cli_list files;
    int repeatable;
};

/* The machine that is run. */
struct machine {
    ntr_capture_machine_config config;
    ntr_capture_qemu qemu;
    const char *command[8];
    const char **qemu_options, **files;
};

const struct cli_option *machine_rows(void);

/* Those that say what the machine is, without those of a bundle. */
const struct cli_option *machine_board_rows(void);

/* The rows of the encoder; `--context` also takes the words of machines. */
const struct cli_option *machine_encoder_rows(void);

/* Privilege modes and contexts are in the trace. The words of --context that the encoder does not know are replaced. */
void machine_encoder_defaults(const struct machine_options *options, const struct cli_encoder *given,
                              ntr_encoder_config *config);

/* `operands`: the firmware, if any, and options of QEMU behind "--". Sets all members of `config` that concern the
 * machine, but for plugin and qemu. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int machine_configure(const struct machine_options *options, const struct cli_encoder *encoder, char **operands,
                      const char *qemu, struct machine *machine, ntr_capture_config *config);

/* Of the options of an encoder, --context alone is allowed with a modelled system, of a machine. */
int machine_system_options(const struct cli_encoder *given);

/* Returns the name of an option of machines that is given, or NULL. */
const char *machine_option_given(const struct machine_options *options);

void machine_release(struct machine *machine);

#endif
