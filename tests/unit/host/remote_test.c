/* SPDX-License-Identifier: Apache-2.0 */

/* Packets of GDB's remote protocol, whole and damaged; and registers from what
 * a stub sends and how it describes that. */

#include "../unit.h"

#include "machine/registers.h"
#include "gdb/remote.h"

static struct remote_reader reader;

/* Feeds (bytes); the last event that is not REMOTE_MORE. */
static enum remote_event feed(const char *bytes)
{
    enum remote_event last = REMOTE_MORE;

    for (; *bytes != '\0'; ++bytes) {
        enum remote_event event = remote_feed(&reader, (uint8_t)*bytes);

        if (event != REMOTE_MORE)
            last = event;
    }
    return last;
}

static void check(const char *bytes, const char *wanted)
{
    assert_int_equal(feed(bytes), REMOTE_PACKET);
    assert_string_equal((const char *)reader.data, wanted);
    assert_int_equal(reader.used, strlen(wanted));
}

/* One after the other: damage ends with its packet. */
TEST(packets_are_decoded_and_damage_is_seen)
{
    static const struct {
        const char *bytes;
        enum remote_event last;
        const char *packet;
    } rows[] = {
        {"$OK#9a", REMOTE_PACKET, "OK"},
        {"+-junk$#00", REMOTE_PACKET, ""},
        {"$0* #7a", REMOTE_PACKET, "0000"},
        {"$}\x03#80", REMOTE_PACKET, "#"},
        {"$}]#da", REMOTE_PACKET, "}"},
        {"%Stop:T05#2a", REMOTE_MORE, NULL}, /* a notification */
        {"$OK#9a", REMOTE_PACKET, "OK"},
        {"$OK#9b", REMOTE_DAMAGED, NULL},
        {"$OK#zz", REMOTE_DAMAGED, NULL},
        {"$*!#4b", REMOTE_DAMAGED, NULL},
        {"$OK$", REMOTE_DAMAGED, NULL},
        {"OK#9a", REMOTE_PACKET, "OK"},
    };

    for (size_t i = 0; i < COUNT(rows); ++i)
        if (rows[i].packet != NULL)
            check(rows[i].bytes, rows[i].packet);
        else
            assert_int_equal(feed(rows[i].bytes), rows[i].last);
}

TEST(packets_that_are_too_long_are_damaged)
{
    feed("$");
    for (unsigned i = 0; i <= REMOTE_PACKET_MAX; ++i)
        feed("a");
    assert_int_equal(feed("#61"), REMOTE_DAMAGED);
    assert_true(reader.used <= REMOTE_PACKET_MAX);
    check("$OK#9a", "OK");
}

TEST(what_is_framed_is_read)
{
    char packet[64];
    size_t bytes = remote_frame(packet, sizeof packet, "m1000,40");

    assert_int_equal(bytes, strlen("m1000,40") + 4);
    check(packet, "m1000,40");
    assert_int_equal(remote_frame(packet, 12, "m1000,40"), 0);
}

/* Bytes of which many have a meaning. */
static uint8_t random_byte(void)
{
    static const char some[] = "$#}*%#+0123456789abcdef";

    return (uint8_t)some[unit_below(sizeof some - 1)];
}

/* A piece at a time is the same as a byte at a time. */
TEST(plain_bytes_are_taken_at_once)
{
    static struct remote_reader other;
    uint8_t bytes[16];

    reader = other = (struct remote_reader){0};
    for (unsigned piece = 0; piece < 5000; ++piece) {
        size_t at = 0;

        for (size_t i = 0; i < sizeof bytes; ++i)
            bytes[i] = random_byte();
        while (at < sizeof bytes) {
            size_t plain =
                remote_feed_plain(&reader, bytes + at, sizeof bytes - at);

            for (size_t i = 0; i < plain; ++i)
                assert_int_equal(remote_feed(&other, bytes[at + i]),
                                 REMOTE_MORE);
            at += plain;
            if (at < sizeof bytes) {
                assert_int_equal(remote_feed(&reader, bytes[at]),
                                 remote_feed(&other, bytes[at]));
                ++at;
            }
        }
        assert_memory_equal(&reader, &other, sizeof reader);
    }
}

