/* Adding counts that were made elsewhere (partial answers) to a tally and to a call tree. Private. */
#ifndef NTR_ANALYSIS_SUMS_H
#define NTR_ANALYSIS_SUMS_H

#include <ntrace/calltree.h>
#include <ntrace/tally.h>

/* Adds a row, with its count and its ticks; `view` of the row is not used. Errors: NTR_E_MEMORY, NTR_E_LIMIT. */
ntr_status ntr_tally_add_row(ntr_tally *tally, const ntr_tally_view_info *view, const ntr_tally_row *row);

/* Numbers the view, if it has no number yet. Errors: NTR_E_MEMORY. */
ntr_status ntr_tally_add_view(ntr_tally *tally, const ntr_tally_view_info *view);
void ntr_tally_add_gaps(ntr_tally *tally, uint64_t gaps);

/* Adds `calls`, `instructions` and `ticks` of the node to the child of node->parent with its function, kind and site,
 * which is created when it is not there. Returns its number, NTR_CALLTREE_NONE when out of memory. */
uint32_t ntr_calltree_add_node(ntr_calltree *tree, const ntr_call_node *node);
void ntr_calltree_add_self(ntr_calltree *tree, uint32_t node, uint64_t instructions, uint64_t ticks);

#define NTR_NO_START UINT64_MAX

/* Where a function was found first. A function whose source is not known is at its entry: functions of one name in one
 * file, such as static functions of several sources, are distinguished by it. */
typedef struct ntr_function_place {
    ntr_context context;
    uint64_t address, position;
    uint64_t start; /* address of such an entry in the file; NTR_NO_START: the names and the source identify it */
    bool only_name; /* of ntr_functions_named: it has no address */
} ntr_function_place;

/* `number` is below the number of functions. */
ntr_function_place ntr_functions_place(const ntr_functions *functions, uint32_t number);

#endif
