/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a store into another: rows are read as RowBinary and sent as a
 * collector sends its own, in batches of one day and shard. So each combination
 * of embedded stores, servers and clusters works, of old and new engines.
 *
 * A day of a table that has the same sums in both is there already: so a copy
 * that was interrupted goes on, from the day that it was in. Which rows of that
 * day are stored already cannot be found out: the user drops the day.
 */

#include "store/copy.h"

#include "base/bytes.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/temporary.h"
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
#define SPOOL_BYTES (UINT64_C(64) << 20) /* of all; waits for a shard beyond */
/* Rows that are asked for at a time, but for those of one bucket: the embedded
 * engine has all of an answer in memory, and a day of 1,000 guests has
 * 21 GB. */
#define SLICE_ROWS 100000u

struct copy {
    struct store *from, *to;
    enum store_table table;
    struct store_rows *rows; /* by shard */
    uint8_t *bytes;          /* of a row that has not come wholly */
    size_t used, room;
    uint64_t count;
    char *spool;            /* a folder */
    bool refused;           /* rows were not taken by it */
    json_t *tables, *there; /* what is printed of them, NULL = as text */
};

/* What is in the spool can be read again, and would else be sent by nobody. */
static void close_target(struct copy *copy)
{
    store_close(copy->to);
    temporary_remove(copy->spool);
}

static _Noreturn void give_up(struct copy *copy, const char *why)
{
    close_target(copy);
    die("%s", why);
}

/* Waits until the spool has room: what is copied can be read again, so nothing
 * needs to be lost. False: a signal was caught. */
