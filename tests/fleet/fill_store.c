/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill_store STORE SPOOL FOLDER: sends the rows of FOLDER/TABLE, RowBinary of
 * one day, to a store, whose tables it makes if they are missing, and waits
 * until they are stored.
 */

#include "base/log.h"
#include "base/memory.h"
#include "store/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_ROWS 10000u
#define WAIT_SECONDS 600

/* All of the file (path), to be freed; NULL if there is none. */
static uint8_t *read_file(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;
    long end;

    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) < 0)
        die("cannot read %s", path);
    rewind(file);
    *count = (size_t)end;
    bytes = xreallocarray(NULL, *count + 1, 1);
    if (fread(bytes, 1, *count, file) != *count)
        die("cannot read %s", path);
    fclose(file);
    return bytes;
}

static void send_rows(struct store *store, const struct store_rows *rows)
{
    if (rows->count > 0 && !store_send(store, 0, rows))
        die("a batch of %s was not kept", store_table_name(rows->table));
}

static void send_table(struct store *store, enum store_table table,
                       const char *path)
{
    struct store_rows rows = {.table = table};
    struct store_amount row;
    size_t count, at = 0, begin = 0;
    uint8_t *bytes = read_file(path, &count);

    if (bytes == NULL)
        return;
    while (store_row_amount(table, bytes, count, &at, &row)) {
        rows.bytes = bytes + begin;
        rows.used = rows.room = at - begin;
        rows.day = table == STORE_STACKS || table == STORE_GUESTS
                       ? 0
                       : row.bucket / 86400;
        if (++rows.count < BATCH_ROWS)
            continue;
        send_rows(store, &rows);
        begin = at;
        rows.count = 0;
    }
    if (at != count)
        die("%s: no row at byte %zu", path, at);
    send_rows(store, &rows);
    free(bytes);
}

int main(int argc, char **argv)
{
    struct store_options options = {.create = true};
    struct store *store;
    char why[STORE_WHY], path[4096];
    struct store_state state;

    if (argc != 4)
        die_usage("fill_store STORE SPOOL FOLDER");
    options.spool = argv[2];
    store = store_open(argv[1], &options, why);
    if (store == NULL)
        die("%s", why);
    for (int table = 0; table < STORE_TABLES; ++table) {
        snprintf(path, sizeof path, "%s/%s", argv[3],
                 store_table_name((enum store_table)table));
        send_table(store, (enum store_table)table, path);
    }
    if (!store_flush(store, WAIT_SECONDS)) {
        store_state(store, &state);
        die("not all is stored: %s", state.problem);
    }
    store_close(store);
    return STATUS_OK;
}
