/* The segments of a stream of limited size become one file; on a full disk, no byte is lost. */
#include "../test.h"

#include "capture/ring.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENTS = 3, SIZE = 1000, FIRST = 5 };

typedef struct scene {
    char folder[64], path[96];
    struct ntr_capture_ring ring;
    struct ntr_capture_reason reason;
} scene;

static void put(const char *path, char letter) {
    FILE *file = fopen(path, "w");
    for (int i = 0; i < SIZE; i++) fputc(letter, file);
    assert_int_equal(fclose(file), 0);
}

static void name_of(const scene *s, unsigned number, char name[128]) {
    snprintf(name, 128, "%s.%u", s->path, FIRST + number);
}

/* Segments of a, b and c, and the present one of d. */
static void start(scene *s) {
    char name[128];
    *s = (scene){.folder = "/tmp/test-ring-XXXXXX", .ring = {.limit = 10 * SIZE, .first = FIRST, .count = SEGMENTS}};
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->path, sizeof s->path, "%s/trace.nex", s->folder);
    for (unsigned i = 0; i < SEGMENTS; i++) {
        name_of(s, i, name);
        put(name, (char)('a' + i));
        s->ring.segments[(FIRST + i) % NTR_CAPTURE_SEGMENTS] = (struct ntr_capture_segment){SIZE, SIZE};
    }
    put(s->path, 'd');
}

/* Appends the runs of equal letters of a file: "a1000b1000". Removes it. */
static void describe(const char *path, char *text) {
    FILE *file = fopen(path, "r");
    int letter, last = EOF, count = 0;
    if (!file) return;
    do {
        letter = fgetc(file);
        if (letter != last && last != EOF) sprintf(text + strlen(text), "%c%d", last, count);
        count = letter == last ? count + 1 : 1;
        last = letter;
    } while (letter != EOF);
    fclose(file);
    unlink(path);
}

/* Describes all that is there, the oldest first. */
static void end(scene *s, char *text) {
    char name[128];
    *text = 0;
    for (unsigned i = 0; i < SEGMENTS; i++) {
        name_of(s, i, name);
        describe(name, text);
    }
    describe(s->path, text);
    assert_int_equal(rmdir(s->folder), 0); /* no other file is left */
}

static void joined(void **state) {
    (void)state;
    scene s;
    char text[256];
    struct stat about;
    start(&s);
    assert_int_equal(ntr_capture_ring_join(&s.ring, s.path, &s.reason), NTR_OK);
    assert_int_equal(stat(s.path, &about), 0);
    assert_int_equal(about.st_size, (SEGMENTS + 1) * SIZE);
    end(&s, text);
    assert_string_equal(text, "a1000b1000c1000d1000");
}

/* Files may have `limit` bytes: there is space for some of the segments, or for a part of one. */
static void full(void **state) {
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (unsigned limit = SIZE; limit < (SEGMENTS + 1) * SIZE; limit += SIZE / 2) {
        scene s;
        char text[256];
        struct rlimit before;
        start(&s);
        getrlimit(RLIMIT_FSIZE, &before);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = limit, .rlim_max = before.rlim_max});
        const ntr_status status = ntr_capture_ring_join(&s.ring, s.path, &s.reason);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, NTR_E_IO);
        assert_non_null(strstr(s.reason.text, "File too large"));
        assert_non_null(strstr(s.reason.text, "trace.nex.5"));
        end(&s, text);
        assert_string_equal(text, "a1000b1000c1000d1000");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(joined), TEST(full)};
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
