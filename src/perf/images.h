/* Mapped files as images of a program. */
#ifndef NTR_PERF_IMAGES_H
#define NTR_PERF_IMAGES_H

#include "perf/state.h"

enum { NTR_PERF_PATH = 4096 };

/* One search for a file. */
struct ntr_perf_search {
    const struct ntr_perf_data *data;
    const ntr_perf_config *config;
    const uint8_t *id; /* build id */
    size_t id_size;    /* 0: not known */
    char path[NTR_PERF_PATH];   /* the file, when it is found */
    char unread[NTR_PERF_PATH + 256]; /* why a file that may be it cannot be read; "": none */
    bool any;          /* there is a file, perhaps with another build id */
    bool packed;       /* ... a compressed one, which cannot be unpacked */
    bool other_copy;   /* there is a copy of /proc/kcore, of another kernel */
};

/* files.c: return whether the file is found. */
bool ntr_perf_file_find(struct ntr_perf_search *search, const char *path);
bool ntr_perf_kernel_find(struct ntr_perf_search *search, const char *release);
bool ntr_perf_file_of_build_id(struct ntr_perf_search *search); /* in perf's folder */

/* files.c: returns whether the file exists and is not known to be another one. */
bool ntr_perf_file_fits(struct ntr_perf_search *search, const char *path);

/* kernel.c: the release of the kernel, or NULL; in which contexts the kernel's code is visible; whether a mapping is
 * one of a module. */
const char *ntr_perf_kernel_release(const struct ntr_perf_data *data);
void ntr_perf_bind_kernel(const struct ntr_perf_data *data, ntr_image_options *options);
bool ntr_perf_mapping_is_module(const struct ntr_perf_mapping *mapping);

/* modules.c: the name of a module, from that of its file or of its mapping. */
enum { NTR_PERF_MODULE_NAME = 256 };
void ntr_perf_module_name(const char *path, char name[NTR_PERF_MODULE_NAME]);

/* modules.c. Finds the file of a module and lists it; `has_code`: the program has its code. After the last one,
 * ntr_perf_modules_end says which files are not there. Errors: NTR_E_MEMORY. */
ntr_status ntr_perf_module_find(struct ntr_perf_data *data, struct ntr_perf_search *search,
                                const struct ntr_perf_mapping *mapping, bool has_code);
ntr_status ntr_perf_modules_end(struct ntr_perf_data *data);

/* kcore.c: if there is a copy of the running kernel's memory, adds its code and that of modules, and all their names.
 * Sets data->kernel_copied, and `copied` of the modules. Errors: NTR_E_MEMORY. */
ntr_status ntr_perf_kcore_load(struct ntr_perf_data *data, struct ntr_perf_search *search,
                               const struct ntr_perf_mapping *kernel, ntr_program *program);

/* images.c: what has to be added to the addresses of the file when `offset` is mapped at `address`. False: no segment
 * is there. */
bool ntr_perf_bias(const char *path, uint64_t address, uint64_t offset, uint64_t length, uint64_t *bias);

#endif
