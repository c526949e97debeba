/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An IRC server as a unikernel, in C++ without exceptions, RTTI or a standard
 * library.
 *
 * irc.port=PORT        port to listen on (6667)
 * irc.name=NAME        name of the server (parasite.irc)
 * irc.every=MS         interval of printing connections per second, 0 = never
 *                      (5000)
 * irc.warm=N           reset the profile after N clients have quit (0)
 * irc.connections=N    end after N clients have quit (never)
 * irc.seconds=S        end after S seconds (never)
 * irc.oper=PASSWORD    let those who know it end the server: OPER, then DIE
 *                      (nobody)
 *
 * Clients that end without QUIT do not count: whoever tries whether the server
 * is up, and gives up, is seen here when it no longer matters.
 */

#include "heap.h"
#include "server.h"
#include "virtio_net.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/net.h>
#include <kernel/service.h>
#include <prof/prof.h>

#include <string.h>

static irc::Server server("parasite.irc");
static VirtioNet device;
static loop_timer figures_timer;
static loop_timer end_timer;

static unsigned port = 6667;
static unsigned every_ms = 5000;
static unsigned warm_connections;
static unsigned connections_wanted;
static unsigned seconds_wanted;

static bool number(const char *value, unsigned max, unsigned *out)
{
    char *end;
    unsigned long parsed = strtoul(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end != '\0' || parsed > max)
        return false;
    *out = static_cast<unsigned>(parsed);
    return true;
}

bool service_option(const char *key, const char *value)
{
    static const struct {
        const char *key;
        unsigned max;
        unsigned *out;
    } numbers[] = {
        {"irc.port", 65535, &port},
        {"irc.every", 3600000, &every_ms},
        {"irc.warm", 1000000000, &warm_connections},
        {"irc.connections", 1000000000, &connections_wanted},
        {"irc.seconds", 1000000000, &seconds_wanted},
    };

    for (const auto &each : numbers)
        if (strcmp(key, each.key) == 0)
            return number(value, each.max, each.out);
    if (strcmp(key, "irc.oper") == 0) {
        if (value[0] == '\0' || strlen(value) > irc::Server::OPER_BYTES)
            return false;
        server.set_oper(irc::Slice::of(value));
        return true;
    }
    if (strcmp(key, "irc.name") != 0 || value[0] == '\0')
        return false;
    server.set_name(irc::Slice::of(value));
    return true;
}

static void figures(void *)
{
    static unsigned left_before;
    static uint64_t ns_before;
    uint64_t now_ns = clock_ns();
    unsigned left = server.counts().left;
    uint64_t spent_ms = (now_ns - ns_before) / 1000000 + 1;
    uint64_t thousandths = (left - left_before) * 1000000ull / spent_ms;

    console_line("Conns/sec %u.%03u", unsigned(thousandths / 1000),
                 unsigned(thousandths % 1000));
    left_before = left;
    ns_before = now_ns;
}

static void end(void *)
{
    loop_stop();
}

static bool has_quit(unsigned connections)
{
    return connections != 0 && server.counts().quit >= connections;
}

static bool is_over()
{
    return server.dying() || has_quit(connections_wanted);
}

static bool counts_reached(void *)
{
    return is_over() || has_quit(warm_connections);
}

static void reach_counts(void *)
{
    if (has_quit(warm_connections)) {
        warm_connections = 0;
        prof_reset();
    }
    if (is_over())
        loop_stop();
}

static void print_summary(void)
{
    const irc::Server::Counts &counts = server.counts();

    console_line("irc: %u connections, %u left, %u of them by QUIT, "
                 "%u refused, %u commands",
                 counts.connected, counts.left, counts.quit, counts.refused,
                 counts.lines);
    console_line("irc: now %u clients, %u memberships, %u channels",
                 irc::Heap<irc::Client>::live(),
                 irc::Heap<irc::Membership>::live(),
                 irc::Heap<irc::Channel>::live());
    struct net_stats net = {};
    ::net_stats(&net);
    console_line("net: %llu frames in, %llu out, %llu kicks, %llu interrupts",
                 static_cast<unsigned long long>(net.frames_in),
                 static_cast<unsigned long long>(net.frames_out),
                 static_cast<unsigned long long>(net.kicks),
                 static_cast<unsigned long long>(net.interrupts));
    console_line("net: dropped %llu in, %llu out; %u times no memory, %llu "
                 "damaged",
                 static_cast<unsigned long long>(net.dropped_in),
                 static_cast<unsigned long long>(net.dropped_out), net.refusals,
                 static_cast<unsigned long long>(net.damaged_in));
    console_line("net: now %u connections, %u closing, %u pcbs (%u waiting), "
                 "%u segments, %u buffers",
                 net.connections, net.closing, net.pcbs, net.pcbs_waiting,
                 net.segments, net.buffers);
}

int service_main(void)
{
    int code = server.start(static_cast<uint16_t>(port));

    if (code != 0) {
        console_line("irc: cannot listen on port %u (%d)", port, code);
        return 1;
    }
    device.attach();
    console_line("irc: port %u", port);
    if (every_ms != 0)
        loop_every(&figures_timer, every_ms * 1000000ull, figures, nullptr);
    if (seconds_wanted != 0)
        loop_once(&end_timer, seconds_wanted * 1000000000ull, end, nullptr);
    if (!net_each_turn(counts_reached, reach_counts, nullptr))
        return 1;
    loop_run();
    print_summary();
    return 0;
}
