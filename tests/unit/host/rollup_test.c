/* SPDX-License-Identifier: Apache-2.0 */
/* One guest, added up by buckets: the same sums as the model's, whatever comes
 * late, twice, or never; jumps of clocks; and limits. */

#include "../unit.h"

#include "collect/rollup.h"
#include "event_script.h"
#include "trace/model.h"

#define BASE_MS 1700000040000 /* a whole minute */
#define MINUTE_MS 60000
#define GRACE_MS 7000
#define SECOND 10000000u /* clocks */
#define ROWS_MAX 64

static struct made *made;
static struct rollup rollup;

/* What was closed, one for each CPU of a bucket. */
static struct row {
    int64_t begin;
    struct rollup_account account;
    uint64_t cell_samples, cell_clocks;
} rows[ROWS_MAX];
static size_t row_count;
static uint64_t waits_in[ROWS_MAX]; /* of each bucket */
static size_t closed_count;

static void closed(void *owner, const struct rollup_bucket *bucket)
{
    assert_ptr_equal(owner, &rollup);
    assert_true(closed_count < ROWS_MAX);
    waits_in[closed_count] = 0;
    for (uint32_t i = 0; i < rollup.waits.keys.count; ++i)
        waits_in[closed_count] += rollup.waits.sums[i].count;
    ++closed_count;
    for (size_t i = 0; i < bucket->account_count; ++i) {
        struct row *row = &rows[row_count++];

        assert_true(row_count <= ROWS_MAX);
        *row = (struct row){bucket->begin, bucket->accounts[i], 0, 0};
        for (uint32_t j = 0; j < bucket->keys.count; ++j) {
            const struct rollup_cell *cell = &bucket->cells[j];

            if (cell->cpu != row->account.cpu)
                continue;
            row->cell_samples += cell->samples;
            row->cell_clocks += cell->clocks;
        }
        assert_int_equal(row->cell_samples, row->account.attributed);
    }
}

static void begin_rollup(void)
{
    made = calloc(1, sizeof *made);
    made->packet_room = 4096;
    rollup = (struct rollup){.bucket_seconds = 60,
                             .grace_ms = GRACE_MS,
                             .closed = closed,
                             .owner = &rollup};
    row_count = closed_count = 0;
}

static void end_rollup(void)
{
    rollup_free(&rollup);
    free(made->bytes);
    free(made);
}

static struct packet packet_of(unsigned index)
{
    size_t bytes;
    const uint8_t *at = made_packet(made, index, &bytes);
    struct packet packet;

    assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
    return packet;
}

static bool feed_one(unsigned index, int64_t now)
{
    struct packet packet = packet_of(index);

    return rollup_take(&rollup, &packet, now);
}

/* All packets from (first) on but (lost), each when it ends. */
static void feed_from(unsigned first, unsigned lost)
{
    made_flush(made);
    for (unsigned i = first; i < made->sequence; ++i)
        if (i != lost)
            feed_one(i, BASE_MS + (int64_t)(packet_of(i).end / 10000));
}

static void feed(void)
{
    feed_from(0, UINT32_MAX);
}

static void close_all(void)
{
    rollup_close(&rollup, BASE_MS, true);
}

static struct rollup_account sum(void)
{
    struct rollup_account all = {0};

    for (size_t i = 0; i < row_count; ++i) {
        const struct rollup_account *one = &rows[i].account;

        all.attributed += one->attributed;
        all.idle += one->idle;
        all.unresolved += one->unresolved;
        all.dropped += one->dropped;
        all.missed += one->missed;
        all.lost += one->lost;
        all.packets_lost += one->packets_lost;
        all.stolen_clocks += one->stolen_clocks;
    }
    return all;
}

static uint64_t sum_clocks(void)
{
    uint64_t clocks = 0;

    for (size_t i = 0; i < row_count; ++i)
        clocks += rows[i].cell_clocks;
    return clocks;
}

FIXTURE(begin_rollup, end_rollup);

