/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a store into another: rows are read as RowBinary and sent as a
 * collector sends its own, in batches of one day and shard. So each combination
 * of embedded stores, servers and clusters works, of old and new engines.
 */

#include "store/copy.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/wait.h"
#include "store/client.h"
#include "store/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_SECONDS 0.05
#define SPOOL_BYTES (UINT64_C(64) << 20) /* waits for the store beyond that */

struct copy {
    struct store *from, *to;
    enum store_table table;
    struct store_rows *rows; /* by shard */
    uint8_t *bytes;          /* of a row that has not come wholly */
    size_t used, room;
    uint64_t count;
    const char *spool; /* a folder */
    bool refused;      /* rows were not taken by it */
};

/* Waits until the spool has room: what is copied can be read again, so nothing
 * needs to be lost. False: a signal was caught. */
static bool wait_room(struct copy *copy)
{
    struct store_state state;

    for (;;) {
        store_state(copy->to, &state);
        if (state.spool_bytes < SPOOL_BYTES)
            return true;
        if (!wait_until(seconds_now() + POLL_SECONDS))
            return false;
    }
}

static bool send_rows(struct copy *copy, unsigned shard)
{
    struct store_rows *rows = &copy->rows[shard];

    if (rows->count == 0)
        return true;
    if (!wait_room(copy))
        return false;
    if (!store_send(copy->to, shard, rows)) {
        copy->refused = true;
        return false;
    }
    rows->used = 0;
    rows->count = 0;
    rows->day = 0;
    return true;
}

/* The number that decides a row's shard: its guest, or its stack. */
static uint64_t shard_number(enum store_table table,
                             const struct store_part *parts)
{
    const struct store_column *columns = store_columns(table);

    for (unsigned i = 0; columns[i].name != NULL; ++i)
        if (columns[i].role == STORE_IS_GUEST)
            return le64(parts[i].bytes);
    return le64(parts[1].bytes); /* of stacks */
}

static bool take_row(struct copy *copy, const struct store_part *parts,
                     const uint8_t *bytes, size_t count)
{
    uint64_t number = shard_number(copy->table, parts);
    unsigned shard = (unsigned)(number % store_shards(copy->to));

    ++copy->count;
    return store_put_parts(&copy->rows[shard], parts, bytes, count) ||
           (send_rows(copy, shard) &&
            store_put_parts(&copy->rows[shard], parts, bytes, count));
}

static bool take_bytes(void *owner, const void *bytes, size_t count)
{
    struct copy *copy = owner;
    struct store_part parts[STORE_COLUMNS_MAX];
    size_t at = 0, end;

    while (copy->room - copy->used < count) {
        copy->room = copy->room == 0 ? 1 << 20 : 2 * copy->room;
        copy->bytes = xreallocarray(copy->bytes, copy->room, 1);
    }
    memcpy(copy->bytes + copy->used, bytes, count);
    copy->used += count;
    while ((end = store_row_parts(copy->table, copy->bytes, copy->used, at,
                                  parts)) != 0) {
        if (!take_row(copy, parts, copy->bytes + at, end - at))
            return false;
        at = end;
    }
    memmove(copy->bytes, copy->bytes + at, copy->used - at);
    copy->used -= at;
    return !signals_caught();
}

static char *select_sql(enum store_table table, const char *where)
{
    const struct store_column *columns = store_columns(table);
    char *sql;
    size_t bytes;
    FILE *out = open_memstream(&sql, &bytes);

    if (out == NULL)
        die("out of memory");
    fputs("SELECT ", out);
    for (unsigned i = 0; columns[i].name != NULL; ++i)
        fprintf(out, "%s%s", i == 0 ? "" : ", ", columns[i].name);
    fprintf(out, " FROM %s%s", store_table_name(table), where);
    fclose(out);
    return sql;
}

static uint64_t count_rows(struct store *store, enum store_table table,
                           const char *where)
{
    char *sql =
        text_format("SELECT count() FROM %s%s", store_table_name(table), where);
    struct store_answer answer;
    char why[STORE_WHY];
    uint64_t count;

    if (!store_ask(store, sql, &answer, why))
        die("%s", why);
    count = answer.rows == 1 ? store_u64(&answer, 0, 0) : 0;
    store_answer_free(&answer);
    free(sql);
    return count;
}

