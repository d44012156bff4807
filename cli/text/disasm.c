#include "text/disasm.h"

#ifdef HAVE_LLVM

#include "load/library.h"

#include <ntrace/isa.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_NEWEST 24 /* LLVM versions to load; newest first */
#define VERSION_OLDEST 13

#define ISA_SETS   8 /* NTR_ISA_RV32, _ZCMP, _ZCMT */
#define CACHE_SIZE 4096u
#define TEXT_SIZE  112

/* The used functions of llvm-c/Disassembler.h. */
typedef void *(*create_function)(const char *triple, const char *cpu, const char *features, void *user, int tag,
                                 void *operand_info, void *symbol_lookup);
typedef size_t (*text_function)(void *context, uint8_t *bytes, uint64_t size, uint64_t pc, char *out, size_t capacity);
typedef void (*dispose_function)(void *context);
typedef void (*initialize_function)(void);

struct cache_entry {
    uint64_t opcode;
    uint8_t size, isa;
    char text[TEXT_SIZE];
};

struct cli_disasm {
    void *library;
    int version;
    create_function create;
    text_function text;
    dispose_function dispose;
    void *contexts[ISA_SETS];
    struct cache_entry cache[CACHE_SIZE];
};

/* ---- loading */

static void *open_library(int *version) {
    static const char *const names[] = {"libLLVM.so.%d.1", "libLLVM-%d.so.1", "libLLVM-%d.so"};
    char name[32];

    for (*version = VERSION_NEWEST; *version >= VERSION_OLDEST; --*version) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            snprintf(name, sizeof name, names[i], *version);
            void *library = ntr_library_open(name);
            if (library) return library;
        }
    }
    return NULL;
}

static bool initialize(void *library) {
    static const char *const names[] = {"LLVMInitializeRISCVTargetInfo", "LLVMInitializeRISCVTarget",
                                        "LLVMInitializeRISCVTargetMC", "LLVMInitializeRISCVDisassembler"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        initialize_function function;
        if (!ntr_library_find(library, names[i], &function)) return false;
        function();
    }
    return true;
}

struct cli_disasm *cli_disasm_open(const char **why) {
    struct cli_disasm *d = calloc(1, sizeof *d);

    *why = "out of memory";
    if (!d) return NULL;
    d->library = open_library(&d->version);
    *why = "no libLLVM found";
    if (d->library && ntr_library_find(d->library, "LLVMCreateDisasmCPUFeatures", &d->create) &&
        ntr_library_find(d->library, "LLVMDisasmInstruction", &d->text) &&
        ntr_library_find(d->library, "LLVMDisasmDispose", &d->dispose) && initialize(d->library))
        return d;
    if (d->library) *why = "libLLVM does not support RISC-V";
    cli_disasm_close(d);
    return NULL;
}

void cli_disasm_close(struct cli_disasm *d) {
    if (!d) return;
    for (size_t i = 0; i < ISA_SETS; i++) {
        if (d->contexts[i]) d->dispose(d->contexts[i]);
    }
    ntr_library_close(d->library);
    free(d);
}

/* ---- text */

/* Extensions and the first LLVM version that supports them as non-experimental. */
static const struct {
    const char *name;
    int version;
} features[] = {
    {"+m,+a,+f,+c,+zba,+zbb,+zbc,+zbs,+zfh", 13},
    {"+zbkb,+zbkc,+zbkx,+zknd,+zkne,+zknh,+zksed,+zksh", 14},
    {"+zihintpause", 15},
    {"+zawrs,+svinval", 16},
    {"+zcb", 18},
    {"+zicond,+zfa", 18},
    {"+zimop,+zcmop", 19},
};

static void *find_context(struct cli_disasm *d, unsigned isa) {
    char list[256];
    size_t used = 0;

    if (d->contexts[isa]) return d->contexts[isa];
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        if (d->version < features[i].version) continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? "," : "", features[i].name);
    }
    /* CM.PUSH and the others are where C.FSDSP is with D, which V implies */
    bool zcm = isa & (NTR_ISA_ZCMP | NTR_ISA_ZCMT);
    snprintf(list + used, sizeof list - used, "%s%s%s%s", zcm ? "" : ",+d",
             d->version < 14 ? ""
             : zcm           ? ",+zve64f"
                             : ",+v",
             isa & NTR_ISA_ZCMP && d->version >= 18 ? ",+zcmp" : "",
             isa & NTR_ISA_ZCMT && d->version >= 18 ? ",+zcmt" : "");
    d->contexts[isa] = d->create(isa & NTR_ISA_RV32 ? "riscv32" : "riscv64", "", list, NULL, 0, NULL, NULL);
    return d->contexts[isa];
}

/* Converts the output of LLVM, "\tmnemonic\toperands", to "mnemonic operands". */
static void normalize_blanks(const char *from, char *to, size_t capacity) {
    size_t used = 0;

    while (*from == '\t' || *from == ' ') from++;
    for (; *from && used + 1 < capacity; from++) to[used++] = *from == '\t' ? ' ' : *from;
    while (used && to[used - 1] == ' ') used--;
    to[used] = 0;
}

static void make_text(struct cli_disasm *d, struct cache_entry *entry) {
    void *context = find_context(d, entry->isa);
    uint8_t bytes[8];
    char text[TEXT_SIZE];

    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(entry->opcode >> (8 * i));
    entry->text[0] = 0;
    if (context && d->text(context, bytes, entry->size, 0, text, sizeof text) == entry->size)
        normalize_blanks(text, entry->text, sizeof entry->text);
}

const char *cli_disasm_text(struct cli_disasm *d, const uint8_t *bytes, size_t size, unsigned isa) {
    uint64_t opcode = 0;

    if (size == 0 || size > 8) return "";
    isa &= ISA_SETS - 1;
    for (size_t i = 0; i < size; i++) opcode |= (uint64_t)bytes[i] << (8 * i);
    struct cache_entry *entry = &d->cache[(opcode * 0x9e3779b97f4a7c15u) >> 52];
    if (entry->opcode != opcode || entry->size != size || entry->isa != isa) {
        *entry = (struct cache_entry){.opcode = opcode, .size = (uint8_t)size, .isa = (uint8_t)isa};
        make_text(d, entry);
    }
    return entry->text;
}

#else

struct cli_disasm *cli_disasm_open(const char **why) {
    *why = "this ntrace was built without LLVM";
    return NULL;
}

void cli_disasm_close(struct cli_disasm *disasm) {
    (void)disasm;
}

const char *cli_disasm_text(struct cli_disasm *disasm, const uint8_t *bytes, size_t size, unsigned isa) {
    (void)disasm, (void)bytes, (void)size, (void)isa;
    return "";
}

#endif
