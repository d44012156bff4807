/* Samples, and the file perf.data that is made of them. */
#ifndef NTR_EXPORT_PERF_RECORD_H
#define NTR_EXPORT_PERF_RECORD_H

#include "export/export.h"

typedef struct ntr_perf_branch {
    uint64_t from, to;
    uint8_t end; /* ntr_span_end */
} ntr_perf_branch;

typedef struct ntr_perf_sample {
    uint64_t time, number, period; /* `number`: instructions of the source up to this one */
    uint64_t address;
    uint32_t pid, chain; /* `chain`: node */
    uint16_t src, branches;
    bool kernel;
} ntr_perf_sample;

/* An image begins or ends at a stream offset. Samples before it are earlier than `time`, the others are not. */
typedef struct ntr_perf_change {
    uint64_t position, time;
    size_t image;
} ntr_perf_change;

/* A return address. Node 0 is the root. */
typedef struct ntr_perf_node {
    uint64_t return_to;
    uint32_t parent, depth;
} ntr_perf_node;

typedef struct ntr_perf_samples {
    const ntr_allocator *allocator;
    ntr_perf_sample *items;
    size_t count, capacity;
    unsigned depth; /* branches of a sample; 0: none */
    ntr_perf_branch *branches;
    size_t branch_capacity;
    ntr_perf_node *nodes;
    size_t node_count, node_capacity;
    uint32_t *table; /* nodes by parent and return address; 0: free */
    size_t table_size;
    ntr_perf_change *changes; /* in order; of files, and of code without a file where a file is or was */
    size_t change_count, changes_reached;
    size_t *files; /* numbers of the images with a file */
    size_t file_count;
} ntr_perf_samples;

/* The process id that perf shows for a context: its scontext, or 1. */
uint32_t ntr_perf_pid(const ntr_context *context);

/* Lists the changes of a program. Errors: NTR_E_MEMORY. */
ntr_status ntr_perf_changes_begin(ntr_perf_samples *samples, const ntr_program *program);

/* Finds the next addresses [*first, *end) from *first on of an image without a file that no file names. */
bool ntr_perf_memory(const ntr_program *program, const ntr_image_info *image, size_t number, uint64_t *first,
                     uint64_t *end);

/* Make the root. Errors: NTR_E_MEMORY. */
ntr_status ntr_perf_chain_begin(ntr_perf_samples *samples);

/* The node of a call from `parent` that returns to this address. Out of memory, or at the largest depth: `parent`. */
uint32_t ntr_perf_chain_child(ntr_perf_samples *samples, uint32_t parent, uint64_t return_to);

/* Append a sample with the last branches of a ring, of which `branches` were recorded. Returns 0, or -1 when out of
 * memory. */
int ntr_perf_samples_add(ntr_perf_samples *samples, const ntr_perf_sample *sample, const ntr_perf_branch *ring,
                         uint32_t branches);
void ntr_perf_samples_release(ntr_perf_samples *samples);

/* Copy the program file `original`, image number `number`, to OUTPUT.images without mapping symbols that perf takes for
 * functions, and store the path of the copy. A copy is a new file; links in its path are not followed. Returns NTR_END
 * when the file has no such symbols or the output is no file. Errors: NTR_E_MEMORY; NTR_E_IO (also a damaged file). */
ntr_status ntr_perf_clean(const ntr_export *x, size_t number, const char *original, char *path, size_t room);

/* Remove the copy of an image, and its folders if they are empty. */
void ntr_perf_clean_remove(const ntr_export *x, size_t number, const char *original);

/* Write the file. `every`: the interval of the samples. Errors: NTR_E_MEMORY, those of the output. */
ntr_status ntr_perf_file_write(ntr_export *x, ntr_perf_samples *samples, uint64_t every);

/* Remove all files that were written beside the output. */
void ntr_perf_abandon(ntr_export *x);

#endif
