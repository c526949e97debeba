/* SPDX-License-Identifier: Apache-2.0 */

/* The recorder of objects as a flight recorder; and what is outside the ring:
 * names, and which objects live. */

#include "../unit.h"

#include "trace_world.h"

#define SLOTS 256u /* of a ring in the least memory */
#define HISTORY PROF_CPU_HISTORY

static PROF_TRACE_SITE(site, "here");
static PROF_TRACE_NAME(other, "other");

static void begin_flight(void)
{
    open_stream();
    site.tag = other.tag = 0;
    trace_open(PROF_TRACE_MEMORY_MIN, PROF_TRACE_FLIGHT);
}

static void begin_stream(void)
{
    open_stream();
    site.tag = other.tag = 0;
    trace_open(PROF_TRACE_MEMORY_MIN, PROF_TRACE_STREAM);
}

FIXTURE(begin_flight, trace_close);

/* ---- the flight recorder */

TEST(nothing_is_sent_before_a_dump)
{
    prof_trace_read(1);
    prof_trace_flush();
    prof_stream_push();
    assert_string_equal(all_said(HISTORY), "");
    assert_string_equal(all_said(0), "");
}

TEST(a_dump_has_the_last_events_and_what_they_name)
{
    uint32_t task = prof_trace_create(PROF_TRACE_TASK, &site);

    prof_trace_switch(task);
    for (uint32_t i = 0; i < SLOTS; i++)
        prof_trace_read(9);
    prof_trace_resolve(task);
    prof_trace_switch(0);
    assert_int_equal(prof_trace_dump(), PROF_OK);
    all_said(HISTORY);
    said_begins("switch 4294967295\nhistory\nsite 1 here@");
    assert_non_null(strstr(said, "alive 1 4294967295 1 1 1 0\n"
                                 "switch 1\nread 9\n"));
    assert_non_null(strstr(said, "read 9\nresolve 1\nswitch 0\n"));
    assert_int_equal(lines_with("read 9"), SLOTS - 2);
    assert_int_equal(lines_with("create"), 0);
    assert_int_equal(stats().dumps, 1);
}

/* A transport during which an interrupt records. */
static unsigned storm;

static bool keep_in_a_storm(const void *packet, size_t bytes)
{
    for (unsigned i = 0; i < storm; i++)
        prof_trace_read(5555);
    return keep(packet, bytes);
}

static const struct prof_transport stormy = {
    .name = "stormy",
    .open = keep_open,
    .send = keep_in_a_storm,
};

TEST(it_may_be_read_while_it_is_written)
{
    prof_stream_open(&(struct prof_stream_settings){
        .transport = &stormy, .tree = tree, .config = &config});
    for (storm = 0; storm < 3 * SLOTS; storm += 37) {
        uint64_t sent = stats().sent;

        kept_count = 0;
        for (uint32_t i = 0; i < 20 * SLOTS; i++)
            prof_trace_wake(i + 100000, i * 7);
        assert_int_equal(prof_trace_dump(), PROF_OK);
        all_said(HISTORY);
        assert_true(stats().sent - sent + 0 <= SLOTS);
        assert_int_equal(lines_with("read 5555"), 0); /* came later */
        assert_true(storm > 0 || lines_with("wake") == SLOTS);
    }
}

TEST(a_panic_dumps)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        prof_trace_read(3);
    prof_trace_slot(&prof_trace_cpus[0], 10 * PROF_TRACE_STEP)->at =
        PROF_TRACE_ODD;
    prof_trace_last(true);
    all_said(HISTORY);
    assert_int_equal(lines_with("read 3"), SLOTS - 1);
    assert_int_equal(lines_with("lost 1\n"), 1);
}

TEST(a_dump_goes_on_when_the_transport_does)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        prof_trace_read(4);
    kept_refuse = 1000;
    assert_int_equal(prof_trace_dump(), PROF_OK);
    prof_trace_flush();
    assert_int_equal(kept_count, 0);
    kept_refuse = 0;
    prof_trace_flush();
    all_said(HISTORY);
    assert_int_equal(lines_with("read 4"), SLOTS);
}

