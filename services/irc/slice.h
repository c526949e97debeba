/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_SLICE_H
#define IRC_SLICE_H

/*
 * A piece of somebody else's text: where it begins and how long it is. Nothing
 * is copied and nothing needs to end in NUL. Needs no library, so that it is
 * tested and fuzzed on the host.
 */

#include <stddef.h>
#include <stdint.h>

namespace irc
{

/* Letters as RFC 1459 sees them: {}|^ are the small ones of []\~. */
inline char folded(char letter)
{
    return letter >= 'A' && letter <= '^' ? static_cast<char>(letter + 32)
                                          : letter;
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

    /* Of a NUL-ended text. */
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

    /* What stands before the next (mark), which is taken off together with it;
     * the whole rest where there is none. */
    Slice take_until(char mark)
    {
        size_t at = 0;

        while (at < count_ && begin_[at] != mark)
            at++;
        Slice taken(begin_, at);
        *this = without_first(at + 1);
        return taken;
    }

    /* The same letters, whatever their case. */
    bool is(Slice other) const
    {
        if (count_ != other.count_)
            return false;
        for (size_t i = 0; i < count_; i++)
            if (folded(begin_[i]) != folded(other.begin_[i]))
                return false;
        return true;
    }

    /* FNV-1a over the folded letters. */
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
