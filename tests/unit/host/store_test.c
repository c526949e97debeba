/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a store as bytes, its answers as text, addresses, losses. */

#include "../unit.h"

#include "base/bytes.h"
#include "store/address.h"
#include "store/answer.h"
#include "store/columns.h"
#include "store/insert.h"
#include "store/losses.h"

#define NOON 1700000040u /* a whole minute of 2023-11-14 */
#define DAY 86400u

static const uint8_t build[STORE_BUILD_BYTES] = {1, 2, 3};
static const uint8_t boot[STORE_BOOT_BYTES] = {9};
static struct store_rows rows;
static struct store_answer answer;

static void forget(void)
{
    store_rows_free(&rows);
    store_answer_free(&answer);
    rows = (struct store_rows){0};
}

FIXTURE(NULL, forget);

static struct store_key key_of(uint32_t bucket, uint64_t guest)
{
    return (struct store_key){bucket, "irc", build, guest};
}

/* ---- rows */

TEST(a_sample_has_these_bytes)
{
    static const uint8_t expected[] =
        {
            0xdb, 0x4c,             /* 19675 days */
            0x28, 0xf1, 0x53, 0x65, /* NOON */
            3,    'i',  'r',  'c',  1,    2,    3, 0,    0,
            0,    0,    0,    0,    0,    0,    0, 0,    0,
            0,    0,    0,    0,    0,    0, /* 17 zeros of the build */
            7,    0,    0,    0,    0,    0,    0, 1, /* guest */
            2,    1,                                  /* CPU 258 */
            4,                                        /* lock */
            5,    0,    0,    0,    0,    0,    0, 0,    6,
            0,    0,    0,    0,    0,    0,    0, 0xff, 0xff,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        };
    const struct store_sample sample = {
        .key = key_of(NOON, UINT64_C(1) << 56 | 7),
        .cpu = 258,
        .kind = STORE_LOCK,
        .stack = 5,
        .samples = 6,
        .weight = UINT64_MAX,
    };

    assert_true(store_put_sample(&rows, &sample));
    assert_int_equal(rows.used, sizeof expected);
    assert_memory_equal(rows.bytes, expected, sizeof expected);
}

TEST(a_stack_has_these_bytes)
{
    static const uint32_t frames[] = {0x01020304, 5};
    static const char *const names[] = {"main", "", "\xc3\xa4"};
    static const uint8_t expected[] = {2,   4, 3, 2,    1,    5,   0,
                                       0,   0, 3, 4,    'm',  'a', 'i',
                                       'n', 0, 2, 0xc3, 0xa4, 1};
    const struct store_stack stack = {build, 8, frames, names, 2, 3, true};

    rows.table = STORE_STACKS;
    assert_true(store_put_stack(&rows, &stack));
    assert_int_equal(rows.used, 28 + sizeof expected);
    assert_memory_equal(rows.bytes + 28, expected, sizeof expected);
}

TEST(a_long_text_has_its_length_in_three_bytes_and_is_cut)
{
    static char text[70000];
    struct store_wait wait = {.key = key_of(NOON, 1), .why = text, .count = 1};

    memset(text, 'x', sizeof text - 1);
    rows.table = STORE_WAITS;
    assert_true(store_put_wait(&rows, &wait));
    /* day to guest, site, length, text, count, ns */
    assert_int_equal(rows.used, 38 + 8 + 3 + 65535 + 16);
    assert_int_equal(rows.bytes[46], 0xff);
    assert_int_equal(rows.bytes[47], 0xff);
    assert_int_equal(rows.bytes[48], 0x03);
}

TEST(the_structure_says_the_columns)
{
    assert_string_equal(
        store_table_structure(STORE_SAMPLES),
        "day Date, bucket DateTime, service String, build FixedString(20), "
        "guest UInt64, cpu UInt16, kind Int8, stack UInt64, samples UInt64, "
        "weight UInt64");
    for (unsigned i = 0; i < STORE_TABLES; ++i)
        assert_int_equal(store_table_find(store_table_name(i)), i);
    assert_int_equal(store_table_find("sample"), STORE_TABLES);
}

