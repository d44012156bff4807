// Calls of known numbers: the lines with "count" have theirs.
module work;
import core.thread : Fiber;
import std.algorithm : sort;

interface Shape { int area(int n); }
class Round : Shape {
  pragma(inline, false) int area(int n) {
    return n * n * 3 + sink * 0; // count 10
  }
}
class Square : Shape {
  pragma(inline, false) int area(int n) {
    return n * n + sink * 0; // count 10
  }
}
__gshared int sink;

pragma(inline, false) int fibonacci(int n) {
  if (n < 2) // count 465
    return n; // count 233
  return fibonacci(n - 1) + fibonacci(n - 2); // count 232
}

pragma(inline, false) T twice(T)(T n) {
  return n + n + sink * 0; // count 50
}

pragma(inline, false) int deep(int n) {
  if (n == 0) // count 70
    throw new Exception("deep"); // count 7
  return deep(n - 1) + 1; // count 63
}

pragma(inline, false) int attempt(int n) {
  try
    return deep(n);
  catch (Exception e)
    return n; // count 7
}

int main(string[] arguments) {
  Shape[2] shapes;
  shapes[0] = new Round;
  shapes[1] = new Square;
  sink = fibonacci(12);
  foreach (i; 0 .. 20)
    sink += shapes[i & 1].area(i);
  foreach (i; 0 .. 50)
    sink += twice(i);
  foreach (i; 0 .. 7)
    sink += attempt(9);
  int[] numbers;
  foreach (i; 0 .. 64)
    numbers ~= i * 37 % 64;
  numbers.sort!((a, b) => a < b);
  auto fiber = new Fiber({
    foreach (i; 0 .. 5) {
      sink += fibonacci(1 - i % 2) * 0;
      Fiber.yield();
    }
  });
  if (arguments.length > 1)
    while (fiber.state != Fiber.State.TERM)
      fiber.call();
  return numbers[5] != 5;
}
