/* Files of raw samples, as logic analysers export them ("binary" of sigrok). */
#include "transport/sampler.h"

#include <stdlib.h>

enum { CHANNELS_MAX = 64 };

static ntr_status channel_of(const ntr_pin_reader *reader, const char *name, unsigned fallback, uint8_t *channel) {
    char *end = NULL;
    const unsigned long number = name ? strtoul(name, &end, 10) : fallback;
    if (name && (end == name || *end)) return NTR_E_NAME;
    if (number >= reader->options.channels) return NTR_E_NAME;
    *channel = (uint8_t)number;
    return NTR_OK;
}

ntr_status samples_start(ntr_pin_reader *reader) {
    sample_parser *parser = &reader->samples;
    const unsigned width = reader->transport->beat_bits;
    if (reader->options.channels < 1 || reader->options.channels > CHANNELS_MAX) return NTR_E_RANGE;
    parser->bytes = (uint8_t)((reader->options.channels + 7) / 8);
    for (unsigned bit = 0; bit < width; bit++)
        TRY(channel_of(reader, reader->options.data[bit], bit, &parser->channel[bit]));
    if (reader->transport->lines != NTR_LINES_CLOCKED) return NTR_OK;
    return channel_of(reader, reader->options.clock, width, &parser->channel[CLOCK_BIT]);
}

static ntr_status take_sample(ntr_pin_reader *reader, uint64_t value) {
    const sample_parser *parser = &reader->samples;
    uint32_t levels = 0;
    for (unsigned bit = 0; bit < reader->transport->beat_bits; bit++)
        levels |= (uint32_t)(value >> parser->channel[bit] & 1) << bit;
    if (reader->transport->lines == NTR_LINES_CLOCKED)
        levels |= (uint32_t)(value >> parser->channel[CLOCK_BIT] & 1) << CLOCK_BIT;
    if (parser->started && levels == reader->levels) return NTR_OK;
    reader->levels = levels;
    return pin_reader_levels(reader, parser->at);
}

static ntr_status data_byte(ntr_pin_reader *reader, uint8_t byte) {
    sample_parser *parser = &reader->samples;
    parser->value |= (uint64_t)byte << (8 * parser->byte);
    if (++parser->byte < parser->bytes) return NTR_OK;
    TRY(take_sample(reader, parser->value));
    parser->started = true;
    parser->value = parser->byte = 0;
    parser->at++;
    return NTR_OK;
}

/* The line that sigrok-cli writes before the samples: "META samplerate: N" and a line feed. */
static const char meta[] = "META samplerate: ";
enum { META = sizeof meta - 1, NO_META = META + 1 };

/* The first bytes are samples, not a META line: processes those that were held back. */
static ntr_status give_prefix(ntr_pin_reader *reader) {
    const unsigned size = reader->samples.prefix;
    reader->samples.prefix = NO_META;
    for (unsigned i = 0; i < size; i++) TRY(data_byte(reader, (uint8_t)meta[i]));
    return NTR_OK;
}

ntr_status samples_byte(ntr_pin_reader *reader, uint8_t byte) {
    sample_parser *parser = &reader->samples;
    if (parser->prefix == NO_META) return data_byte(reader, byte);
    if (parser->prefix == META) {
        if (byte == '\n') parser->prefix = NO_META;
        return NTR_OK;
    }
    if (byte == (uint8_t)meta[parser->prefix]) {
        parser->prefix++;
        return NTR_OK;
    }
    TRY(give_prefix(reader));
    return data_byte(reader, byte);
}

ntr_status samples_end(ntr_pin_reader *reader) {
    if (reader->samples.prefix < META) TRY(give_prefix(reader));
    return sampler_end(&reader->pins, reader->samples.at);
}