TEST(another_day_is_another_batch)
{
    struct store_sample sample = {.key = key_of(NOON, 1), .samples = 1};
    struct store_guest guest = {
        .key = key_of(NOON, 1), .boot = boot, .host = "h"};

    assert_true(store_put_sample(&rows, &sample));
    sample.key.bucket += 60;
    assert_true(store_put_sample(&rows, &sample));
    sample.key.bucket += DAY;
    assert_false(store_put_sample(&rows, &sample));
    assert_int_equal(rows.count, 2);
    store_rows_free(&rows);
    assert_true(store_put_sample(&rows, &sample));
    store_rows_free(&rows);
    rows.table = STORE_GUESTS; /* which has no days */
    assert_true(store_put_guest(&rows, &guest));
    guest.key.bucket += DAY;
    assert_true(store_put_guest(&rows, &guest));
}

/* Appends a row of any table, which amounts to what is returned. */
static uint64_t put_any(enum store_table table)
{
    static const char *const texts[] = {"", "a", "b\n\n", "c\\'"};
    static const uint32_t frames[] = {1, 2, 3};
    struct store_key key = key_of(NOON, unit_number());
    uint64_t amount = unit_number() >> 16;

    key.service = texts[unit_below(4)];
    rows.table = table;
    switch (table) {
    case STORE_SAMPLES:
        store_put_sample(&rows, &(struct store_sample){.key = key,
                                                       .kind = STORE_TIME,
                                                       .samples = amount});
        return amount;
    case STORE_STACKS:
        store_put_stack(
            &rows, &(struct store_stack){build, unit_number(), frames, texts,
                                         unit_below(4), unit_below(4), false});
        return 1;
    case STORE_ACCOUNTS:
        store_put_account(&rows,
                          &(struct store_account){.key = key, .ticks = amount});
        return amount;
    case STORE_LOOP:
        store_put_loop(&rows, &(struct store_loop){.key = key,
                                                   .measure = STORE_WALL,
                                                   .count = amount});
        return amount;
    case STORE_WAITS:
        store_put_wait(&rows, &(struct store_wait){.key = key,
                                                   .why = texts[unit_below(4)],
                                                   .count = amount});
        return amount;
    case STORE_GUESTS:
        store_put_guest(&rows,
                        &(struct store_guest){.key = key,
                                              .boot = boot,
                                              .host = "host",
                                              .labels = texts,
                                              .label_count = unit_below(4)});
        return 1;
    default:
        store_put_loss(&rows, &(struct store_loss){.key = key,
                                                   .host = "h",
                                                   .why = "w",
                                                   .what = "samples",
                                                   .rows = 1,
                                                   .amount = amount});
        return amount;
    }
}

static uint64_t read_all(size_t count, unsigned *found, size_t *end)
{
    struct store_amount row;
    uint64_t amount = 0;

    *found = 0;
    *end = 0;
    while (store_row_amount(rows.table, rows.bytes, count, end, &row)) {
        amount += row.amount;
        ++*found;
    }
    return amount;
}

TEST(rows_are_read_as_they_were_written)
{
    for (unsigned table = 0; table < STORE_TABLES; ++table) {
        uint64_t amount = 0;
        unsigned found;
        size_t end;

        for (unsigned i = 0; i < 50; ++i)
            amount += put_any(table);
        assert_int_equal(read_all(rows.used, &found, &end), amount);
        assert_int_equal(found, 50);
        assert_int_equal(end, rows.used);
        store_rows_free(&rows);
    }
}

TEST(rows_that_are_cut_off_end_at_a_whole_row)
{
    for (unsigned table = 0; table < STORE_TABLES; ++table) {
        size_t first, end;
        unsigned found;

        put_any(table);
        first = rows.used;
        put_any(table);
        for (size_t cut = 0; cut < rows.used; ++cut) {
            uint8_t *copy = malloc(cut + 1); /* its end is seen by ASan */
            struct store_rows whole = rows;

            memcpy(copy, rows.bytes, cut);
            rows.bytes = realloc(copy, cut > 0 ? cut : 1);
            read_all(cut, &found, &end);
            assert_int_equal(found, cut >= first);
            assert_int_equal(end, cut >= first ? first : 0);
            free(rows.bytes);
            rows = whole;
        }
        store_rows_free(&rows);
    }
}

