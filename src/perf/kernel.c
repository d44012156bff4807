/* The kernel that ran: its release, the mode of its code, and which mappings are modules. */
#include "perf/bytes.h"
#include "perf/images.h"

#include <string.h>
#include <stdio.h>

/* "/lib/modules/6.18.3/kernel/drivers/block/virtio-blk.ko.xz" and "[virtio_blk]" are virtio_blk. */
void ntr_perf_module_name(const char *path, char name[NTR_PERF_MODULE_NAME]) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path + (*path == '[');
    const char *end = strstr(base, ".ko");
    const size_t size = end ? (size_t)(end - base) : strcspn(base, "]");

    snprintf(name, NTR_PERF_MODULE_NAME, "%.*s", (int)(size < NTR_PERF_MODULE_NAME ? size : NTR_PERF_MODULE_NAME - 1),
             base);
    for (char *at = name; *at; at++)
        if (*at == '-') *at = '_';
}

const char *ntr_perf_kernel_release(const struct ntr_perf_data *data) {
    ntr_bytes feature = data->file.features[NTR_PERF_FEATURE_RELEASE];
    struct ntr_perf_cursor c = ntr_perf_cursor_at(feature.data, feature.size);

    if (!feature.data) return NULL;
    ntr_perf_u32(&c);
    return ntr_perf_text(&c);
}

void ntr_perf_bind_kernel(const struct ntr_perf_data *data, ntr_image_options *o) {
    o->has_prv = data->modes_sent; /* else its addresses are enough: Linux has them in another half */
    o->prv = 1;
}

bool ntr_perf_mapping_is_module(const struct ntr_perf_mapping *m) {
    return m->pid == NTR_PERF_NOBODY && strncmp(m->path, "[kernel", 7) != 0 && strncmp(m->path, "[guest", 6) != 0 &&
           (*m->path == '[' || *m->path == '/');
}