TEST(plain_bytes_end_where_a_packet_is_too_long)
{
    uint8_t bytes[1000];
    size_t taken = 0;

    memset(bytes, 'a', sizeof bytes);
    reader = (struct remote_reader){0};
    feed("$");
    for (unsigned i = 0; i < 2 * REMOTE_PACKET_MAX / sizeof bytes; ++i)
        taken += remote_feed_plain(&reader, bytes, sizeof bytes);
    assert_int_equal(taken, REMOTE_PACKET_MAX);
    assert_int_equal(feed("a#61"), REMOTE_DAMAGED);
}

TEST(digits_end_at_other_characters)
{
    uint8_t bytes[4];

    assert_int_equal(remote_hex((const uint8_t *)"01fFx", 5, bytes, 4), 2);
    assert_int_equal(bytes[1], 0xff);
    assert_int_equal(remote_hex((const uint8_t *)"0", 1, bytes, 4), 0);
    assert_int_equal(remote_hex((const uint8_t *)"0011223344", 10, bytes, 4),
                     4);
}

/* ---- registers */

static uint8_t sent[1024];

static void set(uint32_t offset, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; ++i)
        sent[offset + i] = (uint8_t)(value >> (8 * i));
}

TEST(layouts_without_a_description)
{
    struct register_layout layout = {0};
    struct registers found;

    memset(sent, 0, sizeof sent);
    set(128, 0xffffffff80001234u, 8);
    set(56, 0x8000, 8);
    set(48, 0x8010, 8);
    assert_true(registers_take(&layout, sent, 164, &found));
    assert_int_equal(found.mode, MODE_64);
    assert_true(found.ip == 0xffffffff80001234u);
    assert_true(found.sp == 0x8000 && found.fp == 0x8010);
    memset(sent, 0, sizeof sent);
    set(32, 0x1234, 4);
    assert_true(registers_take(&layout, sent, 64, &found));
    assert_int_equal(found.mode, MODE_32);
    assert_true(found.ip == 0x1234);
    assert_false(registers_take(&layout, sent, 20, &found));
}

#define CORE                                                                   \
    "<reg name=\"rax\" bitsize=\"64\"/><reg name=\"rbp\" bitsize='64'/>"       \
    "<reg name=\"rsp\" bitsize=\"64\"/><reg name=\"rip\" bitsize=\"64\"/>"     \
    "<reg name=\"cs\" bitsize=\"32\"/>"
#define CONTROL                                                                \
    "<reg name=\"cr0\" bitsize=\"64\"/><reg name=\"efer\" bitsize=\"64\"/>"

#define BASES                                                                  \
    "<reg name=\"ss_base\" bitsize=\"64\"/>"                                   \
    "<reg name=\"ds_base\" bitsize=\"64\"/>"                                   \
    "<reg name=\"es_base\" bitsize=\"64\"/>"

TEST(described_layouts_and_modes)
{
    struct register_layout layout = {0};
    struct registers found;

    memset(sent, 0, sizeof sent);
    registers_add_xml(&layout, CORE);
    registers_add_xml(&layout, CONTROL);
    assert_true(layout.described && layout.is_64);
    set(24, 0x100, 8);
    set(32, 0xf000, 4);
    assert_true(registers_take(&layout, sent, 52, &found));
    assert_int_equal(found.mode, MODE_REAL);
    assert_true(found.ip == 0xf0100);
    set(36, 1, 8);
    assert_true(registers_take(&layout, sent, 52, &found));
    assert_int_equal(found.mode, MODE_32);
    assert_true(found.ip == 0x100);
    set(44, 1u << 10, 8);
    assert_true(registers_take(&layout, sent, 52, &found));
    assert_int_equal(found.mode, MODE_64);
    assert_false(registers_take(&layout, sent, 12, &found));
}

/* QEMU 7 sends three registers before cr0 that it does not describe, or
 * describes three that it does not send. */
