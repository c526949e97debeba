/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for messages, and queries about other clients. */
#include "server.h"
#include "targets.h"

namespace irc
{

void Server::refuse_targets(Client &client, Slice target)
{
    client.send(reply(client, "407") << target << " :Too many recipients. Only "
                                     << TARGETS_MAX << " processed");
}

/* A NOTICE is never answered, not even by errors (RFC 1459, section 4.4.2). */
void Server::send_message(Client &client, const Message &message, Slice command,
                          bool report_errors)
{
    Slice targets = message[0];

    if (targets.empty() || message[1].empty()) {
        if (report_errors && targets.empty())
            send_numeric(client, "411", "No recipient given");
        else if (report_errors)
            send_numeric(client, "412", "No text to send");
        return;
    }
    Targets each(targets);
    for (Slice target; each.next(target);)
        send_message_to(client, target, message[1], command, report_errors);
    if (report_errors && !each.too_many().empty())
        refuse_targets(client, each.too_many());
}

void Server::send_message_to(Client &client, Slice target, Slice text,
                             Slice command, bool report_errors)
{
    Channel *channel = find_channel(target);
    Client *other = channel == nullptr ? find_client(target) : nullptr;
    Line line(Slice(":"));

    line << client.prefix() << ' ' << command << ' ' << target << " :" << text;
    if (channel != nullptr && channel->lets_speak(client))
        channel->send(line, &client);
    else if (channel != nullptr && report_errors)
        send_numeric(client, "404", target, "Cannot send to channel");
    else if (other != nullptr)
        other->send(line);
    else if (channel == nullptr && report_errors)
        send_numeric(client, "401", target, "No such nick/channel");
}

void Server::privmsg(Client &client, const Message &message)
{
    send_message(client, message, "PRIVMSG", true);
}

void Server::notice(Client &client, const Message &message)
{
    send_message(client, message, "NOTICE", false);
}

void Server::who_one(Client &client, const Client &seen, const Membership *in)
{
    Line line = reply(client, "352");

    line << (in != nullptr ? in->channel.name() : Slice("*")) << ' '
         << seen.user() << ' ' << seen.host() << ' ' << name_ << ' '
         << seen.nick() << " H";
    if (in != nullptr && in->is_operator)
        line << '@';
    else if (in != nullptr && in->has_voice)
        line << '+';
    client.send(line << " :0 " << seen.real_name());
}

void Server::who(Client &client, const Message &message)
{
    Slice mask = message[0];
    Channel *channel = find_channel(mask);
    Client *other = find_client(mask);

    if (channel != nullptr) {
        bool member = channel->find(client) != nullptr;

        for (Membership &each : channel->memberships)
            if (member || (!channel->secret && !each.client.invisible))
                who_one(client, each.client, &each);
    } else if (other != nullptr) {
        who_one(client, *other, nullptr);
    }
    send_numeric(client, "315", mask.empty() ? Slice("*") : mask,
                 "End of WHO list");
}

void Server::whois(Client &client, const Message &message)
{
    Slice nick = message[message.count > 1 ? 1 : 0];
    Client *other = find_client(nick);
    Line line;

    if (nick.empty()) {
        send_numeric(client, "431", "No nickname given");
        return;
    }
    if (other == nullptr) {
        send_numeric(client, "401", nick, "No such nick/channel");
    } else {
        client.send(reply(client, "311")
                    << other->nick() << ' ' << other->user() << ' '
                    << other->host() << " * :" << other->real_name());
        client.send(reply(client, "312")
                    << other->nick() << ' ' << name_ << " :Parasite");
        client.send(reply(client, "317")
                    << other->nick() << ' ' << now_s() - other->heard_s << ' '
                    << other->signed_on_s << " :seconds idle, signon time");
    }
    send_numeric(client, "318", nick, "End of WHOIS list");
}

void Server::userhost(Client &client, const Message &message)
{
    Line line = reply(client, "302") << ':';

    for (unsigned i = 0; i < message.count && i < 5; i++)
        if (Client *other = find_client(message[i]))
            line << other->nick() << "=+" << other->user() << '@'
                 << other->host() << ' ';
    client.send(line);
}

void Server::ison(Client &client, const Message &message)
{
    Line line = reply(client, "303") << ':';

    for (unsigned i = 0; i < message.count; i++) {
        Slice nicks = message[i];

        while (!nicks.empty())
            if (Client *other = find_client(nicks.take_until(' ')))
                line << other->nick() << ' ';
    }
    client.send(line);
}

} // namespace irc
