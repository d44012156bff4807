/* What a debugger reads from a TMC: its state, and the messages in its buffer. */
#include "system/bring_up.h"
#include "system/coresight.h"

#include "base/allocator.h"
#include "base/bytes.h"
#include "base/macros.h"

#include <ntrace/frames.h>
#include <ntrace/message_end.h>

enum { TMC_CHUNK = 4096, TABLES_MAX = 1024, NO_WORD = -1 };

/* ---- state */

ntr_status bring_up_tmc_state(bring_up_bus *on, trace_component *component, tmc_state *state) {
    static const ntr_register registers[] = {NTR_REGISTER_TMC_CTL,   NTR_REGISTER_TMC_STS,   NTR_REGISTER_TMC_MODE,
                                             NTR_REGISTER_TMC_FFCR,  NTR_REGISTER_TMC_RSZ,   NTR_REGISTER_TMC_RRP,
                                             NTR_REGISTER_TMC_RWP,   NTR_REGISTER_TMC_RRPHI, NTR_REGISTER_TMC_RWPHI,
                                             NTR_REGISTER_TMC_DBALO, NTR_REGISTER_TMC_DBAHI, NTR_REGISTER_TMC_AXICTL};
    enum { CTL, STS, MODE_AT, FFCR, RSZ, RRP, RWP, RRPHI, RWPHI, DBALO, DBAHI, AXICTL, COUNT };
    const bool etr = OPTION(&component->options, TMC_TYPE) == TMC_ETR;
    uint32_t words[COUNT] = {0};
    for (size_t i = 0; i < (etr ? COUNT : RRPHI); i++) TRY(bring_up_read(on, component, registers[i], 0, &words[i]));
    *state = (tmc_state){.capturing = words[CTL] & NTR_TMC_CAPTURE_MASK,
                         .ready = words[STS] & NTR_TMC_READY_MASK,
                         .full = words[STS] & NTR_TMC_FULL_MASK,
                         .failed = words[STS] & NTR_TMC_MEM_ERR_MASK,
                         .sg = words[AXICTL] & NTR_TMC_AXI_SG_MASK,
                         .formatted = words[FFCR] & NTR_TMC_EN_FT_MASK,
                         .mode = words[MODE_AT] & NTR_TMC_MODE_VALUE_MASK,
                         .size = (uint64_t)words[RSZ] * TMC_WORD,
                         .base = words[DBALO] | (uint64_t)words[DBAHI] << 32,
                         .rrp = words[RRP] | (uint64_t)words[RRPHI] << 32,
                         .rwp = words[RWP] | (uint64_t)words[RWPHI] << 32};
    return NTR_OK;
}

ntr_status tmc_stored(const trace_component *component, const tmc_state *state, uint64_t *bytes) {
    const option_values *o = &component->options;
    uint64_t first = state->base;
    if (state->sg) {
        if (OPTION(o, TMC_START) != state->base) return NTR_E_RANGE;
        first = tmc_data_page(state->base, OPTION(o, TMC_BYTES), 0, NULL);
    }
    *bytes = state->full ? state->size : state->rwp - first;
    return *bytes <= state->size ? NTR_OK : NTR_E_RANGE;
}

/* ---- frames to messages */

typedef struct gatherer {
    ntr_stream_sink sink;
    void *user;
    tmc_content *content;
    ntr_frames *frames; /* NULL: the formatter was off */
    bool inside;        /* ... and the beginning of a message was found */
} gatherer;

static ntr_status pass_on(void *user, const uint8_t *bytes, size_t size) {
    gatherer *g = user;
    return g->sink(g->user, 0, bytes, size);
}

static ntr_status gather_bytes(gatherer *g, const uint8_t *bytes, size_t size) {
    size_t from = 0;
    g->content->frames_bytes += size;
    if (g->frames) return ntr_frames_feed(g->frames, bytes, size, pass_on, g);
    while (!g->inside && from < size) g->inside = ntr_ends_message(bytes[from++]);
    g->content->skipped += from;
    return from < size ? pass_on(g, bytes + from, size - from) : NTR_OK;
}

