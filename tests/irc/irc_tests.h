/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_TESTS_H
#define IRC_TESTS_H

/* Runs tests of the IRC server, and prints TAP. */

#include "peer.h"

#include "../../services/irc/heap.h"
#include "../../services/irc/server.h"

#include <cstdio>
#include <functional>

inline unsigned number;

inline void run(const char *what, const std::function<void()> &test)
{
    now = what;
    fine = true;
    test();
    check(irc::Heap<irc::Client>::live() == 0, "clients are left");
    check(irc::Heap<irc::Membership>::live() == 0, "memberships are left");
    check(irc::Heap<irc::Channel>::live() == 0, "channels are left");
    fake::forget();
    std::printf("%s %u - irc: %s\n", fine ? "ok" : "not ok", ++number, what);
}

inline int tests_end()
{
    std::printf("1..%u\n", number);
    return 0;
}

#endif
