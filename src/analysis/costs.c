#include "analysis/cost_table.h"
#include "base/allocator.h"

#include <string.h>

/* ---- keys */

static size_t hash(const uint64_t word[3]) {
    const uint64_t mix = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t value = word[0] * mix;
    value = (value ^ value >> 32 ^ word[1]) * mix;
    value = (value ^ value >> 32 ^ word[2]) * mix;
    return (size_t)(value ^ value >> 32);
}

static uint32_t *slot_of(uint32_t *slots, size_t count, const struct cost_key *items, const uint64_t word[3]) {
    size_t at = hash(word) & (count - 1);
    while (slots[at] && memcmp(items[slots[at] - 1].word, word, 3 * sizeof *word) != 0) at = (at + 1) & (count - 1);
    return &slots[at];
}

static bool grow(ntr_keys *k) {
    const size_t count = k->slot_count ? 2 * k->slot_count : 64;
    uint32_t *slots = ntr_alloc(k->allocator, count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < k->count; i++) *slot_of(slots, count, k->items, k->items[i].word) = (uint32_t)i + 1;
    ntr_dealloc(k->allocator, k->slots);
    k->slots = slots;
    k->slot_count = count;
    return true;
}

uint32_t ntr_keys_number(ntr_keys *k, uint64_t first, uint64_t second, uint64_t third) {
    const uint64_t word[3] = {first, second, third};
    if (2 * k->count >= k->slot_count && !grow(k)) return UINT32_MAX;
    uint32_t *slot = slot_of(k->slots, k->slot_count, k->items, word);
    if (*slot) return *slot - 1;
    if (k->count >= UINT32_MAX - 1 ||
        ntr_reserve(k->allocator, (void **)&k->items, &k->capacity, k->count + 1, sizeof *k->items))
        return UINT32_MAX;
    memcpy(k->items[k->count].word, word, sizeof word);
    *slot = (uint32_t)++k->count;
    return *slot - 1;
}

void ntr_keys_release(ntr_keys *k) {
    ntr_dealloc(k->allocator, k->items);
    ntr_dealloc(k->allocator, k->slots);
    *k = (ntr_keys){.allocator = k->allocator};
}

/* ---- the object */

ntr_status ntr_costs_new(const ntr_allocator *allocator, ntr_costs **out) {
    *out = NULL;
    ntr_costs *c = ntr_alloc(allocator, 1, sizeof *c);
    if (!c) return NTR_E_MEMORY;
    c->allocator = c->texts.allocator = allocator;
    ntr_keys *const keys[] = {&c->unit_keys, &c->line_keys, &c->node_keys, &c->image_keys, &c->file_keys};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) keys[i]->allocator = allocator;
    *out = c;
    return NTR_OK;
}

void ntr_costs_free(ntr_costs *c) {
    if (!c) return;
    ntr_keys *const keys[] = {&c->unit_keys, &c->line_keys, &c->node_keys, &c->image_keys, &c->file_keys};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) ntr_keys_release(keys[i]);
    void *const blocks[] = {c->units, c->lines, c->nodes, c->images, c->ends};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ntr_dealloc(c->allocator, blocks[i]);
    ntr_texts_release(&c->texts);
    ntr_dealloc(c->allocator, c);
}

unsigned ntr_costs_holds(const ntr_costs *c) {
    return c->holds;
}

/* Returns the number of a key and makes its zeroed element in the array, or returns NTR_COST_NONE when out of memory.
 */
static uint32_t element(const ntr_costs *c, ntr_keys *keys, const uint64_t key[3], void **items, size_t *capacity,
                        size_t size) {
    const size_t before = keys->count;
    const uint32_t number = ntr_keys_number(keys, key[0], key[1], key[2]);
    if (number == NTR_COST_NONE || keys->count == before) return number;
    if (ntr_reserve(c->allocator, items, capacity, keys->count, size)) return NTR_COST_NONE;
    memset((char *)*items + number * size, 0, size);
    return number;
}

#define ELEMENT(c, keys, items, capacity, ...)                                                                         \
    element(c, &(c)->keys, (const uint64_t[3]){__VA_ARGS__}, (void **)&(c)->items, &(c)->capacity, sizeof *(c)->items)

/* ---- names */

