#include "base/bytes.h"
#include "analysis/code_marks.h"
#include "base/allocator.h"
#include "isa/switching.h"

#include <string.h>

enum { PAGE_SIZE_BITS = 12, HALFWORDS = 2048, BITMAP_WORDS = HALFWORDS / 64, PAGES_MOST = 1 << 16 };
enum { UNMARKED_BITS = 11, UNMARKED = 1 << UNMARKED_BITS };

/* What is known about a page, while its code stays the same. Bits are those of halfwords. */
typedef struct mark_page {
    uint64_t key;
    ntr_validity valid;
    uint64_t scanned[BITMAP_WORDS], starts[BITMAP_WORDS],
        marked[BITMAP_WORDS]; /* looked at; begin of an instruction; ... that matters */
    struct page_mark {
        uint16_t at; /* halfword */
        uint8_t action;
        int16_t value;
    } *marks;
    size_t count, capacity;
} mark_page;

/* A span without marks. */
typedef struct plain_span {
    uint64_t address;
    uint64_t shape; /* shape_of; 0: none */
    ntr_validity valid;
} plain_span;

struct ntr_code_marks {
    const ntr_allocator *allocator;
    const ntr_program *program;
    mark_page **slots; /* hash table by key, open addressing */
    size_t slot_count, count;
    mark_page *last;
    plain_span plain[UNMARKED]; /* by a hash of the address */
};

/* ---- pages */

static uint64_t key_of(uint64_t address, uint8_t prv) {
    return (address >> PAGE_SIZE_BITS) << 2 | prv;
}

static size_t slot_of(const ntr_code_marks *c, uint64_t key) {
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (c->slot_count - 1);
    while (c->slots[at] && c->slots[at]->key != key) at = (at + 1) & (c->slot_count - 1);
    return at;
}

static void release_pages(ntr_code_marks *c) {
    for (size_t i = 0; i < c->slot_count; i++) {
        if (c->slots[i]) ntr_dealloc(c->allocator, c->slots[i]->marks);
        ntr_dealloc(c->allocator, c->slots[i]);
        c->slots[i] = NULL;
    }
    c->count = 0;
    c->last = NULL;
}

static bool is_valid(const ntr_validity *valid, uint64_t position) {
    return position >= valid->from && position <= valid->last;
}

/* Forgets what the page had: at this place it has other code. */
static void begin_page(const ntr_code_marks *c, mark_page *page, const ntr_event *span, uint64_t address) {
    const uint64_t low = address >> PAGE_SIZE_BITS << PAGE_SIZE_BITS;
    memset(page->scanned, 0, sizeof page->scanned);
    memset(page->starts, 0, sizeof page->starts);
    memset(page->marked, 0, sizeof page->marked);
    page->count = 0;
    page->valid = ntr_program_validity(c->program, ntr_event_place(span, low), low + 2 * HALFWORDS - 1);
}

/* Returns NULL when out of memory. */
static mark_page *page_of(ntr_code_marks *c, const ntr_event *span, uint64_t address) {
    const uint64_t key = key_of(address, span->context.prv);
    if (c->last && c->last->key == key && is_valid(&c->last->valid, span->offset)) return c->last;
    size_t at = slot_of(c, key);
    if (!c->slots[at]) {
        if (c->count == PAGES_MOST) release_pages(c);
        at = slot_of(c, key);
        c->slots[at] = ntr_alloc(c->allocator, 1, sizeof(mark_page));
        if (!c->slots[at]) return NULL;
        c->slots[at]->key = key;
        c->count++;
        begin_page(c, c->slots[at], span, address);
    } else if (!is_valid(&c->slots[at]->valid, span->offset)) {
        begin_page(c, c->slots[at], span, address);
    }
    return c->last = c->slots[at];
}

static unsigned halfword_of(uint64_t address) {
    return (unsigned)(address >> 1) & (HALFWORDS - 1);
}

static bool test(const uint64_t *bits, unsigned at) {
    return bits[at / 64] >> (at % 64) & 1;
}

static void set(uint64_t *bits, unsigned at) {
    bits[at / 64] |= UINT64_C(1) << (at % 64);
}

/* The bits of word `word` that are in [first, end). */
static uint64_t part(unsigned word, unsigned first, unsigned end) {
    uint64_t mask = ~UINT64_C(0);
    if (first > word * 64) mask &= ~UINT64_C(0) << (first - word * 64);
    if (end < word * 64 + 64) mask &= ~(~UINT64_C(0) << (end - word * 64));
    return mask;
}

