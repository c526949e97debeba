/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IRC server's answers, asked over a network of memory. Built with ASan
 * and UBSan at both widths by hosted.py. Prints TAP.
 */
#include "irc_tests.h"

irc::Server server("test.irc");

namespace
{

void registration()
{
    Peer peer;

    peer.ask("JOIN #a", " 451 * :You have not registered");
    peer.ask("NICK 9bad", " 432 * 9bad :");
    peer.ask("NICK", " 431 ");
    peer.ask("USER u", " 461 * USER :");
    peer.ask("NICK anna", "");
    peer.expect_not(" 001 ");
    peer.ask("USER u 0 * :Anna", ":test.irc 001 anna :Welcome");
    for (const char *code : {"002", "003", "004", "005", "375", "372", "376"})
        peer.expect(std::string(":test.irc ") + code + " anna ");
    peer.ask("USER u 0 * :Anna", " 462 ");
    peer.ask("FOO", " 421 anna FOO :Unknown command");
    peer.ask(":anna PING :x y", ":test.irc PONG test.irc :x y\r\n");
    peer.ask("ping", " 409 ");
    end(peer);
    peer.expect("ERROR :Closing Link: 10.0.2.2 (Connection closed)");
}

void capabilities()
{
    Peer peer;

    peer.ask("CAP LS 302", ":test.irc CAP * LS :\r\n");
    peer.say("NICK anna");
    peer.say("USER u 0 * :Anna");
    peer.ask("CAP REQ :multi-prefix", "CAP anna NAK :multi-prefix");
    peer.expect_not(" 001 ");
    peer.ask("CAP END", " 001 anna ");
    end(peer);
}

void collisions()
{
    Peer anna("Anna[]");
    Peer other;

    other.ask("NICK aNNA{}", " 433 * aNNA{} :Nickname is already in use");
    other.ask("NICK berta", "");
    other.say("USER u 0 * :B");
    other.ask("NICK anna[}", " 433 berta ");
    anna.ask("NICK ANNA[]", ":Anna[]!~u@10.0.2.2 NICK :ANNA[]");
    anna.say("NICK carla");
    other.ask("NICK Anna[]", "NICK :Anna[]");
    end(anna);
    end(other);
}

void talking()
{
    Peer anna("anna"), berta("berta"), carla("carla");

    anna.ask("JOIN #room", ":anna!~u@10.0.2.2 JOIN #room\r\n");
    anna.expect(" 353 anna = #room :@anna ");
    anna.expect(" 366 anna #room ");
    berta.ask("JOIN #ROOM,#two", ":berta!~u@10.0.2.2 JOIN #room\r\n");
    berta.expect("@anna");
    anna.expect(":berta!~u@10.0.2.2 JOIN #room\r\n");
    anna.hush();
    berta.ask("PRIVMSG #room :hello  all", "");
    anna.expect(":berta!~u@10.0.2.2 PRIVMSG #room :hello  all\r\n");
    berta.expect_not("PRIVMSG");
    carla.ask("PRIVMSG #room :x", " 404 carla #room ");
    carla.ask("PRIVMSG nobody :x", " 401 carla nobody ");
    carla.ask("PRIVMSG", " 411 ");
    carla.ask("PRIVMSG anna", " 412 ");
    carla.hush();
    carla.say("NOTICE nobody :x");
    carla.say("NOTICE #room :x");
    carla.say("NOTICE");
    check(carla.conn()->got.empty(), "a NOTICE was answered");
    carla.say("PRIVMSG anna,berta :both");
    anna.expect(":carla!~u@10.0.2.2 PRIVMSG anna :both");
    berta.expect(":carla!~u@10.0.2.2 PRIVMSG berta :both");
    berta.ask("PART #room :tired", "PART #room :tired");
    anna.expect(":berta!~u@10.0.2.2 PART #room :tired");
    berta.ask("PART #room", " 442 berta #room ");
    berta.ask("PART #none", " 403 berta #none ");
    berta.ask("JOIN 0", "PART #two");
    for (Peer *peer : {&anna, &berta, &carla})
        end(*peer);
}

void topics_and_modes()
{
    Peer anna("anna"), berta("berta");

    anna.say("JOIN #a");
    berta.say("JOIN #a");
    berta.ask("TOPIC #a :mine", " 482 berta #a ");
    anna.ask("TOPIC #a :about us", ":anna!~u@10.0.2.2 TOPIC #a :about us");
    berta.ask("TOPIC #a", " 332 berta #a :about us");
    anna.ask("MODE #a", " 324 anna #a +nt");
    berta.ask("MODE #a b", " 368 berta #a ");
    berta.ask("MODE #a -t", " 482 ");
    anna.ask("MODE #a -t+kl key 2", "MODE #a -t+k+l key 2");
    berta.ask("TOPIC #a :", "TOPIC #a :\r\n");
    berta.ask("TOPIC #a", " 331 ");
    anna.ask("MODE #a", " 324 anna #a +nkl key 2");
    anna.ask("MODE #a +x", " 472 anna x ");
    anna.ask("MODE #a +o nobody", " 441 anna nobody #a ");
    anna.ask("MODE #a +m", "MODE #a +m");
    berta.ask("PRIVMSG #a :x", " 404 ");
    anna.ask("MODE #a +v berta", "MODE #a +v berta");
    anna.hush();
    berta.say("PRIVMSG #a :voiced");
    anna.expect(":voiced");
    Peer carla("carla");
    carla.ask("JOIN #a", " 471 carla #a ");
    anna.say("MODE #a -l");
    carla.ask("JOIN #a wrong", " 475 carla #a ");
    carla.ask("JOIN #a key", "JOIN #a");
    anna.ask("KICK #a carla :out", "KICK #a carla :out");
    carla.expect("KICK #a carla :out");
    anna.ask("KICK #a carla", " 441 ");
    berta.ask("KICK #a anna", " 482 ");
    anna.say("MODE #a -k+s");
    carla.ask("LIST", " 323 ");
    carla.expect_not(" 322 ");
    anna.ask("LIST", " 322 anna #a 2 :");
    anna.ask("MODE anna +i", "MODE anna :+i");
    anna.ask("MODE anna", " 221 anna +i");
    anna.ask("MODE berta +i", " 502 ");
    for (Peer *peer : {&anna, &berta, &carla})
        end(*peer);
}

void questions()
{
    Peer anna("anna"), berta("berta");

    anna.say("JOIN #a");
    berta.ask("WHO #a", " 352 berta #a ~u 10.0.2.2 test.irc anna H@ :0 Real");
    berta.expect(" 315 berta #a ");
    berta.ask("WHOIS anna", " 311 berta anna ~u 10.0.2.2 * :Real Name");
    berta.expect(" 317 berta anna 0 ");
    berta.ask("WHOIS nobody", " 401 ");
    berta.expect(" 318 ");
    berta.ask("USERHOST anna", " 302 berta :anna=+~u@10.0.2.2");
    berta.ask("ISON nobody anna", " 303 berta :anna ");
    berta.ask("NAMES #a", " 353 berta = #a :@anna ");
    berta.ask("LUSERS", ":There are 2 users");
    end(anna);
    end(berta);
}

void quitting()
{
    Peer anna("anna"), berta("berta"), carla("carla");

    for (Peer *peer : {&anna, &berta})
        peer->say("JOIN #a,#b");
    carla.say("JOIN #b");
    for (Peer *peer : {&anna, &berta, &carla})
        peer->hush();
    anna.say("QUIT :bye");
    check(times(berta.conn()->got, "QUIT :Quit: bye") == 1, "sent once");
    check(times(carla.conn()->got, "QUIT :Quit: bye") == 1, "sent once");
    anna.expect("ERROR :Closing Link: 10.0.2.2 (Quit: bye)");
    anna.expect_not(" QUIT ");
    check(!anna.conn()->open && !anna.conn()->reset, "closed in order");
    fake::lose(carla.conn(), NET_RESET);
    berta.expect(":carla!~u@10.0.2.2 QUIT :reset");
    end(berta);
}

void odd_lines()
{
    Peer anna("anna");

    anna.ask("PRIVMSG x :" + std::string(10000, 'x'), " 417 anna :");
    check(times(anna.conn()->got, " 417 ") == 1, "sent once");
    anna.ask("PING :a", "PONG test.irc :a");
    anna.hush();
    anna.raw(std::string("PI\0NG\0 :b\n", 10));
    anna.expect("PONG test.irc :b");
    anna.raw("\r\n\r\n\n  \n:\n: \n");
    anna.hush();
    for (char byte : std::string("PING :slow\r\nPING :two\rPING :three\n"))
        anna.raw(std::string(1, byte));
    for (const char *word : {"slow", "two", "three"})
        anna.expect(std::string("PONG test.irc :") + word);
    std::string exact = "PING :" + std::string(504, 'y');
    anna.ask(exact, "PONG test.irc :yyy");
    check(anna.conn()->got.size() == 512, "a line is cut at 512 bytes");
    anna.ask(exact + "y", " 417 ");
    anna.ask("JOIN " + std::string("#") + std::string(60, 'c'), " 403 ");
    anna.ask("JOIN #a b c d e f g h i j k l m n o p q", "JOIN #a");
    end(anna);
}

void slow_readers()
{
    Peer slow("slow"), loud("loud");
    std::string all;

    loud.say("JOIN #a");
    slow.say("JOIN #a");
    slow.hush();
    slow.conn()->room = 100;
    for (int i = 0; i < 100; i++) {
        loud.say("PRIVMSG #a :number " + std::to_string(i));
        all += ":loud!~u@10.0.2.2 PRIVMSG #a :number " + std::to_string(i) +
               "\r\n";
    }
    check(slow.conn()->got == all.substr(0, 100), "no more than fits");
    while (slow.conn()->got.size() < all.size())
        fake::give_room(slow.conn(), 77);
    check(slow.conn()->got == all, "everything, in order");
    slow.conn()->room = 0;
    loud.hush();
    for (int i = 0; i < 300; i++)
        loud.say("PRIVMSG #a :" + std::string(400, 'z'));
    check(!slow.conn()->open && slow.conn()->reset, "given up");
    loud.expect(":slow!~u@10.0.2.2 QUIT :SendQ exceeded");
    end(loud);
}

void silence()
{
    Peer mute, quiet("quiet"), lively("lively");

    fake::now_s += 31;
    fake::tick();
    mute.expect("(Registration timeout)");
    fake::now_s += 100;
    fake::tick();
    quiet.expect("PING :test.irc");
    lively.ask("PONG x", "");
    fake::now_s += 125;
    fake::tick();
    quiet.expect("(Ping timeout)");
    lively.expect_not("timeout");
    end(lively);
}

void many()
{
    std::vector<Peer> peers;

    for (int i = 0; i < 500; i++) {
        peers.emplace_back("n" + std::to_string(i));
        peers.back().say("JOIN #all");
    }
    check(times(peers.back().conn()->got, " 353 ") >= 5, "names in many lines");
    for (int i = 0; i < 500; i++)
        check(peers.back().got("n" + std::to_string(i) + " ") ||
                  peers.back().got("n" + std::to_string(i) + "!"),
              "n" + std::to_string(i) + " is missing");
    peers[0].say("JOIN #1,#2,#3,#4,#5,#6,#7,#8,#9,#10,#11,#12,#13,#14,#15,#16");
    for (int i = 17; i < 60; i++)
        peers[0].say("JOIN #" + std::to_string(i));
    peers[0].expect(" 405 n0 #50 ");
    for (Peer &peer : peers)
        end(peer);
}

} // namespace

