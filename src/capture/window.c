#include "capture/window.h"
#include "capture/blocks.h"
#include "capture/hart.h"
#include "capture/machine.h"
#include "capture/run.h"

#include <string.h>

/* ---- places -------------------------------------------------------------------------------------------------------
 */

bool ntr_capture_window_find(struct ntr_capture_harts *harts, struct ntr_capture_place *place) {
    if (!place->name) return place->address_known;
    /* The files of a machine are known from the beginning; they are looked at once. */
    uint64_t maps = harts->machine ? 1 : atomic_load(&harts->channel->head.maps);

    if (maps != place->maps_seen) {
        place->maps_seen = maps;
        harts->window.find(harts->window.user, place);
    }
    return place->address_known;
}

static size_t address_count(const struct ntr_capture_place *place) {
    return place->count < NTR_CAPTURE_LOADS ? place->count : NTR_CAPTURE_LOADS;
}

/* Is it the code of the symbol, as far as the block has it? */
static bool is_code(const struct ntr_capture_place *place, const uint8_t *bytes, size_t size) {
    return memcmp(bytes, place->code, size < place->code_size ? size : place->code_size) == 0;
}

/* How many instructions of the block come before the place; false: it is not in the block. */
static bool find_in_block(const struct ntr_capture_harts *harts, uint32_t number, const struct ntr_capture_place *place,
                          unsigned *before) {
    const struct channel_block *block = ntr_capture_shared(harts, number);
    const uint8_t *bytes = harts->channel->code + block->code;
    uint64_t offset = block->size;

    *before = 0;
    for (size_t i = 0, count = address_count(place); i < count && offset >= block->size; i++) {
        offset = place->addresses[i] - block->address;
        if (offset < block->size && !is_code(place, bytes + offset, block->size - offset)) offset = block->size;
    }
    if (offset >= block->size) return false;
    for (uint64_t at = 0; at < offset; at += ntr_capture_length_at(bytes + at)) {
        ++*before;
        if (at + ntr_capture_length_at(bytes + at) > offset) return false;
    }
    return true;
}

/* The window closes behind `before` instructions of the last block. */
static void close_last(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, unsigned before) {
    ntr_capture_run_stop(harts, hart, ntr_capture_hart_complete_part(harts, hart, before));
    hart->last = hart->tail = 0;
    harts->window.state = NTR_CAPTURE_WINDOW_CLOSED;
}

/* ---- before it opens ----------------------------------------------------------------------------------------------
 */

static void open_at(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number, unsigned before) {
    harts->window.state = NTR_CAPTURE_WINDOW_OPEN;
    harts->window.skip = 0;
    hart->last = number;
    hart->tail = (uint16_t)before;
    hart->entry = 0;
}

/* The window has opened in the last block. Does it close in it? */
static bool closes_at_once(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    unsigned before = 0;

    if (!ntr_capture_window_stops_in(harts, hart->last)) return false;
    find_in_block(harts, hart->last, &harts->window.stop, &before);
    if (before <= hart->tail) return false;
    close_last(harts, hart, before);
    return true;
}

/* The block is executed `count` times. Returns how many times are left when the window has opened in it. */
static uint64_t count_block(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number,
                            uint64_t count) {
    struct ntr_capture_window *window = &harts->window;
    struct ntr_capture_block *block = ntr_capture_block_at(harts, hart, number);
    unsigned before = 0, start = 0;

    if (!block) return 0;
    unsigned instructions = block->code.instructions;
    uint64_t whole = instructions ? window->skip / instructions : 0;
    hart->passed = number;
    if (window->skip && (!instructions || whole >= count)) {
        window->skip -= instructions * count;
        return 0;
    }
    count -= whole;
    window->skip -= whole * instructions;
    before = (unsigned)window->skip;
    if (!window->start.given) {
        open_at(harts, hart, number, before);
        return closes_at_once(harts, hart) ? 0 : count - 1;
    }
    window->skip = 0;
    if (!ntr_capture_window_find(harts, &window->start) || !find_in_block(harts, number, &window->start, &start))
        return 0;
    if (start < before && --count == 0) return 0;
    open_at(harts, hart, number, start);
    return closes_at_once(harts, hart) ? 0 : count - 1;
}

/* A signal arrived in the last block: fewer of its instructions have retired than were counted. */
static void count_back(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart, uint32_t record) {
    unsigned retired = record & CHANNEL_ALL;
    const struct ntr_capture_block *block = hart->passed ? ntr_capture_block_at(harts, hart, hart->passed) : NULL;

    if (block && retired == CHANNEL_ALL && record & CHANNEL_ENTRY_FAULT && block->last_traps)
        retired = block->code.instructions - 1;
    if (block && harts->window.skip && retired < block->code.instructions)
        harts->window.skip += block->code.instructions - retired;
}

