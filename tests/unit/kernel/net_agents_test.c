/* SPDX-License-Identifier: Apache-2.0 */
/* Peers of the network in causal experiments: which frame is due when. Times
 * are of the rules of agents. Virtual time lags more and more: how much a frame
 * does says what is taken for its cause. */

#include "../unit.h"

#include <prof/causal.h>
#include <prof/port.h>

#include "base/cpu.h"

#include "../../../kernel/net/agents.h"
#include "../../../kernel/net/flow.h"
#include "../../../kernel/net/rules.h"

#define FIN 1u
#define SYN 2u
#define RST 4u
#define ACK 16u
#define OURS 0x0a00020fu
#define THEIRS 0x0a000202u
#define PORT 6667u

static bool no_memory;
void *net_port_alloc_zeroed(size_t count, size_t bytes);
void net_port_free(void *piece);

void *net_port_alloc_zeroed(size_t count, size_t bytes)
{
    return no_memory ? NULL : calloc(count, bytes);
}

void net_port_free(void *piece)
{
    free(piece);
}

static uint8_t frame[128];

static void put16(unsigned at, unsigned value)
{
    frame[at] = (uint8_t)(value >> 8);
    frame[at + 1] = (uint8_t)value;
}

/* A segment between (port) of theirs and PORT with (bytes) of payload. */
static size_t tcp(bool out, unsigned port, unsigned flags, unsigned bytes)
{
    memset(frame, 0, sizeof frame);
    put16(12, 0x0800);
    frame[14] = 0x45;
    put16(16, 40 + bytes);
    frame[23] = NET_FLOW_TCP;
    put16(26, (out ? OURS : THEIRS) >> 16);
    put16(28, (out ? OURS : THEIRS) & 0xffff);
    put16(30, (out ? THEIRS : OURS) >> 16);
    put16(32, (out ? THEIRS : OURS) & 0xffff);
    put16(34, out ? PORT : port);
    put16(36, out ? port : PORT);
    frame[46] = 5 << 4;
    frame[47] = (uint8_t)flags;
    return 54 + bytes;
}

TEST(flows_are_read)
{
    struct net_flow flow;
    size_t bytes = tcp(false, 1234, ACK, 7);

    assert_true(net_flow_read(frame, bytes, false, &flow));
    assert_int_equal(flow.ip, THEIRS);
    assert_int_equal(flow.port, 1234);
    assert_int_equal(flow.own, PORT);
    assert_true(flow.data && !flow.begins && !flow.ends && !flow.resets);
    /* a short frame is padded */
    bytes = tcp(true, 1234, SYN | ACK, 0);
    assert_true(net_flow_read(frame, bytes + 6, true, &flow));
    assert_int_equal(flow.ip, THEIRS);
    assert_int_equal(flow.port, 1234);
    assert_true(flow.begins && !flow.data);
    tcp(false, 1, RST, 0);
    assert_true(net_flow_read(frame, bytes, false, &flow));
    assert_true(flow.ends && flow.resets);
    for (size_t less = 0; less < 54; less++) {
        assert_false(net_flow_read(frame, less, false, &flow));
    }
    frame[20] = 0x01; /* a fragment */
    assert_false(net_flow_read(frame, bytes, false, &flow));
    tcp(false, 1, RST, 0);
    frame[23] = 1; /* ICMP */
    assert_false(net_flow_read(frame, bytes, false, &flow));
    frame[13] = 6; /* ARP */
    assert_false(net_flow_read(frame, bytes, false, &flow));
}

/* ---- by which agent a frame is due: the lag of what has caused it */

static PROF_TARGET(target, "target");
static PROF_PROGRESS(point, "point");

/* Lets virtual time lag by some more. */
static void lag(void)
{
    uint64_t begin = prof_tsc();

    prof_target_enter(&target);
    while (prof_tsc() - begin < 1000000)
        continue;
    prof_target_leave(&target);
}

static uint64_t last_due;

static uint64_t lag_now(void)
{
    struct prof_moment now = prof_causal_now();

    return now.real - now.virtual_time;
}

