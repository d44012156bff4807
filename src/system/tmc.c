/* CoreSight Trace Memory Controller: an ETB or ETF with memory of its own, or an ETR that writes to system memory.
 *
 * While capture runs, messages become formatter frames in memory (circular buffer, software FIFO), or are passed on
 * (hardware FIFO). A flush takes what the components before it hold; with tmcStopOnFlush, capture then stops and
 * tmcReady becomes 1. Clearing tmcTraceCaptEn without a flush loses the frame that is not complete. */
#include "base/bytes.h"
#include "system/coresight.h"
#include "system/system.h"

#include "base/allocator.h"

enum { NO_DATA = -1, SG_LINKS_MAX = 4, FIFO_ROOM = 16 * QUEUE_MESSAGE_MAX /* bytes that one message may need */ };
enum { ENTRY_BYTES = 4 };

/* A place in the buffer. With scatter-gather, `entry` is the address of the table entry of the page. */
typedef struct tmc_cursor {
    uint64_t address, entry;
} tmc_cursor;

typedef struct tmc {
    trace_component base;
    coresight_part part;
    frame_formatter formatter;
    uint8_t *sram;
    tmc_cursor read, write;
    uint64_t size;   /* of the buffer in bytes */
    uint64_t unread; /* bytes of the buffer that were not read */
    uint32_t mode;
    bool capturing, stopped, full, failed, flushing;
} tmc;

static tmc *self(trace_component *component) {
    return (tmc *)component;
}

static uint64_t type_of(const tmc *t) {
    return OPTION(&t->base.options, TMC_TYPE);
}

static void rules(trace_component *component) {
    const option_values *o = &component->options;
    const bool etr = OPTION(o, TMC_TYPE) == TMC_ETR, etf = OPTION(o, TMC_TYPE) == TMC_ETF;
    static const ntr_bits all[] = {
        NTR_BITS_TMC_TRIGGER_WORDS, NTR_BITS_TMC_WATER_MARK,    NTR_BITS_TMC_EN_FT,
        NTR_BITS_TMC_EN_TI,         NTR_BITS_TMC_FLUSH_ON_IN,   NTR_BITS_TMC_FLUSH_ON_TRIGGER,
        NTR_BITS_TMC_TRIGGER_ON_IN, NTR_BITS_TMC_STOP_ON_FLUSH, NTR_BITS_TMC_STOP_ON_TRIGGER,
        NTR_BITS_TMC_RRP_LOW,       NTR_BITS_TMC_RWP_LOW};
    static const ntr_bits of_etr[] = {NTR_BITS_TMC_RRP_HIGH,  NTR_BITS_TMC_RWP_HIGH,  NTR_BITS_TMC_AXI_PROT,
                                      NTR_BITS_TMC_AXI_CACHE, NTR_BITS_TMC_AXI_BURST, NTR_BITS_TMC_DBA_LOW,
                                      NTR_BITS_TMC_DBA_HIGH};
    register_page *page = &component->page;
    coresight_rules(component, etf ? DEVTYPE_FIFO : DEVTYPE_SINK);
    page_fix(page, NTR_BITS_CS_DEVID_TMC_TYPE, (uint32_t)OPTION(o, TMC_TYPE));
    page_fix(page, NTR_BITS_CS_DEVID_ADDRESS_VALID, etr);
    page_fix(page, NTR_BITS_CS_DEVID_ADDRESS_BITS, etr ? (uint32_t)OPTION(o, TMC_ADDRESS_BITS) : 0);
    page_fix(page, NTR_BITS_CS_DEVID_NO_SG, !etr || !OPTION(o, TMC_SG));
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) page_flag(page, all[i], true);
    for (size_t i = 0; i < sizeof of_etr / sizeof of_etr[0]; i++) page_flag(page, of_etr[i], etr);
    page_flag(page, NTR_BITS_TMC_AXI_SG, etr && OPTION(o, TMC_SG));
    page_choose(page, NTR_BITS_TMC_MODE_VALUE, (uint32_t)OPTION(o, TMC_MODES), TMC_CIRCULAR);
    page_allow(page, NTR_BITS_TMC_SYNC_COUNT, 31, 10);
    if (etr)
        page_flag(page, NTR_BITS_TMC_SIZE_WORDS, true);
    else
        page_fix(page, NTR_BITS_TMC_SIZE_WORDS, (uint32_t)OPTION(o, TMC_SRAM) / TMC_WORD);
    component->active = true;
}

