/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_PARSE_H
#define HTTP_PARSE_H

/*
 * The head of an HTTP/1.x request (RFC 9110, RFC 9112), out of bytes that
 * anybody may have sent. Knows nothing of connections; allocates nothing;
 * reads no byte beyond those it is given.
 *
 * Stricter than it might be where leniency lets two parties disagree about
 * where a request ends: no folded lines, no blank before a colon, no bare CR,
 * no control characters, no second Host or Content-Length.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX 4096u   /* bytes of a request's head */
#define HTTP_TARGET_MAX 1024u /* of its target */

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_OTHER, /* one that exists, but not here */
};

struct http_request {
    enum http_method method;
    unsigned minor;                   /* HTTP/1.minor */
    char path[HTTP_TARGET_MAX + 1];   /* decoded, begins with '/' */
    char query[HTTP_TARGET_MAX + 1];  /* as it came, without the '?' */
    char bearer[HTTP_TARGET_MAX + 1]; /* token of Authorization, "" = none */
    bool keep_alive;                  /* the connection is to stay */
    bool body;                        /* bytes follow that are no head */
};

/*
 * Looks for one head at (bytes). Returns its length, blank line included, and
 * fills (request); 0 where more bytes are needed; or less than 0, the status
 * of an answer that refuses it: -400, -414 (target too long), -431 (head too
 * long), -505 (not HTTP/1.x). Linear in (count).
 */
int http_parse(struct http_request *request, const char *bytes, size_t count);

/*
 * Copies the decoded value of (name) in (query), "a=1&b=2", to (value), (size)
 * bytes with its end. False: it is not there, is damaged, or does not fit.
 */
bool http_query(const char *query, const char *name, char *value, size_t size);

/*
 * Whether (given) is (secret), in a time that says nothing about where they
 * differ; it does say how long (given) is.
 */
bool http_same(const char *given, const char *secret);

#endif
