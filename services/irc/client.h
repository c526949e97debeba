/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_CLIENT_H
#define IRC_CLIENT_H

/*
 * One who is connected, and the membership that ties a client to a channel.
 */

#include "list.h"
#include "message.h"
#include "send_queue.h"

#include <kernel/net.h>

namespace irc
{

class Channel;
class Client;
class Server;

struct Membership {
    Membership(Client &client_, Channel &channel_)
        : client(client_), channel(channel_)
    {
    }

    Client &client;
    Channel &channel;
    Hook<Membership> of_client;
    Hook<Membership> of_channel;
    bool is_operator = false;
    bool has_voice = false;
};

using ClientsMemberships = List<Membership, &Membership::of_client>;
using ChannelsMemberships = List<Membership, &Membership::of_channel>;

class Client
{
  public:
    static constexpr unsigned CHANNELS_MAX = 50;

    Client(Server &server, net_conn *conn, uint32_t now_s);

    Slice nick() const
    {
        return nick_.slice();
    }
    Slice user() const
    {
        return user_.slice();
    }
    Slice host() const
    {
        return host_.slice();
    }
    Slice real_name() const
    {
        return real_name_.slice();
    }
    /* Who the client's messages are from: "nick!user@host". */
    Line prefix() const;

    /* Puts CR and LF behind (line) and sends it, or keeps it until the client
     * takes more; a client that takes nothing for too long is doomed. */
    void send(const Line &line);

    /* Bytes that came for the server, or room for what it could not send. */
    void receive(Slice bytes);
    void flush();

    /* The connection is dead; nothing may be sent any more. */
    void lost()
    {
        conn_ = nullptr;
    }
    /* Ends the connection: at once, or after what was sent. */
    void hang_up();

    /* Condemned: gone at the end of this turn, because of why(). */
    bool doomed() const
    {
        return hook_doomed.linked();
    }
    Slice why() const
    {
        return why_.slice();
    }

    Hook<Client> hook_all;
    Hook<Client> hook_nick;
    Hook<Client> hook_doomed;
    ClientsMemberships memberships;
    unsigned channel_count = 0;
    uint32_t visit = 0;       /* of the last round that came by here */
    uint32_t heard_s;         /* time of the last line */
    uint32_t signed_on_s;     /* time of connecting */
    bool pinged = false;      /* was asked for a sign of life */
    bool registered = false;  /* NICK and USER came */
    bool negotiating = false; /* CAP holds registration back */
    bool invisible = false;   /* mode i */

  private:
    friend class Server; /* which gives names, and dooms */

    Server &server_;
    net_conn *conn_;
    LineReader reader_;
    SendQueue queue_;
    bool choked_ = false; /* the queue ran over: end without a word */
    Text<NICK_BYTES> nick_;
    Text<10> user_;
    Text<16> host_;
    Text<100> real_name_;
    Text<200> why_;
};

} // namespace irc

#endif
