/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting, receiving lines and disconnecting. Start reading here; continue
 * with commands_register.cpp and the other commands.
 */
#include "server.h"

#include "heap.h"

#include <sys/time.h>

namespace irc
{

constexpr uint32_t REGISTER_S = 30; /* time limit for NICK and USER */
constexpr uint32_t SILENCE_S = 120; /* idle time before a PING */
constexpr uint64_t SWEEP_NS = 5000000000ull;

uint32_t now_s()
{
    timeval now = {};

    gettimeofday(&now, nullptr);
    return static_cast<uint32_t>(now.tv_sec);
}

static Client &client_of(net_conn *conn)
{
    return *static_cast<Client *>(net_user(conn));
}

bool Server::accept(net_conn *conn, void *context)
{
    Server &server = *static_cast<Server *>(context);
    Client *client = Heap<Client>::make(server, server.doomed_, conn, now_s());

    if (client == nullptr) {
        server.counts_.refused++;
        return false;
    }
    net_set_user(conn, client);
    server.clients_.add(*client);
    server.counts_.connected++;
    return true;
}

void Server::receive(Client &client, Slice bytes)
{
    client.heard_s = now_s();
    client.pinged = false;
    while (!client.doomed()) {
        switch (client.reader_.take(bytes)) {
        case LineReader::LINE:
            handle(client, client.reader_.line());
            break;
        case LineReader::TOO_LONG:
            send_numeric(client, "417", "Input line was too long");
            break;
        case LineReader::NOTHING:
            return;
        }
    }
}

static void room(net_conn *conn)
{
    client_of(conn).flush();
}

int Server::start(uint16_t port)
{
    static net_sites sites = NET_SITES("irc");
    static const net_handlers handlers = {
        .accept = accept,
        .receive =
            [](net_conn *conn, const void *bytes, size_t count) {
                Client &client = client_of(conn);

                client.server_.receive(
                    client, Slice(static_cast<const char *>(bytes), count));
            },
        .ended =
            [](net_conn *conn) {
                Client &client = client_of(conn);

                client.doom("Connection closed");
            },
        .room = room,
        .gone =
            [](net_conn *conn, net_reason reason) {
                Client &client = client_of(conn);

                client.lost();
                client.doom(Slice::of(net_reason_text(reason)));
            },
        .refusal = "ERROR :Closing Link: too many connections from your "
                   "address\r\n",
        .sites = &sites,
        .profiler = false,
    };
    int code = net_start();

    if (code == 0)
        code = net_listen(port, &handlers, this);
    if (code != 0)
        return code;
    if (!net_each_turn(any_doomed, end_doomed, this))
        return NET_EMEMORY;
    loop_every(&sweeper_, SWEEP_NS, sweep, this);
    return 0;
}

void Server::handle(Client &client, Slice line)
{
    Message message;

    if (!message.parse(line))
        return;
    counts_.lines++;
    const Command *command = find_command(message.command);
    if (command == nullptr)
        send_numeric(client, "421", message.command, "Unknown command");
    else if (!client.registered && !command->early)
        send_numeric(client, "451", "You have not registered");
    else if (message.count < command->least)
        send_numeric(client, "461", command->name, "Not enough parameters");
    else
        (this->*command->run)(client, message);
}

bool Server::any_doomed(void *context)
{
    return static_cast<Server *>(context)->doomed_.first() != nullptr;
}

/* Deletes doomed clients; sending to their peers may doom more. */
void Server::end_doomed(void *context)
{
    Server &server = *static_cast<Server *>(context);

    while (Client *client = server.doomed_.first()) {
        if (client->registered) {
            Line line(Slice(":"));
            server.send_to_peers(*client, line << client->prefix()
                                               << " QUIT :" << client->why());
        }
        while (Membership *membership = client->memberships.first())
            server.leave(*membership);
        Line goodbye(Slice("ERROR :Closing Link: "));
        client->send(goodbye << client->host() << " (" << client->why() << ')');
        client->hang_up();
        if (client->hook_nick.linked())
            server.nicks_.remove(*client);
        server.doomed_.remove(*client);
        server.clients_.remove(*client);
        server.counts_.left++;
        server.counts_.quit += client->quit;
        Heap<Client>::end(client);
    }
}

/* Sends PING to idle clients and disconnects those that did not answer. */
void Server::sweep(void *context)
{
    Server &server = *static_cast<Server *>(context);
    uint32_t now = now_s();

    for (Client &client : server.clients_) {
        uint32_t silent_s = now - client.heard_s;

        if (!client.registered && now - client.signed_on_s > REGISTER_S) {
            client.doom("Registration timeout");
        } else if (client.pinged && silent_s > 2 * SILENCE_S) {
            client.doom("Ping timeout");
        } else if (!client.pinged && silent_s > SILENCE_S) {
            Line line(Slice("PING :"));
            client.pinged = true;
            client.send(line << server.name_);
        }
    }
}

Line Server::reply(const Client &client, Slice code) const
{
    Line line(Slice(":"));

    line << name_ << ' ' << code << ' ';
    if (client.nick().empty())
        line << '*';
    return line << client.nick() << ' ';
}

void Server::send_numeric(Client &client, Slice code, Slice text)
{
    client.send(reply(client, code) << ':' << text);
}

void Server::send_numeric(Client &client, Slice code, Slice what, Slice text)
{
    client.send(reply(client, code) << what << " :" << text);
}

Client *Server::find_client(Slice nick) const
{
    return nicks_.find(nick);
}

Channel *Server::find_channel(Slice name) const
{
    return names_.find(name);
}

Channel *Server::need_channel(Client &client, Slice name)
{
    Channel *channel = find_channel(name);

    if (channel == nullptr)
        send_numeric(client, "403", name, "No such channel");
    return channel;
}

Membership *Server::need_member(Client &client, Slice name)
{
    Channel *channel = need_channel(client, name);

    if (channel == nullptr)
        return nullptr;
    Membership *membership = channel->find(client);
    if (membership == nullptr)
        send_numeric(client, "442", name, "You're not on that channel");
    return membership;
}

Membership *Server::need_operator(Client &client, Slice name)
{
    Membership *membership = need_member(client, name);

    if (membership == nullptr || membership->is_operator)
        return membership;
    send_numeric(client, "482", name, "You're not channel operator");
    return nullptr;
}

void Server::send_to_peers(Client &client, const Line &line)
{
    client.visit = ++visit_;
    for (Membership &mine : client.memberships)
        for (Membership &theirs : mine.channel.memberships)
            if (theirs.client.visit != visit_) {
                theirs.client.visit = visit_;
                theirs.client.send(line);
            }
}

} // namespace irc
