/* Sending messages: SRC and TSTAMP, bytes, RepeatBranch, loss and recovery. N-Trace 1.0 sections 6.4 and 6.11.
 *
 * Loss. A message that does not fit into the FIFO is lost, and all messages after it are lost too, so that the
 * stream has one gap instead of many. When the FIFO has drained to `fifo_restart` bytes and has space for Error and
 * the synchronizing message, Error is sent with ECODE of the kinds of messages lost, and the next block starts with
 * SYNC=7. Invariant: a message that is lost leaves the reference of TSTAMP unchanged, so that the decoder, which
 * never sees it, computes the same time. Example: with 76 bytes of FIFO and a sink that takes nothing, messages are
 * kept until 76 bytes are stored; later ones are only counted in lost_messages. */
#include "encoder/quick.h"
#include "encoder/state.h"
#include "message/layout.h"
#include "message/sets.h"
#include "message/writer.h"

/* ECODE: kinds of messages lost (section 6.4). */
enum { ECODE_DATA_TRACE = 1 << 1, ECODE_PROGRAM_TRACE = 1 << 2, ECODE_OWNERSHIP = 1 << 3 };

static unsigned kind_of(const ntr_message *m) {
    if (ntr_has_role(m->tcode, NTR_ROLE_ACCESS)) return ECODE_DATA_TRACE;
    return ntr_has_role(m->tcode, NTR_ROLE_CONTEXT) ? ECODE_OWNERSHIP : ECODE_PROGRAM_TRACE;
}

ntr_message *ntr_enc_message(ntr_encoder *e, unsigned tcode) {
    ntr_message *m = &e->message;
    m->tcode = (uint8_t)tcode;
    m->present = 0;
    if (e->params.src_bits) NTR_SET(m, SRC, src, e->config.src_id);
    return m;
}

/* Returns the halfwords that are lost with this message. */
static uint64_t carried_halfwords(const ntr_encoder *e, const ntr_message *m) {
    if (m->tcode == NTR_TCODE_REPEAT_BRANCH) return m->bcnt * e->last.icnt;
    if (m->tcode == NTR_TCODE_RESOURCE_FULL) return m->rcode == NTR_RCODE_ICNT ? m->rdata0 : 0;
    return (NTR_HAS(m, ICNT) ? m->icnt : 0) + (NTR_HAS(m, RCNT) ? e->self.count * e->self.halfwords : 0);
}

static void lose(ntr_encoder *e, const ntr_message *m, uint32_t size, uint64_t time) {
    if (!e->stats.losing) {
        e->stats.losing = true;
        e->stats.overflows++;
        e->stall_or_overflow = true;
        if (!e->loss.pending) e->loss = (loss){.pending = true, .time = time};
    }
    /* The loss lasts until a synchronizing message, so the program flow is always lost with it. */
    e->loss.ecode |= (uint8_t)(kind_of(m) | ECODE_PROGRAM_TRACE * ntr_has_role(m->tcode, NTR_ROLE_ACCESS));
    e->data_known = false;
    e->stats.lost_messages++;
    e->stats.lost_bytes += size;
    e->stats.lost_halfwords += carried_halfwords(e, m);
}

void ntr_enc_keep(ntr_encoder *e, unsigned tcode, const uint8_t *bytes, uint32_t size) {
    e->stats.messages++;
    e->stats.bytes += size;
    if (!ntr_tcode_in(ntr_tcodes_not_counted(), tcode)) ntr_enc_sync_progress(e, NTR_SYNC_MODE_MESSAGES, 1);
    if (ntr_enc_fifo_exists(e)) {
        ntr_enc_fifo_put(e, bytes, size);
        return;
    }
    ntr_status status = ntr_enc_deliver(e, bytes, size);
    if (status != NTR_OK && e->failure == NTR_OK) e->failure = status;
}

static bool has_space(ntr_encoder *e, uint32_t size) {
    if (!ntr_enc_fifo_exists(e) || ntr_enc_fifo_has_space(e, size)) return true;
    return e->config.stall && ntr_enc_fifo_stall(e, size);
}

