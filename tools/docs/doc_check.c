/* docs/check.md: the rules of 'ntrace check', from src/check/rules.def. */
#include <ntrace/check.h>

#include <stdio.h>

static const char *const intro =
    "# Rules of `ntrace check`\n"
    "\n"
    "Made by `make docs` from `src/check/rules.def`. Do not edit this page.\n"
    "\n"
    "`ntrace check TRACE [-e ELF]` checks a stream against the rules of the specification. Each finding has file, byte,\n"
    "message, field, rule and what was found. With the program, the execution that the messages describe is checked, too.\n"
    "\n"
    "* Severities. **error**: the message does not conform to N-Trace 1.0. **warning**: decoders may read it in different\n"
    "  ways, or a recommendation is not followed. **note**: it conforms, but is larger than needed, or not every decoder supports it.\n"
    "* The exit status is 0 without errors, 1 with errors, 2 when the trace cannot be read. `--fail-on warning`, `note` or\n"
    "  `never` changes the severity that leads to 1.\n"
    "* `--format` is `text`, `jsonl`, `sarif` (2.1.0) or `junit` (one test case for each rule), for continuous integration.\n"
    "* `--rules ID,ID` checks these rules only. `--max N` limits the findings that are printed for each rule; all are counted.\n"
    "* Rules that depend on the configuration of the encoder use the options of the stream (`--implicit-return`, `--xlen`,\n"
    "  `--timestamps`, ...) and `--sync-period N`.\n"
    "* After bytes that are not a message, and after a message with a defect, the order of messages is not checked until the\n"
    "  source synchronizes again. So one defect causes one finding.\n"
    "* With `--dialect refcode`, known violations of the reference encoder are notes, with those of SiFive CDF 0 in HTM.\n"
    "* Sections are those of N-Trace 1.0, numbered as in [sections.md](sections.md).\n"
    "* In a program: `ntrace/check.h`. `tests/corpus/check/ID.txt` has, for each rule, a stream that violates this rule\n"
    "  alone, and one that conforms to it.\n"
    "\n"
    "| rule | severity | section | statements | | violated by |\n"
    "|---|---|---|---|---|---|\n";

int main(void) {
    const ntr_check_rule *rule;

    fputs(intro, stdout);
    for (size_t i = 0; (rule = ntr_check_rule_at(i)); i++)
        printf("| `%s` | %s | %s | %s | %s | %s |\n", rule->id, ntr_severity_name((ntr_severity)rule->severity),
               rule->section, rule->statements, rule->about, rule->breaking);
    return 0;
}
