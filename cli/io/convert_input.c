#include "io/convert.h"
#include "io/recognize.h"
#include "io/tmc.h"
#include "options/diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 4096, NOTES_SHOWN = 8 };

/* ---- notes */

static void report_note(const struct convert_input *input, const ntr_transport_note *note) {
    const char *name = input->file.name;
    const unsigned long long at = note->position, value = note->value;
    switch (note->kind) {
    case NTR_NOTE_LOST:
        cli_note("%s: beat %llu: %s: %s", name, at,
                 note->reason == NTR_E_NOT_SYNCED ? "no alignment found" : "alignment lost",
                 ntr_status_text((ntr_status)note->reason));
        break;
    case NTR_NOTE_CALIBRATION: cli_note("%s: beat %llu: end of %llu calibration patterns", name, at, value); break;
    case NTR_NOTE_TRIGGER: cli_note("%s: beat %llu: trigger of trace ID 0x%02llx", name, at, value); break;
    case NTR_NOTE_FLUSH: cli_note("%s: beat %llu: flush completed", name, at); break;
    case NTR_NOTE_ID:
        cli_note("%s: beat %llu: data with the reserved trace ID 0x%02llx skipped", name, at, value);
        break;
    case NTR_NOTE_BARRIER: cli_note("%s: beat %llu: a barrier of Linux: trace before it is missing", name, at); break;
    case NTR_NOTE_UNKNOWN_ID:
        cli_note("%s: beat %llu: %llu bytes before the first trace ID skipped", name, at, value);
        break;
    default: break;
    }
}

static void take_note(void *user, const ntr_transport_note *note) {
    struct convert_input *input = user;
    if (input->notes[note->kind]++ < NOTES_SHOWN) report_note(input, note);
}

static void report_more_notes(const struct convert_input *input) {
    for (unsigned kind = NTR_NOTE_LOST; ntr_note_name(kind); kind++)
        if (input->notes[kind] > NOTES_SHOWN)
            cli_note("%s: %llu more: %s", input->file.name, (unsigned long long)input->notes[kind] - NOTES_SHOWN,
                     ntr_note_name(kind));
}

/* ---- whether the bytes are messages */

static struct convert_framing *framing_of(struct convert_input *input, unsigned id) {
    struct convert_framing **at = &input->framings[input->transport->ids ? id % CONVERT_IDS : 0];

    if (*at || !(*at = calloc(1, sizeof **at))) return *at;
    ntr_framer_init(&(*at)->framer, false);
    if (input->cut) ntr_framer_seek_start(&(*at)->framer);
    return *at;
}

/* Without memory, nothing is judged. */
static void judge_bytes(struct convert_framing *f, const uint8_t *bytes, size_t size, bool last) {
    ntr_slice slice;

    if (!f || ntr_framer_feed(&f->framer, bytes, size, last) != NTR_OK) return;
    while (ntr_framer_next(&f->framer, &slice) == NTR_OK) {
        if (slice.defect == NTR_OK) f->messages++;
        if (slice.defect == NTR_OK || slice.defect == NTR_E_IDLE || slice.defect == NTR_E_TRUNCATED) continue;
        if (!f->wrong++) f->first_wrong = slice.offset;
    }
}

/* Says which bytes are no messages. Returns CLI_OK or CLI_DEFECTS. */
static int report_framing(struct convert_input *input, unsigned id) {
    struct convert_framing *f = input->framings[id];
    char of[24] = "";

    if (!f) return CLI_OK;
    judge_bytes(f, NULL, 0, true);
    if (input->transport->ids) snprintf(of, sizeof of, "trace ID 0x%02x: ", id);
    if (f->wrong)
        cli_note("%s: %sexpected N-Trace messages, found %llu piece%s that %s none beside %llu messages, the first at "
                 "byte 0x%llx of the stream",
                 input->file.name, of, (unsigned long long)f->wrong, f->wrong == 1 ? "" : "s",
                 f->wrong == 1 ? "is" : "are", (unsigned long long)f->messages, (unsigned long long)f->first_wrong);
    else if (!f->messages)
        cli_note("%s: %sexpected N-Trace messages, found none", input->file.name, of);
    return f->wrong || !f->messages ? CLI_DEFECTS : CLI_OK;
}

