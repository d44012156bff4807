/* Filters and comparators of an encoder (Trace Control section 5).
 *
 * A comparator that looks at iaddr is true for a block when one of the block's instructions makes it true. */
#ifndef NTR_SYSTEM_FILTERS_H
#define NTR_SYSTEM_FILTERS_H

#include "system/page.h"

#include <ntrace/encoder.h>

enum { FILTERS_MAX = 16, COMPARATORS_MAX = 8 };

typedef struct filter_state {
    uint16_t depth[FILTERS_MAX];   /* traps since a filter's window opened; 0: it is closed */
    bool latched[COMPARATORS_MAX]; /* match mode 3: between primary and secondary */
} filter_state;

/* A set of NTR_QUALIFY_*, as the registers of `page` say. `trap_depth`: nested traps that can be counted. */
unsigned filters_judge(filter_state *filters, const register_page *page, unsigned trap_depth, const ntr_ingress *block);

/* The control register of a comparator was written. */
void filters_comparator_written(filter_state *filters, const register_page *page, unsigned number);

#endif
