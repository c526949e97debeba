/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill STORE SPOOL [NAME=NUMBER]...: sends made rows as a collector sends its
 * own, through store/client.h.
 *
 *     minutes=N    buckets from (first) on, each of which is sent at once
 *     first=N      number of the first one; (day=N) is 2023-11-14 and N days
 *     guests=N  stacks=N
 *     losses=1     with each minute 1 + its number are lost of one key
 *     pause_ms=N   after each minute
 *     flush_s=N    seconds to wait for the store at the end; 0 = not at all
 *     spool_kb=N   limit of the spool
 *     wait=1       the store may be away at first
 *     answer_s=N   seconds to wait for each answer of the store
 *
 * Prints "minute N" when a minute is in the spool, "retry N: WHY" while it
 * waits for the store, and at the end what the sending has come to. A guest's
 * samples and ticks of a minute follow from its number, so each sum is known:
 * see samples_of().
 */

#include "base/log.h"
#include "base/wait.h"
#include "store/client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEGIN 1699920000u /* 2023-11-14 */
#define DAY 86400u

static struct {
    unsigned long minutes, first, day, guests, stacks, pause_ms, flush_s;
    unsigned long spool_kb, wait, losses, answer_s;
} given = {.minutes = 1, .guests = 2, .stacks = 3, .flush_s = 60};

static const struct {
    const char *name;
    unsigned long *number;
} words[] = {
    {"minutes", &given.minutes},   {"first", &given.first},
    {"day", &given.day},           {"guests", &given.guests},
    {"stacks", &given.stacks},     {"pause_ms", &given.pause_ms},
    {"flush_s", &given.flush_s},   {"spool_kb", &given.spool_kb},
    {"wait", &given.wait},         {"losses", &given.losses},
    {"answer_s", &given.answer_s},
};

static void take_word(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        size_t bytes = strlen(words[i].name);

        if (strncmp(word, words[i].name, bytes) == 0 && word[bytes] == '=') {
            *words[i].number = strtoul(word + bytes + 1, NULL, 10);
            return;
        }
    }
    die_usage("what is '%s'?", word);
}

static uint64_t samples_of(unsigned long minute, uint64_t guest, uint64_t stack)
{
    return 1 + minute % 7 + guest + 10 * stack;
}

static void add_guest(struct store_batches *batches, unsigned long minute,
                      uint64_t guest)
{
    static const uint8_t build[STORE_BUILD_BYTES] = "a build\n\n", boot[16];
    static const char *const labels[] = {"zone=\n\t\\'x"};
    static const char *const names[] = {"main", "leaf\n\n'"};
    struct store_key key = {.service = "made", .build = build, .guest = guest};
    uint64_t sum = 0;

    key.bucket =
        (uint32_t)(BEGIN + given.day * DAY + minute * STORE_BUCKET_SECONDS);
    for (uint64_t i = 0; i < given.stacks; ++i) {
        const uint32_t frames[] = {1, (uint32_t)i};
        const struct store_stack stack = {
            build, store_stack_id(build, frames, 2), frames, names, 2, 2, true};
        const struct store_sample sample = {
            .key = key,
            .cpu = (uint16_t)(i % 2),
            .kind = STORE_TIME,
            .stack = stack.stack,
            .samples = samples_of(minute, guest, i),
            .weight = 100000 * samples_of(minute, guest, i),
        };

        if (minute == given.first)
            store_add_stack(batches, &stack);
        store_add_sample(batches, &sample);
        sum += sample.samples;
    }
    store_add_account(batches, &(struct store_account){.key = key,
                                                       .ticks = sum + 5,
                                                       .attributed = sum,
                                                       .idle = 3,
                                                       .dropped = 2});
    store_add_loop(batches, &(struct store_loop){.key = key,
                                                 .site = 1,
                                                 .measure = STORE_DELAY,
                                                 .low = 1024,
                                                 .count = 1 + guest});
    store_add_wait(
        batches,
        &(struct store_wait){
            .key = key, .site = 1, .why = "read", .count = 2, .ns = 300});
    if (minute == given.first)
        store_add_guest(batches, &(struct store_guest){.key = key,
                                                       .boot = boot,
                                                       .host = "host",
                                                       .target = "unix:x",
                                                       .labels = labels,
                                                       .label_count = 1,
                                                       .seen = key.bucket,
                                                       .cpus = 2,
                                                       .mhz = 100000});
}

static void add_loss(struct store_batches *batches, unsigned long minute)
{
    static const uint8_t build[STORE_BUILD_BYTES] = "a build\n\n";

    store_add_loss(batches, &(struct store_loss){.key = {.bucket = BEGIN,
                                                         .service = "made",
                                                         .build = build,
                                                         .guest = 1},
                                                 .host = "collector",
                                                 .why = "made",
                                                 .what = "samples",
                                                 .rows = 1,
                                                 .amount = 1 + minute});
}

static void send_minutes(struct store *store)
{
    struct store_batches batches = {.store = store};

    for (unsigned long i = 0; i < given.minutes; ++i) {
        for (uint64_t guest = 1; guest <= given.guests; ++guest)
            add_guest(&batches, given.first + i, guest);
        if (given.losses > 0)
            add_loss(&batches, given.first + i);
        store_batches_send(&batches);
        printf("minute %lu\n", given.first + i);
        fflush(stdout);
        usleep((useconds_t)given.pause_ms * 1000);
    }
    printf("refused by the spool: %" PRIu64 "\n", batches.lost);
    store_batches_free(&batches);
}

static bool flush(struct store *store)
{
    double deadline = seconds_now() + (double)given.flush_s;
    struct store_state state;
    uint64_t retries = 0;

    while (!store_flush(store, 0.02)) {
        store_state(store, &state);
        if (state.retries != retries && state.problem[0] != '\0') {
            retries = state.retries;
            printf("retry %" PRIu64 ": %s\n", retries, state.problem);
            fflush(stdout);
        }
        if (seconds_now() > deadline)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct store_options options = {.create = true};
    struct store_state state;
    char why[STORE_WHY];
    struct store *store;
    bool empty = true;

    log_name = "fill";
    if (argc < 3)
        die_usage("fill STORE SPOOL [NAME=NUMBER]...");
    for (int i = 3; i < argc; ++i)
        take_word(argv[i]);
    options.spool = argv[2];
    options.spool_bytes = given.spool_kb << 10;
    options.may_wait = given.wait != 0;
    options.host = "collector";
    options.seconds = (double)given.answer_s;
    store = store_open(argv[1], &options, why);
    if (store == NULL)
        die("%s", why);
    send_minutes(store);
    if (given.flush_s > 0)
        empty = flush(store);
    store_state(store, &state);
    printf("%s: %" PRIu64 " sent, %" PRIu64 " in the spool, %" PRIu64
           " retries, %" PRIu64 " lost with %" PRIu64 " rows; problem: %s\n",
           empty ? "empty" : "not empty", state.sent_batches,
           state.spool_batches, state.retries, state.lost_batches,
           state.lost_rows, state.problem[0] != '\0' ? state.problem : "none");
    store_close(store);
    return empty ? STATUS_OK : STATUS_DATA;
}