/* Returns the length of a compiler's suffix at `text`, such as ".constprop.0", or 0. */
static size_t suffix_length(const char *text) {
    static const char *const words[] = {".constprop", ".isra", ".part",       ".cold",
                                        ".lto_priv",  ".llvm", ".localalias", ".clone"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = 0;
        while (words[i][length] && text[length] == words[i][length]) length++;
        if (words[i][length]) continue;
        if (text[length] == '.') length += 1 + strspn(text + length + 1, "0123456789");
        return text[length] == '\0' || text[length] == '.' ? length : 0;
    }
    return 0;
}

/* Returns the length of the name without the suffixes of copies: "foo.isra.0.cold", "foo(int) [clone .part.0]". */
static size_t base_length(const char *name) {
    const char *clone = strstr(name, " [clone ");
    if (clone && clone != name && name[strlen(name) - 1] == ']') return (size_t)(clone - name);
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        const char *at = dot;
        for (size_t length; dot != name && *at && (length = suffix_length(at)); at += length) {
        }
        if (!*at) return (size_t)(dot - name);
    }
    return strlen(name);
}

/* Returns whether the name is one of code without a symbol: none, "[unknown]", or "libc.so.6+0x27f10". */
static bool is_unnamed(const char *name) {
    const char *plus = name ? strrchr(name, '+') : NULL;
    if (!name || !*name || strcmp(name, "[unknown]") == 0) return true;
    if (!plus || plus == name || strncmp(plus, "+0x", 3) != 0) return false;
    return plus[3] && strspn(plus + 3, "0123456789abcdef") == strlen(plus + 3);
}

const char *ntr_cost_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static uint64_t word_of(const char *text) {
    return (uint64_t)(uintptr_t)text;
}

/* Returns the number of the unit of these names. */
static uint32_t unit_of(ntr_costs *c, const char *name, const char *file, const char *image, uint32_t line) {
    const bool unnamed = is_unnamed(name);
    char *base = NULL;
    if (!unnamed) {
        const size_t length = base_length(name);
        if (!(base = ntr_alloc(c->allocator, length + 1, 1))) return NTR_COST_NONE;
        memcpy(base, name, length);
    }
    name = ntr_texts_keep(&c->texts, unnamed ? "[no symbol]" : base);
    ntr_dealloc(c->allocator, base);
    file = ntr_texts_keep(&c->texts, unnamed ? NULL : file);
    image = ntr_texts_keep(&c->texts, image);
    if (!name || !file || !image) return NTR_COST_NONE;
    const size_t before = c->unit_keys.count;
    const uint32_t number = ELEMENT(c, unit_keys, units, unit_capacity, word_of(name), word_of(file), word_of(image));
    const uint32_t place = ELEMENT(c, image_keys, images, image_capacity, word_of(image));
    if (number == NTR_COST_NONE || place == NTR_COST_NONE) return NTR_COST_NONE;
    cost_unit *unit = &c->units[number];
    c->images[place].name = image;
    if (c->unit_keys.count != before)
        *unit = (cost_unit){name, file, image, line, .image_number = place, .unnamed = unnamed};
    else if (unit->line != line)
        unit->line = 0;
    return number;
}

/* ---- the call tree */

static uint32_t unit_of_function(ntr_costs *c, const ntr_functions *functions, uint32_t number) {
    const ntr_function *f = ntr_functions_get(functions, number);
    return f ? unit_of(c, f->name, f->file, f->image, f->line) : unit_of(c, NULL, NULL, NULL, 0);
}

/* Adds the totals of the nodes to their units; of nodes of one unit that are nested, only the outermost counts. Walks
 * the tree by lists of children. */
static ntr_status add_totals(ntr_costs *c) {
    const size_t count = c->node_keys.count;
    uint32_t *child = ntr_alloc(c->allocator, count, sizeof *child);
    uint32_t *next = ntr_alloc(c->allocator, count, sizeof *next);
    uint32_t *open = ntr_alloc(c->allocator, c->unit_keys.count, sizeof *open);
    const bool fine = child && next && (open || !c->unit_keys.count);
    for (size_t i = count; fine && i-- > 1;) {
        c->nodes[c->nodes[i].parent].total += c->nodes[i].total;
        next[i] = child[c->nodes[i].parent];
        child[c->nodes[i].parent] = (uint32_t)i;
    }
    uint32_t at = fine ? child[0] : 0;
    while (at) {
        const cost_node *node = &c->nodes[at];
        if (open[node->unit]++ == 0) c->units[node->unit].total += node->total;
        if (child[at]) {
            at = child[at];
            continue;
        }
        while (at && !next[at]) {
            open[c->nodes[at].unit]--;
            at = c->nodes[at].parent;
        }
        if (at) {
            open[c->nodes[at].unit]--;
            at = next[at];
        }
    }
    ntr_dealloc(c->allocator, child);
    ntr_dealloc(c->allocator, next);
    ntr_dealloc(c->allocator, open);
    return fine ? NTR_OK : NTR_E_MEMORY;
}