TEST(any_bytes_are_read_without_harm)
{
    uint8_t bytes[200];
    struct store_amount row;

    for (unsigned round = 0; round < 20000; ++round) {
        size_t at = 0, count = unit_below(sizeof bytes);

        for (size_t i = 0; i < count; ++i)
            bytes[i] = (uint8_t)(unit_random() >> (unit_below(2) ? 56 : 62));
        while (store_row_amount(round % STORE_TABLES, bytes, count, &at, &row))
            assert_true(at <= count);
        assert_true(at <= count);
    }
}

TEST(numbers_of_stacks_and_guests_differ)
{
    static const uint32_t frames[] = {1, 2}, swapped[] = {2, 1};
    uint8_t other[STORE_BUILD_BYTES] = {1, 2, 4};

    assert_true(store_stack_id(build, frames, 2) ==
                store_stack_id(build, frames, 2));
    assert_true(store_stack_id(build, frames, 2) !=
                store_stack_id(build, swapped, 2));
    assert_true(store_stack_id(build, frames, 2) !=
                store_stack_id(other, frames, 2));
    assert_true(store_stack_id(build, frames, 2) !=
                store_stack_id(build, frames, 1));
    assert_true(store_guest_id("ab", boot, "c") !=
                store_guest_id("a", boot, "bc"));
}

/* ---- losses */

TEST(losses_are_sums_by_guest_and_reason)
{
    struct store_sample sample = {.key = key_of(NOON, 5), .samples = 10};
    struct losses losses = {.host = "h"};
    struct store_rows out = {.table = STORE_LOSSES};
    struct store_amount row;
    uint64_t sums[8] = {0};
    size_t at = 0;

    store_put_sample(&rows, &sample);
    sample.stack = 1;
    store_put_sample(&rows, &sample);
    sample.key.guest = 6;
    store_put_sample(&rows, &sample);
    assert_int_equal(
        losses_add(&losses, STORE_SAMPLES, rows.bytes, rows.used, "full"), 30);
    losses_add(&losses, STORE_SAMPLES, rows.bytes, rows.used, "full");
    losses_add(&losses, STORE_SAMPLES, rows.bytes, rows.used, "refused");
    losses_take(&losses, &out);
    assert_int_equal(out.count, 4); /* two guests, two reasons */
    while (store_row_amount(STORE_LOSSES, out.bytes, out.used, &at, &row))
        sums[row.guest] += row.amount;
    assert_int_equal(sums[5], 60);
    assert_int_equal(sums[6], 30);
    losses_forget(&losses, &out);
    assert_false(losses_any(&losses));
    store_rows_free(&out);
    losses_free(&losses);
}

TEST(losses_of_each_guest_and_table_stay_apart)
{
    struct losses losses = {.host = "h"};
    struct store_rows out = {.table = STORE_LOSSES};

    for (uint64_t guest = 0; guest < 64; ++guest) {
        struct store_sample sample = {.key = key_of(NOON, guest), .samples = 1};
        struct store_account account = {.key = sample.key, .ticks = 1};

        store_put_sample(&rows, &sample);
        losses_add(&losses, STORE_SAMPLES, rows.bytes, rows.used, "full");
        store_rows_free(&rows);
        rows.table = STORE_ACCOUNTS;
        store_put_account(&rows, &account);
        losses_add(&losses, STORE_ACCOUNTS, rows.bytes, rows.used, "full");
        store_rows_free(&rows);
        rows.table = STORE_SAMPLES;
    }
    losses_take(&losses, &out);
    assert_int_equal(out.count, 2 * 64);
    store_rows_free(&out);
    losses_free(&losses);
}

