/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends batches from the spool: a thread for each shard, which takes the oldest
 * batch of its shard, sends it, and removes it when it is acknowledged.
 *
 * A batch whose answer did not come may be stored or not. Sent again it is
 * dropped as a copy by an engine with tokens and by replicated tables. Others
 * would store it twice: there the thread waits until the server no longer works
 * on it, by its query_id, and looks for its first row. Blocks are stored wholly
 * or not at all, so one row says it of all.
 */

#include "base/bytes.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/wait.h"
#include "store/answer.h"
#include "store/columns.h"
#include "store/losses.h"
#include "store/prune.h"
#include "store/spool.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SPOOL_BYTES (UINT64_C(1) << 30)
#define RETRY_MIN 0.1 /* seconds until the next try: doubled each time */
#define RETRY_MAX 10.0
#define LOSSES_SECONDS 1.0
#define SAY_SECONDS 60.0     /* between two problems of a shard that are said */
#define PRUNE_SECONDS 3600.0 /* between two looks for old days */
#define PRUNE_RETRY_SECONDS 60.0
#define FLUSH_POLL_MS 20
#define FLUSH_LOG_SECONDS 10.0

struct shard {
    struct sender *sender;
    unsigned number;
    pthread_t thread;
    struct store_http *http;
    bool reached; /* its version is known, and its tables are there */
    bool running;
    double prune_at;       /* on the steady clock; its thread's alone */
    bool prune_has_failed; /* and that was said */

    /* with the sender's lock; "" = none */
    char problem[STORE_WHY]; /* why it takes no batches now */
    char said[STORE_WHY];    /* the last that was said, while it lasts */
    double said_at;
};

struct sender {
    struct store *store;
    struct shard *shards;
    unsigned count;

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    bool stops;
    unsigned asking; /* shards that wait for an answer to a batch */
    struct spool spool;
    struct losses losses;
    struct losses staged_losses; /* not kept yet; the next commit says so */
    struct store_state state;
};

/* ---- losses */

/* Puts what was lost into the spool, whatever its limit, staged or not; what
 * cannot be put there yet is tried again later. Called with the lock. */
static void keep_losses(struct sender *sender, struct losses *losses,
                        unsigned how)
{
    while (losses_any(losses)) {
        struct store_rows rows = {.table = STORE_LOSSES};
        const char *why;
        bool kept;

        losses_take(losses, &rows);
        kept = spool_add(&sender->spool, 0, &rows, 0, how | SPOOL_BEYOND, &why);
        if (kept)
            losses_forget(losses, &rows);
        store_rows_free(&rows);
        if (!kept)
            break;
    }
}

static void count_lost(struct sender *sender, uint64_t rows)
{
    ++sender->state.lost_batches;
    sender->state.lost_rows += rows;
}

/* ---- one batch */

enum outcome {
    DONE,    /* it is stored */
    REFUSED, /* its bytes are bad: it never will be */
    AGAIN,   /* it is not stored, as things are */
    DOUBT    /* it may be stored */
};

/* Errors of the bytes. All others are of the server, of its tables, or of who
 * we are: they may pass, and the batch is kept. */
static bool is_bad_data(int code)
{
    static const int codes[] = {
        6,  /* cannot parse text */
        26, /* cannot parse a quoted string */
        27, /* cannot parse input */
        33, /* cannot read all data */
        38, /* cannot parse a date */
        41, /* cannot parse a time */
        53, /* type mismatch */
        131 /* too large a string */
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i)
        if (codes[i] == code)
            return true;
    return false;
}

/* Answers that leave open whether the block was stored: a timeout, and a
 * replica that did not hear back. */
static bool is_open(const struct store_reply *reply)
{
    return reply->status == 0 ? reply->sent
                              : reply->code == 209 || reply->code == 319 ||
                                    reply->code == 999 || reply->code == 0;
}

static bool deduplicates(const struct store_server *server)
{
    return server->is_modern || server->replicates;
}

