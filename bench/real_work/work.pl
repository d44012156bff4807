# Hashes, sorting with a block, regular expressions, sprintf and split.
use strict;
use warnings;
my ($seed, %count, @lines) = (9);
sub random { $seed = ($seed * 1103515245 + 12345) & 0x7fffffff; return ($seed >> 12) % $_[0]; }
for my $i (1 .. 30000) {
    my $word = join "", map { chr(97 + random(6)) } 1 .. 3;
    $count{$word} += $i;
    push @lines, sprintf("%s %05d %x", $word, random(99999), $i);
}
my ($matched, $sum) = (0, 0);
for (@lines) {
    my ($word, $number, $hex) = split / /;
    $matched++ if /^[abc]+ \d*7\d* [0-9a-f]*e$/;
    $sum = ($sum + $number * hex($hex)) % 1000003;
    s/([aeiou])(\w)/$2$1/g;
}
my @sorted = sort { $a cmp $b } @lines;
my @best = (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0 .. 2];
print "$matched $sum $sorted[0] @best\n";
