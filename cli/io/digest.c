#include "io/digest.h"

#ifdef HAVE_NETTLE

#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>

bool cli_digest_file(const char *path, char text[CLI_DIGEST_TEXT]) {
    struct sha256_ctx context;
    uint8_t buffer[1 << 14], digest[SHA256_DIGEST_SIZE];
    FILE *file = fopen(path, "rb");
    size_t got;

    if (!file) return false;
    sha256_init(&context);
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) sha256_update(&context, got, buffer);
    bool good = !ferror(file);
    fclose(file);
    sha256_digest(&context, sizeof digest, digest);
    for (unsigned i = 0; i < sizeof digest; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return good;
}

#else

bool cli_digest_file(const char *path, char text[CLI_DIGEST_TEXT]) {
    (void)path;
    text[0] = '\0';
    return false;
}

#endif
