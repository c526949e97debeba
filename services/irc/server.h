/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_SERVER_H
#define IRC_SERVER_H

/*
 * A single IRC server (RFC 1459, RFC 2812) with what common clients need.
 *
 *     kernel's network -> Server::receive -> Server::handle -> a command
 *                                                                  |
 *                          Client::send <- Channel::send <---------+
 *
 * A client is never deleted while it is in use: it is marked as doomed, and
 * end_doomed() deletes it at the end of the loop's turn. If an allocation
 * fails, the client gets an error or is disconnected; the server goes on.
 *
 * The commands are in commands_*.cpp and use the functions below.
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
        unsigned quit;      /* of these, those that sent QUIT */
        unsigned refused;   /* for lack of memory */
        unsigned lines;     /* commands, including invalid ones */
    };

    explicit Server(const char *name) : name_(Slice::of(name))
    {
    }
    void set_name(Slice name)
    {
        name_ = Text<63>(name);
    }

    /* Whoever knows (password), 1 to OPER_BYTES bytes, may end the server. */
    static constexpr size_t OPER_BYTES = 64;
    void set_oper(Slice password)
    {
        oper_ = Text<OPER_BYTES>(password);
    }

    /* Listens on (port). Returns 0, or an error of net_start() or
     * net_listen(). */
    int start(uint16_t port);

    const Counts &counts() const
    {
        return counts_;
    }

    /* Whether an operator has ended the server. */
    bool dying() const
    {
        return dying_;
    }

  private:
    struct Command;
    static const Command COMMANDS[];

    static bool accept(net_conn *conn, void *context);
    void receive(Client &client, Slice bytes);
    void handle(Client &client, Slice line);
    static void sweep(void *context);
    static bool any_doomed(void *context);
    static void end_doomed(void *context);
    static const Command *find_command(Slice name);

    /* the prefix of a numeric reply, ":server CODE nick " */
    Line reply(const Client &client, Slice code) const;
    /* ":server CODE nick :text" and ":server CODE nick what :text" */
    void send_numeric(Client &client, Slice code, Slice text);
    void send_numeric(Client &client, Slice code, Slice what, Slice text);

    Client *find_client(Slice nick) const;
    Channel *find_channel(Slice name) const;
    /* the same; an error is sent to (client) if the result is NULL */
    Channel *need_channel(Client &client, Slice name);
    Membership *need_member(Client &client, Slice name);
    Membership *need_operator(Client &client, Slice name);

    /* Sends to each client that shares a channel with (client), once. */
    void send_to_peers(Client &client, const Line &line);
    void set_nick(Client &client, Slice nick);
    void try_welcome(Client &client);
    void motd(Client &client);
    void join_one(Client &client, Slice name, Slice key);
    void leave(Membership &membership);
    void show_topic(Client &client, const Channel &channel);
    void show_names(Client &client, const Channel &channel);
    void send_message(Client &client, const Message &message, Slice command,
                      bool report_errors);
    void refuse_targets(Client &client, Slice target);
    void send_message_to(Client &client, Slice target, Slice text,
                         Slice command, bool report_errors);
    void who_one(Client &client, const Client &seen, const Membership *in);
    void mode_user(Client &client, const Message &message);
    void mode_channel(Client &client, const Message &message);
    bool mode_one(Client &client, Channel &channel, bool set, char letter,
                  Slice parameter, Line &done);
    bool mode_member(Client &client, Channel &channel, bool set, char letter,
                     Slice nick, Line &done);

    /* the commands */
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
    void oper(Client &client, const Message &message);
    void die(Client &client, const Message &message);
    void motd_again(Client &client, const Message &message);
    void lusers(Client &client, const Message &message);

    static constexpr unsigned NICK_BUCKETS = 4096;
    static constexpr unsigned CHANNEL_BUCKETS = 1024;

    Text<63> name_;
    Text<OPER_BYTES> oper_; /* empty = there are no operators */
    bool dying_ = false;
    List<Client, &Client::hook_all> clients_;
    Client::DoomedList doomed_;
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
    unsigned least; /* minimum number of parameters */
    bool early;     /* allowed before registration is complete */
    void (Server::*run)(Client &, const Message &);
};

/* Seconds since 1970 by gettimeofday(), at the cost that clock= implies. */
uint32_t now_s();

} // namespace irc

#endif
