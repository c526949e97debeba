/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The register of guests: what one sender, by however many lines, can take of
 * it, what is not believed, and how fast RAM is read. Time is what the test
 * says; what would be done with buckets and packets is counted.
 */

#include "../unit.h"

#include "collect/parts.h"
#include "stream_maker.h"

#define BASE_MS 1700000040000 /* a whole minute */
#define GUESTS 100u
#define LIMIT 1024u /* bytes a second */

static struct collector *collector;
static struct collector_source sources[3];
static struct collector_token tokens[2];
static struct made *made;
static int64_t now;
static size_t bucket_count;
static uint64_t kept_packets;

/* ---- the rest of the collector */

int64_t now_ms(void)
{
    return now;
}

int64_t steady_ms(void)
{
    return now;
}

void hand_over(struct collector *of, struct guest_boot *guest,
               const struct rollup_bucket *bucket)
{
    (void)of, (void)guest, (void)bucket;
    ++bucket_count;
}

void raw_take(struct collector *of, struct guest_boot *guest,
              const struct packet *packet)
{
    (void)of, (void)guest, (void)packet;
    ++kept_packets;
}

struct build *builds_find(struct builds *builds,
                          const struct event_hello *hello)
{
    (void)builds, (void)hello;
    return NULL;
}

void builds_leave(struct builds *builds, struct build *build)
{
    (void)builds, (void)build;
}

void build_look(struct build *build, const struct builds *builds,
                int64_t second)
{
    (void)build, (void)builds, (void)second;
}

void guest_name(struct collector *of, struct guest_boot *guest)
{
    (void)of, (void)guest;
}

void captures_leave(struct guest_boot *guest)
{
    (void)guest;
}

void live_note(struct guest_boot *guest, int64_t at)
{
    (void)guest, (void)at;
}

void raw_flush(struct collector *of, struct guest_boot *guest)
{
    (void)of, (void)guest;
}

void readers_leave(struct collector *of, const struct guest_boot *guest)
{
    (void)of, (void)guest;
}

void readers_pass(struct collector *of, struct guest_boot *guest,
                  const void *bytes, size_t count)
{
    (void)of, (void)guest, (void)bytes, (void)count;
}

void state_keep(struct collector *of, const struct guest_boot *guest)
{
    (void)of, (void)guest;
}

void state_restore(struct collector *of, struct guest_boot *guest)
{
    (void)of, (void)guest;
}

void store_batches_send(struct store_batches *batches)
{
    (void)batches;
}

/* ---- a collector of three sources, the first two of one service */

static void begin_guests(void)
{
    now = BASE_MS;
    bucket_count = kept_packets = 0;
    sources[0] = (struct collector_source){COLLECTOR_LISTEN, "a", "unix:a"};
    sources[1] = (struct collector_source){COLLECTOR_TARGET, "a", "unix:b"};
    sources[2] = (struct collector_source){COLLECTOR_LISTEN, NULL, "unix:c"};
    collector = calloc(1, sizeof *collector);
    collector->options = (struct collector_options){
        .sources = sources,
        .source_count = COUNT(sources),
        .bucket_seconds = 60,
        .guests = GUESTS,
        .guest_bytes = LIMIT,
    };
    guests_open(collector);
    made = calloc(1, sizeof *made);
    made->packet_room = 4096;
}

static void end_guests(void)
{
    for (size_t i = 0; i < collector->line_count; ++i)
        free(collector->lines[i]);
    free(collector->lines);
    guests_free(collector);
    free(collector);
    free(made->bytes);
    free(made);
}

FIXTURE(begin_guests, end_guests);

/* They are freed at the end. */
static struct line *new_line(size_t source)
{
    struct line *line = calloc(1, sizeof *line);

    line->handle.file = -1;
    line->collector = collector;
    line->source = &sources[source];
    collector->lines = realloc(collector->lines, (collector->line_count + 1) *
                                                     sizeof(struct line *));
    collector->lines[collector->line_count++] = line;
    return line;
}

/* The packet that was made last comes by (line), of boot (boot). */
static void take_made(struct line *line, unsigned boot)
{
    uint8_t uuid[UUID_BYTES] = {0};
    struct packet packet;
    size_t bytes;
    const uint8_t *at;

    made_flush(made);
    at = made_packet(made, made->sequence - 1, &bytes);
    assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
    memcpy(uuid, &boot, sizeof boot);
    packet.uuid = uuid;
    guests_take(line, &packet);
}

static void take_first(struct line *line, unsigned boot)
{
    memset(made->sequence_of, 0, sizeof made->sequence_of);
    made_sample(made, 1);
    take_made(line, boot);
}

/* One boot by a line of its own. */
static void take_boot(size_t source, const struct collector_token *token,
                      unsigned boot)
{
    struct line *line = new_line(source);

    line->token = token;
    take_first(line, boot);
    guests_leave(line);
}

/* ---- */

TEST(no_packet_after_bye_closes_a_minute)
{
    struct line *line = new_line(0);

    take_first(line, 1);
    made_word(made, PROF_EVENT_BYE, 0);
    take_made(line, 1);
    assert_int_equal(bucket_count, 1);
    for (unsigned i = 0; i < 5; ++i) {
        made_sample(made, 1);
        made_word(made, PROF_EVENT_BYE, 0);
        take_made(line, 1);
    }
    assert_int_equal(bucket_count, 1);
    assert_int_equal(kept_packets, 2);
    assert_int_equal(collector->counters.after_bye, 5);
    assert_int_equal(collector->counters.repeated, 0);
    /* another boot on the same line is another guest */
    take_first(line, 2);
    assert_int_equal(collector->guest_count, 2);
    assert_int_equal(kept_packets, 3);
}