static enum outcome outcome_of(const struct store_reply *reply)
{
    if (reply->status != 0 && is_bad_data(reply->code))
        return REFUSED;
    return is_open(reply) ? DOUBT : AGAIN;
}

static enum outcome send_batch(struct shard *shard,
                               const struct spool_batch *batch, int file,
                               struct store_reply *reply)
{
    struct store *store = shard->sender->store;
    struct store_server server = store_server(store, shard->number);
    char token[SPOOL_TOKEN];
    char *table = schema_local_name(batch->table, &store->address);
    char *parameters;
    bool fine;

    spool_token(batch, token);
    parameters = text_format(
        "database=%s&query_id=%s%s%s&query=INSERT%%20INTO%%20%s%%20FORMAT"
        "%%20RowBinary",
        store->address.database, token,
        server.is_modern ? "&async_insert=0&insert_deduplication_token=" : "",
        server.is_modern ? token : "", table);
    fine = store_http_ask(
        shard->http,
        &(struct store_request){.parameters = parameters, .file = file}, reply);
    free(parameters);
    free(table);
    return fine ? DONE : outcome_of(reply);
}

/* ---- in doubt */

/* Writes that a column has the value that RowBinary has at (part). */
static void put_condition(FILE *out, const struct store_column *column,
                          const struct store_part *part)
{
    const uint8_t *value = part->bytes;
    char hex[2 * STORE_BUILD_BYTES + 1];
    size_t at = 0;

    switch (column->type) {
    case STORE_CLOCK:
        fprintf(out, " AND %s = toDateTime(%u)", column->name, le32(value));
        break;
    case STORE_TEXT:
        while (value[at++] & 0x80)
            continue;
        fprintf(out, " AND %s = unhex('", column->name);
        for (; at < part->count; ++at)
            fprintf(out, "%02X", value[at]);
        fputs("')", out);
        break;
    case STORE_BUILD:
        bytes_hex(value, STORE_BUILD_BYTES, hex);
        fprintf(out, " AND lower(hex(%s)) = '%s'", column->name, hex);
        break;
    case STORE_INT8:
        fprintf(out, " AND CAST(%s AS Int8) = %d", column->name,
                (int8_t)value[0]);
        break;
    case STORE_U8:
        fprintf(out, " AND %s = %u", column->name, value[0]);
        break;
    case STORE_U16:
        fprintf(out, " AND %s = %u", column->name, le16(value));
        break;
    case STORE_U64:
        fprintf(out, " AND %s = %llu", column->name,
                (unsigned long long)le64(value));
        break;
    default:
        break;
    }
}

/* Asks for a row with the keys of the first of (bytes) that has an amount: one
 * that has none may be dropped in a merge. NULL: there is none. */
static char *presence_sql(const struct store_address *address,
                          enum store_table table, const uint8_t *bytes,
                          size_t count)
{
    const struct store_column *columns = store_columns(table);
    struct store_part parts[STORE_COLUMNS_MAX];
    struct store_amount row;
    size_t at = 0, begin = 0, used;
    char *sql, *name;
    FILE *out;

    do {
        begin = at;
        if (!store_row_amount(table, bytes, count, &at, &row))
            return NULL;
    } while (row.amount == 0);
    store_row_parts(table, bytes, count, begin, parts);
    out = open_memstream(&sql, &used);
    if (out == NULL)
        die("out of memory");
    name = schema_local_name(table, address);
    fprintf(out, "SELECT count() FROM %s WHERE 1", name);
    for (unsigned i = 0; columns[i].name != NULL; ++i)
        if (columns[i].role != STORE_IS_SUM &&
            columns[i].role != STORE_IS_AMOUNT)
            put_condition(out, &columns[i], &parts[i]);
    free(name);
    fclose(out);
    return sql;
}

/* Counts by (sql); false: no answer. */
static bool ask_count(struct shard *shard, const char *sql, uint64_t *count)
{
    struct store_answer answer;
    struct store_reply reply;
    bool fine = schema_run(shard->http, shard->sender->store->address.database,
                           sql, &answer, &reply) &&
                answer.rows == 1;

    *count = fine ? store_u64(&answer, 0, 0) : 0;
    store_answer_free(&answer);
    return fine;
}