/* ---- code */

/* The instructions in front of an address, nearest first, as far as they are in its page and have been executed. */
static size_t read_before(const ntr_code_marks *c, const mark_page *page, const ntr_event *span, uint64_t address,
                          uint32_t words[MASK_CODE_BEFORE]) {
    size_t count = 0;
    unsigned at = halfword_of(address);
    while (count < MASK_CODE_BEFORE && at) {
        const unsigned size = test(page->starts, at - 1) ? 1 : at > 1 && test(page->starts, at - 2) ? 2 : 0;
        uint8_t bytes[4] = {0};
        if (!size) break;
        at -= size;
        const uint64_t here = (address & ~(uint64_t)(HALFWORDS * 2 - 1)) + 2 * (uint64_t)at;
        if (ntr_program_read(c->program, ntr_place_at(&span->context, span->offset, here), bytes, 2 * size) < 2 * size)
            break;
        words[count++] = ntr_little_32(bytes);
    }
    return count;
}

static bool look_at(ntr_code_marks *c, mark_page *page, const ntr_event *span, uint64_t address, uint32_t word) {
    uint32_t before[MASK_CODE_BEFORE];
    mask_code found;
    if (!ntr_insn_may_switch(word)) return true;
    const size_t count = read_before(c, page, span, address, before);
    const bool narrow = ntr_program_xlen(c->program) == 32;
    if (!ntr_mask_code(word, before, count, span->context.prv == 3, narrow, &found)) return true;
    if (ntr_reserve(c->allocator, (void **)&page->marks, &page->capacity, page->count + 1, sizeof *page->marks))
        return false;
    const unsigned at = halfword_of(address);
    page->marks[page->count++] = (struct page_mark){(uint16_t)at, found.action, found.value};
    set(page->marked, at);
    return true;
}

/* Looks at the code of a span. */
static bool scan(ntr_code_marks *c, const ntr_event *span) {
    const uint64_t end = span->address + 2 * (uint64_t)span->halfwords;
    for (uint64_t at = span->address; at < end;) {
        uint8_t bytes[4] = {0};
        mark_page *page = page_of(c, span, at);
        if (!page) return false;
        const size_t got = ntr_program_read(c->program, ntr_place_at(&span->context, span->offset, at), bytes, 4);
        const unsigned size = mask_code_is_short(bytes[0]) ? 2 : 4;
        const uint32_t word = (uint32_t)ntr_little(bytes, size);
        if (!test(page->scanned, halfword_of(at)) && got >= size && !look_at(c, page, span, at, word)) return false;
        set(page->scanned, halfword_of(at));
        set(page->starts, halfword_of(at));
        if (size == 4 && at + 2 < end) {
            mark_page *next = page_of(c, span, at + 2);
            if (!next) return false;
            set(next->scanned, halfword_of(at + 2));
        }
        at += size;
    }
    return true;
}

/* ---- spans */

enum marks_state { NO_MARKS, HAS_MARKS, NOT_SCANNED };

static enum marks_state state_of(const mark_page *page, unsigned first, unsigned end) {
    enum marks_state state = NO_MARKS;
    for (unsigned word = first / 64; word * 64 < end; word++) {
        const uint64_t mask = part(word, first, end);
        if (~page->scanned[word] & mask) return NOT_SCANNED;
        if (page->marked[word] & mask) state = HAS_MARKS;
    }
    return state;
}

static unsigned count_starts(const mark_page *page, unsigned first, unsigned end) {
    unsigned count = 0;
    for (unsigned word = first / 64; word * 64 < end; word++)
        count += (unsigned)__builtin_popcountll(page->starts[word] & part(word, first, end));
    return count;
}

static const struct page_mark *mark_at(const mark_page *page, unsigned at) {
    for (size_t i = 0; i < page->count; i++)
        if (page->marks[i].at == at) return &page->marks[i];
    return NULL;
}

