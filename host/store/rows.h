/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

/*
 * The tables of a store, and their rows as ClickHouse's RowBinary.
 *
 * Rows are sums of a bucket, 60 seconds that begin at a whole minute of UTC,
 * and belong to a guest and, where there is one, to a CPU. A row whose numbers
 * are all 0 is not sent: SummingMergeTree drops it.
 *
 * Each key, all columns before the sums, is sent once: by whoever closes the
 * bucket. What comes later for a closed bucket goes to the bucket that is open.
 * Losses may come several times for a guest and minute: each row of them has a
 * random number in its key, so that batches can be distinguished.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_SCHEMA 2 /* version of the tables */
#define STORE_BUCKET_SECONDS 60
#define STORE_BUILD_BYTES 20 /* a build-id, cut or padded with zeros */
#define STORE_BOOT_BYTES 16  /* the UUID of a boot */

/* One insert is one block, which is stored wholly or not at all. */
#define STORE_ROWS_MAX 1000000u
#define STORE_BYTES_MAX (48u << 20)

enum store_table {
    STORE_SAMPLES,
    STORE_STACKS,
    STORE_ACCOUNTS,
    STORE_LOOP,
    STORE_WAITS,
    STORE_GUESTS,
    STORE_LOSSES,
    STORE_TABLES
};

/* "samples" */
const char *store_table_name(enum store_table table);

/* The table of that name, or STORE_TABLES. */
enum store_table store_table_find(const char *name);

/* Columns and types, "day Date, bucket DateTime, ...", with which RowBinary is
 * read: enums are Int8. */
const char *store_table_structure(enum store_table table);

/* What a row is about: the first columns of all tables but stacks. */
struct store_key {
    uint32_t bucket; /* Unix seconds, a multiple of STORE_BUCKET_SECONDS */
    const char *service;
    const uint8_t *build; /* STORE_BUILD_BYTES */
    uint64_t guest;       /* store_guest_id() */
};

/* What the weight of a sample is. The values are the store's. */
enum store_kind {
    STORE_TIME = 1, /* in 100 ns of the guest's clock */
    STORE_ALLOC_BYTES = 2,
    STORE_LIVE_BYTES = 3,
    STORE_LOCK = 4 /* in 100 ns */
};

struct store_sample {
    struct store_key key;
    uint16_t cpu;
    enum store_kind kind;
    uint64_t stack; /* store_stack_id(); 0 = attributed without a stack */
    uint64_t samples;
    uint64_t weight;
};

/* A stack's frames, root first, as in a folded stack. */
struct store_stack {
    const uint8_t *build; /* STORE_BUILD_BYTES */
    uint64_t stack;
    const uint32_t *frames;   /* offsets in the image, (frame_count) of them */
    const char *const *names; /* (name_count) functions, of inlined ones too */
    unsigned frame_count, name_count;
    bool named; /* a row with it replaces one without */
};

/* A guest's counters of a CPU, as differences since its last bucket:
 * ticks = attributed + idle + masked + unresolved + dropped + missed. */
struct store_account {
    struct store_key key;
    uint16_t cpu;
    uint64_t ticks;      /* timer ticks that were due */
    uint64_t attributed; /* have a sample: equals the sum of its samples */
    uint64_t idle;
    uint64_t masked;     /* late, as interrupts were off: no place is known */
    uint64_t unresolved; /* a sample that no stack was found for */
    uint64_t dropped;    /* samples lost between the guest and here */
    uint64_t missed;     /* ticks that never came */
    uint64_t stolen_ns;  /* the hypervisor ran something else */
};

enum store_measure { STORE_RUN = 0, STORE_DELAY = 1, STORE_WALL = 2 };

/* Counts of a histogram's bin, as differences. */
struct store_loop {
    struct store_key key;
    uint16_t cpu;
    uint64_t site; /* its address, or number, in the build */
    enum store_measure measure;
    uint64_t low; /* of the bin, ns */
    uint64_t count;
};

/* Waits of a site, as differences. */
struct store_wait {
    struct store_key key;
    uint64_t site;
    const char *why; /* "sleep", "read" */
    uint64_t count;
    uint64_t ns;
};

/* Who a guest is: a row for each boot, sent again when something changes: the
 * one with the highest (seen) holds. */
struct store_guest {
    struct store_key key; /* (bucket) in which it was first seen */
    const uint8_t *boot;  /* STORE_BOOT_BYTES */
    const char *host;
    const char *target;        /* where the collector has it from */
    const char *const *labels; /* "name=value", (label_count) of them */
    unsigned label_count;
    uint32_t seen; /* Unix seconds */
    uint16_t cpus;
    uint32_t mhz;      /* rate of samples, thousandths of Hz */
    const char *image; /* "" = unknown */
};

/* What should be in the store and is not. Losses inside a guest are in its
 * accounts. */
struct store_loss {
    struct store_key key;
    const char *host; /* of the collector */
    const char *why;  /* "spool full" */
    const char *what; /* the table's name, or STORE_PACKETS */
    uint64_t rows;
    uint64_t amount; /* samples, ticks or counts of the rows */
};

/* Packets that never came, (rows) of them: the (amount) of ticks that they
 * covered is in the accounts, as dropped, and no row is missing in any table.
 * Those of an earlier parasite have the name of the samples. */
#define STORE_PACKETS "packets"

/* Rows of one table and, where it has days, of one day. Starts as zeros, with
 * its (table). */
struct store_rows {
    enum store_table table;
    uint8_t *bytes;
    size_t used, room;
    unsigned count;
    uint32_t day; /* since 1970; 0 = none yet */
};

/* Each appends a row; false: it does not go with the others, as the day is
 * another or the rows are too many, and nothing was appended. Of an empty set
 * that is never so. Texts longer than 65,535 bytes are cut there. */
bool store_put_sample(struct store_rows *rows, const struct store_sample *row);
bool store_put_stack(struct store_rows *rows, const struct store_stack *row);
bool store_put_account(struct store_rows *rows,
                       const struct store_account *row);
bool store_put_loop(struct store_rows *rows, const struct store_loop *row);
bool store_put_wait(struct store_rows *rows, const struct store_wait *row);
bool store_put_guest(struct store_rows *rows, const struct store_guest *row);
bool store_put_loss(struct store_rows *rows, const struct store_loss *row);

void store_rows_free(struct store_rows *rows);

/* What a row of a set amounts to, as in struct store_loss. */
struct store_amount {
    uint32_t bucket;
    const char *service; /* (service_bytes) of it, no zero after them */
    size_t service_bytes;
    const uint8_t *build;
    uint64_t guest;
    uint64_t amount; /* of tables that count nothing: 1 */
};

/* Reads the row at *(at), which becomes where the next one begins; false at the
 * end, or if (bytes) are no rows of (table): then *(at) is less than (count).
 * Of stacks only the build and the amount are known. */
bool store_row_amount(enum store_table table, const uint8_t *bytes,
                      size_t count, size_t *at, struct store_amount *row);

/* Numbers that mean the same in each store. Neither is 0. */

/* Of a guest: one boot of a service on a host. */
uint64_t store_guest_id(const char *service, const uint8_t *boot,
                        const char *host);

/* Of the frames of a stack, root first, in an image. */
uint64_t store_stack_id(const uint8_t *build, const uint32_t *frames,
                        unsigned count);

#endif
