// Calls of known numbers: the lines with "count" have theirs.
use std::hint::black_box;

trait Shape {
    fn area(&self, n: u32) -> u32;
}
struct Round;
struct Square;
impl Shape for Round {
    #[inline(never)]
    fn area(&self, n: u32) -> u32 {
        black_box(n * n * 3) // count 10
    }
}
impl Shape for Square {
    #[inline(never)]
    fn area(&self, n: u32) -> u32 {
        black_box(n * n) // count 10
    }
}

#[inline(never)]
fn fibonacci(n: u32) -> u32 {
    if n < 2 { // count 465
        return n;
    }
    fibonacci(n - 1) + fibonacci(n - 2) // count 232
}

#[inline(never)]
fn twice<T: std::ops::Add<Output = T> + Copy>(n: T) -> T {
    black_box(n) + n // count 50
}

#[inline(never)]
fn deep(n: u32) -> u32 {
    if n == 0 { // count 70
        std::panic::resume_unwind(Box::new(7u32)); // count 7
    }
    black_box(deep(n - 1)) + 1 // count 63
}

#[inline(never)]
fn attempt(n: u32) -> u32 {
    std::panic::catch_unwind(|| deep(n)).unwrap_or(n)
}

#[inline(never)]
fn key(n: &u32) -> u32 {
    black_box(*n)
}

fn main() {
    let shapes: [Box<dyn Shape>; 2] = [Box::new(Round), Box::new(Square)];
    let mut sink = fibonacci(black_box(12));
    for i in 0..20u32 {
        sink += black_box(&shapes[i as usize & 1]).area(i);
    }
    for i in 0..50u32 {
        sink += twice(i);
    }
    for _ in 0..7 {
        sink += attempt(black_box(9));
    }
    let mut numbers: Vec<u32> = (0..64).map(|i| i * 37 % 64).collect();
    numbers.sort_by_key(key);
    black_box(sink);
    assert!(numbers[5] == 5);
}
