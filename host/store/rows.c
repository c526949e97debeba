/* SPDX-License-Identifier: Apache-2.0 */

#include "store/rows.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory.h"
#include "store/columns.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define DAY_SECONDS 86400u
#define TEXT_MAX 65535u
#define VARINT_MAX 10

/* clang-format off */
#define KEY                                                                    \
    {"day", STORE_DATE, STORE_PLAIN, NULL},                                    \
    {"bucket", STORE_CLOCK, STORE_IS_BUCKET, NULL},                            \
    {"service", STORE_TEXT, STORE_IS_SERVICE, NULL},                           \
    {"build", STORE_BUILD, STORE_IS_BUILD, NULL},                              \
    {"guest", STORE_U64, STORE_IS_GUEST, NULL}
#define SUM(name) {name, STORE_U64, STORE_IS_SUM, NULL}
#define AMOUNT(name) {name, STORE_U64, STORE_IS_AMOUNT, NULL}
#define KINDS "Enum8('time' = 1, 'alloc_bytes' = 2, 'live_bytes' = 3, "        \
    "'lock' = 4)"
#define MEASURES "Enum8('run' = 0, 'delay' = 1, 'wall' = 2)"
static const struct {
    const char *name;
    bool has_days;
    struct store_column columns[STORE_COLUMNS_MAX];
} tables[STORE_TABLES] = {
    [STORE_SAMPLES] = {"samples", true, {
        KEY,
        {"cpu", STORE_U16, STORE_PLAIN, NULL},
        {"kind", STORE_INT8, STORE_PLAIN, KINDS},
        {"stack", STORE_U64, STORE_PLAIN, NULL},
        AMOUNT("samples"), SUM("weight")}},
    [STORE_STACKS] = {"stacks", false, {
        {"build", STORE_BUILD, STORE_IS_BUILD, NULL},
        {"stack", STORE_U64, STORE_PLAIN, NULL},
        {"frames", STORE_U32_LIST, STORE_PLAIN, NULL},
        {"names", STORE_TEXT_LIST, STORE_PLAIN, NULL},
        {"named", STORE_U8, STORE_PLAIN, NULL}}},
    [STORE_ACCOUNTS] = {"accounts", true, {
        KEY,
        {"cpu", STORE_U16, STORE_PLAIN, NULL},
        AMOUNT("ticks"), SUM("attributed"), SUM("idle"), SUM("masked"),
        SUM("unresolved"), SUM("dropped"), SUM("missed"), SUM("stolen_ns")}},
    [STORE_LOOP] = {"loop", true, {
        KEY,
        {"cpu", STORE_U16, STORE_PLAIN, NULL},
        {"site", STORE_U64, STORE_PLAIN, NULL},
        {"measure", STORE_INT8, STORE_PLAIN, MEASURES},
        {"low", STORE_U64, STORE_PLAIN, NULL},
        AMOUNT("count")}},
    [STORE_WAITS] = {"waits", true, {
        KEY,
        {"site", STORE_U64, STORE_PLAIN, NULL},
        {"why", STORE_TEXT, STORE_PLAIN, NULL},
        AMOUNT("count"), SUM("ns")}},
    [STORE_GUESTS] = {"guests", false, {
        KEY,
        {"boot", STORE_BOOT, STORE_PLAIN, NULL},
        {"host", STORE_TEXT, STORE_PLAIN, NULL},
        {"target", STORE_TEXT, STORE_PLAIN, NULL},
        {"labels", STORE_TEXT_LIST, STORE_PLAIN, NULL},
        {"seen", STORE_CLOCK, STORE_PLAIN, NULL},
        {"cpus", STORE_U16, STORE_PLAIN, NULL},
        {"mhz", STORE_U32, STORE_PLAIN, NULL},
        {"image", STORE_TEXT, STORE_PLAIN, NULL}}},
    [STORE_LOSSES] = {"losses", true, {
        KEY,
        {"host", STORE_TEXT, STORE_PLAIN, NULL},
        {"what", STORE_TEXT, STORE_PLAIN, NULL},
        {"why", STORE_TEXT, STORE_PLAIN, NULL},
        {"entry", STORE_U64, STORE_PLAIN, NULL},
        SUM("lost_rows"), AMOUNT("amount")}},
};
/* clang-format on */

const char *store_table_name(enum store_table table)
{
    return tables[table].name;
}

