/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_HTTP_H
#define STORE_HTTP_H

/* Requests to one server of a store, by libcurl, on a connection that is kept.
 * Bodies are always chunked: ClickHouse 18.16 takes one that has a
 * Content-Length and was cut off at a row's border as a whole one. */

#include "store/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_http;

/* For server number (shard) of (address), which outlives it. (seconds) is how
 * long it may say nothing. Any thread may use it, one at a time. */
struct store_http *store_http_open(const struct store_address *address,
                                   unsigned shard, double seconds);
void store_http_close(struct store_http *http);

/* From now on requests end at once with no answer. Any thread may call it. */
void store_http_cancel(struct store_http *http);

struct store_request {
    const char *parameters; /* after the ?, escaped; "" = none */

    /* The body: text, or bytes of a file that is gzip, or neither. */
    const char *text;
    int file; /* read from its beginning; -1 = none */

    /* What takes the answer of a query that succeeded, or NULL. */
    bool (*take)(void *owner, const void *bytes, size_t count);
    void *owner;
};

struct store_reply {
    long status;    /* of HTTP; 0 = no answer */
    int code;       /* of ClickHouse's error; 0 = none, or none was sent */
    bool stopped;   /* (take) wanted no more */
    bool sent;      /* the server may have got all of the request */
    char text[400]; /* what is wrong, one line; "" = nothing */
};

/* Sends it and waits. Whether the answer is a success. */
bool store_http_ask(struct store_http *http,
                    const struct store_request *request,
                    struct store_reply *reply);

/* (text) as it is in parameters; to be freed. */
char *store_http_escape(const char *text);

/* The number of an error in its text, "Code: 60, e.displayText() = ..." or
 * "Code: 60. DB::Exception: ..."; 0 = none. */
int store_error_code(const char *text);

/* The first line of an error's text without its number and stack, in (to) of
 * (room) bytes. */
void store_error_line(const char *text, char *to, size_t room);

#endif
