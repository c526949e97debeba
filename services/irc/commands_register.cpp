/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands, and the commands for registration, PING and QUIT.
 */
#include "server.h"

#include "heap.h"
#include "targets.h"

namespace irc
{

// clang-format off
const Server::Command Server::COMMANDS[] = {
    {"CAP",      1, true,  &Server::cap},
    {"DIE",      0, false, &Server::die},
    {"ISON",     1, false, &Server::ison},
    {"JOIN",     1, false, &Server::join},
    {"KICK",     2, false, &Server::kick},
    {"LIST",     0, false, &Server::list},
    {"LUSERS",   0, false, &Server::lusers},
    {"MODE",     1, false, &Server::mode},
    {"MOTD",     0, false, &Server::motd_again},
    {"NAMES",    0, false, &Server::names},
    {"NICK",     0, true,  &Server::nick},
    {"NOTICE",   0, false, &Server::notice},
    {"OPER",     2, false, &Server::oper},
    {"PART",     1, false, &Server::part},
    {"PASS",     1, true,  &Server::pass},
    {"PING",     0, true,  &Server::ping},
    {"PONG",     0, true,  &Server::pong},
    {"PRIVMSG",  0, false, &Server::privmsg},
    {"QUIT",     0, true,  &Server::quit},
    {"TOPIC",    1, false, &Server::topic},
    {"USER",     4, true,  &Server::user},
    {"USERHOST", 1, false, &Server::userhost},
    {"WHO",      0, false, &Server::who},
    {"WHOIS",    0, false, &Server::whois},
};
// clang-format on

const Server::Command *Server::find_command(Slice name)
{
    for (const Command &command : COMMANDS)
        if (command.name.is(name))
            return &command;
    return nullptr;
}

/* There are no capabilities, but clients ask for them. Registration waits for
 * CAP END. */
void Server::cap(Client &client, const Message &message)
{
    Line line(Slice(":"));

    if (message[0].is("END")) {
        client.negotiating = false;
        try_welcome(client);
        return;
    }
    line << name_ << " CAP " << (client.nick().empty() ? "*" : client.nick());
    if (message[0].is("LS") || message[0].is("LIST")) {
        client.negotiating = message[0].is("LS") && !client.registered;
        client.send(line << ' ' << message[0] << " :");
    } else if (message[0].is("REQ")) {
        client.negotiating = !client.registered;
        client.send(line << " NAK :" << message[1]);
    } else {
        send_numeric(client, "410", message[0], "Invalid CAP command");
    }
}

void Server::pass(Client &client, const Message &)
{
    if (client.registered)
        send_numeric(client, "462", "You may not reregister");
}

void Server::nick(Client &client, const Message &message)
{
    Slice wanted = message[0];
    Client *holder = find_client(wanted);

    if (wanted.empty())
        send_numeric(client, "431", "No nickname given");
    else if (!nick_is_fine(wanted))
        send_numeric(client, "432", wanted, "Erroneous nickname");
    else if (holder != nullptr && holder != &client)
        send_numeric(client, "433", wanted, "Nickname is already in use");
    else
        set_nick(client, wanted);
}

void Server::set_nick(Client &client, Slice nick)
{
    if (client.registered) {
        Line line(Slice(":"));

        line << client.prefix() << " NICK :" << nick;
        send_to_peers(client, line);
        client.send(line);
    }
    if (client.hook_nick.linked())
        nicks_.remove(client);
    client.nick_ = Text<NICK_BYTES>(nick);
    nicks_.add(client);
    try_welcome(client);
}

void Server::user(Client &client, const Message &message)
{
    if (client.registered || !client.user().empty()) {
        send_numeric(client, "462", "You may not reregister");
        return;
    }
    client.user_ << '~';
    for (char letter : message[0].first(9))
        client.user_ << (letter == '@' || letter == '!' || is_control(letter)
                             ? '_'
                             : letter);
    for (char letter : message[3])
        client.real_name_ << (is_control(letter) ? '?' : letter);
    try_welcome(client);
}

void Server::try_welcome(Client &client)
{
    if (client.registered || client.negotiating || client.nick().empty() ||
        client.user().empty())
        return;
    client.registered = true;
    client.send(reply(client, "001")
                << ":Welcome to the Internet Relay Network "
                << client.prefix());
    client.send(reply(client, "002") << ":Your host is " << name_
                                     << ", running on Parasite's kernel");
    client.send(reply(client, "003") << ":This server runs from memory");
    client.send(reply(client, "004") << name_ << " parasite i klmnostv");
    client.send(
        reply(client, "005")
        << "CASEMAPPING=rfc1459 CHANTYPES=#& PREFIX=(ov)@+ "
           "CHANMODES=,k,l,mnst NICKLEN="
        << unsigned(NICK_BYTES) << " CHANNELLEN=" << unsigned(CHANNEL_BYTES)
        << " TOPICLEN=300 CHANLIMIT=#&:" << Client::CHANNELS_MAX
        << " MAXTARGETS=" << TARGETS_MAX << " TARGMAX=PRIVMSG:" << TARGETS_MAX
        << ",NOTICE:" << TARGETS_MAX << ",NAMES:" << TARGETS_MAX
        << ",JOIN:,PART:,KICK:1,WHOIS:1,LIST:1"
        << " :are supported by this server");
    lusers(client, Message());
    motd(client);
}

void Server::motd(Client &client)
{
    client.send(reply(client, "375")
                << ":- " << name_ << " Message of the day -");
    client.send(reply(client, "372")
                << ":- You are being profiled. It does not hurt.");
    client.send(reply(client, "376") << ":End of MOTD command");
}

void Server::motd_again(Client &client, const Message &)
{
    motd(client);
}

void Server::lusers(Client &client, const Message &)
{
    client.send(reply(client, "251") << ":There are " << Heap<Client>::live()
                                     << " users and 0 services on 1 server");
    client.send(reply(client, "254") << channel_count_ << " :channels formed");
}

void Server::ping(Client &client, const Message &message)
{
    Line line(Slice(":"));

    if (message[0].empty())
        send_numeric(client, "409", "No origin specified");
    else
        client.send(line << name_ << " PONG " << name_ << " :" << message[0]);
}

/* receive() has recorded that the client answered. */
void Server::pong(Client &, const Message &)
{
}

void Server::quit(Client &client, const Message &message)
{
    Text<200> why(Slice("Quit: "));

    client.quit = true;
    client.doom((why << message[0]).slice());
}

/* Exactly equal; the time does not depend on where they differ. */
static bool same(Slice given, Slice secret)
{
    unsigned different = given.count() != secret.count();

    for (size_t i = 0; i < given.count() && i < secret.count(); i++)
        different |= unsigned(given[i] ^ secret[i]);
    return different == 0;
}

/* The name of the operator does not matter. */
void Server::oper(Client &client, const Message &message)
{
    if (oper_.empty()) {
        send_numeric(client, "491", "No O-lines for your host");
    } else if (!same(message[1], oper_.slice())) {
        send_numeric(client, "464", "Password incorrect");
    } else {
        client.is_operator = true;
        send_numeric(client, "381", "You are now an IRC operator");
    }
}

void Server::die(Client &client, const Message &)
{
    if (!client.is_operator) {
        send_numeric(client, "481",
                     "Permission Denied- You're not an IRC operator");
        return;
    }
    dying_ = true;
    client.doom("Server is shutting down");
}

} // namespace irc
