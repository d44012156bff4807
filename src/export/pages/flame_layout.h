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

/* Computes the layout of the export's call tree. Boxes narrower than 1 / `parts` of the total width are omitted; when
 * more than `most` remain, the narrowest of them are omitted too. Errors: NTR_E_MEMORY. */
ntr_status ntr_flame_make(ntr_flame *flame, const ntr_export *x, uint64_t parts, size_t most);

/* The same for flame->stacks, which the caller has made. `name` returns the name of a node. After an error, the stacks
 * are released. */
ntr_status ntr_flame_lay_out(ntr_flame *flame, const char *(*name)(const void *user, uint32_t node), const void *user,
                             uint64_t parts, size_t most);
void ntr_flame_release(ntr_flame *flame);

/* What the boxes of a graph show; `user` is the first argument of the functions. */
typedef struct ntr_flame_look {
    const void *user;
    const char *(*name)(const void *user, uint32_t node);
    void (*describe)(ntr_out *out, const void *user,
                     uint32_t node); /* writes the text after the name; node 0: of all */
    void (*colour)(ntr_out *out, const void *user, uint32_t node, const char *name);
    const char *title, *summary; /* heading: "TITLE: SUMMARY" */
} ntr_flame_look;

enum { NTR_FLAME_PARTS = 12000, NTR_FLAME_MOST = 40000 }; /* of a file with the graph alone */

/* Writes the interactive graph as an <svg> element with its style and script. `alone`: as a complete file. */
void ntr_flame_write(ntr_out *out, const ntr_flame *flame, const ntr_flame_look *look, bool alone);

/* Writes that of an export's call tree as an <svg> element with its style and script. `alone`: as a complete file. */
void ntr_flame_write_svg(ntr_export *x, const ntr_flame *flame, bool alone);

#endif
