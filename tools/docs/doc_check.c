/* docs/check.md: the rules of 'ntrace check', from src/check/rules.def. */
#include <ntrace/check.h>

#include <stdio.h>

static const char *const intro =
    "# Rules of `ntrace check`\n"
    "\n"
    "Checks a stream against the rules of the specification. Use it for the output of an encoder that is being developed,\n"
    "and for streams that decoders read in different ways.\n"
    "\n"
    "```sh\n"
    "cat > mixed.txt <<END\n"
    "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80\n"
    "DirectBranch ICNT=3\n"
    "IndirectBranchHist BTYPE=0 ICNT=12 UADDR=0x10 HIST=0x5\n"
    "END\n"
    "ntrace assemble -o mixed.nex mixed.txt\n"
    "ntrace check mixed.nex                                  # status 1: one rule is violated\n"
    "ntrace check --format sarif mixed.nex > check.sarif     # for continuous integration; also junit, jsonl\n"
    "```\n"
    "\n"
    "```text\n"
    "mixed.nex: byte 0x6, message #3 IndirectBranchHist: error: HIST is not sent in BTM [hist-in-btm, section 6.9, NT-338],\n"
    "  found IndirectBranchHist BTYPE=0 ICNT=12 UADDR=0x10 HIST=0x5\n"
    "mixed.nex: 3 messages, 1 errors, 0 warnings, 0 notes\n"
    "```\n"
    "\n"
    "Each finding contains the file, byte, message, field, rule and what was found. With the program (`-e ELF`), `ntrace`\n"
    "also checks the execution that the messages describe.\n"
    "\n"
    "| severity | meaning |\n"
    "|---|---|\n"
    "| error | the message does not conform to N-Trace 1.0 |\n"
    "| warning | decoders may read the message in different ways, or a recommendation is not followed |\n"
    "| note | the message conforms, but is larger than needed, or some decoders do not support it |\n"
    "\n"
    "The exit status is 0 without errors, 1 with errors, 2 when the trace cannot be read. `--fail-on warning`, `note` or\n"
    "`never` changes the severity that leads to 1.\n"
    "\n"
    "## Choose and read rules\n"
    "\n"
    "* `--rules ID,ID` checks these rules only. `--max N` limits the findings that are printed for each rule; all are counted.\n"
    "* Rules that depend on the encoder's configuration use the options of the stream (`--implicit-return`, `--xlen`,\n"
    "  `--timestamps`, ...) and `--sync-period N`.\n"
    "* After a defect, or bytes that are not a message, the order of messages is not checked until the source synchronizes\n"
    "  again. Therefore, one defect causes one finding.\n"
    "* With `--dialect refcode`, known violations of the reference encoder are notes. With a dialect of SiFive,\n"
    "  CDF 0 in HTM is a note.\n"
    "* Sections are those of N-Trace 1.0, numbered as in [sections.md](sections.md).\n"
    "* In a program, include `ntrace/check.h`.\n"
    "* For each rule, `tests/corpus/check/ID.txt` contains a stream that violates only this rule, and one that conforms.\n"
    "\n"
    "## The rules\n"
    "\n"
    "`make docs` writes this table from `src/check/rules.def`.\n"
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
