/* Functions of a shared library, with and without a dynamic symbol. */
#define NOINLINE __attribute__((noinline))

static volatile int sink;

static NOINLINE int hidden_one(int n) {
    for (int i = 0; i < n; i++) sink += i * n;
    return sink & 15;
}

static NOINLINE int hidden_two(int n) {
    for (int i = 0; i < n; i++) sink ^= i + n;
    return sink & 7;
}

int shown_one(int n) {
    return hidden_one(n) + hidden_two(n + 1);
}

int shown_two(int n) {
    return hidden_two(n) * 2 + shown_one(n); /* through the procedure linkage table */
}

/* Without size and without an entry of the unwind table: its end is that of the code before the next function. */
__asm__(".text\n"
        ".balign 4\n"
        ".globl unsized\n"
        "unsized:\n"
        "    addi a0, a0, 1\n"
        "    ret\n");