enum store_table store_table_find(const char *name)
{
    unsigned table = 0;

    while (table < STORE_TABLES && strcmp(tables[table].name, name) != 0)
        ++table;
    return (enum store_table)table;
}

const struct store_column *store_columns(enum store_table table)
{
    return tables[table].columns;
}

bool store_table_has_days(enum store_table table)
{
    return tables[table].has_days;
}

const char *store_type_name(enum store_type type)
{
    static const char *const names[] = {
        [STORE_DATE] = "Date",
        [STORE_CLOCK] = "DateTime",
        [STORE_TEXT] = "String",
        [STORE_BUILD] = "FixedString(20)",
        [STORE_BOOT] = "FixedString(16)",
        [STORE_INT8] = "Int8",
        [STORE_U8] = "UInt8",
        [STORE_U16] = "UInt16",
        [STORE_U32] = "UInt32",
        [STORE_U64] = "UInt64",
        [STORE_U32_LIST] = "Array(UInt32)",
        [STORE_TEXT_LIST] = "Array(String)",
    };

    return names[type];
}

/* ---- writing */

/* Room for (count) bytes more. */
static uint8_t *rows_grow(struct store_rows *rows, size_t count)
{
    while (rows->room - rows->used < count) {
        rows->room = rows->room == 0 ? 4096 : 2 * rows->room;
        rows->bytes = xreallocarray(rows->bytes, rows->room, 1);
    }
    return rows->bytes + rows->used;
}

static void put_bytes(struct store_rows *rows, const void *bytes, size_t count)
{
    uint8_t *to = rows_grow(rows, count);

    if (count > 0)
        memcpy(to, bytes, count);
    rows->used += count;
}

static void put_number(struct store_rows *rows, uint64_t number, unsigned bytes)
{
    put_le(rows_grow(rows, bytes), number, bytes);
    rows->used += bytes;
}

static void put_varint(struct store_rows *rows, uint64_t number)
{
    uint8_t *to = rows_grow(rows, VARINT_MAX);

    for (; number >= 0x80; number >>= 7)
        *to++ = (uint8_t)(number | 0x80);
    *to++ = (uint8_t)number;
    rows->used = (size_t)(to - rows->bytes);
}

static void put_text(struct store_rows *rows, const char *text)
{
    size_t bytes = text == NULL ? 0 : strnlen(text, TEXT_MAX);

    put_varint(rows, bytes);
    put_bytes(rows, text, bytes);
}

static void put_texts(struct store_rows *rows, const char *const *texts,
                      unsigned count)
{
    put_varint(rows, count);
    for (unsigned i = 0; i < count; ++i)
        put_text(rows, texts[i]);
}

static void put_key(struct store_rows *rows, const struct store_key *key)
{
    put_number(rows, key->bucket / DAY_SECONDS, 2);
    put_number(rows, key->bucket, 4);
    put_text(rows, key->service);
    put_bytes(rows, key->build, STORE_BUILD_BYTES);
    put_number(rows, key->guest, 8);
}

static void put_numbers(struct store_rows *rows, const uint64_t *numbers,
                        unsigned count)
{
    for (unsigned i = 0; i < count; ++i)
        put_number(rows, numbers[i], 8);
}

/* Whether a row of (bucket) goes with the others, and if so that it does. */
static bool begins_row(struct store_rows *rows, uint32_t bucket)
{
    uint32_t day = bucket / DAY_SECONDS;
    bool has_days = tables[rows->table].has_days;

    if (rows->count > 0 &&
        ((has_days && day != rows->day) || rows->count >= STORE_ROWS_MAX ||
         rows->used >= STORE_BYTES_MAX))
        return false;
    rows->day = has_days ? day : 0;
    ++rows->count;
    return true;
}

bool store_put_sample(struct store_rows *rows, const struct store_sample *row)
{
    const uint64_t numbers[] = {row->stack, row->samples, row->weight};

    if (!begins_row(rows, row->key.bucket))
        return false;
    put_key(rows, &row->key);
    put_number(rows, row->cpu, 2);
    put_number(rows, row->kind, 1);
    put_numbers(rows, numbers, 3);
    return true;
}

