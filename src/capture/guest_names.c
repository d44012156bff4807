/* Names for what a machine executed, from files outside of it: the symbols of its kernel, and the ELF files that pages
 * of U-mode came from. What cannot be read gives no names; the trace is complete without them. */
#include "base/allocator.h"
#include "capture/guest_files.h"
#include "capture/page_index.h"
#include "capture/session.h"
#include "capture/spaces.h"
#include "program/kallsyms.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GUEST_FILES_MAX = 1 << 20 };

struct guest_file {
    char *name, *path; /* path NULL: inside an archive */
    ntr_bytes bytes;   /* then these */
    ntr_bundle_image copy; /* file NULL: not copied yet */
};

struct guest_names {
    struct ntr_capture_record *record;
    struct ntr_page_index *index;
    struct guest_file *files;
    size_t count, capacity;
    ntr_bytes *archives;
    size_t archive_count;
    bool has_contexts; /* the trace tells address spaces apart */
    struct ntr_capture_reason *unnamed; /* why some files could not be read; of the session */
};

static char *duplicate(const ntr_allocator *allocator, const char *text) {
    const size_t size = strlen(text) + 1;
    char *copy = ntr_alloc(allocator, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* ---- files of the guest */

static bool take_file(void *user, const char *name, const char *path, ntr_bytes bytes) {
    struct guest_names *n = user;
    const ntr_allocator *allocator = n->record->allocator;
    if (n->count == GUEST_FILES_MAX) {
        ntr_capture_fail(n->unnamed, NTR_E_LIMIT, "programs of the guest may have no names: only %d files are searched",
                         GUEST_FILES_MAX);
        return true;
    }
    if (ntr_reserve(allocator, (void **)&n->files, &n->capacity, n->count + 1, sizeof *n->files)) return false;
    struct guest_file *file = &n->files[n->count];
    *file = (struct guest_file){.name = duplicate(allocator, name), .path = path ? duplicate(allocator, path) : NULL};
    if (!path) file->bytes = bytes;
    n->count++;
    return file->name && (!path || file->path) && ntr_page_index_add(n->index, (uint32_t)n->count - 1, bytes);
}

/* Returns how many bytes of the image an ELF file at its beginning has; 0: there is none. */
static size_t embedded_size(ntr_bytes image) {
    Elf64_Ehdr header;
    if (image.size < sizeof header || memcmp(image.data, ELFMAG, SELFMAG) != 0) return 0;
    memcpy(&header, image.data, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_RISCV || header.e_type != ET_DYN) return 0;
    const uint64_t size = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
    return header.e_shoff < image.size && size <= image.size ? (size_t)size : 0;
}

/* A kernel has the vDSO inside, as an ELF file on a page of its own. */
static bool take_embedded(struct guest_names *n, ntr_bytes kernel) {
    enum { VDSO_ALIGNMENT = 4096 };
    for (size_t at = VDSO_ALIGNMENT; at < kernel.size; at += VDSO_ALIGNMENT) {
        const size_t size = embedded_size((ntr_bytes){kernel.data + at, kernel.size - at});
        if (size && !take_file(n, "[vdso]", NULL, (ntr_bytes){kernel.data + at, size})) return false;
    }
    return true;
}

static void read_files(struct guest_names *n, const char *path) {
    struct ntr_capture_reason reason;
    if (!path) return;
    const ntr_status status = ntr_guest_files_read(path, take_file, n, &n->archives[n->archive_count], &reason);
    if (status != NTR_E_MEMORY) n->archive_count++;
    if (*reason.text && !*n->unnamed->text)
        ntr_capture_fail(n->unnamed, NTR_E_FORMAT, "programs of the guest may have no names: %s", reason.text);
}

/* ---- copies */

/* Writes a file of an archive to a folder of its own, so that its copy in the bundle has its name. */
static ntr_status copy_bytes(ntr_bundle *bundle, struct guest_file *file) {
    char folder[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
    const char *slash = strrchr(file->name, '/'), *base = slash ? slash + 1 : file->name;
    snprintf(folder, sizeof folder, "%s/guest", ntr_bundle_folder(bundle));
    snprintf(path, sizeof path, "%s/%.*s", folder, NAME_MAX, base);
    if (mkdir(folder, 0700)) return NTR_E_IO;
    FILE *out = fopen(path, "we");
    bool good = out && fwrite(file->bytes.data, 1, file->bytes.size, out) == file->bytes.size;
    if (out && fclose(out)) good = false;
    ntr_status status = good ? ntr_bundle_copy(bundle, path, &file->copy) : NTR_E_IO;
    unlink(path);
    rmdir(folder);
    return status;
}

static bool copy(struct guest_names *n, struct guest_file *file) {
    if (file->copy.file) return true;
    ntr_bundle *bundle = n->record->bundle;
    return (file->path ? ntr_bundle_copy(bundle, file->path, &file->copy) : copy_bytes(bundle, file)) == NTR_OK;
}

/* ---- images */

static bool add_image(struct guest_names *n, const ntr_page_match *match, bool bound) {
    if (!n->files) return true;
    struct guest_file *file = &n->files[match->file];
    if (!copy(n, file)) return true; /* a file that cannot be copied has no names */
    ntr_bundle_image *image = ntr_capture_record_image(n->record);
    const char *name = ntr_capture_record_text(n->record, file->name);
    if (!image || !name) return false;
    image->kind = NTR_BUNDLE_ELF;
    image->file = file->copy.file;
    image->build_id = file->copy.build_id;
    image->options.name = name;
    image->options.bias = match->bias;
    image->options.has_prv = true;
    image->options.has_scontext = bound;
    image->options.scontext = bound ? match->context : 0;
    return true;
}

static bool same_place(const ntr_page_match *a, const ntr_page_match *b) {
    return a->file == b->file && a->bias == b->bias;
}

/* Without contexts in the trace, a file at one address is visible everywhere. */
static bool add_images(struct guest_names *n, const ntr_page_match *matches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool again = i && same_place(&matches[i - 1], &matches[i]);
        if ((n->has_contexts || !again) && !add_image(n, &matches[i], n->has_contexts)) return false;
    }
    return true;
}

static ntr_status name_pages(struct guest_names *n, const struct ntr_capture_notes *notes) {
    const ntr_allocator *allocator = n->record->allocator;
    ntr_page_seen *seen = ntr_alloc(allocator, notes->count, sizeof *seen);
    ntr_page_match *matches = NULL;
    size_t count = 0;
    if (!seen) return NTR_E_MEMORY;
    for (size_t i = 0; i < notes->count; i++) {
        const uint32_t *words = notes->items[i].words;
        seen[i] = (ntr_page_seen){notes->items[i].context, (uint64_t)words[1] << 32 | words[0],
                                  (uint64_t)words[3] << 32 | words[2]};
    }
    ntr_status status = ntr_page_index_match(n->index, seen, notes->count, &matches, &count);
    if (status == NTR_OK && !add_images(n, matches, count)) status = NTR_E_MEMORY;
    ntr_dealloc(allocator, matches);
    ntr_dealloc(allocator, seen);
    return status;
}

/* ---- the kernel */

static int put_symbol(void *user, uint64_t address, char type, const char *name) {
    return fprintf(user, "%016" PRIx64 " %c %s\n", address, type, name) < 0;
}

/* Writes the symbols of a kernel image as text: a tenth of its size. */
static ntr_status add_kernel(struct ntr_capture_record *record, ntr_bytes kernel) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/images/kallsyms", ntr_bundle_folder(record->bundle));
    FILE *out = fopen(path, "we");
    if (!out) return NTR_E_IO;
    ntr_status status = ntr_kallsyms_tables(kernel, record->xlen / 8, put_symbol, out);
    if (fclose(out) && status == NTR_OK) status = NTR_E_IO;
    if (status != NTR_OK) {
        unlink(path);
        return status;
    }
    ntr_bundle_image *image = ntr_capture_record_image(record);
    if (!image) return NTR_E_MEMORY;
    image->kind = NTR_BUNDLE_SYMBOLS;
    image->file = "images/kallsyms";
    image->options.name = "kernel";
    return NTR_OK;
}

struct wanted_symbol {
    const char *name;
    uint64_t address;
    bool found;
};

static int compare_symbol(void *user, uint64_t address, char type, const char *name) {
    struct wanted_symbol *wanted = user;

    if (!strchr("tTwW", type) || strcmp(name, wanted->name) != 0) return 0;
    wanted->address = address;
    return wanted->found = true;
}

bool ntr_capture_kernel_symbol(const struct ntr_capture *session, const char *name, uint64_t *address) {
    struct wanted_symbol wanted = {.name = name};
    ntr_bytes kernel;

    if (!ntr_guest_file_map(session->machine.kernel, &kernel)) return false;
    ntr_kallsyms_tables(kernel, session->record.xlen / 8, compare_symbol, &wanted);
    ntr_guest_files_release(&kernel);
    *address = wanted.address;
    return wanted.found;
}

/* ---- */

static void release(struct guest_names *n) {
    const ntr_allocator *allocator = n->record->allocator;
    for (size_t i = 0; i < n->count; i++) {
        ntr_dealloc(allocator, n->files[i].name);
        ntr_dealloc(allocator, n->files[i].path);
    }
    for (size_t i = 0; i < n->archive_count; i++) ntr_guest_files_release(&n->archives[i]);
    ntr_dealloc(allocator, n->archives);
    ntr_dealloc(allocator, n->files);
    ntr_page_index_free(n->index);
}

static void name_files(struct ntr_capture *session, const struct ntr_capture_notes *pages, ntr_bytes kernel) {
    const ntr_capture_machine_config *machine = &session->machine;
    const ntr_allocator *allocator = session->config.allocator;
    struct guest_names n = {
        .record = &session->record, .index = ntr_page_index_new(allocator), .unnamed = &session->unnamed};
    n.has_contexts = session->harts.keeps_spaces && !session->harts.machine->no_contexts;
    n.archives = ntr_alloc(allocator, machine->file_count + 1, sizeof *n.archives);
    if (n.index && n.archives && take_embedded(&n, kernel)) {
        read_files(&n, machine->initrd);
        for (size_t i = 0; i < machine->file_count; i++) read_files(&n, machine->files[i]);
        name_pages(&n, pages);
    }
    release(&n);
}

void ntr_capture_guest_names(struct ntr_capture *session) {
    const struct ntr_capture_machine *machine = session->harts.machine;
    ntr_bytes kernel = {NULL, 0};

    if (session->machine.kernel) ntr_guest_file_map(session->machine.kernel, &kernel);
    if (kernel.size > SELFMAG && memcmp(kernel.data, ELFMAG, SELFMAG) != 0) add_kernel(&session->record, kernel);
    if (machine && machine->pages.count) name_files(session, &machine->pages, kernel);
    ntr_guest_files_release(&kernel);
}
