-- SPDX-License-Identifier: Apache-2.0
--
-- String building: writes a page from records, with escapes and padding, and
-- takes it apart again. The time goes to concatenation, formatting, patterns,
-- and to the collector that clears up after them.

local words = {
    "harbour", "lantern", "meadow", "orchard", "quarry", "saddle", "thicket",
    "vessel", "willow", "yarrow", "<ember>", "salt & pepper", '"quoted"',
}

local escapes = { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;",
                  ['"'] = "&quot;" }

local function escape(text)
    return (text:gsub('[<>&"]', escapes))
end

local function row(number)
    local first = words[number % #words + 1]
    local second = words[(number * 7 + 3) % #words + 1]
    return string.format("<tr><td>%04d</td><td>%-20s</td><td>%8.3f</td></tr>",
                         number, escape(first .. " " .. second),
                         number * 1.618034)
end

local function page(rows)
    local lines = { "<table>" }
    for number = 1, rows do
        lines[#lines + 1] = row(number)
    end
    lines[#lines + 1] = "</table>"
    return table.concat(lines, "\n")
end

local function count_words(text)
    local seen, distinct = {}, 0
    for word in text:gmatch("%a+") do
        if not seen[word] then
            seen[word] = 0
            distinct = distinct + 1
        end
        seen[word] = seen[word] + 1
    end
    return distinct
end

-- the slow way on purpose: every step copies all that there is so far
local function join_slowly(count)
    local text = ""
    for number = 1, count do
        text = text .. number .. ","
    end
    return #text
end

function work()
    local text = page(60)
    return #text, count_words(text), join_slowly(100)
end

print(string.format("strings: %d bytes, %d distinct words, %d joined", work()))