/* Writes that a batch cannot be read, and errno, to (why). */
static void put_unread(char *why)
{
    snprintf(why, STORE_WHY, "a batch in the spool cannot be read: %s",
             strerror(errno));
}

/* What became of a batch that was sent before: DONE, AGAIN or still DOUBT; of
 * one that cannot be read, (why). */
static enum outcome look_for(struct shard *shard,
                             const struct spool_batch *batch, int file,
                             char *why)
{
    struct store *store = shard->sender->store;
    char token[SPOOL_TOKEN];
    uint64_t found;
    size_t count;
    uint8_t *bytes;
    char *sql;
    bool known;

    spool_token(batch, token);
    sql = text_format("SELECT count() FROM system.processes WHERE query_id = "
                      "'%s'",
                      token);
    known = ask_count(shard, sql, &found);
    free(sql);
    if (!known || found > 0)
        return DOUBT;
    bytes = spool_rows(file, &count);
    if (bytes == NULL && errno == 0)
        return AGAIN; /* where it is found to be damaged */
    if (bytes == NULL) {
        put_unread(why);
        return DOUBT;
    }
    sql = presence_sql(&store->address, batch->table, bytes, count);
    free(bytes);
    if (sql == NULL)
        return AGAIN;
    known = ask_count(shard, sql, &found);
    free(sql);
    return !known ? DOUBT : found > 0 ? DONE : AGAIN;
}

/* ---- a shard's thread */

static const char *shard_name(const struct shard *shard)
{
    const struct store_address *address = &shard->sender->store->address;

    return address->folder != NULL ? address->name
                                   : address->hosts[shard->number];
}

/* Notes why a try has failed. It is said when it begins and when it has become
 * another, but not (quietly), as what may be over with the next try. */
static void set_problem(struct shard *shard, const char *why, bool quietly)
{
    struct sender *sender = shard->sender;
    double now = seconds_now();
    bool says;

    pthread_mutex_lock(&sender->lock);
    snprintf(shard->problem, sizeof shard->problem, "%s", why);
    ++sender->state.retries;
    says = !quietly && strcmp(shard->said, why) != 0 &&
           now >= shard->said_at + SAY_SECONDS;
    if (says) {
        memcpy(shard->said, shard->problem, sizeof shard->said);
        shard->said_at = now;
    }
    pthread_mutex_unlock(&sender->lock);
    if (says)
        log_error("batches wait in the spool: %s", why);
}

/* It is over. Called with the lock; returns whether that is to be said. */
static bool clear_problem(struct shard *shard)
{
    bool says = shard->said[0] != '\0';

    shard->problem[0] = '\0';
    shard->said[0] = '\0';
    return says;
}

static void say_over(const struct shard *shard)
{
    log_info("%s: takes batches again", shard_name(shard));
}

/* Waits for (seconds), unless it ends: false. */
static bool sleep_for(struct sender *sender, double seconds)
{
    double until = seconds_now() + seconds;
    bool goes_on;

    pthread_mutex_lock(&sender->lock);
    while (!sender->stops &&
           condition_wait(&sender->changed, &sender->lock, until))
        continue;
    goes_on = !sender->stops;
    pthread_mutex_unlock(&sender->lock);
    return goes_on;
}

/* Whether old days are to be looked for. */
static bool must_prune(const struct shard *shard)
{
    return shard->sender->store->options.keep_seconds > 0 &&
           seconds_now() >= shard->prune_at;
}

/* The next batch of the shard, in *(is_there) whether there is one, or it is
 * time to prune; false: the end. */
