/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream sockets against bytes: headers as Virtual I/O Device (VIRTIO) Version
 * 1.2, 5.10.6 lays them out, and the conversations of Firecracker's
 * docs/vsock.md, in both directions.
 */

#include "../unit.h"

#include "../../../drivers/vsock.c"

#define GUEST 3u
#define HEADER 44u

/* ---- what was sent */

static struct {
    uint8_t header[HEADER];
    uint8_t data[4096];
} sent[64];
static unsigned sent_count, room;
static struct vsock vsock;

static bool put(const struct vsock_header *header, const void *data)
{
    if (sent_count == room)
        return false;
    memcpy(sent[sent_count].header, header, HEADER);
    if (header->len != 0)
        memcpy(sent[sent_count].data, data, header->len);
    sent_count++;
    return true;
}

static void begin_test(void)
{
    memset(sent, 0xee, sizeof sent);
    sent_count = 0;
    room = COUNT(sent);
    vsock_open(&vsock, GUEST, put);
    assert_true(vsock_listen(&vsock, 52));
}

FIXTURE(begin_test, NULL);

static uint64_t number(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;

    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

static void put_number(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* The header of packet (index) that was sent, which must be the last. */
static const uint8_t *only(unsigned index)
{
    assert_int_equal(sent_count, index + 1);
    return sent[index].header;
}

static unsigned op_of(const uint8_t *header)
{
    return (unsigned)number(header + 30, 2);
}

/* ---- what comes */

static struct {
    uint32_t port, to; /* of the host, of the guest */
    uint64_t to_cid;
    uint32_t flags, buf_alloc, fwd_cnt;
    uint16_t type;
} from = {1073741824, 52, GUEST, 0, 65536, 0, 1};

static void take(unsigned op, const void *data, uint32_t bytes)
{
    uint8_t bits[HEADER];
    struct vsock_header header;

    put_number(bits, 2, 8);
    put_number(bits + 8, from.to_cid, 8);
    put_number(bits + 16, from.port, 4);
    put_number(bits + 20, from.to, 4);
    put_number(bits + 24, bytes, 4);
    put_number(bits + 28, from.type, 2);
    put_number(bits + 30, op, 2);
    put_number(bits + 32, from.flags, 4);
    put_number(bits + 36, from.buf_alloc, 4);
    put_number(bits + 40, from.fwd_cnt, 4);
    memcpy(&header, bits, sizeof header);
    vsock_take(&vsock, &header, data, bytes);
}

static void take_shut(uint32_t flags)
{
    from.flags = flags;
    take(4, NULL, 0);
    from.flags = 0;
}

static int connected(void)
{
    int socket;

    take(1, NULL, 0);
    socket = vsock_accept(&vsock, 52);
    assert_true(socket >= 0);
    assert_int_equal(op_of(only(sent_count - 1)), 2);
    sent_count = 0;
    return socket;
}

/* ---- connections of the host's */

/* OP_REQUEST is answered by OP_RESPONSE, every field where 5.10.6 has it. */
TEST(a_request_is_answered_byte_for_byte)
{
    /* clang-format off */
    static const uint8_t response[HEADER] = {
        3, 0, 0, 0, 0, 0, 0, 0,         /* src_cid: the guest */
        2, 0, 0, 0, 0, 0, 0, 0,         /* dst_cid: the host */
        52, 0, 0, 0,                    /* src_port */
        0, 0, 0, 0x40,                  /* dst_port: 1073741824 */
        0, 0, 0, 0,                     /* len */
        1, 0,                           /* type: stream */
        2, 0,                           /* op: OP_RESPONSE */
        0, 0, 0, 0,                     /* flags */
        0, 4, 0, 0,                     /* buf_alloc: 1,024 */
        0, 0, 0, 0,                     /* fwd_cnt */
    };
    /* clang-format on */

    take(1, NULL, 0);
    assert_memory_equal(only(0), response, HEADER);
    assert_int_equal(vsock_accept(&vsock, 53), -1);
    assert_int_equal(vsock_accept(&vsock, 52), 0);
    assert_int_equal(vsock_accept(&vsock, 52), -1);
    assert_int_equal(vsock_state(&vsock, 0), VSOCK_OPEN);
    assert_int_equal(vsock.counts.accepted, 1);
}

TEST(nobody_listens)
{
    from.to = 53;
    take(1, NULL, 0);
    from.to = 52;
    assert_int_equal(op_of(only(0)), 3);
    assert_int_equal(number(sent[0].header + 16, 4), 53);
    assert_int_equal(number(sent[0].header + 20, 4), 1073741824);
    assert_int_equal(vsock.counts.refused, 1);
    assert_int_equal(vsock_accept(&vsock, 53), -1);
}

TEST(all_sockets_are_taken)
{
    for (unsigned i = 0; i < VSOCK_SOCKETS; i++, from.port++)
        take(1, NULL, 0);
    sent_count = 0;
    take(1, NULL, 0);
    assert_int_equal(op_of(only(0)), 3);
    assert_int_equal(vsock.counts.refused, 1);
    from.port--; /* one leaves */
    take_shut(3);
    assert_int_equal(op_of(only(1)), 3);
    for (unsigned i = 0; i < VSOCK_SOCKETS; i++)
        assert_int_equal(vsock_accept(&vsock, 52), (int)i);
    assert_true(vsock_close(&vsock, VSOCK_SOCKETS - 1));
    from.port++;
    take(1, NULL, 0);
    assert_int_equal(op_of(only(2)), 2);
    from.port = 1073741824;
}

TEST(ports_that_are_listened_to_have_a_limit)
{
    for (unsigned i = 1; i < VSOCK_LISTENERS; i++)
        assert_true(vsock_listen(&vsock, 52 + i));
    assert_false(vsock_listen(&vsock, 99));
}

/* ---- data, both ways */

TEST(what_is_sent_is_counted_by_the_peer)
{
    int socket = connected();

    assert_true(vsock_send(&vsock, socket, "hello", 5));
    assert_int_equal(op_of(only(0)), 5);
    assert_int_equal(number(sent[0].header + 24, 4), 5);
    assert_memory_equal(sent[0].data, "hello", 5);
    assert_int_equal(vsock_unread(&vsock, socket), 5); /* and asks */
    assert_int_equal(op_of(only(1)), 7);
    assert_int_equal(vsock_unread(&vsock, socket), 5); /* once */
    assert_int_equal(sent_count, 2);
    from.fwd_cnt = 5;
    take(6, NULL, 0);
    assert_int_equal(vsock_unread(&vsock, socket), 0);
    from.fwd_cnt = 0;
}

TEST(nothing_is_sent_beyond_the_credit)
{
    static const char data[100];
    int socket;

    from.buf_alloc = 150;
    socket = connected();
    assert_true(vsock_send(&vsock, socket, data, 100));
    assert_false(vsock_send(&vsock, socket, data, 51));
    assert_int_equal(op_of(only(1)), 7);
    assert_false(vsock_send(&vsock, socket, data, 51)); /* asked already */
    assert_int_equal(sent_count, 2);
    assert_true(vsock_send(&vsock, socket, data, 50));
    from.fwd_cnt = 149;
    take(6, NULL, 0);
    assert_false(vsock_send(&vsock, socket, data, 150));
    assert_true(vsock_send(&vsock, socket, data, 100));
    from.fwd_cnt = 0;
    from.buf_alloc = 65536;
}

/* More forwarded than was sent, and less room than before. */
TEST(impossible_credit_is_none)
{
    int socket = connected();

    from.fwd_cnt = 1;
    take(6, NULL, 0);
    assert_false(vsock_send(&vsock, socket, "x", 1));
    from.fwd_cnt = 0;
    take(6, NULL, 0);
    assert_true(vsock_send(&vsock, socket, "xy", 2));
    from.buf_alloc = 1;
    take(6, NULL, 0);
    assert_false(vsock_send(&vsock, socket, "x", 1));
    from.buf_alloc = 65536;
}

/* 5.10.6.3: the counters are free-running. */
TEST(counters_wrap)
{
    int socket = connected();
    struct vsock_socket *of = &vsock.sockets[socket];
    char data[600], got[600];

    of->sent = of->peer_forwarded = UINT32_MAX - 1;
    of->received = of->forwarded = of->advertised = UINT32_MAX - 299;
    from.fwd_cnt = UINT32_MAX - 1;
    memset(data, 'a', sizeof data);
    data[599] = 'z';
    take(5, data, sizeof data);
    assert_int_equal(vsock_available(&vsock, socket), sizeof data);
    assert_int_equal(vsock_peek(&vsock, socket, 599), 'z');
    assert_int_equal(vsock_receive(&vsock, socket, got, sizeof got), 600);
    assert_memory_equal(got, data, sizeof data);
    assert_int_equal(op_of(only(0)), 6);
    assert_int_equal(number(sent[0].header + 40, 4), 300);
    assert_true(vsock_send(&vsock, socket, data, 4));
    assert_int_equal(of->sent, 2);
    assert_int_equal(vsock_unread(&vsock, socket), 4);
    from.fwd_cnt = 0;
}

/* Half of the room is advertised at once, less with the next packet. */
TEST(a_peer_learns_of_its_credit)
{
    int socket = connected();
    uint8_t data[VSOCK_ROOM];

    memset(data, 7, sizeof data);
    take(5, data, sizeof data);
    assert_int_equal(sent_count, 0);
    assert_int_equal(vsock_receive(&vsock, socket, data, 511), 511);
    assert_int_equal(sent_count, 0);
    assert_int_equal(vsock_receive(&vsock, socket, data, 1), 1);
    assert_int_equal(op_of(only(0)), 6);
    assert_int_equal(number(sent[0].header + 40, 4), 512);
    assert_int_equal(vsock_receive(&vsock, socket, data, 3), 3);
    take(7, NULL, 0); /* OP_CREDIT_REQUEST */
    assert_int_equal(op_of(only(1)), 6);
    assert_int_equal(number(sent[1].header + 36, 4), VSOCK_ROOM);
    assert_int_equal(number(sent[1].header + 40, 4), 515);
}

TEST(credit_that_could_not_be_sent_comes_later)
{
    int socket = connected();
    uint8_t data[VSOCK_ROOM];

    memset(data, 7, sizeof data);
    take(5, data, sizeof data);
    room = 0;
    assert_int_equal(vsock_receive(&vsock, socket, data, 1024), 1024);
    vsock_step(&vsock);
    assert_int_equal(sent_count, 0);
    room = COUNT(sent);
    vsock_step(&vsock);
    assert_int_equal(op_of(only(0)), 6);
    vsock_step(&vsock);
    assert_int_equal(sent_count, 1);
}

TEST(a_full_device_refuses)
{
    int socket = connected();

    room = 0;
    assert_false(vsock_send(&vsock, socket, "x", 1));
    assert_int_equal(vsock_connect(&vsock, 2, 1), -1);
    assert_false(vsock_close(&vsock, socket));
    room = COUNT(sent);
    assert_true(vsock_send(&vsock, socket, "x", 1));
    assert_int_equal(vsock.sockets[socket].sent, 1);
    assert_true(vsock_close(&vsock, socket));
}

/* ---- the end of a connection */

/* "OP_SHUTDOWN ... followed by an OP_RST response from the peer" */
TEST(the_peers_shutdown_is_confirmed)
{
    int socket = connected();
    char got[8];

    take(5, "bye", 3);
    take_shut(3);
    assert_int_equal(op_of(only(0)), 3);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_CLOSED);
    assert_false(vsock_send(&vsock, socket, "x", 1));
    assert_int_equal(vsock_receive(&vsock, socket, got, 8), 3);
    assert_memory_equal(got, "bye", 3);
    assert_true(vsock_close(&vsock, socket));
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_FREE);
    assert_int_equal(sent_count, 1);
}