/* Calls `take` for the marks in a part of a page, of which `before` instructions of the span are in front. */
static void take_part(const mark_page *page, uint64_t address, unsigned first, unsigned end, uint32_t before,
                      ntr_code_mark_take take, void *user) {
    for (unsigned at = first; at < end; at++) {
        const struct page_mark *mark = test(page->marked, at) ? mark_at(page, at) : NULL;
        if (!mark) continue;
        const ntr_code_mark found = {.address = address + 2 * (uint64_t)(at - first),
                                     .action = mark->action,
                                     .value = mark->value,
                                     .instructions = before + count_starts(page, first, at + 1)};
        take(user, &found);
    }
}

/* A part of the span that is in one page. */
typedef struct span_part {
    const mark_page *page;
    uint64_t at;
    unsigned first, end, left; /* halfwords of the page; those of the span from `first` */
} span_part;

/* Returns false when out of memory; part->left is 0 after the last one. */
static bool get_part(ntr_code_marks *c, const ntr_event *span, span_part *part) {
    if (!part->left) return true;
    part->first = halfword_of(part->at);
    part->end = part->left < HALFWORDS - part->first ? part->first + part->left : HALFWORDS;
    part->page = page_of(c, span, part->at);
    return part->page;
}

static bool next_part(ntr_code_marks *c, const ntr_event *span, span_part *part) {
    part->at += 2 * (uint64_t)(part->end - part->first);
    part->left -= part->end - part->first;
    return get_part(c, span, part);
}

/* What the code of a span has: *valid are the stream offsets at which it has the same. */
static bool look_over(ntr_code_marks *c, const ntr_event *span, bool *plain, uint32_t *instructions,
                      ntr_validity *valid) {
    span_part part = {.at = span->address, .left = span->halfwords};
    bool scanned = false;
    if (!get_part(c, span, &part)) return false;
    while (part.left) {
        const enum marks_state state = state_of(part.page, part.first, part.end);
        if (state == NOT_SCANNED && !scanned) {
            if (!scan(c, span)) return false;
            scanned = true;
            continue;
        }
        *plain &= state == NO_MARKS;
        *instructions += count_starts(part.page, part.first, part.end);
        if (part.page->valid.from > valid->from) valid->from = part.page->valid.from;
        if (part.page->valid.last < valid->last) valid->last = part.page->valid.last;
        if (!next_part(c, span, &part)) return false;
    }
    return true;
}

/* Calls `take` for the marks of the span, whose code has `instructions`: joined instructions are before these. */
static bool take_marks(ntr_code_marks *c, const ntr_event *span, uint32_t instructions, ntr_code_mark_take take,
                       void *user) {
    span_part part = {.at = span->address, .left = span->halfwords};
    uint32_t before = span->instructions > instructions ? span->instructions - instructions : 0;
    if (!get_part(c, span, &part)) return false;
    while (part.left) {
        take_part(part.page, part.at, part.first, part.end, before, take, user);
        before += count_starts(part.page, part.first, part.end);
        if (!next_part(c, span, &part)) return false;
    }
    return true;
}

static uint64_t shape_of(const ntr_event *span) {
    return (uint64_t)span->halfwords << 8 | span->context.prv;
}

bool ntr_code_marks_span(ntr_code_marks *c, const ntr_event *span, ntr_code_mark_take take, void *user) {
    plain_span *known = &c->plain[(span->address >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - UNMARKED_BITS)];
    const uint64_t shape = shape_of(span);
    if (known->address == span->address && known->shape == shape && is_valid(&known->valid, span->offset)) return true;
    ntr_validity valid = {0, UINT64_MAX};
    bool plain = true;
    uint32_t instructions = 0;
    if (!look_over(c, span, &plain, &instructions, &valid)) return false;
    if (!plain) return take_marks(c, span, instructions, take, user);
    *known = (plain_span){span->address, shape, valid};
    return true;
}

ntr_code_marks *ntr_code_marks_new(const ntr_program *program, const ntr_allocator *allocator) {
    ntr_code_marks *c = ntr_alloc(allocator, 1, sizeof *c);
    if (!c) return NULL;
    c->allocator = allocator;
    c->program = program;
    c->slot_count = 2 * PAGES_MOST;
    c->slots = ntr_alloc(allocator, c->slot_count, sizeof(mark_page *));
    if (c->slots) return c;
    ntr_dealloc(allocator, c);
    return NULL;
}

void ntr_code_marks_free(ntr_code_marks *c) {
    if (!c) return;
    if (c->slots) release_pages(c);
    ntr_dealloc(c->allocator, c->slots);
    ntr_dealloc(c->allocator, c);
}
