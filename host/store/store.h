/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

/* A store that is open, for client.c and send.c. */

#include "store/address.h"
#include "store/client.h"
#include "store/http.h"
#include "store/schema.h"

#include <pthread.h>

struct sender;

struct store {
    struct store_address address;
    struct store_options options;
    double seconds;
    char *host;

    /* the asker's connections; NULL = none yet */
    struct store_http **https;

    pthread_mutex_t lock;         /* of what follows */
    struct store_server *servers; /* by shard; "" = it has not answered */

    struct sender *sender; /* NULL = without a spool */
};

/* Has shard number (shard) started, if it is embedded, asks who it is, and
 * makes its tables. False, and a line in (why). */
bool store_reach(struct store *store, unsigned shard, struct store_http *http,
                 char *why);

/* What shard number (shard) has said of itself. */
struct store_server store_server(struct store *store, unsigned shard);

/* Opens the spool and starts the threads that send; NULL, and a line in (why).
 */
struct sender *sender_open(struct store *store, char *why);
void sender_close(struct sender *sender);

#endif
