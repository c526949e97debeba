/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

/* Makes the tables of a store, and tells what its engine can do. */

#include "store/address.h"
#include "store/client.h"
#include "store/http.h"
#include "store/rows.h"

/* A server, as it has said of itself. */
struct store_server {
    char version[64]; /* "26.5.1.1" */
    bool is_modern;   /* has codecs, tokens of inserts, LowCardinality */
    bool replicates;  /* has a ZooKeeper or Keeper */
    bool has_macros;  /* {shard} and {replica} are defined */
    bool only_reads;  /* its user may change nothing, nor this setting */
};

/* Asks a server about itself. */
bool schema_ask(struct store_http *http, struct store_server *server,
                struct store_reply *reply);

/*
 * Brings the tables of a server, number (shard), to STORE_SCHEMA: makes those
 * that are missing and records the version. Without (create) nothing is
 * changed: a store of an earlier version is left as it is, and one that has no
 * tables is an error. False, and a line in (why) of (room) bytes.
 */
bool schema_ensure(struct store_http *http, const struct store_address *address,
                   const struct store_server *server, unsigned shard,
                   bool create, char *why, size_t room);

/* The statement that makes a table: of rows, not the view over a cluster. To be
 * freed. */
char *schema_table_sql(enum store_table table,
                       const struct store_address *address,
                       const struct store_server *server, unsigned shard);

/* What rows of a table are inserted into: "samples", in a cluster
 * "samples_local". To be freed. */
char *schema_local_name(enum store_table table,
                        const struct store_address *address);

/* Runs (sql) in (database), and keeps its answer, if that is not NULL, in an
 * answer as of store_ask(). */
bool schema_run(struct store_http *http, const char *database, const char *sql,
                struct store_answer *answer, struct store_reply *reply);

#endif