static void begin(const char *rule)
{
    const struct prof_causal_settings settings = {.tsc_hz = 1000000000};

    prof_causal_add_target(&target);
    prof_causal_add_progress(&point);
    assert_true(net_rule_option(rule));
    assert_int_equal(prof_causal_start(&settings), 0);
    assert_int_equal(prof_causal_fix(&target, PROF_ONE / 2), 0);
    lag();
}

static void end(void)
{
    prof_causal_stop();
    net_agents_forget();
    assert_int_equal(net_agents_known(), 0);
}

/* From how much lag to how much: the profiler's calls let it grow a little, as
 * what they take is left out of virtual time. */
struct lags {
    uint64_t least, most;
};

/* What was held until now has been answered. The lag when it is sent. */
static struct lags send(unsigned port, unsigned flags, unsigned bytes)
{
    struct lags lags;

    while (prof_causal_time() <= last_due)
        continue;
    lags.least = lag_now();
    net_agents_queued(frame, tcp(true, port, flags, bytes));
    net_agents_sent();
    lags.most = lag_now();
    return lags;
}

/* By how much less it is held than if it had been caused at the beginning: the
 * lag when it was caused. */
static uint64_t lag_of(unsigned port, unsigned flags, unsigned bytes)
{
    size_t all = tcp(false, port, flags, bytes);
    uint64_t now = prof_causal_now().real;

    last_due = net_agents_due(frame, all, now);
    return now - last_due;
}

static void assert_caused(unsigned port, unsigned flags, unsigned bytes,
                          struct lags when)
{
    assert_in_range(lag_of(port, flags, bytes), when.least, when.most);
}

/* Nothing caused it. Returns the lag when it came. */
static struct lags assert_by_itself(unsigned port, unsigned flags,
                                    unsigned bytes)
{
    struct lags now = {.least = lag_now()};
    uint64_t lag = lag_of(port, flags, bytes);

    now.most = lag_now();
    assert_in_range(lag, now.least, now.most);
    return now;
}

FIXTURE(NULL, end);

TEST(answers_of_a_closed_peer)
{
    struct lags first, second;

    begin("closed");
    (void)assert_by_itself(1, SYN, 0);
    first = send(1, SYN | ACK, 0);
    lag();
    assert_caused(1, ACK, 10, first);
    second = send(1, ACK, 20);
    assert_true(second.least > first.most);
    lag();
    assert_caused(1, ACK, 0, second);
    lag();
    assert_caused(1, ACK, 10, second); /* the packet before */
    (void)assert_by_itself(2, SYN, 0); /* another client */
    assert_int_equal(net_agents_known(), 2);
}

/* The doorbell counts, not when the frame is queued. */
TEST(sent_at_the_doorbell)
{
    struct lags sent;

    begin("closed");
    (void)lag_of(1, SYN, 0);
    net_agents_queued(frame, tcp(true, 1, SYN | ACK, 0));
    net_agents_queued(frame, tcp(true, 1, ACK, 9));
    lag();
    sent.least = lag_now();
    net_agents_sent();
    sent.most = lag_now();
    assert_caused(1, ACK, 10, sent);
}

TEST(a_client_connects_again)
{
    struct lags first, second;

    begin("closed");
    for (unsigned port = 1; port <= 2; port++)
        (void)lag_of(port, SYN, 0);
    first = send(1, ACK | FIN, 0);
    lag();
    second = send(2, ACK | FIN, 0);
    lag();
    (void)lag_of(1, ACK | FIN, 0);
    (void)lag_of(2, ACK | FIN, 0);
    assert_caused(3, SYN, 0, first);
    assert_caused(3, SYN, 0, first); /* again, as it was lost */
    assert_caused(2, SYN, 0, second);
    (void)assert_by_itself(5, SYN, 0);
    assert_int_equal(net_agents_known(), 3);
}

/* They come when the client has another connection, and make no client. */
TEST(last_frames_of_a_connection)
{
    struct lags sent;

    begin("closed");
    (void)lag_of(1, SYN, 0);
    sent = send(1, ACK | FIN, 0);
    lag();
    (void)lag_of(1, ACK | FIN, 0);
    assert_caused(2, SYN, 0, sent);
    (void)send(1, ACK, 0);
    (void)lag_of(1, ACK, 0);
    (void)send(1, RST, 0);
    assert_int_equal(net_agents_known(), 1);
}

