# Hashes, regular expressions, recursion, fibers, threads, exceptions, catch and throw.
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)

words = Hash.new(0)
File.binread("text").scan(/\w+/n) { |word| words[word] += 1 }
fiber = Fiber.new { 10.times { |i| Fiber.yield i } }
threads = 4.times.map { |i| Thread.new { (1..5000).sum { |x| x * i } } }
puts words.size, fib(19), 10.times.sum { fiber.resume }, threads.map(&:value).sum
begin
  raise "raised"
rescue => error
  puts error.message, catch(:here) { throw :here, 5 }
end