static ntr_status start(trace_component *component) {
    if (type_of(self(component)) == TMC_ETR) return NTR_OK;
    self(component)->sram = ntr_alloc(component->config->allocator, (size_t)OPTION(&component->options, TMC_SRAM), 1);
    return self(component)->sram ? NTR_OK : NTR_E_MEMORY;
}

static void release(trace_component *component) {
    ntr_dealloc(component->config->allocator, self(component)->sram);
}

/* ---- memory */

static bool read_bytes(const tmc *t, uint64_t address, uint8_t *out, size_t size) {
    const ntr_system_config *config = t->base.config;
    if (t->sram)
        for (size_t i = 0; i < size; i++) out[i] = t->sram[address + i];
    else
        return config->memory_read && config->memory_read(config->user, address, out, size);
    return true;
}

static bool write_bytes(const tmc *t, uint64_t address, const uint8_t *bytes, size_t size) {
    const ntr_system_config *config = t->base.config;
    if (t->sram)
        for (size_t i = 0; i < size; i++) t->sram[address + i] = bytes[i];
    else
        return config->memory_write && config->memory_write(config->user, address, bytes, size);
    return true;
}

static uint64_t buffer_of(const tmc *t) {
    return t->sram ? 0 : GET(&t->base.page, TMC_DBA_LOW) | (uint64_t)GET(&t->base.page, TMC_DBA_HIGH) << 32;
}

static bool scatters(const tmc *t) {
    return GET(&t->base.page, TMC_AXI_SG);
}

/* Moves the cursor to the data page of the table entry at `entry`, over links. Returns false if the table is damaged.
 */
static bool open_page(const tmc *t, tmc_cursor *cursor, uint64_t entry) {
    for (unsigned links = 0; links < SG_LINKS_MAX; links++) {
        uint8_t bytes[ENTRY_BYTES];
        if (!read_bytes(t, entry, bytes, sizeof bytes)) return false;
        const uint32_t word = ntr_little_32(bytes), type = word & SG_TYPE;
        const uint64_t page = (uint64_t)(word >> 4) * TMC_PAGE;
        if (!type) return false;
        *cursor = (tmc_cursor){page, entry};
        if (type != SG_LINK) return true;
        entry = page;
    }
    return false;
}

static bool cursor_begin(const tmc *t, tmc_cursor *cursor) {
    *cursor = (tmc_cursor){buffer_of(t), 0};
    return !scatters(t) || open_page(t, cursor, buffer_of(t));
}

/* Moves on by `bytes`, which end at a frame. *wrapped: the end of the buffer was reached. */
static bool cursor_move(const tmc *t, tmc_cursor *cursor, uint64_t bytes, bool *wrapped) {
    uint8_t entry[ENTRY_BYTES];
    *wrapped = false;
    cursor->address += bytes;
    if (!scatters(t)) {
        *wrapped = cursor->address - buffer_of(t) >= t->size;
        if (*wrapped) cursor->address = buffer_of(t);
        return true;
    }
    if (cursor->address % TMC_PAGE) return true;
    if (!read_bytes(t, cursor->entry, entry, sizeof entry)) return false;
    *wrapped = (ntr_little_32(entry) & SG_TYPE) == SG_LAST;
    return *wrapped ? cursor_begin(t, cursor) : open_page(t, cursor, cursor->entry + ENTRY_BYTES);
}

/* ---- capture */

static void fail(tmc *t) {
    t->failed = t->stopped = true;
    t->base.enabled = false;
    component_discard(&t->base);
}

