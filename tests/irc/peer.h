/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PEER_H
#define PEER_H

/* Clients of the IRC server over the network of fake_net.h, and checks. */

#include "fake_net.h"

#include <cstddef>
#include <cstdio>
#include <string>

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

#endif