static bool wait_batch(struct shard *shard, struct spool_batch *batch,
                       bool *is_there)
{
    struct sender *sender = shard->sender;
    const struct spool_batch *first = NULL;
    bool goes_on;

    pthread_mutex_lock(&sender->lock);
    while (!sender->stops && first == NULL && !must_prune(shard)) {
        if (shard->number == 0)
            keep_losses(sender, &sender->losses, SPOOL_PLAIN);
        first = spool_first(&sender->spool, shard->number);
        if (first != NULL)
            break;
        /* losses that could not be kept are tried again */
        (void)condition_wait(&sender->changed, &sender->lock,
                             seconds_now() + LOSSES_SECONDS);
    }
    goes_on = !sender->stops;
    *is_there = first != NULL;
    if (goes_on && *is_there)
        *batch = *first;
    pthread_mutex_unlock(&sender->lock);
    return goes_on;
}

/* The batch as it is in the spool now; others may have been added and removed
 * meanwhile, this one not. Called with the lock. */
static const struct spool_batch *same_batch(const struct sender *sender,
                                            const struct spool_batch *batch)
{
    for (uint64_t i = 0; i < sender->spool.count; ++i)
        if (sender->spool.batches[i].token == batch->token)
            return &sender->spool.batches[i];
    return NULL;
}

static void end_batch(struct shard *shard, const struct spool_batch *batch,
                      bool stored)
{
    struct sender *sender = shard->sender;
    const struct spool_batch *same;
    bool says;

    pthread_mutex_lock(&sender->lock);
    same = same_batch(sender, batch);
    if (stored) {
        ++sender->state.sent_batches;
        sender->state.sent_rows += batch->rows;
        sender->state.sent_bytes += batch->bytes;
    } else {
        count_lost(sender, batch->rows);
    }
    if (same != NULL)
        spool_remove(&sender->spool, same, !stored);
    says = clear_problem(shard);
    keep_losses(sender, &sender->losses, SPOOL_PLAIN);
    pthread_cond_broadcast(&sender->changed);
    pthread_mutex_unlock(&sender->lock);
    if (says)
        say_over(shard);
}

/* Counts the rows of a batch that is given up. */
static void lose_batch(struct shard *shard, const struct spool_batch *batch,
                       int file, const char *why)
{
    struct sender *sender = shard->sender;
    size_t count = 0;
    uint8_t *bytes = file < 0 ? NULL : spool_rows(file, &count);

    log_error("%s: a batch of %s with %llu rows is lost: %s",
              store_name(sender->store), store_table_name(batch->table),
              (unsigned long long)batch->rows, why);
    pthread_mutex_lock(&sender->lock);
    if (bytes != NULL)
        losses_add(&sender->losses, batch->table, bytes, count, why);
    else
        losses_add_unknown(&sender->losses, batch->table, batch->rows,
                           batch->amount, why);
    pthread_mutex_unlock(&sender->lock);
    free(bytes);
    end_batch(shard, batch, false);
}

static void set_asking(struct sender *sender, int change)
{
    pthread_mutex_lock(&sender->lock);
    sender->asking += (unsigned)change;
    pthread_mutex_unlock(&sender->lock);
}

enum content {
    WHOLE,
    DAMAGED, /* or gone */
    UNREAD   /* as errno says: it may be whole */
};

/* Opens a batch's file, and reads it: a damaged one would be refused, and not
 * said to be what it is. (*file) -1: it is not open. */
static enum content open_batch(struct sender *sender,
                               const struct spool_batch *batch, int *file)
{
    enum content content;
    size_t count;
    uint8_t *bytes;
    int error;

    pthread_mutex_lock(&sender->lock);
    *file = spool_read(&sender->spool, batch);
    error = errno;
    pthread_mutex_unlock(&sender->lock);
    if (*file < 0) {
        errno = error;
        return error == ENOENT ? DAMAGED : UNREAD;
    }
    bytes = spool_rows(*file, &count);
    content = bytes != NULL ? WHOLE : errno == 0 ? DAMAGED : UNREAD;
    error = errno;
    free(bytes);
    if (content == UNREAD) {
        close(*file);
        *file = -1;
    }
    errno = error;
    return content;
}

static double longer(double delay)
{
    return 2 * delay < RETRY_MAX ? 2 * delay : RETRY_MAX;
}

