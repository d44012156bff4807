/* Functions of a Go program from .gopclntab. */
#include "program/elf_file.h"
#include "program/go_table.h"

static ntr_status add_function(ntr_elf *file, const ntr_go_table *table, const ntr_go_function *go, const char *name) {
    const ntr_name function = {
        .name = name,
        .address = ntr_program_cut(file->program, table->code + go->start + file->image->options.bias),
        .size = go->end - go->start,
        .binding = NTR_BINDING_LOCAL,
        .function = true,
        .code = true,
    };
    if (ntr_symbols_add(&file->image->symbols, file->program->allocator, &function))
        return ELF_FAIL(file, NTR_E_MEMORY, "out of memory");
    return NTR_OK;
}

ntr_status ntr_elf_read_go(ntr_elf *file, const GElf_Shdr *section) {
    ntr_go_table table;
    ntr_go_function function;
    uint32_t at;
    if (!ntr_go_table_read(&table, ntr_elf_section_bytes(file, section), file->xlen)) return NTR_OK;
    if (!file->copies_names) file->image->go_table = table.bytes;
    for (uint64_t i = 0; i < table.count && !file->has_symtab; i++) {
        if (!ntr_go_table_function(&table, i, &function)) continue;
        if (!ntr_go_table_number(&table, function.record + 4 * NTR_GO_NAME, &at)) continue;
        const char *name = ntr_go_table_text(&table, table.names + at);
        ntr_status status = name ? add_function(file, &table, &function, name) : NTR_OK;
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}
