/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clients. Each has one connection at a time, and at most three frames on
 * their way: an acknowledgement, the next request, and the last
 * acknowledgement of the connection before. Nothing is lost on the cable, so
 * they never repeat a frame, and count what the service repeats.
 *
 * What causes a frame is what the service has sent; then the frame arrives so
 * long after that. What comes by itself arrives on the clients' clock. The two
 * differ by what the clients have computed in between (arrival()).
 *
 * What they do next is looked for at the end of their work (find_next()), so
 * that the program, which asks for it in each turn, takes no time for it.
 */

#include "frame.h"
#include "load.h"
#include "order.h"

#include "../net/net.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <prof/causal.h>
#include <prof/transport.h>
#include <string.h>

#define NEVER UINT64_MAX
#define ACK_US 3u
#define FIRST_PORT 10000u
#define PORTS 50000u
#define FIRST_US 10000u /* after the start */
#define DUE_MAX 64u     /* requests on their way in one connection */

enum next { NOTHING, SYN, REQUEST, FIN };

/* A frame on its way. */
struct due {
    uint64_t at;    /* by the clients' clock, NEVER: none */
    uint64_t spent; /* of all clients when it was caused; NEVER: it comes by
                       itself */
};

struct load_client {
    struct frame_tcp tcp;
    enum next next;
    struct due next_due, ack, old_ack;
    struct frame_tcp old; /* of the connection before */
    uint8_t old_flags;
    bool busy;            /* it has a session */
    bool leaving;         /* all its requests are sent */
    uint32_t connections; /* so far */
    uint32_t requested, answered;
    uint64_t began;        /* when its session was due */
    uint64_t active_at;    /* when either side last sent something */
    uint64_t due[DUE_MAX]; /* when its requests were, by their number */
    struct load_text text;
};

static struct load_client clients[LOAD_CLIENTS_MAX];
static const struct load_script *const script = &load_script;
static struct frame_ends ends;
static uint32_t requests; /* of a session */
static uint64_t spent;    /* cycles that the clients have computed */
static bool inside;
static uint64_t now; /* inside: by the clients' clock */
static uint64_t cycles_per_us;
static uint64_t next_arrival; /* PARTLY: of a session */
static uint8_t arp[FRAME_ARP];
static struct due arp_due = {NEVER, 0};
static uint64_t first_at;
static uint64_t next_at = NEVER; /* outside of their work */
static bool over;

static struct {
    uint64_t begun, done, failed, requested;
    uint64_t frames_in, frames_out, bytes, strange;
    uint64_t given_up; /* of those that failed: without an answer in time */
    uint32_t in_a_row; /* of those, without a session that went well */
    uint32_t active, most;
    uint64_t first, last;
    uint32_t sum; /* of what was received, in order */
} counts;

struct load_text *load_text(struct load_client *client)
{
    return &client->text;
}

uint32_t load_session(const struct load_client *client)
{
    return client->text.session;
}

/* ---- time */

uint64_t load_now(void)
{
    return inside ? now : arch_tsc() - spent;
}

static uint64_t us(uint64_t count)
{
    return count * cycles_per_us;
}

/* When the client gives up, because the service does not answer. */
static uint64_t patience_ends(const struct load_client *client)
{
    return client->busy && client->next == NOTHING
               ? client->active_at + us(1000) * load_settings.timeout_ms
               : NEVER;
}

static uint64_t soonest(const struct load_client *client)
{
    uint64_t at = client->next_due.at;

    if (client->ack.at < at)
        at = client->ack.at;
    if (client->old_ack.at < at)
        at = client->old_ack.at;
    return patience_ends(client) < at ? patience_ends(client) : at;
}

/* Whatever (client) has done: it has to be called after that. */
static void put_in_order(const struct load_client *client)
{
    load_order_set((uint32_t)(client - clients), soonest(client));
}

/* By the TSC. */
static uint64_t arrival(const struct due *due)
{
    return due->at + (due->spent == NEVER ? spent : due->spent);
}

static struct due caused(uint64_t after)
{
    return (struct due){now + after, spent};
}