/* Sends the batch until it is stored or given up; false: the end. */
static bool finish_batch(struct shard *shard, const struct spool_batch *batch,
                         int file)
{
    struct sender *sender = shard->sender;
    struct store_reply reply;
    bool in_doubt = batch->is_old;
    double delay = RETRY_MIN;
    char why[STORE_WHY];

    for (;;) {
        enum outcome outcome = in_doubt ? DOUBT : AGAIN;
        bool was_reached = shard->reached, reached = was_reached;

        snprintf(why, sizeof why, "%.100s: no answer", shard_name(shard));
        if (!reached)
            reached =
                store_reach(sender->store, shard->number, shard->http, why);
        if (reached) {
            struct store_server server =
                store_server(sender->store, shard->number);

            shard->reached = true;
            if (in_doubt && !deduplicates(&server))
                outcome = look_for(shard, batch, file, why);
            else
                outcome = AGAIN;
            if (outcome == AGAIN) {
                set_asking(sender, 1);
                outcome = send_batch(shard, batch, file, &reply);
                set_asking(sender, -1);
                snprintf(why, sizeof why, "%.100s: %.400s", shard_name(shard),
                         reply.text);
                in_doubt = outcome == DOUBT;
            }
        }
        if (outcome == DONE) {
            end_batch(shard, batch, true);
            return true;
        }
        if (outcome == REFUSED) {
            lose_batch(shard, batch, file, "refused by the store");
            return true;
        }
        shard->reached = false; /* it may be another one when it is back */
        /* an embedded one ends when it has nothing to do, and starts again */
        set_problem(shard, why, was_reached);
        if (!sleep_for(sender, delay))
            return false;
        delay = longer(delay);
    }
}

/* Reads the batch, when that can be done, and sends it; false: the end. */
static bool take_batch(struct shard *shard, const struct spool_batch *batch)
{
    struct sender *sender = shard->sender;
    double delay = RETRY_MIN;
    bool goes_on = true;
    char why[STORE_WHY];
    enum content content;
    int file;

    while ((content = open_batch(sender, batch, &file)) == UNREAD) {
        put_unread(why);
        set_problem(shard, why, false);
        if (!sleep_for(sender, delay))
            return false;
        delay = longer(delay);
    }
    if (content == WHOLE)
        goes_on = finish_batch(shard, batch, file);
    else
        lose_batch(shard, batch, file, "damaged in the spool");
    if (file >= 0)
        close(file);
    return goes_on;
}

/* Asks a server that nobody has asked yet, so that what is wrong is said before
 * there is a batch; false: the end. */
static bool reach_first(struct shard *shard)
{
    struct sender *sender = shard->sender;
    double delay = RETRY_MIN;
    char why[STORE_WHY];
    bool says;

    while (!store_reach(sender->store, shard->number, shard->http, why)) {
        set_problem(shard, why, false);
        if (!sleep_for(sender, delay))
            return false;
        delay = longer(delay);
    }
    shard->reached = true;
    pthread_mutex_lock(&sender->lock);
    says = clear_problem(shard);
    pthread_mutex_unlock(&sender->lock);
    if (says)
        say_over(shard);
    return true;
}

static void say_pruned(void *owner, const struct store_pruned *pruned)
{
    (void)owner;
    log_info("%s: %s of %s are dropped, as they are old: %llu rows",
             pruned->server, store_table_name(pruned->table), pruned->day,
             (unsigned long long)pruned->rows);
}

/* Drops days that are old. What fails is tried again, and said once. */
static void prune(struct shard *shard)
{
    struct store *store = shard->sender->store;
    uint32_t first = prune_first_day(store->options.keep_seconds);
    struct store_reply reply;
    char why[STORE_WHY];
    /* an embedded one may have ended, as it had nothing to do */
    bool fine = store_reach(store, shard->number, shard->http, why);

    if (fine) {
        fine = prune_server(shard->http, &store->address, shard->number, first,
                            say_pruned, NULL, &reply);
        snprintf(why, sizeof why, "%s", reply.text);
    }
    shard->prune_at =
        seconds_now() + (fine ? PRUNE_SECONDS : PRUNE_RETRY_SECONDS);
    if (!fine && !shard->prune_has_failed)
        log_error("%s: old days cannot be dropped: %s", shard_name(shard), why);
    shard->prune_has_failed = !fine;
}

