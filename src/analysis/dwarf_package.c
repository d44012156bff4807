#include "analysis/dwarf_package.h"

#include "analysis/dwarf_index.h"
#include "base/allocator.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STR_OFFSETS_HEADER = 8, SECTIONS_MAX = 8, PART_HEADER = 64, SECTION_NAMES_MAX = 256 };

typedef struct byte_list {
    const ntr_allocator *allocator;
    uint8_t *items;
    size_t count, capacity;
    bool failed; /* out of memory */
} byte_list;

/* A section of a file that is made. An empty one is left out. */
typedef struct section {
    const char *name;
    ntr_bytes bytes;
} section;

/* A skeleton unit of the program that the package has. */
typedef struct skeleton {
    Dwarf_Off of_program, made; /* the entry of the unit, in both .debug_info */
    uint32_t row;
} skeleton;

struct ntr_dwarf_package {
    const ntr_allocator *allocator;
    ntr_damage *damage;
    char path[PATH_MAX], name[NTR_NAME_CLEANED_MAX + 1]; /* `name`: in damage */
    int file;
    Elf *elf;
    ntr_dwarf_index units;
    ntr_bytes parts[NTR_DWO_SECTIONS], texts; /* sections of the package */
    int made; /* the file that the skeleton units name; what it is changes */
    skeleton *skeletons;
    size_t count, capacity, at;
    Dwarf *skeleton_units;
    uint64_t left; /* bytes that may be copied */
};

static void append(byte_list *list, const void *bytes, size_t size) {
    list->failed = list->failed ||
                   ntr_reserve(list->allocator, (void **)&list->items, &list->capacity, list->count + size + 1, 1) != 0;
    if (list->failed || !size) return;
    memcpy(list->items + list->count, bytes, size);
    list->count += size;
}

static void append_number(byte_list *list, uint64_t value, size_t size) {
    uint8_t bytes[8];
    ntr_little_put(bytes, value, size);
    append(list, bytes, size);
}

static ntr_bytes bytes_of(const byte_list *list) {
    return (ntr_bytes){list->items, list->count};
}

/* ---- ELF files --------------------------------------------------------------------------------- */

/* Returns a section, or nothing. */
static ntr_bytes find_section(Elf *elf, const char *wanted, bool *compressed) {
    size_t names;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names)) return (ntr_bytes){0};
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || !ntr_dwfl_is_section(name, wanted) || header.sh_type == SHT_NOBITS) continue;
        if (header.sh_flags & SHF_COMPRESSED) {
            *compressed = true;
            break;
        }
        const Elf_Data *data = elf_getdata(scn, NULL);
        return data && data->d_buf ? (ntr_bytes){data->d_buf, data->d_size} : (ntr_bytes){0};
    }
    return (ntr_bytes){0};
}

static void set_section(uint8_t *header, size_t name, uint32_t type, uint64_t offset, uint64_t size) {
    ntr_little_put(header, name, 4);
    ntr_little_put(header + 4, type, 4);
    ntr_little_put(header + 24, offset, 8);
    ntr_little_put(header + 32, size, 8);
    ntr_little_put(header + 48, 1, 8); /* alignment */
}