/* "These hints are permanent once sent" */
TEST(hints_of_a_shutdown_add_up)
{
    int socket = connected();

    take_shut(2);
    assert_int_equal(sent_count, 0);
    assert_true(vsock_is_read(&vsock, socket));
    assert_true(vsock_send(&vsock, socket, "x", 1));
    take_shut(0);
    assert_true(vsock_is_read(&vsock, socket));
    take_shut(1);
    assert_int_equal(op_of(only(1)), 3);
    assert_false(vsock_is_read(&vsock, socket));
}

TEST(who_does_not_receive_gets_nothing)
{
    int socket = connected();

    take_shut(1);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_OPEN);
    assert_false(vsock_is_read(&vsock, socket));
    assert_false(vsock_send(&vsock, socket, "x", 1));
    assert_int_equal(sent_count, 0);
    take(5, "x", 1);
    assert_int_equal(vsock_available(&vsock, socket), 1);
}

TEST(our_shutdown_waits_for_a_reset)
{
    int socket = connected();

    assert_true(vsock_close(&vsock, socket));
    assert_int_equal(op_of(only(0)), 4);
    assert_int_equal(number(sent[0].header + 32, 4), 3);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_CLOSING);
    take(5, "late", 4);
    assert_int_equal(vsock_available(&vsock, socket), 0);
    take(3, NULL, 0);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_FREE);
    assert_int_equal(sent_count, 1);
}