static void *run_shard(void *owner)
{
    struct shard *shard = owner;
    struct store_server server =
        store_server(shard->sender->store, shard->number);
    struct spool_batch batch;
    bool goes_on = server.version[0] != '\0' || reach_first(shard);
    bool is_there;

    while (goes_on && wait_batch(shard, &batch, &is_there)) {
        if (must_prune(shard))
            prune(shard);
        if (!is_there)
            continue;
        if (batch.is_outdated)
            lose_batch(shard, &batch, -1, "of an earlier version's tables");
        else
            goes_on = take_batch(shard, &batch);
    }
    return NULL;
}

/* ---- the sender */

struct sender *sender_open(struct store *store, char *why)
{
    struct sender *sender = xreallocarray(NULL, 1, sizeof *sender);
    uint64_t limit = store->options.spool_bytes;
    unsigned count = store->address.count;

    *sender = (struct sender){
        .store = store,
        .count = count,
        .losses = {.host = store->host, .none = store->options.can_resend},
        .staged_losses = {.host = store->host,
                          .none = store->options.can_resend}};
    if (!spool_open(&sender->spool, store->options.spool,
                    limit == 0 ? SPOOL_BYTES : limit, count, why, STORE_WHY)) {
        free(sender);
        return NULL;
    }
    pthread_mutex_init(&sender->lock, NULL);
    condition_init(&sender->changed);
    sender->shards = xreallocarray(NULL, count, sizeof *sender->shards);
    for (unsigned i = 0; i < count; ++i) {
        struct shard *shard = &sender->shards[i];

        *shard = (struct shard){
            .sender = sender, .number = i, .said_at = -SAY_SECONDS};
        shard->http = store_http_open(&store->address, i, store->seconds);
        if (pthread_create(&shard->thread, NULL, run_shard, shard) != 0)
            die("no thread for a store");
        shard->running = true;
    }
    return sender;
}

void sender_close(struct sender *sender)
{
    pthread_mutex_lock(&sender->lock);
    sender->stops = true;
    pthread_cond_broadcast(&sender->changed);
    pthread_mutex_unlock(&sender->lock);
    for (unsigned i = 0; i < sender->count; ++i)
        store_http_cancel(sender->shards[i].http);
    for (unsigned i = 0; i < sender->count; ++i) {
        pthread_join(sender->shards[i].thread, NULL);
        store_http_close(sender->shards[i].http);
    }
    keep_losses(sender, &sender->losses, SPOOL_PLAIN);
    if (losses_any(&sender->losses))
        log_error("%s: what was lost cannot be kept in the spool either",
                  store_name(sender->store));
    losses_free(&sender->losses);
    losses_free(&sender->staged_losses);
    spool_close(&sender->spool);
    pthread_mutex_destroy(&sender->lock);
    pthread_cond_destroy(&sender->changed);
    free(sender->shards);
    free(sender);
}

/* ---- for the client */

static uint64_t amount_of(const struct store_rows *rows)
{
    struct store_amount row;
    uint64_t amount = 0;

    for (size_t at = 0;
         store_row_amount(rows->table, rows->bytes, rows->used, &at, &row);)
        amount += row.amount;
    return amount;
}

bool store_send(struct store *store, unsigned shard,
                const struct store_rows *rows)
{
    struct sender *sender = store->sender;
    bool stage = store->options.stage;
    struct losses *losses;
    const char *why = NULL;
    bool kept;

    if (sender == NULL)
        die("store_send() needs a spool");
    losses = stage ? &sender->staged_losses : &sender->losses;
    if (rows->count == 0)
        return true;
    pthread_mutex_lock(&sender->lock);
    kept = spool_add(&sender->spool, shard, rows, amount_of(rows),
                     stage ? SPOOL_STAGED : SPOOL_PLAIN, &why);
    if (!kept) {
        /* as valid as the batch would be: after a kill before the commit the
         * caller counts its rows again */
        losses_add(losses, rows->table, rows->bytes, rows->used, why);
        count_lost(sender, rows->count);
        keep_losses(sender, losses, stage ? SPOOL_STAGED : SPOOL_PLAIN);
    }
    pthread_cond_broadcast(&sender->changed);
    pthread_mutex_unlock(&sender->lock);
    return kept;
}

