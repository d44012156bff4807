// One call of work, 6,000,000 of middle and 12,000,000 of leaf, whatever signals arrive.
package main

import "os"

//go:noinline
func leaf(n int) int { return n*3 + 1 }

//go:noinline
func middle(n int) int { return leaf(n) + leaf(n+1) }

//go:noinline
func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += middle(i)
	}
	return s
}

func main() {
	if work(6000000) == 0 {
		os.Exit(1)
	}
}
