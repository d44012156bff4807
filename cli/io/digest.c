#include "io/digest.h"

#ifdef HAVE_NETTLE

#include "io/input.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <nettle/md5.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool cli_digest_file(const char *path, char text[CLI_DIGEST_TEXT]) {
    struct sha256_ctx context;
    uint8_t buffer[1 << 14], digest[SHA256_DIGEST_SIZE];
    int file = cli_open_regular(path, UINT64_MAX);
    ssize_t got;

    if (file < 0) return false;
    sha256_init(&context);
    while ((got = read(file, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0) sha256_update(&context, (size_t)got, buffer);
    bool good = got == 0;
    if (!good && cli_first_time("digest", path)) cli_doubt("%s: %s; it has no digest", path, strerror(errno));
    close(file);
    sha256_digest(&context, sizeof digest, digest);
    for (unsigned i = 0; i < sizeof digest; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return good;
}

bool cli_digest_md5(ntr_bytes text, uint8_t digest[CLI_MD5_SIZE]) {
    struct md5_ctx context;

    md5_init(&context);
    md5_update(&context, text.size, text.data);
    md5_digest(&context, CLI_MD5_SIZE, digest);
    return true;
}

#else

bool cli_digest_file(const char *path, char text[CLI_DIGEST_TEXT]) {
    (void)path;
    text[0] = '\0';
    return false;
}

bool cli_digest_md5(ntr_bytes text, uint8_t digest[CLI_MD5_SIZE]) {
    (void)text;
    (void)digest;
    return false;
}

#endif
