/* SPDX-License-Identifier: Apache-2.0 */
/* What one client can do to others is limited. */
#include "irc_tests.h"

namespace
{

/* "first,next,next,..." */
std::string repeated(const std::string &first, const std::string &next,
                     unsigned count)
{
    std::string list = first;

    for (unsigned i = 1; i < count; i++)
        list += "," + next;
    return list;
}

void same_target()
{
    Peer anna("anna"), berta("berta");

    anna.say("PRIVMSG " + repeated("berta", "BERTA", 80) + " :x");
    check(times(berta.conn()->got, "PRIVMSG berta :x") == 1, "sent once");
    berta.hush();
    berta.say("JOIN #a");
    anna.say("JOIN #a");
    berta.hush();
    anna.hush();
    anna.say("NOTICE " + repeated("#a", "#A", 100) + " :x");
    check(times(berta.conn()->got, "NOTICE #a :x") == 1, "sent once");
    anna.say("PRIVMSG ,berta,,berta, :y");
    check(times(berta.conn()->got, "PRIVMSG berta :y") == 1, "sent once");
    check(anna.conn()->got.empty(), "an error for what is only repeated");
    end(anna);
    end(berta);
}

void many_targets()
{
    Peer loud("loud");
    std::vector<Peer> peers;

    loud.say("VERSION");
    for (char letter = 'a'; letter <= 'f'; letter++)
        peers.emplace_back(std::string("peer_") + letter);
    loud.ask("PRIVMSG peer_a,peer_b,peer_a,peer_c,peer_d,peer_e,peer_f :x",
             " 407 loud peer_e :Too many recipients. Only 4 processed");
    for (unsigned i = 0; i < peers.size(); i++)
        check(times(peers[i].conn()->got, "PRIVMSG") == (i < 4),
              "peer " + std::to_string(i));
    loud.hush();
    loud.say("NOTICE peer_a,peer_b,peer_c,peer_d,peer_e :x");
    check(loud.conn()->got.empty(), "a NOTICE was answered");
    check(times(peers[4].conn()->got, "NOTICE") == 0, "a fifth one");
    loud.say("NAMES #1,#2,#3,#4,#5,#6");
    check(times(loud.conn()->got, " 366 ") == 4, "four channels");
    loud.expect(" 407 loud #5 ");
    end(loud);
    for (Peer &peer : peers)
        end(peer);
}

/* Three lines filled the queue of another one, who was disconnected. */
void few_lines()
{
    Peer loud("loud"), other("o");
    std::string targets = repeated("o", "o", 120);

    other.conn()->room = 0;
    for (int i = 0; i < 3; i++)
        loud.say("PRIVMSG " + targets + " :" + std::string(250, 'z'));
    check(other.conn()->open, "disconnected by three lines");
    for (Peer *peer : {&loud, &other})
        end(*peer);
}

/* 500 clients that do not read, with 16 KiB each on average: no more is kept
 * than all queues may have, and who reads is not affected. */
void many_queues()
{
    constexpr unsigned COUNT = 500;
    Peer loud("loud"), reader("reader");
    std::vector<Peer> deaf;

    loud.say("JOIN #a");
    reader.say("JOIN #a");
    for (unsigned i = 0; i < COUNT; i++) {
        deaf.emplace_back("d" + std::to_string(i));
        deaf.back().say("JOIN #a");
        deaf.back().conn()->room = 0;
    }
    reader.conn()->room = std::size_t(1) << 30;
    unsigned lines = 0, open = COUNT;
    while (open > 0 && lines < 200) {
        loud.say("PRIVMSG #a :" + std::string(450, 'z'));
        lines++;
        open = 0;
        for (Peer &peer : deaf)
            open += peer.conn()->open;
    }
    /* 16 MiB by 500 queues: all go long before they have 64 KiB each, which
     * 130 lines would be */
    check(lines > 30 && lines < 90, std::to_string(lines) + " lines");
    check(reader.conn()->open, "who reads is disconnected");
    for (Peer &peer : deaf)
        end(peer);
    Peer slow("slow");
    slow.conn()->room = 0;
    for (unsigned i = 0; i < 60; i++)
        loud.say("PRIVMSG slow :" + std::string(450, 'z'));
    check(slow.conn()->open, "a queue is short when the others have gone");
    for (Peer *peer : {&loud, &reader, &slow})
        end(*peer);
}

void targets_are_announced()
{
    Peer peer;

    peer.say("NICK anna");
    peer.ask("USER u 0 * :Anna", " MAXTARGETS=4 TARGMAX=PRIVMSG:4,NOTICE:4,");
    peer.expect(" :are supported by this server\r\n");
    end(peer);
}

void names_are_plain()
{
    Peer peer, berta("berta");

    peer.say("NICK anna");
    peer.ask("NICK an\x1b[2Jna", " 432 ");
    peer.say("USER a\x1b[b 0 * :A\x1b]0;\x07\x7f z");
    peer.ask("JOIN #a\x1b[2J", " 403 ");
    peer.ask("JOIN #a\x7f", " 403 ");
    peer.ask("JOIN #a\x01", " 403 ");
    berta.ask("WHOIS anna", " 311 berta anna ~a_[b ");
    berta.expect(" * :A?]0;?? z\r\n");
    check(berta.conn()->got.find('\x1b') == std::string::npos, "an escape");
    end(peer);
    end(berta);
}

void operators()
{
    Peer anna("anna");

    anna.ask("OPER anna", " 461 anna OPER ");
    anna.ask("OPER anna secret", " 491 ");
    server.set_oper("secret");
    for (const char *wrong : {"Secret", "secre", "secrets", ":"})
        anna.ask(std::string("OPER anna ") + wrong, " 464 ");
    anna.ask("DIE", " 481 ");
    check(!server.dying(), "anybody ends the server");
    anna.ask("OPER anna secret", " 381 ");
    anna.ask("DIE", "ERROR :Closing Link: 10.0.2.2 (Server is shutting down)");
    check(server.dying(), "an operator does not end the server");
}

void quits_are_counted()
{
    unsigned left = server.counts().left, quit = server.counts().quit;
    Peer anna("anna"), berta("berta"), carla;

    anna.say("QUIT");
    fake::lose(berta.conn(), NET_RESET);
    carla.say("NICK carla");
    end(carla);
    check(server.counts().left - left == 3, "three have left");
    check(server.counts().quit - quit == 1, "one has quit");
}

} // namespace

void test_limits()
{
    run("the same target is sent to once", same_target);
    run("a line has at most four targets", many_targets);
    run("three lines disconnect nobody else", few_lines);
    run("queues do not use up the heap", many_queues);
    run("the limit of targets is announced", targets_are_announced);
    run("names have no control characters", names_are_plain);
    run("only operators end the server", operators);
    run("only those that quit are counted as such", quits_are_counted);
}