uint64_t store_staged(struct store *store)
{
    struct sender *sender = store->sender;
    uint64_t order;

    pthread_mutex_lock(&sender->lock);
    order = sender->spool.order;
    pthread_mutex_unlock(&sender->lock);
    return order;
}

void store_commit(struct store *store, uint64_t order)
{
    struct sender *sender = store->sender;

    pthread_mutex_lock(&sender->lock);
    if (!spool_commit(&sender->spool, order))
        log_error("%s: a batch cannot be committed: %s", store_name(store),
                  strerror(errno));
    losses_move(&sender->losses, &sender->staged_losses);
    keep_losses(sender, &sender->losses, SPOOL_PLAIN);
    pthread_cond_broadcast(&sender->changed);
    pthread_mutex_unlock(&sender->lock);
}

void store_recover(struct store *store, uint64_t order)
{
    struct sender *sender = store->sender;
    uint64_t dropped;

    pthread_mutex_lock(&sender->lock);
    dropped = spool_recover(&sender->spool, order);
    pthread_cond_broadcast(&sender->changed);
    pthread_mutex_unlock(&sender->lock);
    if (dropped > 0)
        log_info("%s: killed while it closed a minute: what was in %llu "
                 "batches counts as lost",
                 store_name(store), (unsigned long long)dropped);
}

/* The problems of all shards, as many as there is room for. */
static void put_problems(const struct sender *sender, struct store_state *state)
{
    size_t used = 0;

    for (unsigned i = 0; i < sender->count; ++i) {
        const struct shard *shard = &sender->shards[i];

        if (shard->problem[0] == '\0')
            continue;
        ++state->away;
        snprintf(state->problem + used, sizeof state->problem - used, "%s%s",
                 used > 0 ? "; " : "", shard->problem);
        used = strlen(state->problem);
    }
}

void store_state(struct store *store, struct store_state *state)
{
    struct sender *sender = store->sender;

    *state = (struct store_state){0};
    if (sender == NULL)
        return;
    pthread_mutex_lock(&sender->lock);
    *state = sender->state;
    state->spool_batches = sender->spool.count;
    state->spool_bytes = sender->spool.bytes;
    put_problems(sender, state);
    state->spool_most_bytes = spool_most_bytes(&sender->spool);
    pthread_mutex_unlock(&sender->lock);
}

/* Batches that are stored or lost: it grows while there is progress. */
static uint64_t finished(const struct sender *sender)
{
    return sender->state.sent_batches + sender->state.lost_batches;
}

bool store_flush(struct store *store, double seconds)
{
    static const struct timespec pause = {.tv_nsec = FLUSH_POLL_MS * 1000000};
    struct sender *sender = store->sender;
    unsigned signals = signals_count();
    double moved = seconds_now(), said = moved;
    uint64_t before = UINT64_MAX, left = 0, bytes = 0;
    bool empty = sender == NULL;

    while (!empty) {
        double now = seconds_now();

        pthread_mutex_lock(&sender->lock);
        empty = sender->spool.count == 0 && !losses_any(&sender->losses);
        if (finished(sender) != before || sender->asking > 0)
            moved = now;
        before = finished(sender);
        left = sender->spool.count;
        bytes = sender->spool.bytes;
        pthread_mutex_unlock(&sender->lock);
        if (empty || now > moved + seconds || signals_count() != signals)
            break;
        if (now > said + FLUSH_LOG_SECONDS) {
            log_info("%s: %llu batches are left, %.1f MB", store_name(store),
                     (unsigned long long)left, (double)bytes / 1e6);
            said = now;
        }
        nanosleep(&pause, NULL);
    }
    return empty;
}
