#include "base/config.h"
#include "transport/sampler.h"

#include "base/allocator.h"

ntr_status ntr_pin_reader_new(const ntr_transport *transport, const ntr_pin_options *given, ntr_pin_reader **out) {
    *out = NULL;
    if (!transport || transport->lines == NTR_LINES_NONE) return NTR_E_INVALID;
    ntr_pin_options loaded, *options = &loaded;
    ntr_status status = ntr_config_load(&loaded, sizeof loaded, given);
    if (status != NTR_OK) return status;
    if (!options->sink) return NTR_E_INVALID;
    if (options->beat_time > UINT32_MAX) return NTR_E_RANGE;
    ntr_pin_reader *reader = ntr_alloc(options->allocator, 1, sizeof *reader);
    if (!reader) return NTR_E_MEMORY;
    reader->transport = transport;
    reader->options = *options;
    sampler_start(&reader->pins, transport->lines == NTR_LINES_SERIAL, options->clock_center, options->beat_time,
                  options->sink, options->user);
    status = NTR_OK;
    if (options->format == NTR_PINS_VCD)
        vcd_start(reader);
    else
        status = samples_start(reader);
    if (status == NTR_OK)
        *out = reader;
    else
        ntr_pin_reader_free(reader);
    return status;
}

void ntr_pin_reader_free(ntr_pin_reader *reader) {
    if (reader) ntr_dealloc(reader->options.allocator, reader);
}

const char *ntr_pin_reader_error(const ntr_pin_reader *reader) {
    return reader->error;
}

ntr_status ntr_pin_reader_feed(ntr_pin_reader *reader, const uint8_t *data, size_t size) {
    const bool vcd = reader->options.format == NTR_PINS_VCD;
    for (size_t i = 0; i < size; i++) TRY(vcd ? vcd_byte(reader, (char)data[i]) : samples_byte(reader, data[i]));
    return NTR_OK;
}

ntr_status ntr_pin_reader_finish(ntr_pin_reader *reader) {
    return reader->options.format == NTR_PINS_VCD ? vcd_end(reader) : samples_end(reader);
}
