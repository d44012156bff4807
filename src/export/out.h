/* Buffered text and bytes; the first failure sticks, so that writers need not look at every step. */
#ifndef NTR_EXPORT_OUT_H
#define NTR_EXPORT_OUT_H

#include <ntrace/export.h>
#include <stdarg.h>

typedef struct ntr_out {
    ntr_output output;
    ntr_status status;
    size_t used;
    char buffer[1 << 16];
} ntr_out;

void ntr_out_bytes(ntr_out *out, const void *bytes, size_t size);
void ntr_out_text(ntr_out *out, const char *text);
void ntr_out_char(ntr_out *out, char c);
void ntr_out_hex(ntr_out *out, uint64_t value); /* lower case, no 0x */
void ntr_out_dec(ntr_out *out, uint64_t value);
/* At most 1 KiB a call. */
void ntr_out_format(ntr_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "text" with quotes, escaped as JSON wants; NULL gives null. */
void ntr_out_json(ntr_out *out, const char *text);
/* Escaped for XML text and attributes; control characters become blanks. */
void ntr_out_xml(ntr_out *out, const char *text);
ntr_status ntr_out_flush(ntr_out *out);

#endif
