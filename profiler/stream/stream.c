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

#include "stream/encoder.h"
#include "stream/hello.h"

#define HELLO_PERIOD 64u      /* packets */
#define AGE_MAX PROF_CLOCK_HZ /* a packet that is not full is sent after 1 s */
#define END_ATTEMPTS 8u       /* to send the last packets */

bool prof_stream_is_on;

struct prof_encoder prof_encoder;
static struct prof_encoder *const stream = &prof_encoder;
static struct prof_packet_maker *const packet = &prof_encoder.packet;

void prof_stream_open(const struct prof_stream_settings *settings)
{
    const struct prof_config *config = settings->config;

    *packet = (struct prof_packet_maker){.text_begin = config->text.begin};
    stream->transport = settings->transport;
    prof_stream_is_on = settings->transport != NULL;
    stream->tree = settings->tree;
    stream->config = config;
    prof_stream_clock_set(&stream->clock, config->boot_tsc, config->tsc_hz);
    stream->label = (struct prof_packet_label){0};
    prof_hello_uuid(config, stream->label.uuid);
    stream->sums = (struct prof_stream_sums){0};
    stream->interning = (struct prof_interning){.clocks = PROF_REPEAT_SHORT};
    if (settings->transport != NULL && settings->transport->receive != NULL)
        stream->interning.clocks = PROF_REPEAT_LONG;
    stream->last = stream->sample_begin = 0;
    stream->running = stream->stuck = stream->gap = false;
    prof_stream_emitted = settings->losses;
}

void prof_encoder_send(void)
{
    if (packet->bytes == 0)
        prof_packet_close(packet, &stream->label);
    stream->stuck = !stream->transport->send(packet->data, packet->bytes);
    stream->gap = stream->gap || stream->stuck;
    if (stream->stuck)
        return;
    stream->sums.packets++;
    stream->sums.bytes += packet->bytes;
    stream->label.sequence++;
    prof_packet_clear(packet);
    prof_checked_clear(&stream->checked);
    prof_interning_sent(&stream->interning, stream->label.sequence,
                        stream->last);
}

static void put_state(uint64_t clock)
{
    if (stream->running)
        prof_packet_put(packet, PROF_EVENT_START, clock,
                        PROF_FIELDS(start, stream->rate_mhz, stream->depth));
    else
        prof_packet_put(packet, PROF_EVENT_STOP, clock, PROF_NO_FIELDS);
}

/* A packet's first events, before the one at (clock) that it is begun for. */
static void begin(uint64_t clock)
{
    bool hello =
        stream->hello_due || stream->label.sequence % HELLO_PERIOD == 0;
    uint64_t at = clock - stream->last > PROF_HALF_WRAP ? clock : stream->last;
    bool jump = at - packet->end > PROF_HALF_WRAP;

    if (hello)
        prof_hello_put(stream->config, packet, at);
    if (jump)
        prof_packet_put(packet, PROF_EVENT_CLOCK, at, PROF_FIELDS(clock, at));
    /* A START must take no time from the next sample. */
    if (stream->gap || (hello && stream->running && at == stream->sample_begin))
        put_state(at);
    stream->gap = stream->hello_due = false;
    stream->last = at;
}

bool prof_encoder_make_room(uint64_t clock, uint32_t bytes)
{
    if (!stream->stuck && packet->used != 0 &&
        (clock - stream->last > PROF_HALF_WRAP ||
         !prof_packet_fits(packet, bytes)))
        prof_encoder_send();
    if (!stream->stuck && packet->used == 0)
        begin(clock);
    return !stream->stuck;
}

bool prof_stream_put(enum prof_event kind, uint64_t tsc, const void *fields,
                     uint32_t bytes)
{
    uint64_t clock = prof_encoder_clock(tsc);
    bool room =
        prof_encoder_make_room(clock, prof_packet_event_bytes(kind, bytes));

    if (room)
        prof_packet_put(packet, kind, clock, fields, bytes);
    stream->last = clock;
    return room;
}

bool prof_stream_soon(uint64_t tsc)
{
    return prof_packet_is_soon(packet, prof_encoder_clock(tsc));
}

