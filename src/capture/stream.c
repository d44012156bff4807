/* The file of the stream of a session, and the description of what is in it. */
#include "capture/session.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const char *ntr_capture_stream_name(const struct ntr_capture *session) {
    return session->compresses ? "trace.nex.zst" : "trace.nex";
}

void ntr_capture_stream_path(const struct ntr_capture *session, char *path, size_t size) {
    snprintf(path, size, "%s/%s", ntr_bundle_folder(session->record.bundle), ntr_capture_stream_name(session));
}

ntr_status ntr_capture_stream_open(struct ntr_capture *session) {
    char path[PATH_MAX];

    ntr_capture_stream_path(session, path, sizeof path);
    ntr_bundle_writer_release(&session->stream, session->config.allocator);
    session->stream.offset = session->stream.used = 0;
    session->ring.limit = session->config.max_size;
    ntr_status status = ntr_bundle_writer_open(&session->stream, path, session->compresses, session->config.allocator);
    if (status == NTR_E_IO) return ntr_capture_fail_errno(&session->reason, path);
    if (status == NTR_E_UNSUPPORTED)
        return ntr_capture_fail(&session->reason, status, "this build has no zstd: the stream cannot be compressed");
    return status == NTR_OK ? status : ntr_capture_fail_memory(&session->reason);
}

ntr_status ntr_capture_stream_close(struct ntr_capture *session) {
    char path[PATH_MAX];

    ntr_status status = ntr_bundle_writer_close(&session->stream);
    ntr_capture_stream_path(session, path, sizeof path);
    return status == NTR_OK ? status : ntr_capture_fail_errno(&session->reason, path);
}

struct ntr_capture_report ntr_capture_session_report(const struct ntr_capture *session, const char *missing) {
    return (struct ntr_capture_report){
        .config = &session->config,
        .harts = &session->harts,
        .guest = &session->guest,
        .past = &session->past,
        .stream = ntr_capture_stream_name(session),
        .command = session->command ? session->command : (const char **)(uintptr_t)session->config.command,
        .process = session->config.follow_fork ? session->process : NULL,
        .missing = missing,
        .pid = session->pid,
        .dropped = missing ? session->ring.begin : session->ring.dropped,
        .adopted = session->adopted,
        .machine = &session->machine,
        .stuck = session->stuck,
        .unnamed = *session->unnamed.text ? session->unnamed.text : NULL,
    };
}

void ntr_capture_session_describe(struct ntr_capture *session, const char *stream) {
    struct ntr_capture_report report =
        ntr_capture_session_report(session, "ntrace run ended before the program; the end of the trace is missing");

    report.stream = stream;
    report.dropped = session->ring.dropped;
    ntr_capture_bundle_save(&session->record, &report, &session->harts.code);
    *session->reason.text = 0;
    session->saved_at = ntr_capture_clock();
    session->saved_size = session->stream.offset;
}

uint64_t ntr_capture_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
