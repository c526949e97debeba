/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_CLIENT_H
#define IRC_CLIENT_H

/*
 * A connected client, and the membership that links a client and a channel.
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

    Hook<Client> hook_all;
    Hook<Client> hook_nick;
    Hook<Client> hook_doomed;
    using DoomedList = List<Client, &Client::hook_doomed>;

    /* Both (server) and (doomed), its list, outlive the client. */
    Client(Server &server, DoomedList &doomed, net_conn *conn, uint32_t now_s);

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
    /* Prefix of the client's messages: "nick!user@host". */
    Line prefix() const;

    /* Sends (line) with CR and LF, or queues it until there is room. A client
     * whose queue is full is doomed. */
    void send(const Line &line);

    /* Sends from the queue. To be called when there is room. */
    void flush();

    /* The connection has ended; nothing can be sent any more. */
    void lost()
    {
        conn_ = nullptr;
    }
    /* Closes the connection after sending what is queued, or resets it if the
     * queue was full. */
    void hang_up();

    /* Disconnects the client at the end of this turn. The first reason
     * counts. */
    void doom(Slice why);
    bool doomed() const
    {
        return hook_doomed.linked();
    }
    Slice why() const
    {
        return why_.slice();
    }

    ClientsMemberships memberships;
    unsigned channel_count = 0;
    uint32_t visit = 0;       /* last traversal that reached this client */
    uint32_t heard_s;         /* time of the last line */
    uint32_t signed_on_s;     /* time of connecting */
    bool pinged = false;      /* a PING was sent and not answered */
    bool registered = false;  /* NICK and USER came */
    bool negotiating = false; /* CAP delays registration */
    bool invisible = false;   /* mode i */
    bool is_operator = false; /* of the server: OPER */
    bool quit = false;        /* QUIT came */

  private:
    friend class Server; /* assigns names, reads lines */

    Server &server_;
    DoomedList &doomed_;
    net_conn *conn_;
    LineReader reader_;
    SendQueue queue_;
    bool choked_ = false; /* the queue is full: reset the connection */
    Text<NICK_BYTES> nick_;
    Text<10> user_;
    Text<16> host_;
    Text<100> real_name_;
    Text<200> why_;
};

} // namespace irc

#endif
