/* What is collected for capture.json while a program runs: its files, and the code bytes that no file has. */
#ifndef NTR_CAPTURE_RECORD_H
#define NTR_CAPTURE_RECORD_H

#include "capture/code.h"
#include "capture/error.h"

#include <ntrace/bundle.h>

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
    const char *unread; /* a file that could not be copied when it was mapped; NULL: none */
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

/* Copy the files that name code generated at run time by the process, before ntr_capture_record_code. */
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