/* docs/serve.md says so: what is in the store 75 s after a minute's begin
 * depends on it. */
TEST(a_minute_is_closed_3_to_10_s_after_its_end)
{
    struct line *line = new_line(0);

    for (unsigned boot = 0; boot < 8; ++boot)
        take_first(line, boot);
    for (unsigned closed = 0; closed < 8; ++closed) {
        guests_tick(collector, BASE_MS + 62999 + 1000 * closed);
        assert_int_equal(bucket_count, closed);
        guests_tick(collector, BASE_MS + 63000 + 1000 * closed);
        assert_int_equal(bucket_count, closed + 1);
    }
}

TEST(a_line_brings_few_boots_in_a_minute)
{
    struct line *line = new_line(0);

    for (unsigned boot = 0; boot < 40; ++boot)
        take_first(line, boot);
    assert_int_equal(collector->guest_count, 16);
    now += 60000;
    for (unsigned boot = 40; boot < 80; ++boot)
        take_first(line, boot);
    assert_int_equal(collector->guest_count, 32);
}

/* Two services send, so each has a share of 25, and 50 are for whoever comes
 * first. */
TEST(one_service_does_not_take_all_places)
{
    for (unsigned boot = 0; boot < 200; ++boot) {
        take_boot(boot % 2, NULL, boot);
        now += 10000;
    }
    assert_int_equal(collector->guest_count, 75);
    assert_int_equal(collector->counters.refused_for_share, 125);
    for (unsigned boot = 200; boot < 240; ++boot)
        take_boot(2, NULL, boot);
    assert_int_equal(collector->guest_count, GUESTS);
}

TEST(lines_anew_bring_no_more_boots_in_a_minute)
{
    for (unsigned boot = 0; boot < 70; ++boot)
        take_boot(0, NULL, boot);
    assert_int_equal(collector->guest_count, GUESTS / 2);
    now += 60000;
    for (unsigned boot = 70; boot < 90; ++boot)
        take_boot(1, NULL, boot);
    assert_int_equal(collector->guest_count, GUESTS / 2 + 20);
}

/* With tokens each of them is a sender, and so are the two services. */
TEST(one_token_does_not_take_all_places)
{
    collector->options.tokens = tokens;
    collector->options.token_count = COUNT(tokens);
    free(collector->owners);
    collector->sender_count = 0;
    guests_open(collector);
    assert_int_equal(collector->sender_count, 4);
    for (unsigned boot = 0; boot < 200; ++boot) {
        take_boot(0, &tokens[0], boot);
        now += 10000;
    }
    assert_int_equal(collector->guest_count, 64); /* 100 - 3 * 12 */
    for (unsigned boot = 200; boot < 240; ++boot)
        take_boot(2, &tokens[1], boot);
    assert_int_equal(collector->guest_count, 64 + 12);
    for (unsigned boot = 300; boot < 340; ++boot)
        take_boot(2, NULL, boot);
    assert_int_equal(collector->guest_count, 64 + 24);
}

TEST(places_of_guests_that_are_forgotten_are_free_again)
{
    for (unsigned boot = 0; boot < 50; ++boot)
        take_boot(0, NULL, boot);
    now += 700 * 1000;
    guests_tick(collector, now);
    assert_int_equal(collector->guest_count, 0);
    for (unsigned boot = 0; boot < 50; ++boot)
        take_boot(0, NULL, boot);
    assert_int_equal(collector->guest_count, 50);
}

TEST(two_lines_of_one_guest_are_noticed)
{
    struct line *one = new_line(0), *other = new_line(0);

    take_first(one, 1);
    made_sample(made, 1);
    take_made(other, 1); /* it has connected again */
    assert_int_equal(collector->counters.moves, 1);
    guests_leave(one);
    made_sample(made, 1);
    take_made(other, 1);
    assert_int_equal(collector->counters.moves, 1);
    for (unsigned i = 0; i < 4; ++i) {
        made_sample(made, 1);
        take_made(i % 2 == 0 ? one : other, 1);
    }
    assert_int_equal(collector->counters.moves, 5);
    assert_int_equal(collector->guests[0]->moves, 5);
    assert_int_equal(collector->moves_said, now / 60000);
}

TEST(what_a_socket_sends_too_fast_is_lost)
{
    struct line *line = new_line(0);
    uint64_t bytes;

    take_first(line, 1);
    bytes = collector->counters.packet_bytes;
    for (unsigned i = 1; i < 2 * LIMIT / bytes; ++i) {
        made_sample(made, 1);
        take_made(line, 1);
    }
    assert_int_equal(kept_packets, LIMIT / bytes);
    assert_true(collector->counters.excess_packets > 0);
}

TEST(what_is_in_ram_waits)
{
    struct line *line = new_line(0);
    uint64_t bytes;

    line->ram = true;
    line->backlog = 4 * LIMIT;
    assert_int_equal(guests_allowance(line), 5 * LIMIT);
    take_first(line, 1);
    bytes = collector->counters.packet_bytes;
    for (unsigned i = 1; guests_allowance(line) > 0; ++i) {
        made_sample(made, 1);
        take_made(line, 1);
        assert_true(i < 5 * LIMIT / bytes + 1);
    }
    assert_int_equal(kept_packets, 5 * LIMIT / bytes + 1);
    assert_int_equal(collector->counters.excess_packets, 0);
    now += 1000;
    assert_int_equal(guests_allowance(line), LIMIT);
}
