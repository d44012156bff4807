/* A growing text, and numbers in the forms of the protocol. */
#ifndef NTR_GDB_TEXT_H
#define NTR_GDB_TEXT_H

#include <ntrace/allocator.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ntr_gdb_text {
    const ntr_allocator *allocator;
    char *bytes; /* ends with a NUL that `size` does not count */
    size_t size, capacity;
    bool failed; /* out of memory: the text is incomplete */
} ntr_gdb_text;

void ntr_gdb_text_clear(ntr_gdb_text *text);
void ntr_gdb_text_add(ntr_gdb_text *text, const void *bytes, size_t size);
__attribute__((format(printf, 2, 3))) void ntr_gdb_text_print(ntr_gdb_text *text, const char *format, ...);

/* Adds bytes as hexadecimal digits; a value of `bits` bits, least significant byte first; or as many `x`. */
void ntr_gdb_text_hex(ntr_gdb_text *text, const void *bytes, size_t size);
void ntr_gdb_text_value(ntr_gdb_text *text, uint64_t value, unsigned bits);
void ntr_gdb_text_unknown(ntr_gdb_text *text, unsigned bits);

/* Adds text for the value of an XML attribute. */
void ntr_gdb_text_xml(ntr_gdb_text *text, const char *value);

void ntr_gdb_text_release(ntr_gdb_text *text);

/* Reads a hexadecimal number at *at, and moves behind it. Returns false when there is none, or one of more than 64
 * bits. */
bool ntr_gdb_number(const char **at, uint64_t *number);

/* Returns the value of a hexadecimal digit, or -1. */
int ntr_gdb_digit(char c);

/* The same for a character that must follow. */
bool ntr_gdb_character(const char **at, char expected);

#endif
