/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport prof.out=vsock: whose the packets are, and whose line is the
 * next command. The sockets are drivers/vsock.c, the device is this file's.
 */

#include "../unit.h"

#include "../../../drivers/vsock.c"

#include "../../../kernel/prof_vsock.c"

static void (*in_pause)(void); /* what the host does while the guest waits */
static unsigned pauses;
static struct vsock sockets;
static bool is_there;
static struct {
    uint32_t port; /* of the host */
    unsigned op;
    char data[4096];
    uint32_t bytes;
} sent[64];
static unsigned sent_count;
static char printed[512];

static bool put(const struct vsock_header *header, const void *data)
{
    if (sent_count == COUNT(sent))
        return false;
    sent[sent_count].port = header->dst_port;
    sent[sent_count].op = header->op;
    sent[sent_count].bytes = header->len;
    if (header->len != 0)
        memcpy(sent[sent_count].data, data, header->len);
    sent_count++;
    return true;
}

int virtio_vsock_start(void *(*allocate)(size_t bytes))
{
    (void)allocate;
    return is_there ? 0 : VIRTIO_VSOCK_NONE;
}

struct vsock *virtio_vsock(void)
{
    return is_there ? &sockets : NULL;
}

void virtio_vsock_poll(void)
{
}

void virtio_vsock_pause(void)
{
    pauses++;
    if (in_pause != NULL)
        in_pause();
}

void console_line(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    vsnprintf(printed, sizeof printed, format, words);
    va_end(words);
}

static void begin_test(void)
{
    vsock_open(&sockets, 3, put);
    is_there = true;
    sent_count = client_count = pauses = 0;
    in_pause = NULL;
    line.socket = NOBODY;
    memset(&lost, 0, sizeof lost);
    port = 9999;
    assert_true(prof_vsock_open());
}

FIXTURE(begin_test, NULL);

static void take(unsigned op, uint32_t from, const void *data, size_t bytes)
{
    const struct vsock_header header = {.src_cid = 2,
                                        .dst_cid = 3,
                                        .src_port = from,
                                        .dst_port = 9999,
                                        .len = (uint32_t)bytes,
                                        .type = 1,
                                        .op = (uint16_t)op,
                                        .flags = 3,
                                        .buf_alloc = 65536};

    vsock_take(&sockets, &header, data, bytes);
}

static void says(uint32_t from, const char *text)
{
    take(VSOCK_OP_RW, from, text, strlen(text));
}

/* All that receive() returns; each line is answered by "re: LINE". */
static char *received(void)
{
    static char text[4096];
    size_t used = 0, start = 0;
    int byte;

    while ((byte = prof_vsock_receive()) >= 0) {
        char answer[VSOCK_ROOM + 8];

        assert_true(used < sizeof text - 1);
        text[used++] = (char)byte;
        text[used] = '\0';
        if (byte != '\n')
            continue;
        snprintf(answer, sizeof answer, "re: %.*s", (int)(used - start),
                 text + start);
        (void)prof_vsock_answer(answer, strlen(answer));
        start = used;
    }
    text[used] = '\0';
    return text;
}

/* Data packets to (to) since the last call, joined; all others are dropped. */
static char *data_to(uint32_t to)
{
    static char text[8192];

    text[0] = '\0';
    for (unsigned i = 0; i < sent_count; i++)
        if (sent[i].port == to && sent[i].op == VSOCK_OP_RW)
            strncat(text, sent[i].data, sent[i].bytes);
    return text;
}

TEST(ports_are_numbers)
{
    static const char *const wrong[] = {"",  "0",  "x",          "1x",
                                        "-", "-1", "4294967295", " 1"};

    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(prof_vsock_set_port(wrong[i]));
    assert_int_equal(port, 9999);
    assert_true(prof_vsock_set_port("4294967294"));
    assert_int_equal(port, 4294967294);
}

TEST(packets_without_a_reader_are_counted)
{
    assert_true(prof_vsock_send("ab", 2));
    assert_true(prof_vsock_send("c", 1));
    assert_int_equal(sent_count, 0);
    prof_vsock_print();
    assert_non_null(strstr(printed, "2 packets (3 bytes) had no reader"));
}

TEST(the_first_has_the_packets)
{
    take(VSOCK_OP_REQUEST, 1, NULL, 0);
    take(VSOCK_OP_REQUEST, 2, NULL, 0);
    assert_true(prof_vsock_send("first", 5));
    assert_string_equal(data_to(1), "first");
    assert_string_equal(data_to(2), "");
    take(VSOCK_OP_SHUTDOWN, 1, NULL, 0);
    assert_true(prof_vsock_send("second", 6));
    assert_string_equal(data_to(1), "first");
    assert_string_equal(data_to(2), "second");
    assert_int_equal(client_count, 1);
    assert_int_equal(lost.packets, 0);
}

TEST(each_gets_its_own_answers)
{
    take(VSOCK_OP_REQUEST, 1, NULL, 0);
    take(VSOCK_OP_REQUEST, 2, NULL, 0);
    says(2, "stop\nsta");
    says(1, "rate 9");
    assert_string_equal(received(), "stop\n");
    assert_string_equal(data_to(2), "re: stop\n");
    says(1, "9\n");
    says(2, "rt\n");
    assert_string_equal(received(), "rate 99\nstart\n");
    assert_string_equal(data_to(1), "re: rate 99\n");
    assert_string_equal(data_to(2), "re: stop\nre: start\n");
}

