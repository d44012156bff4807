/* Mapped files as images of a program. */
#ifndef NTR_PERF_IMAGES_H
#define NTR_PERF_IMAGES_H

#include "perf/state.h"

/* One search for a file. */
struct ntr_perf_search {
    const struct ntr_perf_data *data;
    const ntr_perf_config *config;
    const uint8_t *id; /* build id */
    size_t id_size;    /* 0: not known */
    char path[4096];   /* the file, when it is found */
    bool any;          /* there is a file, perhaps with another build id */
};

/* files.c: return whether the file is found. */
bool ntr_perf_file_find(struct ntr_perf_search *search, const char *path);
bool ntr_perf_kernel_find(struct ntr_perf_search *search, const char *release);

/* files.c: returns whether the file exists and is not known to be another one. */
bool ntr_perf_file_fits(struct ntr_perf_search *search, const char *path);

/* elf.c: what has to be added to the addresses of the file when `offset` is mapped at `address`. False: no segment is
 * there. */
bool ntr_perf_bias(const char *path, uint64_t address, uint64_t offset, uint64_t length, uint64_t *bias);

#endif
