/* Objects that the debugger reads with qXfer, and qOffsets. */
#include "gdb/server.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <string.h>

/* Types of the auxiliary vector (System V ABI). */
enum { AT_NULL_ = 0, AT_PHDR_ = 3, AT_PHENT_ = 4, AT_PHNUM_ = 5, AT_ENTRY_ = 9 };

static const ntr_gdb_image *main_image(const ntr_gdb *gdb) {
    return gdb->images.main < gdb->images.count ? &gdb->images.items[gdb->images.main] : NULL;
}

static bool is_visible(const ntr_gdb *gdb, const ntr_replay_hart *hart, size_t item) {
    return !hart || ntr_gdb_image_visible(&gdb->images, item, ntr_place_at(&hart->context, hart->offset, 0));
}

/* Returns whether the two are the same file, and have addresses in common. */
static bool is_copy(const ntr_gdb *gdb, size_t a, size_t b) {
    if (a >= gdb->images.count || gdb->images.items[a].file != gdb->images.items[b].file) return false;
    const ntr_gdb_image *x = &gdb->images.items[a], *y = &gdb->images.items[b];
    return x == y || (x->bias + x->text < y->bias + y->end && y->bias + y->text < x->bias + x->end);
}

/* Returns whether the file is a library where execution is. A capture may have a file twice, because it was loaded at
 * two places, or because the loader has mapped parts of it at other distances than the file says: the first one then
 * counts. */
static bool is_library(ntr_gdb *gdb, size_t item) {
    const ntr_replay_hart *hart = ntr_gdb_hart(gdb);
    if (gdb->images.items[item].return_places && !gdb->uses_places) return false;
    if (is_copy(gdb, gdb->images.main, item) || !is_visible(gdb, hart, item)) return false;
    for (size_t i = 0; i < item; i++)
        if (is_copy(gdb, i, item) && is_visible(gdb, hart, i)) return false;
    return true;
}

/* The debugger reads the list, from the beginning. */
static void note_libraries(ntr_gdb *gdb) {
    ntr_gdb_stack(gdb); /* it may need return places */
    for (size_t i = 0; i < gdb->images.count; i++) gdb->listed[i] = is_library(gdb, i);
    gdb->has_listed = true;
}

bool ntr_gdb_libraries_changed(ntr_gdb *gdb) {
    for (size_t i = 0; gdb->has_listed && i < gdb->images.count; i++)
        if (gdb->listed[i] != is_library(gdb, i)) return true;
    return false;
}

/* Libraries for a debugger without an OS ABI. */
static void list_libraries(ntr_gdb *gdb, ntr_gdb_text *text) {
    gdb->no_prediction = true;
    note_libraries(gdb);
    ntr_gdb_text_print(text, "<library-list>\n");
    for (size_t i = 0; i < gdb->images.count; i++) {
        const ntr_gdb_image *image = &gdb->images.items[i];
        if (!is_library(gdb, i)) continue;
        ntr_gdb_text_print(text, "<library name=\"");
        ntr_gdb_text_xml(text, image->path);
        ntr_gdb_text_print(text, "\"><segment address=\"0x%" PRIx64 "\"/></library>\n", image->bias + image->text);
    }
    ntr_gdb_text_print(text, "</library-list>\n");
}

/* Libraries for a debugger of GNU/Linux programs. `lm` is a number of each library, `lmid` its name space. */
static void list_svr4_libraries(ntr_gdb *gdb, ntr_gdb_text *text) {
    note_libraries(gdb);
    ntr_gdb_text_print(text, "<library-list-svr4 version=\"1.0\">\n");
    for (size_t i = 0; i < gdb->images.count; i++) {
        const ntr_gdb_image *image = &gdb->images.items[i];
        if (!is_library(gdb, i)) continue;
        ntr_gdb_text_print(text, "<library name=\"");
        ntr_gdb_text_xml(text, image->path);
        ntr_gdb_text_print(text, "\" lmid=\"0x0\" lm=\"0x%zx\" l_addr=\"0x%" PRIx64 "\" l_ld=\"0x%" PRIx64 "\"/>\n",
                           0x1000 * (i + 1), image->bias, image->bias + image->dynamic);
    }
    ntr_gdb_text_print(text, "</library-list-svr4>\n");
}

