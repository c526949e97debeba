/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_MESSAGE_H
#define IRC_MESSAGE_H

/*
 * Splits bytes into lines and lines into messages (RFC 1459, section 2.3; RFC
 * 2812, section 2.3). Input may be arbitrary: lines of any length, NULs,
 * partial lines. No allocation; results refer to the input.
 */

#include "text.h"

namespace irc
{

class LineReader
{
  public:
    enum Found {
        NOTHING,  /* all bytes are consumed */
        LINE,     /* line() is complete, without its end */
        TOO_LONG, /* a line of more than LINE_BYTES was dropped */
    };

    /*
     * Consumes (bytes) up to the end of a line, which is CR, LF or both. Skips
     * empty lines, and NULs, which are not allowed in messages.
     */
    Found take(Slice &bytes);

    /* Valid until the next take(). */
    Slice line() const
    {
        return line_.slice();
    }

  private:
    Found finish();

    Line line_;
    bool too_long_ = false;
    bool returned_ = true; /* line_ was returned or is empty */
};

struct Message {
    static constexpr unsigned PARAMETERS_MAX = 15;

    Slice command;
    Slice parameters[PARAMETERS_MAX];
    unsigned count = 0;

    /* False if (line) has no command. A prefix is ignored: a client sends only
     * for itself. */
    bool parse(Slice line);

    /* Parameter number (at), or an empty slice. */
    Slice operator[](unsigned at) const
    {
        return at < count ? parameters[at] : Slice();
    }
};

/* Whether (name) is a valid nickname or channel name. */
constexpr size_t NICK_BYTES = 30;
constexpr size_t CHANNEL_BYTES = 50;
bool nick_is_fine(Slice name);
bool channel_is_fine(Slice name);

} // namespace irc

#endif
