/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_CLIENT_H
#define STORE_CLIENT_H

/*
 * A store, asked by ClickHouse's HTTP: an embedded one in a folder of this
 * machine, started when it is needed, or one server or more.
 *
 *     DIR, or store:DIR
 *     http://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/DATABASE]
 *         [?cluster=NAME]
 *
 * The database is "parasite" by default, the port 8123. Several hosts are
 * shards: NAME is what their configuration calls them together. Without a
 * password in the address, that of the environment, PARASITE_STORE_PASSWORD.
 *
 * Calls that can fail return false or NULL with a line in (why), for people,
 * of STORE_WHY bytes: it names the store, never a password. A store is used by
 * one thread at a time, except for store_send() and store_state(), which any
 * thread may call.
 */

#include "store/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_WHY 512

struct store;

/* Zeros are the defaults. */
struct store_options {
    /* Has tables made, or brought to STORE_SCHEMA, if they are not there.
     * Without it a store that has none is an error. A newer one always is. */
    bool create;

    /* A folder to keep batches in until the store has acknowledged them; NULL:
     * store_send() must not be called. Made if it is missing. One process at a
     * time: it is locked. */
    const char *spool;
    uint64_t spool_bytes; /* at most, shared by the shards; 0 = 1 GiB */

    /* What is not stored is no loss: the caller can send it again. */
    bool can_resend;

    /* Days that ended so long ago are dropped, of any collector, when the store
     * is opened and from then on; 0 = never. With a spool. */
    double keep_seconds;

    const char *host; /* of this collector, in losses; NULL = its name */

    /* The store may be away: with a spool, opening it succeeds all the same,
     * and the schema is looked at when it is back. */
    bool may_wait;

    /* Queries may change what is there. Without it the store has them as those
     * that only read, and refuses all others. */
    bool change;

    /* Batches are staged: they are sent when store_commit() says so. */
    bool stage;

    double seconds; /* to wait for an answer; 0 = 300 */
};

/* Opens the store at (address). */
struct store *store_open(const char *address,
                         const struct store_options *options, char *why);

/* Ends the sending of batches, in the middle of one if need be: what is not
 * acknowledged stays in the spool, for the next store_open(). */
void store_close(struct store *store);

/* Its name in messages, without the password. */
const char *store_name(const struct store *store);

/* The version of the engine, "26.5.1.1"; "" if it has not answered yet. */
const char *store_version(const struct store *store);

/* How many servers share the rows. */
unsigned store_shards(const struct store *store);

/* What a server calls its own part of a table; to be freed. */
char *store_own_table(const struct store *store, enum store_table table);

/* ---- asking */

/* Called with parts of an answer as they come; false ends the query. */
typedef bool store_take_fn(void *owner, const void *bytes, size_t count);

/* Runs (sql), without FORMAT, as a reader unless the store was opened to be
 * changed, and has (take) called with its answer in
 * (format), of ClickHouse's names. Of several shards the first one is asked,
 * which asks the others. An error that follows a part of the answer is an
 * error. (sql) has at most 256 KiB. */
bool store_query(struct store *store, const char *sql, const char *format,
                 store_take_fn *take, void *owner, char *why);

/* The answer as text: rows of values, unescaped. What is NULL is NULL. */
struct store_answer {
    unsigned columns;
    size_t rows;
    char **names;  /* (columns) */
    char **types;  /* "UInt64" */
    char **values; /* (rows) * (columns), row by row */
};

/* Runs (sql), without FORMAT. The answer is to be freed, of a failure too. */
bool store_ask(struct store *store, const char *sql,
               struct store_answer *answer, char *why);

/* The same on a connection of its own: the store can be asked other things
 * before store_ask_end(), which waits for the answer and must be called. (sql)
 * is copied. */
struct store_question;
struct store_question *store_ask_begin(struct store *store, const char *sql);
bool store_ask_end(struct store_question *question, struct store_answer *answer,
                   char *why);
void store_answer_free(struct store_answer *answer);

/* A value of it, and as a number: 0 if it is none. */
static inline const char *store_value(const struct store_answer *answer,
                                      size_t row, unsigned column)
{
    return answer->values[row * answer->columns + column];
}
uint64_t store_u64(const struct store_answer *answer, size_t row,
                   unsigned column);
