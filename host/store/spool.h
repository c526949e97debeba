/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_SPOOL_H
#define STORE_SPOOL_H

/*
 * A folder of batches that no server has acknowledged yet. Each is a file,
 *
 *     ORDER-TOKEN.SHARD.TABLE.ROWS.AMOUNT.gz
 *
 * whose bytes are the rows as gzip, which do not change. TOKEN is random: were
 * one used again, an engine would drop the second batch as a copy of the first.
 * A file is there as a whole or not at all: it is written under another name.
 * What a server refuses for good is moved to refused/. TABLE is the table's
 * name, but for losses, which are "entries": a file of "losses" has rows
 * without their numbers, of version 1 of the tables.
 *
 * A batch that is staged, with ".staged" after that name, is not sent until it
 * is committed. So several batches, and what the caller notes elsewhere, become
 * valid at once: the caller notes the order of the last one, then commits.
 * After a kill in between, those up to what was noted are committed, and the
 * others dropped.
 *
 * Each shard has the same share of the limit: one that is away for long leaves
 * the others theirs.
 *
 * Not for several threads at a time.
 */

#include "store/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_TOKEN 40 /* bytes of a token's text */

struct spool_batch {
    uint64_t order, token;
    unsigned shard;
    enum store_table table;
    uint64_t rows, amount;
    uint64_t bytes; /* of the file */
    bool is_old;    /* of an earlier process, which may have sent it */
    bool is_staged;
    bool is_outdated; /* rows of an earlier version, which no store takes */
};

struct spool {
    int folder;
    uint64_t limit; /* bytes */
    uint64_t bytes, count;
    unsigned shards;
    uint64_t *shard_bytes;       /* (bytes) of each */
    uint64_t order;              /* of the last batch */
    struct spool_batch *batches; /* sorted by (order) */
};

/* Opens the folder, makes it if it is missing, and finds what is in it; files
 * that are half written are removed. What is there of more shards than (shards)
 * goes to those that there are. False, and a line in (why) of (room) bytes. */
bool spool_open(struct spool *spool, const char *path, uint64_t limit,
                unsigned shards, char *why, size_t room);
void spool_close(struct spool *spool);

/* How a batch is kept: a sum of these. */
enum spool_how {
    SPOOL_PLAIN = 0,
    SPOOL_BEYOND = 1, /* whatever the limit */
    SPOOL_STAGED = 2
};

/* Keeps a batch of (rows). False: it is not kept, and *(why) says why in a few
 * words that are always the same. */
bool spool_add(struct spool *spool, unsigned shard,
               const struct store_rows *rows, uint64_t amount, unsigned how,
               const char **why);

/* Commits what is staged up to (order). False: the folder cannot be written,
 * and some are still staged. */
bool spool_commit(struct spool *spool, uint64_t order);

/* After spool_open(): commits what an earlier process staged up to (order), and
 * drops the rest. Orders go on from there. Returns how many were dropped. */
uint64_t spool_recover(struct spool *spool, uint64_t order);

/* The bytes of the shard that has the most. */
uint64_t spool_most_bytes(const struct spool *spool);

/* The first batch of (shard) that is not staged; NULL = none. It lives until
 * the spool changes. */
const struct spool_batch *spool_first(const struct spool *spool,
                                      unsigned shard);

/* Opens its file; -1, and errno: it cannot be opened. */
int spool_read(const struct spool *spool, const struct spool_batch *batch);

/* The text that is the same each time that the batch is sent. */
void spool_token(const struct spool_batch *batch, char text[SPOOL_TOKEN]);

/* The rows of its file, of (count) bytes, to be freed. NULL: it is damaged, and
 * errno is 0; or it cannot be read, as errno says. Opens no other file. */
uint8_t *spool_rows(int file, size_t *count);

/* Removes the batch, or with (refused) puts it aside. */
void spool_remove(struct spool *spool, const struct spool_batch *batch,
                  bool refused);

#endif
