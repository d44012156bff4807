/* The bytes of a stream: 6 MDO bits above 2 MSEO bits, one byte or eight at a time. N-Trace 1.0 section 2. */
#ifndef NTR_WIRE_MDO_H
#define NTR_WIRE_MDO_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BMI2__)
#include <immintrin.h>
#endif

enum { NTR_MDO_BITS = 6, NTR_MSEO_BITS = 2 };

typedef enum ntr_mseo {
    NTR_MSEO_MORE = 0,     /* start of message, fixed-field byte, or inside a variable field */
    NTR_MSEO_FIELD = 1,    /* last byte of a variable field */
    NTR_MSEO_RESERVED = 2,
    NTR_MSEO_MESSAGE = 3,  /* last byte of a message */
} ntr_mseo;

#define NTR_IDLE 0xff

/* Bit 0 of each byte of a word. */
#define NTR_BYTES_LOW UINT64_C(0x0101010101010101)

static inline ntr_mseo ntr_mseo_of(uint8_t byte) {
    return (ntr_mseo)(byte & 3);
}

/* Eight bytes, the first in the low bits. */
static inline uint64_t ntr_load8(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return le64toh(word);
}

/* The same where only `size` bytes (up to 8) may be read; the rest is 0. */
static inline uint64_t ntr_load_upto8(const uint8_t *bytes, size_t size) {
    uint64_t word = 0;
    for (size_t i = 0; i < size && i < 8; i++) word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

/* The MDO bits of eight bytes, packed into 48 bits. Neighbours are joined in steps of 6, 12, 24 and 48 bits. */
static inline uint64_t ntr_gather_mdo_portable(uint64_t word) {
    uint64_t x = (word >> 2) & UINT64_C(0x3f3f3f3f3f3f3f3f);
    x = (x & UINT64_C(0x003f003f003f003f)) | ((x & UINT64_C(0x3f003f003f003f00)) >> 2);
    x = (x & UINT64_C(0x00000fff00000fff)) | ((x & UINT64_C(0x0fff00000fff0000)) >> 4);
    return (x & UINT64_C(0xffffff)) | ((x >> 8) & UINT64_C(0xffffff000000));
}

static inline uint64_t ntr_gather_mdo(uint64_t word) {
#if defined(__BMI2__) && !defined(NTR_PORTABLE)
    return _pext_u64(word, UINT64_C(0xfcfcfcfcfcfcfcfc));
#else
    return ntr_gather_mdo_portable(word);
#endif
}

/* The inverse: 48 bits as the MDO bits of eight bytes with MSEO 00. */
static inline uint64_t ntr_scatter_mdo(uint64_t mdo) {
    uint64_t x = (mdo & UINT64_C(0xffffff)) | ((mdo & UINT64_C(0xffffff000000)) << 8);
    x = (x & UINT64_C(0x00000fff00000fff)) | ((x & UINT64_C(0x00fff00000fff000)) << 4);
    x = (x & UINT64_C(0x003f003f003f003f)) | ((x & UINT64_C(0x0fc00fc00fc00fc0)) << 2);
    return x << NTR_MSEO_BITS;
}

static inline void ntr_store8(uint8_t *bytes, uint64_t word) {
    word = htole64(word);
    memcpy(bytes, &word, sizeof word);
}

#endif
