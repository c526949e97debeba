/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE

#include "store/spool.h"

#include "base/memory.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define LEVEL 1 /* 13 bytes a row instead of 66; more saves little */
#define PIECE_BYTES 65536u
#define PART "part"
#define REFUSED "refused"
#define STAGED ".staged"
#define ENTRIES "entries"
#define NAME_FORMAT "%016" PRIx64 "-%016" PRIx64 ".%u.%s.%" PRIu64 ".%" PRIu64

static const char *table_text(const struct spool_batch *batch)
{
    return batch->table == STORE_LOSSES && !batch->is_outdated
               ? ENTRIES
               : store_table_name(batch->table);
}

static char *file_name(const struct spool_batch *batch)
{
    return text_format(NAME_FORMAT ".gz%s", batch->order, batch->token,
                       batch->shard, table_text(batch), batch->rows,
                       batch->amount, batch->is_staged ? STAGED : "");
}

static bool parse_name(const char *name, struct spool_batch *batch)
{
    char table[32];
    int end = 0;

    if (sscanf(name,
               "%" SCNx64 "-%" SCNx64 ".%u.%31[a-z].%" SCNu64 ".%" SCNu64
               ".gz%n",
               &batch->order, &batch->token, &batch->shard, table, &batch->rows,
               &batch->amount, &end) != 6 ||
        end == 0)
        return false;
    batch->is_staged = strcmp(name + end, STAGED) == 0;
    if (name[end] != '\0' && !batch->is_staged)
        return false;
    batch->table =
        strcmp(table, ENTRIES) == 0 ? STORE_LOSSES : store_table_find(table);
    batch->is_outdated =
        batch->table == STORE_LOSSES && strcmp(table, ENTRIES) != 0;
    return batch->table != STORE_TABLES;
}

static int compare_order(const void *a, const void *b)
{
    const struct spool_batch *x = a, *y = b;

    return (x->order > y->order) - (x->order < y->order);
}

static void count_bytes(struct spool *spool, const struct spool_batch *batch)
{
    spool->bytes += batch->bytes;
    spool->shard_bytes[batch->shard % spool->shards] += batch->bytes;
}

static void find_batches(struct spool *spool, DIR *folder)
{
    const struct dirent *entry;
    struct stat status;

    while ((entry = readdir(folder)) != NULL) {
        struct spool_batch batch = {.is_old = true};

        if (strcmp(entry->d_name, PART) == 0)
            unlinkat(spool->folder, PART, 0);
        if (!parse_name(entry->d_name, &batch) ||
            fstatat(spool->folder, entry->d_name, &status, 0) != 0)
            continue;
        batch.bytes = (uint64_t)status.st_size;
        VECTOR_ADD(spool->batches, spool->count, batch);
        count_bytes(spool, &batch);
        if (batch.order > spool->order)
            spool->order = batch.order;
    }
    if (spool->count > 0)
        qsort(spool->batches, spool->count, sizeof *spool->batches,
              compare_order);
}

bool spool_open(struct spool *spool, const char *path, uint64_t limit,
                unsigned shards, char *why, size_t room)
{
    DIR *folder;

    *spool = (struct spool){.limit = limit, .shards = shards, .folder = -1};
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        spool->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (spool->folder < 0) {
        snprintf(why, room, "%s: %s", path, strerror(errno));
        return false;
    }
    if (flock(spool->folder, LOCK_EX | LOCK_NB) != 0) {
        snprintf(why, room, "%s: another process uses this spool", path);
        close(spool->folder);
        return false;
    }
    folder = opendir(path);
    if (folder == NULL) {
        snprintf(why, room, "%s: %s", path, strerror(errno));
        close(spool->folder);
        return false;
    }
    spool->shard_bytes =
        xreallocarray(NULL, shards, sizeof *spool->shard_bytes);
    memset(spool->shard_bytes, 0, shards * sizeof *spool->shard_bytes);
    find_batches(spool, folder);
    closedir(folder);
    return true;
}

