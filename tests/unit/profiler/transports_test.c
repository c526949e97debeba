/* SPDX-License-Identifier: Apache-2.0 */

/* Packets as text and in memory, and which way out is taken. */

#include "../unit.h"

#include "../host/event_script.h"
#include "trace/console.h"
#include "stream/stream.h"
#include <prof/format.h>
#include <prof/transport.h>
#include <prof/port.h>
#include <prof/prof.h>

extern struct prof_share prof_share_ring;

static char said[1 << 16];
static size_t said_bytes;
static void *given; /* by prof_port_alloc() */
static bool refuse;

static void no_eoi(void)
{
}

void (*current_eoi_mechanism)(void) = no_eoi;

#define STUB(name)                                                             \
    void name(void);                                                           \
    void name(void)                                                            \
    {                                                                          \
    }
STUB(prof_parasite)
STUB(prof_lapic_enter)
STUB(prof_nmi)
STUB(prof_lapic_sampled)
STUB(prof_lapic_done)
STUB(prof_lapic_done_by_msr)

void prof_port_write(const char *text, size_t bytes)
{
    memcpy(said + said_bytes, text, bytes);
    said_bytes += bytes;
    said[said_bytes] = '\0';
}

void *prof_port_alloc(size_t bytes)
{
    given = refuse ? NULL : malloc(bytes);
    return given;
}

void prof_port_free(void *memory)
{
    free(memory);
}

static void quiet(void)
{
    said_bytes = 0;
    said[0] = '\0';
    refuse = false;
    given = NULL;
}

static void give_back(void)
{
    free(given);
}

FIXTURE(quiet, give_back);

static const uint8_t *sent;
static unsigned arrived;

static void arrive(void *owner, const struct packet *packet)
{
    (void)owner;
    assert_memory_equal(packet->bytes, sent, packet->total_bytes);
    arrived++;
}

/* Of any length, by the host's reader of consoles. */
TEST(a_packet_as_text_can_be_put_together_again)
{
    for (unsigned events = 0; events < 300; events++) {
        struct made made = {.packet_room = 4096, .step = 10};
        struct console *console = calloc(1, sizeof *console);

        console->sink = (struct packet_sink){arrive, NULL};
        made_hello(&made, 64);
        for (unsigned i = 0; i < events; i++)
            made_script(&made, "miss %u", i * i * 77777);
        made_script(&made, "name 1 %.*s; flush", (int)(events % 5), "xxxxx");
        sent = made.bytes;
        said_bytes = arrived = 0;
        prof_transport_text(made.bytes, made.count, prof_port_write);
        console_feed(console, said, said_bytes);
        console_end(console);
        assert_int_equal(arrived, 1);
        free(made.bytes);
        free(console);
    }
}

TEST(memory_is_written_over_and_counted)
{
    static uint8_t packet[3000];
    uint64_t at = 0;
    uint32_t magic = PROF_PACKET_MAGIC;

    assert_true(prof_shared_memory_open(100 * 1024, 0x1000));
    assert_true(prof_share_ring.magic == PROF_SHARE_MAGIC);
    assert_true(prof_share_ring.ring_bytes == 65536);
    assert_true(prof_share_ring.ring_address == (uintptr_t)given - 0x1000);
    memcpy(packet, &magic, sizeof magic);
    for (unsigned i = 0; i < 100; i++) {
        memset(packet + 4, (int)i, sizeof packet - 4);
        assert_true(prof_shared_memory_transport.send(packet, sizeof packet));
        if (at % 65536 > 65536 - sizeof packet) {
            assert_int_equal(*(uint32_t *)((char *)given + at % 65536), 0);
            at += 65536 - at % 65536;
        }
        assert_memory_equal((char *)given + at % 65536, packet, sizeof packet);
        at += sizeof packet;
        assert_true(prof_share_ring.written == at);
        assert_true(prof_share_ring.overwritten ==
                    (at > 65536 ? at - 65536 : 0));
    }
    prof_share_ring.read = at;
    at = prof_share_ring.overwritten;
    for (unsigned i = 0; i < 10; i++)
        assert_true(prof_shared_memory_transport.send(packet, sizeof packet));
    assert_true(prof_share_ring.overwritten == at);
}

static bool there[3];
static bool open_0(void)
{
    return there[0];
}
static bool open_1(void)
{
    return there[1];
}
static bool open_2(void)
{
    return there[2];
}
static bool swallow(const void *packet, size_t bytes)
{
    (void)packet;
    return bytes > 0;
}

static const struct prof_transport transports[] = {
    {.name = "virtio", .open = open_0, .send = swallow},
    {.name = "uart2", .open = open_1, .send = swallow},
    {.name = "serial", .open = open_2, .send = swallow},
};

static const char *chosen(const char *word, unsigned present)
{
    const struct prof_transport *out;

    for (unsigned i = 0; i < 3; i++)
        there[i] = (present >> i & 1) != 0;
    said_bytes = 0;
    said[0] = '\0';
    assert_int_equal(prof_option(word), 0);
    out = prof_transport_choose(transports, 3);
    assert_true(prof_stream_on() == (out != NULL));
    return out != NULL ? out->name : "none";
}

TEST(the_next_transport_is_taken_and_reported)
{
    assert_string_equal(chosen("prof.out=off", 7), "none");
    assert_string_equal(said, "");
    assert_string_equal(chosen("prof.out=virtio", 7), "virtio");
    assert_string_equal(chosen("prof.out=serial", 7), "serial");
    assert_string_equal(said, "");
    assert_string_equal(chosen("prof.out=virtio", 4), "serial");
    assert_non_null(strstr(said, "prof.out=virtio: no such device; the stream "
                                 "goes to serial\n"));
    assert_string_equal(chosen("prof.out=uart2", 5), "serial");
    assert_string_equal(chosen("prof.out=serial", 3), "none");
    assert_non_null(strstr(said, "there is no stream\n"));
    assert_string_equal(chosen("prof.out=shm", 7), "shm");
    free(given);
    refuse = true;
    assert_string_equal(chosen("prof.out=shm", 6), "uart2");
    assert_non_null(strstr(said, "prof.out=shm: no memory for prof.share; the "
                                 "stream goes to uart2\n"));
    assert_string_equal(chosen("prof.out=off", 7), "none");
}
