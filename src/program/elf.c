/* ELF files, read with libelf: header and segments. All sizes and offsets are checked against the file before use. */
#include "base/allocator.h"
#include "program/elf_file.h"

#include <ntrace/program_files.h>
#include <stdlib.h>
#include <string.h>

#ifndef EM_RISCV
#define EM_RISCV 243
#endif

/* Maximum number of program headers; more than Linux supports for a process. */
#define SEGMENTS_MAX 65536

ntr_status ntr_elf_check_header(ntr_elf *file) {
    if (file->size < SELFMAG || memcmp(file->bytes, ELFMAG, SELFMAG) != 0)
        return ELF_FAIL(file, NTR_E_FORMAT, "not an ELF file");
    if (elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &file->header))
        return ELF_FAIL(file, NTR_E_FORMAT, "damaged ELF header");
    if (file->header.e_ident[EI_DATA] != ELFDATA2LSB) return ELF_FAIL(file, NTR_E_FORMAT, "not a little-endian ELF");
    if (file->header.e_machine != EM_RISCV)
        return ELF_FAIL(file, NTR_E_FORMAT, "not a RISC-V ELF (machine %u)", file->header.e_machine);

    file->xlen = gelf_getclass(file->elf) == ELFCLASS32 ? 32 : 64;
    return NTR_OK;
}

static ntr_status count_segments(ntr_elf *file, size_t *count) {
    const GElf_Ehdr *header = &file->header;
    size_t size = gelf_fsize(file->elf, ELF_T_PHDR, 1, EV_CURRENT);
    if (header->e_phnum && header->e_phentsize != size)
        return ELF_FAIL(file, NTR_E_FORMAT, "program headers of %u bytes instead of %zu", header->e_phentsize, size);
    if (!ntr_elf_inside(file, header->e_phoff, header->e_phnum == PN_XNUM ? 0 : header->e_phnum * size))
        return ELF_FAIL(file, NTR_E_FORMAT, "program headers: %zu bytes at 0x%llx, but the file ends at 0x%zx",
                        header->e_phnum * size, (unsigned long long)header->e_phoff, file->size);
    if (elf_getphdrnum(file->elf, count)) return ELF_FAIL(file, NTR_E_FORMAT, "program headers: %s", elf_errmsg(-1));
    if (*count > SEGMENTS_MAX) return ELF_FAIL(file, NTR_E_FORMAT, "%zu program headers", *count);
    return NTR_OK;
}

static ntr_status check_segment(ntr_elf *file, size_t index, const GElf_Phdr *segment) {
    uint64_t top = file->xlen == 32 ? UINT32_MAX : UINT64_MAX;
    if (!ntr_elf_inside(file, segment->p_offset, segment->p_filesz))
        return ELF_FAIL(file, NTR_E_FORMAT, "program header %zu: 0x%llx bytes at 0x%llx, but the file ends at 0x%zx",
                        index, (unsigned long long)segment->p_filesz, (unsigned long long)segment->p_offset,
                        file->size);
    if (segment->p_filesz > segment->p_memsz)
        return ELF_FAIL(file, NTR_E_FORMAT, "program header %zu: 0x%llx bytes in the file, but 0x%llx in memory", index,
                        (unsigned long long)segment->p_filesz, (unsigned long long)segment->p_memsz);
    if (segment->p_filesz - 1 > top - segment->p_vaddr)
        return ELF_FAIL(file, NTR_E_FORMAT, "program header %zu: 0x%llx bytes for address 0x%llx, beyond the last one",
                        index, (unsigned long long)segment->p_filesz, (unsigned long long)segment->p_vaddr);
    return NTR_OK;
}

/* Memory after the bytes of a segment; of several such places the last one counts. */
static void take_bss(ntr_elf *file, const GElf_Phdr *segment) {
    const uint64_t top = file->xlen == 32 ? UINT32_MAX : UINT64_MAX, bias = file->image->options.bias;
    if (segment->p_memsz <= segment->p_filesz || segment->p_memsz - 1 > top - segment->p_vaddr) return;
    file->image->bss_first = ntr_program_cut(file->program, segment->p_vaddr + segment->p_filesz + bias);
    file->image->bss_last = ntr_program_cut(file->program, segment->p_vaddr + segment->p_memsz - 1 + bias);
}

/* Reads the loadable segments. Only bytes in the file are used; memory after them (.bss) is not code. */
static ntr_status read_segments(ntr_elf *file, size_t count, ntr_span *laid, size_t *used) {
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment = {0};
        if (!gelf_getphdr(file->elf, (int)i, &segment))
            return ELF_FAIL(file, NTR_E_FORMAT, "program header %zu: %s", i, elf_errmsg(-1));
        if (segment.p_type == PT_LOAD) take_bss(file, &segment);
        if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
        ntr_status status = check_segment(file, i, &segment);
        if (status != NTR_OK) return status;
        laid[(*used)++] =
            (ntr_span){.first = segment.p_vaddr, .last = segment.p_vaddr + segment.p_filesz - 1, .value = (uint32_t)i};
    }
    return *used ? NTR_OK : ELF_FAIL(file, NTR_E_FORMAT, "no loadable segment");
}

