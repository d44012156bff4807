/* The end of a bundle: capture.json, with images (record.h), sources, losses, and how the stream came to be. */
#ifndef NTR_CAPTURE_BUNDLE_H
#define NTR_CAPTURE_BUNDLE_H

#include "capture/guest.h"
#include "capture/record.h"
#include "capture/state.h"

#include <ntrace/bundle.h>

enum { NTR_CAPTURE_LOSSES = 300 }; /* more than a modelled system lists, and those of the engine */

/* Lines that live as long as the system, or forever. */
struct ntr_capture_losses {
    ntr_bundle_loss items[NTR_CAPTURE_LOSSES];
    const char *patched; /* a program that patched itself: said once, and no loss; NULL: none */
    size_t count;
};

/* What was missing in the traces of programs that were replaced by execve. */
struct ntr_capture_past {
    unsigned programs;
    uint32_t forks;
    bool start_known, stop_known; /* the program had the symbols of --start-at and --stop-at */
    uint64_t discontinuities, expected, found;
    bool untraced, lost, many, unknown, rewritten, watched; /* watched: the object of access_symbol was found */
};

void ntr_capture_past_add(struct ntr_capture_past *past, const struct ntr_capture_harts *harts);

struct ntr_capture_report {
    const ntr_capture_config *config;
    const struct ntr_capture_harts *harts; /* finished, also their code */
    const struct ntr_capture_guest *guest; /* reaped */
    const struct ntr_capture_past *past;
    const ntr_capture_machine_config *machine; /* its name is NULL of a program */
    const char *stream;         /* file in the bundle */
    const char *const *command; /* program and arguments, NULL */
    const char *process;        /* name of the sources; NULL: none */
    const char *missing;        /* why the end of the trace is missing; NULL: it is complete */
    int pid;                    /* of the process */
    uint64_t dropped;           /* bytes at the start of the stream that are not in its file */
    const char *unnamed;        /* why programs of a machine have no names; NULL: their files were read */
    bool stuck;                 /* the machine was ended, because it took traps and executed nothing */
    uint32_t adopted;           /* child processes that have a bundle of their own */
};

/* Describe what there is so far, so that it can be read if this process is killed. */
ntr_status ntr_capture_bundle_save(struct ntr_capture_record *record, const struct ntr_capture_report *report,
                                   struct ntr_capture_code *code);

/* Copy the files, describe everything and complete the bundle. *losses is filled in also when this fails later. */
ntr_status ntr_capture_bundle_finish(struct ntr_capture_record *record, const struct ntr_capture_report *report,
                                     struct ntr_capture_losses *losses);

#endif
