/* A capture with a CoreSight TMC (ETR, ETF or ETB) as sink. */
#include "target/target.h"

#include "base/macros.h"

#include <inttypes.h>

/* Writing to memory that nobody gave is refused. */
ntr_status target_check_etr(ntr_target *target, const trace_component *etr) {
    const option_values *o = &etr->options;
    if (OPTION(o, TMC_TYPE) != TMC_ETR || OPTION(o, TMC_START) != OPTION_NONE) return NTR_OK;
    return target_say(
        target, NTR_E_INVALID, etr,
        "stores trace in system memory: give it a buffer that nothing else uses (--buffer ADDRESS:SIZE, or "
        "\"smem_start\" and \"smem_size\" in the topology)");
}

ntr_status target_poll_tmc(ntr_target *target, trace_component *component, ntr_target_state *state) {
    tmc_state tmc;
    uint64_t stored = 0;
    TRY(bring_up_tmc_state(&target->on, component, &tmc));
    if (tmc_stored(component, &tmc, &stored) != NTR_OK) stored = 0; /* not known: another software's table */
    state->capacity += tmc.size;
    state->stored += stored;
    state->wrapped |= tmc.full && tmc.mode == TMC_CIRCULAR;
    if (tmc.failed && !target->lost[component->index]) {
        target->lost[component->index] = true;
        target_note(target, component,
                    "a write to memory failed (tmcMemErr): is the buffer at 0x%" PRIx64 " memory that it reaches?",
                    tmc.base);
    }
    return NTR_OK;
}

static ntr_status explain_read(ntr_target *target, const trace_component *component, const tmc_state *tmc,
                               ntr_status status) {
    if (status == NTR_E_RANGE)
        return target_say(
            target, status, component,
            "buffer 0x%" PRIx64 " of 0x%" PRIx64 " bytes and write pointer 0x%" PRIx64 " contradict each other%s",
            tmc->base, tmc->size, tmc->rwp, tmc->sg ? ", or the table of pages at this address is damaged" : "");
    if (status == NTR_E_STATE)
        return target_say(target, status, component, "cannot be read: it captures (tmcReady is 0)");
    return target_fail(target, status);
}

ntr_status target_read_tmc(ntr_target *target, trace_component *component, ntr_stream_sink sink, void *user,
                           ntr_target_content *content) {
    tmc_content read;
    tmc_state tmc;
    uint64_t stored = 0;
    ntr_status status = bring_up_tmc_state(&target->on, component, &tmc);
    if (status != NTR_OK) return target_fail(target, status);
    if (tmc_stored(component, &tmc, &stored) != NTR_OK) stored = 0;
    *content = (ntr_target_content){.wrapped = tmc.full,
                                    .smem = OPTION(&component->options, TMC_TYPE) == TMC_ETR,
                                    .window = {.start = tmc.base,
                                               .limit = tmc.base + tmc.size - TMC_FRAME,
                                               .wp = tmc.base + stored,
                                               .access = TMC_FRAME,
                                               .wrapped = tmc.full}};
    status = bring_up_read_tmc(&target->on, component, sink, user, &read);
    content->verified = read.complete;
    content->frame_bytes = read.frames_bytes;
    content->skipped = read.skipped;
    return status == NTR_OK ? NTR_OK : explain_read(target, component, &tmc, status);
}
