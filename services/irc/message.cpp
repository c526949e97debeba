/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

namespace irc
{

LineReader::Found LineReader::finish()
{
    if (too_long_) {
        too_long_ = false;
        line_.clear();
        return TOO_LONG;
    }
    if (line_.empty())
        return NOTHING;
    returned_ = true;
    return LINE;
}

LineReader::Found LineReader::take(Slice &bytes)
{
    if (returned_)
        line_.clear();
    returned_ = false;
    while (!bytes.empty()) {
        char byte = bytes[0];

        bytes = bytes.without_first(1);
        if (byte == '\r' || byte == '\n') {
            Found found = finish();

            if (found != NOTHING)
                return found;
        } else if (byte == '\0') {
            continue;
        } else if (line_.room() == 0) {
            too_long_ = true;
        } else {
            line_ << byte;
        }
    }
    return NOTHING;
}

static void skip_spaces(Slice &text)
{
    while (!text.empty() && text[0] == ' ')
        text = text.without_first(1);
}

bool Message::parse(Slice line)
{
    *this = Message();
    skip_spaces(line);
    if (!line.empty() && line[0] == ':') {
        line.take_until(' ');
        skip_spaces(line);
    }
    command = line.take_until(' ');
    skip_spaces(line);
    while (!line.empty() && count < PARAMETERS_MAX) {
        bool last = line[0] == ':' || count + 1 == PARAMETERS_MAX;

        if (line[0] == ':')
            line = line.without_first(1);
        parameters[count++] = last ? line : line.take_until(' ');
        if (last)
            break;
        skip_spaces(line);
    }
    return !command.empty();
}

static bool is_letter(char letter)
{
    char small = folded(letter);

    return (small >= 'a' && small <= '~') || letter == '_' || letter == '`';
}

static bool is_digit_or_dash(char letter)
{
    return (letter >= '0' && letter <= '9') || letter == '-';
}

bool nick_is_fine(Slice name)
{
    if (name.empty() || name.count() > NICK_BYTES || !is_letter(name[0]))
        return false;
    for (char letter : name)
        if (!is_letter(letter) && !is_digit_or_dash(letter))
            return false;
    return true;
}

bool channel_is_fine(Slice name)
{
    if (name.count() < 2 || name.count() > CHANNEL_BYTES)
        return false;
    if (name[0] != '#' && name[0] != '&')
        return false;
    for (char letter : name)
        if (letter == ' ' || letter == ',' || is_control(letter))
            return false;
    return true;
}

} // namespace irc
