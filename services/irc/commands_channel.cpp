/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for channels: joining and leaving, members, topics. */
#include "server.h"

#include "heap.h"
#include "targets.h"

namespace irc
{

void Server::join(Client &client, const Message &message)
{
    Slice names = message[0];
    Slice keys = message[1];

    if (names.is("0")) { /* RFC 2812: leave all channels */
        while (Membership *membership = client.memberships.first()) {
            Line line(Slice(":"));

            line << client.prefix() << " PART " << membership->channel.name();
            membership->channel.send(line);
            leave(*membership);
        }
        return;
    }
    while (!names.empty()) {
        Slice name = names.take_until(',');

        join_one(client, name, keys.take_until(','));
    }
}

/* Why (client) may not join, as a numeric; the code is empty if it may. */
struct Refusal {
    Slice code;
    Slice text;
};

static Refusal refusal(const Client &client, Slice name, const Channel *channel,
                       Slice key)
{
    if (!channel_is_fine(name))
        return {"403", "No such channel"};
    if (client.channel_count >= Client::CHANNELS_MAX)
        return {"405", "You have joined too many channels"};
    if (channel == nullptr)
        return {};
    if (channel->limit != 0 && channel->member_count >= channel->limit)
        return {"471", "Cannot join channel (+l)"};
    if (!channel->key.empty() && !channel->key.slice().is(key))
        return {"475", "Cannot join channel (+k)"};
    return {};
}

void Server::join_one(Client &client, Slice name, Slice key)
{
    Channel *channel = find_channel(name);

    if (channel != nullptr && channel->find(client) != nullptr)
        return;
    Refusal no = refusal(client, name, channel, key);
    if (!no.code.empty()) {
        send_numeric(client, no.code, name, no.text);
        return;
    }
    bool first = channel == nullptr;
    if (first)
        channel = Heap<Channel>::make(name);
    Membership *membership =
        channel ? Heap<Membership>::make(client, *channel) : nullptr;
    if (membership == nullptr) {
        if (first && channel != nullptr)
            Heap<Channel>::end(channel);
        send_numeric(client, "437", name, "No memory for that now");
        return;
    }
    if (first) {
        channels_.add(*channel);
        names_.add(*channel);
        channel_count_++;
    }
    membership->is_operator = first;
    client.memberships.add(*membership);
    client.channel_count++;
    channel->memberships.add(*membership);
    channel->member_count++;
    Line line(Slice(":"));
    channel->send(line << client.prefix() << " JOIN " << channel->name());
    if (!channel->topic.empty())
        show_topic(client, *channel);
    show_names(client, *channel);
}

/* Deletes the membership, and the channel if it was the last one. */
void Server::leave(Membership &membership)
{
    Channel &channel = membership.channel;

    membership.client.memberships.remove(membership);
    membership.client.channel_count--;
    channel.memberships.remove(membership);
    channel.member_count--;
    Heap<Membership>::end(&membership);
    if (channel.member_count > 0)
        return;
    channels_.remove(channel);
    names_.remove(channel);
    channel_count_--;
    Heap<Channel>::end(&channel);
}

void Server::part(Client &client, const Message &message)
{
    Slice names = message[0];

    while (!names.empty()) {
        Membership *membership = need_member(client, names.take_until(','));

        if (membership == nullptr)
            continue;
        Line line(Slice(":"));
        line << client.prefix() << " PART " << membership->channel.name();
        if (message.count > 1)
            line << " :" << message[1];
        membership->channel.send(line);
        leave(*membership);
    }
}

void Server::kick(Client &client, const Message &message)
{
    Membership *mine = need_operator(client, message[0]);

    if (mine == nullptr)
        return;
    Channel &channel = mine->channel;
    Client *victim = find_client(message[1]);
    Membership *theirs = victim != nullptr ? channel.find(*victim) : nullptr;
    if (theirs == nullptr) {
        client.send(reply(client, "441") << message[1] << ' ' << channel.name()
                                         << " :They aren't on that channel");
        return;
    }
    Line line(Slice(":"));
    channel.send(line << client.prefix() << " KICK " << channel.name() << ' '
                      << victim->nick() << " :"
                      << (message.count > 2 ? message[2] : client.nick()));
    leave(*theirs);
}

void Server::show_topic(Client &client, const Channel &channel)
{
    if (channel.topic.empty()) {
        send_numeric(client, "331", channel.name(), "No topic is set");
        return;
    }
    send_numeric(client, "332", channel.name(), channel.topic.slice());
    client.send(reply(client, "333")
                << channel.name() << ' ' << channel.topic_by << ' '
                << channel.topic_s);
}

void Server::topic(Client &client, const Message &message)
{
    Channel *channel = need_channel(client, message[0]);

    if (channel == nullptr)
        return;
    if (message.count == 1) {
        show_topic(client, *channel);
        return;
    }
    if ((channel->operators_topic ? need_operator(client, message[0])
                                  : need_member(client, message[0])) == nullptr)
        return;
    channel->topic = Text<300>(message[1]);
    channel->topic_by = Text<NICK_BYTES>(client.nick());
    channel->topic_s = now_s();
    Line line(Slice(":"));
    channel->send(line << client.prefix() << " TOPIC " << channel->name()
                       << " :" << channel->topic);
}

/* Sends as many names per line as fit. */
void Server::show_names(Client &client, const Channel &channel)
{
    Slice kind = channel.secret ? Slice("@ ") : Slice("= ");
    Line head = reply(client, "353") << kind << channel.name() << " :";
    Line line = head;
    bool member = channel.find(client) != nullptr;

    for (Membership &each : channel.memberships) {
        if (!member && (channel.secret || each.client.invisible))
            continue;
        if (line.room() < each.client.nick().count() + 2) {
            client.send(line);
            line = head;
        }
        if (each.is_operator)
            line << '@';
        else if (each.has_voice)
            line << '+';
        line << each.client.nick() << ' ';
    }
    client.send(line);
    send_numeric(client, "366", channel.name(), "End of NAMES list");
}

void Server::names(Client &client, const Message &message)
{
    Slice names = message[0];

    if (names.empty())
        send_numeric(client, "366", "*", "End of NAMES list");
    Targets each(names);
    for (Slice name; each.next(name);) {
        Channel *channel = find_channel(name);

        if (channel != nullptr)
            show_names(client, *channel);
        else
            send_numeric(client, "366", name, "End of NAMES list");
    }
    if (!each.too_many().empty())
        refuse_targets(client, each.too_many());
}

void Server::list(Client &client, const Message &message)
{
    client.send(reply(client, "321") << "Channel :Users  Name");
    for (Channel &channel : channels_) {
        if (channel.secret && channel.find(client) == nullptr)
            continue;
        if (message.count > 0 && !channel.name().is(message[0]))
            continue;
        client.send(reply(client, "322")
                    << channel.name() << ' ' << channel.member_count << " :"
                    << channel.topic);
    }
    send_numeric(client, "323", "End of LIST");
}

} // namespace irc
