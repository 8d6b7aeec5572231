-- Random work. The script's argument is the seed, which chooses the jobs and their number.
math.randomseed(tonumber(arg[1]) or 1)
local random = math.random

local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local jobs = {
    function() return fib(5 + random(8)) end,
    function()
        local list = {}
        for i = 1, random(200) do list[i] = random(1000) end
        table.sort(list, random(2) == 1 and function(a, b) return a > b end or nil)
        return table.concat(list, ",", 1, math.min(5, #list))
    end,
    function() return (("x"):rep(random(300)):gsub("x", { x = "yy" })) end,
    function() return string.format("%d %5.2f %s %q", random(9), random(), "text", "a\nb") end,
    function() return select("#", ("a,b,c,d"):byte(1, random(7))) end,
    function() return pcall(error, { code = random(3) }) end,
    function()
        local thread = coroutine.wrap(function() for i = 1, random(9) do coroutine.yield(i) end end)
        return thread()
    end,
    function()
        local object = setmetatable({}, { __index = function(_, key) return key .. "!" end, __len = function() return 3 end })
        return object.name, #object
    end,
    function() return load("return " .. random(99) .. " // 3 + 2 ^ 3")() end,
    function() return random(100) % 7, random(100) // 3, random(100) << 2 end,
    function() return utf8.char(random(0x7ff)), ("%d+"):rep(2):find("%d", 1, true) end,
    function() return os.time() > 0, collectgarbage("step") end,
}
for _ = 1, 5 + random(20) do jobs[random(#jobs)]() end
