/* Messages that a full FIFO has lost: how often, and for how long there is no trace. */
#ifndef CLI_TEXT_LOSSES_H
#define CLI_TEXT_LOSSES_H

#include "text/rows.h"

#include <ntrace/clock.h>
#include <ntrace/message.h>

struct cli_losses {
    struct cli_loss_source {
        ntr_clock clock;
        uint64_t last, since; /* times; `since`: of the last message before the loss */
        bool timed, losing;
    } *sources; /* by SRC */
    uint64_t overflows;
    uint64_t ticks, lost; /* of all sources: with and without trace; without trace */
};

/* Returns false when out of memory. Release it in any case. */
bool cli_losses_open(struct cli_losses *losses);
void cli_losses_release(struct cli_losses *losses);

void cli_losses_add(struct cli_losses *losses, const ntr_params *params, const ntr_message *message);

/* Writes a row if messages were lost. `rate`: ticks in a second; 0: not known. */
void cli_losses_write(const struct cli_losses *losses, uint64_t rate, struct cli_rows *rows);

#endif
