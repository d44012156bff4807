// Calls of known numbers: the lines with "count" have theirs.
package main

import (
	"os"
	"sort"
)

type shape interface{ area(n int) int }
type round struct{ factor int }
type square struct{ factor int }

//go:noinline
func (s *round) area(n int) int {
	return n * n * s.factor // count 10
}

//go:noinline
func (s *square) area(n int) int {
	return n * n * s.factor // count 10
}

//go:noinline
func fibonacci(n int) int {
	if n < 2 { // count 465
		return n // count 233
	}
	return fibonacci(n-1) + fibonacci(n-2) // count 232
}

//go:noinline
func deep(n int) int {
	if n == 0 { // count 70
		panic("deep") // count 7
	}
	return deep(n-1) + 1 // count 63
}

//go:noinline
func attempt(n int) (result int) {
	defer func() {
		if recover() != nil {
			result = n // count 7
		}
	}()
	return deep(n)
}

//go:noinline
func below(n int) int {
	var room [600]int // the stack grows
	for i := range room {
		room[i] = n
	}
	if n == 0 { // count 12
		return room[3]
	}
	return below(n-1) + room[7] // count 11
}

//go:noinline
func produce(to chan int, n int) {
	for i := 0; i < n; i++ {
		to <- fibonacci(i % 3)
	}
	close(to)
}

func main() {
	shapes := []shape{&round{3}, &square{1}}
	sink := fibonacci(12)
	for i := 0; i < 20; i++ {
		sink += shapes[i&1].area(i)
	}
	for i := 0; i < 7; i++ {
		sink += attempt(9)
	}
	sink += below(11)
	numbers := make([]int, 64)
	for i := range numbers {
		numbers[i] = i * 37 % 64
	}
	sort.Slice(numbers, func(a, b int) bool { return numbers[a] < numbers[b] })
	if len(os.Args) > 1 {
		made := make(chan int)
		go produce(made, 30)
		for one := range made {
			sink += one
		}
	}
	if numbers[5] != 5 || sink == 0 {
		os.Exit(1)
	}
}
