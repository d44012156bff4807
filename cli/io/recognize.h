/* What a file is, by its content: for messages about an input of another kind than the command takes. */
#ifndef CLI_IO_RECOGNIZE_H
#define CLI_IO_RECOGNIZE_H

#include <ntrace/bytes.h>

#include <stdbool.h>

/* Bytes from the beginning of a file with which its kind is recognized. */
enum { CLI_RECOGNIZE_BYTES = 4096 };

struct cli_recognized {
    char what[80];  /* "a program (ELF for RISC-V)"; "": not recognized, it may be a trace */
    char next[512]; /* what to do with it: "'ntrace run hello' traces it"; may be "" */
    bool is_elf;    /* a program or library for RISC-V: what -e takes */
    bool is_trace;  /* a bundle, perf.data, or messages of N-Trace: what TRACE takes */
};

/* Recognizes a file by its first bytes; `path` is its name in `next`. */
struct cli_recognized cli_recognize_bytes(const char *path, ntr_bytes beginning);

/* Recognizes a file or a folder. A file that cannot be read is not recognized. */
struct cli_recognized cli_recognize(const char *path);

/* If these bytes are the beginning of something else than a trace, reports what it is and returns CLI_FAILED; otherwise
 * CLI_OK. */
int cli_refuse_trace(const char *path, ntr_bytes beginning);

/* Reports that a file is no program, and what it is, and returns CLI_FAILED. `option` is the option that gives it. */
int cli_refuse_program(const char *option, const char *path, const char *error);

/* Refuses a core file: it has the memory of a process, and often no code. */
int cli_refuse_memory(const char *option, const char *path);

/* The same for a command that reads text: `expected` says what, such as "a list of program counters"; `allowed` are the
 * words by which such a text is recognized, besides plain text. */
int cli_refuse_text(const char *path, const char *expected, const char *allowed);

struct cli_list;

/* The same for the file or folder `path`, which is to be a trace. `images`: options of program images, -e among them;
 * may be NULL. */
int cli_refuse_operand(const char *path, const struct cli_list *images);

#endif
