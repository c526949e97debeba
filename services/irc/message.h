/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_MESSAGE_H
#define IRC_MESSAGE_H

/*
 * From bytes to lines, and from lines to messages (RFC 1459, section 2.3; RFC
 * 2812, section 2.3). Both take whatever comes: lines of any length, NULs,
 * halves of lines. No heap; what they return points into what they were given.
 */

#include "text.h"

namespace irc
{

class LineReader
{
  public:
    enum Found {
        NOTHING,  /* the bytes are used up */
        LINE,     /* line() is one, without its end */
        TOO_LONG, /* a line of more than LINE_BYTES ended; it is lost */
    };

    /*
     * Takes bytes off (bytes) up to the end of a line. CR, LF or both end it;
     * empty lines are skipped, and so are NULs, which no message may hold.
     */
    Found take(Slice &bytes);

    /* Holds until the next take(). */
    Slice line() const
    {
        return line_.slice();
    }

  private:
    Found finish();

    Line line_;
    bool too_long_ = false;
    bool told_ = true; /* line_ was returned, or nothing is in it */
};

struct Message {
    static constexpr unsigned PARAMETERS_MAX = 15;

    Slice command;
    Slice parameters[PARAMETERS_MAX];
    unsigned count = 0;

    /* False where there is no command in (line). A prefix is passed over: a
     * client speaks for nobody but itself. */
    bool parse(Slice line);

    /* Parameter number (at), or an empty slice. */
    Slice operator[](unsigned at) const
    {
        return at < count ? parameters[at] : Slice();
    }
};

/* Whether (name) may be a nickname, or a channel's name. */
constexpr size_t NICK_BYTES = 30;
constexpr size_t CHANNEL_BYTES = 50;
bool nick_is_fine(Slice name);
bool channel_is_fine(Slice name);

} // namespace irc

#endif