static void store_frame(void *user, const uint8_t frame[TMC_FRAME]) {
    tmc *t = user;
    bool wrapped;
    if (t->failed) return;
    if (!write_bytes(t, t->write.address, frame, TMC_FRAME) || !cursor_move(t, &t->write, TMC_FRAME, &wrapped)) {
        fail(t);
        return;
    }
    t->unread += TMC_FRAME;
    if (t->unread > t->size) t->unread = t->size;
    if (t->mode == TMC_CIRCULAR) t->full |= wrapped;
}

static bool accepts(const trace_component *component, unsigned input) {
    const tmc *t = (const tmc *)component;
    (void)input;
    return t->capturing && !t->stopped;
}

/* A software FIFO that is full takes nothing: the ATB stalls. */
static bool has_room(const tmc *t) {
    return t->mode != TMC_SOFTWARE_FIFO || t->size - t->unread >= FIFO_ROOM;
}

static void pass(trace_component *component) {
    tmc *t = self(component);
    message_queue *queue = &component->inputs[0];
    uint8_t bytes[QUEUE_MESSAGE_MAX];
    uint32_t size;
    while (accepts(component, 0) && has_room(t) && (size = component_peek(component, 0, bytes)) > 0) {
        const uint8_t id = queue_id(queue);
        if (t->mode == TMC_HARDWARE_FIFO) {
            if (!component_send(component, id, bytes, size)) return;
        } else {
            for (uint32_t i = 0; i < size; i++) formatter_put(&t->formatter, id, bytes[i], store_frame, t);
        }
        if (t->failed) return;
        component_spend(component, size);
        queue_pop(queue);
    }
}

static void begin(tmc *t) {
    t->mode = GET(&t->base.page, TMC_MODE_VALUE);
    t->size = (uint64_t)GET(&t->base.page, TMC_SIZE_WORDS) * TMC_WORD / TMC_FRAME * TMC_FRAME;
    t->capturing = t->base.enabled = true;
    t->stopped = t->full = t->failed = t->flushing = false;
    t->unread = 0;
    formatter_reset(&t->formatter);
    if (t->mode == TMC_HARDWARE_FIFO) return;
    if (!t->size || !cursor_begin(t, &t->write)) fail(t);
    t->read = t->write;
}

static void stop(tmc *t) {
    t->stopped = true;
    t->base.enabled = false;
    if (t->mode == TMC_CIRCULAR && t->full) t->read = t->write; /* the oldest frame */
}

/* Without a flush, what is in the formatter and in the queue is lost. */
static void end(tmc *t) {
    if (!t->stopped) stop(t);
    if (!formatter_empty(&t->formatter)) component_lose(&t->base, t->formatter.at);
    formatter_reset(&t->formatter);
    component_discard(&t->base);
    t->capturing = t->flushing = false;
}

/* ---- flush */

/* Returns whether a component before this one holds trace that can still arrive. */
static bool more_comes(const trace_component *to) {
    const ntr_system *system = to->system;
    for (size_t i = 0; i < system->count; i++) {
        const trace_component *from = system->components[i];
        for (size_t k = 0; k < from->output_count; k++) {
            const output_link *link = &from->outputs[k];
            if (link->to != to || (to->ops->accepts && !to->ops->accepts(to, link->input))) continue;
            if (from->ops->kind == NTR_COMPONENT_ENCODER) continue;
            if ((from->enabled && !component_empty(from)) || more_comes(from)) return true;
        }
    }
    return false;
}

/* A software FIFO without room, and a hardware FIFO whose receiver takes nothing, do not complete a flush. */
static void complete_flush(tmc *t) {
    if (!t->flushing) return;
    if (!t->stopped) {
        component_pump(&t->base);
        if (!queue_empty(&t->base.inputs[0]) || more_comes(&t->base)) return;
        if (t->mode != TMC_HARDWARE_FIFO) formatter_flush(&t->formatter, store_frame, t);
    }
    t->flushing = false;
    if (GET(&t->base.page, TMC_STOP_ON_FLUSH) && !t->stopped) stop(t);
}

