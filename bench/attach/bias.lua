-- SPDX-License-Identifier: Apache-2.0
-- What bias.py measures in: a bit of everything, for ever.
local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end
while true do
  local t = {}
  for i = 1, 200 do t[i] = tostring(i * 7919 % 1000) end
  table.sort(t)
  local s = table.concat(t, ",")
  local n = 0
  for w in s:gmatch("%d+") do n = n + #w end
  fib(12)
end
