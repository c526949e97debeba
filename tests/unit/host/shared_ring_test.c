/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets in a guest's RAM, whatever the guest says of them: each call ends
 * soon, and none reads outside of the ring.
 */

#define _GNU_SOURCE /* memfd_create() */

#include "../unit.h"

#include "base/wait.h"
#include "input/shared_ring.h"
#include "stream_maker.h"

#include <sys/mman.h>
#include <unistd.h>

#define RAM_BYTES (4u << 20)
#define RING_AT 64u
#define BYTES_AT 4096u

/* RAM as a file, mapped by the reader and by us. */
struct ram {
    struct shared_ring share;
    struct packet_sink sink;
    struct prof_share *head;
    uint8_t *bytes; /* of the ring */
    unsigned packets;
    int file;
};

static void note(void *owner, const struct packet *packet)
{
    struct ram *ram = owner;

    assert_true(packet->total_bytes <= PROF_PACKET_MAX);
    ++ram->packets;
}

static bool open_at(struct ram *ram, uint64_t ring)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", ram->file);
    return shared_ring_open(&ram->share, path, ring);
}

static struct ram *new_ram(uint64_t ring_bytes, uint64_t written)
{
    struct ram *ram = calloc(1, sizeof *ram);
    uint8_t *all;

    ram->file = memfd_create("ram", 0);
    assert_int_equal(ftruncate(ram->file, RAM_BYTES), 0);
    all =
        mmap(NULL, RAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ram->file, 0);
    assert_true(all != MAP_FAILED);
    ram->head = (struct prof_share *)(void *)(all + RING_AT);
    ram->bytes = all + BYTES_AT;
    *ram->head = (struct prof_share){.magic = PROF_SHARE_MAGIC,
                                     .ring_address = BYTES_AT,
                                     .ring_bytes = ring_bytes,
                                     .written = written};
    ram->sink = (struct packet_sink){note, ram};
    assert_true(open_at(ram, RING_AT));
    return ram;
}

static void free_ram(struct ram *ram)
{
    shared_ring_close(&ram->share);
    munmap(ram->bytes - BYTES_AT, RAM_BYTES);
    close(ram->file);
    free(ram);
}

/* Calls until there is nothing new; how many calls had something. */
static unsigned read_all(struct ram *ram)
{
    unsigned calls = 0;

    while (shared_ring_read(&ram->share, &ram->sink))
        assert_in_range(++calls, 1, 100000);
    return calls;
}

TEST(packets_are_read_once)
{
    struct ram *ram = new_ram(1 << 16, 0);
    struct made made = {.packet_room = 4096};

    made_hello(&made, 64);
    made_flush(&made);
    for (unsigned i = 0; i < 1000; ++i) {
        size_t room = (made.count + 7) / 8 * 8;

        memcpy(ram->bytes + i % 100 * room, made.bytes, made.count);
        if (i % 100 == 99) { /* a zero: continue at the beginning */
            memset(ram->bytes + 100 * room, 0, 8);
            ram->head->written = (ram->head->written / (1 << 16) + 1) << 16;
        } else {
            ram->head->written += room;
        }
        read_all(ram);
        assert_int_equal(ram->head->read, ram->head->written);
    }
    assert_int_equal(ram->packets, 1000);
    assert_int_equal(ram->share.overwritten, 0);
    free(made.bytes);
    free_ram(ram);
}

TEST(any_count_of_bytes_comes_to_an_end)
{
    static const uint64_t counts[] = {UINT64_MAX,
                                      UINT64_MAX - 7,
                                      UINT64_MAX - 8,
                                      1ull << 63,
                                      (1 << 16) + 1u,
                                      UINT64_MAX - 65535,
                                      1,
                                      7};

    for (size_t i = 0; i < COUNT(counts); ++i) {
        struct ram *ram = new_ram(1 << 16, counts[i]);

        memset(ram->bytes, 0xa5, 1 << 16);
        assert_in_range(read_all(ram), 1, 16);
        assert_int_equal(ram->share.read, counts[i]);
        ram->head->written = 5; /* another guest */
        read_all(ram);
        assert_int_equal(ram->share.read, 5);
        free_ram(ram);
    }
}

TEST(overwritten_bytes_are_counted_to_the_largest_number)
{
    struct ram *ram = new_ram(1 << 16, UINT64_MAX);

    memset(ram->bytes, 0xa5, 1 << 16);
    read_all(ram);
    assert_true(ram->share.overwritten == UINT64_MAX - (1 << 16));
    ram->head->written = 0; /* another guest */
    read_all(ram);
    ram->head->written = UINT64_MAX;
    read_all(ram);
    assert_true(ram->share.overwritten == UINT64_MAX);
    free_ram(ram);
}

