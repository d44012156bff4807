/* Partial answers as output of the analysis commands, of whole captures and of their parts. */
#include "commands/shared/analysis.h"
#include "io/memory.h"
#include "io/output.h"
#include "options/diagnostics.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options of the capture, as pairs of name and value */

struct option_words {
    const char **items;
    size_t count, capacity;
    bool failed;
};

static void add_word(struct option_words *w, const char *word) {
    if (w->count == w->capacity) {
        const size_t capacity = w->capacity ? 2 * w->capacity : 32;
        const char **grown = realloc(w->items, capacity * sizeof *grown);
        w->failed |= !grown;
        if (!grown) return;
        w->items = grown;
        w->capacity = capacity;
    }
    w->items[w->count++] = word;
}

static void add_pair(struct option_words *w, const char *name, const char *value) {
    if (!value) return;
    add_word(w, name);
    add_word(w, value);
}

static void collect_options(struct option_words *w, const struct cli_analysis_options *o) {
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) add_pair(w, ntr_parameter_name(p), o->stream.given[p]);
    if (o->stream.infer) add_pair(w, "auto", "on");
    if (o->stream.plain) add_pair(w, "plain", "on");
    for (size_t i = 0; i < o->images.list.count; i++)
        add_pair(w, o->images.list.items[i].name, o->images.list.items[i].value);
    for (size_t i = 0; i < o->images.folders.count; i++) add_pair(w, "image-path", o->images.folders.items[i].value);
    add_pair(w, "sysroot", o->images.sysroot);
}

/* ---- the capture */

