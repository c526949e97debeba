/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_TEXT_H
#define IRC_TEXT_H

#include "slice.h"

#include <string.h>

namespace irc
{

/*
 * Text of at most Room bytes, in place. The excess is truncated, as RFC 1459
 * requires of messages that are too long.
 */
template <size_t Room> class Text
{
  public:
    Text() = default;
    explicit Text(Slice from)
    {
        *this << from;
    }

    Text &operator<<(Slice piece)
    {
        size_t room = Room - count_;
        size_t count = piece.count() < room ? piece.count() : room;

        if (count > 0)
            memcpy(bytes_ + count_, piece.begin(), count);
        count_ += count;
        return *this;
    }
    template <size_t Other> Text &operator<<(const Text<Other> &piece)
    {
        return *this << piece.slice();
    }
    Text &operator<<(char letter)
    {
        return *this << Slice(&letter, 1);
    }
    Text &operator<<(unsigned number)
    {
        char digits[10];
        size_t at = sizeof digits;

        do {
            digits[--at] = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number != 0);
        return *this << Slice(digits + at, sizeof digits - at);
    }

    Slice slice() const
    {
        return Slice(bytes_, count_);
    }
    bool empty() const
    {
        return count_ == 0;
    }
    size_t room() const
    {
        return Room - count_;
    }
    void clear()
    {
        count_ = 0;
    }

  private:
    size_t count_ = 0;
    char bytes_[Room];
};

/* A message to be sent, without CR and LF. */
constexpr size_t LINE_BYTES = 510;
using Line = Text<LINE_BYTES>;

} // namespace irc

#endif
