/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which damage to a symbol table must be noticed, and what it must be called.
 * Where the checksum is not what is tested, it is made right for the damage, as
 * a tool that errs would do it.
 */

#include "../unit.h"

#include <prof/error.h>
#include <prof/symbols.h>

#include "table_maker.h"

/* Seals and opens (made), expects (error), and that no names are left then. */
static void expect_rule(struct made_table *made, int error, const char *rule)
{
    struct prof_symbol found;

    made_seal(made->head);
    if (made_open(made) != error)
        fail_msg("%s: error %d instead of %d", rule, prof_symbols_error(),
                 error);
    assert_int_equal(prof_symbols_error(), error);
    assert_int_equal(prof_symbols_count(), 0);
    assert_false(prof_symbol_find(MADE_BASE, &found));
    free(made->head);
}

static void expect_error(struct made_table *made, int error)
{
    expect_rule(made, error, "a damaged table");
}

static void expect_sound(struct made_table *made)
{
    made_seal(made->head);
    assert_int_equal(made_open(made), PROF_OK);
    free(made->head);
}

/* ---- one number of a table of five functions is another one */

enum array { HEAD, OFFSETS, GAPS, PARTS, FIRSTS, NAMES, BEGINS, TEXTS };

struct damage {
    const char *rule;
    enum array array;
    uint32_t at; /* element; in HEAD, the field's offset */
    char how;    /* '=' set to (value), '+' added, '^' exclusive or */
    uint32_t value;
    int error;
};

#define FIELD(name) HEAD, offsetof(struct prof_symtab, name)

static void change(void *at, size_t bytes, const struct damage *damage)
{
    uint32_t number = 0;

    memcpy(&number, at, bytes); /* x86 is little-endian */
    number = damage->how == '='   ? damage->value
             : damage->how == '+' ? number + damage->value
                                  : number ^ damage->value;
    memcpy(at, &number, bytes);
}

static void do_damage(struct made_table *made, const struct damage *damage)
{
    uint32_t at = damage->at;

    switch (damage->array) {
    case HEAD:
        change((uint8_t *)made->head + at, 4, damage);
        break;
    case OFFSETS:
        change(&made->offsets[at], 4, damage);
        break;
    case GAPS:
        change(&made->gaps[at], 1, damage);
        break;
    case PARTS:
        change(&made->parts[at], 4, damage);
        break;
    case FIRSTS:
        change(&made->firsts[at], 4, damage);
        break;
    case NAMES:
        change(&made->names[at], 1, damage);
        break;
    case BEGINS:
        change(&made->begins[at], 2, damage);
        break;
    case TEXTS:
        change(&made->texts[made->begins[at] + 1], 1, damage);
        break;
    }
}

static void expect_refused(struct made_table (*make)(void),
                           const struct damage *damages, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        struct made_table made = make();

        do_damage(&made, &damages[i]);
        expect_rule(&made, damages[i].error, damages[i].rule);
    }
}

