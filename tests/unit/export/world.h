/* A traced program of which all counts are known by hand: an ELF file with DWARF, made in memory, and the events of its
 * execution.
 *
 *   main (/src/main.c)                       work (/src/lib/work.c)
 *     10000 nop              line 11           10040 nop              line 21
 *     10002 nop              line 11           10042 beqz a0, 10048   line 22
 *     10004 jal ra, work     line 12           10044 nop              line 23
 *     10008 beqz a0, 10002   line 13           10046 nop              line 23
 *     1000a nop              line 14           10048 ret              line 24
 *     1000c j 1000c          line 15
 *                                            idle (/src/lib/work.c)
 *                                              10060 nop              line 31
 *                                              10062 beqz a0, 10066   line 32
 *                                              10064 nop              line 33
 *                                              10066 ret              line 34
 *
 * The loop of main runs three times; the branch of work is always taken; idle is never called. Retired: 12 instructions
 * of main, 9 of work. Each message takes 10 ticks; the first one is at 1000. */
#ifndef NTR_TEST_EXPORT_WORLD_H
#define NTR_TEST_EXPORT_WORLD_H

#include "../test.h"

#include <ntrace/ntrace.h>
#include <ntrace/tools.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORLD_MAIN = 0x10000, WORLD_WORK = 0x10040, WORLD_IDLE = 0x10060, WORLD_END = 0x10068, WORLD_TIMES = 3 };

/* ---- the file */

typedef struct world_bytes {
    uint8_t at[2048];
    size_t size;
} world_bytes;

static inline void world_number(world_bytes *b, uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; i++) b->at[b->size++] = (uint8_t)(i < 8 ? value >> 8 * i : 0);
}

static inline void world_string(world_bytes *b, const char *text) {
    memcpy(b->at + b->size, text, strlen(text) + 1);
    b->size += strlen(text) + 1;
}

static inline void world_patch(world_bytes *b, size_t at, uint64_t value) {
    for (unsigned i = 0; i < 4; i++) b->at[at + i] = (uint8_t)(value >> 8 * i);
}

static const struct {
    uint16_t address;
    uint8_t file, line; /* number of the file in the line table */
} world_rows[] = {
    {0x00, 1, 11}, {0x04, 1, 12}, {0x08, 1, 13}, {0x0a, 1, 14}, {0x0c, 1, 15}, {0x0e, 0, 0},
    {0x40, 2, 21}, {0x42, 2, 22}, {0x44, 2, 23}, {0x48, 2, 24}, {0x4a, 0, 0},  {0x60, 2, 31},
    {0x62, 2, 32}, {0x64, 2, 33}, {0x66, 2, 34}, {0x68, 0, 0}, /* file 0: end of a sequence */
};

static const struct {
    const char *name;
    uint64_t address;
    uint8_t size, file, line;
} world_functions[] = {
    {"main", WORLD_MAIN, 0x0e, 1, 10}, {"work", WORLD_WORK, 0x0a, 2, 20}, {"idle", WORLD_IDLE, 0x08, 2, 30}};

