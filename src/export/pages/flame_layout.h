/* Layout of a flame graph: children are placed side by side above their parent, with widths in proportion to their
 * totals. */
#ifndef NTR_EXPORT_PAGES_FLAME_LAYOUT_H
#define NTR_EXPORT_PAGES_FLAME_LAYOUT_H

#include "export/stacks.h"

typedef struct ntr_flame_box {
    uint32_t node;   /* index in `stacks` */
    uint32_t depth;  /* 0: the root */
    uint64_t from;   /* position of the left edge, in instructions */
} ntr_flame_box;

typedef struct ntr_flame {
    ntr_stacks stacks;
    ntr_flame_box *boxes; /* parents before children; siblings from left to right by name */
    size_t count;
    uint32_t depth;       /* depth of the deepest box */
} ntr_flame;

/* Computes the layout. Boxes narrower than 1 / `parts` of the total width are omitted; when more than `most` remain,
 * the narrowest of them are omitted too. Errors: NTR_E_MEMORY. */
ntr_status ntr_flame_make(ntr_flame *flame, const ntr_export *x, uint64_t parts, size_t most);
void ntr_flame_release(ntr_flame *flame);

/* Writes the interactive graph as an <svg> element with its style and script. `alone`: as a complete file. */
void ntr_flame_write_svg(ntr_export *x, const ntr_flame *flame, bool alone);

#endif
