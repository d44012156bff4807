/* RAM sink: stores trace in dedicated memory or in system memory (Trace Control section 6). */
#include "base/bytes.h"
#include "system/component.h"
#include "system/system.h"

#include "base/allocator.h"

#include <string.h>

enum { MODE_SRAM = 0, MODE_SMEM = 1, WORD = 4, RAM_ACCESS_MAX = 64, IDLE_BYTE = 0xff };

typedef enum ram_pointer { START, LIMIT, WP, RP, POINTERS } ram_pointer;

typedef struct ram_sink {
    trace_component base;
    uint32_t mode;
    uint64_t at[POINTERS];
    bool wrapped;
    uint8_t word[RAM_ACCESS_MAX]; /* the current, incomplete write */
    uint32_t word_size;       /* number of bytes in `word` */
    bool full;                /* stopped on wrap */
    uint8_t *sram;
} ram_sink;

static ram_sink *self(trace_component *component) {
    return (ram_sink *)component;
}

static uint64_t access_of(const trace_component *component) {
    return OPTION(&component->options, ACCESS);
}

/* ---- addresses: pairs of registers */

static const struct {
    ntr_bits low, high;
} pointer_bits[POINTERS] = {
    [START] = {NTR_BITS_RAM_START, NTR_BITS_RAM_START_63_32},
    [LIMIT] = {NTR_BITS_RAM_LIMIT, NTR_BITS_RAM_LIMIT_63_32},
    [WP] = {NTR_BITS_RAM_WP, NTR_BITS_RAM_WP_63_32},
    [RP] = {NTR_BITS_RAM_RP, NTR_BITS_RAM_RP_63_32},
};

static void show_pointers(ram_sink *sink) {
    for (unsigned which = 0; which < POINTERS; which++) {
        page_put(&sink->base.page, pointer_bits[which].low, (uint32_t)(sink->at[which] & UINT32_MAX) >> 2);
        page_put(&sink->base.page, pointer_bits[which].high, (uint32_t)(sink->at[which] >> 32));
    }
    PUT(&sink->base.page, RAM_WRAP, sink->wrapped);
}

static uint64_t written_pointer(const ram_sink *sink, ram_pointer which) {
    return (uint64_t)page_get(&sink->base.page, pointer_bits[which].low) << 2 |
           (uint64_t)page_get(&sink->base.page, pointer_bits[which].high) << 32;
}

/* The legal values of a pointer: first, first + align, .. last. */
typedef struct pointer_range {
    uint64_t first, last, align;
} pointer_range;

static uint64_t highest_address(const option_values *o) {
    const uint64_t bits = OPTION(o, ADDRESS_BITS);
    return bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
}

/* Returns the range of words that a buffer may use. */
static pointer_range words_of(const ram_sink *sink) {
    const option_values *o = &sink->base.options;
    const uint64_t access = OPTION(o, ACCESS), fixed = OPTION(o, SMEM_START);
    if (sink->mode == MODE_SRAM) return (pointer_range){0, OPTION(o, SRAM) - access, access};
    if (fixed != OPTION_NONE) return (pointer_range){fixed, fixed + OPTION(o, SMEM_SIZE) - access, access};
    return (pointer_range){0, highest_address(o) & ~(access - 1), access};
}

static bool can_be_read(const ram_sink *sink) {
    return sink->mode == MODE_SRAM || OPTION(&sink->base.options, SMEM_READ);
}

static pointer_range range_of(const ram_sink *sink, ram_pointer which) {
    const option_values *o = &sink->base.options;
    const pointer_range words = words_of(sink);
    const bool start_fixed = sink->mode == MODE_SRAM || OPTION(o, SMEM_START) != OPTION_NONE;
    switch (which) {
    case START:
        if (start_fixed) return (pointer_range){words.first, words.first, words.align};
        return (pointer_range){0, highest_address(o) & ~(OPTION(o, START_ALIGN) - 1), OPTION(o, START_ALIGN)};
    case LIMIT: return OPTION(o, LIMIT_FIXED) ? (pointer_range){words.last, words.last, words.align} : words;
    case RP:
        return can_be_read(sink) ? (pointer_range){words.first, words.last + words.align - WORD, WORD}
                                 : (pointer_range){0, 0, WORD};
    default: return words;
    }
}

static uint32_t clamp(uint32_t value, uint32_t first, uint32_t last) {
    return value < first ? first : value > last ? last : value;
}

/* Limits each half of the address separately, because software writes the halves one after the other. */
static uint64_t legal_pointer(const ram_sink *sink, ram_pointer which, uint64_t written) {
    const pointer_range range = range_of(sink, which);
    const uint64_t address = written & ~(range.align - 1);
    const uint32_t first_high = (uint32_t)(range.first >> 32), last_high = (uint32_t)(range.last >> 32);
    const uint32_t high = clamp((uint32_t)(address >> 32), first_high, last_high);
    uint32_t low = (uint32_t)address;
    if (first_high == last_high) low = clamp(low, (uint32_t)range.first, (uint32_t)range.last);
    return (uint64_t)high << 32 | low;
}

