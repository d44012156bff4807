#include "perf/state.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "dialect/params.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

bool ntr_perf_data_seen(ntr_bytes beginning) {
    return ntr_perf_file_is(beginning);
}

bool ntr_perf_folder_seen(const char *path) {
    char name[4096];
    uint8_t bytes[16];

    if (snprintf(name, sizeof name, "%s/data", path) >= (int)sizeof name) return false;
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    size_t size = 0;
    while (size < sizeof bytes) {
        const ssize_t got = read(file, bytes + size, sizeof bytes - size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        size += (size_t)got;
    }
    close(file);
    return ntr_perf_file_is((ntr_bytes){bytes, size});
}

ntr_perf_data *ntr_perf_data_new(const ntr_allocator *allocator) {
    ntr_perf_data *data = ntr_alloc(allocator, 1, sizeof *data);

    if (!data) return NULL;
    if (allocator) {
        data->allocator_copy = *allocator;
        data->allocator = &data->allocator_copy;
    }
    data->file.allocator = data->allocator;
    ntr_params_init(&data->params, NULL);
    return data;
}

static void release_buffers(ntr_perf_data *data) {
    for (size_t i = 0; i < data->buffer_count; i++) {
        struct ntr_perf_buffer *b = &data->buffers[i];
        for (size_t k = 0; k < b->fragment_count; k++) ntr_dealloc(data->allocator, b->fragments[k].copy);
        ntr_dealloc(data->allocator, b->fragments);
        ntr_dealloc(data->allocator, b->out);
    }
    ntr_dealloc(data->allocator, data->buffers);
}

void ntr_perf_data_free(ntr_perf_data *data) {
    if (!data) return;
    ntr_allocator copy = data->allocator_copy;
    const ntr_allocator *allocator = data->allocator ? &copy : NULL;
    void *blocks[] = {data->path,    data->mappings, data->starts, data->names,  data->switches,
                      data->changes, data->pokes,    data->owners, data->pieces, data->processes};

    release_buffers(data);
    for (size_t i = 0; i < data->loss_count; i++) ntr_dealloc(allocator, (void *)(uintptr_t)data->losses[i]);
    ntr_dealloc(allocator, data->losses);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ntr_dealloc(allocator, blocks[i]);
    ntr_perf_file_release(&data->file);
    ntr_dealloc(allocator, data);
}

static char *copy_text(const ntr_allocator *allocator, const char *text) {
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
    *loss = copy_text(data->allocator, text);
    if (*loss) return NTR_OK;
    data->loss_count--;
    return NTR_E_MEMORY;
}

static ntr_status understand(ntr_perf_data *data) {
    TRY(ntr_perf_aux_find(data));
    TRY(ntr_perf_form_find(data));
    TRY(ntr_perf_tasks_read(data));
    TRY(ntr_perf_running_read(data));
    if (data->file.cut) TRY(ntr_perf_lose(data, "%s: the file is damaged, or its end is missing", data->path));
    if (data->file.lost)
        TRY(ntr_perf_lose(data, "%llu records of the kernel were lost", (unsigned long long)data->file.lost));
    return NTR_OK;
}

static ntr_status ended(ntr_perf_data *data, ntr_status status) {
    if (status == NTR_OK) return status;
    snprintf(data->error, sizeof data->error, "%s", data->file.error[0] ? data->file.error : ntr_status_text(status));
    return status;
}

ntr_status ntr_perf_data_open(ntr_perf_data *data, const char *path) {
    data->path = copy_text(data->allocator, path);
    if (!data->path) return ended(data, NTR_E_MEMORY);
    ntr_status status = ntr_perf_file_open(&data->file, path);
    return ended(data, status == NTR_OK ? understand(data) : status);
}

ntr_status ntr_perf_data_read(ntr_perf_data *data, const char *name, ntr_bytes bytes) {
    data->path = copy_text(data->allocator, name);
    if (!data->path) return ended(data, NTR_E_MEMORY);
    ntr_status status = ntr_perf_file_read(&data->file, name, bytes);
    return ended(data, status == NTR_OK ? understand(data) : status);
}

const char *ntr_perf_data_error(const ntr_perf_data *data) {
    return data->error;
}

const char *ntr_perf_data_producer(const ntr_perf_data *data) {
    return data->producer ? data->producer : "";
}

uint32_t ntr_perf_data_params(const ntr_perf_data *data, ntr_params *params) {
    ntr_params_copy(params, &data->params, data->params_set);
    return data->params_set;
}

ntr_bytes ntr_perf_data_sample(const ntr_perf_data *data) {
    for (size_t i = 0; i < data->buffer_count; i++)
        for (size_t k = 0; k < data->buffers[i].fragment_count; k++)
            if (data->buffers[i].fragments[k].size)
                return (ntr_bytes){data->buffers[i].fragments[k].bytes, (size_t)data->buffers[i].fragments[k].size};
    return (ntr_bytes){0};
}

const ntr_perf_process *ntr_perf_data_process(const ntr_perf_data *data, size_t index) {
    return index < data->process_count ? &data->processes[index] : NULL;
}

const char *ntr_perf_data_loss(const ntr_perf_data *data, size_t index) {
    return index < data->loss_count ? data->losses[index] : NULL;
}
