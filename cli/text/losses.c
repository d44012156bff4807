#include "text/losses.h"
#include "text/statistics.h"

#include <ntrace/values.h>

#include <stdlib.h>

bool cli_losses_open(struct cli_losses *losses) {
    *losses = (struct cli_losses){.sources = calloc(CLI_SOURCES, sizeof *losses->sources)};
    return losses->sources != NULL;
}

void cli_losses_release(struct cli_losses *losses) {
    free(losses->sources);
}

static void pass(struct cli_losses *losses, struct cli_loss_source *s, bool ends) {
    const uint64_t time = s->clock.time;

    if (!s->timed) s->last = time;
    s->timed = true;
    if (time < s->last) return; /* the clock was set */
    losses->ticks += time - s->last;
    s->last = time;
    if (!ends) return;
    if (s->losing) losses->lost += time - s->since;
    s->losing = false;
}

void cli_losses_add(struct cli_losses *losses, const ntr_params *params, const ntr_message *m) {
    if (m->defect || m->tcode == NTR_TCODE_NONE) return;
    struct cli_loss_source *s = &losses->sources[NTR_HAS(m, SRC) ? m->src % CLI_SOURCES : 0];
    const uint64_t before = s->last; /* an encoder sends Error when its FIFO has room again */
    ntr_clock_follow(&s->clock, params, m);
    const bool lost = m->tcode == NTR_TCODE_ERROR && m->etype == NTR_ETYPE_OVERRUN;
    if (s->clock.known && NTR_HAS(m, TSTAMP)) pass(losses, s, !lost);
    if (!lost) return;
    losses->overflows++;
    if (s->timed && !s->losing) s->since = before;
    s->losing = s->timed;
    ntr_clock_lose(&s->clock);
}

void cli_losses_write(const struct cli_losses *losses, uint64_t rate, struct cli_rows *rows) {
    struct cli_row row = {"lost", "FIFO overflows", true, {CLI_COUNT("overflows", losses->overflows)}};
    size_t cells = 1;

    if (!losses->overflows) return;
    if (losses->ticks) {
        row.cells[cells++] = (struct cli_cell)CLI_COUNT("ticks without trace", losses->lost);
        row.cells[cells++] = (struct cli_cell)CLI_REAL("% of the time without trace",
                                                       100.0 * (double)losses->lost / (double)losses->ticks, 2);
    }
    if (losses->ticks && rate)
        row.cells[cells++] = (struct cli_cell)CLI_REAL(
            "overflows a second of each hart", (double)losses->overflows * (double)rate / (double)losses->ticks, 1);
    cli_row_write(rows, &row);
}