static void take_pointer(ram_sink *sink, ram_pointer which) {
    sink->at[which] = legal_pointer(sink, which, written_pointer(sink, which));
}

/* Sets the mode and the pointers: the largest buffer of the mode, empty. */
static void set_mode(ram_sink *sink, uint32_t mode) {
    sink->mode = mode;
    PUT(&sink->base.page, RAM_MODE, mode);
    for (unsigned which = 0; which < POINTERS; which++) sink->at[which] = range_of(sink, (ram_pointer)which).first;
    sink->at[LIMIT] = range_of(sink, LIMIT).last;
    sink->wrapped = false;
}

/* ---- creation and state */

static uint32_t first_mode(const trace_component *component) {
    return OPTION(&component->options, SRAM) ? MODE_SRAM : MODE_SMEM;
}

static void rules(trace_component *component) {
    const option_values *o = &component->options;
    register_page *page = &component->page;
    const uint32_t modes = (OPTION(o, SRAM) ? 1u << MODE_SRAM : 0) | (OPTION(o, SMEM) ? 1u << MODE_SMEM : 0);
    const bool readable = OPTION(o, SRAM) || OPTION(o, SMEM_READ);
    page_fix(page, NTR_BITS_RAM_HAS_SRAM, OPTION(o, SRAM) != 0);
    page_fix(page, NTR_BITS_RAM_HAS_SMEM, OPTION(o, SMEM) != 0);
    page_choose(page, NTR_BITS_RAM_MODE, modes, first_mode(component));
    page_flag(page, NTR_BITS_RAM_STOP_ON_WRAP, OPTION(o, STOP_ON_WRAP));
    page_flag(page, NTR_BITS_RAM_WRAP, true);
    for (unsigned which = 0; which < (readable ? POINTERS : RP); which++) {
        page_flag(page, pointer_bits[which].low, true);
        page_flag(page, pointer_bits[which].high, true);
    }
    page_flag(page, NTR_BITS_RAM_DATA_WORD, readable);
}

static ntr_status start(trace_component *component) {
    const uint64_t size = OPTION(&component->options, SRAM);
    if (!size) return NTR_OK;
    self(component)->sram = ntr_alloc(component->config->allocator, (size_t)size, 1);
    return self(component)->sram ? NTR_OK : NTR_E_MEMORY;
}

static void release(trace_component *component) {
    ntr_dealloc(component->config->allocator, self(component)->sram);
}

static void reset(trace_component *component) {
    self(component)->word_size = 0;
    self(component)->full = false;
}

static void after_reset(trace_component *component) {
    set_mode(self(component), first_mode(component));
}

static bool busy(const trace_component *component) {
    return ((const ram_sink *)component)->word_size != 0;
}

static bool an_encoder_runs(const ntr_system *system) {
    for (size_t i = 0; i < system->count; i++)
        if (system->components[i]->ops->kind == NTR_COMPONENT_ENCODER && system->components[i]->enabled) return true;
    return false;
}

/* A full sink accepts no messages, so that encoders lose messages or stall. When they have been disabled, it takes what
 * they still hold and counts it as lost, so that trTeEmpty becomes 1. */
static bool discards(const trace_component *component, unsigned input) {
    (void)input;
    return ((const ram_sink *)component)->full && !an_encoder_runs(component->system);
}

/* ---- memory */

static bool write_memory(ram_sink *sink, uint64_t address, const uint8_t *bytes, size_t size) {
    const ntr_system_config *config = sink->base.config;
    if (sink->mode == MODE_SMEM)
        return config->memory_write && config->memory_write(config->user, address, bytes, size);
    memcpy(sink->sram + address, bytes, size);
    return true;
}

static uint32_t read_memory(ram_sink *sink, uint64_t address) {
    const ntr_system_config *config = sink->base.config;
    uint8_t bytes[WORD] = {0};
    if (sink->mode == MODE_SRAM)
        memcpy(bytes, sink->sram + address, sizeof bytes);
    else if (config->memory_read && !config->memory_read(config->user, address, bytes, sizeof bytes))
        return 0;
    return ntr_little_32(bytes);
}

/* trRamStopOnWrap: the buffer is full. WP is at Start, trRamWrap is 1 (TC-3), and further messages are discarded. */
static void stop(ram_sink *sink) {
    sink->full = true;
    sink->base.enabled = false;
    component_discard(&sink->base);
}

static void store_word(ram_sink *sink) {
    if (!write_memory(sink, sink->at[WP], sink->word, sink->word_size)) component_lose(&sink->base, sink->word_size);
    sink->word_size = 0;
    if (sink->at[WP] < sink->at[LIMIT]) {
        sink->at[WP] += access_of(&sink->base);
        return;
    }
    sink->at[WP] = sink->at[START];
    sink->wrapped = true;
    if (GET(&sink->base.page, RAM_STOP_ON_WRAP)) stop(sink);
}

static void put_byte(ram_sink *sink, uint8_t byte) {
    sink->word[sink->word_size++] = byte;
    if (sink->word_size == access_of(&sink->base)) store_word(sink);
}

/* ---- messages */