/* Samples at 100 Hz, for (seconds). */
static void put_samples(unsigned seconds)
{
    made->step = SECOND / 100;
    for (unsigned i = 0; i < seconds * 100; ++i)
        made_sample(made, 1 + i % 2);
}

static void put_begin(void)
{
    made_hello(made, 64);
    made_start(made, 100000, 64);
    made_node(made, 1, 0, MADE_TEXT + 0x10);
    made_node(made, 2, 1, MADE_TEXT + 0x20);
}

TEST(samples_are_in_the_minute_that_they_were_taken_in)
{
    put_begin();
    put_samples(150);
    feed();
    close_all();
    assert_int_equal(row_count, 3);
    for (size_t i = 0; i < 3; ++i)
        assert_int_equal(rows[i].begin, BASE_MS / 1000 + 60 * (int64_t)i);
    /* the first is 10 ms after 0, so one of 6,000 is in the next minute */
    assert_int_equal(rows[0].account.attributed, 5999);
    assert_int_equal(rows[1].account.attributed, 6000);
    assert_int_equal(rows[2].account.attributed, 3001);
    assert_int_equal(sum_clocks(), 150u * SECOND);
}

/* Of a task that waits once in each of (seconds). */
static void put_waits(unsigned seconds)
{
    for (unsigned i = 0; i < seconds; ++i) {
        put_samples(1);
        made_script(made, "switch 1; suspend 6");
        made_sample(made, 1);
        made_script(made, "wake 1");
    }
}

TEST(waits_are_in_the_minute_that_they_ended_in)
{
    put_begin();
    made_script(made, "create 1 task site=3");
    put_waits(40);
    put_samples(22);
    put_waits(2); /* both minutes are open */
    feed();
    assert_int_equal(closed_count, 0);
    close_all();
    assert_int_equal(closed_count, 2);
    assert_int_equal(waits_in[0], 40);
    assert_int_equal(waits_in[1], 2);
}

TEST(a_bucket_is_closed_when_its_time_is_over)
{
    put_begin();
    put_samples(30);
    feed();
    rollup_close(&rollup, BASE_MS + MINUTE_MS + GRACE_MS - 1, false);
    assert_int_equal(row_count, 0);
    rollup_close(&rollup, BASE_MS + MINUTE_MS + GRACE_MS, false);
    assert_int_equal(row_count, 1);
    assert_int_equal(rows[0].account.attributed, 3000);
}

TEST(what_comes_for_a_closed_bucket_is_in_the_next)
{
    unsigned half;

    put_begin();
    put_samples(30);
    made_flush(made);
    half = made->sequence;
    put_samples(1);
    feed_from(0, half);
    close_all();
    assert_int_equal(row_count, 1);
    feed_one(half, BASE_MS + 31000);
    close_all();
    assert_int_equal(row_count, 2);
    assert_int_equal(rows[1].begin, rows[0].begin + 60);
    assert_int_equal(sum().attributed, 3100);
}

TEST(sums_are_those_of_the_model)
{
    struct model model = {0};
    struct rollup_account all;

    put_begin();
    made->step = SECOND / 100;
    for (unsigned i = 0; i < 3000; ++i) {
        switch (unit_below(12)) {
        case 0:
            made_bare(made, PROF_EVENT_IDLE);
            break;
        case 1:
            made_script(made, "drop 3 %u", 1 + unit_below(100000));
            break;
        case 2:
            made_script(made, "overflow %u 2 %u", MADE_TEXT + unit_below(64),
                        1 + unit_below(100000));
            break;
        case 3:
            made_script(made, "miss %u", 1 + unit_below(3));
            break;
        case 4:
            made_script(made, "stolen %u", unit_below(50000));
            break;
        default:
            made_sample(made, 1 + unit_below(2));
            break;
        }
        if (unit_below(500) == 0)
            made->discarded += unit_below(5);
    }
    feed();
    close_all();
    for (unsigned i = 0; i < made->sequence; ++i) {
        struct packet packet = packet_of(i);

        model_take(&model, &packet);
    }
    all = sum();
    assert_int_equal(all.attributed,
                     model.stacks.samples + model.overflowed.samples);
    assert_int_equal(sum_clocks(),
                     model.stacks.clocks + model.overflowed.clocks);
    assert_int_equal(all.idle, model.idle.samples);
    assert_int_equal(all.dropped, model.dropped.samples + model.discarded);
    assert_int_equal(all.missed, model.missed_ticks);
    assert_int_equal(all.stolen_clocks, model.stolen_clocks);
    assert_int_equal(all.lost, 0);
    model_free(&model);
}