static void tick(trace_component *component) {
    complete_flush(self(component));
}

/* ---- registers */

static void show_pointer(register_page *page, ntr_bits low, ntr_bits high, uint64_t address) {
    page_put(page, low, (uint32_t)address);
    page_put(page, high, (uint32_t)(address >> 32));
}

static void refresh(tmc *t) {
    register_page *page = &t->base.page;
    complete_flush(t);
    const bool ready = !t->capturing || t->stopped;
    const bool follows = !ready && t->full; /* the read pointer stays at the oldest frame */
    PUT(page, TMC_FULL, t->full || (t->capturing && t->mode != TMC_CIRCULAR && !has_room(t)));
    PUT(page, TMC_READY, ready);
    PUT(page, TMC_FT_EMPTY, formatter_empty(&t->formatter));
    PUT(page, TMC_EMPTY, !t->unread);
    PUT(page, TMC_MEM_ERR, t->failed);
    PUT(page, TMC_CAPTURE, t->capturing);
    PUT(page, TMC_LEVEL_WORDS, t->unread / TMC_WORD);
    PUT(page, TMC_LATCHED_WORDS, t->unread / TMC_WORD);
    PUT(page, TMC_FL_IN_PROGRESS, t->flushing);
    PUT(page, TMC_FT_STOPPED, ready);
    PUT(page, TMC_FLUSH, t->flushing);
    if (!t->capturing && t->mode == TMC_HARDWARE_FIFO) return;
    show_pointer(page, NTR_BITS_TMC_RRP_LOW, NTR_BITS_TMC_RRP_HIGH, follows ? t->write.address : t->read.address);
    show_pointer(page, NTR_BITS_TMC_RWP_LOW, NTR_BITS_TMC_RWP_HIGH, t->write.address);
}

/* A circular buffer is read after capture has stopped, and before tmcTraceCaptEn is cleared. */
static uint32_t read_data(tmc *t) {
    uint8_t bytes[TMC_WORD];
    bool wrapped = false;
    const bool readable = t->capturing && (t->stopped || t->mode == TMC_SOFTWARE_FIFO);
    if (!readable || t->unread < TMC_WORD || !read_bytes(t, t->read.address, bytes, sizeof bytes))
        return (uint32_t)NO_DATA;
    t->unread -= TMC_WORD;
    if (!cursor_move(t, &t->read, TMC_WORD, &wrapped)) t->unread = 0;
    component_pump(&t->base);
    return ntr_little_32(bytes);
}

static uint32_t load(trace_component *component, ntr_register reg) {
    tmc *t = self(component);
    uint32_t word;
    if (coresight_load(component, &t->part, reg, &word)) return word;
    if (reg == NTR_REGISTER_TMC_RRD) return read_data(t);
    refresh(t);
    return page_read(&component->page, ntr_register_get(reg)->offset);
}

static void store_control(tmc *t, uint32_t word) {
    const bool wants = word & NTR_TMC_CAPTURE_MASK;
    if (wants && !t->capturing) begin(t);
    if (!wants && t->capturing) end(t);
}

/* While capture runs, only the registers that stop it can be written. */
static void store(trace_component *component, ntr_register reg, uint32_t word) {
    tmc *t = self(component);
    if (coresight_store(component, &t->part, reg, word)) return;
    refresh(t);
    if (reg == NTR_REGISTER_TMC_CTL) {
        store_control(t, word);
    } else if (reg == NTR_REGISTER_TMC_FFCR) {
        page_write(&component->page, reg, 0, word);
        t->flushing = t->capturing && (t->flushing || (word & NTR_TMC_FLUSH_MASK));
    } else if (!t->capturing) {
        page_write(&component->page, reg, 0, word);
    }
}

const component_ops ntr_tmc_component = {
    .kind = NTR_COMPONENT_TMC,
    .size = sizeof(tmc),
    .rules = rules,
    .start = start,
    .release = release,
    .pass = pass,
    .tick = tick,
    .accepts = accepts,
    .load = load,
    .store = store,
};
