/* What is collected for capture.json while a program runs: its files, and the code bytes that no file has. */
#ifndef NTR_CAPTURE_RECORD_H
#define NTR_CAPTURE_RECORD_H

#include "capture/code.h"
#include "capture/error.h"

#include <ntrace/bundle.h>

/* A copy of a file in the bundle. */
struct ntr_capture_copy {
    uint64_t device, inode, size;
    int64_t changed; /* ns */
    const char *name, *file, *build_id;
};

/* A line of the list of mappings, or a name of generated code (generated.h). */
struct ntr_capture_mapping {
    uint64_t start, end, bias;
    size_t copy; /* SIZE_MAX: the file is no ELF file, or could not be copied */
    size_t image; /* the one that is valid now; SIZE_MAX: none */
    const char *path; /* of the file */
    const char *name, *file; /* of generated code, and the file that names it; NULL: a line of the list */
    uint64_t from; /* of generated code: the stream offset at which it became the current one */
    uint64_t ended; /* where it was replaced; 0: it was not */
    bool current; /* the last block that was executed here is of this file */
    bool executed;
};

/* A name for the addresses [start, end) and stream offsets from <= offset < until (until 0: no end). */
struct ntr_capture_named {
    uint64_t start, end, from, until;
    const char *name, *file;
};

struct ntr_capture_record {
    ntr_bundle *bundle;
    const ntr_allocator *allocator;
    struct ntr_capture_reason *reason;
    unsigned xlen;
    unsigned isa; /* extensions of the CPU */
    ntr_program *program; /* the ELF files, for their symbols */
    ntr_bundle_image *images;
    size_t image_count, image_capacity;
    struct ntr_capture_copy *copies; /* of files (mapped.h) */
    size_t copy_count, copy_capacity;
    struct ntr_capture_mapping *mappings; /* by line of the list, of the program that runs */
    size_t mapping_count, mapping_capacity, maps_read;
    uint32_t *lines; /* line of the list, from 1: number of its mapping, from 1 */
    size_t line_count, line_capacity;
    struct ntr_capture_generated *generated; /* of the program that runs; NULL: it has named no code */
    struct ntr_capture_name_entry *generated_entries;
    struct ntr_capture_named *named; /* names of generated code that have ended */
    size_t named_count, named_capacity;
    const char *unread; /* a file that could not be copied when it was mapped; NULL: none */
    const char *changed; /* a file of which other bytes were executed; NULL: none */
    uint64_t changed_at; /* address of the first one that was found */
    bool changed_code; /* most bytes of a part of the code are others: the file does not name it */
    int pid;            /* of the program; 0: not known */
    const struct ntr_capture_record *parent; /* of the process that forked this one, while that is adopted, or NULL */
    char **names; /* strings of the images */
    size_t name_count, name_capacity;
    size_t first;      /* images before this one are those of programs that have ended by execve */
    uint64_t from;     /* offset in the stream at which the program began */
    unsigned programs; /* ended by execve */
    int64_t begun;     /* time when the process began; older files of names are not its own */
    bool partial;      /* the capture goes on: code is written to a file "images/part-N" */
    unsigned part;     /* number of the last such file; 0: none */
};

void ntr_capture_record_release(struct ntr_capture_record *record);

/* A new image, all zero. Returns NULL when out of memory. */
ntr_bundle_image *ntr_capture_record_image(struct ntr_capture_record *record);

/* Take ownership of a string from the allocator. Returns NULL, and frees the string, when out of memory. */
const char *ntr_capture_record_keep(struct ntr_capture_record *record, char *text);

/* A copy of a string, owned by the record. Returns NULL when out of memory. */
const char *ntr_capture_record_text(struct ntr_capture_record *record, const char *path);

ntr_status ntr_capture_record_fail(const struct ntr_capture_record *record, ntr_status status);

/* Copy the files that name code generated at run time by the process, before ntr_capture_record_code. `pid` 0: its perf
 * map is that of another program. */
ntr_status ntr_capture_record_names(struct ntr_capture_record *record, const char *lines, size_t size, int pid);

/* Write the code bytes that no file has to a new file of the bundle: "images/code", of a program after execve
 * "images/code-2" and so on. Ranges with few unknown bytes in
 * between become one image, because readers take longer with many small images; the unknown bytes, which were not
 * executed, are 0 in it. */
ntr_status ntr_capture_record_code(struct ntr_capture_record *record, const struct ntr_capture_code *code);

/* Remove the file of code that an earlier capture.json referred to. */
void ntr_capture_record_drop_part(const struct ntr_capture_record *record, unsigned part);

/* The program was replaced by another one (execve), the first message of which is at offset `until`. */
ntr_status ntr_capture_record_next(struct ntr_capture_record *record, uint64_t until);

/* Calls `visit` with every stream offset that is noted, to be changed in place. */
void ntr_capture_record_positions(struct ntr_capture_record *record, void (*visit)(void *user, uint64_t *position),
                                  void *user);

#endif
