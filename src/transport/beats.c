/* Beats packed in bytes: the first beat in the least significant bits, 16-bit beats in little-endian order. */
#include <ntrace/transport.h>

size_t ntr_beats_unpack(unsigned beat_bits, int *held, const uint8_t *bytes, size_t size, uint16_t *beats) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        if (beat_bits == 16) {
            if (*held < 0) {
                *held = bytes[i];
            } else {
                beats[count++] = (uint16_t)(*held | bytes[i] << 8);
                *held = -1;
            }
            continue;
        }
        for (unsigned at = 0; at < 8; at += beat_bits)
            beats[count++] = (uint16_t)(bytes[i] >> at & ((1u << beat_bits) - 1));
    }
    return count;
}

size_t ntr_beats_pack(unsigned beat_bits, unsigned *held, unsigned *held_bits, const uint16_t *beats, size_t count,
                      uint8_t *bytes) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        *held |= (unsigned)beats[i] << *held_bits;
        for (*held_bits += beat_bits; *held_bits >= 8; *held_bits -= 8) {
            bytes[size++] = (uint8_t)*held;
            *held >>= 8;
        }
    }
    return size;
}
