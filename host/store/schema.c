/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables, as both engines take them. Columns are in rows.c. An old engine
 * (18.16) has no codecs and no tokens; where there is a ZooKeeper, tables are
 * replicated, since those drop a batch that comes twice.
 *
 * Versions: table parasite_schema has a row for each version that the store has
 * been brought to. A new version of the tables is a further function in
 * `steps`, which must leave a store alone that it has changed before: it may
 * have been interrupted, and the first one makes tables as they are now.
 */

#include "store/schema.h"

#include "base/memory.h"
#include "base/text.h"
#include "store/answer.h"
#include "store/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODERN_MAJOR 22
/* What is remembered of a table to tell a batch that comes again: so many, and
 * of replicated tables none that is older, where recent servers forget after
 * an hour. A host sends some 10 batches of a table in a minute. */
#define WINDOW "10000"
#define WINDOW_SECONDS "604800"

static const struct {
    const char *engine;
    const char *arguments; /* of the engine */
    const char *order;
    unsigned granularity;
} tables[STORE_TABLES] = {
    [STORE_SAMPLES] = {"SummingMergeTree", "(samples, weight)",
                       "service, toStartOfHour(bucket), build, guest, cpu, "
                       "kind, stack, bucket",
                       8192},
    [STORE_STACKS] = {"ReplacingMergeTree", "named", "build, stack", 1024},
    [STORE_ACCOUNTS] = {"SummingMergeTree",
                        "(ticks, attributed, idle, masked, unresolved, "
                        "dropped, missed, stolen_ns)",
                        "service, bucket, build, guest, cpu", 8192},
    [STORE_LOOP] = {"SummingMergeTree", "(count)",
                    "service, bucket, measure, build, guest, cpu, site, low",
                    8192},
    [STORE_WAITS] = {"SummingMergeTree", "(count, ns)",
                     "service, bucket, build, guest, site, why", 8192},
    [STORE_GUESTS] = {"ReplacingMergeTree", "seen", "service, build, guest",
                      1024},
    [STORE_LOSSES] = {"SummingMergeTree", "(lost_rows, amount)",
                      "service, bucket, build, guest, host, what, why, entry",
                      1024},
};

bool schema_run(struct store_http *http, const char *database, const char *sql,
                struct store_answer *answer, struct store_reply *reply)
{
    struct answer_reader reader = {.answer = answer};
    char *parameters =
        text_format("database=%s&default_format=TabSeparatedWithNamesAndTypes"
                    "&wait_end_of_query=1",
                    database);
    struct store_request request = {
        .parameters = parameters,
        .text = sql,
        .file = -1,
        .take = answer != NULL ? answer_take : NULL,
        .owner = &reader,
    };
    bool fine;

    if (answer != NULL)
        *answer = (struct store_answer){0};
    fine = store_http_ask(http, &request, reply);
    free(parameters);
    if (answer != NULL && !answer_end(&reader) && (fine || reply->stopped)) {
        snprintf(reply->text, sizeof reply->text,
                 "an answer that is not ClickHouse's");
        fine = false;
    }
    return fine;
}

bool schema_ask(struct store_http *http, struct store_server *server,
                struct store_reply *reply)
{
    struct store_answer answer;
    bool fine;

    *server = (struct store_server){0};
    fine = schema_run(
        http, "default",
        "SELECT version(), (SELECT count() FROM system.tables WHERE "
        "database = 'system' AND name = 'zookeeper'), (SELECT count() FROM "
        "system.tables WHERE database = 'system' AND name = 'macros'), "
        "(SELECT count() FROM system.settings WHERE name = 'readonly' AND "
        "value != '0')",
        &answer, reply);
    if (fine && (answer.rows != 1 || answer.columns != 4 ||
                 store_value(&answer, 0, 0) == NULL)) {
        snprintf(reply->text, sizeof reply->text,
                 "this is not a ClickHouse server");
        fine = false;
    }
    if (fine) {
        snprintf(server->version, sizeof server->version, "%s",
                 store_value(&answer, 0, 0));
        server->is_modern = atoi(server->version) >= MODERN_MAJOR;
        server->replicates = store_u64(&answer, 0, 1) > 0;
        server->has_macros = store_u64(&answer, 0, 2) > 0;
        server->only_reads = store_u64(&answer, 0, 3) > 0;
    }
    store_answer_free(&answer);
    if (!fine || !server->has_macros)
        return fine;
    fine = schema_run(http, "default",
                      "SELECT count() FROM system.macros WHERE macro = 'shard' "
                      "OR macro = 'replica'",
                      &answer, reply);
    server->has_macros =
        fine && answer.rows == 1 && store_u64(&answer, 0, 0) == 2;
    store_answer_free(&answer);
    return fine;
}

