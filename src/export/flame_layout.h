/* Where the frames of a flame graph lie: parts of the whole, children side by side above their parent. */
#ifndef NTR_EXPORT_FLAME_LAYOUT_H
#define NTR_EXPORT_FLAME_LAYOUT_H

#include "export/stacks.h"

typedef struct ntr_flame_box {
    uint32_t node;   /* of the stacks */
    uint32_t depth;  /* 0: the whole */
    uint64_t from;   /* instructions to the left of it */
} ntr_flame_box;

typedef struct ntr_flame {
    ntr_stacks stacks;
    ntr_flame_box *boxes; /* parents before children, siblings from left to right by name */
    size_t count;
    uint32_t depth;       /* deepest box */
} ntr_flame;

/* Boxes narrower than one part in `parts` of the whole are left out, and of the others the narrowest when there are
 * more than `most`. Errors: NTR_E_MEMORY. */
ntr_status ntr_flame_make(ntr_flame *flame, const ntr_export *x, uint64_t parts, size_t most);
void ntr_flame_release(ntr_flame *flame);

/* The interactive graph as an <svg> element with its style and script; `alone`: as a file of its own. */
void ntr_flame_write_svg(ntr_export *x, const ntr_flame *flame, bool alone);

#endif
