/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks gets all of the answer: also one that is longer than what a socket
 * holds, and also if it says that it will send nothing more. */

#include "../unit.h"

#include "collect/parts.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_BYTES (4u << 20)

static struct collector *collector;
static int ours;
static uint8_t *answer;
static uint32_t watched; /* what epoll would tell of the reader */
static bool is_closed;

int64_t steady_ms(void)
{
    return 1700000000000;
}

bool guest_command(struct collector *of, struct guest_boot *guest,
                   const char *command)
{
    (void)of, (void)guest, (void)command;
    return true;
}

void watch(struct collector *of, struct handle *handle, uint32_t events,
           bool is_new)
{
    (void)of, (void)handle, (void)is_new;
    watched = events;
}

void unwatch_and_close(struct collector *of, struct handle *handle)
{
    (void)of;
    if (handle->file < 0)
        return;
    close(handle->file);
    handle->file = -1;
    is_closed = true;
}

static void begin_readers(void)
{
    int pair[2];

    collector = calloc(1, sizeof *collector);
    answer = malloc(ANSWER_BYTES);
    for (size_t i = 0; i < ANSWER_BYTES; ++i)
        answer[i] = (uint8_t)unit_random();
    is_closed = false;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair),
                     0);
    ours = pair[1];
    readers_answer(collector, pair[0], answer, ANSWER_BYTES);
    assert_int_equal(watched, EPOLLIN | EPOLLOUT);
}

static void end_readers(void)
{
    readers_close(collector);
    free(collector);
    free(answer);
    close(ours);
}

FIXTURE(begin_readers, end_readers);

/* What epoll tells, as far as the reader watches it. */
static void tell(uint32_t events)
{
    if (!is_closed)
        readers_event(collector, collector->readers[0],
                      events & (watched | EPOLLHUP | EPOLLERR));
}

/* Reads all that comes. */
static size_t read_all(void)
{
    static uint8_t bytes[1 << 16];
    size_t all = 0;
    ssize_t count;

    while ((count = read(ours, bytes, sizeof bytes)) != 0) {
        if (count > 0) {
            assert_true(all + (size_t)count <= ANSWER_BYTES);
            assert_memory_equal(bytes, answer + all, (size_t)count);
            all += (size_t)count;
        } else {
            assert_false(is_closed);
            tell(EPOLLOUT);
        }
    }
    return all;
}

TEST(a_long_answer_is_whole)
{
    assert_int_equal(read_all(), ANSWER_BYTES);
    assert_true(is_closed);
}

TEST(so_it_is_for_who_sends_no_more)
{
    assert_int_equal(shutdown(ours, SHUT_WR), 0);
    tell(EPOLLIN | EPOLLOUT);
    assert_false(is_closed);
    assert_int_equal(watched, EPOLLOUT); /* the end is not told again */
    assert_int_equal(read_all(), ANSWER_BYTES);
    assert_true(is_closed);
}

TEST(who_is_gone_is_not_waited_for)
{
    close(ours);
    tell(EPOLLIN | EPOLLHUP);
    assert_true(is_closed);
}