/* ---- conversion steps: file, pins (if any), beats, bytes */

static ntr_status take_bytes(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    struct convert_input *input = user;
    const bool ids = input->transport->ids;
    if (ids && input->only >= 0 && id != (unsigned)input->only) return NTR_OK;
    input->taken += size;
    judge_bytes(framing_of(input, id), bytes, size, false);
    return convert_output_put(input->output, ids ? id : input->id, bytes, size);
}

static ntr_status take_beats(void *user, const uint16_t *beats, size_t count) {
    return ntr_transport_reader_feed(((struct convert_input *)user)->reader, beats, count);
}

static int report_error(struct convert_input *input, ntr_status status) {
    const char *error = input->pins ? ntr_pin_reader_error(input->pins) : "";
    if (status == NTR_E_STATE) return CLI_FAILED; /* already reported by the output */
    return cli_fail("%s: %s", input->file.name, *error ? error : ntr_status_text(status));
}

/* Splits "D0,D1,.." into names, in place. Returns their number. */
static unsigned split_names(char *names, const char **data) {
    unsigned count = 0;
    for (char *name = names, *comma; name && count < NTR_PINS_MAX; name = comma) {
        comma = strchr(name, ',');
        if (comma) *comma++ = 0;
        data[count++] = name;
    }
    return count;
}

static int open_pins(struct convert_input *input, const struct convert_options *o) {
    ntr_pin_options options;
    ntr_status status;

    ntr_pin_options_init(&options);
    options.sink = take_beats;
    options.user = input;
    options.format = o->samples ? NTR_PINS_SAMPLES : NTR_PINS_VCD;
    options.channels = (uint8_t)o->samples;
    options.clock = o->clock;
    options.clock_center = o->clock_center;
    options.beat_time = (uint64_t)o->beat_ticks;
    if (o->data) {
        input->names = strdup(o->data);
        if (!input->names) return cli_fail("out of memory");
        const unsigned count = split_names(input->names, options.data);
        if (count != input->transport->beat_bits)
            return cli_fail("--data-wires: expected %u names for %s, found %u", input->transport->beat_bits,
                            input->transport->name, count);
    }
    status = ntr_pin_reader_new(input->transport, &options, &input->pins);
    if (status == NTR_E_NAME)
        return cli_fail("--samples %lld: the clock or a data pin is not one of the channels", (long long)o->samples);
    return status == NTR_OK ? CLI_OK
                            : cli_fail("--input-format %s: %s", input->transport->name, ntr_status_text(status));
}

/* Describes the buffer of the RAM sink. --ram-wp accepts the register value of trRamWPLow, whose bit 0 is trRamWrap. */
static int ram_buffer(const struct convert_input *input, const struct convert_options *o, ntr_ram_window *ram) {
    const uint64_t access = o->access ? (uint64_t)o->access : 4;
    if (o->wp < 0) return cli_fail("--input-format ram requires --ram-wp, the value of trRamWP");
    if (o->limit < 0 && input->file.size_hint < access)
        return cli_fail("%s: the size of the input is not known; --ram-limit is required", input->file.name);
    ram->start = (uint64_t)o->start;
    ram->limit = o->limit < 0 ? ram->start + input->file.size_hint - access : (uint64_t)o->limit;
    ram->wp = (uint64_t)o->wp & ~1ull;
    ram->wrapped = o->wrapped || (o->wp & 1);
    ram->access = (uint8_t)access;
    return CLI_OK;
}