/* DWARF 3, section 6.2. */
static inline void world_lines(world_bytes *b) {
    static const uint8_t head[] = {1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    world_number(b, 0, 4);
    world_number(b, 3, 2);
    size_t length_at = b->size;
    world_number(b, 0, 4);
    for (size_t i = 0; i < sizeof head; i++) world_number(b, head[i], 1);
    world_string(b, "lib"); /* folder 1 */
    world_number(b, 0, 1);
    world_string(b, "main.c");
    world_number(b, 0, 3);
    world_string(b, "work.c");
    world_number(b, 1, 3);
    world_number(b, 0, 1);
    world_patch(b, length_at, b->size - length_at - 4);
    int line = 1;
    for (size_t i = 0; i < sizeof world_rows / sizeof *world_rows; i++) {
        world_number(b, 0x020900, 3); /* DW_LNE_set_address */
        world_number(b, WORLD_MAIN + world_rows[i].address, 8);
        if (!world_rows[i].file) {
            world_number(b, 0x010100, 3); /* DW_LNE_end_sequence */
            line = 1;
            continue;
        }
        world_number(b, 0x04 | (uint64_t)world_rows[i].file << 8, 2); /* DW_LNS_set_file */
        world_number(b, 0x03, 1); /* DW_LNS_advance_line: |change| < 64 */
        world_number(b, (uint64_t)(world_rows[i].line - line) & 0x7f, 1);
        world_number(b, 0x01, 1); /* DW_LNS_copy */
        line = world_rows[i].line;
    }
    world_patch(b, 0, b->size - 4);
}

static inline void world_abbreviations(world_bytes *b) {
    /* compile_unit: name, comp_dir, stmt_list, low_pc, high_pc, language; subprogram: name, external, decl_file,
     * decl_line, low_pc, high_pc */
    static const uint8_t unit[] = {1, 0x11, 1, 0x03, 8, 0x1b, 8, 0x10, 0x17, 0x11, 1, 0x12, 7, 0x13, 0x0b, 0, 0};
    static const uint8_t function[] = {2, 0x2e, 0, 0x03, 8, 0x3f, 0x19, 0x3a, 0x0b, 0x3b, 0x0b, 0x11, 1, 0x12, 7, 0, 0};
    memcpy(b->at, unit, sizeof unit);
    memcpy(b->at + sizeof unit, function, sizeof function);
    b->size = sizeof unit + sizeof function + 1;
}

static inline void world_info(world_bytes *b) {
    world_number(b, 0, 4);
    world_number(b, 4, 2); /* DWARF 4 */
    world_number(b, 0, 4);
    world_number(b, 8, 1);
    world_number(b, 1, 1);
    world_string(b, "main.c");
    world_string(b, "/src");
    world_number(b, 0, 4);
    world_number(b, WORLD_MAIN, 8);
    world_number(b, WORLD_END - WORLD_MAIN, 8);
    world_number(b, 0x0c, 1); /* C99 */
    for (size_t i = 0; i < 3; i++) {
        world_number(b, 2, 1);
        world_string(b, world_functions[i].name);
        world_number(b, world_functions[i].file, 1);
        world_number(b, world_functions[i].line, 1);
        world_number(b, world_functions[i].address, 8);
        world_number(b, world_functions[i].size, 8);
    }
    world_number(b, 0, 1);
    world_patch(b, 0, b->size - 4);
}

static inline void world_symbols(world_bytes *b, world_bytes *names) {
    b->size = 24; /* symbol 0 */
    names->size = 1;
    for (size_t i = 0; i < 3; i++) {
        world_number(b, names->size, 4);
        world_number(b, 0x0112, 4); /* global function in section 1 */
        world_number(b, world_functions[i].address, 8);
        world_number(b, world_functions[i].size, 8);
        world_string(names, world_functions[i].name);
    }
}

static inline void world_code(world_bytes *b) {
    static const struct {
        uint8_t at, size;
        uint32_t word;
    } code[] = {{0x00, 2, 0x0001}, {0x02, 2, 0x0001}, {0x04, 4, 0x03c000ef}, {0x08, 2, 0xdd6d}, {0x0a, 2, 0x0001},
                {0x0c, 2, 0xa001}, {0x40, 2, 0x0001}, {0x42, 2, 0xc119},     {0x44, 2, 0x0001}, {0x46, 2, 0x0001},
                {0x48, 2, 0x8082}, {0x60, 2, 0x0001}, {0x62, 2, 0xc111},     {0x64, 2, 0x0001}, {0x66, 2, 0x8082}};
    for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
        b->size = code[i].at;
        world_number(b, code[i].word, code[i].size);
    }
}

enum { WORLD_SECTIONS = 9, WORLD_CODE_AT = 0x1000 };

