/* Further content of a program: names and code of files that Linux writes at run time, instructions of vendors, files
 * without their names; and what is known of files that cannot be read in full. */
#ifndef NTRACE_PROGRAM_FILES_H
#define NTRACE_PROGRAM_FILES_H

#include <ntrace/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ELF files that are added from now on have no names: neither symbols nor ranges of functions are read. For answers
 * without names; large files are opened faster. The table of CM.JT and CM.JALT stays known. */
NTR_API void ntr_program_omit_names(ntr_program *program);

/* Adds the symbols of another ELF file to image number `index`: of a separate debug file, whose addresses are those of
 * the image, or of the contents of .gnu_debugdata. `file` is the whole file; nothing of it is kept. Allowed when adding
 * an image is. Errors: NTR_E_FORMAT (as ntr_program_add_elf; the symbols before the damage are used), NTR_E_INVALID
 * (index), NTR_E_MEMORY, NTR_E_UNSUPPORTED (built without libelf). */
NTR_API ntr_status ntr_program_add_debug_symbols(ntr_program *program, size_t index, ntr_bytes file);

/* Returns text number `index` about parts of the files that could not be read, other than code, or that have several
 * meanings, or NULL after the last one. Names are missing or may be wrong then. Valid until the next image is added. */
NTR_API const char *ntr_program_damage(const ntr_program *program, size_t index);

/* Adds to these texts the files that were written to since they were added: what was read of them may be of either
 * content. A file that is truncated meanwhile raises SIGBUS when it is read, which only the process can catch. */
NTR_API void ntr_program_check_files(ntr_program *program);

/* Adds names of code generated at run time from a perf-PID.map of Linux: lines "START SIZE NAME" with hexadecimal
 * numbers. Where two overlap, the later line is used. The names are used for addresses without a symbol in any image.
 * `from` and `until` of `options` are ignored. An incomplete last line is ignored: its process ended while writing it.
 * Errors: NTR_E_IO, NTR_E_FORMAT (any other invalid line), NTR_E_INVALID, NTR_E_MEMORY. */
NTR_API ntr_status ntr_program_add_perf_map(ntr_program *program, const char *path, const ntr_image_options *options);

/* Returns the stream offset at a time of CLOCK_MONOTONIC in nanoseconds. */
typedef uint64_t (*ntr_position_of_time)(void *user, uint64_t time);

/* Adds code generated at run time, and its names, from a jitdump file (jit-PID.dump). Code is valid from the stream
 * offset at which it was loaded or moved, as `when` returns it, until other code is loaded at the same address. With
 * `when` NULL, the last code at an address is valid always. An incomplete last record is ignored.
 * Errors: NTR_E_IO, NTR_E_FORMAT (not a jitdump, not RISC-V, a damaged record), NTR_E_INVALID, NTR_E_MEMORY. */
NTR_API ntr_status ntr_program_add_jitdump(ntr_program *program, const char *path, const ntr_image_options *options,
                                           ntr_position_of_time when, void *user);

/* Adds only the names of a jitdump file, as those of a perf map: for a program that has the code from elsewhere. The
 * errors are the same. */
NTR_API ntr_status ntr_program_add_jitdump_names(ntr_program *program, const char *path,
                                                 const ntr_image_options *options);

/* Adds the instructions that a text file describes: encodings of a vendor, and the class of each. A line is "MASK MATCH
 * CLASS [offset=FIELDS]"; docs/isa.md has the words. They prevail over what the ISA says. Allowed when adding an image
 * is. Errors: NTR_E_IO, NTR_E_FORMAT (a line, which ntr_program_error names), NTR_E_MEMORY. */
NTR_API ntr_status ntr_program_add_instructions(ntr_program *program, const char *path);

/* Addresses of instructions of unknown class that are counted at most. */
#define NTR_UNKNOWN_MAX 1024

/* Returns at how many addresses decoders of this program reached an instruction whose class is not known (not
 * ntr_insn_is_known, and not described), which they took for a linear one. `lowest`, which has no context, is the
 * lowest of them, at a stream offset at which its code is valid. Call it when they have finished. */
NTR_API uint64_t ntr_program_unknown(const ntr_program *program, ntr_place *lowest);

/* Forgets these addresses: what was decoded so far was a trial. */
NTR_API void ntr_program_forget_unknown(const ntr_program *program);

/* Returns whether no image has a `from` or an `until`: the position of a place does not matter. */
NTR_API bool ntr_program_is_constant(const ntr_program *program);

#ifdef __cplusplus
}
#endif
#endif
