-- SPDX-License-Identifier: Apache-2.0
-- What Lua needs of the C library and of the kernel below it.

local number = 0

local function ok(good, what)
    number = number + 1
    print((good and "ok " or "not ok ") .. number .. " - " .. what)
end

print("1..13")
ok(string.format("%.14g %d %5.2f %x", 1 / 3, 1 << 40, 2.345, 255) ==
   "0.33333333333333 1099511627776  2.35 ff", "numbers are written")
ok(tonumber("1e3") == 1000.0 and tonumber("0x7fffffffffffffff") ==
   math.maxinteger, "numbers are read")
ok(math.abs(math.sin(1) - 0.8414709848079) < 1e-12 and 2 ^ 0.5 > 1.414213 and
   math.log(8, 2) == 3.0, "floating point works")
ok(7 // 2 == 3 and -7 // 2 == -4 and -7 % 3 == 2 and 3 % -math.huge ==
   -math.huge, "whole and broken division round down")

local fine, message = pcall(function() error({ code = 5 }) end)
ok(not fine and message.code == 5, "an error comes back to pcall")
fine, message = pcall(function() local nothing; return nothing.field end)
ok(not fine and message:find("nil value %(local 'nothing'%)"),
   "the error of a nil index names the variable")
local function deeper(depth) return depth + deeper(depth + 1) end
fine, message = pcall(deeper, 1)
ok(not fine and message:find("stack overflow"), "endless recursion is caught")
fine, message = pcall(string.rep, "x", 1 << 30)
ok(not fine and message:find("memory"), "memory that is not there is refused")
collectgarbage()
ok(#string.rep("x", 1 << 20) == 1 << 20, "and work goes on after it")

local generate = coroutine.wrap(function()
    for value = 1, 3 do coroutine.yield(value) end
end)
ok(generate() + generate() + generate() == 6, "coroutines yield")
local list = {}
for value = 1, 1000 do list[value] = (value * 7919) % 1009 end
table.sort(list)
ok(list[1] == 1 and list[1000] == 1008, "tables are sorted")
ok(os.time() > 1.6e9 and os.clock() >= 0, "the clock is set")
ok(io.open("/etc/passwd") == nil, "there are no files")
