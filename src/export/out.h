/* Buffered output. The first error is kept in `status`, so that callers check it once at the end. */
#ifndef NTR_EXPORT_OUT_H
#define NTR_EXPORT_OUT_H

#include <ntrace/export.h>
#include <stdarg.h>

typedef struct ntr_out {
    ntr_output output;
    ntr_status status;
    bool in_script; /* the JSON is inside a <script> element and must not contain '<' */
    size_t used;
    char buffer[1 << 16];
} ntr_out;

void ntr_out_bytes(ntr_out *out, const void *bytes, size_t size);
void ntr_out_text(ntr_out *out, const char *text);
/* A name or text of an input in a format of lines: '?' for what would end the line or control a terminal. */
void ntr_out_line(ntr_out *out, const char *text);
void ntr_out_shown(ntr_out *out, const char *text); /* also for bytes that are not UTF-8: on a terminal */
void ntr_out_char(ntr_out *out, char c);
void ntr_out_hex(ntr_out *out, uint64_t value); /* lower case, no 0x */
void ntr_out_dec(ntr_out *out, uint64_t value);
/* At most 1 KiB per call. */
void ntr_out_format(ntr_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes "text" with quotes and JSON escapes; NULL is written as null. */
void ntr_out_json(ntr_out *out, const char *text);
void ntr_out_json_bytes(ntr_out *out, const char *text, size_t size);
/* Writes text escaped for XML text and attributes; control characters become spaces. */
void ntr_out_xml(ntr_out *out, const char *text);

/* Returns `text`, or a copy that is truncated and ends in an ellipsis. C++ names can have thousands of characters. */
#define NTR_OUT_SHORT 240
const char *ntr_out_shorten(const char *text, char copy[NTR_OUT_SHORT + 4]);

ntr_status ntr_out_flush(ntr_out *out);

#endif
