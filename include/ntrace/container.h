/* Containers: files in which a producer's own tool stores a stream, recognized by their content.
 *
 * A container has a header with parameters of the stream, and may carry the stream in a form of its own. Call
 * ntr_container_find with the beginning of a file, then pass all bytes of the file through ntr_container_read.
 * docs/dialects.md section 10. */
#ifndef NTRACE_CONTAINER_H
#define NTRACE_CONTAINER_H

#include <ntrace/bytes.h>
#include <ntrace/params.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* This many bytes at the beginning of a file always suffice to recognize a container. */
#define NTR_CONTAINER_HEADER_MAX 1024

typedef struct ntr_container {
    const char *name;     /* "andes", "andes-text", "xuantie", "ctte", "tt-dfd" */
    const char *producer; /* in words */
    ntr_params params;    /* what the header says */
    uint32_t given;       /* set (1 << ntr_parameter) of the parameters that it says */
    char facts[120];      /* the header in words */
    /* The state of ntr_container_read; private. */
    const struct container_ops *ops;
    uint64_t skip;   /* bytes of the header that were not read yet */
    bool inside;     /* the stream begins inside a message, whose rest is left out */
    uint8_t record;  /* text: bytes of each record; 0: lines */
    uint8_t at;      /* text: bytes of the current record or line */
    uint32_t word;
} ntr_container;

/* Recognizes a container by the beginning of a file: NTR_CONTAINER_HEADER_MAX bytes, or the whole file if it is
 * shorter. Returns NTR_OK; NTR_END: there is none, the file is a plain stream. Errors: NTR_E_SYNTAX (the header of a
 * container has an error; `facts` says which). */
NTR_API ntr_status ntr_container_find(ntr_bytes beginning, ntr_container *container);

/* A call can complete a word of text that earlier ones began: so many bytes can be written beyond `bytes.size`. */
#define NTR_CONTAINER_MORE 3

/* Converts the next bytes of the file to bytes of the stream; returns their number. `out` has room for `bytes.size` +
 * NTR_CONTAINER_MORE bytes; for the beginning of the file it may be `bytes.data`. */
NTR_API size_t ntr_container_read(ntr_container *container, ntr_bytes bytes, uint8_t *out);

/* Returns whether all further bytes of the file are bytes of the stream. */
NTR_API bool ntr_container_is_plain(const ntr_container *container);

#ifdef __cplusplus
}
#endif
#endif