static void take_record(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t word) {
    hart->record[hart->fill++] = word;
    uint32_t kind = hart->record[0] & 0xff000000u;
    if (hart->fill < channel_record_words(hart->record[0])) return;
    hart->fill = 0;
    if (kind == CHANNEL_LOOP) {
        uint64_t count = (uint64_t)(hart->record[3] & ~(uint32_t)CHANNEL_RECORD) << 32 | hart->record[2];
        uint64_t left = count_block(harts, hart, hart->record[1], count);
        if (left && ntr_capture_window_stops_in(harts, hart->record[1]))
            ntr_capture_window_close(harts, hart, hart->record);
        else if (left)
            ntr_capture_hart_repeat(harts, hart, hart->record[1], left);
    } else if (kind == CHANNEL_ENTRY) {
        count_back(harts, hart, hart->record[0]);
    } else if (kind != CHANNEL_LOST) {
        ntr_capture_machine_pass(harts, hart);
    } else {
        hart->ended = harts->lost = true;
    }
}

/* ---- after it has closed ------------------------------------------------------------------------------------------
 */

/* Another hart has closed the window: the last block of this one is its last one. */
static void leave(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t word) {
    bool is_block = !(word & CHANNEL_RECORD);

    if (!hart->last) return;
    ntr_capture_hart_complete(harts, hart, is_block ? word : 0);
    ntr_capture_run_stop(harts, hart, is_block ? ntr_capture_shared(harts, word)->address : NTR_ADDRESS_UNKNOWN);
    hart->last = 0;
}

const uint32_t *ntr_capture_window_pass(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                                        const uint32_t *words, const uint32_t *end) {
    struct ntr_capture_window *window = &harts->window;

    for (; words < end && window->state == NTR_CAPTURE_WINDOW_WAITS && !hart->ended; words++) {
        if (hart->fill || *words & CHANNEL_RECORD)
            take_record(harts, hart, *words);
        else
            count_block(harts, hart, *words, 1);
    }
    if (window->state != NTR_CAPTURE_WINDOW_CLOSED) return words;
    if (words < end) leave(harts, hart, hart->fill ? CHANNEL_RECORD : *words);
    return end;
}

/* ---- while it is open ---------------------------------------------------------------------------------------------
 */

bool ntr_capture_window_stops_in(struct ntr_capture_harts *harts, uint32_t number) {
    struct ntr_capture_place *stop = &harts->window.stop;
    unsigned before;

    return stop->given && number && ntr_capture_window_find(harts, stop) && find_in_block(harts, number, stop, &before);
}

const uint32_t *ntr_capture_window_limit(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart,
                                         const uint32_t *words, const uint32_t *end) {
    if (hart->fill) words += channel_record_words(hart->record[0]) - hart->fill;
    while (words < end) {
        bool loop = (*words & 0xff000000u) == CHANNEL_LOOP;
        uint32_t number = loop ? words + 1 < end ? words[1] : 0 : *words & CHANNEL_RECORD ? 0 : *words;
        if (ntr_capture_window_stops_in(harts, number)) return words;
        words += *words & CHANNEL_RECORD ? channel_record_words(*words) : 1;
    }
    return end;
}

void ntr_capture_window_close(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const uint32_t *word) {
    uint32_t number = *word & CHANNEL_RECORD ? word[1] : *word;
    unsigned before = 0;

    ntr_capture_hart_begin(harts, hart, number);
    find_in_block(harts, number, &harts->window.stop, &before);
    close_last(harts, hart, before);
}

void ntr_capture_watch_begin(struct ntr_capture_harts *harts, const ntr_capture_config *config) {
    struct channel_head *head = &harts->channel->head;
    const char *name = config->access_symbol;

    head->accesses = config->accesses;
    head->access_object = name != NULL;
    head->access_first = name ? 0 : config->access_first;
    head->access_last = name ? UINT64_MAX : config->access_last;
    harts->watched = (struct ntr_capture_place){.given = name, .name = name};
}

/* The plugin records the accesses of the range that contains all places of the object. When it maps a file, it records
 * all accesses again; if it did so meanwhile, they stay. */
static void narrow(struct ntr_capture_harts *harts, const struct ntr_capture_place *object) {
    struct channel_head *head = &harts->channel->head;
    uint64_t first = UINT64_MAX, last = 0;

    for (size_t i = 0, count = address_count(object); i < count; i++) {
        if (object->addresses[i] < first) first = object->addresses[i];
        if (object->addresses[i] + object->size - 1 > last) last = object->addresses[i] + object->size - 1;
    }
    head->access_first = first;
    head->access_last = last;
    atomic_thread_fence(memory_order_seq_cst);
    if (harts->machine || atomic_load(&head->maps) == object->maps_seen) return;
    head->access_first = 0;
    head->access_last = UINT64_MAX;
}

bool ntr_capture_watch_find(struct ntr_capture_harts *harts) {
    struct ntr_capture_place *object = &harts->watched;
    const uint64_t seen = object->maps_seen;

    if (ntr_capture_window_find(harts, object) && object->maps_seen != seen && object->size) narrow(harts, object);
    return object->address_known && object->size;
}

bool ntr_capture_watches(struct ntr_capture_harts *harts, uint64_t address) {
    const struct ntr_capture_place *object = &harts->watched;

    if (!object->given) return true;
    if (!ntr_capture_watch_find(harts)) return false;
    for (size_t i = 0, count = address_count(object); i < count; i++)
        if (address - object->addresses[i] < object->size) return true;
    return false;
}