/* Sends or loses the message. Repeats of the last branch message are sent before it. */
void ntr_enc_send(ntr_encoder *e, ntr_message *m, uint64_t time) {
    if (m->tcode != NTR_TCODE_REPEAT_BRANCH && e->last.repeats) {
        ntr_message waiting = *m;
        ntr_enc_repeat_flush(e);
        *m = waiting;
    }
    e->last.valid = false;
    uint64_t reported = e->reported;
    uint8_t bytes[MESSAGE_MAX];
    ntr_enc_clock_stamp(e, m, time);
    int size = ntr_message_encode(&e->params, m, bytes, sizeof bytes);
    if (size > 0) size = (int)ntr_enc_add_strays(e, m, bytes, (uint32_t)size);
    if (size < 0) {
        if (e->failure == NTR_OK) e->failure = (ntr_status)size;
    } else if (!e->stats.losing && has_space(e, (uint32_t)size)) {
        ntr_enc_keep(e, m->tcode, bytes, (uint32_t)size);
    } else {
        e->reported = reported;
        lose(e, m, (uint32_t)size, time);
    }
}

void ntr_enc_repeat_flush(ntr_encoder *e) {
    if (!e->last.repeats) return;
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_REPEAT_BRANCH);
    NTR_SET(m, BCNT, bcnt, e->last.repeats);
    e->last.repeats = 0;
    ntr_enc_send(e, m, e->last.time);
}

/* Returns the bytes that Error, the synchronizing message after it and its Ownership messages need at most. */
static uint32_t recovery_bytes(const ntr_encoder *e) {
    enum { ERROR_BYTES = 16, SYNC_BYTES = 30, OWNERSHIP_BYTES = 25 };
    uint32_t need = ERROR_BYTES + SYNC_BYTES + (uint32_t)OWNERSHIP_BYTES * e->config.ownership;
    return need < e->config.fifo_bytes ? need : e->config.fifo_bytes;
}

void ntr_enc_recover(ntr_encoder *e, bool force) {
    if (!e->loss.pending) return;
    uint32_t used = e->fifo.used;
    if (!force && (used > e->config.fifo_restart || !ntr_enc_fifo_has_space(e, recovery_bytes(e))) && used) return;
    e->stats.lost_halfwords += e->last.repeats * e->last.icnt; /* the message that they repeat may be lost */
    e->last.repeats = 0;
    e->stats.losing = false;
    e->loss.pending = false;
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_ERROR);
    NTR_SET(m, ETYPE, etype, NTR_ETYPE_OVERRUN);
    NTR_SET(m, ECODE, ecode, e->loss.ecode);
    ntr_enc_send(e, m, e->loss.time);
}

ntr_status ntr_enc_result(ntr_encoder *e) {
    e->quiet = ntr_enc_is_quiet(e);
    ntr_status failure = e->failure;
    e->failure = NTR_OK;
    return failure;
}

/* ---- fast path of runs: messages of up to 8 bytes are written in one register (run.h) */

enum { TCODE_BITS = 6, BTYPE_BITS = 2, RCODE_BITS = 4 };

/* Gives a message to the sink. Counters that these configurations do not use are not updated. */
static void quick_send(ntr_encoder *e, const uint8_t *bytes, size_t size) {
    e->stats.messages++;
    e->stats.bytes += size;
    ntr_enc_sync_progress(e, NTR_SYNC_MODE_MESSAGES, 1);
    ntr_status status = e->config.sink(e->config.sink_user, bytes, size);
    if (status != NTR_OK && e->failure == NTR_OK) e->failure = status;
}

/* Returns TCODE, SRC and the fixed field after them, which is `more` with `more_bits` bits; *bits is their total
 * width. */
static uint64_t quick_head(const ntr_encoder *e, unsigned tcode, unsigned more, unsigned more_bits, unsigned *bits) {
    unsigned src_bits = e->params.src_bits;
    *bits = TCODE_BITS + src_bits + more_bits;
    return tcode | (src_bits ? (uint64_t)e->config.src_id << TCODE_BITS : 0) |
           (uint64_t)more << (TCODE_BITS + src_bits);
}

