#include "base/bytes.h"
#include "analysis/functions.h"
#include "analysis/sums.h"

#include "base/allocator.h"

#include <string.h>

/* A view of the address space: the functions found in one context (scontext, hcontext, prv, v). With more contexts than
 * VIEWS_MOST (processes come and go), the one that was used longest ago is forgotten. */
enum { VIEWS_MOST = 128 };
typedef struct address_view {
    ntr_context context;
    ntr_function_ranges ranges;
    uint64_t used; /* number of the last selection */
} address_view;

struct ntr_functions {
    ntr_function_roles known; /* first: ntr_functions_has_role reads it */
    ntr_debug_info *debug;
    const ntr_allocator *allocator;
    ntr_function *items;
    size_t count, capacity;
    uint32_t *slots; /* hash table of item numbers + 1, open addressing; 0: empty */
    size_t slot_count;
    address_view *views;
    size_t view_count, view_capacity, last_view;
    uint64_t selections; /* of a view */
    struct own_name *names; /* names of functions created by ntr_functions_named */
    ntr_function_place *places; /* of the first `count` items */
    size_t place_capacity;
    size_t role_capacity;
    const ntr_tasks *tasks;
    struct noted_mark *marks; /* of the first `mark_count` items */
    uint32_t *noted; /* numbers, in the order of look-up */
    size_t mark_count, mark_capacity, noted_count, noted_capacity;
    uint32_t note; /* number of the current note; 0: look-ups are not noted */
};

/* The function was looked up in a note, as its `index`-th. */
struct noted_mark {
    uint32_t note, index;
};

struct own_name {
    struct own_name *next;
    uint32_t number;
    char text[];
};

ntr_status ntr_functions_new(ntr_debug_info *debug, const ntr_allocator *allocator, ntr_functions **out) {
    *out = NULL;
    ntr_functions *f = ntr_alloc(allocator, 1, sizeof *f);
    if (!f) return NTR_E_MEMORY;
    f->debug = debug;
    f->allocator = allocator;
    *out = f;
    return NTR_OK;
}

ntr_functions *ntr_functions_copy_empty(const ntr_functions *f) {
    ntr_functions *copy;
    ntr_functions_new(f->debug, f->allocator, &copy);
    return copy;
}

const ntr_allocator *ntr_functions_allocator(const ntr_functions *f) {
    return f->allocator;
}

void ntr_functions_free(ntr_functions *f) {
    if (!f) return;
    for (size_t i = 0; i < f->view_count; i++) ntr_function_ranges_free(&f->views[i].ranges, f->allocator);
    for (struct own_name *name = f->names, *next; name; name = next) {
        next = name->next;
        ntr_dealloc(f->allocator, name);
    }
    ntr_dealloc(f->allocator, f->views);
    ntr_dealloc(f->allocator, f->places);
    ntr_dealloc(f->allocator, f->known.items);
    ntr_dealloc(f->allocator, f->marks);
    ntr_dealloc(f->allocator, f->noted);
    ntr_dealloc(f->allocator, f->slots);
    ntr_dealloc(f->allocator, f->items);
    ntr_dealloc(f->allocator, f);
}

static address_view *select_view(ntr_functions *f, size_t number) {
    f->last_view = number;
    f->views[number].used = ++f->selections;
    return &f->views[number];
}

/* Returns the number of a new view, or of one that is forgotten for it; SIZE_MAX: out of memory. */
static size_t new_view(ntr_functions *f) {
    size_t oldest = 0;
    if (f->view_count < VIEWS_MOST) {
        if (ntr_reserve(f->allocator, (void **)&f->views, &f->view_capacity, f->view_count + 1, sizeof *f->views))
            return SIZE_MAX;
        return f->view_count++;
    }
    for (size_t i = 1; i < f->view_count; i++)
        if (f->views[i].used < f->views[oldest].used) oldest = i;
    ntr_function_ranges_free(&f->views[oldest].ranges, f->allocator);
    return oldest;
}

static address_view *view_of(ntr_functions *f, const ntr_context *context) {
    static const ntr_context anywhere = NTR_CONTEXT_UNKNOWN;
    if (!context) context = &anywhere;
    if (f->last_view < f->view_count && ntr_context_equal(&f->views[f->last_view].context, context))
        return &f->views[f->last_view];
    for (size_t i = 0; i < f->view_count; i++)
        if (ntr_context_equal(&f->views[i].context, context)) return select_view(f, i);
    const size_t number = new_view(f);
    if (number == SIZE_MAX) return NULL;
    f->views[number] = (address_view){.context = *context};
    return select_view(f, number);
}

static const char unknown[] = "[unknown]";

static ntr_function_place place_of(ntr_place place) {
    static const ntr_context anywhere = NTR_CONTEXT_UNKNOWN;
    return (ntr_function_place){place.context ? *place.context : anywhere, place.address, place.position, NTR_NO_START,
                                false};
}

