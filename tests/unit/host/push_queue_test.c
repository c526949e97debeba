/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of profiles that wait for a receiver which does not answer. The
 * receiver is this file: a request is on its way until the test answers it. A
 * profile's body is as long as its samples say, its begin is its name.
 */

#include "../unit.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "push/post.h"
#include "push/push.h"

#define POSTS_MAX 16

struct push {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned begun, answered; /* requests */
    bool is_open;             /* all are answered at once */
    enum push_outcome outcome;
    char posted[POSTS_MAX]; /* the name of each */
};

/* The clock of the day is an hour ahead of what waits see of it: as if it had
 * been set back since. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);

    if (clock == CLOCK_REALTIME)
        time->tv_sec += 3600;
    return result;
}

static struct push receiver;
static struct push_queue *queue;

struct push *push_open(const char *target, char *why)
{
    (void)why;
    assert_string_equal(target, "receiver");
    return &receiver;
}

void push_close(struct push *push)
{
    assert_ptr_equal(push, &receiver);
}

char *push_body(const struct push *push, const struct push_profile *profile,
                size_t *count)
{
    char *bytes;

    assert_ptr_equal(push, &receiver);
    *count = profile->stacks->samples;
    bytes = malloc(*count);
    memset(bytes, (int)profile->begin_ns, *count);
    return bytes;
}

enum push_outcome push_post(struct push *push, const char *bytes, size_t count,
                            char *why)
{
    enum push_outcome outcome;
    unsigned number;

    (void)count;
    pthread_mutex_lock(&push->lock);
    number = push->begun++;
    if (number < POSTS_MAX)
        push->posted[number] = bytes[0];
    pthread_cond_broadcast(&push->changed);
    while (!push->is_open && push->answered <= number)
        pthread_cond_wait(&push->changed, &push->lock);
    outcome = push->outcome;
    pthread_mutex_unlock(&push->lock);
    if (outcome != PUSH_TAKEN)
        snprintf(why, PUSH_WHY, "no");
    return outcome;
}

static void begin(void)
{
    receiver = (struct push){.outcome = PUSH_TAKEN};
    pthread_mutex_init(&receiver.lock, NULL);
    pthread_cond_init(&receiver.changed, NULL);
}

static void end(void)
{
    pthread_mutex_destroy(&receiver.lock);
    pthread_cond_destroy(&receiver.changed);
}

FIXTURE(begin, end);

static void open_queue(size_t limit)
{
    char why[PUSH_WHY];

    queue = push_queue_open("receiver", limit, why);
    assert_non_null(queue);
}

static void add(char name, uint64_t bytes)
{
    struct push_stack stack = {.samples = bytes};

    push_queue_add(queue, &(struct push_profile){.begin_ns = (uint64_t)name,
                                                 .stacks = &stack,
                                                 .stack_count = 1});
}

/* Waits until (count) requests have begun. */
static void wait_for(unsigned count)
{
    pthread_mutex_lock(&receiver.lock);
    while (receiver.begun < count)
        pthread_cond_wait(&receiver.changed, &receiver.lock);
    pthread_mutex_unlock(&receiver.lock);
}

static void answer_all(enum push_outcome outcome)
{
    pthread_mutex_lock(&receiver.lock);
    receiver.is_open = true;
    receiver.outcome = outcome;
    pthread_cond_broadcast(&receiver.changed);
    pthread_mutex_unlock(&receiver.lock);
}

static void counts_are(uint64_t lost, uint64_t waiting)
{
    struct push_counts counts;

    push_queue_counts(queue, &counts);
    assert_int_equal(counts.sent, 0);
    assert_int_equal(counts.lost, lost);
    assert_int_equal(counts.waiting, waiting);
}

/* The one that is on its way is not among those that wait. */
TEST(beyond_the_limit_the_oldest_are_lost_and_counted)
{
    open_queue(30);
    add('a', 10);
    wait_for(1);
    counts_are(0, 0);
    add('b', 10);
    add('c', 10);
    add('d', 10);
    counts_are(0, 30); /* just about */
    add('e', 1);
    counts_are(1, 21);
    add('f', 29);
    counts_are(3, 30);
    answer_all(PUSH_TAKEN);
    wait_for(3);
    push_queue_close(queue);
    assert_int_equal(receiver.begun, 3);
    assert_memory_equal(receiver.posted, "aef", 3);
}

TEST(one_that_is_beyond_the_limit_by_itself_is_lost)
{
    open_queue(30);
    add('a', 31);
    counts_are(1, 0);
    add('b', 30);
    wait_for(1);
    counts_are(1, 0);
    answer_all(PUSH_TAKEN);
    push_queue_close(queue);
    assert_memory_equal(receiver.posted, "b", 1);
}

TEST(a_clock_that_is_set_back_delays_no_other_try)
{
    open_queue(30);
    add('a', 10);
    wait_for(1);
    pthread_mutex_lock(&receiver.lock);
    receiver.answered = 1;
    receiver.outcome = PUSH_AWAY;
    pthread_cond_broadcast(&receiver.changed);
    pthread_mutex_unlock(&receiver.lock);
    wait_for(2);
    answer_all(PUSH_TAKEN);
    push_queue_close(queue);
    assert_memory_equal(receiver.posted, "aa", 2);
}
