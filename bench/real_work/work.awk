# Words, lengths and patterns of a text.
{
    for (i = 1; i <= NF; i++) { word = $i; gsub(/[^A-Za-z_]/, "", word); if (word != "") count[word]++ }
    if (match($0, /[A-Za-z_]+\(/)) call[substr($0, RSTART, RLENGTH - 1)]++
    if ($0 ~ /^[ \t]*(if|for|switch) .*[{]$/) blocks++
    split($0, half, "="); size += length(half[1])
}
END {
    for (word in count) if (count[word] > most || count[word] == most && word < best) { most = count[word]; best = word }
    n = asorti(call, names)
    print NR, blocks, size, best, most, n, names[1]
}