/* A peer that never confirms does not keep a socket from others. */
TEST(a_closing_socket_is_taken)
{
    for (unsigned i = 0; i < VSOCK_SOCKETS; i++, from.port++)
        take(1, NULL, 0);
    for (unsigned i = 0; i < VSOCK_SOCKETS; i++)
        assert_true(vsock_accept(&vsock, 52) >= 0);
    assert_true(vsock_close(&vsock, 4));
    sent_count = 0;
    take(1, NULL, 0);
    assert_int_equal(op_of(only(0)), 2);
    assert_int_equal(vsock_accept(&vsock, 52), 4);
    from.port = 1073741824 + 4;
    take(3, NULL, 0); /* of the one that was there before */
    assert_int_equal(vsock_state(&vsock, 4), VSOCK_OPEN);
    from.port = 1073741824;
}

TEST(a_reset_closes)
{
    int socket = connected();

    take(3, NULL, 0);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_CLOSED);
    assert_int_equal(sent_count, 0);
}

/* ---- connections of ours: to port P of CID 2, PATH_P on Firecracker's host */

TEST(a_connection_of_ours)
{
    int socket = vsock_connect(&vsock, VSOCK_HOST, 1024);
    uint32_t port = (uint32_t)number(sent[0].header + 16, 4);

    assert_int_equal(op_of(only(0)), 1);
    assert_int_equal(number(sent[0].header, 8), GUEST);
    assert_int_equal(number(sent[0].header + 8, 8), 2);
    assert_int_equal(number(sent[0].header + 20, 4), 1024);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_CONNECTING);
    assert_false(vsock_send(&vsock, socket, "x", 1));
    from.port = 1024;
    from.to = port;
    take(2, NULL, 0);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_OPEN);
    assert_int_equal(vsock.counts.connected, 1);
    assert_true(vsock_send(&vsock, socket, "x", 1));
    take(5, "y", 1);
    assert_int_equal(vsock_available(&vsock, socket), 1);
    assert_int_equal(vsock_accept(&vsock, port), -1);
    from.port = 1073741824;
    from.to = 52;
}