TEST(damage_to_a_raw_table_is_refused)
{
    /* The index of the five: parts of 128 bytes, the second cut into two
       pieces, the third into four; a window of 3. "first" is at names 2. */
    static const struct damage damages[] = {
        {"another magic", FIELD(magic), '^', 1, PROF_ESYM_MAGIC},
        {"another version", FIELD(version), '+', 1, PROF_ESYM_MAGIC},
        {"another build", FIELD(build_id), '^', 1u << 24, PROF_ESYM_BUILD},
        {"a gap without end", GAPS, 4, '=', 0, PROF_ESYM_NAME},
        {"a gap with a name", GAPS, 2, '=', PROF_SYMTAB_HOLE, PROF_ESYM_NAME},
        {"a NUL in a name", NAMES, 3, '=', 0, PROF_ESYM_NAME},
        {"names end early", FIELD(names_bytes), '+', -1u, PROF_ESYM_NAME},
        {"no names", FIELD(names_bytes), '=', 0, PROF_ESYM_NAME},
        {"a name ends late", NAMES, 1, '+', 1, PROF_ESYM_NAME},
        {"a name ends early", NAMES, 1, '+', -1u, PROF_ESYM_NAME},
        {"a prefix of no name", NAMES, 0, '=', 1, PROF_ESYM_NAME},
        {"a prefix too long", NAMES, 7, '=', 6, PROF_ESYM_NAME},
        {"a start twice", OFFSETS, 1, '=', 0x00, PROF_ESYM_ORDER},
        {"a start too late", OFFSETS, 2, '=', 0x300, PROF_ESYM_ORDER},
        {"a start too early", OFFSETS, 5, '=', 0xff, PROF_ESYM_ORDER},
        {"no last function", OFFSETS, 6, '=', 0x200, PROF_ESYM_ORDER},
        {"a gap as large", GAPS, 1, '=', 0x20, PROF_ESYM_ORDER},
        {"a gap as large as one", GAPS, 3, '=', 1, PROF_ESYM_ORDER},
        {"a gap as large at the end", GAPS, 5, '=', 0x80, PROF_ESYM_ORDER},
        {"smaller parts", FIELD(parts_shift), '=', 6, PROF_ESYM_INDEX},
        {"larger parts", FIELD(parts_shift), '=', 8, PROF_ESYM_INDEX},
        {"parts of 4 GiB", FIELD(parts_shift), '=', 32, PROF_ESYM_INDEX},
        {"a shift too far", FIELD(parts_shift), '=', 39, PROF_ESYM_INDEX},
        {"a part too few", FIELD(parts_count), '=', 4, PROF_ESYM_INDEX},
        {"no part", FIELD(parts_count), '=', 0, PROF_ESYM_INDEX},
        {"a part too many", FIELD(parts_count), '=', 6, PROF_ESYM_INDEX},
        {"a piece too few", FIELD(firsts_count), '=', 9, PROF_ESYM_INDEX},
        {"a piece too many", FIELD(firsts_count), '=', 11, PROF_ESYM_INDEX},
        {"no piece", FIELD(firsts_count), '=', 0, PROF_ESYM_INDEX},
        {"a narrow window", FIELD(window), '=', 2, PROF_ESYM_INDEX},
        {"no window", FIELD(window), '=', 0, PROF_ESYM_INDEX},
        {"a wide window", FIELD(window), '=', 7, PROF_ESYM_INDEX},
        {"an enormous window", FIELD(window), '=', 1u << 31, PROF_ESYM_INDEX},
        {"a search ends early", FIRSTS, 9, '=', 0, PROF_ESYM_INDEX},
    };
    struct made_table made = made_five();

    assert_int_equal(made.head->parts_count, 5);
    assert_int_equal(made.head->firsts_count, 1 + 2 + 4 + 1 + 2);
    assert_int_equal(made.head->parts_shift, 7);
    assert_int_equal(made.head->window, 3);
    free(made.head);
    expect_refused(made_five, damages, COUNT(damages));
}

TEST(damage_to_a_compressed_table_is_refused)
{
    static const struct damage damages[] = {
        {"a NUL in a name", NAMES, 3, '=', 0, PROF_ESYM_NAME},
        {"a code without meaning", NAMES, 2, '=', 0xfe, PROF_ESYM_NAME},
        {"texts begin late", BEGINS, 0, '=', 1, PROF_ESYM_NAME},
        {"a text begins late", BEGINS, 'f', '+', 2, PROF_ESYM_NAME},
        {"a text begins nowhere", BEGINS, 0x82, '=', 0xffff, PROF_ESYM_NAME},
        {"texts end late", BEGINS, 256, '+', 1, PROF_ESYM_NAME},
        {"texts end early", BEGINS, 256, '+', -1u, PROF_ESYM_NAME},
        {"a NUL in a text", TEXTS, 0x82, '=', 0, PROF_ESYM_NAME},
    };

    expect_refused(made_five_packed, damages, COUNT(damages));
    for (uint32_t bytes = 1; bytes <= 257 * 2; ++bytes)
        expect_refused(made_five_packed,
                       &(struct damage){"too few bytes of tokens",
                                        FIELD(tokens_bytes), '=', bytes,
                                        PROF_ESYM_NAME},
                       1);
}

/* Each element of the index in turn. */
TEST(damage_to_any_part_or_piece_is_refused)
{
    for (uint32_t i = 0; i < 10; ++i) {
        const struct damage damages[] = {
            {"too late", FIRSTS, i, '+', 1, PROF_ESYM_INDEX},
            {"nowhere", FIRSTS, i, '=', 0xffffffffu, PROF_ESYM_INDEX},
            {"another piece", PARTS, i, '+', 1u << 5, PROF_ESYM_INDEX},
        };
        struct made_table made = made_five();

        expect_refused(made_five, damages, i < 5 ? 3 : 2);
        if (i < 5) {
            made.parts[i] = (made.parts[i] & ~31u) | 8u; /* too large */
            expect_error(&made, PROF_ESYM_INDEX);
            made = made_five();
            made.parts[i] &= ~31u; /* pieces of a byte, which there are not */
            expect_error(&made, PROF_ESYM_INDEX);
        } else {
            free(made.head);
        }
    }
}