TEST(a_packet_that_comes_twice_counts_once)
{
    put_begin();
    put_samples(10);
    feed();
    for (unsigned i = 0; i < made->sequence; ++i)
        assert_false(feed_one(i, BASE_MS + 10000));
    close_all();
    assert_int_equal(sum().attributed, 1000);
    assert_int_equal(rollup.repeated, made->sequence);
}

TEST(samples_of_a_missing_packet_are_lost)
{
    struct rollup_account all;

    made->packet_room = 512;
    put_begin();
    put_samples(20);
    made_flush(made);
    assert_true(made->sequence > 4);
    feed_from(0, 2);
    close_all();
    all = sum();
    assert_int_equal(all.packets_lost, 1);
    assert_true(all.lost > 0);
    assert_int_equal(all.attributed + all.lost, 2000);
}

TEST(discarded_samples_are_not_lost_as_well)
{
    struct rollup_account all;

    made->packet_room = 512;
    put_begin();
    put_samples(10);
    made_flush(made);
    ++made->sequence_of[0]; /* a packet that did not come, */
    made->discarded += 200; /* of whose samples the guest knows */
    made->time += 2 * SECOND;
    put_samples(10);
    feed();
    close_all();
    all = sum();
    assert_int_equal(all.dropped, 200);
    assert_int_equal(all.lost, 0);
    assert_int_equal(all.attributed, 2000);
}

TEST(what_was_discarded_before_we_came_is_not_ours)
{
    made->discarded = 77;
    made->sequence_of[0] = 5;
    put_begin();
    put_samples(1);
    feed();
    close_all();
    assert_int_equal(sum().dropped, 0);
    assert_int_equal(sum().lost, 0);
}

TEST(several_cpus_have_accounts_of_their_own)
{
    put_begin();
    put_samples(10);
    made_flush(made);
    made->cpu = 1;
    made->time = SECOND;
    put_samples(5);
    feed();
    close_all();
    assert_int_equal(row_count, 2);
    assert_int_equal(rows[0].account.cpu, 0);
    assert_int_equal(rows[0].account.attributed, 1000);
    assert_int_equal(rows[1].account.cpu, 1);
    assert_int_equal(rows[1].account.attributed, 500);
}

TEST(a_guest_that_was_stopped_for_an_hour_goes_on_now)
{
    int64_t hour = 3600 * 1000;
    unsigned first;

    put_begin();
    put_samples(10);
    made_flush(made);
    feed_from(0, UINT32_MAX);
    first = made->sequence;
    put_samples(10);
    made_flush(made);
    for (unsigned i = first; i < made->sequence; ++i)
        feed_one(i, BASE_MS + hour + (int64_t)(packet_of(i).end / 10000));
    close_all();
    assert_int_equal(row_count, 2);
    assert_int_equal(rows[1].begin, (BASE_MS + hour) / 1000);
    assert_int_equal(sum().attributed, 2000);
}

TEST(a_clock_that_runs_ahead_has_no_bucket_in_the_future)
{
    put_begin();
    put_samples(600);
    made_flush(made);
    for (unsigned i = 0; i < made->sequence; ++i)
        feed_one(i, BASE_MS + 1000 + i);
    close_all();
    for (size_t i = 0; i < row_count; ++i)
        assert_true(rows[i].begin <= BASE_MS / 1000);
    assert_int_equal(sum().attributed, 60000);
}