TEST(losses_of_another_day_are_kept_for_later)
{
    struct losses losses = {.host = "h"};
    struct store_rows out = {.table = STORE_LOSSES};
    struct store_sample sample = {.key = key_of(NOON, 5), .samples = 1};

    store_put_sample(&rows, &sample);
    losses_add(&losses, STORE_SAMPLES, rows.bytes, rows.used, "full");
    store_rows_free(&rows);
    sample.key.bucket += DAY;
    store_put_sample(&rows, &sample);
    losses_add(&losses, STORE_SAMPLES, rows.bytes, rows.used, "full");
    losses_take(&losses, &out);
    assert_int_equal(out.count, 1);
    losses_forget(&losses, &out);
    assert_true(losses_any(&losses));
    store_rows_free(&out);
    losses_take(&losses, &out);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.day, NOON / DAY + 1);
    losses_forget(&losses, &out);
    assert_false(losses_any(&losses));
    store_rows_free(&out);
    losses_free(&losses);
}

/* ---- answers */

/* Reads (text), in two parts that are cut at (cut). */
static bool read_text(const char *text, size_t cut)
{
    struct answer_reader reader = {.answer = &answer};
    size_t bytes = strlen(text);

    if (cut > bytes)
        cut = bytes;
    if (answer_take(&reader, text, cut))
        (void)answer_take(&reader, text + cut, bytes - cut);
    return answer_end(&reader);
}

TEST(an_answer_has_names_types_and_values)
{
    static const char text[] = "a\tb\\tc\nUInt64\tNullable(String)\n"
                               "18446744073709551615\tx\\ny\\\\\\'\\0z\n"
                               "0\t\\N\n";

    for (size_t cut = 0; cut < sizeof text; ++cut) {
        assert_true(read_text(text, cut));
        assert_int_equal(answer.columns, 2);
        assert_int_equal(answer.rows, 2);
        assert_string_equal(answer.names[1], "b\tc");
        assert_string_equal(answer.types[1], "Nullable(String)");
        assert_true(store_u64(&answer, 0, 0) == UINT64_MAX);
        assert_memory_equal(store_value(&answer, 0, 1), "x\ny\\'\0z", 8);
        assert_null(store_value(&answer, 1, 1));
        assert_int_equal(store_u64(&answer, 1, 1), 0);
        store_answer_free(&answer);
    }
}

TEST(an_answer_without_rows_has_names)
{
    assert_true(read_text("a\nUInt8\n", 3));
    assert_int_equal(answer.rows, 0);
    assert_string_equal(answer.types[0], "UInt8");
}

TEST(no_answer_at_all_is_that_of_a_statement)
{
    assert_true(read_text("", 0));
    assert_int_equal(answer.columns, 0);
}

TEST(other_text_is_no_answer)
{
    static const char *const wrong[] = {
        "a",
        "a\n",
        "a\tb\n",
        "a\n\\",
        "a\tb\nUInt8\n",
        "a\nUInt8\tUInt8\n",
        "a\tb\nUInt8\tUInt8\n1\n",
        "a\nUInt8\n1\t2\n",
        "a\nUInt8\n1",
        "a\nUInt8\n1\n2\\",
        "a\tb\nX\tY\n1\t2\n3\t4\t5\n",
        "a\tb\nX\tY\n1\t2\n3",
    };

    for (size_t i = 0; i < COUNT(wrong); ++i)
        for (size_t cut = 0; cut <= strlen(wrong[i]); ++cut) {
            assert_false(read_text(wrong[i], cut));
            store_answer_free(&answer);
        }
}

TEST(texts_of_sql_are_quoted)
{
    char quoted[16];

    assert_string_equal(store_quote("a'b\\", quoted, sizeof quoted),
                        "'a\\'b\\\\'");
    assert_string_equal(store_quote("", quoted, sizeof quoted), "''");
    /* never a part of it, which may be another name */
    assert_string_equal(store_quote("0123456789abcdef", quoted, sizeof quoted),
                        "''");
    assert_string_equal(store_quote("'''''''''", quoted, sizeof quoted), "''");
}

/* ---- addresses and inserts */

static struct store_address address;

