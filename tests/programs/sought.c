/* Looks for files by access.
 * usage: sought STATUS FILE...    exits with STATUS if one of them is missing */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    for (int i = 2; i < argc; i++)
        if (access(argv[i], R_OK)) return atoi(argv[1]);
    return 0;
}
