-- Closures, tables, string patterns, coroutines and a heap.
local function push(heap, value)
  local at = #heap + 1
  while at > 1 and heap[at // 2] > value do heap[at] = heap[at // 2]; at = at // 2 end
  heap[at] = value
end
local function pop(heap)
  local top, last, at = heap[1], table.remove(heap), 1
  if #heap == 0 then return top end
  while 2 * at <= #heap do
    local child = 2 * at
    if child < #heap and heap[child + 1] < heap[child] then child = child + 1 end
    if heap[child] >= last then break end
    heap[at] = heap[child]; at = child
  end
  heap[at] = last
  return top
end
local seed, heap, sum = 42, {}, 0
local function random(n) seed = (seed * 1103515245 + 12345) % 2147483648; return seed // 65536 % n end
for i = 1, 40000 do push(heap, random(30000)) end
for i = 1, 40000 do sum = (sum * 31 + pop(heap)) % 1000003 end
local parts = {}
for i = 1, 15000 do parts[i] = ("key%d=%d"):format(random(900), i) end
local seen = {}
for key, value in table.concat(parts, ";"):gmatch("(%w+)=(%d+)") do seen[key] = (seen[key] or 0) + tonumber(value) end
local names = {}
for key in pairs(seen) do names[#names + 1] = key end
table.sort(names, function(a, b) return seen[a] > seen[b] or seen[a] == seen[b] and a < b end)
local function queens(n, row, taken)
  if row > n then coroutine.yield(1) return end
  for column = 1, n do
    if not taken[column] and not taken[100 + row + column] and not taken[200 + row - column] then
      taken[column], taken[100 + row + column], taken[200 + row - column] = true, true, true
      queens(n, row + 1, taken)
      taken[column], taken[100 + row + column], taken[200 + row - column] = nil, nil, nil
    end
  end
end
local found = 0
for one in coroutine.wrap(function() queens(7, 1, {}) end) do found = found + one end
print(sum, names[1], #names, found)