static void add_word(ntr_gdb *gdb, ntr_gdb_text *text, uint64_t value) {
    uint8_t bytes[8];
    ntr_little_put(bytes, value, sizeof bytes);
    ntr_gdb_text_add(text, bytes, gdb->xlen / 8);
}

static void make_auxv(ntr_gdb *gdb, ntr_gdb_text *text) {
    const ntr_gdb_image *image = main_image(gdb);
    if (!image) return;
    const uint64_t pairs[][2] = {
        {AT_PHDR_, image->headers + image->bias},
        {AT_PHENT_, image->header_size},
        {AT_PHNUM_, image->header_count},
        {AT_ENTRY_, image->entry + image->bias},
        {AT_NULL_, 0},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        add_word(gdb, text, pairs[i][0]);
        add_word(gdb, text, pairs[i][1]);
    }
}

static void name_main(ntr_gdb *gdb, ntr_gdb_text *text) {
    const ntr_gdb_image *image = main_image(gdb);
    if (image) ntr_gdb_text_print(text, "%s", image->path);
}

static void list_threads(ntr_gdb *gdb, ntr_gdb_text *text) {
    size_t count;
    const uint16_t *harts = ntr_replay_harts(gdb->replay, &count);
    ntr_gdb_text_print(text, "<?xml version=\"1.0\"?>\n<threads>\n");
    for (size_t i = 0; i < count; i++) {
        const char *name = gdb->config.source_name ? gdb->config.source_name(gdb->config.user, harts[i]) : NULL;
        ntr_gdb_text_print(text, "<thread id=\"%x\"", (unsigned)ntr_gdb_thread_number(gdb, harts[i]));
        if (name) {
            ntr_gdb_text_print(text, " name=\"");
            ntr_gdb_text_xml(text, name);
            ntr_gdb_text_print(text, "\"");
        }
        ntr_gdb_text_print(text, ">");
        ntr_gdb_describe_thread(gdb, harts[i], text);
        ntr_gdb_text_print(text, "</thread>\n");
    }
    ntr_gdb_text_print(text, "</threads>\n");
}

static const struct object {
    const char *name;
    void (*make)(ntr_gdb *gdb, ntr_gdb_text *text);
} objects[] = {
    {"features", ntr_gdb_target_description},
    {"libraries", list_libraries},
    {"libraries-svr4", list_svr4_libraries},
    {"auxv", make_auxv},
    {"exec-file", name_main},
    {"threads", list_threads},
};

static const struct object *find_object(const char *name, size_t size) {
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (strlen(objects[i].name) == size && memcmp(objects[i].name, name, size) == 0) return &objects[i];
    return NULL;
}

/* qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH */
void ntr_gdb_transfer(ntr_gdb *gdb, const char *packet) {
    const char *name = packet + strlen("qXfer:");
    size_t size = strcspn(name, ":");
    const struct object *object = find_object(name, size);
    uint64_t offset, length;
    const char *at = name + size;
    if (!object || strncmp(at, ":read:", 6) != 0) return;
    at = strchr(at + 6, ':');
    if (!at || !ntr_gdb_character(&at, ':') || !ntr_gdb_number(&at, &offset) || !ntr_gdb_character(&at, ',') ||
        !ntr_gdb_number(&at, &length) || *at) {
        ntr_gdb_text_print(&gdb->answer, "E01");
        return;
    }
    ntr_gdb_text_clear(&gdb->object);
    object->make(gdb, &gdb->object);
    if (offset > gdb->object.size) {
        ntr_gdb_text_print(&gdb->answer, "E01");
        return;
    }
    size_t left = gdb->object.size - (size_t)offset;
    size_t room = NTR_GDB_PACKET_SIZE / 2 - 1; /* each byte may need two */
    if (length > room) length = room;
    ntr_gdb_text_print(&gdb->answer, left > length ? "m" : "l");
    ntr_gdb_text_add(&gdb->answer, gdb->object.size ? gdb->object.bytes + offset : "",
                     left > length ? (size_t)length : left);
}

void ntr_gdb_offsets(ntr_gdb *gdb, const char *packet) {
    const ntr_gdb_image *image = main_image(gdb);
    (void)packet;
    if (image && image->bias) ntr_gdb_text_print(&gdb->answer, "TextSeg=%" PRIx64, image->bias + image->text);
}