/* So long (after) another frame, whenever that is taken. */
static struct due follows(struct due due, uint64_t after)
{
    return (struct due){due.at + after, due.spent};
}

static struct due by_itself(uint64_t at)
{
    return (struct due){at, NEVER};
}

static const struct due none = {NEVER, 0};

/* ---- random durations, which depend on nothing but the seed and numbers */

/* 32 bits (splitmix64). */
static uint32_t random_of(uint32_t stream, uint32_t client, uint32_t number)
{
    uint64_t mixed =
        ((uint64_t)load_settings.seed << 32 ^ (uint64_t)stream << 24 ^ client) *
            0x9e3779b97f4a7c15u +
        (uint64_t)number * 0xd1342543de82ef95u;

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((mixed ^ mixed >> 31) >> 32);
}

/* From half of it to one and a half. */
static uint64_t about(uint32_t mean_us, uint32_t random)
{
    uint64_t cycles = us(mean_us);

    return cycles / 2 + (uint64_t)((cycles >> 8) * random >> 24);
}

/* -log2((random + 1) / 2^32) in 1/65,536, by squaring. */
static uint64_t minus_log2(uint32_t random)
{
    uint64_t number = (uint64_t)random + 1;
    uint32_t whole = 32, part = 0;

    for (; number < (uint64_t)1 << 32; whole--)
        number <<= 1;
    number >>= 1; /* from 2^31 on, below 2^32 */
    for (unsigned bit = 16; bit-- != 0;) {
        number = number * number >> 31;
        if (number >> 32 != 0) {
            number >>= 1;
            part |= 1u << bit;
        }
    }
    return ((uint64_t)32 << 16) - (((uint64_t)whole << 16) + part);
}

/* Exponential, with a mean of (mean) cycles. */
static uint64_t exponential(uint64_t mean, uint32_t random)
{
    return (mean * minus_log2(random) >> 16) * 45426 >> 16; /* ln 2 */
}

static uint64_t trip(struct load_client *client)
{
    return about(load_settings.trip_us,
                 random_of(1, client->text.session, client->requested));
}

/* ---- sessions */

/* All of the clients have given up, one after the other: so will others. */
static bool is_dead(void)
{
    return counts.in_a_row >= 2 * load_settings.clients;
}

static bool more_sessions(void)
{
    return counts.begun < load_settings.sessions && !is_dead();
}

/* OPEN: connections stay until so many requests were made. */
static bool more_requests(void)
{
    return counts.requested < (uint64_t)load_settings.sessions * requests;
}

static void connect(struct load_client *client, uint64_t due, struct due syn)
{
    uint32_t number = (uint32_t)(client - clients);
    uint32_t rounds = PORTS / load_settings.clients;

    client->tcp = (struct frame_tcp){
        .port =
            (uint16_t)(FIRST_PORT + number +
                       client->connections++ % rounds * load_settings.clients),
        .to_send = random_of(3, number, client->connections),
    };
    client->busy = true;
    client->leaving = false;
    client->requested = client->answered = 0;
    client->began = due;
    client->text = (struct load_text){.session = (uint32_t)counts.begun++};
    client->next = SYN;
    client->next_due = syn;
    client->ack = none;
    if (++counts.active > counts.most)
        counts.most = counts.active;
    put_in_order(client);
}

/* (last): the frame of either side that has ended it. */
static void end_session(struct load_client *client, bool well, struct due last)
{
    client->busy = false;
    client->next = NOTHING;
    client->next_due = client->ack = none;
    counts.active--;
    counts.done += well;
    counts.failed += !well;
    if (well)
        counts.in_a_row = 0;
    counts.last = last.at;
    if (well && script->service_ends && load_settings.kind != LOAD_OPEN)
        load_figures_add(last.at - client->began);
    if (load_settings.kind == LOAD_CLOSED && more_sessions()) {
        struct due syn = follows(last, trip(client));

        connect(client, syn.at, syn);
    }
}

/* The last frame of a connection is on its way. */
static void note_last_frame(struct load_client *client, uint8_t flags)
{
    client->old = client->tcp;
    client->old_flags = flags;
    client->old_ack = caused(us(ACK_US));
    client->ack = none;
}