#define AT(name) offsetof(struct prof_symtab, name)

TEST(what_lies_outside_the_table_is_refused)
{
    static const uint32_t places[] = {
        AT(offsets_at), AT(gaps_at),   AT(parts_at), AT(firsts_at),
        AT(marks_at),   AT(tokens_at), AT(names_at)};
    static const uint32_t counts[] = {AT(count), AT(parts_count),
                                      AT(firsts_count)};
    static const uint32_t lengths[] = {AT(names_bytes), AT(tokens_bytes)};
    static const uint32_t head = sizeof(struct prof_symtab);
    struct made_table made = made_five_packed();
    uint32_t total = made.head->total_bytes;
    const struct {
        const uint32_t *fields;
        size_t count;
        uint32_t values[6];
        size_t values_count;
    } groups[] = {
        {places,
         COUNT(places),
         {0, head - 4, head + 2, total & ~3u, (total | 3u) + 1, 0xfffffffcu},
         6},
        {counts,
         COUNT(counts),
         {0x40000000u, 0x40000005u, 0x80000001u, 0xffffffffu, 1000},
         5},
        {lengths, COUNT(lengths), {total, 0xffffffffu}, 2},
    };

    free(made.head);
    for (size_t g = 0; g < COUNT(groups); ++g)
        for (size_t f = 0; f < groups[g].count; ++f)
            for (size_t v = 0; v < groups[g].values_count; ++v)
                expect_refused(
                    made_five_packed,
                    &(struct damage){"outside", HEAD, groups[g].fields[f], '=',
                                     groups[g].values[v], PROF_ESYM_LAYOUT},
                    1);
}

/* ---- what is not one number */

TEST(another_image_is_refused)
{
    static const struct {
        uint8_t id_bytes;
        int error;
    } rows[] = {{sizeof made_build_id - 1, PROF_ESYM_BUILD},
                {0, PROF_ESYM_BUILD},
                {PROF_BUILD_ID_MAX + 1, PROF_ESYM_LAYOUT}};
    struct made_table made = made_five();

    made.head->pointer_bits = 96 - made.head->pointer_bits;
    expect_error(&made, PROF_ESYM_WIDTH);
    for (size_t i = 0; i < COUNT(rows); ++i) {
        made = made_five();
        made.head->build_id_bytes = rows[i].id_bytes;
        expect_error(&made, rows[i].error);
    }
}

TEST(functions_beyond_the_last_address_are_refused)
{
    static const struct made_function one = {0, 0x10, "high"};
    static const uint64_t bases[] = {
        UINTPTR_MAX - 0x27f,
        UINT64_MAX,
#if UINTPTR_MAX == UINT32_MAX
        0x100000000u,
#endif
    };
    struct made_table made = made_table(UINTPTR_MAX - 0x0f, &one, 1);

    expect_error(&made, PROF_ESYM_ORDER);
    for (size_t i = 0; i < COUNT(bases); ++i) {
        made = made_five();
        made.head->base = bases[i];
        expect_error(&made, PROF_ESYM_ORDER);
    }
}

TEST(a_function_without_name_is_refused)
{
    static const struct made_function bare = {0, 0x10, ""}, one = {0, 1, "x"};
    struct made_table made = made_table(MADE_BASE, &bare, 1);

    expect_error(&made, PROF_ESYM_NAME);
    made = made_table(MADE_BASE, &one, 1);
    made.names[1] = 0x80; /* a length of two bytes, of which there is one */
    made.head->names_bytes = 2;
    expect_error(&made, PROF_ESYM_NAME);
}

TEST(a_mark_that_lies_elsewhere_is_refused)
{
    struct made_function all[17];
    struct made_table made;

    for (uint32_t i = 0; i < 17; ++i)
        all[i] = (struct made_function){i, 1, "f"};
    for (uint32_t block = 0; block < 2; ++block) {
        made = made_table(MADE_BASE, all, 17);
        assert_int_equal(made_open(&made), PROF_OK);
        made.marks[block] += 1;
        expect_error(&made, PROF_ESYM_NAME);
        made = made_table(MADE_BASE, all, 17);
        made.marks[block] = 0xffffffffu;
        expect_error(&made, PROF_ESYM_NAME);
    }
}

