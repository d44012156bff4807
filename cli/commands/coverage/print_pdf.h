/* Prints a page as PDF with a program of this machine. */
#ifndef CLI_COMMANDS_COVERAGE_PRINT_PDF_H
#define CLI_COMMANDS_COVERAGE_PRINT_PDF_H

/* Prints the HTML file at `page` to the file `pdf`. Dates in the result are set to 1970, so that equal pages give equal
 * bytes. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_print_pdf(const char *page, const char *pdf);

#endif