bool store_put_stack(struct store_rows *rows, const struct store_stack *row)
{
    if (!begins_row(rows, 0))
        return false;
    put_bytes(rows, row->build, STORE_BUILD_BYTES);
    put_number(rows, row->stack, 8);
    put_varint(rows, row->frame_count);
    for (unsigned i = 0; i < row->frame_count; ++i)
        put_number(rows, row->frames[i], 4);
    put_texts(rows, row->names, row->name_count);
    put_number(rows, row->named, 1);
    return true;
}

bool store_put_account(struct store_rows *rows, const struct store_account *row)
{
    const uint64_t numbers[] = {row->ticks,  row->attributed, row->idle,
                                row->masked, row->unresolved, row->dropped,
                                row->missed, row->stolen_ns};

    if (!begins_row(rows, row->key.bucket))
        return false;
    put_key(rows, &row->key);
    put_number(rows, row->cpu, 2);
    put_numbers(rows, numbers, sizeof numbers / sizeof *numbers);
    return true;
}

bool store_put_loop(struct store_rows *rows, const struct store_loop *row)
{
    if (!begins_row(rows, row->key.bucket))
        return false;
    put_key(rows, &row->key);
    put_number(rows, row->cpu, 2);
    put_number(rows, row->site, 8);
    put_number(rows, row->measure, 1);
    put_number(rows, row->low, 8);
    put_number(rows, row->count, 8);
    return true;
}

bool store_put_wait(struct store_rows *rows, const struct store_wait *row)
{
    if (!begins_row(rows, row->key.bucket))
        return false;
    put_key(rows, &row->key);
    put_number(rows, row->site, 8);
    put_text(rows, row->why);
    put_number(rows, row->count, 8);
    put_number(rows, row->ns, 8);
    return true;
}

bool store_put_guest(struct store_rows *rows, const struct store_guest *row)
{
    if (!begins_row(rows, row->key.bucket))
        return false;
    put_key(rows, &row->key);
    put_bytes(rows, row->boot, STORE_BOOT_BYTES);
    put_text(rows, row->host);
    put_text(rows, row->target);
    put_texts(rows, row->labels, row->label_count);
    put_number(rows, row->seen, 4);
    put_number(rows, row->cpus, 2);
    put_number(rows, row->mhz, 4);
    put_text(rows, row->image);
    return true;
}

bool store_put_loss(struct store_rows *rows, const struct store_loss *row)
{
    uint64_t entry;

    if (getrandom(&entry, sizeof entry, 0) != sizeof entry)
        die("no random number: %s", strerror(errno));
    if (!begins_row(rows, row->key.bucket))
        return false;
    put_key(rows, &row->key);
    put_text(rows, row->host);
    put_text(rows, row->what);
    put_text(rows, row->why);
    put_number(rows, entry, 8);
    put_number(rows, row->rows, 8);
    put_number(rows, row->amount, 8);
    return true;
}

void store_rows_free(struct store_rows *rows)
{
    free(rows->bytes);
    *rows = (struct store_rows){.table = rows->table};
}

/* ---- reading */

struct row_reader {
    const uint8_t *bytes;
    size_t count, at;
    bool bad; /* it ends in the middle of a value */
};

static void skip_bytes(struct row_reader *reader, uint64_t bytes)
{
    if (bytes > reader->count - reader->at)
        reader->bad = true;
    else
        reader->at += (size_t)bytes;
}

static uint64_t read_varint(struct row_reader *reader)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;

        if (reader->at >= reader->count)
            break;
        byte = reader->bytes[reader->at++];
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    reader->bad = true;
    return 0;
}

static void skip_value(struct row_reader *reader, enum store_type type)
{
    static const uint8_t sizes[] = {
        [STORE_DATE] = 2,
        [STORE_CLOCK] = 4,
        [STORE_BUILD] = STORE_BUILD_BYTES,
        [STORE_BOOT] = STORE_BOOT_BYTES,
        [STORE_INT8] = 1,
        [STORE_U8] = 1,
        [STORE_U16] = 2,
        [STORE_U32] = 4,
        [STORE_U64] = 8,
    };
    uint64_t count;

    switch (type) {
    case STORE_TEXT:
        skip_bytes(reader, read_varint(reader));
        break;
    case STORE_U32_LIST:
        count = read_varint(reader);
        skip_bytes(reader, count > UINT32_MAX ? UINT64_MAX : 4 * count);
        break;
    case STORE_TEXT_LIST:
        count = read_varint(reader);
        while (!reader->bad && count-- > 0)
            skip_value(reader, STORE_TEXT);
        break;
    default:
        skip_bytes(reader, sizes[type]);
    }
}

