/* What an answer lacks, as sentences. */
#include "perf/state.h"

#include "base/allocator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *ntr_perf_copy_text(const ntr_allocator *allocator, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = ntr_alloc(allocator, size, 1);

    if (copy) memcpy(copy, text, size);
    return copy;
}

/* Equal sentences, one for each process with the same file, are said once. */
ntr_status ntr_perf_lose(struct ntr_perf_data *data, const char *format, ...) {
    enum { LOSSES_MAX = 1000 };
    char text[4096 + 128];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < data->loss_count; i++)
        if (strcmp(data->losses[i], text) == 0) return NTR_OK;
    if (data->loss_count == LOSSES_MAX) return NTR_OK;
    const char **loss = NTR_PERF_ADD(data, losses, loss_count, loss_capacity);
    if (!loss) return NTR_E_MEMORY;
    *loss = ntr_perf_copy_text(data->allocator, text);
    if (*loss) return NTR_OK;
    data->loss_count--;
    return NTR_E_MEMORY;
}