/* An interrupt whose trigger comes while the last packet is sent. */
static bool keep_and_trigger(const void *packet, size_t bytes)
{
    prof_trace_read(5);
    prof_trace_trigger();
    prof_trace_read(6);
    return keep(packet, bytes);
}

static const struct prof_transport triggering = {
    .name = "triggering",
    .open = keep_open,
    .send = keep_and_trigger,
};

TEST(a_trigger_at_the_end_of_a_dump_is_in_it)
{
    prof_stream_open(&(struct prof_stream_settings){
        .transport = &triggering, .tree = tree, .config = &config});
    kept_count = 0;
    assert_int_equal(prof_trace_dump(), PROF_OK);
    all_said(HISTORY);
    assert_int_equal(lines_with("read 5\n"), 1);
    assert_int_equal(lines_with("read 6\n"), 0);
    assert_true(prof_trace_is_on());
}

/* As GET /profile?format=trace does: a stream of its own, now and then. */
static void end_of_stream(void)
{
    prof_trace_last(false);
    prof_stream_end(at(SECOND), 0);
}

/* What happens, as words: "read 5" is an event, "?" asks whether it records,
 * "quiet?" whether nothing was sent. */
static void happens(const char *words)
{
    static const struct prof_stream_settings nowhere = {
        .transport = NULL, .tree = tree, .config = &config};
    char text[400], *rest = NULL;

    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok_r(text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "read") == 0)
            prof_trace_read((uint32_t)atoi(strtok_r(NULL, " ", &rest)));
        else if (strcmp(word, "trigger") == 0)
            prof_trace_trigger();
        else if (strcmp(word, "dump") == 0)
            assert_int_equal(prof_trace_dump(), PROF_OK);
        else if (strcmp(word, "flush") == 0)
            prof_trace_flush();
        else if (strcmp(word, "panic") == 0)
            prof_trace_last(true);
        else if (strcmp(word, "refuse") == 0 || strcmp(word, "accept") == 0)
            kept_refuse = word[0] == 'r' ? 1000 : 0;
        else if (strcmp(word, "off") == 0)
            assert_int_equal(prof_trace_set_mode(PROF_TRACE_OFF), PROF_OK);
        else if (strcmp(word, "flight") == 0)
            assert_int_equal(prof_trace_set_mode(PROF_TRACE_FLIGHT), PROF_OK);
        else if (strcmp(word, "open") == 0)
            open_stream();
        else if (strcmp(word, "nowhere") == 0)
            prof_stream_open(&nowhere);
        else if (strcmp(word, "end") == 0)
            end_of_stream();
        else if (strcmp(word, "hello") == 0)
            prof_trace_hello();
        else if (strcmp(word, "quiet?") == 0)
            assert_int_equal(kept_count, 0);
        else
            assert_int_equal(prof_trace_is_on(), strcmp(word, "on?") == 0);
    }
}

/* The lines of dumps that begin one, or are a read. */
static const char *dumped(void)
{
    static char lines[200];

    all_said(HISTORY);
    lines[0] = '\0';
    for (char *line = strtok(said, "\n"); line != NULL;
         line = strtok(NULL, "\n"))
        if (strncmp(line, "read", 4) == 0 || strcmp(line, "history") == 0)
            strcat(strcat(lines, line), "; ");
    return lines;
}

/* What the last dump left is in no later one. */
#define NOTHING_IS_LEFT                                                        \
    " accept off? flush read 8 off? flight on? read 2 flush quiet? dump"