static inline void world_write(const char *path) {
    static const struct {
        const char *name;
        uint32_t type, flags, link, info, entry;
    } sections[WORLD_SECTIONS] = {
        {""},
        {".text", 1, 6},
        {".symtab", 2, 0, 3, 1, 24},
        {".strtab", 3},
        {".shstrtab", 3},
        {".debug_info", 1},
        {".debug_abbrev", 1},
        {".debug_line", 1},
        {".riscv.attributes", 0x70000003},
    };
    static const char attributes[] = "A\x1a\0\0\0riscv\0\1\x10\0\0\0\5rv64gc\0\4\x10";
    static world_bytes part[WORLD_SECTIONS];
    static uint8_t file[0x3000];
    size_t name[WORLD_SECTIONS], place[WORLD_SECTIONS], at = WORLD_CODE_AT;
    memset(part, 0, sizeof part);
    memset(file, 0, sizeof file);
    world_code(&part[1]);
    world_symbols(&part[2], &part[3]);
    for (size_t i = 0; i < WORLD_SECTIONS; i++) {
        name[i] = part[4].size;
        world_string(&part[4], sections[i].name);
    }
    world_info(&part[5]);
    world_abbreviations(&part[6]);
    world_lines(&part[7]);
    memcpy(part[8].at, attributes, sizeof attributes - 1);
    part[8].size = 27;
    for (size_t i = 0; i < WORLD_SECTIONS; i++) {
        place[i] = at;
        memcpy(file + at, part[i].at, part[i].size);
        at = (at + part[i].size + 7) & ~(size_t)7;
    }
    world_bytes head = {0};
    world_number(&head, 0x464c457f, 4);
    world_number(&head, 0x010102, 12);
    world_number(&head, 2 | 243 << 16, 4); /* ET_EXEC, EM_RISCV */
    world_number(&head, 1, 4);
    world_number(&head, WORLD_MAIN, 8);
    world_number(&head, 64, 8);
    world_number(&head, at, 8);
    world_number(&head, 1, 4); /* EF_RISCV_RVC */
    const uint16_t sizes[] = {64, 56, 1, 64, WORLD_SECTIONS, 4};
    for (size_t i = 0; i < 6; i++) world_number(&head, sizes[i], 2);
    world_number(&head, 1, 4); /* PT_LOAD, R X */
    world_number(&head, 5, 4);
    world_number(&head, WORLD_CODE_AT, 8);
    const uint64_t segment[] = {WORLD_MAIN, WORLD_MAIN, part[1].size, part[1].size, 0x1000};
    for (size_t i = 0; i < 5; i++) world_number(&head, segment[i], 8);
    memcpy(file, head.at, head.size);
    head.size = 0;
    for (size_t i = 0; i < WORLD_SECTIONS; i++) {
        const uint64_t wide[] = {sections[i].flags, i == 1 ? WORLD_MAIN : 0, place[i], i ? part[i].size : 0};
        world_number(&head, name[i], 4);
        world_number(&head, sections[i].type, 4);
        for (size_t k = 0; k < 4; k++) world_number(&head, wide[k], 8);
        world_number(&head, sections[i].link, 4);
        world_number(&head, sections[i].info, 4);
        world_number(&head, 1, 8);
        world_number(&head, sections[i].entry, 8);
    }
    memcpy(file + at, head.at, head.size);
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(file, 1, at + head.size, to), at + head.size);
    fclose(to);
}

/* ---- the execution */

typedef struct world {
    char path[64];
    ntr_program *program;
    ntr_event events[64];
    size_t event_count;
    ntr_analysis analysis;
} world;