void spool_close(struct spool *spool)
{
    free(spool->batches);
    free(spool->shard_bytes);
    close(spool->folder);
    *spool = (struct spool){.folder = -1};
}

/* ---- adding */

static bool write_all(int file, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        ssize_t done = write(file, bytes, count);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done == 0 ? ENOSPC : errno;
            return false;
        }
        bytes += done;
        count -= (size_t)done;
    }
    return true;
}

/* Rows as gzip, to be freed. */
static uint8_t *compress_rows(const struct store_rows *rows, size_t *count)
{
    z_stream stream = {0};
    uint8_t *bytes;
    size_t room;

    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, 15 + 16, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    room = deflateBound(&stream, rows->used);
    bytes = xreallocarray(NULL, room, 1);
    stream.next_in = rows->bytes;
    stream.avail_in = (unsigned)rows->used;
    stream.next_out = bytes;
    stream.avail_out = (unsigned)room;
    (void)deflate(&stream, Z_FINISH);
    *count = stream.total_out;
    deflateEnd(&stream);
    return bytes;
}

/* False: it is not there, and errno says why. */
static bool write_file(const struct spool *spool, const char *name,
                       const uint8_t *bytes, size_t count)
{
    int file = openat(spool->folder, PART,
                      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool fine = file >= 0 && write_all(file, bytes, count) && fsync(file) == 0;
    int error = errno;

    if (file >= 0 && close(file) != 0 && fine) {
        error = errno;
        fine = false;
    }
    if (fine && renameat(spool->folder, PART, spool->folder, name) != 0) {
        error = errno;
        fine = false;
    }
    if (!fine) {
        unlinkat(spool->folder, PART, 0);
    } else if (fsync(spool->folder) != 0) {
        error = errno;
        /* were it left, it would be sent later and counted as lost now */
        fine = unlinkat(spool->folder, name, 0) != 0;
    }
    errno = error;
    return fine;
}

bool spool_add(struct spool *spool, unsigned shard,
               const struct store_rows *rows, uint64_t amount, unsigned how,
               const char **why)
{
    struct spool_batch batch = {.order = spool->order + 1,
                                .shard = shard,
                                .table = rows->table,
                                .rows = rows->count,
                                .amount = amount,
                                .is_staged = how & SPOOL_STAGED};
    size_t count = 0;
    uint8_t *bytes = compress_rows(rows, &count);
    char *name;
    bool fine = true;

    batch.bytes = count;
    if (bytes == NULL ||
        getrandom(&batch.token, sizeof batch.token, 0) != sizeof batch.token) {
        *why = "spool cannot be written";
        fine = false;
    } else if (!(how & SPOOL_BEYOND) &&
               spool->shard_bytes[shard % spool->shards] + count >
                   spool->limit / spool->shards) {
        *why = "spool full";
        fine = false;
    }
    name = file_name(&batch);
    if (fine && !write_file(spool, name, bytes, count)) {
        *why = errno == ENOSPC || errno == EDQUOT ? "disk full"
                                                  : "spool cannot be written";
        fine = false;
    }
    if (fine) {
        VECTOR_ADD(spool->batches, spool->count, batch);
        count_bytes(spool, &batch);
        spool->order = batch.order;
    }
    free(name);
    free(bytes);
    return fine;
}

/* ---- committing */

static bool commit_batch(const struct spool *spool, struct spool_batch *batch)
{
    char *from = file_name(batch), *to;
    bool fine;

    batch->is_staged = false;
    to = file_name(batch);
    fine = renameat(spool->folder, from, spool->folder, to) == 0;
    batch->is_staged = !fine;
    batch->is_old = batch->is_old && !fine; /* nobody has sent it */
    free(from);
    free(to);
    return fine;
}

bool spool_commit(struct spool *spool, uint64_t order)
{
    bool fine = true;

    for (uint64_t i = 0; i < spool->count; ++i)
        if (spool->batches[i].is_staged && spool->batches[i].order <= order)
            fine = commit_batch(spool, &spool->batches[i]) && fine;
    return fine;
}

uint64_t spool_recover(struct spool *spool, uint64_t order)
{
    uint64_t dropped = 0;

    (void)spool_commit(spool, order);
    for (uint64_t i = 0; i < spool->count;)
        if (spool->batches[i].is_staged && spool->batches[i].order > order) {
            spool_remove(spool, &spool->batches[i], false);
            ++dropped;
        } else {
            ++i;
        }
    if (spool->order < order)
        spool->order = order;
    return dropped;
}

/* ---- sending */

uint64_t spool_most_bytes(const struct spool *spool)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < spool->shards; ++i)
        if (spool->shard_bytes[i] > most)
            most = spool->shard_bytes[i];
    return most;
}

