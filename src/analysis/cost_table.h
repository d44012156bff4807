/* Costs of one execution: functions, lines and call paths, each with a number by its key. */
#ifndef NTR_ANALYSIS_COST_TABLE_H
#define NTR_ANALYSIS_COST_TABLE_H

#include "analysis/texts.h"

#include <ntrace/costs.h>

/* Numbers of keys of three words, in the order of first use. */
typedef struct ntr_keys {
    const ntr_allocator *allocator;
    struct cost_key {
        uint64_t word[3];
    } *items;
    size_t count, capacity;
    uint32_t *slots; /* number + 1, open addressing; 0: empty */
    size_t slot_count;
} ntr_keys;

/* Returns the number of the key; a new key gets the number that `count` was. UINT32_MAX: out of memory. */
uint32_t ntr_keys_number(ntr_keys *keys, uint64_t first, uint64_t second, uint64_t third);
void ntr_keys_release(ntr_keys *keys);

#define NTR_COST_NONE UINT32_MAX

typedef struct cost_unit {
    const char *name, *file, *image; /* of `texts`; "": not known */
    uint32_t line; /* of the declaration; 0: not known, or several functions have the name there */
    uint32_t end;  /* last line of its code in `file`; 0: not known */
    uint32_t image_number;
    bool unnamed;
    uint64_t self, total, calls, written;
    uint32_t pair; /* of its image, when two executions are compared; */
    uint32_t row;  /* ... and the number of its row */
} cost_unit;

typedef struct cost_line {
    uint32_t unit, line;
    const char *file;
    uint64_t count;
} cost_line;

typedef struct cost_node {
    uint32_t parent, unit;
    uint8_t kind;
    uint64_t self, total, calls;
} cost_node;

typedef struct cost_image {
    const char *name;
    uint64_t count; /* instructions */
    uint32_t pair;
} cost_image;

struct ntr_costs {
    const ntr_allocator *allocator;
    unsigned holds;
    bool from_profile;
    uint64_t instructions;
    ntr_texts texts;
    ntr_keys unit_keys, line_keys, node_keys, image_keys, file_keys;
    cost_unit *units; /* these arrays have as many elements as there are keys */
    cost_line *lines;
    cost_node *nodes; /* node 0: the parent of all roots */
    cost_image *images;
    uint32_t *ends; /* of files: the last line with code */
    size_t unit_capacity, line_capacity, node_capacity, image_capacity, end_capacity;
};

/* Returns the last line of the file that has code; 0: not known. */
uint32_t ntr_costs_file_end(const ntr_costs *costs, const char *file);

/* Returns the name of the file without its folders. */
const char *ntr_cost_base(const char *path);

/* Sets `row` of the units of both, and fills changes->functions and changes->images. */
ntr_status ntr_costs_match(ntr_costs *sides[2], ntr_cost_changes *changes);

#endif