static ntr_status take_node(ntr_costs *c, const ntr_call_node *from, uint32_t parent, uint32_t unit, uint32_t *number) {
    *number = ELEMENT(c, node_keys, nodes, node_capacity, parent, unit, from->kind);
    if (*number == NTR_COST_NONE) return NTR_E_MEMORY;
    cost_node *node = &c->nodes[*number];
    node->parent = parent;
    node->unit = unit;
    node->kind = from->kind;
    node->calls += from->calls;
    node->self += from->instructions;
    node->total += from->instructions;
    c->units[unit].self += from->instructions;
    c->units[unit].calls += from->calls;
    c->instructions += from->instructions;
    return NTR_OK;
}

static ntr_status take_tree(ntr_costs *c, const ntr_functions *functions, const ntr_calltree *tree) {
    size_t count;
    const ntr_call_node *nodes = ntr_calltree_nodes(tree, &count);
    uint32_t *numbers = ntr_alloc(c->allocator, count, sizeof *numbers); /* of the node in c->nodes */
    ntr_status status = numbers ? NTR_OK : NTR_E_MEMORY;
    if (!status && ELEMENT(c, node_keys, nodes, node_capacity, UINT64_MAX, UINT64_MAX) != 0) status = NTR_E_MEMORY;
    for (size_t i = 1; !status && i < count; i++) {
        const uint32_t unit = unit_of_function(c, functions, nodes[i].function);
        status =
            unit == NTR_COST_NONE ? NTR_E_MEMORY : take_node(c, &nodes[i], numbers[nodes[i].parent], unit, &numbers[i]);
    }
    ntr_dealloc(c->allocator, numbers);
    return status ? status : add_totals(c);
}

/* ---- the tally */

static ntr_status add_line(ntr_costs *c, uint32_t unit, const char *file, uint32_t line, uint64_t count) {
    file = ntr_texts_keep(&c->texts, line ? file : NULL);
    if (!file || unit == NTR_COST_NONE) return NTR_E_MEMORY;
    const uint32_t number = ELEMENT(c, line_keys, lines, line_capacity, unit, word_of(file), line);
    if (number == NTR_COST_NONE) return NTR_E_MEMORY;
    c->lines[number] = (cost_line){unit, line, file, c->lines[number].count + count};
    c->units[unit].written += count;
    return NTR_OK;
}

static ntr_status take_count(ntr_costs *c, ntr_place place, uint64_t executed, ntr_debug_info *debug) {
    ntr_frame frames[NTR_FRAMES_MAX];
    const size_t depth = ntr_debug_info_frames(debug, place, frames, NTR_FRAMES_MAX);
    if (!depth) return add_line(c, unit_of(c, NULL, NULL, NULL, 0), NULL, 0, executed);
    const ntr_frame *f = &frames[0];
    const uint32_t unit =
        unit_of(c, f->function, f->declared_in ? f->declared_in : f->file, f->image, f->declared_line);
    return add_line(c, unit, f->file, f->line, executed);
}

/* Notes the last line with code of each file. */
static ntr_status take_file_ends(ntr_costs *c, const ntr_line_row *rows, size_t count) {
    const char *known = NULL, *file = NULL;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].file != known) file = ntr_texts_keep(&c->texts, known = rows[i].file);
        const uint32_t number = file ? ELEMENT(c, file_keys, ends, end_capacity, word_of(file)) : NTR_COST_NONE;
        if (number == NTR_COST_NONE) return NTR_E_MEMORY;
        if (rows[i].line > c->ends[number]) c->ends[number] = rows[i].line;
    }
    return NTR_OK;
}

/* Returns the last line of the function's own file in its code. */
static uint32_t function_end(const ntr_function *f, const ntr_line_row *rows, size_t count) {
    size_t low = 0;
    uint32_t end = 0;
    for (size_t high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].address < f->low)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && rows[low].address < f->high; low++)
        if (rows[low].line > end && rows[low].file && strcmp(rows[low].file, f->file) == 0) end = rows[low].line;
    return end;
}

