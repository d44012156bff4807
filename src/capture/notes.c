#include "capture/session.h"
#include "capture/spaces.h"
#include "capture/system.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t pair(const uint32_t *words) {
    return (uint64_t)words[1] << 32 | words[0];
}

static void put_id(FILE *file, uint32_t id) {
    if (id == UINT32_MAX)
        fputs(" -", file);
    else
        fprintf(file, " %" PRIu32, id);
}

static void put_task(FILE *file, const struct ntr_capture_guest_note *note) {
    fprintf(file, " 0x%" PRIx64, pair(note->words));
    put_id(file, note->words[2]);
    put_id(file, note->words[3]);
    fputc(' ', file);
    for (unsigned i = 0; i < 16; i++) {
        int byte = note->words[4 + i / 4] >> 8 * (i % 4) & 0xff;
        if (!byte) break;
        fputc(byte < ' ' || byte == 0x7f ? '?' : byte, file);
    }
}

static void put_page(FILE *file, const struct ntr_capture_guest_note *note) {
    fprintf(file, " 0x%" PRIx64 " 0x%" PRIx64, pair(note->words), pair(note->words + 2));
}

static bool write_notes(const struct ntr_capture *session, const char *name, const char *head,
                        const struct ntr_capture_notes *notes,
                        void (*put)(FILE *, const struct ntr_capture_guest_note *)) {
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", ntr_bundle_folder(session->record.bundle), name);
    if (!notes->count) return true;
    FILE *file = fopen(path, "we");
    if (!file) return false;
    fputs(head, file);
    for (size_t i = 0; i < notes->count; i++) {
        const struct ntr_capture_guest_note *note = &notes->items[i];
        uint16_t src;
        if (note->position < session->ring.dropped || !ntr_capture_harts_source(&session->harts, note->lane, &src))
            continue;
        fprintf(file, "%" PRIu64 " %u ", note->position - session->ring.dropped, src);
        if (session->harts.keeps_spaces)
            fprintf(file, "0x%" PRIx64, note->context);
        else
            fputc('-', file);
        put(file, note);
        fputc('\n', file);
    }
    bool good = !ferror(file);
    return !fclose(file) && good;
}

bool ntr_capture_write_notes(const struct ntr_capture *session) {
    const struct ntr_capture_machine *machine = session->harts.machine;

    return write_notes(session, "tasks", "ntrace-tasks 1\nposition src context task pid tgid comm\n", &machine->tasks,
                       put_task) &&
           write_notes(session, "pages", "ntrace-pages 1\nposition src context address hash\n", &machine->pages,
                       put_page);
}

static void place_notes(const struct ntr_capture *session, struct ntr_capture_notes *notes) {
    for (size_t i = 0; i < notes->count; i++) ntr_capture_system_resolve(session->system, &notes->items[i].position);
}

void ntr_capture_place_marks(struct ntr_capture *session) {
    struct ntr_capture_machine *machine = session->harts.machine;

    ntr_capture_code_positions(&session->harts.code, ntr_capture_system_resolve, session->system);
    ntr_capture_code_drop_empty(&session->harts.code);
    if (!machine) return;
    place_notes(session, &machine->tasks);
    place_notes(session, &machine->pages);
}
