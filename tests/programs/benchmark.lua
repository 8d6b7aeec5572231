-- Work of several kinds, in proportion to the argument.
local size = tonumber(arg[1]) or 1

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end

local function sieve(n)
  local composite, primes = {}, 0
  for i = 2, n do
    if not composite[i] then
      primes = primes + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return primes
end

local Shape = {}
Shape.__index = Shape
function Shape.new(w, h) return setmetatable({ w = w, h = h }, Shape) end
function Shape:area() return self.w * self.h end
Shape.__add = function(a, b) return Shape.new(a.w + b.w, a.h + b.h) end
Shape.__lt = function(a, b) return a:area() < b:area() end

local function shapes(n)
  local all = {}
  for i = 1, n do all[i] = Shape.new(i % 17 + 1, i % 23 + 1) end
  table.sort(all)
  local sum = Shape.new(0, 0)
  for _, shape in ipairs(all) do sum = sum + shape end
  return sum:area()
end

local function strings(n)
  local words, counts = {}, {}
  for i = 1, n do words[#words + 1] = ("word%d"):format(i % 97) end
  for word in table.concat(words, " "):gmatch("%a+%d") do counts[word] = (counts[word] or 0) + 1 end
  local text = table.concat(words, ","):gsub("(%d)(%d)", "%2%1"):upper()
  return #text + counts.word1
end

local function coroutines(n)
  local produce = coroutine.wrap(function() for i = 1, n do coroutine.yield(i // 3) end return -1 end)
  local sum = 0
  while true do
    local value = produce()
    if value == -1 then return sum end
    sum = sum + (value & 0xff) ~ (value << 2)
  end
end

local function failing(n)
  local caught = 0
  for i = 1, n do
    local ok = pcall(function() if i % 3 == 0 then error({ code = i }) end return i end)
    if not ok then caught = caught + 1 end
  end
  return caught
end

print(fib(20 + size), sieve(20000 * size), shapes(3000 * size), strings(2000 * size),
  coroutines(5000 * size), failing(2000 * size))