size_t store_row_parts(enum store_table table, const uint8_t *bytes,
                       size_t count, size_t at,
                       struct store_part parts[STORE_COLUMNS_MAX])
{
    const struct store_column *columns = tables[table].columns;
    struct row_reader reader = {.bytes = bytes, .count = count, .at = at};

    for (unsigned i = 0; columns[i].name != NULL; ++i) {
        size_t begin = reader.at;

        skip_value(&reader, columns[i].type);
        if (reader.bad)
            return 0;
        parts[i] = (struct store_part){bytes + begin, reader.at - begin};
    }
    return reader.at;
}

bool store_put_parts(struct store_rows *rows, const struct store_part *parts,
                     const uint8_t *bytes, size_t count)
{
    const struct store_column *columns = tables[rows->table].columns;
    uint32_t bucket = 0;

    for (unsigned i = 0; columns[i].name != NULL; ++i)
        if (columns[i].role == STORE_IS_BUCKET)
            bucket = le32(parts[i].bytes);
    if (!begins_row(rows, bucket))
        return false;
    put_bytes(rows, bytes, count);
    return true;
}

bool store_row_amount(enum store_table table, const uint8_t *bytes,
                      size_t count, size_t *at, struct store_amount *row)
{
    struct store_part parts[STORE_COLUMNS_MAX];
    size_t end =
        *at >= count ? 0 : store_row_parts(table, bytes, count, *at, parts);

    if (end == 0)
        return false;
    *row = (struct store_amount){.service = "", .amount = 1};
    for (unsigned i = 0; tables[table].columns[i].name != NULL; ++i) {
        const uint8_t *value = parts[i].bytes;
        struct row_reader text = {value, parts[i].count, 0, false};

        switch (tables[table].columns[i].role) {
        case STORE_IS_BUCKET:
            row->bucket = le32(value);
            break;
        case STORE_IS_SERVICE:
            row->service_bytes = (size_t)read_varint(&text);
            row->service = (const char *)value + text.at;
            break;
        case STORE_IS_BUILD:
            row->build = value;
            break;
        case STORE_IS_GUEST:
            row->guest = le64(value);
            break;
        case STORE_IS_AMOUNT:
            row->amount = le64(value);
            break;
        case STORE_IS_SUM:
        case STORE_PLAIN:
            break;
        }
    }
    *at = end;
    return true;
}

static char structures[STORE_TABLES][512];

static void make_structures(void)
{
    for (unsigned table = 0; table < STORE_TABLES; ++table) {
        size_t used = 0;

        for (const struct store_column *column = tables[table].columns;
             column->name != NULL; ++column)
            used += (size_t)snprintf(structures[table] + used,
                                     sizeof *structures - used, "%s%s %s",
                                     used == 0 ? "" : ", ", column->name,
                                     store_type_name(column->type));
    }
}

const char *store_table_structure(enum store_table table)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_structures);
    return structures[table];
}

/* ---- numbers of guests and stacks: FNV-1a of 64 bits */

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *byte = bytes;

    for (size_t i = 0; i < count; ++i)
        hash = (hash ^ byte[i]) * HASH_PRIME;
    return hash;
}

/* Shards are remainders: the lower half takes part of the upper one. */
static uint64_t hash_end(uint64_t hash)
{
    hash ^= hash >> 32;
    return hash == 0 ? 1 : hash;
}

uint64_t store_guest_id(const char *service, const uint8_t *boot,
                        const char *host)
{
    uint64_t hash = hash_bytes(HASH_BEGIN, service, strlen(service) + 1);

    hash = hash_bytes(hash, boot, STORE_BOOT_BYTES);
    return hash_end(hash_bytes(hash, host, strlen(host)));
}

uint64_t store_stack_id(const uint8_t *build, const uint32_t *frames,
                        unsigned count)
{
    uint64_t hash = hash_bytes(HASH_BEGIN, build, STORE_BUILD_BYTES);

    for (unsigned i = 0; i < count; ++i) {
        uint8_t frame[4];

        put_le(frame, frames[i], 4);
        hash = hash_bytes(hash, frame, 4);
    }
    return hash_end(hash);
}
