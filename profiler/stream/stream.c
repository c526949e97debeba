/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The encoder: drained samples become events, events packets, and packets go
 * to the transport.
 *
 * Nothing waits. A transport that refuses a packet is offered it again at the
 * end of each drain; until it takes it, samples are counted as discarded, and
 * the packet after it begins with a START, so that the time of the discarded
 * ones is not given to the next.
 *
 * What must be known to read the rest is repeated, since packets may be lost:
 * a packet in HELLO_PERIOD begins with HELLO and the present rate, and nodes
 * are defined again as interning.h says.
 */

#include "stream/stream.h"

#include "stream/checked.h"
#include "stream/stream_clock.h"
#include "stream/hello.h"
#include "stream/interning.h"
#include "stream/packet.h"
#include "stream/put.h"

#define HELLO_PERIOD 64u      /* packets */
#define PATH_MAX 192u         /* nodes of a stack, more than there can be */
#define FITTING_MAX 3u        /* packets begun for one sample */
#define AGE_MAX PROF_CLOCK_HZ /* a packet that is not full is sent after 1 s */
#define END_ATTEMPTS 8u       /* to send the last packets */
#define HALF_WRAP (1u << (PROF_EVENT_TIME_BITS - 1)) /* of an event's time */

bool prof_stream_is_on;
static struct prof_packet_maker packet;
static struct prof_checked checked;

static struct {
    const struct prof_transport *transport; /* if prof_stream_is_on */
    prof_stream_tree *tree;
    const struct prof_config *config;
    struct prof_stream_clock clock;
    struct prof_packet_label label; /* of the packet in the making */
    struct prof_stream_sums sums;
    struct prof_interning interning;
    uint64_t last;         /* clock of the last event, sent or discarded */
    uint64_t sample_begin; /* clock that the next sample's time begins at */
    uint32_t rate_mhz, depth;
    bool running;
    bool stuck;     /* the transport has refused a packet */
    bool hello_due; /* the next packet begins with HELLO */
    bool gap;       /* something was discarded since the last packet */
} stream;

void prof_stream_open(const struct prof_stream_settings *settings)
{
    const struct prof_config *config = settings->config;

    packet = (struct prof_packet_maker){.text_begin = config->text.begin};
    stream.transport = settings->transport;
    prof_stream_is_on = settings->transport != NULL;
    stream.tree = settings->tree;
    stream.config = config;
    prof_stream_clock_set(&stream.clock, config->boot_tsc, config->tsc_hz);
    stream.label = (struct prof_packet_label){0};
    prof_hello_uuid(config, stream.label.uuid);
    stream.sums = (struct prof_stream_sums){0};
    stream.interning = (struct prof_interning){0};
    stream.last = stream.sample_begin = 0;
    stream.running = stream.stuck = stream.gap = false;
    prof_stream_emitted = settings->losses;
}

static void send(void)
{
    if (packet.bytes == 0)
        prof_packet_close(&packet, &stream.label);
    stream.stuck = !stream.transport->send(packet.data, packet.bytes);
    stream.gap = stream.gap || stream.stuck;
    if (stream.stuck)
        return;
    stream.sums.packets++;
    stream.sums.bytes += packet.bytes;
    stream.label.sequence++;
    prof_packet_clear(&packet);
    prof_checked_clear(&checked);
    prof_interning_sent(&stream.interning, stream.label.sequence, stream.last);
}

static void put_state(uint64_t clock)
{
    if (stream.running)
        prof_packet_put(&packet, PROF_EVENT_START, clock,
                        PROF_FIELDS(start, stream.rate_mhz, stream.depth));
    else
        prof_packet_put(&packet, PROF_EVENT_STOP, clock, PROF_NO_FIELDS);
}

/* A packet's first events, before the one at (clock) that it is begun for. */
static void begin(uint64_t clock)
{
    bool hello = stream.hello_due || stream.label.sequence % HELLO_PERIOD == 0;
    uint64_t at = clock - stream.last > HALF_WRAP ? clock : stream.last;
    bool jump = at - packet.end > HALF_WRAP;

    if (hello)
        prof_hello_put(stream.config, &packet, at);
    if (jump)
        prof_packet_put(&packet, PROF_EVENT_CLOCK, at, PROF_FIELDS(clock, at));
    /* A START must take no time from the next sample. */
    if (stream.gap || (hello && stream.running && at == stream.sample_begin))
        put_state(at);
    stream.gap = stream.hello_due = false;
    stream.last = at;
}

