/* SPDX-License-Identifier: Apache-2.0 */
#include "channel.h"

namespace irc
{

Membership *Channel::find(const Client &client) const
{
    /* a client is in few channels, a channel may have many clients */
    for (Membership &each : client.memberships)
        if (&each.channel == this)
            return &each;
    return nullptr;
}

void Channel::send(const Line &line, const Client *except) const
{
    for (Membership &each : memberships)
        if (&each.client != except)
            each.client.send(line);
}

bool Channel::lets_speak(const Client &client) const
{
    const Membership *membership = find(client);

    if (membership == nullptr)
        return !only_members_speak && !moderated;
    return !moderated || membership->is_operator || membership->has_voice;
}

Line Channel::modes(bool secrets) const
{
    static constexpr struct {
        char letter;
        bool Channel::*flag;
    } FLAGS[] = {
        {'m', &Channel::moderated},
        {'n', &Channel::only_members_speak},
        {'s', &Channel::secret},
        {'t', &Channel::operators_topic},
    };
    Line line(Slice("+"));

    for (const auto &each : FLAGS)
        if (this->*each.flag)
            line << each.letter;
    if (!key.empty())
        line << 'k';
    if (limit != 0)
        line << 'l';
    if (secrets && !key.empty())
        line << ' ' << key;
    if (secrets && limit != 0)
        line << ' ' << limit;
    return line;
}

} // namespace irc
