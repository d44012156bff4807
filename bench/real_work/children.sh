# Pipes, subshells, background processes and other programs, beside this one.
bin=${BASH%/*}
$bin/gawk '{ n += NF } END { print n }' "$1" | while read -r n; do echo "words: $n"; done
x=$(echo "one $($bin/gawk 'BEGIN { print 6 * 7 }')")
(for ((i = 0; i < 300; i++)); do :; done; exit 3)
echo "$x $?"
$bin/pigz -p2 -c "$1" | $bin/pigz -d | { read -r line; echo "${#line}"; } &
wait
(kill -KILL $BASHPID)
exec $bin/gawk 'BEGIN { print "last" }'
