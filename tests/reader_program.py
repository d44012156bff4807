"""A program that reads two messages with the installed library, and what it prints."""
PROGRAM = r"""
#include <ntrace/ntrace.h>
#include <stdio.h>

int main(void) {
    static const uint8_t stream[] = {0x24, 0x0d, 0x00, 0x0b, 0x0c, 0x0f};
    ntr_reader reader;
    ntr_message message;
    char line[NTR_MESSAGE_TEXT_MAX];

    if (ntr_reader_init(&reader, NULL) != NTR_OK) return 1;
    if (ntr_reader_feed(&reader, stream, sizeof stream, true) != NTR_OK) return 1;
    while (ntr_reader_next(&reader, &message) == NTR_OK) {
        if (ntr_message_format(&reader.params, &message, line, sizeof line) < 0) return 1;
        puts(line);
    }
    return 0;
}
"""
MESSAGES = "#1 @0x0 ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n#2 @0x4 DirectBranch ICNT=3\n"
