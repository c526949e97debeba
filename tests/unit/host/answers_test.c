/* SPDX-License-Identifier: Apache-2.0 */
/* A guest's answers are found among any other bytes, in pieces of any size. */

#include "../unit.h"

#include "base/wait.h"
#include "input/send.h"

struct heard {
    char texts[8][SEND_LINE_MAX];
    size_t count;
};

static void hear(void *owner, const char *text)
{
    struct heard *heard = owner;

    assert_true(heard->count < 8);
    strcpy(heard->texts[heard->count++], text);
}

/* What is heard in (text) when it comes in pieces of (step) bytes. */
static uint64_t listen_to(const void *bytes, size_t count, size_t step,
                          struct heard *heard)
{
    struct answers answers = {.take = hear, .owner = heard};

    *heard = (struct heard){.count = 0};
    for (size_t i = 0; i < count; i += step)
        answers_feed(&answers, (const char *)bytes + i,
                     count - i < step ? count - i : step);
    return answers.bytes;
}

TEST(answers_are_found_among_packets)
{
    static const char bytes[] =
        "\xc1\x1f#pr\n#prof 1.1/1 AAAA\n##prof! ok start at 99.998 Hz\r\n"
        "\n#prof#prof! error: \"fly\": no\nrest";
    struct heard heard;

    for (size_t step = 1; step < sizeof bytes; ++step) {
        listen_to(bytes, sizeof bytes - 1, step, &heard);
        assert_int_equal(heard.count, 2);
        assert_string_equal(heard.texts[0], "ok start at 99.998 Hz");
        assert_string_equal(heard.texts[1], "error: \"fly\": no");
    }
}

TEST(what_is_no_answer_is_not_heard)
{
    static const char bytes[] = "#prof !\n#prof! cut";
    struct heard heard;

    assert_int_equal(listen_to(bytes, sizeof bytes - 1, 3, &heard), 0);
    assert_int_equal(heard.count, 0);
}

TEST(their_bytes_are_counted_with_the_newline_before)
{
    static const char led[] = "packet\n#prof! ok stop\npacket";
    static const char bare[] = "packet#prof! ok stop\npacket";
    struct heard heard;

    assert_int_equal(listen_to(led, sizeof led - 1, 1, &heard), 16);
    assert_int_equal(listen_to(bare, sizeof bare - 1, 1, &heard), 15);
}

TEST(a_long_answer_is_cut)
{
    char bytes[1000] = "#prof! ";
    struct heard heard;

    memset(bytes + 7, 'x', sizeof bytes - 8);
    bytes[sizeof bytes - 1] = '\n';
    listen_to(bytes, sizeof bytes, 10, &heard);
    assert_int_equal(heard.count, 1);
    assert_int_equal(strlen(heard.texts[0]), SEND_LINE_MAX - 1);
}

/* What becomes of a command that was sent (begun) seconds ago, by a guest that
 * sent anything (heard) seconds ago. */
static enum send_state state_after(double begun, double heard)
{
    struct sender sender = {.file = -1};
    const double now = seconds_now();
    enum send_state state;

    send_add(&sender, "depth %d", 3);
    send_begin(&sender, -1);
    sender.once = true;
    sender.begun = sender.sent = now - begun;
    sender.heard = now - heard;
    state = send_step(&sender);
    send_free(&sender);
    return state;
}

TEST(a_guest_that_sends_is_waited_for_longer)
{
    const double idle = SEND_SECONDS + 1, busy = SEND_SECONDS_BUSY + 1;

    assert_int_equal(state_after(idle, idle), SEND_FAILED);
    assert_int_equal(state_after(idle, 0), SEND_WAITS);
    assert_int_equal(state_after(busy, 0), SEND_FAILED);
}
