# Arithmetic, arrays, patterns and functions of the shell itself: no other program is started.
declare -A count
seed=5 hits=0
random() { ((seed = (seed * 1103515245 + 12345) & 0x7fffffff, result = (seed >> 12) % $1)); }
for ((i = 0; i < 4000; i++)); do
    random 400; key=item$result
    random 90; value=$result
    ((count[$key] += value))
    line="$key: value=$value;i=$i"
    if [[ $line =~ ^item([0-9]+):\ value=([0-9]*7)\; ]]; then ((hits += BASH_REMATCH[1])); fi
    case ${line##*=} in *99) list+=("${line%%:*}") ;; 1*) line=${line//item/part} ;; esac
    set -- ${line//[:;=]/ }
    total=$((total + $# + ${#1}))
done
best=
for key in "${!count[@]}"; do
    if [[ -z $best ]] || ((count[$key] > count[$best])) || { ((count[$key] == count[$best])) && [[ $key < $best ]]; }; then best=$key; fi
done
printf '%s %d %d %d\n' "$best" "${count[$best]}" "$hits" "$total"
