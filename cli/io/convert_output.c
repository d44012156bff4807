#include "io/convert.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEATS = 1024 }; /* number of beats packed at a time */

static ntr_status take_text(void *user, const char *text, size_t size) {
    struct convert_sink *sink = user;
    cli_output_write(&sink->file, text, size);
    return NTR_OK;
}

static ntr_status take_beats(void *user, const uint16_t *beats, size_t count) {
    struct convert_sink *sink = user;
    if (sink->vcd) return ntr_vcd_writer_put(sink->vcd, beats, count);
    while (count) {
        const size_t part = count < BEATS ? count : BEATS;
        uint8_t *bytes = (uint8_t *)cli_output_reserve(&sink->file, 2 * BEATS + 1);
        cli_output_commit(&sink->file,
                          ntr_beats_pack(sink->beat_bits, &sink->held, &sink->held_bits, beats, part, bytes));
        beats += part;
        count -= part;
    }
    return NTR_OK;
}

static ntr_status open_vcd(struct convert_sink *sink, const struct convert_output *output) {
    ntr_vcd_writer_options options;
    ntr_status status;

    ntr_vcd_writer_options_init(&options);
    options.sink = take_text;
    options.user = sink;
    options.beat_time = (uint32_t)output->options->beat_ns;
    options.clock_center = output->options->clock_center;
    status = ntr_vcd_writer_new(output->transport, &options, &sink->vcd);
    return status;
}

static ntr_status open_writer(struct convert_sink *sink, const struct convert_output *output) {
    const struct convert_options *o = output->options;
    ntr_writer_options options;
    ntr_status status;

    ntr_writer_options_init(&options);
    options.sink = take_beats;
    options.user = sink;
    options.atb_bytes = (uint8_t)o->atb_bytes;
    options.sync_every = (uint32_t)o->sync_every;
    options.idle_every = (uint32_t)o->idle_every;
    options.ram.start = (uint64_t)o->start;
    options.ram.limit = o->limit < 0 ? (uint64_t)o->start + 0xfffc : (uint64_t)o->limit;
    options.ram.wp = options.ram.start;
    options.ram.access = (uint8_t)o->access;
    status = ntr_transport_writer_new(output->transport, &options, &sink->writer);
    if (status == NTR_OK && o->calibrate) status = ntr_transport_writer_calibrate(sink->writer, (uint32_t)o->calibrate);
    return status;
}

/* Returns the path with its % replaced by the ID ("0x10"), to be freed; NULL when out of memory. */
static char *path_for(const char *path, unsigned id) {
    const size_t size = strlen(path) + 8;
    const char *mark = strchr(path, '%');
    char *made = malloc(size);
    if (made) snprintf(made, size, "%.*s0x%02x%s", (int)(mark - path), path, id, mark + 1);
    return made;
}

static int open_file(struct convert_sink *sink, const struct convert_output *output, unsigned id) {
    const char *path = output->options->path;
    if (!output->per_id) return cli_output_open(&sink->file, path);
    sink->path = path_for(path, id);
    return sink->path ? cli_output_open(&sink->file, sink->path) : cli_fail("out of memory");
}

static void release_sink(struct convert_sink *sink) {
    ntr_transport_writer_free(sink->writer);
    ntr_vcd_writer_free(sink->vcd);
    free(sink->path);
    free(sink);
}

static ntr_status open_converters(struct convert_sink *sink, const struct convert_output *output) {
    const bool vcd = (output->options->vcd || output->options->vcd_out) && output->transport->lines;
    const ntr_status status = vcd ? open_vcd(sink, output) : NTR_OK;
    return status == NTR_OK ? open_writer(sink, output) : status;
}

