#include "base/text.h"

#include <ntrace/target.h>

#include <string.h>

/* getaddrinfo takes the low bits of a number that is too large. */
static bool is_port(const char *text) {
    uint64_t number;
    const char *end = text + strlen(text);
    return *text && (ntr_read_number(text, end, &number) != end || number <= UINT16_MAX);
}

const char *ntr_place_split(const char *place, char host[NTR_HOST_BYTES]) {
    static const char loopback[] = "127.0.0.1";
    const char *colon = strrchr(place, ':');
    if (!colon || !is_port(colon + 1)) return NULL;
    size_t length = (size_t)(colon - place);
    if (length >= 2 && place[0] == '[' && colon[-1] == ']') place++, length -= 2; /* IPv6 */
    if (length >= NTR_HOST_BYTES) return NULL;
    memcpy(host, length ? place : loopback, length ? length : sizeof loopback - 1);
    host[length ? length : sizeof loopback - 1] = 0;
    return colon + 1;
}
