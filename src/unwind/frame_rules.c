#include "unwind/frame_rules.h"

#include "base/allocator.h"
#include "program/program.h"

enum { CACHE_BITS = 12, CACHE = 1 << CACHE_BITS };

/* GDB looks at no more bytes of a function without line table. */
enum { PROLOGUE_MOST = 100 };

typedef struct image_cfi {
    bool opened;
    ntr_frame_cfi *cfi;
} image_cfi;

/* A rule that was found before. Code without image or outside ELF files may change, and is not cached. */
typedef struct cached {
    uint64_t pc, lookup;
    size_t image; /* + 1; 0: empty */
    ntr_frame_rule rule;
} cached;

struct ntr_frame_rules {
    const ntr_allocator *allocator;
    const ntr_program *program;
    ntr_debug_info *debug;
    const char *debug_path;
    image_cfi *images;
    size_t image_count, image_capacity;
    cached *cache;
    ntr_frame_rule own;
    bool (*has_own)(void *user, ntr_place place);
    void *user;
};

ntr_frame_rules *ntr_frame_rules_new(const ntr_program *program, ntr_debug_info *debug, const char *debug_path,
                                     const ntr_allocator *allocator) {
    ntr_frame_rules *rules = ntr_alloc(allocator, 1, sizeof *rules);
    if (!rules) return NULL;
    rules->allocator = allocator;
    rules->program = program;
    rules->debug = debug;
    rules->debug_path = debug_path;
    rules->cache = ntr_alloc(allocator, CACHE, sizeof *rules->cache);
    if (rules->cache) return rules;
    ntr_frame_rules_free(rules);
    return NULL;
}

void ntr_frame_rules_free(ntr_frame_rules *rules) {
    if (!rules) return;
    for (size_t i = 0; i < rules->image_count; i++) ntr_frame_cfi_close(rules->images[i].cfi);
    ntr_dealloc(rules->allocator, rules->images);
    ntr_dealloc(rules->allocator, rules->cache);
    ntr_dealloc(rules->allocator, rules);
}

void ntr_frame_rules_set_own(ntr_frame_rules *rules, const ntr_frame_rule *rule,
                             bool (*has_rule)(void *user, ntr_place place), void *user) {
    rules->own = *rule;
    rules->has_own = has_rule;
    rules->user = user;
}

/* Returns the CFI of an image, or NULL. */
static ntr_frame_cfi *cfi_of(ntr_frame_rules *rules, size_t index) {
    ntr_image_info image;
    if (ntr_reserve(rules->allocator, (void **)&rules->images, &rules->image_capacity, index + 1,
                    sizeof *rules->images))
        return NULL;
    while (rules->image_count <= index) rules->images[rules->image_count++] = (image_cfi){0};
    image_cfi *entry = &rules->images[index];
    if (!entry->opened && ntr_program_image(rules->program, index, &image) == NTR_OK && image.path)
        entry->cfi = ntr_frame_cfi_open(&image, rules->debug_path, &rules->program->limits, rules->allocator);
    entry->opened = true;
    return entry->cfi;
}

/* Returns the end of the prologue by the line table: the beginning of the second line of the function, or 0. */
static uint64_t line_end(ntr_frame_rules *rules, size_t image, uint64_t start) {
    const ntr_line_row *rows;
    size_t count;
    if (!rules->debug || ntr_debug_info_lines(rules->debug, image, &rows, &count) != NTR_OK) return 0;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].address < start)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || rows[low].address != start) return 0;
    for (size_t i = low + 1; i < count && rows[i].address < start + PROLOGUE_MOST; i++)
        if (rows[i].line && rows[i].line != rows[low].line && rows[i].address > start) return rows[i].address;
    return 0;
}

static ntr_frame_rule from_prologue(ntr_frame_rules *rules, const ntr_context *context, uint64_t position, size_t image,
                                    uint64_t pc, uint64_t lookup) {
    ntr_symbol symbol;
    if (ntr_program_symbol(rules->program, ntr_place_at(context, position, lookup), &symbol) != NTR_OK ||
        symbol.address > pc)
        return (ntr_frame_rule){0};
    uint64_t end = line_end(rules, image, symbol.address);
    if (!end) end = symbol.address + PROLOGUE_MOST;
    if (end > pc) end = pc;
    return ntr_prologue_rule(rules->program, context, position, symbol.address, end);
}

ntr_frame_rule ntr_frame_rule_at(ntr_frame_rules *rules, const ntr_context *context, uint64_t position, uint64_t pc,
                                 uint64_t lookup) {
    size_t image;
    ntr_frame_rule rule = {0};
    if (rules->has_own && rules->has_own(rules->user, ntr_place_at(context, position, lookup))) return rules->own;
    if (ntr_program_image_at(rules->program, ntr_place_at(context, position, lookup), &image) != NTR_OK) return rule;
    cached *entry = &rules->cache[(pc ^ lookup << 1) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CACHE_BITS)];
    if (entry->image == image + 1 && entry->pc == pc && entry->lookup == lookup) return entry->rule;
    ntr_frame_cfi *cfi = cfi_of(rules, image);
    if (!cfi || !ntr_frame_cfi_rule(cfi, lookup, &rule))
        rule = from_prologue(rules, context, position, image, pc, lookup);
    ntr_image_info info;
    if (ntr_program_image(rules->program, image, &info) == NTR_OK && info.path)
        *entry = (cached){.pc = pc, .lookup = lookup, .image = image + 1, .rule = rule};
    return rule;
}