/* ---- statements */

char *schema_local_name(enum store_table table,
                        const struct store_address *address)
{
    return text_format("%s%s", store_table_name(table),
                       address->cluster != NULL ? "_local" : "");
}

static void put_columns(FILE *out, enum store_table table, bool is_modern)
{
    const struct store_column *column = store_columns(table);

    for (unsigned i = 0; column[i].name != NULL; ++i) {
        const char *type = column[i].sql != NULL
                               ? column[i].sql
                               : store_type_name(column[i].type);
        const char *codec = "";

        if (is_modern && column[i].type == STORE_TEXT)
            type = "LowCardinality(String)";
        if (is_modern && (column[i].role == STORE_IS_SUM ||
                          column[i].role == STORE_IS_AMOUNT))
            codec = " CODEC(T64, ZSTD(1))";
        else if (is_modern && strcmp(column[i].name, "stack") == 0)
            codec = " CODEC(ZSTD(1))";
        fprintf(out, "%s%s %s%s", i == 0 ? "" : ", ", column[i].name, type,
                codec);
    }
}

char *schema_table_sql(enum store_table table,
                       const struct store_address *address,
                       const struct store_server *server, unsigned shard)
{
    char *name = schema_local_name(table, address), *sql;
    size_t bytes;
    FILE *out = open_memstream(&sql, &bytes);

    if (out == NULL)
        return name;
    fprintf(out, "CREATE TABLE IF NOT EXISTS %s (", name);
    put_columns(out, table, server->is_modern);
    fprintf(out, ") ENGINE = %s%s(", server->replicates ? "Replicated" : "",
            tables[table].engine);
    if (server->replicates && server->has_macros)
        fprintf(out, "'/clickhouse/tables/{shard}/%s/%s', '{replica}', ",
                address->database, name);
    else if (server->replicates)
        fprintf(out, "'/clickhouse/tables/shard%u/%s/%s', '%s', ", shard,
                address->database, name, "first");
    fprintf(out, "%s)%s ORDER BY (%s) SETTINGS index_granularity = %u",
            tables[table].arguments,
            store_table_has_days(table) ? " PARTITION BY day" : "",
            tables[table].order, tables[table].granularity);
    if (server->replicates)
        fputs(", replicated_deduplication_window = " WINDOW
              ", replicated_deduplication_window_seconds = " WINDOW_SECONDS,
              out);
    else if (server->is_modern)
        fputs(", non_replicated_deduplication_window = " WINDOW, out);
    /* what was acknowledged survives a loss of power */
    if (server->is_modern)
        fputs(", fsync_after_insert = 1, fsync_part_directory = 1", out);
    fclose(out);
    free(name);
    return sql;
}

/* ---- steps from one version to the next */

struct step {
    struct store_http *http;
    const struct store_address *address;
    const struct store_server *server;
    unsigned shard;
    struct store_reply reply;
};

static bool run_step(struct step *step, char *sql)
{
    bool fine = schema_run(step->http, step->address->database, sql, NULL,
                           &step->reply);

    free(sql);
    return fine;
}

static bool make_tables(struct step *step)
{
    const struct store_address *address = step->address;

    for (unsigned i = 0; i < STORE_TABLES; ++i) {
        const char *name = store_table_name(i);

        if (!run_step(step,
                      schema_table_sql(i, address, step->server, step->shard)))
            return false;
        if (address->cluster != NULL &&
            !run_step(step,
                      text_format("CREATE TABLE IF NOT EXISTS %s AS %s_local "
                                  "ENGINE = Distributed(%s, %s, %s_local)",
                                  name, name, address->cluster,
                                  address->database, name)))
            return false;
    }
    return true;
}