const struct prof_interning *prof_stream_room(uint64_t tsc, uint32_t bytes,
                                              uint32_t *sequence)
{
    bool room = prof_encoder_make_room(prof_encoder_clock(tsc), bytes);

    *sequence = stream->label.sequence;
    return room ? &stream->interning : NULL;
}

void prof_encoder_put_samples(enum prof_event kind, uint64_t tsc,
                              const void *fields, uint32_t bytes,
                              uint64_t samples)
{
    if (!prof_stream_put(kind, tsc, fields, bytes))
        stream->label.discarded += samples;
    stream->sample_begin = stream->last;
}

void prof_stream_start(uint64_t tsc, uint32_t rate_mhz, uint32_t depth)
{
    if (!prof_stream_on())
        return;
    prof_encoder_put_samples(PROF_EVENT_START, tsc,
                             PROF_FIELDS(start, rate_mhz, depth), 0);
    stream->rate_mhz = rate_mhz;
    stream->depth = depth;
    stream->running = true;
    prof_interning_forget(&stream->interning, stream->label.sequence);
    prof_checked_clear(&stream->checked);
}

void prof_stream_hello(void)
{
    if (!prof_stream_on())
        return;
    if (packet->used != 0)
        prof_encoder_send();
    stream->hello_due = true;
    prof_interning_forget(&stream->interning, stream->label.sequence);
    prof_checked_clear(&stream->checked);
}

void prof_stream_stop(uint64_t tsc)
{
    if (!prof_stream_on())
        return;
    (void)prof_stream_put(PROF_EVENT_STOP, tsc, PROF_NO_FIELDS);
    stream->running = false;
}

uint64_t prof_stream_span(uint64_t cycles)
{
    return prof_stream_clock_span(&stream->clock, cycles);
}

void prof_stream_overflow(uint64_t tsc, uintptr_t address, uint32_t samples,
                          uint64_t cycles)
{
    if (prof_stream_on())
        prof_encoder_put_samples(
            PROF_EVENT_OVERFLOW, tsc,
            PROF_FIELDS(overflow, address, samples, prof_stream_span(cycles)),
            samples);
}

void prof_stream_drop(uint64_t tsc, uint32_t samples, uint64_t cycles)
{
    if (prof_stream_on())
        prof_encoder_put_samples(
            PROF_EVENT_DROP, tsc,
            PROF_FIELDS(drop, samples, prof_stream_span(cycles)), samples);
}

void prof_stream_flush(uint64_t tsc)
{
    if (!prof_stream_on())
        return;
    if (stream->stuck)
        prof_encoder_send();
    if (!stream->stuck && packet->used != 0 &&
        prof_stream_clock_at(&stream->clock, tsc) > packet->begin + AGE_MAX)
        prof_encoder_send();
}

const struct prof_stream_link *prof_stream_link(void)
{
    static struct prof_stream_link link;

    link = (struct prof_stream_link){stream->transport, &stream->clock,
                                     stream->label.uuid, packet->text_begin};
    return prof_stream_on() ? &link : NULL;
}

/* Sends what there is; what is refused, after the device has sent the rest. */
static void send_all(void)
{
    for (unsigned i = 0; i < END_ATTEMPTS && packet->used != 0; i++) {
        prof_encoder_send();
        if (i == 0 && stream->stuck && stream->transport->finish != NULL)
            stream->transport->finish();
    }
}

void prof_stream_push(void)
{
    if (prof_stream_on())
        send_all();
}

void prof_stream_discard(uint64_t samples)
{
    stream->label.discarded += samples;
}

void prof_stream_end(uint64_t tsc, uint32_t code)
{
    if (!prof_stream_on())
        return;
    if (!prof_stream_put(PROF_EVENT_BYE, tsc, PROF_FIELDS(bye, code))) {
        send_all();
        (void)prof_stream_put(PROF_EVENT_BYE, tsc, PROF_FIELDS(bye, code));
    }
    if (!stream->stuck)
        send_all();
    if (!stream->stuck && stream->transport->finish != NULL)
        stream->transport->finish();
    prof_stream_is_on = false;
}

void prof_stream_sums(struct prof_stream_sums *sums)
{
    *sums = stream->sums;
    sums->discarded = stream->label.discarded;
}