/* Describes the code at `address`. Invariant: all addresses of the range would be described as the same function, so
 * that the functions do not depend on the order of look-ups. [low, high) is the free space around the address. Code of
 * an image without a name is one function. Stores where the function is, as ntr_function_place, and what is known of
 * the range: all but its ends and its number. */
static ntr_function describe(ntr_functions *f, uint64_t low, uint64_t high, ntr_place place, ntr_function_range *range,
                             ntr_function_place *at) {
    const uint64_t address = place.address;
    ntr_frame frame = {0};
    ntr_function function = {.name = unknown, .low = low, .high = high};
    uint64_t first = low, last = high - 1, bias;
    *at = place_of(place);
    if (ntr_debug_info_function(f->debug, place, &frame) == NTR_OK) {
        function.name = frame.function;
        function.linkage = frame.linkage;
        function.file = frame.declared_in ? frame.declared_in : frame.file;
        function.line = frame.declared_line;
        bool inside = address >= frame.entry && address - frame.entry < frame.size;
        function.low = inside ? frame.entry : address; /* else: no size, or a separate part */
        function.high = inside ? frame.entry + frame.size : address + 2;
        if (!function.file && function.linkage && frame.size && ntr_debug_info_file_bias(f->debug, place, &bias)) {
            at->start = frame.entry - bias;
            at->address = frame.entry;
        }
    } else if (ntr_debug_info_frames(f->debug, place, &frame, 1) == 0) {
        frame.image = NULL;
    }
    function.image = frame.image;
    range->valid = ntr_debug_info_limit(f->debug, place, &first, &last);
    range->cut = function.low < first && function.linkage;
    if (function.low < first) function.low = first;
    if (function.high - 1 > last) function.high = last + 1;
    return function;
}

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_function(const ntr_function *a, const ntr_function *b) {
    return a->line == b->line && same_text(a->name, b->name) && same_text(a->linkage, b->linkage) &&
           same_text(a->image, b->image) && same_text(a->file, b->file);
}

static size_t hash(const ntr_function *function) {
    const uint64_t value = ntr_hash_text(NTR_HASH_START ^ function->line, function->name ? function->name : "");
    return (size_t)(value ^ value >> 32);
}

/* Returns the slot of an equal function, or the empty slot for it. */
static uint32_t *slot_of(const ntr_functions *f, const ntr_function *function, uint64_t start) {
    const size_t mask = f->slot_count - 1;
    size_t at = hash(function) & mask;
    for (; f->slots[at]; at = (at + 1) & mask) {
        const uint32_t number = f->slots[at] - 1;
        if (f->places[number].start == start && same_function(&f->items[number], function)) break;
    }
    return &f->slots[at];
}

static bool grow_slots(ntr_functions *f) {
    const size_t count = f->slot_count ? f->slot_count * 2 : 256;
    uint32_t *old = f->slots, *slots = ntr_alloc(f->allocator, count, sizeof *slots);
    const size_t old_count = f->slot_count;
    if (!slots) return false;
    f->slots = slots;
    f->slot_count = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i]) *slot_of(f, &f->items[old[i] - 1], f->places[old[i] - 1].start) = old[i];
    ntr_dealloc(f->allocator, old);
    return true;
}

static bool note_place(ntr_functions *f, const ntr_function_place *place) {
    if (ntr_reserve(f->allocator, (void **)&f->places, &f->place_capacity, f->count + 1, sizeof *f->places))
        return false;
    f->places[f->count] = *place;
    return true;
}

ntr_function_place ntr_functions_place(const ntr_functions *f, uint32_t number) {
    return f->places[number];
}

/* Returns the number of the function, or UINT32_MAX when out of memory. An equal function has the same number: a
 * function is found again by another part of its code, or in another context. All code without an image is one
 * function, which has no address: the place that is looked up first does not matter. */
static uint32_t number_of(ntr_functions *f, const ntr_function *function, const ntr_function_place *place) {
    if (f->count * 2 >= f->slot_count && !grow_slots(f)) return UINT32_MAX;
    uint32_t *slot = slot_of(f, function, place->start);
    if (*slot) return *slot - 1;
    if (ntr_reserve(f->allocator, (void **)&f->items, &f->capacity, f->count + 1, sizeof *f->items) ||
        !note_place(f, place))
        return UINT32_MAX;
    f->items[f->count] = *function;
    if (function->name == unknown && !function->image) f->items[f->count].low = f->items[f->count].high = 0;
    *slot = (uint32_t)++f->count;
    return *slot - 1;
}

/* ---- notes of the order of look-ups */

void ntr_functions_note(ntr_functions *f) {
    f->noted_count = 0;
    if (++f->note) return;
    if (f->mark_count) memset(f->marks, 0, f->mark_count * sizeof *f->marks);
    f->note = 1;
}

const uint32_t *ntr_functions_noted(const ntr_functions *f, size_t *count) {
    *count = f->noted_count;
    return f->noted;
}

uint32_t ntr_functions_note_index(const ntr_functions *f, uint32_t number) {
    return number < f->mark_count && f->marks[number].note == f->note ? f->marks[number].index : UINT32_MAX;
}