/* Whether (table) has the column, in *(has). */
static bool ask_column(struct step *step, const char *table, const char *column,
                       bool *has)
{
    struct store_answer answer;
    char *sql = text_format("SELECT count() FROM system.columns WHERE "
                            "database = '%s' AND table = '%s' AND name = '%s'",
                            step->address->database, table, column);
    bool fine = schema_run(step->http, step->address->database, sql, &answer,
                           &step->reply);

    free(sql);
    *has = fine && answer.rows == 1 && store_u64(&answer, 0, 0) > 0;
    store_answer_free(&answer);
    return fine;
}

/* Losses get their numbers. Only in one statement a new column may become a
 * part of the key. */
static bool number_losses(struct step *step)
{
    static const char *const column = "ADD COLUMN entry UInt64 AFTER why";
    char *local = schema_local_name(STORE_LOSSES, step->address);
    bool has, fine = ask_column(step, local, "entry", &has);

    if (fine && !has)
        fine = run_step(step,
                        text_format("ALTER TABLE %s %s, MODIFY ORDER BY (%s)",
                                    local, column, tables[STORE_LOSSES].order));
    free(local);
    if (!fine || step->address->cluster == NULL)
        return fine;
    if (!ask_column(step, "losses", "entry", &has))
        return false;
    return has || run_step(step, text_format("ALTER TABLE losses %s", column));
}

/* steps[N] makes version N + 1 of version N. */
static bool (*const steps[STORE_SCHEMA])(struct step *step) = {make_tables,
                                                               number_losses};

/* The version of the tables, 0 = there are none. */
static bool ask_version(struct step *step, uint64_t *version)
{
    struct store_answer answer;
    bool fine = schema_run(step->http, step->address->database,
                           "SELECT max(version) FROM parasite_schema", &answer,
                           &step->reply);
    int code = step->reply.code;

    *version = fine && answer.rows == 1 ? store_u64(&answer, 0, 0) : 0;
    store_answer_free(&answer);
    return fine || code == 60 /* no table */ || code == 81 /* no database */;
}

static bool make_database(struct step *step)
{
    char *sql = text_format("CREATE DATABASE IF NOT EXISTS %s",
                            step->address->database);
    bool fine = schema_run(step->http, "default", sql, NULL, &step->reply);

    free(sql);
    return fine &&
           run_step(
               step,
               text_format("CREATE TABLE IF NOT EXISTS parasite_schema "
                           "(version UInt32, "
                           "at DateTime) ENGINE = MergeTree() ORDER BY version "
                           "SETTINGS index_granularity = 8192"));
}

static bool bring_up(struct step *step, uint64_t version)
{
    if (!make_database(step))
        return false;
    for (; version < STORE_SCHEMA; ++version)
        if (!steps[version](step) ||
            !run_step(step,
                      text_format("INSERT INTO parasite_schema VALUES (%u, "
                                  "now())",
                                  (unsigned)version + 1)))
            return false;
    return true;
}

bool schema_ensure(struct store_http *http, const struct store_address *address,
                   const struct store_server *server, unsigned shard,
                   bool create, char *why, size_t room)
{
    struct step step = {http, address, server, shard, {0}};
    const char *host =
        address->folder != NULL ? address->name : address->hosts[shard];
    uint64_t version;

    if (!ask_version(&step, &version)) {
        snprintf(why, room, "%s: %s", host, step.reply.text);
        return false;
    }
    if (version > STORE_SCHEMA) {
        snprintf(why, room,
                 "%s: its tables have version %u, and this parasite knows %u "
                 "at most: use a newer parasite",
                 host, (unsigned)version, STORE_SCHEMA);
        return false;
    }
    if (version == STORE_SCHEMA || (version > 0 && !create))
        return true;
    if (!create) {
        snprintf(why, room,
                 "%s: there are no tables of parasite in '%s': nothing was "
                 "sent to it yet",
                 host, address->database);
        return false;
    }
    if (bring_up(&step, version))
        return true;
    snprintf(why, room, "%s: the tables cannot be made: %s", host,
             step.reply.text);
    return false;
}