/* Memory that is refused: the linker puts these in malloc's place for what the
 * server was built from. */
static long refuse_at = -1;

extern "C" void *__real_malloc(std::size_t bytes);
extern "C" void *__wrap_malloc(std::size_t bytes)
{
    if (refuse_at >= 0 && refuse_at-- == 0)
        return nullptr;
    return __real_malloc(bytes);
}

static void no_memory()
{
    for (long at = 0; at < 12; at++) {
        refuse_at = at;
        net_conn *conn = fake::connect();

        if (conn == nullptr)
            continue;
        fake::send(conn, "NICK a\nUSER u 0 * :A\nJOIN #a,#b,#c\n");
        conn->room = 0;
        for (int i = 0; i < 40; i++)
            fake::send(conn, "WHOIS a\n");
        refuse_at = -1;
        fake::end(conn);
        check(irc::Heap<irc::Client>::live() == 0, "a client stayed");
    }
    refuse_at = -1;
    Peer after("after");
    after.ask("JOIN #a", " 366 ");
    end(after);
}

int main()
{
    check(server.start(6667) == 0, "start");
    run("a client registers, and errors are reported", registration);
    run("capabilities hold registration back", capabilities);
    run("no two have one nick, whatever its case", collisions);
    run("who is in a channel is heard there", talking);
    run("topics and modes bind", topics_and_modes);
    run("questions are answered", questions);
    run("who quits is missed once", quitting);
    run("lines of any length, and with NULs", odd_lines);
    run("slow readers get all, or have to go", slow_readers);
    run("the silent are asked, and then have to go", silence);
    run("five hundred in one channel", many);
    run("refused memory ends no server", no_memory);
    test_limits();
    std::printf("1..%u\n", number);
    return 0;
}