static inline void world_span(world *w, uint64_t address, uint64_t last, uint32_t instructions, uint32_t halfwords,
                              ntr_span_end end, uint64_t target) {
    const size_t n = w->event_count++;
    w->events[n] = (ntr_event){.kind = NTR_EVENT_SPAN,
                               .end = (uint8_t)end,
                               .flags = NTR_EVENT_TIME,
                               .offset = 4 * n,
                               .message = n + 1,
                               .time = 1000 + 10 * n,
                               .context = NTR_CONTEXT_UNKNOWN,
                               .address = address,
                               .last = last,
                               .target = target,
                               .instructions = instructions,
                               .halfwords = halfwords};
}

static inline void world_execute(world *w) {
    w->events[w->event_count++] = (ntr_event){.kind = NTR_EVENT_SYNC,
                                              .flags = NTR_EVENT_TIME,
                                              .code = NTR_SYNC_TRACE_ENABLE,
                                              .message = 1,
                                              .time = 1000,
                                              .context = NTR_CONTEXT_UNKNOWN,
                                              .address = WORLD_MAIN};
    for (int i = 1; i <= WORLD_TIMES; i++) {
        if (i == 1)
            world_span(w, 0x10000, 0x10004, 3, 4, NTR_SPAN_CALL, WORLD_WORK);
        else
            world_span(w, 0x10002, 0x10004, 2, 3, NTR_SPAN_CALL, WORLD_WORK);
        world_span(w, 0x10040, 0x10042, 2, 2, NTR_SPAN_TAKEN, 0x10048);
        world_span(w, 0x10048, 0x10048, 1, 1, NTR_SPAN_RETURN, 0x10008);
        if (i < WORLD_TIMES)
            world_span(w, 0x10008, 0x10008, 1, 1, NTR_SPAN_TAKEN, 0x10002);
        else
            world_span(w, 0x10008, 0x10008, 1, 1, NTR_SPAN_NOT_TAKEN, 0x1000a);
    }
    world_span(w, 0x1000a, 0x1000c, 2, 2, NTR_SPAN_CUT, 0x1000c);
}

static inline void world_begin(world *w) {
    *w = (world){.path = "/tmp/ntrace-world-XXXXXX"};
    int made = mkstemp(w->path);
    assert_true(made >= 0);
    close(made);
    world_write(w->path);
    ntr_image_options options;
    ntr_image_options_init(&options);
    options.name = "demo";
    ntr_program_new(NULL, &w->program);
    assert_int_equal(ntr_program_add_elf(w->program, w->path, &options), NTR_OK);
    world_execute(w);
    ntr_analysis_init(&w->analysis);
    w->analysis.program = w->program;
    w->analysis.title = "demo";
    ntr_debug_info_new(w->program, NULL, &w->analysis.debug);
    ntr_functions_new(w->analysis.debug, NULL, &w->analysis.functions);
    ntr_tally_new(NULL, NULL, &w->analysis.tally);
    ntr_calltree_new(w->analysis.functions, NULL, &w->analysis.tree);
    ntr_coverage_new(NULL, &w->analysis.coverage);
    assert_int_equal(ntr_tally_feed(w->analysis.tally, w->events, w->event_count), NTR_OK);
    assert_int_equal(ntr_calltree_feed(w->analysis.tree, w->events, w->event_count), NTR_OK);
    ntr_calltree_finish(w->analysis.tree);
    assert_int_equal(ntr_coverage_add(w->analysis.coverage, w->program, w->analysis.debug, w->analysis.tally), NTR_OK);
}

static inline void world_end(world *w) {
    ntr_coverage_free(w->analysis.coverage);
    ntr_calltree_free(w->analysis.tree);
    ntr_tally_free(w->analysis.tally);
    ntr_functions_free(w->analysis.functions);
    ntr_debug_info_free(w->analysis.debug);
    ntr_program_free(w->program);
    unlink(w->path);
}

/* Returns whether the library reads DWARF. */
static inline bool world_has_lines(world *w) {
    size_t count;
    (void)ntr_coverage_lines(w->analysis.coverage, &count);
    return count != 0;
}

#endif