/* ---- places of the bytes */

static ntr_status fail_data(bring_up_bus *on, trace_component *component, ntr_register reg) {
    on->fault = (bring_up_fault){.status = NTR_E_IO, .step = {.component = component, .reg = reg}};
    return NTR_E_IO;
}

static ntr_status read_memory(bring_up_bus *on, trace_component *component, uint64_t address, uint8_t *out,
                              size_t size) {
    const ntr_bus *bus = on->bus;
    if (bus->read_memory)
        return bus->read_memory(bus->user, address, out, size) == NTR_OK
                   ? NTR_OK
                   : fail_data(on, component, NTR_REGISTER_TMC_DBALO);
    for (size_t at = 0; at < size; at += TMC_WORD) {
        uint32_t word;
        if (bus->read32(bus->user, address + at, &word) != NTR_OK)
            return fail_data(on, component, NTR_REGISTER_TMC_DBALO);
        ntr_little_put(out + at, word, TMC_WORD);
    }
    return NTR_OK;
}

static ntr_status gather_memory(bring_up_bus *on, trace_component *component, gatherer *g, uint64_t address,
                                uint64_t size) {
    uint8_t bytes[TMC_CHUNK];
    while (size) {
        const size_t part = size < TMC_CHUNK ? (size_t)size : TMC_CHUNK;
        if (on->interrupted && on->interrupted(on->user)) return NTR_END;
        TRY(read_memory(on, component, address, bytes, part));
        TRY(gather_bytes(g, bytes, part));
        address += part;
        size -= part;
    }
    return NTR_OK;
}

/* The first words of memory are in an ETB's or ETF's own memory: tmcReadData gives them from the oldest on. */
static ntr_status gather_words(bring_up_bus *on, trace_component *component, gatherer *g, uint64_t size) {
    const ntr_bus *bus = on->bus;
    const uint64_t address = component->base + ntr_register_get(NTR_REGISTER_TMC_RRD)->offset;
    uint32_t words[TMC_CHUNK / TMC_WORD], after = 0;
    uint8_t bytes[TMC_CHUNK];
    for (uint64_t left = size; left;) {
        const size_t count = left < TMC_CHUNK ? (size_t)left / TMC_WORD : TMC_CHUNK / TMC_WORD;
        ntr_status status = NTR_OK;
        if (bus->read_fifo)
            status = bus->read_fifo(bus->user, address, words, count);
        else
            for (size_t i = 0; i < count && status == NTR_OK; i++) status = bus->read32(bus->user, address, &words[i]);
        if (status != NTR_OK) return fail_data(on, component, NTR_REGISTER_TMC_RRD);
        for (size_t i = 0; i < count; i++) ntr_little_put(bytes + i * TMC_WORD, words[i], TMC_WORD);
        TRY(gather_bytes(g, bytes, count * TMC_WORD));
        left -= count * TMC_WORD;
    }
    TRY(bring_up_read(on, component, NTR_REGISTER_TMC_RRD, 0, &after));
    g->content->complete = after == (uint32_t)NO_WORD;
    return NTR_OK;
}

static ntr_status gather_flat(bring_up_bus *on, trace_component *component, gatherer *g, const tmc_state *state) {
    const uint64_t offset = state->rwp - state->base;
    if (state->rwp < state->base || offset > state->size) return NTR_E_RANGE;
    if (state->full && offset < state->size) TRY(gather_memory(on, component, g, state->rwp, state->size - offset));
    return gather_memory(on, component, g, state->base, offset);
}

/* ---- scatter-gather: the pages of the table in order */

typedef struct page_list {
    uint64_t *pages;
    size_t count, capacity;
} page_list;