TEST(registers_that_a_description_lacks_or_invents)
{
    struct register_layout layout = {0};
    struct registers found;

    memset(sent, 0, sizeof sent);
    registers_add_xml(&layout, CORE CONTROL);
    set(36 + 24, 1, 8);
    set(44 + 24, 1u << 10, 8);
    assert_true(registers_take(&layout, sent, 52 + 24, &found));
    assert_int_equal(found.mode, MODE_64);
    set(44 + 24, 0, 8);
    layout = (struct register_layout){0};
    registers_add_xml(&layout, CORE BASES CONTROL);
    assert_true(registers_take(&layout, sent + 24, 52, &found));
    assert_int_equal(found.mode, MODE_32);
    layout = (struct register_layout){0};
    registers_add_xml(&layout, CORE CONTROL);
    assert_true(registers_take(&layout, sent, 52 + 8, &found));
    assert_int_equal(found.mode, MODE_64); /* nothing says otherwise */
}

/* What registers_print() makes of (values). */
static const char *printed(const struct register_values *values,
                           enum registers_mode mode)
{
    static char text[2048];
    FILE *out;

    memset(text, 0, sizeof text);
    out = fmemopen(text, sizeof text - 1, "w");
    registers_print(out, values, mode);
    fclose(out);
    return text;
}

TEST(registers_as_text)
{
    struct register_layout layout = {0};
    struct register_values values;
    struct registers found;

    /* i386, not described */
    memset(sent, 0, sizeof sent);
    set(0, 0xa, 4);
    set(12, 0xb, 4);
    set(32, 0x100000, 4);
    set(36, 0x3ed7, 4);
    set(40, 0x1b, 4);
    assert_true(registers_take(&layout, sent, 64, &found));
    registers_read(&layout, sent, 64, &values);
    assert_string_equal(
        printed(&values, MODE_32),
        "  eax 0000000a  ebx 0000000b  ecx 00000000  edx 00000000\n"
        "  esi 00000000  edi 00000000  esp 00000000  ebp 00000000\n"
        "  eip 00100000\n"
        "  eflags 00003ed7  CF PF AF ZF SF IF DF OF  IOPL 3\n"
        "  cs 001b (ring 3)  ss 0000  ds 0000  es 0000  fs 0000  gs 0000\n");

    /* described, of which some are cut off */
    layout = (struct register_layout){0};
    memset(sent, 0, sizeof sent);
    registers_add_xml(&layout, CORE CONTROL "<reg name='r15' bitsize='64'/>");
    set(0, 0xffffffff80001234u, 8);
    set(32, 8, 4);
    set(36, 0x80010033, 8);
    set(44, 0xd01, 8);
    registers_read(&layout, sent, 52, &values);
    assert_string_equal(
        printed(&values, MODE_64),
        "  rax ffffffff80001234  rsp 0000000000000000  rbp 0000000000000000\n"
        "  rip 0000000000000000\n"
        "  cs 0008 (ring 0)\n"
        "  cr0 0000000080010033  PE MP ET NE WP PG\n"
        "  efer 0000000000000d01  SCE LME LMA NXE\n");

    /* none is known */
    registers_read(&layout, sent, 0, &values);
    assert_string_equal(printed(&values, MODE_REAL), "");
}

/* Control registers and bases, where the description has three too many. */
TEST(bases_where_a_description_invents_registers)
{
    struct register_layout layout = {0};
    struct register_values values;
    struct registers found;

    memset(sent, 0, sizeof sent);
    registers_add_xml(&layout,
                      CORE BASES "<reg name='fs_base' bitsize='64'/>"
                                 "<reg name='gs_base' bitsize='64'/>" CONTROL);
    set(36, 0x1000, 8);
    set(44, 0x2000, 8);
    set(52, 1, 8);
    assert_true(registers_take(&layout, sent, 52 + 16, &found));
    registers_read(&layout, sent, 52 + 16, &values);
    assert_int_equal(values.values[REGISTER_FS_BASE], 0x1000);
    assert_int_equal(values.values[REGISTER_GS_BASE], 0x2000);
    assert_int_equal(values.values[REGISTER_CR0], 1);
}

TEST(included_files_are_named)
{
    static const char xml[] = "<target><xi:include href=\"a.xml\"/>\n"
                              "<xi:include href='b.xml'/><xi:include href=\"";
    char name[8];

    assert_true(registers_included(xml, 0, name, sizeof name));
    assert_string_equal(name, "a.xml");
    assert_true(registers_included(xml, 1, name, sizeof name));
    assert_string_equal(name, "b.xml");
    assert_false(registers_included(xml, 2, name, sizeof name));
    assert_false(registers_included(xml, 0, name, 5));
}
