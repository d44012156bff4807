<?php
// Hashes, sorting, regular expressions, recursion, exceptions, generators.
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function numbers() { for ($i = 0; $i < 9999; $i++) yield $i; }

$counts = [];
for ($i = 0; $i < 60000; $i++) {
    $key = "k" . ($i % 977);
    $counts[$key] = ($counts[$key] ?? 0) + strlen(md5((string)$i));
}
usort($counts, fn($x, $y) => $x <=> $y);
echo array_sum($counts), " ", preg_match_all('/[a-z]+_t/', file_get_contents('text')), " ", fib(20), "\n";
try {
    throw new Exception('thrown');
} catch (Exception $e) {
    echo $e->getMessage(), " ", array_sum(iterator_to_array(numbers())), "\n";
}
