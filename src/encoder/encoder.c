/* The encoder: allocation, the order of the steps for one block, and run-time control. */
#include "base/config.h"
#include "base/allocator.h"
#include "encoder/quick.h"
#include "encoder/state.h"

#include <ntrace/encoder_hardware.h>
#include <string.h>

enum { RUN_ICNT_BITS = 16 }; /* least width of I-CNT that holds a run */

/* ---- configuration in use -------------------------------------------------------------------------- */

/* Returns whether messages are those of N-Trace 1.0 with plain addresses, as the fast paths write them. */
static bool is_ordinary(const ntr_encoder *e) {
    const ntr_params *p = &e->params;
    const ntr_dialect *d = e->dialect;
    return !p->extend_addr && !p->no_addr_diff && !p->addr_bits && !ntr_flow_tables_exist(p) &&
           !e->config.frame_bytes && !d->empty_icnt && !d->any_end_idle && !d->repeat_xors && !d->htm_count_sync &&
           !d->trap_ownership;
}

/* Decides if this configuration allows runs (run.h), and their fast path. */
static void set_run_modes(ntr_encoder *e) {
    const ntr_encoder_config *c = &e->config;
    e->takes_runs = !c->fifo_bytes && !c->repeat_instruction && !e->filtered && !c->params.all_jumps &&
                    c->itype_width == 4 && !c->icnt_full_sync && !c->params.branch_predictor &&
                    !e->dialect->htm_count_sync && !e->dialect->trap_ownership && c->icnt_bits >= RUN_ICNT_BITS &&
                    !c->sync_exact && c->sync_mode != NTR_SYNC_MODE_CYCLES;
    e->quick_runs = e->takes_runs && e->htm && !e->timestamps && !e->repeat_branch && e->ordinary && !c->full_after &&
                    !c->empty_hist && (!c->repeated_history || e->splits_quickly);
}

static void use_config(ntr_encoder *e, const ntr_encoder_config *config) {
    const ntr_allocator *allocator = config->allocator;
    e->config = *config;
    e->config.allocator = allocator;
    ntr_encoder_config_normalize(&e->config);
    const ntr_encoder_config *c = &e->config;
    e->params = c->params;
    e->dialect = c->params.dialect ? c->params.dialect : ntr_dialect_at(0);
    if (c->inhibit_src) e->params.src_bits = 0;
    e->htm = c->mode == NTR_INST_MODE_HTM;
    e->repeat_branch = c->repeat_branch || (!e->htm && c->repeated_history);
    e->timestamps = c->params.timestamps == NTR_TIMESTAMPS_ON;
    e->filtered = c->filter_count || c->qualify;
    /* "after": the counter is full when its top bit is set; "before": every value that fits is used. */
    e->icnt_full = 1ull << (c->full_after ? c->icnt_bits - 1 : c->icnt_bits);
    e->hist_full = 1ull << (c->hist_bits - 1);
    e->compare_mask =
        c->params.implicit_return == NTR_RETURN_PARTIAL ? ((1ull << c->compare_bits) - 1) << 1 : UINT64_MAX;
    if (c->params.xlen == 32) e->compare_mask &= UINT32_MAX;
    e->sync_period = 1ull << (c->sync_max + 4);
    e->stack.depth = c->params.implicit_return == NTR_RETURN_OFF ? 0 : (uint8_t)c->params.return_stack;
    e->stack.early = c->early_returns;
    e->splits_quickly = e->htm && c->repeated_history && c->history_repeats == NTR_REPEATS_QUICK;
    ntr_enc_repeats_prepare(e);
    e->ordinary = is_ordinary(e);
    set_run_modes(e);
    e->simple = e->htm && !c->repeat_instruction && !c->params.branch_predictor && !e->dialect->htm_count_sync &&
                !e->timestamps && !e->filtered && !c->fifo_bytes && !c->full_after &&
                c->sync_mode <= NTR_SYNC_MODE_MESSAGES;
}

/* Sets the state of an encoder that has just been enabled. The statistics are kept. */
static void restart(ntr_encoder *e) {
    e->active = e->closing = e->off_after_cycle = e->announced = e->started = false;
    e->start_reason = e->config.start_sync;
    e->sync_wanted &= 1u << NTR_SYNC_OVERRUN; /* Error has been sent, and nothing after it */
    e->next = NTR_ADDRESS_UNKNOWN;
    e->periodic_due = false;
    e->sync_count = 0;
    e->icnt = 0;
    e->pending = (pending_branch){0};
    e->last = (last_branch){0};
    e->self = (self_loop){0};
    e->trapped = e->returned_from_trap = false;
    ntr_flow_tables_reset(&e->tables);
    memset(e->filter_depth, 0, sizeof e->filter_depth);
    ntr_enc_history_clear(e);
    e->stack.count = e->stack.reported = 0;
}

