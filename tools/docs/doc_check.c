/* docs/check.md: the rules of 'ntrace check', from src/check/rules.def. */
#include <ntrace/check.h>

#include <stdio.h>

static const char *const intro =
    "# Rules of `ntrace check`\n"
    "\n"
    "Made by `make docs` from `src/check/rules.def`. Do not edit this page.\n"
    "\n"
    "`ntrace check TRACE [-e ELF]` judges a stream rule by rule and tells each place where one is broken: file, byte, "
    "message,\n"
    "field, rule and what was found. With the program it also follows the execution that the messages tell of.\n"
    "\n"
    "* **error**: no encoder of N-Trace 1.0 may send this. **warning**: it can be read otherwise, or a recommendation "
    "is not\n"
    "  followed. **note**: legal, but wasteful, or read differently by different readers.\n"
    "* The exit status is 0 without errors, 1 with one (`--fail-on warning`, `note` or `never` move the line), 2 when "
    "the trace\n"
    "  cannot be read.\n"
    "* `--format text`, `jsonl`, `sarif` (2.1.0) or `junit` (a test case a rule), for continuous integration; `--rules "
    "ID,ID` judges\n"
    "  by these only; `--max N` findings of each rule are told, all are counted.\n"
    "* What needs the encoder's settings takes them from the options of the stream (`--implicit-return`, `--xlen`, "
    "`--timestamps`,\n"
    "  ...) and from `--sync-period N`.\n"
    "* After bytes that are no message, and after a message with a defect, the order of messages is not judged until "
    "the source\n"
    "  synchronizes again: one mistake makes one finding.\n"
    "* With `--dialect refcode` the habits of the reference encoder are notes.\n"
    "* Sections are those of N-Trace 1.0 as [sections.md](sections.md) numbers them.\n"
    "* The library: `ntrace/check.h`. `tests/corpus/check/ID.txt` has a stream that breaks each rule alone, and one "
    "that keeps it.\n"
    "\n"
    "| rule | severity | section | | broken by |\n"
    "|---|---|---|---|---|\n";

int main(void) {
    const ntr_check_rule *rule;

    fputs(intro, stdout);
    for (size_t i = 0; (rule = ntr_check_rule_at(i)); i++)
        printf("| `%s` | %s | %s | %s | %s |\n", rule->id, ntr_severity_name((ntr_severity)rule->severity),
               rule->section, rule->about, rule->breaking);
    return 0;
}
