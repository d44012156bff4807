/* VCD writer. 1-bit wires, one declaration or change per line: the subset that waveform viewers and sigrok read. */
#include <ntrace/pins.h>

#include "base/config.h"
#include "transport/transports.h"

#include "base/allocator.h"

#include <stdio.h>
#include <string.h>

enum { BEAT_TIME = 20, VCD_TEXT = 4096, LINE = 64, CLOCK_WIRE = NTR_PINS_MAX, VCD_FIRST_ID = '!' };

struct ntr_vcd_writer {
    const ntr_transport *transport;
    ntr_vcd_writer_options options;
    uint64_t ticks; /* ticks of half a beat */
    uint64_t time;  /* time of the next beat, in half beats */
    bool clock;
    unsigned levels;
    size_t text_size;
    char text[VCD_TEXT];
};

static bool is_clocked(const ntr_vcd_writer *writer) {
    return writer->transport->lines == NTR_LINES_CLOCKED;
}

static ntr_status flush(ntr_vcd_writer *writer) {
    const size_t size = writer->text_size;
    writer->text_size = 0;
    return size ? writer->options.sink(writer->options.user, writer->text, size) : NTR_OK;
}

static ntr_status put(ntr_vcd_writer *writer, const char *line, int size) {
    if ((size_t)size > VCD_TEXT - writer->text_size) TRY(flush(writer));
    memcpy(writer->text + writer->text_size, line, (size_t)size);
    writer->text_size += (size_t)size;
    return NTR_OK;
}

static ntr_status put_text(ntr_vcd_writer *writer, const char *line) {
    return put(writer, line, (int)strlen(line));
}

static ntr_status put_time(ntr_vcd_writer *writer, uint64_t halves) {
    char line[LINE];
    return put(writer, line, snprintf(line, sizeof line, "#%llu\n", (unsigned long long)(halves * writer->ticks)));
}

static ntr_status put_level(ntr_vcd_writer *writer, unsigned wire, bool level) {
    const char line[] = {level ? '1' : '0', (char)(VCD_FIRST_ID + wire), '\n'};
    return put(writer, line, sizeof line);
}

static ntr_status put_wire(ntr_vcd_writer *writer, unsigned wire) {
    char line[LINE];
    const int id = VCD_FIRST_ID + (int)wire;
    const int size = wire == CLOCK_WIRE ? snprintf(line, sizeof line, "$var wire 1 %c TRC_CLK $end\n", id)
                                        : snprintf(line, sizeof line, "$var wire 1 %c TRC_DATA[%u] $end\n", id, wire);
    return put(writer, line, size);
}

static ntr_status put_levels(ntr_vcd_writer *writer, unsigned levels, unsigned changed) {
    for (unsigned wire = 0; wire < writer->transport->beat_bits; wire++)
        if (changed >> wire & 1) TRY(put_level(writer, wire, levels >> wire & 1));
    return NTR_OK;
}

static ntr_status put_header(ntr_vcd_writer *writer, unsigned unit) {
    char line[LINE];
    TRY(put_text(writer, "$version ntrace $end\n"));
    TRY(put(writer, line, snprintf(line, sizeof line, "$timescale %u ns $end\n$scope module trace $end\n", unit)));
    if (is_clocked(writer)) TRY(put_wire(writer, CLOCK_WIRE));
    for (unsigned wire = 0; wire < writer->transport->beat_bits; wire++) TRY(put_wire(writer, wire));
    TRY(put_text(writer, "$upscope $end\n$enddefinitions $end\n#0\n$dumpvars\n"));
    if (is_clocked(writer)) TRY(put_level(writer, CLOCK_WIRE, 0));
    TRY(put_levels(writer, writer->levels, UINT32_MAX));
    return put_text(writer, "$end\n");
}

/* Returns the largest time unit (100, 10 or 1 ns) that divides half a beat. Some tools need memory in proportion to
 * the number of ticks. */
static unsigned unit_of(uint32_t half) {
    return half % 100 == 0 ? 100 : half % 10 == 0 ? 10 : 1;
}

ntr_status ntr_vcd_writer_new(const ntr_transport *transport, const ntr_vcd_writer_options *given,
                              ntr_vcd_writer **out) {
    *out = NULL;
    if (!transport || transport->lines == NTR_LINES_NONE) return NTR_E_INVALID;
    ntr_vcd_writer_options loaded, *options = &loaded;
    ntr_status status = ntr_config_load(&loaded, sizeof loaded, given);
    if (status != NTR_OK) return status;
    if (!options->sink) return NTR_E_INVALID;
    const uint32_t beat_time = options->beat_time ? options->beat_time : BEAT_TIME;
    if (beat_time % 2) return NTR_E_RANGE;
    ntr_vcd_writer *writer = ntr_alloc(options->allocator, 1, sizeof *writer);
    if (!writer) return NTR_E_MEMORY;
    const unsigned unit = unit_of(beat_time / 2);
    writer->transport = transport;
    writer->options = *options;
    writer->ticks = beat_time / 2 / unit;
    writer->time = 2;
    writer->levels = transport->idle_level ? (1u << transport->beat_bits) - 1 : 0;
    status = put_header(writer, unit);
    if (status == NTR_OK)
        *out = writer;
    else
        ntr_vcd_writer_free(writer);
    return status;
}

void ntr_vcd_writer_free(ntr_vcd_writer *writer) {
    if (writer) ntr_dealloc(writer->options.allocator, writer);
}

static ntr_status put_clock_edge(ntr_vcd_writer *writer) {
    writer->clock = !writer->clock;
    return put_level(writer, CLOCK_WIRE, writer->clock);
}

static ntr_status put_beat(ntr_vcd_writer *writer, unsigned levels) {
    const unsigned changed = levels ^ writer->levels;
    const bool clocked = is_clocked(writer), center = clocked && writer->options.clock_center;
    if (changed || (clocked && !center)) TRY(put_time(writer, writer->time));
    if (clocked && !center) TRY(put_clock_edge(writer));
    TRY(put_levels(writer, levels, changed));
    if (center) {
        TRY(put_time(writer, writer->time + 1));
        TRY(put_clock_edge(writer));
    }
    writer->levels = levels;
    writer->time += 2;
    return NTR_OK;
}

ntr_status ntr_vcd_writer_put(ntr_vcd_writer *writer, const uint16_t *beats, size_t count) {
    for (size_t i = 0; i < count; i++) TRY(put_beat(writer, beats[i]));
    return flush(writer);
}

ntr_status ntr_vcd_writer_finish(ntr_vcd_writer *writer) {
    TRY(put_time(writer, writer->time));
    return flush(writer);
}
