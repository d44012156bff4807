#include "gdb/images.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "program/program.h"
#include "unwind/invented_stack.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ntr_status add_range(const ntr_gdb_images *images, ntr_gdb_ranges *ranges, ntr_gdb_range range) {
    if (ntr_reserve(images->allocator, (void **)&ranges->items, &ranges->capacity, ranges->count + 1,
                    sizeof *ranges->items))
        return NTR_E_MEMORY;
    ranges->items[ranges->count++] = range;
    return NTR_OK;
}

/* Firmware is often linked to one segment that can be executed and written. Its sections tell what is not written. */
static ntr_status add_constant_sections(ntr_gdb_images *images, Elf *elf, uint64_t bias, size_t number) {
    ntr_status status = NTR_OK;
    GElf_Shdr section;
    for (Elf_Scn *scn = NULL; status == NTR_OK && (scn = elf_nextscn(elf, scn));)
        if (gelf_getshdr(scn, &section) && section.sh_type == SHT_PROGBITS &&
            (section.sh_flags & (SHF_ALLOC | SHF_WRITE)) == SHF_ALLOC)
            status =
                add_range(images, &images->constant,
                          (ntr_gdb_range){bias + section.sh_addr, bias + section.sh_addr + section.sh_size, number});
    return status;
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

/* Reads the program headers of the file of image `number`. */
static ntr_status read_headers(ntr_gdb_images *images, Elf *elf, ntr_gdb_image *image, size_t number) {
    GElf_Ehdr head;
    GElf_Phdr segment;
    size_t count;
    bool mixed = false; /* a segment has code and variables */
    ntr_status status = NTR_OK;
    if (!gelf_getehdr(elf, &head) || elf_getphdrnum(elf, &count) != 0) return NTR_E_FORMAT;
    image->entry = head.e_entry;
    image->flags = head.e_flags;
    image->header_count = head.e_phnum;
    image->header_size = head.e_phentsize;
    image->text = UINT64_MAX;
    for (size_t i = 0; i < count && status == NTR_OK; i++) {
        if (!gelf_getphdr(elf, (int)i, &segment)) continue;
        if (segment.p_type == PT_INTERP) image->interpreted = true;
        if (segment.p_type == PT_INTERP || (segment.p_type == PT_NOTE && has_abi_note(elf, &segment)))
            images->linux_program = true;
        if (segment.p_type == PT_DYNAMIC) image->dynamic = segment.p_vaddr;
        if (segment.p_type != PT_LOAD) continue;
        if (segment.p_vaddr < image->text) image->text = segment.p_vaddr;
        if (segment.p_vaddr + segment.p_memsz > image->end) image->end = segment.p_vaddr + segment.p_memsz;
        if (segment.p_offset <= head.e_phoff && head.e_phoff - segment.p_offset < segment.p_filesz)
            image->headers = segment.p_vaddr + (head.e_phoff - segment.p_offset);
        if (!(segment.p_flags & PF_W)) continue;
        const uint64_t low = image->bias + segment.p_vaddr;
        status = add_range(images, &images->writable, (ntr_gdb_range){low, low + segment.p_memsz, number});
        mixed |= segment.p_flags & PF_X;
    }
    return status == NTR_OK && mixed ? add_constant_sections(images, elf, image->bias, number) : status;
}

/* ---- files */

/* Returns the path, written in another way for each further address of the file ("/lib/./a.so"), or NULL. */
static char *make_name(const ntr_gdb_images *images, const char *path, size_t copies) {
    const char *base = strrchr(path, '/');
    const size_t before = base ? (size_t)(base - path) : 0;
    char *name = ntr_alloc(images->allocator, strlen(path) + 2 * copies + 1, 1);
    if (!name) return NULL;
    memcpy(name, path, before);
    for (size_t i = 0; i < 2 * copies; i++) name[before + i] = i % 2 ? '.' : '/';
    memcpy(name + before + 2 * copies, path + before, strlen(path + before) + 1);
    return name;
}

/* Adds the file, if it is not there yet at this address, and the image that it belongs to. */
static ntr_status list(ntr_gdb_images *images, ntr_gdb_image image, const char *path, size_t number) {
    size_t item = 0, copies = 0;
    image.file = images->count;
    for (; item < images->count; item++) {
        const ntr_gdb_image *other = &images->items[item];
        if (strcmp(images->items[other->file].path, path) != 0) continue;
        if (other->bias == image.bias) break;
        image.file = other->file;
        copies++;
    }
    if (ntr_reserve(images->allocator, (void **)&images->places, &images->place_capacity, images->place_count + 1,
                    sizeof *images->places))
        return NTR_E_MEMORY;
    images->places[images->place_count++] = (ntr_gdb_place){number, item};
    if (item < images->count) return NTR_OK;
    image.path = make_name(images, path, copies);
    if (!image.path || ntr_reserve(images->allocator, (void **)&images->items, &images->capacity, images->count + 1,
                                   sizeof *images->items)) {
        ntr_dealloc(images->allocator, image.path);
        return NTR_E_MEMORY;
    }
    images->items[images->count++] = image;
    return NTR_OK;
}

static ntr_status add_file(ntr_gdb_images *images, const char *path, ntr_gdb_image image, size_t number) {
    char resolved[PATH_MAX];
    const int fd = realpath(path, resolved) ? open(resolved, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return NTR_E_FORMAT;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    ntr_status status = elf ? read_headers(images, elf, &image, number) : NTR_E_FORMAT;
    elf_end(elf);
    close(fd);
    return status == NTR_OK ? list(images, image, resolved, number) : status;
}

/* Makes a symbol file of the regions of the image, or of the names (may be NULL). Without a folder, and where it cannot
 * be written, the debugger has to do without. */
static ntr_status make_file(ntr_gdb_images *images, ntr_gdb_image image, const ntr_symbols *names, size_t number) {
    char path[PATH_MAX];
    const unsigned xlen = ntr_program_xlen(images->program) == 32 ? 32 : 64;
    const int size =
        images->folder ? snprintf(path, sizeof path, "%s/code-%zu.elf", images->folder, images->count) : -1;
    const int fd =
        size > 0 && (size_t)size < sizeof path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    ntr_status status = NTR_E_IO;
    if (fd >= 0)
        status = image.return_places ? ntr_gdb_return_places_write(fd, images->return_places, &image.regions, xlen)
                                     : ntr_gdb_symbol_file_write(fd, NTR_GDB_SYMBOL_CODE, names, &image.regions, xlen);
    if (fd >= 0 && close(fd) != 0 && status == NTR_OK) status = NTR_E_IO;
    image.bias = 0; /* the names have it already */
    image.made = true;
    if (status == NTR_OK) image.text = image.regions.items[0].low;
    if (status == NTR_OK) status = list(images, image, path, number);
    if (status == NTR_OK) return status;
    if (fd >= 0) unlink(path);
    ntr_dealloc(images->allocator, image.regions.items);
    return status == NTR_E_MEMORY ? status : NTR_OK;
}

static ntr_status add_image(ntr_gdb_images *images, const ntr_image_info *info, size_t number) {
    const ntr_image_options *o = &info->options;
    const ntr_symbols *names = &images->program->images[number].symbols;
    const ntr_gdb_image image = {.bias = o->bias,
                                 .limited = o->has_scontext || o->has_hcontext || o->from || o->until,
                                 .regions.allocator = images->allocator};
    ntr_status status = info->path ? add_file(images, info->path, image, number) : NTR_E_FORMAT;
    if (status != NTR_E_FORMAT) return status;
    return names->count ? make_file(images, image, names, number) : NTR_OK;
}

/* ---- code without a file */

static bool is_nameless(const ntr_gdb_images *images, const ntr_image_info *info, size_t index) {
    const ntr_place place = ntr_program_image_place(images->program, index, info->low);
    ntr_image_info namer;
    size_t number;
    if (info->path || info->high <= info->low || info->options.has_scontext || info->options.has_hcontext) return false;
    return ntr_program_image_at(images->program, place, &number) != NTR_OK ||
           (ntr_program_image(images->program, number, &namer) == NTR_OK && !namer.path &&
            !ntr_gdb_images_made(images, place));
}

static int by_low(const void *left, const void *right) {
    const ntr_gdb_region *a = left, *b = right;
    return NTR_COMPARE(a->low, b->low);
}

/* Returns whether the code [low, high) is, at another time or in another context, that of one of the first `named`
 * files. */
static bool is_shared(const ntr_gdb_images *images, size_t named, uint64_t low, uint64_t high) {
    for (size_t i = 0; i < named; i++) {
        const ntr_gdb_image *image = &images->items[i];
        if (!image->made && image->bias + image->text < high && low < image->bias + image->end) return true;
        for (size_t k = 0; k < image->regions.count; k++)
            if (image->regions.items[k].low < high && low < image->regions.items[k].high) return true;
    }
    return false;
}

/* Nameless code where a file is at another time has a file of its own: a debugger would find one of both there. */
static ntr_status add_for_a_time(ntr_gdb_images *images, const ntr_image_info *info, size_t number) {
    ntr_gdb_image image = {.limited = info->options.from || info->options.until,
                           .regions.allocator = images->allocator};
    const ntr_status status = ntr_gdb_region_add(&image.regions, info->low, info->high, 0);
    if (status == NTR_OK) return make_file(images, image, NULL, number);
    ntr_dealloc(images->allocator, image.regions.items);
    return status;
}

/* Describes recorded code that is in no file and has no names: firmware, the trampolines of a system, generated code.
 */
static ntr_status add_nameless(ntr_gdb_images *images) {
    enum { CODE_GAP = 64 };
    ntr_gdb_image image = {.regions.allocator = images->allocator};
    ntr_gdb_region *found = ntr_alloc(images->allocator, images->program->image_count + 1, sizeof *found);
    ntr_image_info info;
    ntr_status status = found ? NTR_OK : NTR_E_MEMORY;
    size_t count = 0, named = images->count;
    for (size_t i = 0; status == NTR_OK && ntr_program_image(images->program, i, &info) == NTR_OK; i++) {
        if (!is_nameless(images, &info, i)) continue;
        if (is_shared(images, named, info.low, info.high))
            status = add_for_a_time(images, &info, i);
        else
            found[count++] = (ntr_gdb_region){.low = info.low, .high = info.high};
    }
    if (count) qsort(found, count, sizeof *found, by_low);
    for (size_t i = 0; i < count && status == NTR_OK; i++)
        status = ntr_gdb_region_add(&image.regions, found[i].low, found[i].high, CODE_GAP);
    ntr_dealloc(images->allocator, found);
    if (status == NTR_OK && count) return make_file(images, image, NULL, SIZE_MAX);
    ntr_dealloc(images->allocator, image.regions.items);
    return status;
}

/* ---- return places */

/* Finds addresses without code for them, above the stacks (state.c), and makes their file. */
static ntr_status add_return_places(ntr_gdb_images *images) {
    enum { PLACES_TRIED = 16, PLACES_SIZE = NTR_RETURN_PLACES * NTR_RETURN_PLACE_SIZE };
    const uint64_t top = ntr_program_xlen(images->program) == 32 ? NTR_GDB_STACKS_32 : NTR_GDB_STACKS_64;
    const ntr_gdb_image image = {.return_places = true, .regions.allocator = images->allocator};
    size_t found;
    for (unsigned i = 0; i < PLACES_TRIED && !images->return_places; i++) {
        const uint64_t low = top + i * (uint64_t)PLACES_SIZE;
        if (ntr_program_image_at(images->program, ntr_place_at(NULL, NTR_POSITION_ANY, low), &found) != NTR_OK &&
            ntr_program_image_at(images->program, ntr_place_at(NULL, NTR_POSITION_ANY, low + PLACES_SIZE - 1),
                                 &found) != NTR_OK)
            images->return_places = low;
    }
    const size_t count = images->count;
    const ntr_status status = images->return_places ? make_file(images, image, NULL, SIZE_MAX) : NTR_OK;
    if (images->count == count) images->return_places = 0; /* no file, no places */
    return status;
}

/* The main file: a program that is there in all contexts and at all times, a dynamic one before others; else names,
 * those of a kernel; else return places, because a debugger without a main file reads no libraries at the begin. It has
 * the names of the main file always: a program that is replaced, or is one of several, is a library. */
static size_t find_main(const ntr_gdb_images *images) {
    static const struct {
        bool interpreted, made, return_places;
    } wanted[] = {{.interpreted = true}, {0}, {.made = true}, {.made = true, .return_places = true}};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
        for (size_t i = 0; i < images->count; i++) {
            const ntr_gdb_image *image = &images->items[i];
            if (!image->limited && image->made == wanted[k].made && image->return_places == wanted[k].return_places &&
                image->interpreted >= wanted[k].interpreted)
                return i;
        }
    return images->count;
}

ntr_status ntr_gdb_images_load(ntr_gdb_images *images) {
    ntr_image_info info;
    ntr_status status = NTR_OK;
    for (size_t i = 0; status == NTR_OK && ntr_program_image(images->program, i, &info) == NTR_OK; i++)
        status = add_image(images, &info, i);
    if (status == NTR_OK) status = add_nameless(images);
    if (status == NTR_OK) status = add_return_places(images);
    images->main = find_main(images);
    return status;
}

bool ntr_gdb_image_visible(const ntr_gdb_images *images, size_t item, ntr_place place) {
    ntr_context any_mode;
    if (!images->items[item].limited) return true;
    if (place.context) { /* NULL: all contexts */
        any_mode = *place.context;
        any_mode.prv = NTR_PRV_UNKNOWN;
        place.context = &any_mode;
    }
    for (size_t i = 0; i < images->place_count; i++)
        if (images->places[i].item == item &&
            ntr_image_is_visible(&images->program->images[images->places[i].image], place))
            return true;
    return false;
}

bool ntr_gdb_images_made(const ntr_gdb_images *images, ntr_place place) {
    for (size_t i = 0; i < images->count; i++)
        if (images->items[i].made && ntr_gdb_regions_contain(&images->items[i].regions, place.address) &&
            ntr_gdb_image_visible(images, i, place))
            return true;
    return false;
}

bool ntr_gdb_is_return_place(const ntr_gdb_images *images, uint64_t address) {
    return images->return_places && address - images->return_places < NTR_RETURN_PLACES * NTR_RETURN_PLACE_SIZE;
}

size_t ntr_gdb_images_constant(const ntr_gdb_images *images, size_t image, uint64_t address, size_t size) {
    for (size_t i = 0; i < images->constant.count; i++) {
        const ntr_gdb_range *range = &images->constant.items[i];
        if (range->image == image && address >= range->low && address < range->high)
            return range->high - address < size ? (size_t)(range->high - address) : size;
    }
    for (size_t i = 0; i < images->writable.count; i++) {
        const ntr_gdb_range *range = &images->writable.items[i];
        if (range->image != image) continue;
        if (address >= range->low && address < range->high) return 0;
        if (range->low > address && range->low - address < size) size = (size_t)(range->low - address);
    }
    return size;
}

void ntr_gdb_images_release(ntr_gdb_images *images) {
    for (size_t i = 0; i < images->count; i++) {
        if (images->items[i].made) unlink(images->items[i].path);
        ntr_dealloc(images->allocator, images->items[i].regions.items);
        ntr_dealloc(images->allocator, images->items[i].path);
    }
    ntr_dealloc(images->allocator, images->items);
    ntr_dealloc(images->allocator, images->places);
    ntr_dealloc(images->allocator, images->writable.items);
    ntr_dealloc(images->allocator, images->constant.items);
}
