/* Beginnings and ends of functions, and calls that do not end a block of gcov. */
#include <string.h>

static int global;

static int is_large(int *s) {
    if (*s < 3) return 0;
    return 1;
}
void search(const char *progName) {
    if ((strstr(progName, "unzip") != 0) || (strstr(progName, "UNZIP") != 0)) global = 2;

    if ((strstr(progName, "z2cat") != 0) || (strstr(progName, "Z2CAT") != 0) || (strstr(progName, "zcat") != 0) ||
        (strstr(progName, "ZCAT") != 0)) {
        global = 3;
    }
}
void stops(int n) {
    for (int i = 0; i < 5; i++) {
        if (i == n) {
            global++;
            break;
        }
    }
}
void leaves(int n) {
    for (int i = 0; i < 5; i++) {
        if (i == n) {
            global++;
            return;
        }
    }
}
void early(int n) {
    if (n == 1) return;
    global++;
}
void falls(int n) {
    if (n == 1) global++;
}
void often(int n) {
    if (n == 1)
        return;
    else
        global++;
    if (n == 2) return;
    if (n == 3) {
        global++;
        return;
    }
}
int main() {
    for (int i = 0; i < 10; i++) {
        stops(i);
        leaves(i);
        early(i);
        falls(i);
        often(i);
    }
    search("bzip2");
    if (global != 0 && is_large(&global)) global = 4;
    return 0;
}