static bool wait_room(struct copy *copy)
{
    struct store_state state;

    for (;;) {
        store_state(copy->to, &state);
        if (state.spool_most_bytes < SPOOL_BYTES / store_shards(copy->to))
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

static bool is_sum(const struct store_column *column)
{
    return column->role == STORE_IS_SUM || column->role == STORE_IS_AMOUNT;
}

/* Asks for the rows of a table for which (where) holds, or for their sums,
 * after whether there are any, and of how many guests. */
static char *query(enum store_table table, const char *where, bool sums)
{
    const struct store_column *columns = store_columns(table);
    const char *before = "";
    char *sql;
    size_t bytes;
    FILE *out = open_memstream(&sql, &bytes);

    if (out == NULL)
        die("out of memory");
    fputs("SELECT ", out);
    if (sums) {
        fputs("count() > 0, uniqExact(bucket, service, build, guest)", out);
        before = ", ";
    }
    for (unsigned i = 0; columns[i].name != NULL; ++i) {
        if (sums && !is_sum(&columns[i]))
            continue;
        fprintf(out, sums ? "%ssum(%s)" : "%s%s", before, columns[i].name);
        before = ", ";
    }
    fprintf(out, " FROM %s%s", store_table_name(table), where);
    fclose(out);
    return sql;
}

static void ask(struct copy *copy, struct store *store, const char *sql,
                struct store_answer *answer)
{
    char why[STORE_WHY];

    if (!store_ask(store, sql, answer, why))
        give_up(copy, why);
}

enum there { THERE_NONE, THERE_ALL, THERE_OTHER };

/* What the target has of a day. */
static enum there find_day(struct copy *copy, const char *where)
{
    char *sql = query(copy->table, where, true);
    struct store_answer from, to;
    enum there there = THERE_ALL;

    ask(copy, copy->from, sql, &from);
    ask(copy, copy->to, sql, &to);
    if (to.rows != 1 || store_u64(&to, 0, 0) == 0)
        there = THERE_NONE;
    for (unsigned i = 0; i < from.columns && there == THERE_ALL; ++i)
        if (store_u64(&from, 0, i) != store_u64(&to, 0, i))
            there = THERE_OTHER;
    store_answer_free(&from);
    store_answer_free(&to);
    free(sql);
    return there;
}

static const char *reason(const struct copy *copy, bool fine, const char *why)
{
    if (signals_caught())
        return "interrupted";
    if (copy->refused)
        return "rows cannot be kept to be sent: is the disk full?";
    if (!fine)
        return why[0] != '\0' ? why : "a row that cannot be sent";
    return copy->used > 0 ? "an answer that ends in the middle of a row" : NULL;
}

/* Copies the rows of a table for which (where) holds. */
static void copy_rows(struct copy *copy, const char *where)
{
    char why[STORE_WHY] = "";
    char *sql = query(copy->table, where, false);
    const char *failed;
    bool fine =
        store_query(copy->from, sql, "RowBinary", take_bytes, copy, why);

    for (unsigned i = 0; i < store_shards(copy->to) && fine; ++i)
        fine = send_rows(copy, i);
    free(sql);
    failed = reason(copy, fine, why);
    if (failed != NULL)
        give_up(copy, text_format("%s%s: %s", store_table_name(copy->table),
                                  where, failed));
}

/* Copies a day, slice by slice. */
static void copy_slices(struct copy *copy, const char *day)
{
    struct store_answer buckets;
    uint64_t rows = 0, first = 0, last;
    char *where;
    char *sql = text_format(
        "SELECT toUnixTimestamp(bucket) AS at, count() AS n FROM %s "
        "WHERE day = '%s' GROUP BY at ORDER BY at",
        store_table_name(copy->table), day);

    ask(copy, copy->from, sql, &buckets);
    for (size_t i = 0; i < buckets.rows; ++i) {
        last = store_u64(&buckets, i, 0);
        if (rows == 0)
            first = last;
        rows += store_u64(&buckets, i, 1);
        if (rows < SLICE_ROWS && i + 1 < buckets.rows)
            continue;
        where = text_format(" WHERE day = '%s' AND toUnixTimestamp(bucket) "
                            "BETWEEN %" PRIu64 " AND %" PRIu64,
                            day, first, last);
        copy_rows(copy, where);
        free(where);
        rows = 0;
    }
    store_answer_free(&buckets);
    free(sql);
}

static _Noreturn void refuse_day(struct copy *copy, const char *day)
{
    give_up(copy,
            text_format("%s has other rows of %s of %s: copying would "
                        "count some twice. If a copy ended there, have "
                        "each server do \"ALTER TABLE %s DROP PARTITION "
                        "'%s'\" and copy again",
                        store_name(copy->to), store_table_name(copy->table),
                        day, store_own_table(copy->to, copy->table), day));
}

static void copy_day(struct copy *copy, const char *day)
{
    char *where = text_format(" WHERE day = '%s'", day);

    switch (find_day(copy, where)) {
    case THERE_NONE:
        copy_slices(copy, day);
        break;
    case THERE_ALL:
        if (copy->there != NULL)
            json_array_append_new(copy->there, json_text(day));
        else
            printf("%-10s%s is there already\n", store_table_name(copy->table),
                   day);
        break;
    case THERE_OTHER:
        refuse_day(copy, day);
    }
    free(where);
}

static void copy_days(struct copy *copy)
{
    struct store_answer days;
    char *sql = text_format("SELECT DISTINCT day FROM %s ORDER BY day",
                            store_table_name(copy->table));

    ask(copy, copy->from, sql, &days);
    for (size_t i = 0; i < days.rows; ++i)
        copy_day(copy, store_value(&days, i, 0));
    store_answer_free(&days);
    free(sql);
}

static void print_table(const struct copy *copy)
{
    json_t *object;

    if (copy->tables == NULL) {
        printf("%-10s%" PRIu64 " rows\n", store_table_name(copy->table),
               copy->count);
        return;
    }
    object = json_object();
    json_set(object, "table", json_text(store_table_name(copy->table)));
    json_set(object, "rows", json_count(copy->count));
    json_set(object, "there", copy->there);
    json_array_append_new(copy->tables, object);
}

static void copy_table(struct copy *copy, enum store_table table)
{
    unsigned shards = store_shards(copy->to);

    copy->table = table;
    copy->count = 0;
    copy->there = copy->tables != NULL ? json_array() : NULL;
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
    print_table(copy);
}

static bool wait_sent(struct store *store)
{
    struct store_state state;
    bool sent = false;

    while (!sent && !signals_caught()) {
        sent = store_flush(store, 1);
        store_state(store, &state);
    }
    store_state(store, &state);
    return sent && state.lost_batches == 0;
}

static void print_json(const struct copy *copy)
{
    json_t *object = json_object();

    json_set(object, "from", json_text(store_name(copy->from)));
    json_set(object, "to", json_text(store_name(copy->to)));
    json_set(object, "tables", copy->tables);
    json_print(object, stdout);
}

int copy_store(const char *from, const char *to, bool json)
{
    char why[STORE_WHY];
    struct store_options read = {0};
    struct store_options write = {.create = true, .can_resend = true};
    struct copy copy = {0};

    signals_catch();
    copy.from = store_open(from, &read, why);
    if (copy.from == NULL)
        die("%s", why);
    write.spool = copy.spool = temporary_folder("copy");
    copy.to = store_open(to, &write, why);
    if (copy.to == NULL) {
        temporary_remove(copy.spool);
        die("%s", why);
    }
    copy.tables = json ? json_array() : NULL;
    for (unsigned table = 0; table < STORE_TABLES; ++table)
        copy_table(&copy, table);
    if (!wait_sent(copy.to))
        give_up(&copy, "not all of it is stored: copy again");
    if (json)
        print_json(&copy);
    close_target(&copy);
    store_close(copy.from);
    free(copy.bytes);
    free(copy.spool);
    return STATUS_OK;
}
