/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the threads that send batches do where a server or the spool fails. The
 * servers are this file. Tests wait for what is read next, never for a time.
 */

#include "../unit.h"

#include "base/log.h"
#include "base/temporary.h"
#include "store/prune.h"
#include "store/store.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOON 1700000040u /* a whole minute of 2023-11-14 */
#define SHARDS 2u
#define KEEP 86400

struct store_http {
    unsigned shard;
};

/* The servers; with the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const char *away[SHARDS]; /* why it cannot be reached; NULL = it can */
static unsigned tries[SHARDS], stored[SHARDS], prunes[SHARDS];
static bool breaks_off; /* the next connection, once */

static char *hosts[] = {(char *)"first", (char *)"second"};
static struct store store;
static struct store_rows rows;
static char *folder;
static FILE *log_file;
static char *said;
static size_t said_bytes;

static bool stands; /* the monotonic clock, before threads are there */
static struct timespec stands_at;

/* The clock of the day is an hour ahead of what waits see of it: as if it had
 * been set back since. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);

    if (clock == CLOCK_REALTIME)
        time->tv_sec += 3600;
    else if (clock == CLOCK_MONOTONIC && stands)
        *time = stands_at;
    return result;
}

/* ---- what send.c asks for */

struct store_http *store_http_open(const struct store_address *address,
                                   unsigned shard, double seconds)
{
    struct store_http *http = malloc(sizeof *http);

    (void)address;
    (void)seconds;
    http->shard = shard;
    return http;
}

void store_http_close(struct store_http *http)
{
    free(http);
}

void store_http_cancel(struct store_http *http)
{
    (void)http;
}

bool store_reach(struct store *one, unsigned shard, struct store_http *http,
                 char *why)
{
    bool fine;

    assert_ptr_equal(one, &store);
    assert_int_equal(http->shard, shard);
    pthread_mutex_lock(&lock);
    fine = away[shard] == NULL;
    if (!fine)
        snprintf(why, STORE_WHY, "%s: %s", hosts[shard], away[shard]);
    ++tries[shard];
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return fine;
}

bool store_http_ask(struct store_http *http,
                    const struct store_request *request,
                    struct store_reply *reply)
{
    bool fine;

    assert_true(request->file >= 0);
    *reply = (struct store_reply){0};
    pthread_mutex_lock(&lock);
    fine = away[http->shard] == NULL && !breaks_off;
    breaks_off = false;
    stored[http->shard] += fine;
    ++tries[http->shard];
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (!fine)
        strcpy(reply->text, "it went");
    return fine;
}

struct store_server store_server(struct store *one, unsigned shard)
{
    (void)one;
    (void)shard;
    return (struct store_server){.is_modern = true};
}

const char *store_name(const struct store *one)
{
    return one->address.name;
}

char *schema_local_name(enum store_table table,
                        const struct store_address *address)
{
    (void)address;
    return strdup(store_table_name(table));
}

bool schema_run(struct store_http *http, const char *database, const char *sql,
                struct store_answer *answer, struct store_reply *reply)
{
    (void)http;
    (void)database;
    (void)sql;
    (void)answer;
    (void)reply;
    fail(); /* servers with tokens are not asked */
    return false;
}

uint32_t prune_first_day(double seconds)
{
    return (uint32_t)seconds;
}

bool prune_server(struct store_http *http, const struct store_address *address,
                  unsigned shard, uint32_t first, store_pruned_fn *took,
                  void *owner, struct store_reply *reply)
{
    assert_ptr_equal(address, &store.address);
    assert_int_equal(http->shard, shard);
    assert_int_equal(first, KEEP);
    (void)took;
    (void)owner;
    *reply = (struct store_reply){0};
    strcpy(reply->text, "too large");
    pthread_mutex_lock(&lock);
    ++prunes[shard];
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return shard == 0;
}

/* ---- */

static void begin(void)
{
    folder = temporary_folder("sender");
    store = (struct store){
        .address = {.hosts = hosts,
                    .count = SHARDS,
                    .database = (char *)"parasite",
                    .name = (char *)"a store"},
        .options = {.spool = folder, .stage = true},
        .host = (char *)"here",
    };
    stands = breaks_off = false;
    memset(away, 0, sizeof away);
    memset(tries, 0, sizeof tries);
    memset(stored, 0, sizeof stored);
    memset(prunes, 0, sizeof prunes);
    rows = (struct store_rows){.table = STORE_SAMPLES};
    log_file = open_memstream(&said, &said_bytes);
    log_redirect(log_file);
}

static void end(void)
{
    log_redirect(NULL);
    fclose(log_file);
    free(said);
    store_rows_free(&rows);
    temporary_remove(folder);
    free(folder);
}

FIXTURE(begin, end);

static void open_sender(void)
{
    char why[STORE_WHY];

    store.sender = sender_open(&store, why);
    assert_non_null(store.sender);
}

static bool put_batch(unsigned shard)
{
    static const uint8_t build[STORE_BUILD_BYTES] = {1};

    rows.count = 0;
    rows.used = 0;
    assert_true(store_put_sample(
        &rows, &(struct store_sample){.key = {NOON, "irc", build, 1},
                                      .kind = STORE_TIME,
                                      .samples = 7}));
    return store_send(&store, shard, &rows);
}

static void commit(void)
{
    store_commit(&store, store_staged(&store));
}

