/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A day is a partition, which goes at once and whole on all engines. 18.16 has
 * no TTL, and with one, rows would go when the engine merges, which the
 * embedded one does only while somebody asks it.
 */

#include "store/prune.h"

#include "base/text.h"
#include "store/columns.h"
#include "store/schema.h"

#include <stdlib.h>
#include <time.h>

#define DAY_SECONDS 86400

uint32_t prune_first_day(double seconds)
{
    double since = (double)time(NULL) - seconds;

    return since > 0 ? (uint32_t)(since / DAY_SECONDS) : 0;
}

static bool drop_day(struct store_http *http,
                     const struct store_address *address, const char *table,
                     const char *day, struct store_reply *reply)
{
    char *sql = text_format("ALTER TABLE %s DROP PARTITION '%s'", table, day);
    bool fine = schema_run(http, address->database, sql, NULL, reply);

    free(sql);
    return fine;
}

static bool prune_table(struct store_http *http,
                        const struct store_address *address,
                        struct store_pruned *pruned, uint32_t first,
                        store_pruned_fn *took, void *owner,
                        struct store_reply *reply)
{
    char *table = schema_local_name(pruned->table, address);
    char *sql = text_format("SELECT toString(day) AS name, count() AS n "
                            "FROM %s WHERE day < toDate(%u) "
                            "GROUP BY name ORDER BY name",
                            table, first);
    struct store_answer days;
    bool fine = schema_run(http, address->database, sql, &days, reply);

    for (size_t i = 0; i < days.rows && fine; ++i) {
        pruned->day = store_value(&days, i, 0);
        pruned->rows = store_u64(&days, i, 1);
        fine = drop_day(http, address, table, pruned->day, reply);
        if (fine && took != NULL)
            took(owner, pruned);
    }
    store_answer_free(&days);
    free(sql);
    free(table);
    return fine;
}

bool prune_server(struct store_http *http, const struct store_address *address,
                  unsigned shard, uint32_t first, store_pruned_fn *took,
                  void *owner, struct store_reply *reply)
{
    struct store_pruned pruned = {.server = address->folder != NULL
                                                ? address->name
                                                : address->hosts[shard]};
    bool fine = true;

    for (unsigned table = 0; table < STORE_TABLES && fine; ++table) {
        pruned.table = table;
        if (store_table_has_days(table))
            fine =
                prune_table(http, address, &pruned, first, took, owner, reply);
    }
    return fine;
}
