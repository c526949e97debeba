/* SPDX-License-Identifier: Apache-2.0 */
/* Rows on their way into batches: by shard, table and day. */

#include "base/memory.h"
#include "store/client.h"

#include <stdlib.h>
#include <string.h>

static struct store_rows *rows_of(struct store_batches *batches,
                                  enum store_table table, uint64_t number)
{
    unsigned shards = store_shards(batches->store);

    if (batches->rows == NULL) {
        batches->rows = xreallocarray(NULL, (size_t)shards * STORE_TABLES,
                                      sizeof *batches->rows);
        for (unsigned i = 0; i < shards * STORE_TABLES; ++i)
            batches->rows[i] = (struct store_rows){.table = i % STORE_TABLES};
    }
    return &batches->rows[number % shards * STORE_TABLES + table];
}

static void send_rows(struct store_batches *batches, struct store_rows *rows)
{
    unsigned shard = (unsigned)(rows - batches->rows) / STORE_TABLES;

    if (!store_send(batches->store, shard, rows))
        ++batches->lost;
    rows->used = 0;
    rows->count = 0;
    rows->day = 0;
}

/* Defines store_add_NAME(): (number) of a row decides its shard. */
#define DEFINE_ADD(name, table, number)                                        \
    void store_add_##name(struct store_batches *batches,                       \
                          const struct store_##name *row)                      \
    {                                                                          \
        struct store_rows *rows = rows_of(batches, table, number);             \
                                                                               \
        if (!store_put_##name(rows, row)) {                                    \
            send_rows(batches, rows);                                          \
            (void)store_put_##name(rows, row);                                 \
        }                                                                      \
    }
DEFINE_ADD(sample, STORE_SAMPLES, row->key.guest)
DEFINE_ADD(stack, STORE_STACKS, row->stack)
DEFINE_ADD(account, STORE_ACCOUNTS, row->key.guest)
DEFINE_ADD(loop, STORE_LOOP, row->key.guest)
DEFINE_ADD(wait, STORE_WAITS, row->key.guest)
DEFINE_ADD(guest, STORE_GUESTS, row->key.guest)
DEFINE_ADD(loss, STORE_LOSSES, row->key.guest)

void store_batches_send(struct store_batches *batches)
{
    static const enum store_table order[STORE_TABLES] = {
        STORE_STACKS, STORE_GUESTS, STORE_SAMPLES, STORE_ACCOUNTS,
        STORE_LOOP,   STORE_WAITS,  STORE_LOSSES};

    if (batches->rows == NULL)
        return;
    for (unsigned table = 0; table < STORE_TABLES; ++table)
        for (unsigned i = 0; i < store_shards(batches->store); ++i) {
            struct store_rows *rows =
                &batches->rows[i * STORE_TABLES + order[table]];

            if (rows->count > 0)
                send_rows(batches, rows);
        }
}

void store_batches_free(struct store_batches *batches)
{
    unsigned shards = batches->rows == NULL ? 0 : store_shards(batches->store);

    for (unsigned i = 0; i < shards * STORE_TABLES; ++i)
        store_rows_free(&batches->rows[i]);
    free(batches->rows);
    batches->rows = NULL;
}