static int open_reader(struct convert_input *input, const struct convert_options *o) {
    ntr_reader_options options;
    ntr_status status;

    ntr_reader_options_init(&options);
    options.sink = take_bytes;
    options.note = take_note;
    options.user = input;
    options.begin = o->aligned ? NTR_BEGIN_ALIGNED : o->cut ? NTR_BEGIN_ANYWHERE : NTR_BEGIN_DEFAULT;
    if (strcmp(input->transport->name, "ram") == 0 && ram_buffer(input, o, &options.ram) != CLI_OK) return CLI_FAILED;
    status = ntr_transport_reader_new(input->transport, &options, &input->reader);
    if (status == NTR_E_RANGE)
        return cli_fail(
            "--ram-start 0x%llx --ram-limit 0x%llx --ram-wp 0x%llx: expected word addresses with start <= wp <= limit",
            (unsigned long long)options.ram.start, (unsigned long long)options.ram.limit,
            (unsigned long long)options.ram.wp);
    return status == NTR_OK ? CLI_OK
                            : cli_fail("--input-format %s: %s", input->transport->name, ntr_status_text(status));
}

static void release(struct convert_input *input) {
    ntr_pin_reader_free(input->pins);
    ntr_transport_reader_free(input->reader);
    free(input->names);
    for (size_t i = 0; i < CONVERT_IDS; i++) free(input->framings[i]);
    cli_input_close(&input->file);
}

static int open_file(struct convert_input *input, const struct convert_options *options, const char *path) {
    bool wrapped;
    int fd;

    const bool pins = options->vcd || options->vcd_in || options->samples;
    if (!convert_from_tmc(options))
        return !pins && cli_refuse_operand(path, NULL) != CLI_OK ? CLI_FAILED : cli_input_open(&input->file, path);
    if (cli_tmc_open(path, &options->tmc, &fd, &wrapped) != CLI_OK) return CLI_FAILED;
    return cli_input_adopt(&input->file, path, fd);
}

int convert_input_open(struct convert_input *input, const struct convert_options *options,
                       const ntr_transport *transport, const char *path, unsigned id, struct convert_output *output) {
    *input =
        (struct convert_input){.transport = transport, .held = -1, .id = id, .only = options->id, .output = output};
    if (open_file(input, options, path) != CLI_OK) return CLI_FAILED;
    input->cut = options->cut || strcmp(transport->name, "raw") != 0;
    const bool pins = options->vcd || options->vcd_in || options->samples;
    int status = open_reader(input, options);
    if (status == CLI_OK && pins && transport->lines) status = open_pins(input, options);
    if (status != CLI_OK) release(input);
    return status;
}

/* ---- running */

static ntr_status take_file_bytes(struct convert_input *input, const uint8_t *bytes, size_t size) {
    uint16_t beats[PART * 8];
    if (input->pins) return ntr_pin_reader_feed(input->pins, bytes, size);
    const size_t count = ntr_beats_unpack(input->transport->beat_bits, &input->held, bytes, size, beats);
    return take_beats(input, beats, count);
}

int convert_input_step(struct convert_input *input) {
    if (!input->piece.size) {
        bool last = false;
        if (input->last) {
            input->ended = true;
            return CLI_OK;
        }
        if (cli_input_next(&input->file, &input->piece, &last) != CLI_OK) return CLI_FAILED;
        input->last = last;
    }
    const size_t part = input->piece.size < PART ? input->piece.size : PART;
    const ntr_status status = take_file_bytes(input, input->piece.data, part);
    input->piece.data += part;
    input->piece.size -= part;
    return status == NTR_OK ? CLI_OK : report_error(input, status);
}

/* Reports an input without messages: it has another transport than --input-format, or contains only idle. */
static int report_empty(const struct convert_input *input) {
    cli_note("%s: expected messages over %s, found none", input->file.name, input->transport->name);
    return CLI_DEFECTS;
}

int convert_input_close(struct convert_input *input) {
    ntr_status status = NTR_OK;
    if (input->ended && input->pins) status = ntr_pin_reader_finish(input->pins);
    if (input->ended && status == NTR_OK) status = ntr_transport_reader_finish(input->reader);
    int result = status == NTR_OK ? CLI_OK : report_error(input, status);
    report_more_notes(input);
    if (result == CLI_OK && input->notes[NTR_NOTE_LOST]) result = CLI_DEFECTS;
    if (result == CLI_OK && input->ended && !input->taken) result = report_empty(input);
    for (unsigned id = 0; result != CLI_FAILED && input->ended && id < CONVERT_IDS; id++)
        if (report_framing(input, id) != CLI_OK) result = CLI_DEFECTS;
    release(input);
    return result;
}
