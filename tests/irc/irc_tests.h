/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_TESTS_H
#define IRC_TESTS_H

/* Clients of the IRC server over the network of fake_net.h, checks, and tests,
 * which print TAP. */

#include "fake_net.h"

#include "../../services/irc/heap.h"
#include "../../services/irc/server.h"

#include <cstdio>
#include <functional>
#include <string>

extern irc::Server server;

void test_limits(); /* limits.cpp */

/* The test that runs, and whether its checks have held so far. */
inline const char *now;
inline bool fine;

inline void check(bool condition, const std::string &what)
{
    if (condition)
        return;
    std::printf("# %s: %s\n", now, what.c_str());
    fine = false;
}

/* A client and what it has been sent. */
class Peer
{
  public:
    Peer() : conn_(fake::connect())
    {
    }
    explicit Peer(const std::string &nick) : Peer()
    {
        say("NICK " + nick);
        say("USER u 0 * :Real Name");
        expect(" 376 ");
        hush();
    }
    void raw(const std::string &bytes)
    {
        fake::send(conn_, bytes);
    }
    void say(const std::string &line)
    {
        raw(line + "\r\n");
    }
    void hush()
    {
        conn_->got.clear();
    }
    bool got(const std::string &text) const
    {
        return conn_->got.find(text) != std::string::npos;
    }
    void expect(const std::string &text) const
    {
        check(got(text), "wanted '" + text + "', got: " + conn_->got);
    }
    void expect_not(const std::string &text) const
    {
        check(!got(text), "did not want '" + text + "': " + conn_->got);
    }
    /* (line) is answered with (answer), among others. */
    void ask(const std::string &line, const std::string &answer)
    {
        hush();
        say(line);
        expect(answer);
    }
    net_conn *conn()
    {
        return conn_;
    }

  private:
    net_conn *conn_;
};

/* How often (piece) is in (text). */
inline std::size_t times(const std::string &text, const std::string &piece)
{
    std::size_t count = 0;

    for (std::size_t at = text.find(piece); at != std::string::npos;
         at = text.find(piece, at + 1))
        count++;
    return count;
}

/* The peer ends its connection. */
inline void end(Peer &peer)
{
    fake::end(peer.conn());
}

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

#endif