static struct convert_sink *open_sink(const struct convert_output *output, unsigned id) {
    struct convert_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        cli_fail("out of memory");
        return NULL;
    }
    sink->beat_bits = output->transport->beat_bits;
    sink->idle = output->transport->idle_level;
    if (open_file(sink, output, id) == CLI_OK) {
        const ntr_status status = open_converters(sink, output);
        if (status == NTR_OK) return sink;
        cli_output_close(&sink->file, cli_fail("--to %s: %s", output->transport->name, ntr_status_text(status)));
    }
    release_sink(sink);
    return NULL;
}

int convert_output_open(struct convert_output *output, const struct convert_options *options,
                        const ntr_transport *transport) {
    *output = (struct convert_output){.options = options, .transport = transport, .only = -1};
    output->per_id = options->path && strchr(options->path, '%');
    if (output->per_id) return CLI_OK; /* a file is opened when its ID occurs first */
    output->sinks[0] = open_sink(output, 0);
    return output->sinks[0] ? CLI_OK : CLI_FAILED;
}

/* Returns the sink for the bytes of this ID, or NULL after reporting an error. */
static struct convert_sink *find_sink(struct convert_output *output, unsigned id) {
    if (output->per_id) {
        if (!output->sinks[id]) output->sinks[id] = open_sink(output, id);
        return output->sinks[id];
    }
    if (!output->transport->ids && output->only >= 0 && output->only != (int)id) {
        cli_fail(
            "the input has several trace IDs (0x%02x, 0x%02x): select one with --trace-id, or use a name with %% for "
            "one "
            "file per ID",
            (unsigned)output->only, id);
        return NULL;
    }
    output->only = (int)id;
    return output->sinks[0];
}

ntr_status convert_output_put(struct convert_output *output, unsigned id, const uint8_t *bytes, size_t size) {
    struct convert_sink *sink = find_sink(output, id);
    if (!sink) return NTR_E_STATE;
    ntr_status status = ntr_transport_writer_put(sink->writer, id, bytes, size);
    sink->taken += size;
    if (status != NTR_OK)
        cli_fail("--to %s: trace ID 0x%02x: %s", output->transport->name, id, ntr_status_text(status));
    return status;
}

/* Completes the last byte of packed beats with idle bits. */
static void fill_byte(struct convert_sink *sink) {
    if (!sink->held_bits) return;
    const unsigned padding = sink->idle ? 0xffu << sink->held_bits : 0;
    const uint8_t byte = (uint8_t)(sink->held | padding);
    cli_output_write(&sink->file, &byte, 1);
}

static void report_buffer(const struct convert_sink *sink) {
    ntr_ram_window ram;
    if (ntr_transport_writer_ram(sink->writer, &ram) != NTR_OK) return;
    const uint64_t room = sink->file.total + sink->file.used;
    if (ram.wrapped && sink->taken > room)
        cli_note("the buffer holds the last %" PRIu64 " bytes: the first %" PRIu64 " of the stream are not in it; "
                 "--ram-limit makes it larger",
                 room, sink->taken - room);
    cli_note("the buffer is --ram-start 0x%llx --ram-limit 0x%llx --ram-wp 0x%llx%s", (unsigned long long)ram.start,
             (unsigned long long)ram.limit, (unsigned long long)ram.wp, ram.wrapped ? " --ram-wrapped" : "");
}

static int close_sink(struct convert_sink *sink, int status) {
    ntr_status ended = ntr_transport_writer_finish(sink->writer);
    if (ended == NTR_OK && sink->vcd) ended = ntr_vcd_writer_finish(sink->vcd);
    if (ended != NTR_OK) status = cli_fail("%s", ntr_status_text(ended));
    fill_byte(sink);
    if (status != CLI_FAILED) report_buffer(sink);
    status = cli_output_close(&sink->file, status);
    release_sink(sink);
    return status;
}

int convert_output_close(struct convert_output *output, int status) {
    for (size_t i = 0; i < CONVERT_IDS; i++)
        if (output->sinks[i]) status = close_sink(output->sinks[i], status);
    return status;
}