TEST(a_name_that_is_too_long_is_refused)
{
    char *name = calloc(1, PROF_SYMTAB_NAME_MAX + 2);
    struct made_function two[] = {{0, 1, "xx"}, {1, 1, name}};
    struct made_table made;

    memset(name, 'x', PROF_SYMTAB_NAME_MAX);
    made = made_table(MADE_BASE, &two[1], 1);
    expect_sound(&made);
    made = made_any(MADE_BASE, &two[1], 1, true);
    expect_sound(&made);
    /* a code of six bytes at its end: "second" */
    made = made_any(MADE_BASE, &two[1], 1, true);
    made.names[made.head->names_bytes - 1] = 0x82;
    expect_error(&made, PROF_ESYM_NAME);
    made = made_any(MADE_BASE, two, 2, false);
    expect_sound(&made);
    made = made_any(MADE_BASE, two, 2, false);
    made.names[4] = 1; /* one byte of "xx", and then all of its own */
    expect_error(&made, PROF_ESYM_NAME);
    free(name);
}

/* ---- the whole */

static void expect_cut_refused(struct made_table made)
{
    uint32_t total = made.head->total_bytes;

    for (uint32_t bytes = 1; bytes < total; ++bytes) {
        void *cut = malloc(bytes);

        memcpy(cut, made.head, bytes);
        assert_int_equal(prof_symbols_open(cut, bytes, NULL, 0),
                         PROF_ESYM_SHORT);
        free(cut);
    }
    free(made.head);
}

TEST(a_table_cut_at_any_length_is_refused)
{
    expect_cut_refused(made_five());
    expect_cut_refused(made_five_packed());
}

/* Longer than the table, off its alignment, or not of its own total. */
TEST(a_section_may_be_longer_than_its_table_and_no_more)
{
    struct made_table made = made_five();
    uint32_t total = made.head->total_bytes;
    uint8_t *section = calloc(1, total + 64);

    memcpy(section, made.head, total);
    assert_int_equal(prof_symbols_open(section, total + 64, NULL, 0), PROF_OK);
    memcpy(section + 4, made.head, total);
    assert_int_equal(prof_symbols_open(section + 4, total, NULL, 0),
                     PROF_ESYM_LAYOUT);
    free(section);
    made.head->total_bytes = sizeof *made.head - 1;
    assert_int_equal(prof_symbols_open(made.head, 1000, NULL, 0),
                     PROF_ESYM_LAYOUT);
    free(made.head);
    made = made_five();
    made.names[2] ^= 1;
    assert_int_equal(made_open(&made), PROF_ESYM_CRC);
    made.names[2] ^= 1;
    made.names[7] = 5; /* all of "first" is the prefix */
    expect_sound(&made);
}

static void expect_all_bits_matter(struct made_table made)
{
    uint8_t *bytes = (uint8_t *)made.head;
    uint32_t total = made.head->total_bytes;

    for (uint32_t bit = 0; bit < 8 * total; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(prof_symbols_open(bytes, total, NULL, 0), PROF_OK);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(made.head);
}

TEST(any_single_flipped_bit_is_noticed)
{
    expect_all_bits_matter(made_five());
    expect_all_bits_matter(made_five_packed());
}

/* What is accepted of a table with one damaged byte and a checksum to fit
   must still be safe to read: each name, into memory of just its length. */
static void read_all(void)
{
    for (uintptr_t at = MADE_BASE; at < MADE_BASE + 0x280; ++at) {
        struct prof_symbol found;

        if (prof_symbol_find(at, &found)) {
            size_t bytes = prof_symbol_name(&found, NULL, 0);
            char *name = malloc(bytes + 1);

            assert_int_equal(prof_symbol_name(&found, name, bytes + 1), bytes);
            assert_int_equal(strlen(name), bytes);
            assert_true(bytes > 0 && bytes <= PROF_SYMTAB_NAME_MAX);
            free(name);
        }
    }
}

TEST(any_damaged_byte_is_refused_or_harmless)
{
    struct made_table made = made_five_packed();
    uint8_t *bytes = (uint8_t *)made.head;
    uint32_t total = made.head->total_bytes;

    for (uint32_t at = 0; at < total; ++at) {
        uint8_t good = bytes[at];

        for (unsigned value = 0; value < 256; value += at < 600 ? 1 : 17) {
            bytes[at] = (uint8_t)value;
            if (made.head->total_bytes <= total)
                made_seal(made.head);
            if (prof_symbols_open(bytes, total, NULL, 0) == PROF_OK)
                read_all();
        }
        bytes[at] = good;
    }
    free(made.head);
}
