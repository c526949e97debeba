/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

namespace irc
{

static Slice address_only(const char *text)
{
    return Slice::of(text).take_until(':');
}

Client::Client(Server &server, DoomedList &doomed, net_conn *conn,
               uint32_t now_s)
    : heard_s(now_s), signed_on_s(now_s), server_(server), doomed_(doomed),
      conn_(conn)
{
    net_address peer = net_peer(conn);
    char text[NET_ADDRESS_TEXT];

    host_ << address_only(net_address_text(&peer, text));
}

Line Client::prefix() const
{
    Line line;

    line << nick() << '!' << user() << '@' << host();
    return line;
}

void Client::send(const Line &line)
{
    Text<LINE_BYTES + 2> whole;

    if (conn_ == nullptr || choked_)
        return;
    whole << line << "\r\n";
    Slice rest = whole.slice();
    if (queue_.empty())
        rest = rest.without_first(net_write(conn_, rest.begin(), rest.count()));
    if (rest.empty() || queue_.add(rest))
        return;
    choked_ = true;
    doom("SendQ exceeded");
}

void Client::flush()
{
    while (conn_ != nullptr && !queue_.empty()) {
        Slice front = queue_.front();
        size_t taken = net_write(conn_, front.begin(), front.count());

        queue_.remove(taken);
        if (taken < front.count())
            return;
    }
}

void Client::doom(Slice why)
{
    if (doomed())
        return;
    why_ = Text<200>(why);
    doomed_.add(*this);
}

void Client::hang_up()
{
    if (conn_ == nullptr)
        return;
    if (choked_)
        net_abort(conn_);
    else
        net_close(conn_);
    conn_ = nullptr;
}

} // namespace irc
