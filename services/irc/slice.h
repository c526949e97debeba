/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_SLICE_H
#define IRC_SLICE_H

/*
 * A reference to text: address and length. It need not end in NUL. Uses no
 * library, so that it can be tested and fuzzed on the host.
 */

#include <stddef.h>
#include <stdint.h>

namespace irc
{

/* Lower case according to RFC 1459: {}|^ is the lower case of []\~. */
inline char folded(char letter)
{
    return letter >= 'A' && letter <= '^' ? static_cast<char>(letter + 32)
                                          : letter;
}

/* Control characters could do something to the terminal of whoever sees them:
 * they are in no name. Messages and topics may have them, for formatting. */
inline bool is_control(char letter)
{
    return (letter >= 0 && letter < ' ') || letter == 0x7f;
}

class Slice
{
  public:
    constexpr Slice() = default;
    constexpr Slice(const char *begin, size_t count)
        : begin_(begin), count_(count)
    {
    }
    template <size_t N>
    constexpr Slice(const char (&literal)[N]) : begin_(literal), count_(N - 1)
    {
    }

    /* Of NUL-terminated text. */
    static Slice of(const char *text)
    {
        size_t count = 0;

        while (text[count] != '\0')
            count++;
        return Slice(text, count);
    }

    const char *begin() const
    {
        return begin_;
    }
    const char *end() const
    {
        return begin_ + count_;
    }
    size_t count() const
    {
        return count_;
    }
    bool empty() const
    {
        return count_ == 0;
    }
    char operator[](size_t at) const
    {
        return begin_[at];
    }

    /* At most the first (most) bytes. */
    Slice first(size_t most) const
    {
        return Slice(begin_, count_ < most ? count_ : most);
    }
    Slice without_first(size_t fewer) const
    {
        return fewer < count_ ? Slice(begin_ + fewer, count_ - fewer) : Slice();
    }

    /* Removes and returns the text before the next (mark), or all of it if
     * there is none. The mark is removed too. */
    Slice take_until(char mark)
    {
        size_t at = 0;

        while (at < count_ && begin_[at] != mark)
            at++;
        Slice taken(begin_, at);
        *this = without_first(at + 1);
        return taken;
    }

    /* Equal, ignoring case. */
    bool is(Slice other) const
    {
        if (count_ != other.count_)
            return false;
        for (size_t i = 0; i < count_; i++)
            if (folded(begin_[i]) != folded(other.begin_[i]))
                return false;
        return true;
    }

    /* FNV-1a of the letters in lower case. */
    uint32_t hash() const
    {
        uint32_t hash = 2166136261u;

        for (char letter : *this)
            hash = (hash ^ static_cast<uint8_t>(folded(letter))) * 16777619u;
        return hash;
    }

  private:
    const char *begin_ = nullptr;
    size_t count_ = 0;
};

} // namespace irc

#endif