TEST(a_host_clock_that_goes_back_takes_no_bucket_with_it)
{
    unsigned first;

    put_begin();
    put_samples(10);
    made_flush(made);
    feed_from(0, UINT32_MAX);
    close_all();
    rollup_close(&rollup, BASE_MS - 3600 * 1000, false);
    first = made->sequence;
    put_samples(10);
    made_flush(made);
    for (unsigned i = first; i < made->sequence; ++i)
        feed_one(i, BASE_MS - 3600 * 1000);
    close_all();
    assert_true(row_count > 1);
    for (size_t i = 1; i < row_count; ++i)
        assert_true(rows[i].begin < BASE_MS / 1000 - 3000);
    assert_int_equal(sum().attributed, 2000);
}

TEST(an_open_bucket_is_not_in_the_future_of_a_clock_that_went_back)
{
    unsigned first;

    put_begin();
    put_samples(10);
    made_flush(made);
    feed_from(0, UINT32_MAX);
    first = made->sequence;
    put_samples(10);
    made_flush(made);
    for (unsigned i = first; i < made->sequence; ++i)
        feed_one(i, BASE_MS - 3600 * 1000);
    assert_int_equal(row_count, 1); /* no other call has closed it */
    assert_int_equal(rows[0].begin, BASE_MS / 1000);
    assert_int_equal(rows[0].account.attributed, 1000);
    close_all();
    assert_true(row_count > 1);
    for (size_t i = 1; i < row_count; ++i)
        assert_true(rows[i].begin < BASE_MS / 1000 - 3000);
    assert_int_equal(sum().attributed, 2000);
}

/* Each bucket that is closed begins later than those before. */
static void check_order(void)
{
    for (size_t i = 1; i < row_count; ++i)
        assert_true(rows[i].begin > rows[i - 1].begin);
}

TEST(what_comes_after_bye_is_not_taken)
{
    struct packet skipped;

    put_begin();
    put_samples(10);
    made_word(made, PROF_EVENT_BYE, 0);
    feed();
    close_all();
    assert_int_equal(row_count, 1);
    for (unsigned i = 0; i < 8; ++i) {
        made_sample(made, 1);
        made_word(made, PROF_EVENT_BYE, 0);
        made_flush(made);
        assert_false(feed_one(made->sequence - 1, BASE_MS + 11000));
        close_all();
    }
    made_sample(made, 1);
    made_flush(made);
    skipped = packet_of(made->sequence - 1);
    rollup_skip(&rollup, &skipped, BASE_MS + 12000);
    made->cpu = 1; /* nor of a CPU that was not there before */
    made_sample(made, 1);
    made_flush(made);
    assert_false(feed_one(made->sequence - 1, BASE_MS + 12000));
    close_all();
    assert_int_equal(rollup.after_bye, 9);
    assert_int_equal(row_count, 1);
    assert_int_equal(sum().attributed, 1000);
    /* what came before is only that */
    assert_false(feed_one(0, BASE_MS + 12000));
    assert_int_equal(rollup.repeated, 1);
}

TEST(tables_that_are_emptied_often_close_no_bucket_twice)
{
    unsigned first;

    put_begin();
    for (unsigned i = 0; i < 10; ++i) {
        first = made->sequence;
        put_samples(1);
        feed_from(first, UINT32_MAX);
        rollup_shrink(&rollup, BASE_MS + 1000 * (i + 1));
        assert_int_equal(row_count, 1);
    }
    close_all();
    assert_int_equal(row_count, 2);
    check_order();
    assert_int_equal(sum().attributed, 100);
    assert_int_equal(sum().attributed + sum().unresolved, 1000);
}

