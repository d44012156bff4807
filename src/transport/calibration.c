#include "transport/calibration.h"

#include <stddef.h>

void calibration_start(calibration_watch *watch, unsigned width, uint64_t pattern, unsigned pattern_bits) {
    watch->pattern = pattern;
    watch->pattern_bits = (uint8_t)pattern_bits;
    watch->width = (uint8_t)width;
    watch->on = false;
    watch->last = 0;
    watch->run = 0;
}

static uint64_t rotate(uint64_t value, unsigned by, unsigned bits) {
    uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    return by ? (value >> by | value << (bits - by)) & mask : value;
}

static bool is_rotation(const calibration_watch *watch) {
    for (unsigned by = 0; by < watch->pattern_bits; by += watch->width)
        if (watch->last == rotate(watch->pattern, by, watch->pattern_bits)) return true;
    return false;
}

uint64_t calibration_times(const calibration_watch *watch) {
    return watch->on ? 1 + watch->run / watch->pattern_bits : 0;
}

uint64_t calibration_beat(calibration_watch *watch, unsigned beat) {
    const unsigned bits = watch->pattern_bits, width = watch->width;
    const unsigned before = (unsigned)(watch->last & ((1u << width) - 1));
    watch->last = watch->last >> width | (uint64_t)beat << (bits - width);
    if (beat == before) {
        watch->run += width;
        if (!watch->on && watch->run == bits) watch->on = is_rotation(watch);
        return 0;
    }
    const uint64_t times = calibration_times(watch);
    watch->run = 0;
    watch->on = false;
    return times;
}
