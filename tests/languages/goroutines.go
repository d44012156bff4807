// Goroutines that wait in different calls: their callers are those of the source. Lines with "count" have theirs.
package main

import (
	"os"
	"runtime"
	"sync"
)

type walker struct {
	to   chan int
	lock *sync.Mutex
}

//go:noinline
func (w *walker) visit(n int) int {
	if n == 0 { // count 105
		return 1
	}
	w.to <- n // count 51
	return w.visit(n-1) + w.visit(n-2+n%2)
}

//go:noinline
func squares(to chan int, n int) {
	for i := 0; i < n; i++ {
		send(to, i*i)
	}
	close(to)
}

//go:noinline
func cubes(to chan int, n int) {
	for i := 0; i < n; i++ {
		send(to, i*i*i)
	}
	close(to)
}

//go:noinline
func send(to chan int, n int) {
	to <- n // count 90
}

//go:noinline
func yields(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		runtime.Gosched() // count 40
		sum += leaf(i)
	}
	return sum
}

//go:noinline
func leaf(n int) int {
	return n & 3 // count 130
}

//go:noinline
func grows(n int) int {
	var room [400]int
	room[n] = leaf(n) // count 60
	runtime.Gosched()
	if n == 0 {
		return room[0]
	}
	return grows(n-1) + room[n]
}

//go:noinline
func receive(from chan int) (sum int) {
	for one := range from {
		sum += leaf(one)
	}
	return sum
}

//go:noinline
func both(a, b chan int) (sum int) {
	for a != nil || b != nil {
		select {
		case one, ok := <-a:
			if !ok {
				a = nil
			}
			sum += one
		case one, ok := <-b:
			if !ok {
				b = nil
			}
			sum += one
		}
	}
	return sum
}

//go:noinline
func recovers(n int) (result int) {
	defer func() {
		if recover() != nil {
			runtime.Gosched()
			result = n
		}
	}()
	if n >= 0 {
		panic("recovers")
	}
	return 0
}

func main() {
	var group sync.WaitGroup
	total := make([]int, 16)
	start := func(i int, work func() int) {
		group.Add(1)
		go func() {
			defer group.Done()
			total[i] = work()
		}()
	}
	a, b, c, d := make(chan int), make(chan int), make(chan int), make(chan int, 3)
	go squares(a, 30)
	go cubes(b, 30)
	go squares(c, 30)
	start(0, func() int { return both(a, b) })
	start(1, func() int { return receive(c) })
	start(2, func() int { return yields(20) })
	start(3, func() int { return yields(20) })
	start(4, func() int { return grows(29) })
	start(5, func() int { return grows(29) })
	lock := &sync.Mutex{}
	for i := 0; i < 3; i++ {
		w := &walker{d, lock}
		start(6+i, func() int { return w.visit(5) })
	}
	start(9, func() int {
		sum := 0
		for i := 0; i < 10; i++ {
			sum += recovers(i)
		}
		return sum
	})
	done := make(chan int)
	go func() {
		sum := 0
		for one := range d {
			lock.Lock()
			sum += one
			lock.Unlock()
		}
		done <- sum
	}()
	group.Wait()
	close(d)
	if <-done == 0 || total[3] == 0 {
		os.Exit(1)
	}
}
