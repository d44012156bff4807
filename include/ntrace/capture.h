/* Capture: run a RISC-V Linux program under QEMU user mode and write its trace as a bundle (bundle.h).
 *
 * Every thread is a hart with an encoder and a SRC of its own, or a hart of a modelled trace system. Use:
 *
 *   const char *command[] = {"./hello", NULL};
 *   ntr_capture_config config;
 *   ntr_capture_config_init(&config);
 *   config.command = command;
 *   config.bundle = "hello.ntrace";
 *   config.plugin_dir = "/usr/lib/ntrace";
 *   config.qemu_search = getenv("PATH");
 *   ntr_capture *session;
 *   ntr_capture_new(&config, &session);
 *   ntr_status status = ntr_capture_start(session);
 *   while (status == NTR_OK && (status = ntr_capture_step(session)) == NTR_NEED_MORE) continue;
 *   if (status == NTR_OK) status = ntr_capture_finish(session);
 *   if (status != NTR_OK) puts(ntr_capture_error(session));
 *   ntr_capture_free(session);
 *
 * One session is used by one thread. The library installs no signal handlers. A caller that must survive an
 * interrupt from the terminal installs a handler, and can send signals to ntr_capture_process. A file larger than
 * RLIMIT_FSIZE raises SIGXFSZ, as any write does. */
#ifndef NTRACE_CAPTURE_H
#define NTRACE_CAPTURE_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/config.h>
#include <ntrace/encoder.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Folder of the shared libraries of dynamic programs if `sysroot` is NULL and the folder exists: that of Debian's cross
 * packages. */
#define NTR_CAPTURE_SYSROOT "/usr/riscv64-linux-gnu"

/* A whole machine of QEMU 10 or later, instead of a program under user mode. */
typedef struct ntr_capture_machine_config {
    size_t size; /* sizeof(ntr_capture_machine_config) */
    const char *name; /* -machine of QEMU: "virt", "spike", ..., with its options */
    const char *firmware; /* ELF file or image that the machine starts; NULL: QEMU's own (OpenSBI) */
    const char *kernel, *initrd, *append; /* -kernel, -initrd, -append of QEMU; may be NULL */
    const char *memory; /* -m of QEMU: "512M"; NULL: the default of the machine */
    const char *plugin; /* path of the capture plugin for the version of QEMU */
    unsigned harts; /* 0: 1 */
    unsigned xlen; /* 32 or 64 */
    bool repeatable; /* the same execution in every run; one hart, no input */
    bool no_contexts; /* address spaces are not distinguished */
    const char *const *files; /* folders, cpio archives (also compressed), images of ext2, ext3, ext4 or a disk, and ELF
                               * files with the programs of the guest, beside `initrd`: they name what ran */
    size_t file_count;
    bool no_ownership; /* with a topology: its encoders send no privilege modes and contexts, unless it sets
                        * them to. Otherwise `encoder` says it */
    bool clock; /* ticks of timestamps are those of the CSR time, not instructions. Not with a topology */
} ntr_capture_machine_config;

NTR_DEFINE_CONFIG_INIT(ntr_capture_machine_config)

