/* SPDX-License-Identifier: Apache-2.0 */
/* Batches in a folder: whole, damaged, and such that cannot be read now. */

#include "../unit.h"

#include "base/temporary.h"
#include "store/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOON 1700000040u /* a whole minute of 2023-11-14 */
#define LIMIT 300000u
#define SHARDS 3u

static char why[256];
static char *folder;
static struct spool spool;
static struct store_rows rows;

static void begin(void)
{
    folder = temporary_folder("spool");
    assert_true(spool_open(&spool, folder, LIMIT, SHARDS, why, sizeof why));
    rows = (struct store_rows){.table = STORE_SAMPLES};
}

static void end(void)
{
    store_rows_free(&rows);
    spool_close(&spool);
    temporary_remove(folder);
    free(folder);
}

FIXTURE(begin, end);

/* Numbers that gzip cannot make much shorter. */
static void put_rows(unsigned count)
{
    static const uint8_t build[STORE_BUILD_BYTES] = {1};

    rows.count = 0;
    rows.used = 0;
    for (unsigned i = 0; i < count; ++i)
        assert_true(store_put_sample(
            &rows, &(struct store_sample){.key = {NOON, "irc", build, 1},
                                          .kind = STORE_TIME,
                                          .stack = unit_random(),
                                          .samples = unit_random()}));
}

static bool add(unsigned shard)
{
    const char *text = "";

    return spool_add(&spool, shard, &rows, 1, SPOOL_PLAIN, &text);
}

/* A batch that was added, opened. */
static int add_and_open(void)
{
    int file;

    assert_true(add(0));
    file = spool_read(&spool, &spool.batches[spool.count - 1]);
    assert_true(file >= 0);
    return file;
}

static void is_damaged(int file)
{
    size_t count;

    errno = EIO;
    assert_null(spool_rows(file, &count));
    assert_int_equal(errno, 0);
}

TEST(rows_are_as_they_were_added)
{
    /* some with more than a piece of the file, one with none of the rows */
    for (unsigned count = 0; count <= 2000; count += 500) {
        uint8_t *bytes;
        size_t used;
        int file;

        put_rows(count);
        file = add_and_open();
        bytes = spool_rows(file, &used);
        assert_non_null(bytes);
        assert_int_equal(used, rows.used);
        assert_true(used == 0 || memcmp(bytes, rows.bytes, used) == 0);
        free(bytes);
        close(file);
        spool_remove(&spool, &spool.batches[0], false);
    }
}

TEST(rows_of_zeros_are_longer_than_what_is_made_room_for)
{
    uint8_t *bytes;
    size_t used;
    int file;

    put_rows(1);
    rows.used = 3 << 20;
    rows.bytes = realloc(rows.bytes, rows.used);
    memset(rows.bytes, 0, rows.used);
    file = add_and_open();
    bytes = spool_rows(file, &used);
    assert_non_null(bytes);
    assert_int_equal(used, rows.used);
    assert_memory_equal(bytes, rows.bytes, used);
    free(bytes);
    close(file);
}

TEST(a_batch_that_is_cut_off_or_changed_is_damaged)
{
    off_t bytes;
    int file;

    put_rows(100);
    file = add_and_open();
    bytes = (off_t)spool.batches[0].bytes;
    close(file);
    assert_int_equal(spool.count, 1);
    for (off_t cut = bytes; --cut >= 0; cut -= 200) {
        char *name = NULL;
        size_t room;
        FILE *text = open_memstream(&name, &room);

        /* as spool.h has it */
        fprintf(text, "%016llx-%016llx.0.samples.100.1.gz",
                (unsigned long long)spool.batches[0].order,
                (unsigned long long)spool.batches[0].token);
        fclose(text);
        file = openat(spool.folder, name, O_RDWR);
        assert_true(file >= 0);
        if (cut == bytes - 1) { /* of the sum and length at its end */
            assert_int_equal(pwrite(file, "?!?!?", 5, cut - 6), 5);
            is_damaged(file);
        }
        assert_int_equal(ftruncate(file, cut), 0);
        is_damaged(file);
        close(file);
        free(name);
    }
}

TEST(a_batch_that_cannot_be_opened_or_read_is_not_damaged)
{
    struct rlimit before, none;
    uint8_t *bytes;
    size_t count;
    int file, other;

    put_rows(10);
    file = add_and_open();
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    errno = 0;
    other = spool_read(&spool, &spool.batches[0]);
    assert_int_equal(errno, EMFILE);
    bytes = spool_rows(file, &count); /* which is open: no other is needed */
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(other, -1);
    assert_non_null(bytes);
    assert_int_equal(count, rows.used);
    free(bytes);
    close(file);

    assert_null(spool_rows(spool.folder, &count));
    assert_int_equal(errno, EISDIR);
}

TEST(each_shard_has_its_share_of_the_limit)
{
    unsigned added = 0;

    put_rows(1000);
    while (add(1))
        ++added;
    assert_true(added >= 2);
    assert_true(spool_most_bytes(&spool) <= LIMIT / SHARDS);
    assert_int_equal(spool_most_bytes(&spool), spool.bytes);
    assert_false(add(1 + SHARDS)); /* of an address with more shards */
    for (unsigned i = 0; i < added; ++i)
        assert_true(add(0) && add(2));
    assert_false(add(0));
    assert_true(spool.bytes <= LIMIT);
    spool_remove(&spool, spool_first(&spool, 1), false);
    assert_false(add(2));
    assert_true(add(1));

    /* and so it is when it is opened again */
    spool_close(&spool);
    assert_true(spool_open(&spool, folder, LIMIT, SHARDS, why, sizeof why));
    assert_false(add(1));
    spool_remove(&spool, spool_first(&spool, 1), false);
    assert_true(add(1));
}
