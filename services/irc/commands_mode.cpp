/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MODE: k, l, m, n, o, s, t and v for channels, i for users. A request for the
 * list of bans returns an empty list, because clients send it when they join.
 */
#include "server.h"

namespace irc
{

void Server::mode(Client &client, const Message &message)
{
    char first = message[0].empty() ? ' ' : message[0][0];

    if (first == '#' || first == '&')
        mode_channel(client, message);
    else
        mode_user(client, message);
}

void Server::mode_user(Client &client, const Message &message)
{
    bool set = true;

    if (!message[0].is(client.nick())) {
        send_numeric(client, "502", "Cannot change mode for other users");
        return;
    }
    for (char letter : message[1]) {
        if (letter == '+' || letter == '-')
            set = letter == '+';
        else if (letter == 'i')
            client.invisible = set;
        else if (letter != 'w') /* wallops are never sent */
            send_numeric(client, "501", "Unknown MODE flag");
    }
    Line line(Slice(":"));
    if (message.count > 1)
        client.send(line << client.prefix() << " MODE " << client.nick()
                         << (client.invisible ? Slice(" :+i") : Slice(" :-i")));
    else
        client.send(reply(client, "221")
                    << (client.invisible ? Slice("+i") : Slice("+")));
}

/* Appends a changed mode to (done): sign and letter. */
static void note(Line &done, bool set, char letter)
{
    done << (set ? '+' : '-') << letter;
}

bool Server::mode_member(Client &client, Channel &channel, bool set,
                         char letter, Slice nick, Line &done)
{
    Client *other = find_client(nick);
    Membership *theirs = other != nullptr ? channel.find(*other) : nullptr;

    if (theirs == nullptr) {
        client.send(reply(client, "441") << nick << ' ' << channel.name()
                                         << " :They aren't on that channel");
        return false;
    }
    (letter == 'o' ? theirs->is_operator : theirs->has_voice) = set;
    note(done, set, letter);
    return true;
}

static unsigned number(Slice text)
{
    unsigned value = 0;

    for (char digit : text.first(6))
        value = digit >= '0' && digit <= '9'
                    ? value * 10 + unsigned(digit - '0')
                    : value;
    return value;
}

/* Sets one mode; returns whether its parameter is part of the notification. */
bool Server::mode_one(Client &client, Channel &channel, bool set, char letter,
                      Slice parameter, Line &done)
{
    bool *flag = letter == 'm'   ? &channel.moderated
                 : letter == 'n' ? &channel.only_members_speak
                 : letter == 's' ? &channel.secret
                 : letter == 't' ? &channel.operators_topic
                                 : nullptr;

    if (flag != nullptr) {
        *flag = set;
        note(done, set, letter);
        return false;
    }
    if (letter == 'o' || letter == 'v')
        return mode_member(client, channel, set, letter, parameter, done);
    if (letter == 'k' && (!set || !parameter.empty())) {
        channel.key = Text<23>(set ? parameter : Slice());
        note(done, set, letter);
        return set;
    }
    if (letter == 'l' && (!set || number(parameter) > 0)) {
        channel.limit = set ? number(parameter) : 0;
        note(done, set, letter);
        return set;
    }
    client.send(reply(client, "472")
                << letter << " :is unknown mode char to me");
    return false;
}

static bool wants_parameter(char letter, bool set)
{
    return letter == 'o' || letter == 'v' || letter == 'k' ||
           (letter == 'l' && set);
}

void Server::mode_channel(Client &client, const Message &message)
{
    Channel *channel = need_channel(client, message[0]);
    Line done;
    Line parameters;
    unsigned next = 2;
    bool set = true;

    if (channel == nullptr)
        return;
    if (message.count == 1) {
        client.send(reply(client, "324")
                    << channel->name() << ' '
                    << channel->modes(channel->find(client) != nullptr));
        return;
    }
    if (message.count == 2 && (message[1].is("b") || message[1].is("+b"))) {
        send_numeric(client, "368", channel->name(), "End of channel ban list");
        return;
    }
    if (need_operator(client, message[0]) == nullptr)
        return;
    for (char letter : message[1]) {
        if (letter == '+' || letter == '-') {
            set = letter == '+';
            continue;
        }
        Slice parameter =
            wants_parameter(letter, set) ? message[next++] : Slice();
        if (mode_one(client, *channel, set, letter, parameter, done))
            parameters << ' ' << parameter;
    }
    Line line(Slice(":"));
    if (!done.empty())
        channel->send(line << client.prefix() << " MODE " << channel->name()
                           << ' ' << done << parameters);
}

} // namespace irc
