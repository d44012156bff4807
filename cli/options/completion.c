/* Completion scripts. Each asks `ntrace help --as complete` (complete.c of the commands), and takes files if it has no
 * answer. */
#include "options/help.h"

void cli_bash_completion(FILE *out) {
    fputs(
        "# bash completion for ntrace\n"
        "_ntrace() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} found\n"
        "    if found=$(\"${COMP_WORDS[0]}\" help --as complete -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null); then\n"
        "        local word\n"
        "        COMPREPLY=()\n"
        "        while IFS=$'\\t' read -r word _; do\n"
        "            printf -v word %q \"$word\"\n" /* bash puts it into the line as it is */
        "            COMPREPLY+=(\"$word\")\n"
        "        done <<<\"$found\"\n"
        "        compopt +o filenames 2>/dev/null\n"
        "    else\n"
        "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
        "    fi\n"
        "}\n"
        "complete -o filenames -F _ntrace ntrace\n",
        out);
}

void cli_zsh_completion(FILE *out) {
    fputs("#compdef ntrace\n"
          "# zsh completion for ntrace\n"
          "_ntrace() {\n"
          "    local line found\n"
          "    local -a items\n"
          "    if found=$(\"${words[1]}\" help --as complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null); then\n"
          "        for line in \"${(@f)found}\"; do\n"
          "            items+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
          "        done\n"
          "        _describe 'ntrace' items\n"
          "    else\n"
          "        _files\n"
          "    fi\n"
          "}\n"
          "if [[ $funcstack[1] == _ntrace ]]; then _ntrace \"$@\"; else compdef _ntrace ntrace; fi\n",
          out);
}

void cli_fish_completion(FILE *out) {
    fputs("# fish completion for ntrace\n"
          "function __ntrace_complete\n"
          "    set -l words (commandline -opc) (commandline -ct)\n"
          "    $words[1] help --as complete -- $words[2..-1] 2>/dev/null\n"
          "    or __fish_complete_path (commandline -ct)\n"
          "end\n"
          "complete -c ntrace -f -a '(__ntrace_complete)'\n",
          out);
}
