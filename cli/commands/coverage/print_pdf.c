#include "commands/coverage/print_pdf.h"

#include "io/output.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PDF_BYTES_MAX = 1 << 28 };

static const char *const printers[] = {"weasyprint", "chromium", "chromium-browser", "google-chrome"};

/* No tags: their numbers differ from one run to the next. No /dev/shm: containers have a small one. */
static const char *const chromium_options[] = {"--headless", "--disable-gpu", "--disable-dev-shm-usage",
                                               "--no-pdf-header-footer", "--disable-pdf-tagging"};
enum { CHROMIUM_OPTIONS = sizeof chromium_options / sizeof chromium_options[0] };

/* Writes the address of a file: RFC 3986 reserves '#', '?' and '%', RFC 8089 is "file://" and an absolute path. */
static void put_url(char *out, size_t room, const char *path) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    size_t size = (size_t)snprintf(out, room, "file://");

    for (; *path && size + 4 < room; path++)
        size += strchr(plain, *path)
                    ? (size_t)snprintf(out + size, room - size, "%c", *path)
                    : (size_t)snprintf(out + size, room - size, "%%%02X", (unsigned)(unsigned char)*path);
}

static void print_page(const char *program, const char *page, const char *pdf) {
    const char *arguments[CHROMIUM_OPTIONS + 5];
    char option[PATH_MAX + 32], address[3 * PATH_MAX + 32];
    int null = open("/dev/null", O_RDWR), count = 0;
    char output[PATH_MAX + 2];

    snprintf(output, sizeof output, "%s%s", pdf[0] == '-' ? "./" : "", pdf); /* not an option */

    for (int fd = 0; null >= 0 && fd < 3; fd++) dup2(null, fd);
    setenv("SOURCE_DATE_EPOCH", "0", 1);
    arguments[count++] = program;
    put_url(address, sizeof address, page);
    if (strcmp(program, printers[0]) == 0) {
        arguments[count++] = address;
        arguments[count++] = output;
    } else {
        snprintf(option, sizeof option, "--print-to-pdf=%s", pdf);
        for (int i = 0; i < CHROMIUM_OPTIONS; i++) arguments[count++] = chromium_options[i];
        /* Chromium's sandbox does not run as root; the page has no script and no address */
        if (geteuid() == 0) arguments[count++] = "--no-sandbox";
        arguments[count++] = option;
        arguments[count++] = address;
    }
    arguments[count] = NULL;
    execvp(program, (char *const *)(uintptr_t)arguments);
    _exit(127);
}

/* Returns the exit status of the program; 127 when it does not exist. */
static int run(const char *program, const char *page, const char *pdf) {
    int status = 0;
    pid_t child = fork();

    if (child == 0) print_page(program, page, pdf);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

/* Replaces "(D:YYYYMMDDHHMMSS" by a fixed date of the same length. */
static void clear_dates(char *bytes, size_t size) {
    static const char fixed[] = "19700101000000";

    for (size_t i = 0; i + 3 + sizeof fixed <= size; i++) {
        if (memcmp(bytes + i, "(D:", 3) != 0) continue;
        if (strspn(bytes + i + 3, "0123456789") >= sizeof fixed - 1) memcpy(bytes + i + 3, fixed, sizeof fixed - 1);
    }
}

static int clear_dates_in(const char *pdf) {
    FILE *file = fopen(pdf, "r+b");
    struct stat about;
    char *bytes = NULL;
    bool good = file && fstat(fileno(file), &about) == 0 && about.st_size > 0 && about.st_size < PDF_BYTES_MAX;

    if (good) good = (bytes = calloc(1, (size_t)about.st_size + 1)) != NULL;
    if (good) good = fread(bytes, 1, (size_t)about.st_size, file) == (size_t)about.st_size;
    if (good) {
        clear_dates(bytes, (size_t)about.st_size);
        rewind(file);
        good = fwrite(bytes, 1, (size_t)about.st_size, file) == (size_t)about.st_size;
    }
    free(bytes);
    if (file && fclose(file) != 0) good = false;
    return good ? CLI_OK : cli_fail("%s: cannot be read or written", pdf);
}

int cli_print_pdf(const char *page, const char *pdf) {
    char whole[PATH_MAX];
    int status = 127;

    if (!realpath(page, whole)) return cli_fail("%s: %s", page, strerror(errno));
    unlink(pdf);
    for (size_t i = 0; i < sizeof printers / sizeof printers[0] && status == 127; i++) {
        status = run(printers[i], whole, pdf);
        if (status != 127 && (status != 0 || access(pdf, R_OK) != 0))
            return cli_fail("%s: %s cannot print %s", pdf, printers[i], page);
    }
    if (status == 127)
        return cli_fail("--pdf: none of weasyprint, chromium and google-chrome is installed; any browser prints %s",
                        page);
    return clear_dates_in(pdf);
}
