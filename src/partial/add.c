/* Adding partials.
 *
 * Idea: the tables of the sum are the sorted unions of those of the inputs. The numbers of an input grow with those of
 * the sum, so the rows of each input are still sorted after their numbers were changed, and one pass merges them. Nodes
 * are in depth-first order; they are merged level by level: of the inputs whose next node is at this depth, those with
 * the lowest key are added up, then their descendants are merged. Sets of inputs are bits of a word.
 *
 * Invariant: what is written does not depend on the order and the grouping of the inputs, as sums and minima do not. */
#include "partial/add.h"

#include "base/allocator.h"

#include <string.h>

ntr_status ntr_adding_refuse(const ntr_adding *a, const char *format, const char *name, const char *other) {
    ntr_partial_fail(a->inputs[0].partial, format, name ? name : "", other ? other : "");
    return NTR_E_INVALID;
}

static ntr_status check_inputs(ntr_adding *a) {
    const ntr_partial_tables *first = ntr_adding_tables_of(a, 0);
    for (size_t i = 0; i < a->count; i++) {
        const ntr_partial_tables *t = ntr_adding_tables_of(a, i);
        if (i && t->holds & NTR_PARTIAL_EVENTS)
            return ntr_adding_refuse(
                a,
                "%s and %s have events, whose order is known in one capture only: they cannot be added; counts of code and "
                "call trees can",
                a->inputs[0].partial->name, a->inputs[i].partial->name);
        if (t->holds != first->holds || t->split != first->split)
            return ntr_adding_refuse(
                a, "%s and %s hold different kinds of counts: write both with the same command and options",
                a->inputs[0].partial->name, a->inputs[i].partial->name);
        for (size_t k = 0; k < t->capture_count; k++)
            if (t->captures[k].shards)
                return ntr_adding_refuse(a, "%s: a part of a capture; parts must be put together first",
                                         t->captures[k].path, NULL);
    }
    return NTR_OK;
}

static ntr_status start_inputs(ntr_adding *a, ntr_partial *const *partials) {
    a->inputs = ntr_alloc(a->allocator, a->count, sizeof *a->inputs);
    if (!a->inputs) return NTR_E_MEMORY;
    for (size_t i = 0; i < a->count; i++) {
        ntr_adding_input *in = &a->inputs[i];
        const ntr_partial_tables *t = &partials[i]->tables;
        in->partial = partials[i];
        in->captures = ntr_alloc(a->allocator, t->capture_count + 1, sizeof *in->captures);
        in->images = ntr_alloc(a->allocator, t->image_count + 1, sizeof *in->images);
        in->views = ntr_alloc(a->allocator, t->view_count + 1, sizeof *in->views);
        in->functions = ntr_alloc(a->allocator, t->function_count + 1, sizeof *in->functions);
        if (!in->captures || !in->images || !in->views || !in->functions) return NTR_E_MEMORY;
    }
    const char *tool = partials[0]->tables.tool;
    for (size_t i = 1; i < a->count; i++)
        if (strcmp(partials[i]->tables.tool, tool) < 0) tool = partials[i]->tables.tool;
    for (size_t i = 0; i < a->count; i++) ntr_totals_add(&a->sum.totals, &partials[i]->tables.totals);
    a->sum.holds = partials[0]->tables.holds;
    a->sum.split = partials[0]->tables.split;
    a->sum.tool = ntr_alloc(a->allocator, strlen(tool) + 1, 1);
    if (a->sum.tool) memcpy(a->sum.tool, tool, strlen(tool));
    return a->sum.tool ? NTR_OK : NTR_E_MEMORY;
}

static void release(ntr_adding *a) {
    for (size_t i = 0; a->inputs && i < a->count; i++) {
        ntr_dealloc(a->allocator, a->inputs[i].captures);
        ntr_dealloc(a->allocator, a->inputs[i].images);
        ntr_dealloc(a->allocator, a->inputs[i].views);
        ntr_dealloc(a->allocator, a->inputs[i].functions);
    }
    ntr_dealloc(a->allocator, a->inputs);
    ntr_tables_release(&a->sum);
}

/* The first error of an input becomes that of the first partial. */
static ntr_status input_error(ntr_adding *a) {
    ntr_partial *first = a->inputs[0].partial;
    for (size_t i = 0; i < a->count; i++) {
        ntr_partial *p = a->inputs[i].partial;
        ntr_status status = p->reader.status ? p->reader.status : ntr_block_skip(&p->reader);
        if (status == NTR_OK) continue;
        ntr_partial_reader_error(p);
        if (p != first) memcpy(first->error, p->error, sizeof first->error);
        return status;
    }
    return NTR_OK;
}

static ntr_status write_sum(ntr_adding *a, const ntr_output *output) {
    ntr_block_writer_start(&a->out, output, a->allocator);
    ntr_tables_put(&a->sum, &a->out);
    ntr_status status = NTR_OK;
    if (a->sum.holds & NTR_PARTIAL_EVENTS) {
        ntr_block_writer_flush(&a->out);
        status = a->out.status ? a->out.status : ntr_partial_copy_events(a->inputs[0].partial, output);
    } else {
        ntr_adding_rows(a);
        if (a->sum.holds & NTR_PARTIAL_TREE) status = ntr_adding_nodes(a);
    }
    ntr_status failed = input_error(a);
    if (status || failed) a->out.status = status ? status : failed;
    return ntr_block_writer_finish(&a->out);
}

ntr_status ntr_partial_add(ntr_partial *const *partials, size_t count, const ntr_output *output) {
    if (!count || count > NTR_PARTIAL_INPUTS_MAX) return NTR_E_INVALID;
    ntr_adding a = {.allocator = partials[0]->allocator, .count = count, .sum.allocator = partials[0]->allocator};
    ntr_status status = start_inputs(&a, partials);
    if (status == NTR_OK) status = check_inputs(&a);
    if (status == NTR_OK) status = ntr_adding_tables(&a);
    if (status == NTR_OK) status = write_sum(&a, output);
    release(&a);
    return status;
}