double store_double(const struct store_answer *answer, size_t row,
                    unsigned column);

/* Writes (text) as a literal of SQL, with quotes, at most (room) bytes with
 * the zero; returns (to). What does not fit is an empty literal. */
char *store_quote(const char *text, char *to, size_t room);

/* ---- dropping what is old */

/* A day of a table that one server had (rows) of. */
struct store_pruned {
    const char *server;
    enum store_table table;
    const char *day; /* "2026-10-14" */
    uint64_t rows;
};
typedef void store_pruned_fn(void *owner, const struct store_pruned *pruned);

/* Drops the days of all tables that ended (seconds) ago or longer, on each
 * server; calls (took) for each, if not NULL. The store was opened to be
 * changed. What was dropped before a failure is gone. */
bool store_prune(struct store *store, double seconds, store_pruned_fn *took,
                 void *owner, char *why);

/* ---- sending */

/*
 * A batch is kept in the spool, its bytes unchanged, until its shard has
 * acknowledged it, over restarts of this process, too. A thread sends them in
 * their order, shard by shard, and retries what failed, so that each is stored
 * exactly once: by a token where the engine has them, by its hash where tables
 * are replicated, otherwise by asking for the first of its rows. What is not
 * kept, as the spool is full or cannot be written, and what the store refuses
 * for good, is sent as rows of the table losses.
 *
 * That batches wait is said on stderr when it begins, and when it is over; of a
 * store that may wait, also before there is a batch.
 */

/* Puts (rows) into the spool, for (shard); they stay the caller's. Waits for
 * the disk, not for the store. False: they are lost, and counted. */
bool store_send(struct store *store, unsigned shard,
                const struct store_rows *rows);

/*
 * With (stage) what is sent, and what the caller notes of where it was, become
 * valid together, whenever this process is killed: note store_staged() with the
 * rest, on the disk, then call store_commit() with it. The next process calls
 * store_recover() with what was noted, 0 if nothing was, before it sends: what
 * was staged beyond that is dropped, as the note knows nothing of it.
 */

/* The order of the last batch so far. */
uint64_t store_staged(struct store *store);

/* Has what is staged up to (order) sent. What cannot be written now is tried
 * again with the next call. */
void store_commit(struct store *store, uint64_t order);
void store_recover(struct store *store, uint64_t order);

/* Rows of several tables, days and shards. Starts as zeros, with (store). */
struct store_batches {
    struct store *store;
    struct store_rows *rows; /* by shard and table */
    uint64_t lost;           /* batches for which store_send() said false */
};

/* Each appends a row to the batch that it belongs to: shard guest % shards, of
 * stacks stack % shards. A batch that it does not go with is sent first. */
void store_add_sample(struct store_batches *batches,
                      const struct store_sample *row);
void store_add_stack(struct store_batches *batches,
                     const struct store_stack *row);
void store_add_account(struct store_batches *batches,
                       const struct store_account *row);
void store_add_loop(struct store_batches *batches,
                    const struct store_loop *row);
void store_add_wait(struct store_batches *batches,
                    const struct store_wait *row);
void store_add_guest(struct store_batches *batches,
                     const struct store_guest *row);
void store_add_loss(struct store_batches *batches,
                    const struct store_loss *row);

/* Sends all that there is, stacks first, and leaves (batches) empty. */
void store_batches_send(struct store_batches *batches);
void store_batches_free(struct store_batches *batches);

/* Waits until the spool is empty, for as long as the store takes batches; says
 * now and then how many are left. False: for (seconds) it took nothing, nor was
 * it at work on any, or one more signal was caught (base/wait.h). */
bool store_flush(struct store *store, double seconds);

/* What the sending has come to since store_open(). */
struct store_state {
    uint64_t spool_batches, spool_bytes; /* now, from earlier runs, too */
    uint64_t spool_most_bytes; /* of these, of the shard that has the most */
    uint64_t sent_batches, sent_rows, sent_bytes; /* acknowledged; as gzip */
    uint64_t retries;
    uint64_t lost_batches, lost_rows; /* see the table losses */
    unsigned away;                    /* shards that take no batches now */
    char problem[STORE_WHY];          /* why they do not; "" = all do */
};
void store_state(struct store *store, struct store_state *state);

#endif