static bool write_bytes(int file, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        const ssize_t n = write(file, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Writes an ELF file of 64 bits, whatever the program is: units have the sizes of addresses. It begins with its header
 * and the headers of its sections. libelf 0.188 is not used for it: without memory, it ends the process. */
static bool write_sections(int file, const section *sections, size_t count) {
    uint8_t head[(SECTIONS_MAX + 3) * PART_HEADER] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    char names[SECTION_NAMES_MAX] = "";
    size_t used = 1, number = 1;
    uint64_t offset = sizeof head;
    for (size_t i = 0; i < count; i++) {
        if (!sections[i].bytes.size) continue;
        number++;
        set_section(head + number * PART_HEADER, used, SHT_PROGBITS, offset, sections[i].bytes.size);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s", sections[i].name) + 1;
        offset += sections[i].bytes.size;
    }
    number++;
    set_section(head + number * PART_HEADER, 0, SHT_STRTAB, offset, used);
    ntr_little_put(head + 16, ET_REL, 2);
    ntr_little_put(head + 18, EM_RISCV, 2);
    ntr_little_put(head + 20, EV_CURRENT, 4);
    ntr_little_put(head + 40, PART_HEADER, 8); /* the headers of sections, and the first one is empty */
    ntr_little_put(head + 52, PART_HEADER, 2);
    ntr_little_put(head + 58, PART_HEADER, 2);
    ntr_little_put(head + 60, number, 2);
    ntr_little_put(head + 62, number - 1, 2);
    bool written = write_bytes(file, head, sizeof head);
    for (size_t i = 0; i < count && written; i++)
        written = write_bytes(file, sections[i].bytes.data, sections[i].bytes.size);
    return written && write_bytes(file, names, used);
}

/* Returns a file in memory with the sections, or -1. */
static int make_file(const section *sections, size_t count) {
    const int file = memfd_create("ntrace-debug", MFD_CLOEXEC);
    if (file < 0 || write_sections(file, sections, count)) return file;
    close(file);
    return -1;
}

/* ---- skeleton units ---------------------------------------------------------------------------- */

/* Two declarations, of DWARF 5 and of GNU's DWARF 4. DW_AT_GNU_* have two bytes. */
#define GNU(name) (name) % 128 + 128, (name) / 128
static const uint8_t declarations[] = {5,
                                       DW_TAG_skeleton_unit,
                                       DW_CHILDREN_no,
                                       DW_AT_low_pc,
                                       DW_FORM_addr,
                                       DW_AT_comp_dir,
                                       DW_FORM_string,
                                       DW_AT_dwo_name,
                                       DW_FORM_string,
                                       DW_AT_stmt_list,
                                       DW_FORM_sec_offset,
                                       DW_AT_addr_base,
                                       DW_FORM_sec_offset,
                                       0,
                                       0,
                                       4,
                                       DW_TAG_compile_unit,
                                       DW_CHILDREN_no,
                                       DW_AT_low_pc,
                                       DW_FORM_addr,
                                       DW_AT_comp_dir,
                                       DW_FORM_string,
                                       GNU(DW_AT_GNU_dwo_name),
                                       DW_FORM_string,
                                       DW_AT_stmt_list,
                                       DW_FORM_sec_offset,
                                       GNU(DW_AT_GNU_addr_base),
                                       DW_FORM_sec_offset,
                                       GNU(DW_AT_GNU_ranges_base),
                                       DW_FORM_sec_offset,
                                       GNU(DW_AT_GNU_dwo_id),
                                       DW_FORM_data8,
                                       0,
                                       0,
                                       0};

static uint32_t offset_of(Dwarf_Die *die, unsigned name, uint32_t absent) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 && value < absent ? (uint32_t)value : absent;
}

/* Appends the skeleton unit. Returns where its entry begins. */
static Dwarf_Off write_skeleton(byte_list *info, Dwarf_Die *die, unsigned version, uint64_t id, uint8_t address_size,
                                int file) {
    enum { LENGTH = 4 };
    const size_t begin = info->count;
    const bool is_5 = version == 5;
    Dwarf_Attribute attribute;
    Dwarf_Addr low = 0;
    char name[32];
    (void)dwarf_lowpc(die, &low);
    const char *folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
    if (!folder) folder = "";
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    append_number(info, 0, LENGTH); /* written below */
    append_number(info, version, 2);
    if (is_5) append_number(info, DW_UT_skeleton, 1);
    if (is_5) append_number(info, address_size, 1);
    append_number(info, 0, 4); /* declarations */
    if (is_5) append_number(info, id, 8);
    if (!is_5) append_number(info, address_size, 1);
    const Dwarf_Off entry = info->count;
    append_number(info, version, 1);
    append_number(info, low, address_size);
    append(info, folder, strlen(folder) + 1);
    append(info, name, strlen(name) + 1);
    append_number(info, offset_of(die, DW_AT_stmt_list, UINT32_MAX), 4);
    append_number(info, offset_of(die, is_5 ? DW_AT_addr_base : DW_AT_GNU_addr_base, UINT32_MAX), 4);
    if (!is_5) append_number(info, offset_of(die, DW_AT_GNU_ranges_base, UINT32_MAX), 4);
    if (!is_5) append_number(info, id, 8);
    if (!info->failed) ntr_little_put(info->items + begin, info->count - begin - LENGTH, LENGTH);
    return entry;
}

static ntr_status list_skeletons(ntr_dwarf_package *p, byte_list *info, Dwarf *program) {
    Dwarf_Die die;
    Dwarf_Half version;
    uint8_t type, address_size, offset_size;
    uint64_t id;
    for (Dwarf_CU *cu = NULL; dwarf_get_units(program, cu, &cu, NULL, NULL, NULL, NULL) == 0;) {
        if (dwarf_cu_info(cu, &version, &type, &die, NULL, &id, &address_size, &offset_size) != 0) continue;
        if (type != DW_UT_skeleton || offset_size != 4 || (address_size != 4 && address_size != 8)) continue;
        const uint32_t row = ntr_dwarf_index_find(&p->units, id);
        if (!row) continue;
        if (ntr_reserve(p->allocator, (void **)&p->skeletons, &p->capacity, p->count + 1, sizeof *p->skeletons))
            return NTR_E_MEMORY;
        const Dwarf_Off made = write_skeleton(info, &die, version, id, address_size, p->made);
        p->skeletons[p->count++] = (skeleton){dwarf_dieoffset(&die), made, row};
    }
    return info->failed ? NTR_E_MEMORY : NTR_OK;
}

/* Makes the file with the skeleton units, and the sections of the program to which they refer. */
static ntr_status make_skeletons(ntr_dwarf_package *p, Dwarf *program) {
    static const char *const copied[] = {".debug_addr", ".debug_ranges", ".debug_line", ".debug_line_str",
                                         ".debug_str"};
    byte_list info = {.allocator = p->allocator};
    section sections[2 + NTR_COUNT(copied)];
    Elf *elf = dwarf_getelf(program);
    bool compressed = false;
    ntr_status status = list_skeletons(p, &info, program);
    sections[0] = (section){".debug_info", bytes_of(&info)};
    sections[1] = (section){".debug_abbrev", {declarations, sizeof declarations}};
    for (size_t i = 0; i < NTR_COUNT(copied); i++)
        sections[2 + i] = (section){copied[i], find_section(elf, copied[i], &compressed)};
    const int file = status || !p->count ? -1 : make_file(sections, NTR_COUNT(sections));
    if (file >= 0) p->skeleton_units = dwarf_begin(file, DWARF_C_READ);
    if (p->skeleton_units) elf_cntl(dwarf_getelf(p->skeleton_units), ELF_C_FDDONE);
    if (file >= 0) close(file);
    ntr_dealloc(p->allocator, info.items);
    return status;
}

/* ---- .dwo files -------------------------------------------------------------------------------- */

/* Stores the parts of a row. Returns false if one is not inside of its section. */
static bool find_parts(const ntr_dwarf_package *p, uint32_t row, ntr_bytes *bytes) {
    ntr_dwarf_part parts[NTR_DWO_SECTIONS];
    ntr_dwarf_index_parts(&p->units, row, parts);
    for (unsigned i = NTR_DWO_INFO; i < NTR_DWO_SECTIONS; i++) {
        const ntr_bytes whole = p->parts[i];
        if (parts[i].offset > whole.size || parts[i].size > whole.size - parts[i].offset) return false;
        bytes[i] = parts[i].size ? (ntr_bytes){whole.data + parts[i].offset, parts[i].size} : (ntr_bytes){0};
    }
    return true;
}

/* Copies the texts of a unit, and its offsets of texts: those of the package are of all units. Returns false if they
 * are damaged. */
static bool copy_texts(ntr_dwarf_package *p, ntr_bytes from, size_t header, byte_list *offsets, byte_list *texts) {
    append(offsets, from.data, from.size < header ? from.size : header);
    for (size_t at = header; from.size >= 4 && at <= from.size - 4; at += 4) {
        const uint32_t offset = ntr_little_32(from.data + at);
        const uint8_t *text = p->texts.data + offset;
        const uint8_t *end = offset < p->texts.size ? memchr(text, 0, p->texts.size - offset) : NULL;
        if (!end || (uint64_t)(end - text) >= p->left) return false;
        append_number(offsets, texts->count, 4);
        append(texts, text, (size_t)(end - text) + 1);
        p->left -= (uint64_t)(end - text) + 1;
    }
    return true;
}

/* Makes the .dwo file of a row. Returns a file, or -1. */
static int make_unit(ntr_dwarf_package *p, uint32_t row, ntr_status *status) {
    enum { UNIT_VERSION = 4, UNIT_LEAST = 12 };
    byte_list offsets = {.allocator = p->allocator}, texts = {.allocator = p->allocator};
    ntr_bytes parts[NTR_DWO_SECTIONS] = {{0}};
    uint64_t size = 0;
    int file = -1;
    if (!find_parts(p, row, parts) || parts[NTR_DWO_INFO].size < UNIT_LEAST) return -1;
    for (unsigned i = NTR_DWO_INFO; i < NTR_DWO_SECTIONS; i++) size += parts[i].size;
    if (size > p->left) return -1;
    p->left -= size;
    const size_t header = ntr_little_16(parts[NTR_DWO_INFO].data + UNIT_VERSION) >= 5 ? STR_OFFSETS_HEADER : 0;
    const bool copied = copy_texts(p, parts[NTR_DWO_STR_OFFSETS], header, &offsets, &texts);
    if (offsets.failed || texts.failed) {
        *status = NTR_E_MEMORY;
    } else if (copied) {
        const section sections[] = {
            {".debug_info.dwo", parts[NTR_DWO_INFO]},       {".debug_abbrev.dwo", parts[NTR_DWO_ABBREV]},
            {".debug_line.dwo", parts[NTR_DWO_LINE]},       {".debug_rnglists.dwo", parts[NTR_DWO_RNGLISTS]},
            {".debug_str_offsets.dwo", bytes_of(&offsets)}, {".debug_str.dwo", bytes_of(&texts)}};
        file = make_file(sections, NTR_COUNT(sections));
    }
    ntr_dealloc(p->allocator, offsets.items);
    ntr_dealloc(p->allocator, texts.items);
    return file;
}

/* Opens the unit of a skeleton unit whose .dwo file is `file`. */
static ntr_status open_unit(ntr_dwarf_package *p, const skeleton *s, int file, Dwarf_Die *unit) {
    Dwarf_Die die;
    const bool found = dup2(file, p->made) >= 0 && dwarf_offdie(p->skeleton_units, s->made, &die) &&
                       dwarf_cu_info(die.cu, NULL, NULL, NULL, unit, NULL, NULL, NULL) == 0 && unit->addr;
    close(file);
    return found ? NTR_OK : NTR_END;
}

ntr_status ntr_dwarf_package_unit(ntr_dwarf_package *p, Dwarf_Die *die, Dwarf_Die *unit) {
    const Dwarf_Off wanted = dwarf_dieoffset(die);
    while (p->at < p->count && p->skeletons[p->at].of_program < wanted) p->at++; /* units come in order */
    if (p->at == p->count || p->skeletons[p->at].of_program != wanted) return NTR_END;
    ntr_status status = NTR_END;
    const int file = make_unit(p, p->skeletons[p->at].row, &status);
    if (file >= 0) status = open_unit(p, &p->skeletons[p->at], file, unit);
    if (status == NTR_END)
        ntr_damage_add(p->damage, "%.200s: units that are damaged, or larger than the limit debug-output, are not read",
                       p->name);
    return status;
}

/* ---- the package ------------------------------------------------------------------------------- */

static const char *read_sections(ntr_dwarf_package *p) {
    static const char *const names[NTR_DWO_SECTIONS] = {[NTR_DWO_INFO] = ".debug_info.dwo",
                                                        [NTR_DWO_ABBREV] = ".debug_abbrev.dwo",
                                                        [NTR_DWO_LINE] = ".debug_line.dwo",
                                                        [NTR_DWO_STR_OFFSETS] = ".debug_str_offsets.dwo",
                                                        [NTR_DWO_RNGLISTS] = ".debug_rnglists.dwo"};
    bool compressed = false;
    if (!p->elf || elf_kind(p->elf) != ELF_K_ELF) return "not an ELF file";
    const ntr_bytes index = find_section(p->elf, ".debug_cu_index", &compressed);
    for (unsigned i = NTR_DWO_INFO; i < NTR_DWO_SECTIONS; i++)
        p->parts[i] = find_section(p->elf, names[i], &compressed);
    p->texts = find_section(p->elf, ".debug_str.dwo", &compressed);
    if (compressed) return "its sections are compressed";
    return index.size ? ntr_dwarf_index_read(&p->units, index) : "no index of units (.debug_cu_index)";
}

static ntr_status read_file(ntr_dwarf_package *p, Dwarf *program, const char **problem) {
    p->made = dup(p->file);
    p->elf = elf_begin(p->file, ELF_C_READ_MMAP, NULL);
    *problem = p->made < 0 ? "no more files can be opened" : read_sections(p);
    return *problem ? NTR_OK : make_skeletons(p, program);
}

/* Opens FOLDER/NAME.dwp, or NAME.dwp if the folder is empty. */
static int open_named(const char *folder, size_t length, const char *name, char *path, uint64_t *size) {
    if (length >= PATH_MAX || strlen(name) >= PATH_MAX) return -1;
    const int needed = snprintf(path, PATH_MAX, "%.*s%s%s.dwp", (int)length, folder, length ? "/" : "", name);
    return needed < PATH_MAX ? ntr_open_regular(path, UINT32_MAX, size) : -1;
}

/* Opens the package of a program; `path` has PATH_MAX bytes. */
static int open_file(const ntr_dwfl_file *debug, const char *program, const char *folders, char *path, uint64_t *size) {
    const char *names[] = {debug->name, program, NULL};
    int file = -1;
    dwfl_module_info(debug->module, NULL, NULL, NULL, NULL, NULL, NULL, &names[2]);
    for (size_t i = 0; i < NTR_COUNT(names) && file < 0; i++)
        if (names[i]) file = open_named("", 0, names[i], path, size);
    const char *slash = debug->name ? strrchr(debug->name, '/') : NULL;
    for (const char *at = folders; file < 0 && slash && at && *at;) {
        const size_t length = strcspn(at, ":");
        if (length) file = open_named(at, length, slash + 1, path, size);
        at += length + (at[length] == ':');
    }
    return file;
}

ntr_status ntr_dwarf_package_open(ntr_dwarf_package **package, const ntr_dwfl_file *debug, const char *program,
                                  const char *folders, Dwarf *skeletons) {
    char path[PATH_MAX];
    const char *problem = NULL;
    uint64_t size;
    *package = NULL;
    const int file = open_file(debug, program, folders, path, &size);
    if (file < 0) return NTR_OK;
    ntr_dwarf_package *p = ntr_alloc(debug->allocator, 1, sizeof *p);
    if (!p) {
        close(file);
        return NTR_E_MEMORY;
    }
    *p = (ntr_dwarf_package){.allocator = debug->allocator, .damage = debug->damage, .file = file};
    p->left = debug->expanded_free + NTR_EXPANDED_TIMES * size;
    memcpy(p->path, path, sizeof path);
    ntr_name_clean(path, p->name);
    const ntr_status status = read_file(p, skeletons, &problem);
    if (problem) ntr_damage_add(p->damage, "%.200s: %s; it is not used", p->name, problem);
    if (status || problem)
        ntr_dwarf_package_close(p);
    else
        *package = p;
    return status;
}

const char *ntr_dwarf_package_path(const ntr_dwarf_package *p) {
    return p->path;
}

void ntr_dwarf_package_close(ntr_dwarf_package *p) {
    if (!p) return;
    if (p->skeleton_units) dwarf_end(p->skeleton_units);
    elf_end(p->elf);
    close(p->file);
    if (p->made >= 0) close(p->made);
    ntr_dealloc(p->allocator, p->skeletons);
    ntr_dealloc(p->allocator, p);
}
