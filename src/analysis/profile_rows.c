#include "analysis/profile_rows.h"

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

ntr_profile_row *ntr_profile_add(ntr_profile *p, size_t *capacity) {
    if (ntr_reserve(p->allocator, (void **)&p->rows, capacity, p->count + 1, sizeof *p->rows)) return NULL;
    ntr_profile_row *row = &p->rows[p->count++];
    memset(row, 0, sizeof *row);
    return row;
}

ntr_profile_row ntr_profile_function_row(const ntr_function *function) {
    return (ntr_profile_row){
        .name = function->name,
        .file = function->file,
        .image = function->image,
        .line = function->line,
        .address = function->low,
    };
}

static int compare_self(const ntr_profile_row *x, const ntr_profile_row *y) {
    if (x->self != y->self) return x->self > y->self ? -1 : 1;
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

#define BY(key, member)                                                                                                \
    static int by_##key(const void *a, const void *b) {                                                                \
        const ntr_profile_row *x = a, *y = b;                                                                          \
        return x->member != y->member ? (x->member > y->member ? -1 : 1) : compare_self(x, y);                         \
    }
BY(self, self)
BY(total, total)
BY(calls, calls)
BY(ticks, self_ticks)
BY(total_ticks, total_ticks)
#undef BY

void ntr_profile_sort(ntr_profile *profile, ntr_profile_key key) {
    static int (*const orders[])(const void *, const void *) = {
        [NTR_PROFILE_KEY_SELF] = by_self,
        [NTR_PROFILE_KEY_TOTAL] = by_total,
        [NTR_PROFILE_KEY_CALLS] = by_calls,
        [NTR_PROFILE_KEY_TICKS] = by_ticks,
        [NTR_PROFILE_KEY_TOTAL_TICKS] = by_total_ticks,
    };
    if (profile->count) qsort(profile->rows, profile->count, sizeof *profile->rows, orders[key]);
}

void ntr_profile_release(ntr_profile *profile) {
    ntr_dealloc(profile->allocator, profile->rows);
    *profile = (ntr_profile){.allocator = profile->allocator};
}

ntr_status ntr_profile_finish(ntr_profile *profile, ntr_status status) {
    if (status) {
        ntr_profile_release(profile);
        return status;
    }
    for (size_t i = 0; i < profile->count; i++) {
        profile->instructions += profile->rows[i].self;
        profile->ticks += profile->rows[i].self_ticks;
    }
    ntr_profile_sort(profile, NTR_PROFILE_KEY_SELF);
    return NTR_OK;
}