/* Each eight bytes look like the longest packet, with a wrong checksum. */
TEST(one_call_looks_at_few_bytes)
{
    struct ram *ram = new_ram(1 << 20, 1 << 20);
    const uint32_t bits = PROF_PACKET_MAX * 8;

    for (size_t i = 0; i < 1 << 20; i += 8) {
        memcpy(ram->bytes + i, &bits, 4);
        memcpy(ram->bytes + i + 4, &bits, 4);
    }
    assert_true(shared_ring_read(&ram->share, &ram->sink));
    assert_in_range(ram->share.read, 8, SHARED_RING_STEP / 1000);
    shared_ring_read_rest(&ram->share, &ram->sink);
    assert_in_range(ram->share.read, 16, 1 << 16);
    free_ram(ram);
}

TEST(a_caller_may_read_less_at_a_time)
{
    struct ram *ram = new_ram(1 << 16, 0);
    struct made made = {.packet_room = 4096};
    size_t room;

    made_hello(&made, 64);
    made_flush(&made);
    room = (made.count + 7) / 8 * 8;
    for (unsigned i = 0; i < 10; ++i)
        memcpy(ram->bytes + i * room, made.bytes, made.count);
    ram->head->written = 10 * room;
    assert_int_equal(shared_ring_room(&ram->share), 1 << 16);
    ram->share.step = 1;
    assert_true(shared_ring_read(&ram->share, &ram->sink));
    assert_int_equal(ram->packets, 1);
    assert_int_equal(read_all(ram), 9);
    assert_int_equal(ram->packets, 10);
    free(made.bytes);
    free_ram(ram);
}

TEST(a_ring_outside_of_the_ram_is_damaged)
{
    static const struct prof_share heads[] = {
        {.ring_address = RAM_BYTES, .ring_bytes = 4096},
        {.ring_address = UINT64_MAX - 7, .ring_bytes = 4096},
        {.ring_address = 4096, .ring_bytes = RAM_BYTES},
        {.ring_address = 4096, .ring_bytes = 1ull << 63},
        {.ring_address = 4096, .ring_bytes = 0},
        {.ring_address = 4096, .ring_bytes = 5000},
        {.ring_address = 4096, .ring_bytes = 8}};

    for (size_t i = 0; i < COUNT(heads); ++i) {
        struct ram *ram = new_ram(4096, 4096);

        ram->head->ring_address = heads[i].ring_address;
        ram->head->ring_bytes = heads[i].ring_bytes;
        assert_false(shared_ring_read(&ram->share, &ram->sink));
        assert_true(ram->share.damaged);
        shared_ring_read_rest(&ram->share, &ram->sink);
        free_ram(ram);
    }
}

/* Before the call, and between two: in its packets, and in its head. */
TEST(ram_that_is_cut_ends_the_reading_only)
{
    static const struct {
        off_t bytes;
        unsigned packets;
    } rows[] = {{BYTES_AT + 4096, 4}, {BYTES_AT, 0}, {0, 0}};
    struct made made = {.packet_room = 4096};

    signals_explain();
    made_hello(&made, 64);
    made_flush(&made);
    for (size_t i = 0; i < COUNT(rows); ++i) {
        struct ram *ram = new_ram(1 << 16, 1 << 16);

        memset(ram->bytes, 0xa5, 1 << 16);
        for (unsigned j = 0; j < 4; ++j)
            memcpy(ram->bytes + j * ((made.count + 7) / 8 * 8), made.bytes,
                   made.count);
        assert_int_equal(ftruncate(ram->file, rows[i].bytes), 0);
        assert_false(shared_ring_read(&ram->share, &ram->sink));
        assert_true(ram->share.damaged);
        assert_int_equal(ram->packets, rows[i].packets);
        assert_false(shared_ring_read(&ram->share, &ram->sink));
        shared_ring_read_rest(&ram->share, &ram->sink);
        free_ram(ram);
    }
    free(made.bytes);
}

TEST(a_ring_is_where_there_is_ram)
{
    struct ram *ram = new_ram(4096, 0);

    shared_ring_close(&ram->share);
    assert_false(open_at(ram, UINT64_MAX - 7));
    assert_false(open_at(ram, UINT64_MAX - 47));
    assert_false(open_at(ram, RAM_BYTES));
    assert_false(open_at(ram, RAM_BYTES - sizeof(struct prof_share) + 8));
    assert_true(open_at(ram, RAM_BYTES - sizeof(struct prof_share)));
    free_ram(ram);
}