/* All pointers must stay valid, and the data unchanged, until ntr_capture_free. */
typedef struct ntr_capture_config {
    size_t size; /* sizeof(ntr_capture_config) */
    const ntr_allocator *allocator;
    const char *const *command; /* the program (RISC-V ELF file, or script with a RISC-V interpreter), its
                                 * arguments, NULL */
    const char *bundle; /* folder to write; a bundle of that name is replaced */
    bool compress; /* compress the stream with zstd */
    const char *tool; /* name of the capturing tool for capture.json: "ntrace 0.9.0"; may be NULL */

    const ntr_encoder_config *encoder; /* of every hart, except params.xlen, src_id, sink and allocator; NULL:
                                        * ntr_capture_encoder_defaults and widen_src. Not used with a topology */
    ntr_bytes topology; /* JSON: the trace system to model (docs/system.md); empty: none */
    const char *topology_name; /* for error messages: the name of its file; may be NULL */
    const char *sink; /* name of the sink that holds the stream; NULL: all sinks */

    const char *plugin; /* path of the capture plugin for the version of QEMU; NULL: it is in plugin_dir */
    const char *qemu; /* NULL: qemu-riscv64 or qemu-riscv32 in the folders of qemu_search */
    const char *sysroot; /* -L of QEMU; NULL: NTR_CAPTURE_SYSROOT for dynamic programs */
    const char *cpu; /* -cpu of QEMU; NULL: rv32 or rv64 since QEMU 9, where the program's attributes name nothing
                      * that these do not have, because the default, `max`, is slow; else the default */
    const char *const *qemu_options; /* more options of QEMU */
    size_t qemu_option_count;

    bool follow_fork; /* trace child processes too: NAME.PID.ntrace beside NAME.ntrace. Not allowed with
                       * a topology */
    const char *search; /* where a program without a slash in its name is searched, in the form of PATH,
                         * before the folders of programs below the sysroot; may be NULL */

    uint64_t skip; /* instructions that retire before tracing begins */
    const char *start_at; /* then tracing begins when this address or symbol is reached; NULL: at once */
    const char *stop_at; /* and ends when this one is reached; NULL: with the program */
    uint64_t max_size; /* bytes: keep the most recent part of a longer stream; 0: all of it. Not allowed
                        * with a topology */
    bool compress_large; /* compress the stream when it has more than 1 MiB; ignored in a build without
                          * zstd */
    bool widen_src; /* SRC gets more bits when there are more threads than `encoder` has room for: 6 if
                     * it had none, then 12. Its params.src_bits is 0 or 6 */
    const ntr_capture_machine_config *machine; /* a whole machine; `command` then only describes it, and `qemu` is
                                                * needed. NULL: a program */
    uint64_t instructions; /* machines: end soon after so many instructions of all harts; 0: no limit */
    uint64_t nanoseconds; /* machines: end after this time; 0: no limit */
    bool accesses; /* trace loads and stores at [access_first, access_last]; the dialect of `encoder`
                    * has data messages. Not allowed with a topology, skip, start_at and stop_at */
    uint64_t access_first, access_last; /* or access_symbol, below */
    const char *test; /* name of the test that is executed, for capture.json; may be NULL */
    const char *access_symbol; /* trace loads and stores of this object in place of the range, wherever its file is
                                * loaded; NULL: the range */
    const char *qemu_search; /* where QEMU is searched, in the form of PATH; may be NULL if `qemu` is given */
    const char *plugin_dir; /* folder of the capture plugins; not needed where `plugin` is given */
} ntr_capture_config;

/* Sets the encoder's configuration that makes bundles small at little cost: implicit returns with a stack of 32,
 * sequential jumps, repeated history (quick search), no SRC, a synchronizing message every 4096 messages. `size` is the
 * size of the caller's struct in bytes. */
NTR_API void ntr_capture_encoder_defaults(ntr_encoder_config *config, size_t size);

/* ntr_capture_config_init: no options. */
NTR_DEFINE_CONFIG_INIT(ntr_capture_config)

/* Asks `qemu`, a program, for its version. Returns false when it does not say it. */
NTR_API bool ntr_capture_qemu_version(const char *qemu, unsigned *major, unsigned *minor);

/* A QEMU that can be traced. */
typedef struct ntr_capture_qemu {
    char path[4096];
    unsigned major, minor; /* its version */
    char version[128]; /* what it says of it: "qemu-riscv64 version 7.2.22 (...)"; "" when it was not asked */
    const char *plugin; /* file name of the capture plugin for this version; static */
    char error[1024]; /* if there is none: why, and what helps */
} ntr_capture_qemu;

/* Finds QEMU for programs, or for machines: `given`, or if it is NULL, the first one that fits in the folders of
 * `search`, which has the form of PATH and may be NULL. `xlen` is 32 or 64. Returns whether there is one. */