static void forget_address(void)
{
    forget();
    store_address_free(&address);
    unsetenv("PARASITE_STORE_PASSWORD");
}

FIXTURE(NULL, forget_address);

static bool parse(const char *text)
{
    char why[256] = "";
    bool fine;

    store_address_free(&address);
    fine = store_address_parse(&address, text, why, sizeof why);
    assert_int_equal(fine, *why == '\0');
    assert_null(strstr(why, "secret"));
    return fine;
}

TEST(addresses_of_servers_are_understood)
{
    assert_true(parse("http://me:se%40cret@a,b:1,[::1]/x?cluster=all"));
    assert_int_equal(address.count, 3);
    assert_string_equal(address.hosts[0], "a:8123");
    assert_string_equal(address.hosts[1], "b:1");
    assert_string_equal(address.hosts[2], "[::1]:8123");
    assert_string_equal(address.user, "me");
    assert_string_equal(address.password, "se@cret");
    assert_string_equal(address.database, "x");
    assert_string_equal(address.cluster, "all");
    assert_string_equal(address.name, "http://me@a,b:1,[::1]/x?cluster=all");
    assert_true(parse("http://h/"));
    assert_string_equal(address.database, "parasite");
    assert_null(address.password);
    setenv("PARASITE_STORE_PASSWORD", "secret", 1);
    assert_true(parse("http://me@h"));
    assert_string_equal(address.password, "secret");
    assert_string_equal(address.name, "http://me@h");
}

TEST(addresses_of_folders_are_understood)
{
    assert_true(parse("store:run/x"));
    assert_string_equal(address.folder, "run/x");
    assert_true(parse("/a:b"));
    assert_string_equal(address.folder, "/a:b");
}

TEST(wrong_addresses_of_stores_are_refused)
{
    static const char *const wrong[] = {
        "",
        "store:",
        "https://h",
        "http://",
        "http://me:secret@",
        "http://a,,b/?cluster=x",
        "http://a,b",
        "http://a,b/?cluster=",
        "http://a/x/y",
        "http://a/1x",
        "http://me:secret@a/x'y",
        "http://a/x?cluster=a b",
        "http://a/x?other=1",
    };

    for (size_t i = 0; i < COUNT(wrong); ++i)
        assert_false(parse(wrong[i]));
}

TEST(inserts_with_data_are_found)
{
    static const struct {
        const char *sql, *table, *columns, *format;
    } good[] = {
        {"INSERT INTO t FORMAT RowBinary", "t", "", "RowBinary"},
        {" insert into table `a b`.t (x, y) format TSV ;", "`a b`.t", "x, y",
         "TSV"},
        {"insert\ninto\td.\"q\\\"\"(x)format CSV\n", "d.\"q\\\"\"", "x", "CSV"},
    };
    static const char *const other[] = {
        "",
        "SELECT 1 FORMAT TSV",
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t FORMAT Values",
        "INSERT INTO t (x FORMAT TSV",
        "INSERT INTO `t FORMAT TSV",
        "INSERT INTO t SELECT 1 FORMAT TSV",
        "INSERT INTO t FORMAT TSV SELECT",
        "INSERTINTO t FORMAT TSV",
        "INSERT INTO t FORMAT",
        "INSERT INTO function url('x') FORMAT TSV",
    };
    struct insert insert;

    for (size_t i = 0; i < COUNT(good); ++i) {
        assert_true(insert_parse(good[i].sql, &insert));
        assert_int_equal(insert.table_bytes, strlen(good[i].table));
        assert_memory_equal(insert.table, good[i].table, insert.table_bytes);
        assert_int_equal(insert.columns_bytes, strlen(good[i].columns));
        if (insert.columns_bytes > 0)
            assert_memory_equal(insert.columns, good[i].columns,
                                insert.columns_bytes);
        assert_int_equal(insert.format_bytes, strlen(good[i].format));
        assert_memory_equal(insert.format, good[i].format, insert.format_bytes);
    }
    for (size_t i = 0; i < COUNT(other); ++i)
        assert_false(insert_parse(other[i], &insert));
}
