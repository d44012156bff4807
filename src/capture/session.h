/* A session traces a process: its memory, its harts, its bundle. The first session is that of the public interface
 * (ntrace/capture.h); with config.follow_fork it has a session for each child process. */
#ifndef NTR_CAPTURE_SESSION_H
#define NTR_CAPTURE_SESSION_H

#include "capture/bundle.h"
#include "capture/guest.h"
#include "capture/harts.h"
#include "capture/ring.h"
#include "channel/resolve.h"

#include <ntrace/capture.h>

/* What a finished session has written. */
struct ntr_capture_written {
    char bundle[PATH_MAX], process[NAME_MAX + 1];
    int pid;
    uint64_t instructions, bytes;
};

struct ntr_capture {
    ntr_allocator allocator_copy;
    ntr_capture_config config;
    ntr_encoder_config encoder;
    struct ntr_capture_elf elf;
    ntr_capture_machine_config machine; /* name NULL: a program */
    int log;                            /* descriptor of QEMU's log; -1: none */
    int firmware;                       /* descriptor of a changed copy of the firmware; 0 or less: none */
    uint64_t begun_at;                  /* nanoseconds; 0: the machine has not begun */
    bool ends;                          /* QEMU was asked to end */
    bool stuck;                         /* because the machine took traps and executed nothing */
    struct channel_program program; /* what QEMU executes first */
    struct ntr_capture_source source;
    struct ntr_capture_guest guest;
    struct ntr_capture_harts harts;
    struct ntr_capture_system *system; /* NULL: none */
    struct ntr_capture_losses losses;
    struct ntr_capture_past past; /* of programs replaced by execve */
    struct ntr_capture_reason reason;
    struct ntr_capture_reason unnamed; /* "", or why programs of a machine have no names */
    struct ntr_capture_record record;
    struct ntr_bundle_writer stream;
    bool compresses; /* the stream */
    struct ntr_capture_ring ring;
    bool started, finished;
    int pid; /* of the process; stays after its end */
    uint64_t saved_at, saved_size; /* of the stream, when capture.json was last written; nanoseconds */
    uint64_t save_time;            /* which that took, in nanoseconds */
    char process[NAME_MAX + 1]; /* name of the program */
    const char **command;       /* of the program; NULL: that of `config` */

    struct ntr_capture *first; /* NULL: this is the first one */
    uint32_t adopted;                  /* children that are or were traced */
    uint64_t ended_at;                 /* when the process was seen to have ended, in nanoseconds; 0: it has not */

    /* of the first session: */
    struct ntr_capture **children;
    size_t child_count, child_capacity;
    struct ntr_capture_written **written; /* children that have ended */
    size_t written_count, written_capacity;
    unsigned failed_children;
};

/* session.c: the steps of a session. Each fills session->reason when it fails. */
ntr_status ntr_capture_session_configure(struct ntr_capture *session);
ntr_status ntr_capture_session_create(struct ntr_capture *session); /* the bundle and the stream */
ntr_status ntr_capture_session_attach(struct ntr_capture *session); /* harts for session->source */
ntr_status ntr_capture_session_finish(struct ntr_capture *session);

/* Encode all that the lanes hold. */
void ntr_capture_session_drain(struct ntr_capture *session);

/* Copies the files that the program has mapped since the last call; the program waits for it. */
void ntr_capture_session_take_maps(struct ntr_capture *session);

/* From time to time: cut the stream when it has a maximal size, and describe what there is so far. Failures show at the
 * end. */
void ntr_capture_session_save(struct ntr_capture *session);

/* Write capture.json for what is in the file `stream` of the bundle. */
void ntr_capture_session_describe(struct ntr_capture *session, const char *stream);
void ntr_capture_session_release(struct ntr_capture *session);

/* Nanoseconds of a clock that does not go back. */
uint64_t ntr_capture_clock(void);

/* What the bundle says of the session. `missing`: NULL, or what is missing at the end. */
struct ntr_capture_report ntr_capture_session_report(const struct ntr_capture *session, const char *missing);

/* The file of the stream. A stream that is opened again is written from its beginning. */
const char *ntr_capture_stream_name(const struct ntr_capture *session);
void ntr_capture_stream_path(const struct ntr_capture *session, char *path, size_t size);
ntr_status ntr_capture_stream_open(struct ntr_capture *session);
ntr_status ntr_capture_stream_close(struct ntr_capture *session);

/* Instructions of all harts. */
uint64_t ntr_capture_session_instructions(const struct ntr_capture *session);

/* start_machine.c: start QEMU with config.machine; copy the ELF files that it was given, once. */
ntr_status ntr_capture_machine_start(struct ntr_capture *session);

/* The options with which a QEMU that somebody else starts fills the session's memory. Errors: NTR_E_LIMIT, those of
 * files. */
ntr_status ntr_capture_machine_options(struct ntr_capture *session, char *text, size_t size);
ntr_status ntr_capture_machine_files(struct ntr_capture *session);

/* Writes to the channel where the kernel, config.machine's, has the name and the numbers of a task, if it has types
 * (BTF). */
void ntr_capture_machine_types(struct ntr_capture *session);

/* guest_names.c: add the images that name what a machine executed. */
void ntr_capture_guest_names(struct ntr_capture *session);

/* guest_names.c: the address of a function of config.machine's kernel, by the tables inside its image. */
bool ntr_capture_kernel_symbol(const struct ntr_capture *session, const char *name, uint64_t *address);

/* firmware_names.c: the same for firmware and boot loaders, which QEMU was given without names. */
void ntr_capture_firmware_names(struct ntr_capture *session);

/* notes.c: what is known about a Linux guest, in the files "tasks" and "pages" of the bundle. False with errno. */
bool ntr_capture_write_notes(const struct ntr_capture *session);

/* notes.c: code and notes have marks of the modelled system as their offsets; replaces them when it has ended. */
void ntr_capture_place_marks(struct ntr_capture *session);

/* rewrite.c: the stream is written anew. Errors: those of files; the reason is in the session. */
ntr_status ntr_capture_widen(struct ntr_capture *session, uint32_t hart); /* SRC gets enough bits for it */
ntr_status ntr_capture_compress(struct ntr_capture *session);

/* follow.c: take up new child processes and new programs, and complete the bundles of children that have ended. Returns
 * whether there was anything. */
bool ntr_capture_follow(struct ntr_capture *first);

/* Are all child processes of the session known that it has created? Waits up to a second for those that have not
 * reported yet. */
bool ntr_capture_children_known(struct ntr_capture *session);

#endif
