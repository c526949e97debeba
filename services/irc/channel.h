/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_CHANNEL_H
#define IRC_CHANNEL_H

#include "client.h"

namespace irc
{

/* A channel. It exists while it has members; the first one is its operator. */
class Channel
{
  public:
    explicit Channel(Slice name) : name_(name)
    {
    }

    Slice name() const
    {
        return name_.slice();
    }

    Membership *find(const Client &client) const;

    /* Sends (line) to all members except (except). */
    void send(const Line &line, const Client *except = nullptr) const;

    /* Whether (client) may send to the channel. */
    bool lets_speak(const Client &client) const;

    /* The modes, such as "+nt"; with (secrets) also their parameters. */
    Line modes(bool secrets) const;

    Hook<Channel> hook_all;
    Hook<Channel> hook_name;
    ChannelsMemberships memberships;
    unsigned member_count = 0;
    unsigned limit = 0;             /* mode l, 0 = none */
    bool only_members_speak = true; /* mode n */
    bool operators_topic = true;    /* mode t */
    bool moderated = false;         /* mode m */
    bool secret = false;            /* mode s */
    Text<23> key;                   /* mode k, empty = none */
    Text<300> topic;
    Text<NICK_BYTES> topic_by;
    uint32_t topic_s = 0; /* when it was set */

  private:
    Text<CHANNEL_BYTES> name_;
};

} // namespace irc

#endif