/* Begins a packet, if (bytes) at (clock) need one. False: it is refused. */
static bool make_room(uint64_t clock, uint32_t bytes)
{
    if (!stream.stuck && packet.used != 0 &&
        (clock - stream.last > HALF_WRAP || !prof_packet_fits(&packet, bytes)))
        send();
    if (!stream.stuck && packet.used == 0)
        begin(clock);
    return !stream.stuck;
}

/* The time of (tsc), or of the last event where that was later. */
static uint64_t clock_at(uint64_t tsc)
{
    uint64_t clock = prof_stream_clock_at(&stream.clock, tsc);

    return clock > stream.last ? clock : stream.last;
}

bool prof_stream_put(enum prof_event kind, uint64_t tsc, const void *fields,
                     uint32_t bytes)
{
    uint64_t clock = clock_at(tsc);
    bool room = make_room(clock, prof_packet_event_bytes(kind, bytes));

    if (room)
        prof_packet_put(&packet, kind, clock, fields, bytes);
    stream.last = clock;
    return room;
}

bool prof_stream_soon(uint64_t tsc)
{
    return prof_packet_is_soon(&packet, clock_at(tsc));
}

const struct prof_interning *prof_stream_room(uint64_t tsc, uint32_t bytes,
                                              uint32_t *sequence)
{
    bool room = make_room(clock_at(tsc), bytes);

    *sequence = stream.label.sequence;
    return room ? &stream.interning : NULL;
}

/* The same for an event that is (samples) samples, or none. */
static void put_samples(enum prof_event kind, uint64_t tsc, const void *fields,
                        uint32_t bytes, uint64_t samples)
{
    if (!prof_stream_put(kind, tsc, fields, bytes))
        stream.label.discarded += samples;
    stream.sample_begin = stream.last;
}

void prof_stream_start(uint64_t tsc, uint32_t rate_mhz, uint32_t depth)
{
    if (!prof_stream_on())
        return;
    put_samples(PROF_EVENT_START, tsc, PROF_FIELDS(start, rate_mhz, depth), 0);
    stream.rate_mhz = rate_mhz;
    stream.depth = depth;
    stream.running = true;
    prof_interning_forget(&stream.interning, stream.label.sequence);
    prof_checked_clear(&checked);
}

void prof_stream_hello(void)
{
    if (!prof_stream_on())
        return;
    if (packet.used != 0)
        send();
    stream.hello_due = true;
    prof_interning_forget(&stream.interning, stream.label.sequence);
    prof_checked_clear(&checked);
}

void prof_stream_stop(uint64_t tsc)
{
    if (!prof_stream_on())
        return;
    (void)prof_stream_put(PROF_EVENT_STOP, tsc, PROF_NO_FIELDS);
    stream.running = false;
}

/* Node (node), as events define it, and its (note). False: there is none. */
static bool look_up(uint32_t node, struct prof_packet_node *found,
                    uint32_t **note)
{
    struct prof_stream_node known;

    if (!stream.tree(node, &known))
        return false;
    *found = (struct prof_packet_node){node, known.parent, known.address};
    *note = known.note;
    return true;
}

static bool is_due(uint32_t note)
{
    return prof_interning_due(&stream.interning, stream.label.sequence, note);
}

static void note_defined(uint32_t *note)
{
    *note = prof_interning_defined(stream.label.sequence, *note);
}

/* Defines what is due of (node) and its callers. False: no room for all. */
static bool define_callers(uint32_t node)
{
    struct prof_packet_node known;
    uint32_t path[PATH_MAX], *note;
    uint32_t count = 0;

    while (count < PATH_MAX && !prof_is_checked(&checked, node) &&
           look_up(node, &known, &note)) {
        if (is_due(*note))
            path[count++] = node;
        prof_checked_add(&checked, node);
        node = known.parent;
    }
    while (count-- > 0) {
        if (!prof_packet_fits(&packet, PROF_PACKET_NODE_MAX))
            return false;
        (void)look_up(path[count], &known, &note);
        prof_packet_node(&packet, stream.last, &known);
        note_defined(note);
    }
    return true;
}

/* Puts a sample of (node), and before it the definitions that are due. False:
 * the packet is full. Then all of it begins anew in the next, which may not
 * depend on this one. */