TEST(a_guest_that_lies_is_not_believed)
{
    const uint64_t most = 60 * ROLLUP_RATE_MAX;
    uint64_t implausible = 0;
    struct rollup_account all;

    put_begin();
    put_samples(1);
    made_script(made, "drop 18446744073709551615 1; miss 18446744073709551615;"
                      "stolen 18446744073709551615");
    made_script(made, "overflow %u 18446744073709551615 18446744073709551615",
                MADE_TEXT + 0x30);
    made_script(made, "clock 9223372036854775808");
    made_sample(made, 1);
    made->discarded = UINT64_MAX;
    feed();
    close_all();
    all = sum();
    assert_true(all.attributed + all.dropped <= 2 * most);
    assert_int_equal(all.missed, most);
    assert_true(all.stolen_clocks <= 120u * SECOND);
    assert_true(sum_clocks() <= 240u * SECOND);
    for (size_t i = 0; i < row_count; ++i)
        implausible += rows[i].account.implausible;
    assert_true(implausible >= 4);
}

TEST(what_is_lost_is_no_more_than_can_be)
{
    put_begin();
    put_samples(1);
    made_flush(made);
    ++made->sequence_of[0];
    made_script(made, "clock 9223372036854775808");
    made_sample(made, 1);
    feed();
    close_all();
    assert_int_equal(sum().packets_lost, 1);
    assert_int_equal(sum().lost, 60 * ROLLUP_RATE_MAX);
}

TEST(packets_that_are_not_read_are_lost_though_none_follows)
{
    unsigned half;

    made->packet_room = 512;
    put_begin();
    put_samples(10);
    made_flush(made);
    half = made->sequence;
    put_samples(10);
    made_flush(made);
    assert_true(made->sequence > half + 1);
    for (unsigned i = 0; i < made->sequence; ++i) {
        struct packet packet = packet_of(i);
        int64_t now = BASE_MS + (int64_t)(packet.end / 10000);

        if (i < half)
            assert_true(rollup_take(&rollup, &packet, now));
        else
            rollup_skip(&rollup, &packet, now);
    }
    close_all();
    close_all();
    assert_int_equal(sum().packets_lost, made->sequence - half);
    assert_int_equal(sum().attributed, 1000);
    assert_int_equal(sum().lost, 1000);
}

TEST(nodes_beyond_the_limit_are_unresolved)
{
    put_begin();
    made->step = SECOND / 100;
    made_node(made, ROLLUP_NODES_MAX, 0, MADE_TEXT + 1);
    made_node(made, 1u << 30, 0, MADE_TEXT + 1);
    made_node(made, UINT32_MAX, 0, MADE_TEXT + 1);
    made_sample(made, 1u << 30);
    made_sample(made, UINT32_MAX);
    made_sample(made, 0);
    made_sample(made, 1);
    feed();
    close_all();
    assert_int_equal(sum().unresolved, 3);
    assert_int_equal(sum().attributed, 1);
    assert_true(rollup_bytes(&rollup) < 100000);
}

TEST(a_node_beyond_the_limit_is_not_an_address_without_callers)
{
    put_begin();
    made->step = SECOND / 100;
    made_script(made, "overflow %u 2 100", MADE_TEXT + 0x30);
    made_sample(made, ROLLUP_NODES_MAX);
    feed();
    close_all();
    assert_int_equal(sum().attributed, 2);
    assert_int_equal(sum().unresolved, 1);
}

TEST(cells_beyond_the_limit_are_unresolved)
{
    put_begin();
    made->step = 100;
    for (uint32_t i = 0; i < ROLLUP_CELLS_MAX + 100; ++i)
        made_sample(made, 1 + i);
    feed();
    close_all();
    assert_int_equal(sum().unresolved, 100);
    assert_int_equal(sum().attributed, ROLLUP_CELLS_MAX);
    assert_int_equal(rollup.refused, 100);
}