TEST(a_connection_of_ours_is_refused)
{
    int first = vsock_connect(&vsock, VSOCK_HOST, 1024);
    int second = vsock_connect(&vsock, VSOCK_HOST, 1024);

    assert_true(number(sent[0].header + 16, 4) !=
                number(sent[1].header + 16, 4));
    from.port = 1024;
    from.to = (uint32_t)number(sent[1].header + 16, 4);
    take(3, NULL, 0);
    from.port = 1073741824;
    from.to = 52;
    assert_int_equal(vsock_state(&vsock, first), VSOCK_CONNECTING);
    assert_int_equal(vsock_state(&vsock, second), VSOCK_CLOSED);
    assert_true(vsock_close(&vsock, second));
    assert_int_equal(vsock_state(&vsock, second), VSOCK_FREE);
    sent_count = 0;
    assert_true(vsock_close(&vsock, first)); /* given up */
    assert_int_equal(op_of(only(0)), 3);
    assert_int_equal(vsock_state(&vsock, first), VSOCK_FREE);
}

/* ---- what must not be */

/* "... MUST be sent if a packet is received with an unknown type value" */
TEST(an_unknown_type_is_reset)
{
    from.type = 2;
    take(1, NULL, 0);
    assert_int_equal(op_of(only(0)), 3);
    assert_int_equal(number(sent[0].header + 28, 2), 2);
    take(3, NULL, 0); /* but no reset of a reset */
    assert_int_equal(sent_count, 1);
    from.type = 1;
    assert_int_equal(vsock.counts.strange, 2);
}