NTR_API bool ntr_capture_qemu_find(ntr_capture_qemu *qemu, const char *given, const char *search, bool machine,
                                   unsigned xlen);

typedef struct ntr_capture ntr_capture;

/* Makes a session. `config` is copied. Errors: NTR_E_MEMORY; NTR_E_INVALID (`config` has no size). */
NTR_API ntr_status ntr_capture_new(const ntr_capture_config *config, ntr_capture **out);

/* Frees the session; NULL is allowed. A program that still executes is killed; an incomplete bundle is removed. */
NTR_API void ntr_capture_free(ntr_capture *session);

/* Returns one line about the last error, or "". The session owns the text. */
NTR_API const char *ntr_capture_error(const ntr_capture *session);

/* A bundle that was written. */
typedef struct ntr_capture_result {
    size_t size; /* sizeof(ntr_capture_result) */
    const char *bundle; /* folder. The session owns both strings */
    const char *process; /* name of the program that the process executed last */
    int pid; /* of a child process; 0: the first process */
    uint64_t instructions; /* in all sources */
    uint64_t bytes; /* of the stream, before compression */
    int signal; /* that ended the first process; 0: none, and of a child process */
} ntr_capture_result;

NTR_DEFINE_CONFIG_INIT(ntr_capture_result)

/* Checks the program, creates the bundle and starts the program. The program inherits the environment, standard
 * input and output of the caller. Errors: NTR_E_FORMAT (no RISC-V ELF program), NTR_E_INVALID (configuration or
 * topology), NTR_E_UNSUPPORTED (compression, without zstd), NTR_E_STATE (started before), NTR_E_IO, NTR_E_MEMORY,
 * those of ntr_bundle_create and ntr_system_new. */
NTR_API ntr_status ntr_capture_start(ntr_capture *session);

/* Describes the index-th bundle: the first one is that of the program, the others are those of child processes in the
 * order in which they ended. `result` has its size set. Returns false past the last, and before ntr_capture_finish. */
NTR_API bool ntr_capture_result_at(const ntr_capture *session, size_t index, ntr_capture_result *result);

/* Returns the process number of QEMU, which executes the program; 0 before ntr_capture_start and after
 * ntr_capture_finish. It stays valid after the end of the program. */
NTR_API int ntr_capture_process(const ntr_capture *session);

/* Kill the program and its children that are traced (SIGKILL). Their execution remains in the trace; to be followed
 * by ntr_capture_step as usual. */
NTR_API void ntr_capture_kill(const ntr_capture *session);

/* Encodes what the program executed since the last call; waits a fraction of a millisecond if there is nothing.
 * Returns NTR_NEED_MORE while the program executes (call again), or NTR_OK when it and the child processes that are
 * traced have ended (call ntr_capture_finish). The program is stopped while the memory for its trace is full. */
NTR_API ntr_status ntr_capture_step(ntr_capture *session);

/* Encodes the rest and completes the bundle after the end of the program. Errors: NTR_E_STATE (it has not ended),
 * NTR_E_FORMAT (QEMU ended without the plugin), those of the encoder, the modelled system and ntr_bundle_finish,
 * NTR_E_IO, NTR_E_MEMORY. */
NTR_API ntr_status ntr_capture_finish(ntr_capture *session);

/* Returns the exit status of the program as a shell reports it, 128 + N if signal N killed it. Valid after
 * ntr_capture_step has returned NTR_OK. */
NTR_API int ntr_capture_exit_status(const ntr_capture *session);

/* Returns a line about execution that is missing in the stream, as in capture.json, or NULL past the last. The last one
 * may tell that the program patched itself, which capture.json does not repeat. Valid after ntr_capture_finish, also if
 * it failed. */
NTR_API const char *ntr_capture_loss(const ntr_capture *session, size_t index);

#ifdef __cplusplus
}
#endif
#endif