static int by_first(const void *a, const void *b) {
    const ntr_span *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Do segments overlap? Says so if none is selected. `laid` is sorted. */
static bool find_overlap(ntr_elf *file, ntr_span *laid, size_t count) {
    bool found = false;
    if (count) qsort(laid, count, sizeof *laid, by_first);
    for (size_t i = 1, last = 0; i < count; i++) {
        if (laid[i].first <= laid[last].last) {
            found = true;
            if (!file->image->options.has_segment)
                ntr_damage_add(
                    &file->program->damage,
                    "%s: program headers %u and %u: expected segments that do not overlap, found both at 0x%llx; "
                    "the later one is used; select one with -e FILE:segment=N",
                    file->path, laid[last].value, laid[i].value, (unsigned long long)laid[i].first);
        }
        if (laid[i].last > laid[last].last) last = i;
    }
    return found;
}

/* The segment that was selected is laid over the others. */
static ntr_status select_segment(ntr_elf *file, ntr_span *laid, size_t count) {
    const ntr_image_options *options = &file->image->options;
    size_t i = 0;
    if (!options->has_segment) return NTR_OK;
    while (i < count && laid[i].value != options->segment) i++;
    if (i == count)
        return ELF_FAIL(file, NTR_E_INVALID, "program header %u: expected a loadable segment with bytes",
                        options->segment);
    const ntr_span selected = laid[i];
    memmove(&laid[i], &laid[i + 1], (count - i - 1) * sizeof *laid);
    laid[count - 1] = selected;
    return NTR_OK;
}

/* Computes the visible segment of each address: the selected or the later segment where they overlap. */
static ntr_status lay_out_segments(ntr_elf *file, ntr_spans *spans) {
    const ntr_allocator *allocator = file->program->allocator;
    size_t count = 0, used = 0;
    ntr_status status = count_segments(file, &count);
    if (status != NTR_OK) return status;
    ntr_span *laid = ntr_alloc(allocator, 2 * count, sizeof *laid);
    if (!laid) return ELF_FAIL(file, NTR_E_MEMORY, "out of memory");
    status = read_segments(file, count, laid, &used);
    if (status == NTR_OK) status = select_segment(file, laid, used);
    if (status == NTR_OK) {
        memcpy(laid + count, laid, used * sizeof *laid);
        file->spans = find_overlap(file, laid + count, used) ? spans : NULL;
    }
    if (status == NTR_OK && ntr_spans_flatten(spans, allocator, laid, used))
        status = ELF_FAIL(file, NTR_E_MEMORY, "out of memory");
    ntr_dealloc(allocator, laid);
    return status;
}

static ntr_status add_segments(ntr_elf *file, const ntr_spans *spans) {
    const ntr_image_options *options = &file->image->options;
    for (size_t i = 0; i < spans->count; i++) {
        const ntr_span *span = &spans->items[i];
        GElf_Phdr segment = {0};
        if (!gelf_getphdr(file->elf, (int)span->value, &segment))
            return ELF_FAIL(file, NTR_E_FORMAT, "program header %u: %s", span->value, elf_errmsg(-1));
        const uint8_t *bytes = file->bytes + segment.p_offset + (span->first - segment.p_vaddr);
        ntr_status status = ntr_program_add_segment(file->program, span->first + options->bias, bytes,
                                                    span->last - span->first + 1, options->from, options->until);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

static ntr_status read_file(ntr_elf *file) {
    ntr_spans spans = {0};
    unsigned before = file->program->xlen;
    ntr_status status = ntr_elf_check_header(file);
    if (status == NTR_OK) status = lay_out_segments(file, &spans);
    if (status == NTR_OK) {
        if (!file->image->has_isa) file->image->isa = ntr_elf_isa(file);
        file->image->has_isa = true;
        file->image->file_bits = (uint8_t)file->xlen;
        status = ntr_program_take_xlen(file->program, NTR_E_FORMAT);
        if (status == NTR_OK) status = ntr_elf_read_sections(file);
        if (status == NTR_OK)
            status = add_segments(file, &spans);
        else
            ntr_program_set_xlen(file->program, before);
    }
    ntr_spans_release(&spans, file->program->allocator);
    return status;
}

ntr_status ntr_program_add_elf(ntr_program *program, const char *path, const ntr_image_options *options) {
    ntr_image *image;
    ntr_status status = ntr_program_add_mapped(program, path, options, &image);
    if (status != NTR_OK) return status;
    ntr_elf file = {
        .program = program, .path = path, .bytes = image->mapping, .size = image->mapping_size, .image = image};
    elf_version(EV_CURRENT);
    file.elf = elf_memory(image->mapping, image->mapping_size);
    status = read_file(&file);
    elf_end(file.elf);
    if (file.image->has_segments) {
        ntr_status complete = ntr_program_complete_image(program);
        return status == NTR_OK ? complete : status;
    }
    if (status != NTR_OK) ntr_program_drop_image(program);
    return status;
}

ntr_status ntr_program_add_debug_symbols(ntr_program *program, size_t index, ntr_bytes bytes) {
    if (index >= program->image_count) return NTR_E_INVALID;
    ntr_image *image = &program->images[index];
    ntr_elf file = {.program = program,
                    .path = image->name,
                    .bytes = bytes.data,
                    .size = bytes.size,
                    .image = image,
                    .copies_names = true};
    elf_version(EV_CURRENT);
    file.elf = elf_memory((char *)bytes.data, bytes.size);
    ntr_status status = ntr_elf_check_header(&file);
    if (status == NTR_OK && file.image->file_bits && file.xlen != file.image->file_bits)
        status = ELF_FAIL(&file, NTR_E_FORMAT, "a file of %u bits, for one of %u", file.xlen, file.image->file_bits);
    if (status == NTR_OK) status = ntr_elf_read_symbols(&file);
    elf_end(file.elf);
    if (ntr_symbols_sort(&image->symbols, program->allocator))
        return ntr_program_fail(program, NTR_E_MEMORY, image->name, "out of memory");
    return status;
}