TEST(a_stranger_is_reset)
{
    take(5, "x", 1);
    assert_int_equal(op_of(only(0)), 3);
    assert_int_equal(vsock.counts.strange, 1);
    take(3, NULL, 0);
    assert_int_equal(sent_count, 1);
    assert_int_equal(vsock.counts.strange, 1);
}

TEST(packets_to_others_are_ignored)
{
    from.to_cid = 4;
    take(1, NULL, 0);
    from.to_cid = GUEST + ((uint64_t)1 << 32);
    take(1, NULL, 0);
    from.to_cid = GUEST;
    assert_int_equal(sent_count, 0);
    assert_int_equal(vsock.counts.strange, 2);
}

TEST(a_packet_shorter_than_it_says_is_ignored)
{
    int socket = connected();
    const struct vsock_header header = {.src_cid = 2,
                                        .dst_cid = GUEST,
                                        .src_port = from.port,
                                        .dst_port = 52,
                                        .len = UINT32_MAX,
                                        .type = 1,
                                        .op = 5,
                                        .buf_alloc = 1};

    vsock_take(&vsock, &header, (const uint8_t *)"abc", 3);
    assert_int_equal(vsock.counts.strange, 1);
    assert_int_equal(vsock_available(&vsock, socket), 0);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_OPEN);
}

TEST(data_beyond_our_credit_resets)
{
    int socket = connected();
    uint8_t data[VSOCK_ROOM + 1];

    memset(data, 'a', sizeof data);
    take(5, data, VSOCK_ROOM);
    assert_int_equal(sent_count, 0);
    take(5, data, 1);
    assert_int_equal(op_of(only(0)), 3);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_CLOSED);
    assert_int_equal(vsock.counts.violations, 1);
    assert_int_equal(vsock_available(&vsock, socket), VSOCK_ROOM);
}

TEST(operations_that_cannot_be_reset)
{
    static const unsigned wrong[] = {0, 1, 2, 8, 65535};

    for (unsigned i = 0; i < COUNT(wrong); i++) {
        int socket = connected();

        take(wrong[i], NULL, 0);
        assert_int_equal(op_of(only(0)), 3);
        assert_int_equal(vsock_state(&vsock, socket), VSOCK_CLOSED);
        assert_int_equal(vsock.counts.violations, i + 1);
        assert_true(vsock_close(&vsock, socket));
        from.port++;
    }
    from.port = 1073741824;
}

TEST(data_after_its_end_resets)
{
    int socket = connected();

    take_shut(2);
    take(5, "x", 1);
    assert_int_equal(op_of(only(0)), 3);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_CLOSED);
}

TEST(numbers_that_are_no_sockets_do_nothing)
{
    static const int wrong[] = {-1, VSOCK_SOCKETS, INT32_MAX, INT32_MIN};
    char byte;

    for (unsigned i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(vsock_state(&vsock, wrong[i]), VSOCK_FREE);
        assert_false(vsock_is_read(&vsock, wrong[i]));
        assert_false(vsock_send(&vsock, wrong[i], "x", 1));
        assert_int_equal(vsock_available(&vsock, wrong[i]), 0);
        assert_int_equal(vsock_receive(&vsock, wrong[i], &byte, 1), 0);
        assert_int_equal(vsock_unread(&vsock, wrong[i]), 0);
        assert_true(vsock_close(&vsock, wrong[i]));
    }
}

/* 5.10.6.7: VIRTIO_VSOCK_EVENT_TRANSPORT_RESET */
TEST(a_reset_of_the_transport_closes_all_but_listeners)
{
    int socket = connected(), ours = vsock_connect(&vsock, 2, 1);

    sent_count = 0;
    vsock_reset(&vsock, 7);
    assert_int_equal(vsock_state(&vsock, socket), VSOCK_CLOSED);
    assert_int_equal(vsock_state(&vsock, ours), VSOCK_CLOSED);
    assert_int_equal(sent_count, 0);
    assert_int_equal(vsock.counts.resets, 1);
    take(1, NULL, 0); /* to the CID of before */
    assert_int_equal(sent_count, 0);
    from.to_cid = 7;
    take(1, NULL, 0);
    assert_int_equal(op_of(only(0)), 2);
    assert_int_equal(number(sent[0].header, 8), 7);
    from.to_cid = GUEST;
}
