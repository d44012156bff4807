/* Names for firmware and boot loaders that QEMU starts from a file without names (fw_dynamic.bin, u-boot.bin): ELF
 * files beside it, and those of --files, are compared with what was executed. What is not found has no names. */
#include "capture/guest_files.h"
#include "capture/place_code.h"
#include "capture/session.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MODE_S = NTR_PRIV_S, MODE_M = NTR_PRIV_M };

static bool add_image(struct ntr_capture_record *record, const ntr_bundle_image *copy, const char *path, unsigned prv,
                      const struct ntr_code_place *place) {
    const char *slash = strrchr(path, '/');
    ntr_bundle_image *image = ntr_capture_record_image(record);
    const char *name = ntr_capture_record_text(record, slash ? slash + 1 : path);

    if (!image || !name) return false;
    image->kind = NTR_BUNDLE_ELF;
    image->file = copy->file;
    image->build_id = copy->build_id;
    image->options.name = name;
    image->options.bias = place->bias;
    image->options.has_prv = true;
    image->options.prv = (uint8_t)prv;
    image->options.from = place->from;
    image->options.until = place->until;
    return true;
}

/* Returns whether the file was executed in this mode. */
static bool try_file(struct ntr_capture *session, const char *path, unsigned prv) {
    struct ntr_code_place places[NTR_CODE_PLACES];
    struct ntr_capture_record *record = &session->record;
    ntr_bundle_image copy = {0};
    ntr_bytes file;

    if (!ntr_guest_file_map(path, &file)) return false;
    size_t count = ntr_code_places(&session->harts.code, prv, file, places);
    ntr_guest_files_release(&file);
    if (!count || ntr_bundle_copy(record->bundle, path, &copy) != NTR_OK) return false;
    for (size_t i = 0; i < count; i++)
        if (!add_image(record, &copy, path, prv, &places[i])) return false;
    return true;
}

/* DIR/NAME.bin: DIR/NAME.elf, or the names that U-Boot's ELF file has. */
static void try_beside(struct ntr_capture *session, const char *image, unsigned prv) {
    static const char *const names[] = {"u-boot", "uboot.elf", "u-boot.elf"};
    const char *slash = image ? strrchr(image, '/') : NULL, *dot = image ? strrchr(image, '.') : NULL;
    const int folder = slash ? (int)(slash + 1 - image) : 0;
    char path[PATH_MAX];

    if (!image) return;
    if (dot && (!slash || dot > slash)) {
        snprintf(path, sizeof path, "%.*s.elf", (int)(dot - image), image);
        if (strcmp(path, image) != 0 && try_file(session, path, prv)) return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%.*s%s", folder, image, names[i]);
        if (strcmp(path, image) != 0 && try_file(session, path, prv)) return;
    }
}

/* The OpenSBI that comes with QEMU: relative to its program, in Debian's package (/usr/bin) and in what
 * tools/fetch_qemu unpacks. */
static void try_own(struct ntr_capture *session) {
    static const char *const folders[] = {"../lib", "../usr/lib"};
    const char *qemu = session->config.qemu, *slash = qemu ? strrchr(qemu, '/') : NULL;
    char path[PATH_MAX];

    for (size_t i = 0; slash && i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%.*s/%s/riscv%u-linux-gnu/opensbi/generic/fw_dynamic.elf", (int)(slash - qemu),
                 qemu, folders[i], session->machine.xlen);
        if (try_file(session, path, MODE_M)) return;
    }
}

void ntr_capture_firmware_names(struct ntr_capture *session) {
    const ntr_capture_machine_config *machine = &session->machine;

    if (machine->firmware)
        try_beside(session, machine->firmware, MODE_M);
    else
        try_own(session);
    try_beside(session, machine->kernel, MODE_S);
    for (size_t i = 0; i < machine->file_count; i++)
        if (!try_file(session, machine->files[i], MODE_M)) try_file(session, machine->files[i], MODE_S);
}
