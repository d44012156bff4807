#include "transport/pin_state.h"

#include <stdarg.h>
#include <stdio.h>

ntr_status pin_reader_fail(ntr_pin_reader *reader, ntr_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error, sizeof reader->error, format, arguments);
    va_end(arguments);
    return status;
}

ntr_status pin_reader_levels(ntr_pin_reader *reader, uint64_t time) {
    return sampler_levels(&reader->pins, time, reader->levels >> CLOCK_BIT & 1, (uint16_t)reader->levels);
}