TEST(dumps_and_triggers)
{
    static const struct {
        const char *name, *words, *dumped;
        unsigned dumps;
    } rows[] = {
        {"the next dump has what the last one has not",
         "read 1 dump read 2 dump", "history; read 1; history; read 2; ", 2},
        {"a trigger stops it until it was dumped",
         "read 1 trigger read 2 off? flush on?", "history; read 1; ", 1},
        {"off ends a dump", "read 1 refuse dump quiet? off" NOTHING_IS_LEFT,
         "history; read 2; ", 1},
        {"off ends a trigger", "read 1 refuse trigger off" NOTHING_IS_LEFT,
         "history; read 2; ", 1},
        {"off sends a dump that is due", "read 1 trigger off off?",
         "history; read 1; ", 1},
        {"a panic during a dump is in it",
         "read 1 refuse dump quiet? read 2 accept panic off?",
         "history; read 1; read 2; ", 1},
        {"a trigger during a dump stops it",
         "read 1 refuse dump quiet? read 2 trigger read 3 accept flush on?",
         "history; read 1; read 2; ", 1},
        /* It is not made for ever, nor goes on in another stream, which has
           other names. */
        {"a dump ends with its stream",
         "read 1 refuse dump quiet? trigger off? accept nowhere flush on? open "
         "read 1 refuse dump quiet? open flush quiet? read 2 dump",
         "history; read 2; ", 1},
        {"it goes on after a stream has ended, in the middle of a dump, too",
         "read 1 end on? read 2 open read 3 refuse dump quiet? end on? open "
         "hello read 4 dump",
         "history; read 4; ", 1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        trace_close();
        begin_flight();
        happens(rows[i].words);
        if (strcmp(dumped(), rows[i].dumped) != 0 ||
            stats().dumps != rows[i].dumps)
            fail_msg("%s: %s%u", rows[i].name, dumped(), stats().dumps);
    }
}

/* Positions repeat after 2^27 events; here laps are passed at a stroke. */
TEST(a_dump_has_all_that_is_left_of_any_number)
{
    const uint32_t before = 8 * PROF_TRACE_STEP;

    for (int i = 0; i < 2; i++) {
        prof_trace_cpus[0].head += 0x70000000u;
        prof_trace_flush();
    }
    prof_trace_cpus[0].head += 0x20000000u - before;
    for (uint32_t i = 0; i < SLOTS; i++)
        prof_trace_read(4);
    assert_int_equal(prof_trace_dump(), PROF_OK);
    all_said(HISTORY);
    assert_int_equal(lines_with("read 4\n"), SLOTS);
}

FIXTURE(begin_stream, trace_close);

/* Nor does a recorder in the mode STREAM end; and the next stream has all that
 * its events mention. */
TEST(each_stream_defines_its_names)
{
    for (int i = 0; i < 5; i++) {
        open_stream();
        prof_trace_hello();
        for (int packets = 0; packets <= i; packets++) {
            prof_trace_create(PROF_TRACE_TASK, &site);
            assert_int_equal(prof_trace_cpus[0].due, 0);
            sent();
        }
        assert_true(lines_with("site 1 here@") > 0);
        end_of_stream();
        assert_true(prof_trace_is_on());
    }
}

/* So a sample costs no more than without a recorder. */
TEST(nothing_is_due_without_a_stream)
{
    prof_trace_read(1);
    sent();
    end_of_stream();
    assert_true(prof_trace_cpus[0].due == UINT64_MAX);
    prof_trace_flush();
    assert_true(prof_trace_cpus[0].due == UINT64_MAX);
    open_stream();
    prof_trace_hello();
    assert_int_equal(prof_trace_cpus[0].due, 0);
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_OFF), PROF_OK);
    assert_true(prof_trace_cpus[0].due == UINT64_MAX);
}

TEST(there_is_no_dump_in_other_modes)
{
    assert_int_equal(prof_trace_dump(), PROF_EFLIGHT);
    prof_trace_trigger();
    assert_true(prof_trace_is_on());
}

/* ---- names */

TEST(long_names_are_cut_and_it_shows)
{
    static char text[10001];
    char line[200];

    memset(text, 'x', sizeof text - 1);
    prof_trace_label_text(7, text, sizeof text - 1);
    prof_trace_label_text(7, text, PROF_TRACE_TEXT_MAX);
    sent();
    snprintf(line, sizeof line, "name 1 %.117s...\n", text);
    assert_int_equal(lines_with(line), 1);
    snprintf(line, sizeof line, "name 2 %.120s\n", text);
    assert_int_equal(lines_with(line), 1);
    assert_int_equal(stats().names_cut, 1);
    {
        PROF_TRACE_SITE(constant, text); /* a constant as long as that */

        prof_trace_create(PROF_TRACE_TASK, &constant);
        sent();
        snprintf(line, sizeof line, "site 3 %.117s...@%.20s", text, __FILE__);
        assert_int_equal(lines_with(line), 1);
    }
}

