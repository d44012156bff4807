/* What a debugger reads from a TMC: its state, and the messages in its buffer. */
#include "system/bring_up.h"
#include "system/coresight.h"

#include "base/allocator.h"
#include "base/bytes.h"
#include "base/macros.h"

#include <ntrace/message_end.h>

#include <string.h>

enum { TMC_CHUNK = 4096, TRACE_IDS = 128, HELD = 256, TABLES_MAX = 1024, NO_WORD = -1 };

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

/* ---- frames to messages. Messages of several trace IDs are put in the order in which they end. */

typedef struct gatherer {
    ntr_stream_sink sink;
    void *user;
    tmc_content *content;
    ntr_transport_reader *frames; /* NULL: the formatter was off */
    struct {
        uint16_t size;
        bool inside; /* the beginning of the message is known */
        uint8_t bytes[HELD];
    } ids[TRACE_IDS];
} gatherer;

static ntr_status gather(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    gatherer *g = user;
    if (id >= TRACE_IDS) return NTR_OK;
    for (size_t i = 0; i < size; i++) {
        const bool ends = ntr_ends_message(bytes[i]);
        if (!g->ids[id].inside) {
            g->content->skipped++;
            g->ids[id].inside = ends;
            continue;
        }
        g->ids[id].bytes[g->ids[id].size++] = bytes[i];
        if (!ends && g->ids[id].size < HELD) continue; /* no message is that long: the reader reports it */
        TRY(g->sink(g->user, 0, g->ids[id].bytes, g->ids[id].size));
        g->ids[id].size = 0;
    }
    return NTR_OK;
}

static void note(void *user, const ntr_transport_note *one) {
    gatherer *g = user;
    if (one->kind == NTR_NOTE_UNKNOWN_ID) g->content->skipped += one->value;
}

static ntr_status gather_bytes(gatherer *g, const uint8_t *bytes, size_t size) {
    uint16_t beats[TMC_CHUNK];
    g->content->frames_bytes += size;
    if (!g->frames) return gather(g, 0, bytes, size);
    for (size_t i = 0; i < size; i++) beats[i] = bytes[i];
    return ntr_transport_reader_push(g->frames, beats, size);
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
    TRY(g->frames ? ntr_transport_reader_end(g->frames) : NTR_OK);
    for (unsigned id = 0; id < TRACE_IDS; id++) g->content->skipped += g->ids[id].size;
    return NTR_OK;
}

static ntr_status open_frames(gatherer *g, const ntr_allocator *allocator) {
    ntr_reader_options options;
    ntr_status status;
    ntr_reader_options_init(&options);
    options.sink = gather;
    options.note = note;
    options.user = g;
    options.allocator = allocator;
    g->frames = ntr_transport_reader_new(ntr_transport_find("coresight"), &options, &status);
    return status;
}

ntr_status bring_up_read_tmc(bring_up_bus *on, trace_component *component, ntr_stream_sink sink, void *user,
                             tmc_content *content) {
    const ntr_allocator *allocator = component->config->allocator;
    tmc_state state;
    *content = (tmc_content){.complete = true};
    TRY(bring_up_tmc_state(on, component, &state));
    if (!state.ready) return NTR_E_STATE;
    gatherer *g = ntr_alloc(allocator, 1, sizeof *g);
    if (!g) return NTR_E_MEMORY;
    g->sink = sink;
    g->user = user;
    g->content = content;
    for (unsigned id = 0; id < TRACE_IDS; id++) g->ids[id].inside = !state.full;
    ntr_status status = state.formatted ? open_frames(g, allocator) : NTR_OK;
    if (status == NTR_OK) status = gather_all(on, component, g, &state);
    if (status == NTR_OK) status = end_messages(g);
    ntr_transport_reader_free(g->frames);
    ntr_dealloc(allocator, g);
    return status;
}
