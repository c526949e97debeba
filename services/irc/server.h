/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_SERVER_H
#define IRC_SERVER_H

/*
 * An IRC server of one machine (RFC 1459, RFC 2812), as far as clients need it.
 *
 *     kernel's network -> Client::receive -> Server::handle -> a command
 *                                                                  |
 *                          Client::send <- Channel::send <---------+
 *
 * Nobody is ended while something is done with them: who has to go is doomed,
 * and bury() ends them when the loop's turn does. Where memory is refused the
 * client who asked is told, or has to go; the server stays.
 *
 * The commands stand in commands_*.cpp, what they may use is below.
 */

#include "channel.h"

#include <kernel/loop.h>

namespace irc
{

class Server
{
  public:
    struct Counts {
        unsigned connected; /* since the start */
        unsigned left;      /* since the start */
        unsigned refused;   /* no memory, or too many */
        unsigned lines;     /* commands that were obeyed or refused */
    };

    explicit Server(const char *name) : name_(Slice::of(name))
    {
    }
    void set_name(Slice name)
    {
        name_ = Text<63>(name);
    }

    /* Listens. 0, or net_start()'s and net_listen()'s code. */
    int start(uint16_t port);

    const Counts &counts() const
    {
        return counts_;
    }

    /* A whole line of a client's. */
    void handle(Client &client, Slice line);

    /* (client) goes at the end of this turn. The first reason stays. */
    void doom(Client &client, Slice why);

    /* ":server CODE nick :text" */
    void complain(Client &client, Slice code, Slice text);

  private:
    struct Command;
    static const Command COMMANDS[];

    static bool accept(net_conn *conn, void *context);
    static void sweep(void *context);
    static void bury(void *context);
    static const Command *find_command(Slice name);

    /* the beginning of a numeric reply, ":server CODE nick " */
    Line reply(const Client &client, Slice code) const;
    void complain_of(Client &client, Slice code, Slice what, Slice text);

    Client *find_client(Slice nick) const;
    Channel *find_channel(Slice name) const;
    /* the same, telling (client) when there is none, or they are not in it */
    Channel *need_channel(Client &client, Slice name);
    Membership *need_member(Client &client, Slice name);
    Membership *need_operator(Client &client, Slice name);

    /* Everybody who shares a channel with (client), once, without them. */
    void tell_peers(Client &client, const Line &line);
    void set_nick(Client &client, Slice nick);
    void try_welcome(Client &client);
    void motd(Client &client);
    void join_one(Client &client, Slice name, Slice key);
    void leave(Membership &membership);
    void show_topic(Client &client, const Channel &channel);
    void show_names(Client &client, const Channel &channel);
    void talk(Client &client, const Message &message, Slice command,
              bool complaints);
    void talk_to(Client &client, Slice target, Slice text, Slice command,
                 bool complaints);
    void who_one(Client &client, const Client &seen, const Membership *in);
    void mode_user(Client &client, const Message &message);
    void mode_channel(Client &client, const Message &message);
    bool mode_one(Client &client, Channel &channel, bool set, char letter,
                  Slice parameter, Line &done);
    bool mode_member(Client &client, Channel &channel, bool set, char letter,
                     Slice nick, Line &done);

    /* one for each command */
    void cap(Client &client, const Message &message);
    void pass(Client &client, const Message &message);
    void nick(Client &client, const Message &message);
    void user(Client &client, const Message &message);
    void ping(Client &client, const Message &message);
    void pong(Client &client, const Message &message);
    void quit(Client &client, const Message &message);
    void join(Client &client, const Message &message);
    void part(Client &client, const Message &message);
    void topic(Client &client, const Message &message);
    void names(Client &client, const Message &message);
    void list(Client &client, const Message &message);
    void kick(Client &client, const Message &message);
    void mode(Client &client, const Message &message);
    void privmsg(Client &client, const Message &message);
    void notice(Client &client, const Message &message);
    void who(Client &client, const Message &message);
    void whois(Client &client, const Message &message);
    void userhost(Client &client, const Message &message);
    void ison(Client &client, const Message &message);
    void motd_again(Client &client, const Message &message);
    void lusers(Client &client, const Message &message);

    static constexpr unsigned NICK_BUCKETS = 4096;
    static constexpr unsigned CHANNEL_BUCKETS = 1024;

    Text<63> name_;
    List<Client, &Client::hook_all> clients_;
    List<Client, &Client::hook_doomed> doomed_;
    NameTable<Client, &Client::hook_nick, &Client::nick, NICK_BUCKETS> nicks_;
    List<Channel, &Channel::hook_all> channels_;
    NameTable<Channel, &Channel::hook_name, &Channel::name, CHANNEL_BUCKETS>
        names_;
    unsigned channel_count_ = 0;
    uint32_t visit_ = 0;
    loop_timer sweeper_ = {};
    Counts counts_ = {};
};

struct Server::Command {
    Slice name;
    unsigned least; /* parameters */
    bool early;     /* allowed before registration is complete */
    void (Server::*run)(Client &, const Message &);
};

/* Seconds since 1970, by gettimeofday(): whatever clock= says that costs. */
uint32_t now_s();

} // namespace irc

#endif