/* Adds up to `size` bytes from `offset` on to the digest. */
static bool digest_part(ntr_partial_digest *digest, int file, uint64_t offset, size_t size) {
    char bytes[4096];

    while (size) {
        ssize_t got = pread(file, bytes, size < sizeof bytes ? size : sizeof bytes, (off_t)offset);
        if (got < 0) return false;
        if (got == 0) break;
        ntr_partial_digest_add(digest, bytes, (size_t)got);
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

/* What identifies a capture: capture.json, the size of the stream's file, and both ends of it. */
static int digest_capture(const struct cli_analysis *a, uint64_t id[2]) {
    enum { STREAM_END = 64 << 10, JSON_MAX = 16 << 20 };
    ntr_partial_digest digest = {0};
    const uint64_t size = a->trace.input.size_hint;
    char json[PATH_MAX];
    bool fine = true;

    if (a->trace.bundle) {
        const int length = snprintf(json, sizeof json, "%s/capture.json", ntr_bundle_folder(a->trace.bundle));
        const int file = length > 0 && (size_t)length < sizeof json ? open(json, O_RDONLY | O_CLOEXEC) : -1;
        fine = file >= 0 && digest_part(&digest, file, 0, JSON_MAX);
        if (file >= 0) close(file);
    }
    ntr_partial_digest_add(&digest, &size, sizeof size);
    fine = fine && digest_part(&digest, a->trace.input.fd, 0, STREAM_END) &&
           digest_part(&digest, a->trace.input.fd, size > STREAM_END ? size - STREAM_END : 0, STREAM_END);
    ntr_partial_digest_finish(&digest, id);
    return fine ? CLI_OK : cli_fail("%s: cannot be read", a->path);
}

static void digest_bytes(void *user, ntr_bytes piece, bool last) {
    struct cli_analysis *a = user;

    (void)last;
    ntr_partial_digest_add(&a->digest, piece.data, piece.size);
}

int cli_partials_prepare(struct cli_analysis *a) {
    struct stat info;

    if (a->part || a->options->follow)
        return cli_fail("--partial: expected a whole capture, found %s; leave it out, or leave out --partial",
                        a->part ? "--from or --until" : "--follow");
    if (a->window.one_source)
        return cli_fail("--partial: expected a whole capture, found --src; leave it out, or leave out --partial");
    if (cli_trace_is_copy(&a->trace) || a->trace.input.fd < 0 || fstat(a->trace.input.fd, &info) != 0 ||
        !S_ISREG(info.st_mode))
        return cli_fail(
            "%s: --partial: expected a file or a bundle, which 'ntrace combine' can open again, found a pipe or an unpacked trace; "
            "save it as a file first",
            a->path);
    if (a->options->shard) return cli_shard_parse(&a->shard, a->options->shard);
    a->trace.tap = digest_bytes;
    a->trace.tap_user = a;
    return CLI_OK;
}

/* ---- parts */

/* The state of decoding a part. */
struct part {
    struct cli_analysis *analysis;
    ntr_analyzer *analyzer;
};

static ntr_status drain_part(void *user) {
    return ntr_analyzer_drain(((struct part *)user)->analyzer);
}

static ntr_status begin_part(void *user) {
    struct part *p = user;

    p->analysis->gaps = p->analysis->reserved = p->analysis->defects.count = 0;
    return ntr_analyzer_begin(p->analyzer);
}

ntr_status cli_partials_decode_shard(struct cli_analysis *a, ntr_analyzer *analyzer) {
    struct part part = {a, analyzer};

    a->shard.part.drain = drain_part;
    a->shard.part.start = begin_part;
    a->shard.part.user = &part;
    const ntr_status status = cli_shard_run(&a->shard, &a->trace, a->decoder);

    return status >= 0 && ntr_analyzer_finish(analyzer) != NTR_OK ? NTR_E_MEMORY : status;
}

static ntr_status write_bytes(void *user, const void *bytes, size_t size) {
    struct cli_output *out = user;

    cli_output_write(out, bytes, size);
    return out->failed ? NTR_E_IO : NTR_OK;
}

static int write_capture(const struct cli_analysis *a, const ntr_partial_capture *capture) {
    struct cli_output out;
    ntr_output output;

    if (cli_output_open(&out, a->options->partial) != CLI_OK) return CLI_FAILED;
    ntr_output_init(&output);
    output.write = write_bytes;
    output.user = &out;
    const ntr_status status = a->events ? cli_events_file_write(a->events, a->trace.program, capture, &output)
                                        : ntr_partial_write(&a->data, capture, &output, &cli_memory);
    if (status < 0 && !out.failed) cli_note("%s: %s", a->options->partial, ntr_status_text(status));
    return cli_output_close(&out, status < 0 ? CLI_FAILED : CLI_OK);
}

int cli_partials_write(struct cli_analysis *a) {
    struct option_words option_words = {0};
    ntr_partial_capture capture;
    uint64_t digest[2];
    char path[PATH_MAX];

    ntr_partial_capture_init(&capture);
    if (digest_capture(a, capture.id) != CLI_OK) return CLI_FAILED;
    ntr_partial_digest_finish(a->shard.count ? &a->shard.part.digest : &a->digest, digest);
    collect_options(&option_words, a->options);
    capture.path = realpath(a->path, path) ? path : a->path;
    capture.title = a->data.title;
    capture.options = option_words.items;
    capture.option_count = option_words.count;
    capture.begin = a->shard.part.begin;
    capture.end = a->shard.count ? a->shard.part.end : a->digest.bytes;
    capture.shard = a->shard.number;
    capture.shards = a->shard.count;
    capture.begin_state = a->shard.part.begin_state;
    capture.end_state = a->shard.part.end_state;
    capture.digest = digest[0];
    capture.ticks_per_second = a->data.ticks_per_second;
    capture.gaps = a->gaps;
    capture.reserved = a->reserved;
    memcpy(capture.gap, a->first_gaps, sizeof capture.gap);
    capture.any = a->any;
    capture.damaged = a->trace.input.damaged;
    const int status = option_words.failed ? cli_fail("out of memory") : write_capture(a, &capture);
    free(option_words.items);
    return status;
}