static void wait_tries(unsigned shard, unsigned count)
{
    pthread_mutex_lock(&lock);
    count += tries[shard];
    while (tries[shard] < count)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void set_away(unsigned shard, const char *why)
{
    pthread_mutex_lock(&lock);
    away[shard] = why;
    pthread_mutex_unlock(&lock);
}

/* Waits until (count) batches are acknowledged. */
static struct store_state wait_sent(unsigned count)
{
    struct store_state state;

    do {
        usleep(1000);
        store_state(&store, &state);
    } while (state.sent_batches < count);
    assert_int_equal(state.sent_batches, count);
    return state;
}

/* Until so many servers take no batches. */
static struct store_state wait_away(unsigned count)
{
    struct store_state state;

    do {
        usleep(1000);
        store_state(&store, &state);
    } while (state.away != count);
    return state;
}

/* How often (text) was said. */
static unsigned times_said(const char *text)
{
    unsigned count = 0;

    fflush(log_file);
    for (const char *at = said; (at = strstr(at, text)) != NULL; ++at)
        ++count;
    return count;
}

/* Files of the spool whose names end so. */
static unsigned files_of(const char *suffix)
{
    DIR *all = opendir(folder);
    const struct dirent *one;
    unsigned count = 0;

    while ((one = readdir(all)) != NULL) {
        size_t bytes = strlen(one->d_name), less = strlen(suffix);

        count +=
            bytes >= less && strcmp(one->d_name + bytes - less, suffix) == 0;
    }
    closedir(all);
    return count;
}

static struct rlimit files_before;

static void take_files(void)
{
    struct rlimit none;

    getrlimit(RLIMIT_NOFILE, &files_before);
    none = files_before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
}

static void give_files(void)
{
    setrlimit(RLIMIT_NOFILE, &files_before);
}

/* ---- */

TEST(a_batch_that_cannot_be_opened_is_sent_later)
{
    struct store_state state;

    open_sender();
    assert_true(put_batch(0));
    take_files();
    commit();
    state = wait_away(1);
    give_files();
    assert_non_null(strstr(state.problem, "Too many open files"));
    state = wait_sent(1);
    assert_int_equal(state.lost_batches, 0);
    assert_int_equal(state.spool_batches, 0);
    assert_int_equal(state.away, 0);
    sender_close(store.sender);
    assert_int_equal(times_said("Too many open files"), 1);
}

TEST(each_server_has_its_problem)
{
    struct store_state state;

    set_away(0, "is away");
    set_away(1, "is full");
    open_sender();
    state = wait_away(2);
    assert_string_equal(state.problem, "first: is away; second: is full");
    set_away(1, NULL);
    assert_true(put_batch(0) && put_batch(1));
    commit();
    state = wait_sent(1);
    assert_int_equal(stored[1], 1);
    assert_int_equal(state.away, 1);
    assert_string_equal(state.problem, "first: is away");
    set_away(0, NULL);
    state = wait_sent(2);
    assert_int_equal(state.away, 0);
    assert_string_equal(state.problem, "");
    sender_close(store.sender);
}

TEST(a_problem_is_said_when_it_begins_and_when_it_is_over)
{
    clock_gettime(CLOCK_MONOTONIC, &stands_at);
    stands = true;
    set_away(0, "wrong password");
    open_sender();
    wait_away(1); /* before there is a batch */
    assert_int_equal(times_said("batches wait in the spool: first: wrong"), 1);
    assert_true(put_batch(0));
    commit();
    wait_tries(0, 2);
    set_away(0, "another, so soon");
    wait_tries(0, 1);
    assert_int_equal(times_said("first: takes batches again"), 0);
    set_away(0, NULL);
    wait_sent(1);
    sender_close(store.sender);
    assert_int_equal(times_said("batches wait"), 1);
    assert_int_equal(times_said("first: takes batches again"), 1);
    assert_int_equal(times_said("second"), 0);
}

TEST(what_the_next_try_mends_is_not_said)
{
    open_sender();
    assert_true(put_batch(1));
    commit();
    wait_sent(1);
    pthread_mutex_lock(&lock);
    breaks_off = true; /* it was idle, and has ended */
    pthread_mutex_unlock(&lock);
    assert_true(put_batch(1));
    commit();
    assert_int_equal(wait_sent(2).retries, 1);
    sender_close(store.sender);
    assert_int_equal(times_said("second"), 0);
}

/* The store of which old days are dropped may be away, or refuse it. */
TEST(old_days_are_dropped_by_each_server)
{
    store.options.keep_seconds = KEEP;
    set_away(0, "is away");
    open_sender();
    pthread_mutex_lock(&lock);
    while (prunes[1] < 1)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    assert_true(put_batch(1)); /* which waits for none of that */
    commit();
    wait_sent(1);
    set_away(0, NULL);
    pthread_mutex_lock(&lock);
    while (prunes[0] < 1)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    sender_close(store.sender);
    assert_int_equal(prunes[0], 1);
    assert_int_equal(times_said("second: old days cannot be dropped: too"), 1);
}

TEST(what_is_lost_with_staged_batches_is_staged)
{
    struct store_state state;

    store.options.spool_bytes = 1;
    open_sender();
    assert_false(put_batch(1));
    assert_int_equal(files_of(".staged"), 1);
    sender_close(store.sender);

    /* killed before the caller noted it: it counts the samples again */
    open_sender();
    store_recover(&store, 0);
    assert_int_equal(files_of(".staged"), 0);
    assert_false(put_batch(1));
    commit();
    state = wait_sent(1);
    assert_int_equal(stored[0], 1);
    assert_int_equal(state.lost_batches, 1);
    sender_close(store.sender);
}

TEST(what_is_lost_and_cannot_be_kept_is_kept_after_the_commit)
{
    open_sender();
    take_files();
    assert_false(put_batch(1));
    give_files();
    assert_int_equal(files_of(".gz"), 0);
    commit();
    wait_sent(1);
    assert_int_equal(stored[0], 1);
    sender_close(store.sender);
    assert_int_equal(files_of(".gz"), 0);
}
