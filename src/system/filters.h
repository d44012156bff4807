/* Filters and comparators of an encoder (Trace Control section 5).
 *
 * A comparator with input iaddr is true for a block when it is true for at least one instruction of the block. */
#ifndef NTR_SYSTEM_FILTERS_H
#define NTR_SYSTEM_FILTERS_H

#include "system/page.h"

#include <ntrace/encoder.h>

enum { FILTERS_MAX = 16, COMPARATORS_MAX = 8 };

typedef struct filter_state {
    uint16_t depth[FILTERS_MAX];   /* traps since the window of the filter opened; 0: closed */
    bool latched[COMPARATORS_MAX]; /* match mode 3: after a primary match and before a secondary match */
} filter_state;

/* Returns a set of NTR_QUALIFY_* for the block. `page` has the registers. `trap_depth` is the maximum number of nested
 * traps that are counted. */
unsigned filters_judge(filter_state *filters, const register_page *page, unsigned trap_depth, const ntr_ingress *block);

/* Updates the state after a write to the control register of a comparator. */
void filters_comparator_written(filter_state *filters, const register_page *page, unsigned number);

#endif
