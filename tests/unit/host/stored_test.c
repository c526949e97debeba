/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Symbols that a trace stores: what is read is what was written; and a payload
 * that is cut, or was changed anywhere, is refused or says nothing that could
 * not be true.
 */

#include "../unit.h"

#include "image/stored.h"

#define MOVED UINT64_C(0x200000)

static struct image_symbol functions[] = {
    {0x1000, 0x1010, "_Z5firstv"},
    {0x1010, 0x1011, "_Z5first"},
    {0x1020, 0x1100, "second"},
    {UINT64_C(0xffffffff80000000), UINT64_MAX, ""},
};
static struct image_symbol moved[] = {{0x1000 + MOVED, 0x1004 + MOVED, "x"}};
static struct image_line lines[] = {
    {0x1000, 1, 20}, {0x1004, 2, 7}, {0x1008, 1, 3}, {0x1011, 0, 0}};
static char *sources[] = {(char[]){"a/b.c"}, (char[]){"a/c.h"}};
static struct image other = {
    .path = "b.elf",
    .functions = moved,
    .count = 1,
    .is_list = true,
    .begin = 0x1000,
    .end = 0x1004,
    .moved = MOVED,
};
static struct image both = {
    .path = "/x/a.elf",
    .build_id_bytes = 5,
    .build_id = {1, 2, 3, 4, 5},
    .functions = functions,
    .count = 4,
    .lines = lines,
    .line_count = 4,
    .sources = sources,
    .source_count = 2,
    .begin = 0x1000,
    .end = 0x1100,
    .next = &other,
};

static uint8_t *payload; /* of both */
static size_t bytes;

static void store(void)
{
    payload = stored_payload(&both, &bytes);
}

static void free_payload(void)
{
    free(payload);
}

FIXTURE(store, free_payload);

TEST(what_is_written_is_read)
{
    const char *source = NULL;
    struct image image;

    assert_true(stored_read_payload(&image, payload, bytes));
    assert_true(image.is_stored && !image.is_list && image.next->is_list);
    assert_string_equal(image.path, "/x/a.elf");
    assert_string_equal(image.next->path, "b.elf");
    assert_int_equal(image.build_id_bytes, 5);
    assert_memory_equal(image.build_id, both.build_id, 5);
    assert_int_equal(image.count, 4);
    for (size_t i = 0; i < 4; ++i) {
        assert_int_equal(image.functions[i].start, functions[i].start);
        assert_int_equal(image.functions[i].end, functions[i].end);
        assert_string_equal(image.functions[i].name, functions[i].name);
    }
    assert_string_equal(image_function(&image, 0x1002 + MOVED)->name, "x");
    assert_int_equal(image_line(&image, 0x1003, &source)->line, 20);
    assert_string_equal(source, "a/b.c");
    assert_int_equal(image_line(&image, 0x1004, &source)->line, 7);
    assert_string_equal(source, "a/c.h");
    assert_null(image_line(&image, 0xfff, &source));
    assert_null(image_line(&image, 0x1011, &source));
    assert_null(image_line(&image, 0x1002 + MOVED, &source));
    image_close(&image);
}

/* What any payload promises that is read. */
static void check(const struct image *image)
{
    for (; image != NULL; image = image->next) {
        for (size_t i = 0; i < image->count; ++i) {
            const struct image_symbol *at = &image->functions[i];

            assert_true(at->end >= at->start);
            assert_true(i == 0 ||
                        (at->start > at[-1].start && at->start >= at[-1].end));
        }
        for (size_t i = 0; i < image->line_count; ++i) {
            const struct image_line *at = &image->lines[i];

            assert_true(at->source <= image->source_count);
            assert_true(i == 0 || at->address >= at[-1].address);
        }
    }
}

TEST(cut_payloads_are_refused)
{
    for (size_t i = 0; i < bytes; ++i) {
        uint8_t *cut = malloc(i + 1);
        struct image image;

        memcpy(cut, payload, i);
        assert_false(stored_read_payload(&image, cut, i));
        assert_null(image.functions);
        free(cut);
    }
}

TEST(changed_payloads_are_harmless)
{
    for (size_t i = 0; i < bytes; ++i) {
        for (unsigned change = 1; change < 256; ++change) {
            struct image image;

            payload[i] ^= (uint8_t)change;
            if (stored_read_payload(&image, payload, bytes)) {
                check(&image);
                image_close(&image);
            }
            payload[i] ^= (uint8_t)change;
        }
    }
}

/* Of 2^32 and 5 bytes, not of 5. */
TEST(a_build_id_has_its_length)
{
    static const uint8_t more[] = {0x85, 0x80, 0x80, 0x80, 0x10};
    const size_t at = 1 + 2 + strlen(both.path) + 1;
    uint8_t *longer = malloc(bytes + sizeof more - 1);
    struct image image;

    assert_int_equal(payload[at], both.build_id_bytes);
    memcpy(longer, payload, at);
    memcpy(longer + at, more, sizeof more);
    memcpy(longer + at + sizeof more, payload + at + 1, bytes - at - 1);
    assert_false(stored_read_payload(&image, longer, bytes + sizeof more - 1));
    free(longer);
}

/* 64 KiB of text from four bytes each, again and again. */
TEST(texts_do_not_multiply)
{
    static uint8_t large[65536 + 65536];
    static const uint8_t head[] = {1,    0,    1, 'x', 0, 0,    0,    0,
                                   0, /* moved; functions: */
                                   0xff, 0x7f, 1, 1,   0, 0xff, 0xff, 3};
    size_t at = sizeof head;
    struct image image;

    memcpy(large, head, sizeof head);
    memset(large + at, 'a', 65535);
    at += 65535;
    while (at + 6 <= sizeof large) {
        static const uint8_t one[] = {1, 1, 0xff, 0xff, 3, 0};

        memcpy(large + at, one, sizeof one);
        at += sizeof one;
    }
    assert_false(stored_read_payload(&image, large, at));
}
