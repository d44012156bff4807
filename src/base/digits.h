/* Fast conversion of numbers to digits. Each function writes to `at`, may write up to 8 characters more than the number
 * has, and returns the end of the number. */
#ifndef NTR_BASE_DIGITS_H
#define NTR_BASE_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static const char ntr_pairs[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
    "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
/* Returns the number of decimal digits: an estimate from the number of bits, corrected by one comparison. */
static inline unsigned ntr_dec_digits(uint64_t value) {
    static const uint64_t powers[] = {
        UINT64_C(0), /* one digit, also for 0 */
        UINT64_C(10),
        UINT64_C(100),
        UINT64_C(1000),
        UINT64_C(10000),
        UINT64_C(100000),
        UINT64_C(1000000),
        UINT64_C(10000000),
        UINT64_C(100000000),
        UINT64_C(1000000000),
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
    };
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    unsigned guess = bits * 1233 >> 12; /* log10(2) */
    return guess + (value >= powers[guess]);
}

/* Returns the eight decimal digits of a number below 10^8, the first digit in the lowest byte. Each step splits all
 * parts of the number at once: into two numbers of four digits, then four of two, then eight of one. The factors are
 * reciprocals that are exact for the range of their input. */
static inline uint64_t ntr_dec_of(uint32_t value) {
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t hundreds = fours * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    uint64_t pairs = hundreds | (fours - 100 * hundreds) << 16;
    uint64_t tens = pairs * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return (tens | (pairs - 10 * tens) << 8) + UINT64_C(0x3030303030303030);
}

static inline char *ntr_text_dec_long(char *at, uint64_t value) {
    enum { EIGHT = 100000000 };
    unsigned digits = 8;
    if (value < EIGHT)
        digits = ntr_dec_digits(value);
    else
        at = ntr_text_dec_long(at, value / EIGHT);
    uint64_t text = htole64(ntr_dec_of((uint32_t)(value % EIGHT)) >> (64 - 8 * digits));
    memcpy(at, &text, sizeof text); /* the following output overwrites the rest */
    return at + digits;
}

/* Optimized for numbers below 10000, which are the most frequent ones. */
static inline char *ntr_text_dec(char *at, uint64_t value) {
    if (value >= 10000) return ntr_text_dec_long(at, value);
    unsigned digits = 1 + (unsigned)(value >= 10) + (unsigned)(value >= 100) + (unsigned)(value >= 1000);
    char *end = at + digits, *first = end;
    if (value >= 100) {
        memcpy(first -= 2, ntr_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(first - 2, ntr_pairs + 2 * value, 2);
    else
        first[-1] = (char)('0' + value);
    return end;
}

/* Returns the eight hexadecimal digits of a 32-bit number, the first digit in the lowest byte. The nibbles are spread
 * to bytes, then each byte is converted to '0'..'9' or 'a'..'f'. */
static inline uint64_t ntr_hex_of(uint32_t value) {
    uint64_t x = __builtin_bswap32(value);
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x >> 4 | x << 8) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
}

/* Lower case, without "0x". */
static inline char *ntr_text_hex(char *at, uint64_t value) {
    if (value >> 32) {
        at = ntr_text_hex(at, value >> 32);
        uint64_t low = htole64(ntr_hex_of((uint32_t)value));
        memcpy(at, &low, sizeof low);
        return at + sizeof low;
    }
    unsigned digits = (35 - (unsigned)__builtin_clz((uint32_t)value | 1)) / 4;
    uint64_t text = htole64(ntr_hex_of((uint32_t)value << (32 - 4 * digits)));
    memcpy(at, &text, sizeof text); /* the following output overwrites the rest */
    return at + digits;
}

#endif
