#include "gdb/images.h"

#include "base/allocator.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ntr_status add_writable(ntr_gdb_images *images, uint64_t low, uint64_t size) {
    if (ntr_reserve(images->allocator, (void **)&images->writable, &images->writable_capacity,
                    images->writable_count + 1, sizeof *images->writable))
        return NTR_E_MEMORY;
    images->writable[images->writable_count++] = (ntr_gdb_range){low, low + size};
    return NTR_OK;
}

/* Returns whether the segment has the ABI note of GNU/Linux. */
static bool has_abi_note(Elf *elf, const GElf_Phdr *segment) {
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_NHDR);
    GElf_Nhdr note;
    size_t name, content, next;
    for (size_t at = 0; data && (next = gelf_getnote(data, at, &note, &name, &content)) > 0; at = next)
        if (note.n_type == NT_GNU_ABI_TAG && note.n_namesz == sizeof "GNU" &&
            memcmp((const char *)data->d_buf + name, "GNU", sizeof "GNU") == 0)
            return true;
    return false;
}

/* Reads the program headers. *interpreted: the file asks for a dynamic linker. */
static ntr_status read_headers(ntr_gdb_images *images, Elf *elf, ntr_gdb_image *image, bool *interpreted) {
    GElf_Ehdr head;
    GElf_Phdr segment;
    size_t count;
    ntr_status status = NTR_OK;
    if (!gelf_getehdr(elf, &head) || elf_getphdrnum(elf, &count) != 0) return NTR_E_FORMAT;
    image->entry = head.e_entry;
    image->flags = head.e_flags;
    image->header_count = head.e_phnum;
    image->header_size = head.e_phentsize;
    image->text = UINT64_MAX;
    for (size_t i = 0; i < count && status == NTR_OK; i++) {
        if (!gelf_getphdr(elf, (int)i, &segment)) continue;
        if (segment.p_type == PT_INTERP) *interpreted = true;
        if (segment.p_type == PT_INTERP || (segment.p_type == PT_NOTE && has_abi_note(elf, &segment)))
            images->linux_program = true;
        if (segment.p_type == PT_DYNAMIC) image->dynamic = segment.p_vaddr;
        if (segment.p_type != PT_LOAD) continue;
        if (segment.p_vaddr < image->text) image->text = segment.p_vaddr;
        if (segment.p_offset <= head.e_phoff && head.e_phoff - segment.p_offset < segment.p_filesz)
            image->headers = segment.p_vaddr + (head.e_phoff - segment.p_offset);
        if (segment.p_flags & PF_W) status = add_writable(images, image->bias + segment.p_vaddr, segment.p_memsz);
    }
    return status;
}

static bool is_listed(const ntr_gdb_images *images, const char *path) {
    for (size_t i = 0; i < images->count; i++)
        if (strcmp(images->items[i].path, path) == 0) return true;
    return false;
}

static ntr_status list(ntr_gdb_images *images, ntr_gdb_image image, const char *path, bool first) {
    if (ntr_reserve(images->allocator, (void **)&images->items, &images->capacity, images->count + 1,
                    sizeof *images->items))
        return NTR_E_MEMORY;
    image.path = ntr_alloc(images->allocator, strlen(path) + 1, 1);
    if (!image.path) return NTR_E_MEMORY;
    memcpy(image.path, path, strlen(path) + 1);
    if (first && images->count) memmove(images->items + 1, images->items, images->count * sizeof *images->items);
    images->items[first ? 0 : images->count] = image;
    images->count++;
    return NTR_OK;
}

/* Adds a file. The main file is the first one with an interpreter, else the first one. */
static ntr_status add_image(ntr_gdb_images *images, const ntr_image_info *info, bool *has_program) {
    char path[PATH_MAX];
    if (!realpath(info->path, path) || is_listed(images, path)) return NTR_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NTR_OK;
    ntr_gdb_image image = {.bias = info->options.bias};
    bool interpreted = false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    ntr_status status = elf ? read_headers(images, elf, &image, &interpreted) : NTR_E_FORMAT;
    elf_end(elf);
    close(fd);
    if (status != NTR_OK) return status == NTR_E_FORMAT ? NTR_OK : status;
    bool first = images->count == 0 || (interpreted && !*has_program);
    *has_program |= interpreted;
    return list(images, image, path, first);
}

ntr_status ntr_gdb_images_load(ntr_gdb_images *images, const ntr_program *program) {
    ntr_image_info info;
    ntr_status status = NTR_OK;
    bool has_program = false;
    for (size_t i = 0; status == NTR_OK && ntr_program_image(program, i, &info) == NTR_OK; i++)
        if (info.path && info.high > info.low) status = add_image(images, &info, &has_program);
    return status;
}

size_t ntr_gdb_images_constant(const ntr_gdb_images *images, uint64_t address, size_t size) {
    for (size_t i = 0; i < images->writable_count; i++) {
        const ntr_gdb_range *range = &images->writable[i];
        if (address >= range->low && address < range->high) return 0;
        if (range->low > address && range->low - address < size) size = (size_t)(range->low - address);
    }
    return size;
}

void ntr_gdb_images_release(ntr_gdb_images *images) {
    for (size_t i = 0; i < images->count; i++) ntr_dealloc(images->allocator, images->items[i].path);
    ntr_dealloc(images->allocator, images->items);
    ntr_dealloc(images->allocator, images->writable);
}
