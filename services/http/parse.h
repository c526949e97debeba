/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_PARSE_H
#define HTTP_PARSE_H

/*
 * Parses the head of an HTTP/1.x request (RFC 9110, RFC 9112) from untrusted
 * bytes. Does not allocate and reads no byte outside its input.
 *
 * Strict where leniency could make two parties disagree about the end of a
 * request: no folded lines, no blank before a colon, no bare CR, no control
 * characters, no second Host or Content-Length.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX 4096u   /* bytes of a request's head */
#define HTTP_TARGET_MAX 1024u /* of its target */

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_OTHER, /* a valid method that is not supported */
};

struct http_request {
    enum http_method method;
    unsigned minor;                   /* HTTP/1.minor */
    char path[HTTP_TARGET_MAX + 1];   /* decoded, begins with '/' */
    char query[HTTP_TARGET_MAX + 1];  /* not decoded, without the '?' */
    char bearer[HTTP_TARGET_MAX + 1]; /* token of Authorization, "" = none */
    bool protobuf;                    /* prefers metrics in that format */
    bool keep_alive;                  /* keep the connection open */
    bool body;                        /* a body follows */
};

/*
 * Looks for one head at (bytes). Returns its length, blank line included, and
 * fills (request); 0 where more bytes are needed; or less than 0, the status
 * of an answer that refuses it: -400, -414 (target too long), -431 (head too
 * long), -505 (not HTTP/1.x). Linear in (count).
 */
int http_parse(struct http_request *request, const char *bytes, size_t count);

/* Whether (query) has (name), with any value or none. */
bool http_query_has(const char *query, const char *name);

/*
 * Copies the decoded value of (name) in (query), "a=1&b=2", to (value) of
 * (size) bytes including NUL. False: it is missing, malformed or does not fit.
 */
bool http_query(const char *query, const char *name, char *value, size_t size);

/*
 * Whether (given) equals (secret). The time depends on the length of (given),
 * but not on where they differ.
 */
bool http_same(const char *given, const char *secret);

#endif