/* Returns the number, UINT32_MAX when out of memory. */
static uint32_t take_note(ntr_functions *f, uint32_t number) {
    if (!f->note || number >= f->count) return number;
    if (ntr_reserve(f->allocator, (void **)&f->marks, &f->mark_capacity, f->count, sizeof *f->marks) ||
        ntr_reserve(f->allocator, (void **)&f->noted, &f->noted_capacity, f->noted_count + 1, sizeof *f->noted))
        return UINT32_MAX;
    for (; f->mark_count < f->count; f->mark_count++) f->marks[f->mark_count] = (struct noted_mark){0};
    if (f->marks[number].note == f->note) return number;
    f->marks[number] = (struct noted_mark){f->note, (uint32_t)f->noted_count};
    f->noted[f->noted_count++] = number;
    return number;
}

/* ---- look-up */

static const ntr_function_range no_range = {.number = UINT32_MAX};

static ntr_function_range find_range(ntr_functions *f, ntr_place place) {
    address_view *v = view_of(f, place.context);
    uint64_t low, high;
    if (!v) return no_range;
    const ntr_function_range *known =
        ntr_function_ranges_find(&v->ranges, place.address, place.position, &low, &high, f->allocator);
    if (known) return *known;
    ntr_function_place at;
    ntr_function_range range;
    ntr_function function = describe(f, low, high, place, &range, &at);
    range.low = function.low;
    range.high = function.high;
    range.number = number_of(f, &function, &at);
    if (range.number == UINT32_MAX) return no_range;
    const ntr_function_range *added = ntr_function_ranges_add(&v->ranges, &range, f->allocator);
    return added ? *added : no_range;
}

ntr_function_range ntr_functions_range(ntr_functions *f, ntr_place place) {
    const ntr_function_range range = find_range(f, place);
    return take_note(f, range.number) == UINT32_MAX ? no_range : range;
}

ntr_validity ntr_functions_validity(const ntr_functions *f, ntr_place place) {
    uint64_t first = 0, last = UINT64_MAX;
    return ntr_debug_info_limit(f->debug, place, &first, &last);
}

const ntr_program *ntr_functions_program(const ntr_functions *f) {
    return ntr_debug_info_program(f->debug);
}

uint32_t ntr_functions_at(ntr_functions *f, ntr_place place) {
    return ntr_functions_range(f, place).number;
}

bool ntr_functions_same(void *functions, const ntr_context *context, uint64_t position, const uint64_t *addresses,
                        size_t count) {
    ntr_functions *f = functions;
    const uint32_t first = count ? ntr_functions_at(f, ntr_place_at(context, position, addresses[0])) : 0;
    for (size_t i = 1; i < count; i++)
        if (ntr_functions_at(f, ntr_place_at(context, position, addresses[i])) != first) return false;
    return true;
}

static uint32_t find_named(ntr_functions *f, const char *text) {
    size_t size = strlen(text) + 1;
    for (struct own_name *name = f->names; name; name = name->next)
        if (strcmp(name->text, text) == 0) return name->number;
    struct own_name *name = ntr_alloc(f->allocator, 1, sizeof *name + size);
    ntr_function_place nowhere = place_of(ntr_place_at(NULL, 0, 0));
    if (!name) return UINT32_MAX;
    nowhere.only_name = true;
    if (ntr_reserve(f->allocator, (void **)&f->items, &f->capacity, f->count + 1, sizeof *f->items) ||
        !note_place(f, &nowhere)) {
        ntr_dealloc(f->allocator, name);
        return UINT32_MAX;
    }
    memcpy(name->text, text, size);
    name->number = (uint32_t)f->count++;
    name->next = f->names;
    f->names = name;
    f->items[name->number] = (ntr_function){.name = name->text};
    return name->number;
}

uint32_t ntr_functions_named(ntr_functions *f, const char *text) {
    return take_note(f, find_named(f, text));
}

const ntr_function *ntr_functions_get(const ntr_functions *f, uint32_t number) {
    return number < f->count ? &f->items[number] : NULL;
}

void ntr_functions_set_tasks(ntr_functions *f, const ntr_tasks *tasks) {
    f->tasks = tasks;
}

const ntr_tasks *ntr_functions_tasks(const ntr_functions *f) {
    return f->tasks;
}

/* A name stands for a function of an operating system only where the file has it: not a name made of file and address.
 */
static ntr_role_info find_role(const ntr_function *function) {
    return ntr_role_of(function->linkage);
}

ntr_role_info ntr_functions_role(ntr_functions *f, uint32_t number) {
    static const ntr_role_info none = {NTR_OS_NONE, NTR_CAUSE_NONE, NULL};
    if (number < f->known.count) return f->known.items[number];
    if (number >= f->count ||
        ntr_reserve(f->allocator, (void **)&f->known.items, &f->role_capacity, f->count, sizeof *f->known.items))
        return none;
    for (; f->known.count < f->count; f->known.count++)
        f->known.items[f->known.count] = find_role(&f->items[f->known.count]);
    return f->known.items[number];
}
