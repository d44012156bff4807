/* Scripts of a capture, in the languages of debuggers. */
#ifndef NTR_TARGET_SCRIPT_H
#define NTR_TARGET_SCRIPT_H

#include "system/bring_up.h"
#include "target/target.h"

typedef struct script_writer {
    const ntr_script_options *options;
    ntr_target *target;
    trace_component *sink;
    ntr_status *status;
} script_writer;

typedef struct script_language {
    const char *kind;
    void (*begin)(const script_writer *writer);  /* procedures, and the beginning of the start */
    void (*step)(const script_writer *writer, const bring_up_step *step);
    void (*run)(const script_writer *writer);    /* the end of the start, and the time in between */
    void (*read)(const script_writer *writer);   /* stop, registers and words, to the file */
} script_language;

extern const script_language script_openocd, script_gdb;

/* ---- script_writer.c */

/* Writes a line. One that does not fit is an error of the script (*writer->status). */
void script_put(const script_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns whether the sink is a RAM sink and the only sink. */
bool script_one_sink(const script_writer *writer);

/* Name of the file of words. */
const char *script_words(const script_writer *writer);

/* Calls `put` for each register whose value is in the file: those of components that the sink's trace passes. */
void script_registers(const script_writer *writer, void (*put)(const script_writer *writer, uint64_t address));

/* Writes the call of a procedure of the script, and the place of the field of the step as its first arguments: address,
 * mask, lowest bit. */
void script_field(const script_writer *writer, const char *name, const bring_up_step *step);

#endif
