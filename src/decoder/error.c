/* Why a decoder stops: the caller asks for it, or a defect, of which a sentence says where it is (`strict`). */
#include "decoder/state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool ntr_decoder_ask(ntr_decoder *d) {
    if (!d->stopped) d->stopped = d->config.proceed && !d->config.proceed(d->config.proceed_user);
    if (!d->stopped) d->patience = NTR_PATIENCE;
    return d->stopped;
}

static void append(ntr_decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(ntr_decoder *d, const char *format, ...) {
    size_t used = strlen(d->error);
    va_list values;
    va_start(values, format);
    vsnprintf(d->error + used, sizeof d->error - used, format, values);
    va_end(values);
}

static void describe(ntr_decoder *d, const ntr_source *s, ntr_status reason) {
    const ntr_message *m = &d->message;
    append(d, "message %" PRIu64 " at byte %" PRIu64 " (%s", m->number, m->offset,
           ntr_tcode_name(d->params.dialect, m->tcode));
    if (NTR_HAS(m, SRC)) append(d, " of source %u", (unsigned)m->src);
    append(d, ")");
    if (m->defect != NTR_OK && m->defect_field != NTR_FIELD_NONE)
        append(d, ", field %s", ntr_field_name((ntr_field)m->defect_field));
    append(d, ": %s", ntr_status_text(reason));
    if (s && s->pc_known && s->state == NTR_SOURCE_FOLLOWING)
        append(d, "; execution is known up to address 0x%" PRIx64, s->pc);
}

void ntr_decoder_defect(ntr_decoder *d, const ntr_source *s, ntr_status reason) {
    if (!d->config.strict || d->failed != NTR_OK) return;
    d->failed = reason;
    describe(d, s, reason);
}

const char *ntr_decoder_error(const ntr_decoder *d) {
    if (d->failed == NTR_OK || d->error[0]) return d->error;
    return ntr_status_text(d->failed);
}