/* Stores the oldest message. When the buffer becomes full inside the message, the beginning is kept. */
static void store_message(ram_sink *sink, const uint8_t *bytes, uint32_t size) {
    queue_pop(&sink->base.inputs[0]);
    for (uint32_t i = 0; i < size; i++) {
        if (sink->full) {
            component_lose(&sink->base, size - i);
            return;
        }
        put_byte(sink, bytes[i]);
    }
}

/* Stores the queued messages. A disabled sink also completes its last word. */
static void pass(trace_component *component) {
    ram_sink *sink = self(component);
    uint8_t bytes[QUEUE_MESSAGE_MAX];
    for (uint32_t size; (size = component_peek(component, 0, bytes)) > 0;) {
        component_spend(component, size);
        store_message(sink, bytes, size);
    }
    while (!component->enabled && sink->word_size) put_byte(sink, IDLE_BYTE);
}

/* Refuses inconsistent pointers: Enable then reads back 0. */
static void enable(trace_component *component) {
    ram_sink *sink = self(component);
    const pointer_range words = words_of(sink);
    component->enabled = sink->at[START] <= sink->at[WP] && sink->at[WP] <= sink->at[LIMIT] &&
                         sink->at[START] >= words.first && sink->at[LIMIT] <= words.last;
    sink->full = false;
}

/* ---- registers */

static bool is_busy(const trace_component *component) {
    return component->enabled || !component_empty(component);
}

static bool may_read(const trace_component *component) {
    return can_be_read((const ram_sink *)component) &&
           (!is_busy(component) || OPTION(&component->options, READ_ACTIVE));
}

static bool may_write(const trace_component *component, ntr_register reg) {
    switch (reg) {
    case NTR_REGISTER_RAM_START_LOW:
    case NTR_REGISTER_RAM_START_HIGH:
    case NTR_REGISTER_RAM_LIMIT_LOW:
    case NTR_REGISTER_RAM_LIMIT_HIGH:
    case NTR_REGISTER_RAM_WP_LOW:
    case NTR_REGISTER_RAM_WP_HIGH: return !is_busy(component);
    case NTR_REGISTER_RAM_RP_LOW:
    case NTR_REGISTER_RAM_RP_HIGH:
    case NTR_REGISTER_RAM_DATA: return may_read(component);
    default: return true;
    }
}

static void refresh(trace_component *component, ntr_register reg) {
    ram_sink *sink = self(component);
    show_pointers(sink);
    if (reg == NTR_REGISTER_RAM_DATA)
        PUT(&component->page, RAM_DATA_WORD, may_read(component) ? read_memory(sink, sink->at[RP]) : 0);
}

static void advance_rp(ram_sink *sink) {
    const uint64_t last = sink->at[LIMIT] + access_of(&sink->base) - WORD;
    sink->at[RP] = legal_pointer(sink, RP, sink->at[RP] == last ? sink->at[START] : sink->at[RP] + WORD);
}

static void after_read(trace_component *component, ntr_register reg) {
    if (reg == NTR_REGISTER_RAM_DATA && may_read(component)) advance_rp(self(component));
}

static void wrote_data(ram_sink *sink, uint32_t word) {
    const uint8_t bytes[WORD] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    write_memory(sink, sink->at[RP], bytes, sizeof bytes);
    advance_rp(sink);
}

/* The mode of an enabled or busy sink does not change. */
static void wrote_control(ram_sink *sink) {
    const uint32_t mode = GET(&sink->base.page, RAM_MODE);
    if (mode == sink->mode) return;
    if (is_busy(&sink->base))
        PUT(&sink->base.page, RAM_MODE, sink->mode);
    else
        set_mode(sink, mode);
}

static void wrote(trace_component *component, ntr_register reg, unsigned number, uint32_t word) {
    ram_sink *sink = self(component);
    (void)number;
    switch (reg) {
    case NTR_REGISTER_RAM_CONTROL: wrote_control(sink); break;
    case NTR_REGISTER_RAM_START_LOW:
    case NTR_REGISTER_RAM_START_HIGH: take_pointer(sink, START); break;
    case NTR_REGISTER_RAM_LIMIT_LOW:
    case NTR_REGISTER_RAM_LIMIT_HIGH: take_pointer(sink, LIMIT); break;
    case NTR_REGISTER_RAM_WP_LOW:
        sink->wrapped = GET(&component->page, RAM_WRAP);
        take_pointer(sink, WP);
        break;
    case NTR_REGISTER_RAM_WP_HIGH: take_pointer(sink, WP); break;
    case NTR_REGISTER_RAM_RP_LOW:
    case NTR_REGISTER_RAM_RP_HIGH: take_pointer(sink, RP); break;
    case NTR_REGISTER_RAM_DATA: wrote_data(sink, word); break;
    default: break;
    }
}

const component_ops ntr_ram_component = {
    .kind = NTR_COMPONENT_RAM,
    .size = sizeof(ram_sink),
    .rules = rules,
    .start = start,
    .release = release,
    .reset = reset,
    .after_reset = after_reset,
    .enable = enable,
    .pass = pass,
    .busy = busy,
    .discards = discards,
    .refresh = refresh,
    .read = after_read,
    .may_write = may_write,
    .wrote = wrote,
};