/* Notes the last line of each executed function of the image. */
static ntr_status take_function_ends(ntr_costs *c, const ntr_functions *functions, const char *image,
                                     const ntr_line_row *rows, size_t count) {
    const ntr_function *f;
    for (uint32_t i = 0; (f = ntr_functions_get(functions, i)); i++) {
        if (!f->image || !f->file || !f->line || strcmp(f->image, image) != 0) continue;
        const uint32_t unit = unit_of(c, f->name, f->file, f->image, f->line), end = function_end(f, rows, count);
        if (unit == NTR_COST_NONE) return NTR_E_MEMORY;
        if (end > c->units[unit].end) c->units[unit].end = end;
    }
    return NTR_OK;
}

static ntr_status take_ends(ntr_costs *c, ntr_debug_info *debug, const ntr_functions *functions,
                            const ntr_program *program) {
    const ntr_line_row *rows;
    ntr_image_info info;
    ntr_status status = NTR_OK;
    size_t count;
    for (size_t image = 0; !status && ntr_program_image(program, image, &info) == NTR_OK; image++) {
        if (ntr_debug_info_lines(debug, image, &rows, &count) != NTR_OK) continue;
        status = take_file_ends(c, rows, count);
        if (!status) status = take_function_ends(c, functions, info.name, rows, count);
    }
    return status;
}

static ntr_status take_tally(ntr_costs *c, const ntr_program *program, ntr_debug_info *debug, ntr_functions *functions,
                             ntr_tally *tally, bool alone) {
    ntr_insn_count *counts;
    size_t count;
    ntr_status status = ntr_tally_instructions(tally, program, UINT32_MAX, &counts, &count);
    if (status) return status;
    for (size_t i = 0; i < count && !status; i++) {
        const ntr_place place = ntr_tally_count_place(tally, &counts[i]);
        status = take_count(c, place, counts[i].executed, debug);
        if (!alone || status) continue;
        const uint32_t unit = unit_of_function(c, functions, ntr_functions_at(functions, place));
        if (unit == NTR_COST_NONE) status = NTR_E_MEMORY;
        if (!status) c->units[unit].self += counts[i].executed;
        c->instructions += counts[i].executed;
    }
    ntr_tally_free_counts(tally, counts);
    return status ? status : take_ends(c, debug, functions, program);
}

ntr_status ntr_costs_take(ntr_costs *c, const ntr_program *program, ntr_debug_info *debug, ntr_functions *functions,
                          const ntr_calltree *tree, ntr_tally *tally) {
    ntr_status status = NTR_OK;
    if ((!tree && !tally) || c->holds) return NTR_E_INVALID;
    c->holds = NTR_COSTS_SELF | (tree ? NTR_COSTS_CALLS : 0u) | (tally ? NTR_COSTS_LINES : 0u);
    if (tree) status = take_tree(c, functions, tree);
    if (tally && !status) status = take_tally(c, program, debug, functions, tally, !tree);
    return status;
}

/* ---- profiles */

ntr_status ntr_costs_add(ntr_costs *c, ntr_profile_by by, const ntr_profile_row *row) {
    const unsigned holds = by == NTR_PROFILE_LINE ? NTR_COSTS_LINES : NTR_COSTS_SELF;
    if ((by != NTR_PROFILE_LINE && by != NTR_PROFILE_FUNCTION) || (c->holds && c->holds != holds)) return NTR_E_INVALID;
    const uint32_t unit = unit_of(c, row->name, row->file, row->image, by == NTR_PROFILE_LINE ? 0 : row->line);
    if (unit == NTR_COST_NONE) return NTR_E_MEMORY;
    c->holds = holds;
    c->from_profile = true;
    c->instructions += row->self;
    if (by == NTR_PROFILE_LINE) return add_line(c, unit, row->file, row->line, row->self);
    c->units[unit].self += row->self;
    return NTR_OK;
}

uint32_t ntr_costs_file_end(const ntr_costs *c, const char *file) {
    const uint64_t word[3] = {word_of(file)};
    if (!c->file_keys.slot_count) return 0;
    const uint32_t *slot = slot_of(c->file_keys.slots, c->file_keys.slot_count, c->file_keys.items, word);
    return *slot ? c->ends[*slot - 1] : 0;
}