const struct spool_batch *spool_first(const struct spool *spool, unsigned shard)
{
    for (uint64_t i = 0; i < spool->count; ++i)
        if (!spool->batches[i].is_staged &&
            spool->batches[i].shard % spool->shards == shard)
            return &spool->batches[i];
    return NULL;
}

int spool_read(const struct spool *spool, const struct spool_batch *batch)
{
    char *name = file_name(batch);
    int file = openat(spool->folder, name, O_RDONLY | O_CLOEXEC);

    free(name);
    return file;
}

void spool_token(const struct spool_batch *batch, char text[SPOOL_TOKEN])
{
    snprintf(text, SPOOL_TOKEN, "parasite-%016" PRIx64, batch->token);
}

/* To (*bytes), which are to be freed. False: it is damaged, and errno is 0; or
 * it cannot be read. */
static bool inflate_file(z_stream *stream, int file, uint8_t **bytes)
{
    uint8_t piece[PIECE_BYTES];
    size_t room = 0;
    off_t at = 0;
    int result = Z_OK;

    while (result == Z_OK) {
        ssize_t got = pread(file, piece, sizeof piece, at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? 0 : errno;
            return false;
        }
        at += got;
        stream->next_in = piece;
        stream->avail_in = (unsigned)got;
        do {
            if (room - stream->total_out < PIECE_BYTES) {
                room = room == 0 ? 1 << 20 : 2 * room;
                *bytes = xreallocarray(*bytes, room, 1);
            }
            stream->next_out = *bytes + stream->total_out;
            stream->avail_out = (unsigned)(room - stream->total_out);
            result = inflate(stream, Z_NO_FLUSH);
            if (result == Z_BUF_ERROR) /* it wants more of the file */
                result = Z_OK;
        } while (result == Z_OK &&
                 (stream->avail_in > 0 || stream->avail_out == 0));
    }
    errno = result == Z_MEM_ERROR ? ENOMEM : 0;
    return result == Z_STREAM_END && stream->avail_in == 0;
}

uint8_t *spool_rows(int file, size_t *count)
{
    z_stream stream = {0};
    uint8_t *bytes = NULL;
    bool whole;
    int error;

    if (inflateInit2(&stream, 15 + 16) != Z_OK) {
        errno = ENOMEM;
        return NULL;
    }
    whole = inflate_file(&stream, file, &bytes);
    error = errno;
    *count = stream.total_out;
    inflateEnd(&stream);
    if (whole)
        return bytes;
    free(bytes);
    errno = error;
    return NULL;
}

void spool_remove(struct spool *spool, const struct spool_batch *batch,
                  bool refused)
{
    uint64_t at = (uint64_t)(batch - spool->batches);
    char *name = file_name(batch);

    if (refused) {
        char *aside = text_format(REFUSED "/%s", name);

        if (mkdirat(spool->folder, REFUSED, 0700) == 0 || errno == EEXIST)
            (void)renameat(spool->folder, name, spool->folder, aside);
        free(aside);
    }
    unlinkat(spool->folder, name, 0);
    free(name);
    spool->bytes -= batch->bytes;
    spool->shard_bytes[batch->shard % spool->shards] -= batch->bytes;
    memmove(spool->batches + at, spool->batches + at + 1,
            (size_t)(spool->count - at - 1) * sizeof *spool->batches);
    --spool->count;
}