static ntr_status read_table(bring_up_bus *on, trace_component *component, const tmc_state *state, page_list *list) {
    const ntr_allocator *allocator = component->config->allocator;
    uint64_t table = state->base;
    const uint64_t most = state->size / TMC_PAGE;
    for (unsigned tables = 0; tables < TABLES_MAX; tables++) {
        uint8_t bytes[TMC_PAGE];
        bool linked = false;
        TRY(read_memory(on, component, table, bytes, sizeof bytes));
        for (size_t i = 0; i < SG_ENTRIES && !linked; i++) {
            const uint32_t entry = ntr_little_32(bytes + i * TMC_WORD), type = entry & SG_TYPE;
            const uint64_t page = (uint64_t)(entry >> 4) * TMC_PAGE;
            if (!type) return NTR_E_RANGE;
            linked = type == SG_LINK;
            table = page;
            if (linked) continue;
            if (list->count == most) return NTR_E_RANGE;
            if (ntr_reserve(allocator, (void **)&list->pages, &list->capacity, list->count + 1, sizeof list->pages[0]))
                return NTR_E_MEMORY;
            list->pages[list->count++] = page;
            if (type == SG_LAST) return NTR_OK;
        }
        if (!linked) return NTR_E_RANGE;
    }
    return NTR_E_RANGE;
}

static ntr_status gather_pages(bring_up_bus *on, trace_component *component, gatherer *g, const tmc_state *state) {
    const uint64_t inside = state->rwp % TMC_PAGE;
    page_list list = {0};
    size_t at = 0;
    ntr_status status = read_table(on, component, state, &list);
    while (status == NTR_OK && at < list.count && list.pages[at] != state->rwp - inside) at++;
    if (status == NTR_OK && at == list.count) status = NTR_E_RANGE;
    if (status == NTR_OK && state->full) {
        status = gather_memory(on, component, g, state->rwp, TMC_PAGE - inside);
        for (size_t i = at + 1; i < list.count && status == NTR_OK; i++)
            status = gather_memory(on, component, g, list.pages[i], TMC_PAGE);
    }
    for (size_t i = 0; i < at && status == NTR_OK; i++)
        status = gather_memory(on, component, g, list.pages[i], TMC_PAGE);
    if (status == NTR_OK) status = gather_memory(on, component, g, list.pages[at], inside);
    ntr_dealloc(component->config->allocator, list.pages);
    return status;
}

/* ---- */

static ntr_status gather_all(bring_up_bus *on, trace_component *component, gatherer *g, const tmc_state *state) {
    if (state->size % TMC_FRAME || state->rwp % TMC_FRAME) return NTR_E_RANGE;
    if (OPTION(&component->options, TMC_TYPE) == TMC_ETR)
        return state->sg ? gather_pages(on, component, g, state) : gather_flat(on, component, g, state);
    if (state->rwp > state->size) return NTR_E_RANGE;
    return gather_words(on, component, g, state->full ? state->size : state->rwp);
}

static ntr_status end_messages(gatherer *g) {
    ntr_frames_totals totals;
    if (!g->frames) return NTR_OK;
    TRY(ntr_frames_finish(g->frames, pass_on, g));
    ntr_frames_totals_get(g->frames, &totals);
    g->content->skipped += totals.left_out;
    return NTR_OK;
}

static ntr_status open_frames(gatherer *g, const ntr_allocator *allocator, bool cut) {
    ntr_frames_options options;
    ntr_status status;
    ntr_frames_options_init(&options);
    options.cut = cut;
    options.whole = !cut;
    options.allocator = allocator;
    status = ntr_frames_new(&options, &g->frames);
    return status;
}

ntr_status bring_up_read_tmc(bring_up_bus *on, trace_component *component, ntr_stream_sink sink, void *user,
                             tmc_content *content) {
    const ntr_allocator *allocator = component->config->allocator;
    tmc_state state;
    *content = (tmc_content){.complete = true};
    TRY(bring_up_tmc_state(on, component, &state));
    if (!state.ready) return NTR_E_STATE;
    gatherer g = {.sink = sink, .user = user, .content = content, .inside = !state.full};
    ntr_status status = state.formatted ? open_frames(&g, allocator, state.full) : NTR_OK;
    if (status == NTR_OK) status = gather_all(on, component, &g, &state);
    if (status == NTR_OK) status = end_messages(&g);
    ntr_frames_free(g.frames);
    return status;
}
