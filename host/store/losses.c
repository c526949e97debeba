/* SPDX-License-Identifier: Apache-2.0 */

#include "store/losses.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_SECONDS 86400u

struct loss {
    uint32_t bucket;
    char *service;
    uint8_t build[STORE_BUILD_BYTES];
    uint64_t guest;
    enum store_table table;
    const char *why; /* lives as long as the process */
    uint64_t rows, amount;
};

/* FNV-1a */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < count; ++i)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_of(const struct store_amount *row, enum store_table table,
                        const char *why)
{
    const uint64_t numbers[] = {row->guest, row->bucket, table,
                                row->service_bytes};
    uint64_t hash =
        hash_bytes(UINT64_C(0xcbf29ce484222325), numbers, sizeof numbers);

    hash = hash_bytes(hash, why, strlen(why));
    hash = hash_bytes(hash, row->service, row->service_bytes);
    if (row->build != NULL)
        hash = hash_bytes(hash, row->build, STORE_BUILD_BYTES);
    return hash;
}

static uint32_t bucket_now(void)
{
    uint32_t now = (uint32_t)time(NULL);

    return now - now % STORE_BUCKET_SECONDS;
}

static void add_loss(struct losses *losses, const struct store_amount *amount,
                     enum store_table table, uint64_t rows, const char *why)
{
    struct store_amount row = *amount;
    struct loss *loss;
    uint32_t number;
    bool is_new;

    if (losses->none)
        return;
    if (row.bucket == 0)
        row.bucket = bucket_now();
    number = index_find(&losses->keys, hash_of(&row, table, why));
    if (number == INDEX_NONE && losses->keys.count >= LOSSES_MAX)
        row = (struct store_amount){
            .bucket = bucket_now(), .service = "", .amount = amount->amount};
    number = index_add(&losses->keys, hash_of(&row, table, why), &is_new);
    if (is_new) {
        vector_reserve_one(&losses->rows, number, sizeof *losses->rows);
        loss = &losses->rows[number];
        *loss = (struct loss){.bucket = row.bucket,
                              .guest = row.guest,
                              .table = table,
                              .why = why};
        loss->service = xreallocarray(NULL, row.service_bytes + 1, 1);
        memcpy(loss->service, row.service, row.service_bytes);
        loss->service[row.service_bytes] = '\0';
        if (row.build != NULL)
            memcpy(loss->build, row.build, STORE_BUILD_BYTES);
    }
    losses->rows[number].rows += rows;
    losses->rows[number].amount += row.amount;
}

uint64_t losses_add(struct losses *losses, enum store_table table,
                    const uint8_t *bytes, size_t count, const char *why)
{
    struct store_amount row;
    uint64_t amount = 0;

    for (size_t at = 0; store_row_amount(table, bytes, count, &at, &row);) {
        amount += row.amount;
        add_loss(losses, &row, table, 1, why);
    }
    return amount;
}

void losses_add_unknown(struct losses *losses, enum store_table table,
                        uint64_t rows, uint64_t amount, const char *why)
{
    struct store_amount row = {.service = "", .amount = amount};

    add_loss(losses, &row, table, rows, why);
}

static void add_again(struct losses *losses, const struct loss *loss)
{
    struct store_amount row = {loss->bucket,          loss->service,
                               strlen(loss->service), loss->build,
                               loss->guest,           loss->amount};

    add_loss(losses, &row, loss->table, loss->rows, loss->why);
}

static bool put_loss(const struct losses *losses, const struct loss *loss,
                     struct store_rows *rows)
{
    struct store_loss row = {
        .key = {loss->bucket, loss->service, loss->build, loss->guest},
        .host = losses->host,
        .why = loss->why,
        .what = store_table_name(loss->table),
        .rows = loss->rows,
        .amount = loss->amount,
    };

    return store_put_loss(rows, &row);
}

void losses_take(const struct losses *losses, struct store_rows *rows)
{
    for (uint32_t i = 0; i < losses->keys.count; ++i)
        (void)put_loss(losses, &losses->rows[i], rows);
}

void losses_forget(struct losses *losses, const struct store_rows *rows)
{
    struct losses left = {.host = losses->host};
    unsigned kept = rows->count;

    for (uint32_t i = 0; i < losses->keys.count; ++i) {
        const struct loss *loss = &losses->rows[i];

        if (loss->bucket / DAY_SECONDS == rows->day && kept > 0)
            --kept;
        else
            add_again(&left, loss);
    }
    losses_free(losses);
    *losses = left;
}

void losses_move(struct losses *losses, struct losses *from)
{
    for (uint32_t i = 0; i < from->keys.count; ++i)
        add_again(losses, &from->rows[i]);
    losses_free(from);
}

void losses_free(struct losses *losses)
{
    for (uint32_t i = 0; i < losses->keys.count; ++i)
        free(losses->rows[i].service);
    free(losses->rows);
    index_free(&losses->keys);
    *losses = (struct losses){.host = losses->host};
}