/* Sends a branch message of more than 8 bytes. */
static void long_branch(ntr_encoder *e, uint64_t head, unsigned head_bits, uint64_t uaddr, uint64_t hist) {
    uint8_t bytes[NTR_QUICK_ROOM];
    ntr_quick_writer w = {.at = bytes};
    bool has_history = hist != HIST_EMPTY;
    ntr_quick_put(&w, head, head_bits);
    ntr_quick_end_field(&w, NTR_MSEO_FIELD);
    ntr_quick_put(&w, uaddr, ntr_significant_bits(uaddr));
    ntr_quick_end_field(&w, has_history ? NTR_MSEO_FIELD : NTR_MSEO_MESSAGE);
    if (has_history) {
        ntr_quick_put(&w, hist, ntr_significant_bits(hist));
        ntr_quick_end_field(&w, NTR_MSEO_MESSAGE);
    }
    quick_send(e, bytes, (size_t)(w.at - bytes));
}

void ntr_enc_quick_branch(ntr_encoder *e, uint64_t target, uint64_t hist) {
    bool has_history = hist != HIST_EMPTY;
    unsigned tcode = NTR_TCODE_INDIRECT_BRANCH, head_bits;
    if (has_history) tcode = NTR_TCODE_INDIRECT_BRANCH_HIST;
    uint64_t head = quick_head(e, tcode, e->pending.btype, BTYPE_BITS, &head_bits), uaddr = (target ^ e->ref) >> 1;
    head |= e->icnt << head_bits;
    head_bits += ntr_significant_bits(e->icnt);
    ntr_short_writer w = {0};
    ntr_short_put(&w, head, head_bits, NTR_MSEO_FIELD);
    ntr_short_put(&w, uaddr, ntr_significant_bits(uaddr), has_history ? NTR_MSEO_FIELD : NTR_MSEO_MESSAGE);
    if (has_history) ntr_short_put(&w, hist, ntr_significant_bits(hist), NTR_MSEO_MESSAGE);
    if (w.groups <= 8) {
        uint8_t bytes[8];
        ntr_short_store(&w, bytes);
        quick_send(e, bytes, w.groups);
    } else {
        long_branch(e, head, head_bits, uaddr, hist);
    }
    e->hist = HIST_EMPTY;
    e->repeats.count = 0;
    e->history_sent = false;
    ntr_enc_icnt_sent(e);
    e->ref = target;
}

/* ResourceFull with RCODE 1 or 2. */
static void quick_history_send(ntr_encoder *e, uint64_t rdata, uint32_t count) {
    unsigned head_bits, rcode = count == 1 ? NTR_RCODE_HIST : NTR_RCODE_HIST_REPEATED;
    uint64_t head = quick_head(e, NTR_TCODE_RESOURCE_FULL, rcode, RCODE_BITS, &head_bits);
    uint8_t bytes[NTR_QUICK_ROOM];
    ntr_quick_writer w = {.at = bytes};
    ntr_quick_put(&w, head, head_bits);
    ntr_quick_put(&w, rdata, ntr_significant_bits(rdata));
    ntr_quick_end_field(&w, count == 1 ? NTR_MSEO_MESSAGE : NTR_MSEO_FIELD);
    if (count > 1) {
        ntr_quick_put(&w, count, ntr_significant_bits(count));
        ntr_quick_end_field(&w, NTR_MSEO_MESSAGE);
    }
    e->history_sent = true;
    quick_send(e, bytes, (size_t)(w.at - bytes));
}

/* ---- ResourceFull with a history: RCODE 1, or RCODE 2 with the number of its repeats. N-Trace 1.0 section 6.8. */

void ntr_enc_history_send(ntr_encoder *e, uint64_t rdata, uint32_t count, uint64_t time) {
    if (e->quick_runs) {
        quick_history_send(e, rdata, count);
        return;
    }
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_RESOURCE_FULL);
    NTR_SET(m, RCODE, rcode, count == 1 ? NTR_RCODE_HIST : NTR_RCODE_HIST_REPEATED);
    NTR_SET(m, RDATA0, rdata0, rdata);
    if (count > 1) NTR_SET(m, RDATA1, rdata1, count);
    e->history_sent = true;
    ntr_enc_send(e, m, time);
}
