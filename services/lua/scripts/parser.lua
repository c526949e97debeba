-- SPDX-License-Identifier: Apache-2.0
--
-- A JSON reader and writer: a document is built, written, read back and
-- compared. The time goes to pattern matching, substrings, tables, and the
-- recursion through the values.

local read_value

local function parse_error(text, at, what)
    local _, line = text:sub(1, at):gsub("\n", "")
    error(string.format("line %d: %s expected", line + 1, what), 0)
end

local function skip_blanks(text, at)
    return text:find("[^ \n\r\t]", at) or #text + 1
end

local unescaped = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f",
                    ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function read_string(text, at)
    local pieces, from = {}, at + 1
    while true do
        local stop = text:find('["\\]', from) or
                     parse_error(text, at, "a quote")
        pieces[#pieces + 1] = text:sub(from, stop - 1)
        if text:sub(stop, stop) == '"' then
            return table.concat(pieces), stop + 1
        end
        local letter = text:sub(stop + 1, stop + 1)
        if letter == "u" then
            local digits = text:match("^%x%x%x%x", stop + 2) or
                parse_error(text, stop, "four hexadecimal digits")
            pieces[#pieces + 1] = utf8.char(tonumber(digits, 16))
            from = stop + 6
        else
            pieces[#pieces + 1] = unescaped[letter] or
                parse_error(text, stop, "an escape")
            from = stop + 2
        end
    end
end

local function read_number(text, at)
    local digits = text:match("^-?%d+%.?%d*[eE]?[+-]?%d*", at)
    local value = tonumber(digits) or parse_error(text, at, "a number")
    return value, at + #digits
end

local function read_array(text, at)
    local list = {}
    at = skip_blanks(text, at + 1)
    if text:sub(at, at) == "]" then
        return list, at + 1
    end
    while true do
        list[#list + 1], at = read_value(text, at)
        at = skip_blanks(text, at)
        local mark = text:sub(at, at)
        if mark == "]" then
            return list, at + 1
        elseif mark ~= "," then
            parse_error(text, at, "',' or ']'")
        end
        at = at + 1
    end
end

local function read_object(text, at)
    local object = {}
    at = skip_blanks(text, at + 1)
    if text:sub(at, at) == "}" then
        return object, at + 1
    end
    while true do
        at = skip_blanks(text, at)
        if text:sub(at, at) ~= '"' then
            parse_error(text, at, "a key")
        end
        local key
        key, at = read_string(text, at)
        at = skip_blanks(text, at)
        if text:sub(at, at) ~= ":" then
            parse_error(text, at, "':'")
        end
        object[key], at = read_value(text, at + 1)
        at = skip_blanks(text, at)
        local mark = text:sub(at, at)
        if mark == "}" then
            return object, at + 1
        elseif mark ~= "," then
            parse_error(text, at, "',' or '}'")
        end
        at = at + 1
    end
end

local words = { ["true"] = true, ["false"] = false }

function read_value(text, at)
    at = skip_blanks(text, at)
    local first = text:sub(at, at)
    if first == "{" then
        return read_object(text, at)
    elseif first == "[" then
        return read_array(text, at)
    elseif first == '"' then
        return read_string(text, at)
    elseif first:find("[%d-]") then
        return read_number(text, at)
    end
    local word = text:match("^%a+", at)
    if words[word] == nil then
        parse_error(text, at, "a value")
    end
    return words[word], at + #word
end

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n",
                  ["\t"] = "\\t" }

local function write_string(text)
    return '"' .. text:gsub('["\\\n\t]', escapes) .. '"'
end

local function write_value(value)
    local pieces = {}
    if type(value) == "string" then
        return write_string(value)
    elseif type(value) ~= "table" then
        return tostring(value)
    elseif #value > 0 then
        for index, item in ipairs(value) do
            pieces[index] = write_value(item)
        end
        return "[" .. table.concat(pieces, ", ") .. "]"
    end
    local keys = {}
    for key in pairs(value) do
        keys[#keys + 1] = key
    end
    table.sort(keys)
    for index, key in ipairs(keys) do
        pieces[index] = write_string(key) .. ": " .. write_value(value[key])
    end
    return "{" .. table.concat(pieces, ",\n") .. "}"
end

local function make_document(size)
    local people = {}
    for number = 1, size do
        people[number] = {
            name = "Person \"" .. number .. "\"",
            age = 20 + number * 7 % 60,
            height = 150.5 + number % 40,
            active = number % 3 == 0,
            tags = { "a" .. number % 5, "b" .. number % 7, "tab\there" },
            address = { street = "Lane " .. number, city = "Town" },
        }
    end
    return { title = "people", count = size, people = people }
end

local document = make_document(25)

function work()
    local text = write_value(document)
    local again = write_value((read_value(text, 1)))
    assert(text == again, "what was read is not what was written")
    return #text
end

print(string.format("parser: %d bytes of JSON", work()))