static ntr_status make_parts(ntr_encoder *e) {
    ntr_status status = ntr_enc_fifo_new(e);
    bool split = e->htm && e->config.repeated_history && e->config.history_repeats == NTR_REPEATS_ANY;
    if (status == NTR_OK && split) status = ntr_enc_patterns_new(e);
    if (status == NTR_OK) status = ntr_flow_tables_new(&e->tables, &e->params, e->config.allocator);
    return status;
}

static void free_parts(ntr_encoder *e) {
    ntr_enc_fifo_free(e);
    ntr_enc_patterns_free(e);
    ntr_flow_tables_free(&e->tables, e->config.allocator);
}

static ntr_status load(ntr_encoder_config *config, const ntr_encoder_config *given) {
    ntr_status status = ntr_encoder_config_check(given, NULL);
    return status == NTR_OK ? ntr_config_load(config, sizeof *config, given) : status;
}

ntr_status ntr_encoder_new(const ntr_encoder_config *given, ntr_encoder **out) {
    *out = NULL;
    ntr_encoder_config config;
    ntr_status status = load(&config, given);
    if (status != NTR_OK) return status;
    if (!config.sink) return NTR_E_INVALID;
    ntr_encoder *e = ntr_alloc(config.allocator, 1, sizeof *e);
    if (!e) return NTR_E_MEMORY;
    use_config(e, &config);
    status = make_parts(e);
    if (status != NTR_OK) {
        ntr_encoder_free(e);
        return status;
    }
    e->enabled = e->tracing = true;
    restart(e);
    *out = e;
    return NTR_OK;
}

void ntr_encoder_free(ntr_encoder *e) {
    if (!e) return;
    free_parts(e);
    ntr_dealloc(e->config.allocator, e);
}

ntr_status ntr_encoder_reconfigure(ntr_encoder *e, const ntr_encoder_config *config) {
    ntr_encoder_config next;
    ntr_status status = load(&next, config);
    if (status != NTR_OK) return status;
    ntr_encoder_status now;
    ntr_encoder_status_get(e, &now);
    if (e->enabled || !now.empty) return NTR_E_STATE;
    next.sink = e->config.sink;
    next.sink_user = e->config.sink_user;
    next.allocator = e->config.allocator;
    ntr_encoder fresh = {0};
    use_config(&fresh, &next);
    status = make_parts(&fresh);
    if (status != NTR_OK) {
        free_parts(&fresh);
        return status;
    }
    free_parts(e);
    use_config(e, &next);
    e->fifo = fresh.fifo;
    e->patterns = fresh.patterns;
    e->tables = fresh.tables;
    restart(e);
    return NTR_OK;
}

/* ---- one block -------------------------------------------------------------------------------------- */

/* Sends the pending Error if it can. What was counted since the first lost message is lost; the next block opens a
 * window with SYNC=7. */
static void recover(ntr_encoder *e, bool force) {
    if (!e->loss.pending) return;
    ntr_enc_recover(e, force);
    if (e->loss.pending) return;
    e->stats.lost_halfwords += e->icnt + e->self.count * e->self.halfwords;
    e->icnt = 0;
    e->self = (self_loop){0};
    e->active = e->closing = false;
    e->sync_wanted |= 1u << NTR_SYNC_OVERRUN;
}

static void pass_cycles(ntr_encoder *e, uint64_t cycles) {
    e->stats.cycles += cycles;
    ntr_enc_sync_progress(e, NTR_SYNC_MODE_CYCLES, cycles);
    if (!ntr_enc_fifo_exists(e)) return;
    ntr_enc_fifo_pass(e, cycles);
    recover(e, false);
}

static void enter_block(ntr_encoder *e, const ntr_ingress *b) {
    if (!e->active) {
        ntr_enc_start(e, b->iaddr);
        ntr_enc_ownership_sync(e, b);
        return;
    }
    if (b->ctype == NTR_CTYPE_ASYNC) ntr_enc_interrupt(e, ntr_enc_trap_btype(e, NTR_ITYPE_INTERRUPT));
    if (b->ctype == NTR_CTYPE_PRECISE) e->sync_wanted |= 1u << NTR_SYNC_TRACE_EVENT;
    if (ntr_enc_resolve(e, b->iaddr))
        ntr_enc_ownership_sync(e, b);
    else
        ntr_enc_ownership_change(e, b);
    ntr_enc_trap_value(e);
}

static void trace_block(ntr_encoder *e, const ntr_ingress *b, bool notify) {
    if (e->self.open && ntr_enc_self_loop_again(e, b)) {
        e->trapped = e->returned_from_trap = false;
    } else if (ntr_enc_has_address(b)) {
        enter_block(e, b);
        ntr_enc_count(e, b);
        ntr_enc_self_loop_begin(e, b);
    } else if (e->active) {
        ntr_enc_interrupt(e, ntr_enc_trap_btype(e, b->itype));
        e->pending.tval = b->tval;
        ntr_enc_ownership_change(e, b);
    }
    if (notify || b->trigger & NTR_TRIGGER_NOTIFY) e->sync_wanted |= 1u << NTR_SYNC_TRACE_EVENT;
}

