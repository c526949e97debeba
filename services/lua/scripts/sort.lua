-- SPDX-License-Identifier: Apache-2.0
--
-- Sorting: the library's sort with a comparison written in Lua, against a
-- merge sort and a heap written in Lua. The time goes to calls across the
-- border between C and Lua, and to table accesses.

local state = 12345

-- a small generator of its own, the same on every machine
local function random(limit)
    state = (state * 1103515245 + 12345) & 0x7fffffff
    return (state >> 8) % limit
end

local function make_records(count)
    local records = {}
    for index = 1, count do
        records[index] = { key = random(1000), name = "n" .. random(100000),
                           index = index }
    end
    return records
end

local function before(left, right)
    if left.key ~= right.key then
        return left.key < right.key
    end
    return left.index < right.index
end

local function merge_sort(list, first, last, spare)
    if first >= last then
        return
    end
    local middle = (first + last) // 2
    merge_sort(list, first, middle, spare)
    merge_sort(list, middle + 1, last, spare)
    table.move(list, first, last, first, spare)
    local left, right = first, middle + 1
    for place = first, last do
        if right > last or
           (left <= middle and not before(spare[right], spare[left])) then
            list[place], left = spare[left], left + 1
        else
            list[place], right = spare[right], right + 1
        end
    end
end

local function heap_sink(list, place, size)
    while true do
        local child = place * 2
        if child > size then
            return
        end
        if child < size and before(list[child], list[child + 1]) then
            child = child + 1
        end
        if not before(list[place], list[child]) then
            return
        end
        list[place], list[child] = list[child], list[place]
        place = child
    end
end

local function heap_sort(list)
    for place = #list // 2, 1, -1 do
        heap_sink(list, place, #list)
    end
    for size = #list, 2, -1 do
        list[1], list[size] = list[size], list[1]
        heap_sink(list, 1, size - 1)
    end
end

local function in_order(list)
    for place = 2, #list do
        if before(list[place], list[place - 1]) then
            return false
        end
    end
    return true
end

function work()
    local one = make_records(300)
    local two = table.move(one, 1, #one, 1, {})
    local three = table.move(one, 1, #one, 1, {})
    table.sort(one, before)
    merge_sort(two, 1, #two, {})
    heap_sort(three)
    assert(in_order(one) and in_order(two) and in_order(three))
    return one[1].name, one[#one].name
end

print(string.format("sort: first %s, last %s", work()))