TEST(names_without_room_are_counted)
{
    char text[16];

    for (int i = 0; i < 1000; i++)
        prof_trace_label_text(
            1, text, (size_t)snprintf(text, sizeof text, "name %d", i));
    assert_true(stats().names > 20 && stats().names < 1000);
    assert_int_equal(stats().names + stats().names_lost, 1000);
    prof_trace_label_text(1, "name 0", 6);
    assert_int_equal(prof_trace_cpus[0].records == NULL, 0);
    sent();
    assert_non_null(strstr(said, "label 1 1\n"));
}

/* A name that events mention is in the same packet, or in one before; and again
 * in a later one, since packets may be lost. */
TEST(names_are_defined_again_in_later_packets)
{
    for (int i = 0; i < 3000; i++) {
        prof_trace_gone(prof_trace_create(PROF_TRACE_TASK, &site));
        if (i % 50 == 0)
            prof_trace_flush();
    }
    sent();
    assert_true(kept_count > 4);
    assert_int_equal(lines_with("site 1 here@"), 2);
    assert_int_equal(stats().lost, 0);
    /* the first packet is lost, which has the definition */
    memmove(kept, kept + 1, --kept_count * sizeof *kept);
    all_said(0);
    assert_int_equal(lines_with("site 1 here@") > 0, 1);
    said_begins("switch 4294967295\n"); /* which object is current */
}

/* ---- objects */

TEST(a_new_reader_is_sent_the_objects_that_live)
{
    uint32_t first = prof_trace_create(PROF_TRACE_TASK, &site);

    prof_trace_label_text(first, "first", 5);
    prof_trace_switch(first);
    prof_trace_resolve(prof_trace_create(PROF_TRACE_PROMISE, &site));
    prof_trace_create(PROF_TRACE_SLEEP, &other);
    sent();
    assert_int_equal(lines_with("alive"), 0);
    kept_count = 0;
    prof_stream_hello(prof_cpu_here());
    prof_trace_hello();
    sent();
    assert_int_equal(lines_with("alive"), 2);
    assert_non_null(strstr(said, "alive 1 4294967295 1 0 1 2\n"));
    assert_non_null(strstr(said, "alive 3 1 8 0 3 0\n"));
    assert_non_null(strstr(said, "switch 1\n"));
    assert_non_null(strstr(said, "name 2 first\n"));
}

TEST(a_million_live_objects_are_not_in_the_way)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < 1000000; i++)
        last = prof_trace_create(PROF_TRACE_PROMISE, &site);
    assert_int_equal(last, 1000000);
    assert_int_equal(stats().objects, 1000000);
    assert_int_equal(stats().untracked,
                     1000000 - (prof_trace_cpus[0].objects.mask + 1));
    for (uint32_t i = 1; i <= 1000000; i++)
        prof_trace_resolve(i);
    last = prof_trace_create(PROF_TRACE_PROMISE, &site);
    assert_int_equal(stats().untracked,
                     1000000 - (prof_trace_cpus[0].objects.mask + 1));
    assert_non_null(prof_objects_find(last));
}

TEST(numbers_end)
{
    prof_trace_cpus[0].objects.next = PROF_OBJECTS_LAST;
    assert_true(prof_trace_create(PROF_TRACE_TASK, &other) ==
                PROF_OBJECTS_LAST);
    for (int i = 0; i < 3; i++)
        assert_true(prof_trace_create(PROF_TRACE_TASK, &other) ==
                    PROF_TRACE_UNKNOWN);
}

FIXTURE(NULL, NULL);

TEST(memory_is_checked)
{
    static uint64_t memory[PROF_TRACE_MEMORY_MIN / 8];

    memset(prof_trace_cpus, 0, sizeof prof_trace_cpus);
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_FLIGHT), PROF_EMEMORY);
    assert_int_equal(prof_trace_open(NULL, sizeof memory), PROF_EMEMORY);
    assert_int_equal(prof_trace_open(memory, sizeof memory - 1), PROF_EMEMORY);
    assert_int_equal(prof_trace_open((char *)memory + 4, sizeof memory),
                     PROF_EMEMORY);
    assert_int_equal(prof_trace_open(memory, sizeof memory), PROF_OK);
    assert_int_equal(prof_trace_open(memory, sizeof memory), PROF_ESTATE);
    prof_trace_cpus[0].records = NULL;
}