ntr_status ntr_encoder_push(ntr_encoder *e, const ntr_ingress *b) {
    if (e->config.stall && ntr_enc_fifo_blocked(e)) return NTR_NEED_MORE;
    ntr_status status = ntr_enc_check(e, b);
    if (status != NTR_OK) return e->refused++, status;
    e->stats.blocks++;
    if (e->timestamps) ntr_enc_clock_set(e, b->time);
    if (b->cycle) pass_cycles(e, 1);
    unsigned qualified = e->filtered ? ntr_enc_qualify(e, b) : NTR_QUALIFY_TRACE;
    if (ntr_enc_window(e, b, qualified & NTR_QUALIFY_TRACE)) trace_block(e, b, qualified & NTR_QUALIFY_NOTIFY);
    return ntr_enc_result(e);
}

ntr_status ntr_encoder_stop(ntr_encoder *e, uint64_t next, unsigned evcode) {
    if (!ntr_enc_allows(e, NTR_FIELD_EVCODE, evcode) || (next & 1 && next != NTR_ADDRESS_UNKNOWN)) return NTR_E_RANGE;
    if (e->active) ntr_enc_close(e, next, evcode);
    e->follow_known = false;
    return ntr_enc_result(e);
}

ntr_status ntr_encoder_flush(ntr_encoder *e) {
    ntr_enc_fifo_drain(e);
    recover(e, e->fifo.head == e->fifo.tail); /* a message that the sink refused is offered again */
    ntr_enc_fifo_drain(e);
    if (e->fifo.head == e->fifo.tail) {
        ntr_status status = ntr_enc_frame_end(e);
        if (e->failure == NTR_OK) e->failure = status;
    }
    return ntr_enc_result(e);
}

const char *ntr_encoder_error(const ntr_encoder *e) {
    return e->error;
}

/* ---- control ---------------------------------------------------------------------------------------- */

/* Tracing was switched off: closes the window now, or at the next block if a jump waits for its target. */
static void switched_off(ntr_encoder *e) {
    if (e->active && !ntr_enc_needs_address(e))
        ntr_enc_close(e, NTR_ADDRESS_UNKNOWN, NTR_EVCODE_DISABLED);
    else if (!e->active && e->down)
        ntr_enc_announce(e, NTR_EVCODE_DISABLED);
}

ntr_status ntr_encoder_set_enable(ntr_encoder *e, bool on) {
    if (on == e->enabled) return NTR_OK;
    if (on) {
        e->stall_or_overflow = false;
        if (!e->active) restart(e);
    } else if (e->tracing) {
        e->tracing = false;
        switched_off(e);
    }
    e->enabled = on;
    return ntr_enc_result(e);
}

ntr_status ntr_encoder_set_tracing(ntr_encoder *e, bool on) {
    if (!e->enabled) return NTR_E_STATE;
    if (on == e->tracing) return NTR_OK;
    e->tracing = on;
    if (!on) {
        switched_off(e);
    } else if (e->down && !e->announced) {
        ntr_enc_announce(e, NTR_EVCODE_DEBUG);
        e->announced = true;
    }
    return ntr_enc_result(e);
}

ntr_status ntr_encoder_trigger(ntr_encoder *e, unsigned actions) {
    if (actions & NTR_TRIGGER_NOTIFY && e->active && !e->closing) e->sync_wanted |= 1u << NTR_SYNC_EXTERNAL_TRIGGER;
    bool switches = e->config.trigger_enable && e->enabled;
    if (switches && actions & NTR_TRIGGER_ON) return ntr_encoder_set_tracing(e, true);
    if (switches && actions & NTR_TRIGGER_OFF) return ntr_encoder_set_tracing(e, false);
    return ntr_enc_result(e);
}

ntr_status ntr_encoder_request_sync(ntr_encoder *e, unsigned reason) {
    if (!ntr_enc_allows(e, NTR_FIELD_SYNC, reason)) return NTR_E_RANGE;
    if (e->active) e->sync_wanted |= 1u << reason;
    return ntr_enc_result(e);
}

ntr_status ntr_encoder_tick(ntr_encoder *e, uint64_t cycles) {
    pass_cycles(e, cycles);
    return ntr_enc_result(e);
}

void ntr_encoder_status_get(const ntr_encoder *e, ntr_encoder_status *status) {
    *status = e->stats;
    status->enabled = e->enabled;
    status->tracing = e->tracing;
    status->active = e->active;
    status->empty = e->fifo.head == e->fifo.tail && !e->loss.pending && !(e->active && !(e->enabled && e->tracing));
    status->stall_or_overflow = e->stall_or_overflow;
    status->fifo_used = e->fifo.used;
}

void ntr_encoder_clear_overflow(ntr_encoder *e) {
    e->stall_or_overflow = false;
}
