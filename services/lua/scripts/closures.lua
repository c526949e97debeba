-- SPDX-License-Identifier: Apache-2.0
--
-- Functions as values: pipelines of map and filter, memoised functions,
-- generators as closures and as coroutines. The time goes to calls, upvalues,
-- and to making and collecting small closures.

local function range(last)
    local value = 0
    return function()
        value = value + 1
        if value <= last then
            return value
        end
    end
end

local function map(next_value, change)
    return function()
        local value = next_value()
        if value ~= nil then
            return change(value)
        end
    end
end

local function filter(next_value, wanted)
    return function()
        local value
        repeat
            value = next_value()
        until value == nil or wanted(value)
        return value
    end
end

local function fold(next_value, result, join)
    for value in next_value do
        result = join(result, value)
    end
    return result
end

local function compose(...)
    local steps = { ... }
    return function(value)
        for index = 1, #steps do
            value = steps[index](value)
        end
        return value
    end
end

local function memoise(calculate)
    local known = {}
    return function(value)
        local result = known[value]
        if result == nil then
            result = calculate(value)
            known[value] = result
        end
        return result
    end
end

local function permutations(list)
    local function visit(size)
        if size <= 1 then
            coroutine.yield(list)
            return
        end
        for place = 1, size do
            list[place], list[size] = list[size], list[place]
            visit(size - 1)
            list[place], list[size] = list[size], list[place]
        end
    end
    return coroutine.wrap(function() visit(#list) end)
end

local function pipeline(last)
    local shape = compose(function(x) return x * 3 end,
                          function(x) return x + 1 end,
                          function(x) return x % 1009 end)
    local odd = function(x) return x % 2 == 1 end
    local sum = function(a, b) return a + b end
    return fold(filter(map(range(last), shape), odd), 0, sum)
end

local function count_ways(total)
    local ways
    ways = memoise(function(rest)
        if rest <= 1 then
            return 1
        end
        return (ways(rest - 1) + ways(rest - 2)) % 1000003
    end)
    return ways(total)
end

local function first_places(size)
    local list, sum = {}, 0
    for place = 1, size do
        list[place] = place
    end
    for order in permutations(list) do
        sum = sum + order[1] * order[size]
    end
    return sum
end

function work()
    return pipeline(1500), count_ways(60), first_places(6)
end

print(string.format("closures: sum %d, ways %d, places %d", work()))