static void fail(struct load_client *client)
{
    note_last_frame(client, FRAME_RST | FRAME_ACK);
    end_session(client, false, caused(0));
}

static void give_up(struct load_client *client)
{
    counts.given_up++;
    counts.in_a_row++;
    fail(client);
}

static uint64_t between(uint64_t count)
{
    return us(1000000) * count / load_settings.rate;
}

/* PARTLY: of sessions that are due by now; one for which there is no client
 * begins late. */
static void begin_sessions(void)
{
    uint32_t number;

    while (next_arrival <= now && more_sessions() && load_order_idle(&number)) {
        connect(&clients[number], next_arrival, by_itself(next_arrival));
        next_arrival +=
            exponential(between(1), random_of(2, 0, (uint32_t)counts.begun));
    }
}

/* Returns when something is sent or given up next, NEVER: nothing. (*client)
 * does it; NULL: a session begins, or it is the frame of ARP. */
static uint64_t find_next(struct load_client **client)
{
    uint32_t number;
    uint64_t at = arp_due.at, first;

    *client = NULL;
    if (next_arrival < at && more_sessions() && load_order_idle(&number))
        at = next_arrival;
    first = load_order_first(&number);
    if (first >= at)
        return at;
    *client = &clients[number];
    return first;
}

static void look(void)
{
    struct load_client *unused;

    next_at = find_next(&unused);
}

uint64_t load_next(void)
{
    return next_at;
}

void load_begin(void)
{
    if (net_settings.dhcp) {
        net_settings.dhcp = false;
        net_settings.ip = 0x0a00020f;
        net_settings.mask = 0xffffff00;
        net_settings.gateway = 0;
    }
    requests =
        load_settings.requests != 0 ? load_settings.requests : script->requests;
    cycles_per_us = clock_tsc_hz() / 1000000;
    ends = (struct frame_ends){
        .service_mac = {0x52, 0x54, 0, 0, 0, 2},
        .service_ip = net_settings.ip,
        .client_ip = (net_settings.ip & net_settings.mask) |
                     ((net_settings.ip & ~net_settings.mask) == 2 ? 3 : 2),
        .service_port = script->port,
    };
    first_at = now = load_now() + us(FIRST_US);
    counts.first = first_at;
    frame_ask(arp, &ends);
    arp_due = by_itself(first_at);
    load_order_begin(load_settings.clients);
    for (uint32_t i = 0; i < LOAD_CLIENTS_MAX; i++) {
        struct load_client *client = &clients[i];

        client->next_due = client->ack = client->old_ack = none;
        if (i < load_settings.clients && more_sessions() &&
            load_settings.kind != LOAD_PARTLY) {
            struct due syn = by_itself(
                first_at + about(load_settings.trip_us, random_of(4, i, 0)));

            connect(client, syn.at, syn);
        }
    }
    next_arrival = load_settings.kind == LOAD_PARTLY ? first_at : NEVER;
    look();
}

/* ---- what a client does next */

static void then(struct load_client *client, enum next next, struct due due)
{
    client->next = next;
    client->next_due = due;
}

static bool is_greeting(uint32_t number)
{
    return number < script->greetings;
}

/* OPEN: the next request, if that has not too many on their way already. */
static void schedule(struct load_client *client, uint64_t from)
{
    uint32_t number = (uint32_t)(client - clients);

    then(
        client, REQUEST,
        by_itself(from + exponential(between(load_settings.clients),
                                     random_of(5, number, client->requested))));
}

static void answered(struct load_client *client)
{
    uint32_t number = client->answered++;

    if (!is_greeting(number) &&
        (!script->service_ends || load_settings.kind == LOAD_OPEN))
        load_figures_add(now - client->due[number % DUE_MAX]);
    if (load_settings.kind == LOAD_OPEN && !is_greeting(client->answered)) {
        if (client->leaving && client->answered == client->requested)
            then(client, FIN, caused(trip(client)));
        else if (!client->leaving && client->next == NOTHING)
            schedule(client,
                     client->requested == script->greetings
                         ? now
                         : client->due[(client->requested - 1) % DUE_MAX]);
        return;
    }
    if (!client->leaving)
        then(client, REQUEST, caused(trip(client)));
    else if (!script->service_ends)
        then(client, FIN, caused(trip(client)));
}