/* Copies the rows of a table for which (where) holds. */
static void copy_rows(struct copy *copy, const char *where)
{
    char why[STORE_WHY] = "";
    char *sql = select_sql(copy->table, where);
    bool fine =
        store_query(copy->from, sql, "RowBinary", take_bytes, copy, why);

    for (unsigned i = 0; i < store_shards(copy->to) && fine; ++i)
        fine = send_rows(copy, i);
    free(sql);
    if (signals_caught())
        die("interrupted: what was copied of %s%s stays",
            store_table_name(copy->table), where);
    if (copy->refused)
        die("%s: rows of %s%s cannot be kept to be sent: is its disk full?",
            copy->spool, store_table_name(copy->table), where);
    if (!fine || copy->used > 0)
        die("%s", fine ? "an answer that ends in the middle of a row" : why);
}

static void copy_days(struct copy *copy)
{
    struct store_answer days;
    char why[STORE_WHY];
    char *sql = text_format("SELECT DISTINCT day FROM %s ORDER BY day",
                            store_table_name(copy->table));

    if (!store_ask(copy->from, sql, &days, why))
        die("%s", why);
    for (size_t i = 0; i < days.rows; ++i) {
        char *where =
            text_format(" WHERE day = '%s'", store_value(&days, i, 0));

        if (count_rows(copy->to, copy->table, where) > 0)
            die("%s has rows of %s of %s already: copying would count them "
                "twice",
                store_name(copy->to), store_table_name(copy->table),
                store_value(&days, i, 0));
        copy_rows(copy, where);
        free(where);
    }
    store_answer_free(&days);
    free(sql);
}

static void copy_table(struct copy *copy, enum store_table table)
{
    unsigned shards = store_shards(copy->to);

    copy->table = table;
    copy->count = 0;
    copy->rows = xreallocarray(NULL, shards, sizeof *copy->rows);
    for (unsigned i = 0; i < shards; ++i)
        copy->rows[i] = (struct store_rows){.table = table};
    if (store_table_has_days(table))
        copy_days(copy);
    else
        copy_rows(copy, ""); /* a row that is there replaces itself */
    for (unsigned i = 0; i < shards; ++i)
        store_rows_free(&copy->rows[i]);
    free(copy->rows);
    printf("%-10s%" PRIu64 " rows\n", store_table_name(table), copy->count);
}

/* A folder for the batches, which are gone when all went well. */
static void make_spool(char *path, size_t room)
{
    const char *folder = getenv("TMPDIR");

    snprintf(path, room, "%s/parasite-copy-XXXXXX",
             folder != NULL && *folder != '\0' ? folder : "/tmp");
    if (mkdtemp(path) == NULL)
        die("%s: no folder can be made", path);
}

static bool wait_sent(struct store *store)
{
    struct store_state state;
    bool sent = false;

    while (!sent && !signals_caught()) {
        sent = store_flush(store, 1);
        store_state(store, &state);
        if (!sent && state.problem[0] != '\0')
            log_info("waiting: %s", state.problem);
    }
    store_state(store, &state);
    return sent && state.lost_batches == 0;
}

int copy_store(const char *from, const char *to)
{
    char spool[4096], why[STORE_WHY];
    struct store_options read = {0};
    struct store_options write = {.create = true, .spool = spool};
    struct copy copy = {0};
    bool sent;

    signals_catch();
    copy.from = store_open(from, &read, why);
    if (copy.from == NULL)
        die("%s", why);
    make_spool(spool, sizeof spool);
    copy.spool = spool;
    copy.to = store_open(to, &write, why);
    if (copy.to == NULL) {
        rmdir(spool);
        die("%s", why);
    }
    for (unsigned table = 0; table < STORE_TABLES; ++table)
        copy_table(&copy, table);
    sent = wait_sent(copy.to);
    store_close(copy.to);
    store_close(copy.from);
    free(copy.bytes);
    if (!sent)
        die("not all of it is stored: the rest is in %s", spool);
    if (rmdir(spool) != 0)
        log_info("%s is left", spool);
    return STATUS_OK;
}