/* A command is executed though its sender has gone. */
TEST(the_last_words_count)
{
    take(VSOCK_OP_REQUEST, 1, NULL, 0);
    says(1, "stop\nhalf");
    take(VSOCK_OP_SHUTDOWN, 1, NULL, 0);
    assert_string_equal(received(), "stop\n");
    assert_string_equal(data_to(1), "");
    assert_int_equal(prof_vsock_receive(), -1);
    assert_int_equal(client_count, 0);
    assert_int_equal(vsock_state(&sockets, 0), VSOCK_FREE);
}

/* What does not end is refused by the parser, once, and does not hold up
 * others. */
TEST(a_line_that_does_not_end)
{
    static char data[VSOCK_ROOM];

    memset(data, 'x', sizeof data);
    take(VSOCK_OP_REQUEST, 1, NULL, 0);
    take(VSOCK_OP_REQUEST, 2, NULL, 0);
    take(VSOCK_OP_RW, 1, data, sizeof data - 1);
    says(2, "stop\n");
    assert_string_equal(received(), "stop\n");
    take(VSOCK_OP_RW, 1, data, 1);
    assert_int_equal(strlen(received()), VSOCK_ROOM + 1);
    assert_int_equal(lost.lines, 1);
    for (unsigned i = 0; i < 5; i++) {
        take(VSOCK_OP_RW, 1, data, sizeof data);
        assert_string_equal(received(), "");
    }
    says(1, "xx\nstart\n");
    assert_string_equal(received(), "start\n");
    assert_int_equal(lost.lines, 1);
    assert_int_equal(sockets.counts.violations, 0);
}

/* The interrupt finds a thread in here. */
TEST(nothing_is_nested)
{
    take(VSOCK_OP_REQUEST, 1, NULL, 0);
    assert_false(prof_vsock_busy());
    uses = 1;
    assert_true(prof_vsock_busy());
    assert_false(prof_vsock_send("x", 1));
    assert_false(prof_vsock_answer("x", 1));
    assert_int_equal(prof_vsock_receive(), -1);
    prof_vsock_finish();
    assert_int_equal(pauses, 0);
    uses = 0;
    assert_true(prof_vsock_send("x", 1));
}

/* Or in a service's call for the same device. */
TEST(nothing_is_nested_in_a_service)
{
    take(VSOCK_OP_REQUEST, 1, NULL, 0);
    vsock_hold(&sockets);
    assert_true(prof_vsock_busy());
    assert_false(prof_vsock_send("x", 1));
    assert_false(prof_vsock_answer("x", 1));
    assert_int_equal(prof_vsock_receive(), -1);
    vsock_release(&sockets);
    assert_false(prof_vsock_busy());
    assert_true(prof_vsock_send("x", 1));
}

/* ---- the end of a stream */

static void host_reads(void)
{
    const struct vsock_header update = {.src_cid = 2,
                                        .dst_cid = 3,
                                        .src_port = 1,
                                        .dst_port = 9999,
                                        .type = 1,
                                        .op = VSOCK_OP_CREDIT_UPDATE,
                                        .buf_alloc = 65536,
                                        .fwd_cnt = pauses};

    if (pauses <= 10)
        vsock_take(&sockets, &update, NULL, 0);
}

TEST(the_end_waits_for_the_host)
{
    prof_vsock_finish(); /* nobody is there */
    take(VSOCK_OP_REQUEST, 1, NULL, 0);
    assert_true(prof_vsock_send("0123456789", 10));
    in_pause = host_reads;
    prof_vsock_finish();
    assert_int_equal(pauses, 10);
    assert_int_equal(sent[2].op, VSOCK_OP_CREDIT_REQUEST);
}

TEST(a_host_that_never_reads_is_given_up)
{
    take(VSOCK_OP_REQUEST, 1, NULL, 0);
    assert_true(prof_vsock_send("0123456789", 10));
    prof_vsock_finish();
    assert_in_range(pauses, FINISH_POLLS_MAX, 2 * FINISH_POLLS_MAX);
}

/* One that takes back what it said, and says it again. */
static void host_wavers(void)
{
    const struct vsock_header update = {.src_cid = 2,
                                        .dst_cid = 3,
                                        .src_port = 1,
                                        .dst_port = 9999,
                                        .type = 1,
                                        .op = VSOCK_OP_CREDIT_UPDATE,
                                        .buf_alloc = 65536,
                                        .fwd_cnt = pauses % 3};

    assert_true(pauses < 4 * FINISH_POLLS_MAX);
    sent_count = 0;
    vsock_take(&sockets, &update, NULL, 0);
}

TEST(a_host_that_wavers_is_given_up)
{
    take(VSOCK_OP_REQUEST, 1, NULL, 0);
    assert_true(prof_vsock_send("0123456789", 10));
    in_pause = host_wavers;
    prof_vsock_finish();
    assert_in_range(pauses, FINISH_POLLS_MAX, 2 * FINISH_POLLS_MAX);
}

TEST(without_a_device_nothing_happens)
{
    is_there = false;
    assert_false(prof_vsock_open());
    assert_false(prof_vsock_send("x", 1));
    assert_int_equal(prof_vsock_receive(), -1);
    prof_vsock_finish();
    assert_int_equal(pauses, 0);
}