static void receive_answers(struct load_client *client, const char *bytes,
                            size_t count)
{
    while (count != 0 && client->busy) {
        size_t taken = 0;
        enum load_received received =
            script->receive(client, bytes, count, &taken);

        if (received == LOAD_FAILED ||
            (received == LOAD_ANSWER &&
             client->answered == client->requested)) {
            fail(client);
            return;
        }
        if (received == LOAD_ANSWER)
            answered(client);
        bytes += taken;
        count -= taken;
    }
}

static void note(const struct frame_segment *segment)
{
    for (size_t i = 0; i < segment->bytes; i++)
        counts.sum = (counts.sum ^ (uint8_t)segment->payload[i]) * 16777619u;
    counts.bytes += segment->bytes;
}

/* Either the service has closed it, as it should, or both have. */
static void hung_up(struct load_client *client)
{
    bool well = client->leaving;

    if (script->service_ends && well) {
        client->ack = none;
        client->leaving = false; /* quit by request */
        then(client, FIN, caused(trip(client)));
        return;
    }
    note_last_frame(client, FRAME_ACK);
    end_session(client, well && client->next == NOTHING, caused(0));
}

static void receive_segment(struct load_client *client,
                            const struct frame_segment *segment)
{
    if (!frame_takes(&client->tcp, segment)) {
        counts.strange++;
        if (segment->reset)
            end_session(client, false, caused(0));
        return;
    }
    if (!segment->syn && segment->bytes == 0 && !segment->fin)
        return;
    client->active_at = now;
    if (client->ack.at == NEVER)
        client->ack = caused(us(ACK_US));
    note(segment);
    if (segment->syn && load_settings.kind == LOAD_OPEN &&
        script->greetings == 0)
        schedule(client, now);
    else if (segment->syn)
        then(client, REQUEST, caused(trip(client)));
    receive_answers(client, segment->payload, segment->bytes);
    if (segment->fin && client->busy)
        hung_up(client);
}

void load_receive(const uint8_t *frame, size_t bytes)
{
    struct frame_segment segment;
    struct load_client *client;

    counts.frames_out++;
    if (frame_asks(frame, bytes, ends.client_ip)) {
        frame_answer(arp, frame);
        arp_due = caused(us(ACK_US));
        return;
    }
    if (!frame_read(frame, bytes, &segment) || segment.port < FIRST_PORT)
        return;
    client = &clients[(segment.port - FIRST_PORT) % load_settings.clients];
    if (client->tcp.port != segment.port || !client->busy)
        return; /* the last that it sends in an earlier connection */
    receive_segment(client, &segment);
    put_in_order(client);
}

/* ---- frames to the service */

/* Writes what the client sends next. */
static size_t write_request(struct load_client *client, uint8_t *to,
                            uint64_t at)
{
    uint32_t number = client->requested;
    bool greeting = is_greeting(number), last;

    if (load_settings.kind == LOAD_OPEN)
        last = !greeting && !more_requests();
    else
        last = number + 1 == script->greetings + requests;
    if (last && load_settings.kind == LOAD_OPEN && !script->service_ends) {
        client->leaving = true; /* without another request */
        if (client->answered == client->requested)
            then(client, FIN, caused(trip(client)));
        return 0;
    }
    client->due[number % DUE_MAX] = at;
    client->requested++;
    counts.requested += !greeting;
    client->leaving = last;
    if (load_settings.kind == LOAD_OPEN && !greeting && !last &&
        client->requested - client->answered < DUE_MAX)
        schedule(client, at);
    return script->write_request(client, number, last, (char *)to + FRAME_HEAD);
}

static size_t send_next(struct load_client *client, uint8_t *to)
{
    enum next next = client->next;
    const struct due due = client->next_due;
    size_t bytes;

    then(client, NOTHING, none);
    client->ack = none; /* it is in this frame */
    if (next == SYN)
        return frame_build(to, &ends, &client->tcp, FRAME_SYN, 0);
    if (next == REQUEST) {
        bytes = write_request(client, to, due.at);
        return bytes == 0 ? 0
                          : frame_build(to, &ends, &client->tcp,
                                        FRAME_ACK | FRAME_PUSH, bytes);
    }
    bytes = frame_build(to, &ends, &client->tcp, FRAME_ACK | FRAME_FIN, 0);
    if (script->service_ends) /* it has ended before */
        end_session(client, true, due);
    return bytes;
}