static bool put_defined(uint64_t clock, uint32_t node)
{
    struct prof_packet_node leaf;
    uint32_t *note;

    if (!look_up(node, &leaf, &note) || !is_due(*note)) {
        prof_packet_sample(&packet, clock, node);
        return true;
    }
    if (!define_callers(leaf.parent) ||
        !prof_packet_fits(&packet, PROF_PACKET_LEAF_MAX))
        return false;
    prof_packet_leaf(&packet, clock, &leaf);
    note_defined(note);
    return true;
}

/* put_sample() if all fits and only the leaf is due. False: nothing is done. */
static bool put_leaf(uint64_t clock, uint32_t node)
{
    struct prof_packet_node leaf;
    uint32_t *note;

    if (stream.stuck || packet.used == 0 || clock - stream.last > HALF_WRAP ||
        !prof_packet_fits(&packet, PROF_PACKET_LEAF_MAX) ||
        !look_up(node, &leaf, &note) ||
        !prof_is_checked(&checked, leaf.parent) || !is_due(*note))
        return false;
    prof_packet_leaf(&packet, clock, &leaf);
    note_defined(note);
    return true;
}

/* A sample that begins a packet or has something defined before it. */
static bool put_sample(uint64_t clock, uint32_t node)
{
    if (put_leaf(clock, node))
        return true;
    for (unsigned i = 0; i < FITTING_MAX; i++) {
        if (!make_room(clock, PROF_PACKET_SAMPLE_MAX))
            return false;
        if (put_defined(clock, node))
            return true;
        send();
    }
    return false;
}

void prof_stream_sample(uint64_t tsc, uint32_t node, uint32_t note)
{
    uint64_t clock;

    if (!prof_stream_on())
        return;
    if (node == 0) {
        put_samples(PROF_EVENT_IDLE, tsc, PROF_NO_FIELDS, 1);
        return;
    }
    clock = clock_at(tsc);
    if ((stream.stuck || is_due(note) ||
         !prof_packet_short_sample(&packet, clock, node)) &&
        !put_sample(clock, node))
        stream.label.discarded++;
    stream.last = stream.sample_begin = clock;
}

uint64_t prof_stream_span(uint64_t cycles)
{
    return prof_stream_clock_span(&stream.clock, cycles);
}

void prof_stream_overflow(uint64_t tsc, uintptr_t address, uint32_t samples,
                          uint64_t cycles)
{
    if (prof_stream_on())
        put_samples(
            PROF_EVENT_OVERFLOW, tsc,
            PROF_FIELDS(overflow, address, samples, prof_stream_span(cycles)),
            samples);
}

void prof_stream_drop(uint64_t tsc, uint32_t samples, uint64_t cycles)
{
    if (prof_stream_on())
        put_samples(PROF_EVENT_DROP, tsc,
                    PROF_FIELDS(drop, samples, prof_stream_span(cycles)),
                    samples);
}

void prof_stream_flush(uint64_t tsc)
{
    if (!prof_stream_on())
        return;
    if (stream.stuck)
        send();
    if (!stream.stuck && packet.used != 0 &&
        prof_stream_clock_at(&stream.clock, tsc) > packet.begin + AGE_MAX)
        send();
}

const struct prof_stream_link *prof_stream_link(void)
{
    static struct prof_stream_link link;

    link = (struct prof_stream_link){stream.transport, &stream.clock,
                                     stream.label.uuid, packet.text_begin};
    return prof_stream_on() ? &link : NULL;
}

/* Sends what there is; what is refused, after the device has sent the rest. */
static void send_all(void)
{
    for (unsigned i = 0; i < END_ATTEMPTS && packet.used != 0; i++) {
        send();
        if (i == 0 && stream.stuck && stream.transport->finish != NULL)
            stream.transport->finish();
    }
}

void prof_stream_push(void)
{
    if (prof_stream_on())
        send_all();
}

void prof_stream_discard(uint64_t samples)
{
    stream.label.discarded += samples;
}

void prof_stream_end(uint64_t tsc, uint32_t code)
{
    if (!prof_stream_on())
        return;
    if (!prof_stream_put(PROF_EVENT_BYE, tsc, PROF_FIELDS(bye, code))) {
        send_all();
        (void)prof_stream_put(PROF_EVENT_BYE, tsc, PROF_FIELDS(bye, code));
    }
    if (!stream.stuck)
        send_all();
    if (!stream.stuck && stream.transport->finish != NULL)
        stream.transport->finish();
    prof_stream_is_on = false;
}

void prof_stream_sums(struct prof_stream_sums *sums)
{
    *sums = stream.sums;
    sums->discarded = stream.label.discarded;
}