TEST(a_stack_is_known_if_all_of_its_nodes_are)
{
    uint64_t addresses[ROLLUP_STACK_MAX];

    put_begin();
    made_node(made, 5, 4, MADE_TEXT + 0x50);
    made_node(made, 6, 6, MADE_TEXT + 0x60); /* leads back to itself */
    put_samples(1);
    feed();
    assert_int_equal(rollup_stack(&rollup, 2, addresses), 2);
    assert_int_equal(addresses[0], MADE_TEXT + 0x20);
    assert_int_equal(addresses[1], MADE_TEXT + 0x10);
    assert_int_equal(rollup_stack(&rollup, 5, addresses), 0);
    assert_int_equal(rollup_stack(&rollup, 6, addresses), 0);
    assert_int_equal(rollup_stack(&rollup, 99999, addresses), 0);
}

TEST(each_cpu_has_a_loop_of_its_own)
{
    put_begin();
    made_script(made, "loop_site 3 0 12 poll@main.c; loop_bucket 3 1 4096 9;"
                      "on 1; loop_site 3 0 7 read@main.c;"
                      "loop_bucket 3 1 4096 2; on 0; loop_bucket 3 1 4096 11");
    feed();
    assert_int_equal(rollup.loop_keys.count, 2);
    assert_int_equal(rollup.loop[0].cpu, 0);
    assert_int_equal(rollup.loop[0].count, 11);
    assert_int_equal(rollup.loop[1].cpu, 1);
    assert_int_equal(rollup.loop[1].count, 2);
    assert_int_equal(rollup.site_numbers.count, 2);
    assert_true(rollup.sites[0].id != rollup.sites[1].id);
}

TEST(ranges_of_the_loop_are_kept_as_they_are_now)
{
    put_begin();
    made_script(made, "loop_site 3 0 12 poll@main.c; loop_bucket 3 1 4096 5;"
                      "loop_bucket 3 1 4096 9; loop_bucket 3 0 4096 1");
    feed();
    assert_int_equal(rollup.loop_keys.count, 2);
    assert_int_equal(rollup.loop[0].count, 9);
    assert_int_equal(rollup.loop[1].count, 1);
    assert_int_equal(rollup.site_numbers.count, 1);
    assert_true(rollup.sites[0].id != 0);
    assert_string_equal(strings_text(&rollup.strings, rollup.sites[0].text),
                        "poll@main.c");
}

TEST(another_version_is_not_read)
{
    struct packet packet;

    put_begin();
    made_flush(made);
    packet = packet_of(0);
    packet.version = PROF_FORMAT_VERSION + 1;
    assert_false(rollup_take(&rollup, &packet, BASE_MS));
    assert_int_equal(rollup.unread, 1);
}

TEST(events_of_any_time_are_in_a_bucket_of_now)
{
    put_begin();
    made_script(made, "clock %llu; drop 1 1",
                (unsigned long long)UINT64_MAX - 5);
    made_flush(made);
    feed_one(0, BASE_MS);
    close_all();
    assert_int_equal(row_count, 1);
    assert_int_equal(rows[0].begin, BASE_MS / 1000);
}

static void check_begin(void *owner, const struct rollup_bucket *bucket)
{
    int64_t now = rollup.now / 1000;

    (void)owner;
    assert_true(bucket->begin <= now + 60 && bucket->begin >= now - 300);
    ++row_count;
}

TEST(any_bytes_do_no_harm)
{
    static uint8_t bytes[4096];

    rollup.closed = check_begin;

    for (unsigned round = 0; round < 3000; ++round) {
        struct packet packet = {
            .bytes = bytes,
            .events = bytes,
            .events_bytes = unit_below(sizeof bytes),
            .uuid = bytes,
            .begin = unit_number(),
            .end = unit_number(),
            .discarded = unit_number(),
            .sequence = round + unit_below(2),
            .cpu = (uint16_t)unit_below(300),
            .version = PROF_FORMAT_VERSION,
        };

        for (size_t i = 0; i < packet.events_bytes; ++i)
            bytes[i] = (uint8_t)unit_random();
        rollup_take(&rollup, &packet, BASE_MS + (int64_t)round * 1000);
        rollup.ended = false; /* there is a bye among them */
        if (round % 64 == 0)
            close_all();
    }
    assert_true(row_count > 10);
}