/* What (client) has to do at (at), which is now. */
static size_t send_of(struct load_client *client, uint64_t at, uint8_t *to,
                      uint64_t *arrived)
{
    struct due due;

    if (client->old_ack.at == at) {
        *arrived = arrival(&client->old_ack);
        client->old_ack = none;
        return frame_build(to, &ends, &client->old, client->old_flags, 0);
    }
    if (client->ack.at == at) {
        *arrived = arrival(&client->ack);
        client->ack = none;
        return frame_build(to, &ends, &client->tcp, FRAME_ACK, 0);
    }
    if (client->next_due.at == NEVER) {
        give_up(client);
        return 0;
    }
    due = client->next_due;
    *arrived = arrival(&due);
    client->active_at = now;
    return send_next(client, to);
}

/* (*nothing): no more is sent until now. */
static size_t send_due(uint8_t *to, uint64_t *arrived, bool *nothing)
{
    struct load_client *client;
    uint64_t at;
    size_t bytes;

    begin_sessions();
    at = find_next(&client);
    *nothing = at > now;
    if (*nothing)
        return 0;
    if (client == NULL) {
        *arrived = arrival(&arp_due);
        arp_due = none;
        memcpy(to, arp, FRAME_ARP);
        return FRAME_ARP;
    }
    bytes = send_of(client, at, to, arrived);
    put_in_order(client);
    return bytes;
}

size_t load_send(uint8_t *to, uint64_t *arrived)
{
    size_t bytes;
    bool nothing;

    do
        bytes = send_due(to, arrived, &nothing);
    while (bytes == 0 && !nothing);
    counts.frames_in += bytes != 0;
    return bytes;
}

/* ---- the end */

static void end_load(void)
{
    static const char *const kinds[] = {"closed", "open", "partly open"};
    uint64_t took = (counts.last - counts.first) / cycles_per_us;

    over = true;
    console_line("load: %s, %s, %u clients: %llu sessions, %llu failed, at "
                 "most %u at once",
                 script->name, kinds[load_settings.kind],
                 (unsigned)load_settings.clients,
                 (unsigned long long)counts.done,
                 (unsigned long long)counts.failed, (unsigned)counts.most);
    console_line("load: %llu requests in %llu us; the clients' own work, %llu "
                 "us, is in no figure",
                 (unsigned long long)counts.requested, (unsigned long long)took,
                 (unsigned long long)(spent / cycles_per_us));
    if (counts.given_up != 0)
        console_line("load: %llu sessions were given up, without an answer for "
                     "%u ms%s",
                     (unsigned long long)counts.given_up,
                     (unsigned)load_settings.timeout_ms,
                     is_dead() ? ": the service does not answer" : "");
    load_figures_print(script->service_ends && load_settings.kind != LOAD_OPEN
                           ? "session"
                           : "request");
    console_line("load: %llu frames to the service, %llu from it with %llu "
                 "bytes (%08x), %llu not in order",
                 (unsigned long long)counts.frames_in,
                 (unsigned long long)counts.frames_out,
                 (unsigned long long)counts.bytes, (unsigned)counts.sum,
                 (unsigned long long)counts.strange);
    console_line("load: from the first to the last: %llu cycles",
                 (unsigned long long)(arch_tsc() - counts.first));
    loop_stop();
}

static void run_work(void *work)
{
    (*(void (**)(void))work)();
    look();
}

__attribute__((noinline)) void load_work(void (*work)(void))
{
    uint64_t began = arch_tsc(), took;

    now = began - spent;
    inside = true;
    prof_transport_work(run_work, &work);
    inside = false;
    took = arch_tsc() - began;
    spent += took;
    prof_causal_leave_out(took);
    if (counts.active == 0 && !over && load_next() == NEVER)
        end_load();
}