/* No peer waits for what acknowledges its end, but for bytes after that. */
TEST(an_end_is_acknowledged)
{
    struct lags sent;

    begin("closed");
    (void)lag_of(1, SYN, 0);
    sent = send(1, ACK | FIN, 0);
    lag();
    assert_caused(1, ACK | FIN, 0, sent);
    lag();
    (void)send(1, ACK, 0);
    lag();
    assert_caused(2, SYN, 0, sent);
    (void)lag_of(2, ACK | FIN, 0);
    lag();
    sent = send(2, ACK, 20);
    lag();
    assert_caused(3, SYN, 0, sent);
}

TEST(requests_of_an_open_peer)
{
    struct lags first, second;

    begin("open:6667");
    first = assert_by_itself(1, SYN, 0);
    lag();
    second = send(1, SYN | ACK, 0);
    lag();
    assert_caused(1, ACK, 10, second); /* after the handshake */
    assert_caused(1, ACK, 10, first);  /* by itself */
    assert_caused(1, ACK, 0, second);  /* TCP's */
    assert_caused(2, SYN, 0, first);
}

TEST(connections_that_come_by_themselves)
{
    struct lags first = {0}, second;

    begin("partly:6667");
    first.least = lag_now();
    (void)lag_of(1, SYN, 0);
    first.most = lag_now();
    lag();
    second = send(1, SYN | ACK, 0);
    lag();
    assert_caused(1, ACK, 10, second);
    assert_caused(1, ACK, 10, second);
    assert_caused(2, SYN, 0, first);
    (void)lag_of(1, ACK | FIN, 0);
    assert_caused(3, SYN, 0, first);
}

/* The oldest that has ended makes room, and those beyond are due at once. */
TEST(too_many_clients)
{
    struct lags sent;

    begin("closed:6667");
    for (unsigned i = 0; i < NET_AGENTS_MAX; i++)
        (void)lag_of(1 + i, SYN, 0);
    assert_int_equal(net_agents_known(), NET_AGENTS_MAX);
    (void)assert_by_itself(9999, SYN, 0);
    assert_int_equal(net_agents_known(), NET_AGENTS_MAX);
    lag();
    (void)assert_by_itself(9999, ACK, 5);
    (void)send(1, RST, 0);
    (void)assert_by_itself(9999, ACK, 5);
    sent = send(9999, ACK, 5);
    lag();
    assert_caused(9999, ACK, 5, sent);
    end();
    no_memory = true;
    begin("closed:6667");
    (void)assert_by_itself(1, SYN, 0);
    (void)send(1, SYN | ACK, 0);
    end();
    no_memory = false;
}

TEST(options_are_read)
{
    static const char *const wrong[] = {
        "",         "shut",   "closed:",   "closed:0",     "open:70000",
        "open:80x", "open:x", "closed 80", "partly:80:80", "closedness",
    };
    char text[16];

    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(net_rule_option(wrong[i]));
    assert_true(net_rule_option("open"));
    assert_int_equal(net_rule_of(1, 2)->kind, NET_PEER_OPEN);
    assert_true(net_rule_option("closed"));
    assert_true(net_rule_option("partly:70"));
    assert_int_equal(net_rule_of(70, 2)->kind, NET_PEER_PARTLY);
    assert_int_equal(net_rule_of(2, 70)->kind, NET_PEER_PARTLY);
    assert_int_equal(net_rule_of(2, 71)->kind, NET_PEER_CLOSED);
    assert_string_equal(net_rule_of(2, 70)->text,
                        "network, port 70: connections come by themselves, "
                        "then peers wait for answers");
    for (unsigned port = 71; net_rule_of(70, 70) != NULL; port++) {
        snprintf(text, sizeof text, "open:%u", port);
        if (!net_rule_option(text))
            break;
        assert_true(port < 70 + 2 * NET_RULES_MAX);
    }
    assert_true(net_rule_option("open:70"));
    assert_int_equal(net_rule_of(70, 2)->kind, NET_PEER_OPEN);
}
