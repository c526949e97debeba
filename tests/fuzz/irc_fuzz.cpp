/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that say anything to the IRC server, at once and in pieces, go when
 * they like and read when they like. The first byte of each piece chooses who
 * it is and what happens; the second how many bytes there are. The network's
 * contract is held by fake_net, memory by the sanitizers; afterwards nothing
 * may be left.
 */
#include "../irc/fake_net.h"

#include "../../services/irc/heap.h"
#include "../../services/irc/server.h"

#include <cstdlib>

static void act(net_conn *&conn, unsigned what, const std::string &bytes)
{
    if (conn == nullptr || !conn->open) {
        conn = fake::connect();
        conn->room = what & 8 ? 300 : 1 << 20;
        if (what & 4)
            fake::send(conn, "NICK n" + std::to_string(what >> 5) +
                                 "\nUSER u 0 * :u\nJOIN #a\n");
        return;
    }
    if ((what & 31) == 31)
        fake::lose(conn, NET_RESET);
    else if ((what & 31) == 30)
        fake::end(conn);
    else if ((what & 31) == 29)
        fake::give_room(conn, bytes.size() * 16);
    else
        fake::send(conn, bytes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static irc::Server *server;
    net_conn *peers[8] = {};

    if (server == nullptr) {
        server = new irc::Server("fuzz.irc");
        if (server->start(6667) != 0)
            std::abort();
    }
    while (bytes >= 2) {
        unsigned what = data[0];
        size_t count = data[1] < bytes - 2 ? data[1] : bytes - 2;

        act(peers[what >> 5], what,
            std::string(reinterpret_cast<const char *>(data + 2), count));
        data += 2 + count;
        bytes -= 2 + count;
    }
    for (net_conn *conn : peers)
        if (conn != nullptr)
            fake::end(conn);
    fake::forget();
    if (irc::Heap<irc::Client>::live() + irc::Heap<irc::Channel>::live() +
            irc::Heap<irc::Membership>::live() !=
        0)
        std::abort();
    return 0;
}
