/* SPDX-License-Identifier: Apache-2.0 */
/* See parse.h for what is rejected and why. */

#include "parse.h"

#include <string.h>

#define BAD_REQUEST (-400)
#define TARGET_TOO_LONG (-414)
#define HEAD_TOO_LONG (-431)
#define VERSION_UNKNOWN (-505)
#define METHOD_MAX 32u

/* A part of the head; not NUL-terminated. */
struct span {
    const char *at;
    size_t count;
};

static bool is_token(unsigned char c)
{
    return c > ' ' && c < 0x7f && strchr("\"(),/:;<=>?@[\\]{}", c) == NULL;
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 'a' - 'A') : c;
}

/* Whether (span) equals (word), ignoring case. (word) is in lower case. */
static bool is(struct span span, const char *word)
{
    if (strlen(word) != span.count)
        return false;
    for (size_t i = 0; i < span.count; i++)
        if (lower((unsigned char)span.at[i]) != (unsigned char)word[i])
            return false;
    return true;
}

/* Removes blanks at both ends. */
static struct span trimmed(struct span span)
{
    while (span.count != 0 && (*span.at == ' ' || *span.at == '\t')) {
        span.at++;
        span.count--;
    }
    while (span.count != 0 &&
           (span.at[span.count - 1] == ' ' || span.at[span.count - 1] == '\t'))
        span.count--;
    return span;
}

/* Removes the text before (separator) from (rest), or all of it if there is no
 * separator. False: (rest) was empty. */
static bool cut(struct span *rest, char separator, struct span *piece)
{
    const char *end;

    if (rest->count == 0)
        return false;
    end = memchr(rest->at, separator, rest->count);
    *piece = *rest;
    if (end == NULL) {
        rest->count = 0;
        return true;
    }
    piece->count = (size_t)(end - rest->at);
    rest->count -= piece->count + 1;
    rest->at = end + 1;
    return true;
}

/* ---- percent encoding */

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)lower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes (from) into (to) of (size) bytes including NUL. False: it does not
 * fit, contains a NUL or is malformed. */
static bool decode(struct span from, char *to, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < from.count; i++) {
        char c = from.at[i];

        if (c == '%') {
            int high = i + 2 < from.count ? hex(from.at[i + 1]) : -1;
            int low = high >= 0 ? hex(from.at[i + 2]) : -1;

            if (low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0' || used + 1 >= size)
            return false;
        to[used++] = c;
    }
    to[used] = '\0';
    return true;
}

/* Finds the first pair of (name); its value is (*value). */
static bool find_pair(const char *query, const char *name, struct span *value)
{
    struct span rest = {query, strlen(query)};
    struct span key;

    while (cut(&rest, '&', value))
        if (cut(value, '=', &key) && key.count == strlen(name) &&
            memcmp(key.at, name, key.count) == 0)
            return true;
    return false;
}

bool http_query_has(const char *query, const char *name)
{
    struct span value;

    return find_pair(query, name, &value);
}

bool http_query(const char *query, const char *name, char *value, size_t size)
{
    struct span found;

    return find_pair(query, name, &found) && decode(found, value, size);
}

bool http_same(const char *given, const char *secret)
{
    size_t secret_count = strlen(secret);
    size_t count = strlen(given);
    unsigned different = count != secret_count;

    for (size_t i = 0; i < count; i++)
        different |= (unsigned char)given[i] ^
                     (unsigned char)secret[i % (secret_count + 1)];
    return different == 0;
}

/* ---- the request line */

static bool printable(struct span span)
{
    for (size_t i = 0; i < span.count; i++)
        if ((unsigned char)span.at[i] <= ' ' || span.at[i] == 0x7f)
            return false;
    return true;
}

/* "/path?query" or "http://host/path?query". */
static int parse_target(struct http_request *request, struct span target)
{
    static const char scheme[] = "http://";
    struct span path;

    if (target.count > HTTP_TARGET_MAX)
        return TARGET_TOO_LONG;
    if (target.count > sizeof scheme &&
        memcmp(target.at, scheme, sizeof scheme - 1) == 0) {
        target.at += sizeof scheme - 1;
        target.count -= sizeof scheme - 1;
        while (target.count != 0 && *target.at != '/') {
            target.at++;
            target.count--;
        }
    }
    if (target.count == 0 || *target.at != '/' || !printable(target))
        return BAD_REQUEST;
    cut(&target, '?', &path);
    if (!decode(path, request->path, sizeof request->path))
        return BAD_REQUEST;
    memcpy(request->query, target.at, target.count);
    request->query[target.count] = '\0';
    return 0;
}

static int parse_version(struct http_request *request, struct span version)
{
    if (version.count != 8 || memcmp(version.at, "HTTP/", 5) != 0 ||
        version.at[6] != '.' || version.at[5] < '0' || version.at[5] > '9' ||
        version.at[7] < '0' || version.at[7] > '9')
        return BAD_REQUEST;
    if (version.at[5] != '1')
        return VERSION_UNKNOWN;
    request->minor = (unsigned)(version.at[7] - '0');
    request->keep_alive = request->minor != 0;
    return 0;
}

static int parse_line(struct http_request *request, struct span line)
{
    struct span method, target;
    int error;

    if (!cut(&line, ' ', &method) || method.count == 0 ||
        method.count > METHOD_MAX || !cut(&line, ' ', &target))
        return BAD_REQUEST;
    for (size_t i = 0; i < method.count; i++)
        if (!is_token((unsigned char)method.at[i]))
            return BAD_REQUEST;
    request->method = HTTP_OTHER;
    if (method.count == 3 && memcmp(method.at, "GET", 3) == 0)
        request->method = HTTP_GET;
    else if (method.count == 4 && memcmp(method.at, "HEAD", 4) == 0)
        request->method = HTTP_HEAD;
    error = parse_version(request, line);
    return error != 0 ? error : parse_target(request, target);
}

/* ---- header lines */

/* Header fields that may occur only once. */
struct seen {
    bool host;
    bool length;
};

static void take_connection(struct http_request *request, struct span value)
{
    struct span word;

    while (cut(&value, ',', &word)) {
        if (is(trimmed(word), "close"))
            request->keep_alive = false;
        else if (is(trimmed(word), "keep-alive") && request->minor == 0)
            request->keep_alive = true;
    }
}

static bool take_length(struct http_request *request, struct span value)
{
    if (value.count == 0)
        return false;
    for (size_t i = 0; i < value.count; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            return false;
        request->body = request->body || value.at[i] != '0';
    }
    return true;
}

static void take_authorization(struct http_request *request, struct span value)
{
    struct span scheme;

    if (!cut(&value, ' ', &scheme) || !is(scheme, "bearer"))
        return;
    value = trimmed(value);
    if (value.count > HTTP_TARGET_MAX)
        return;
    memcpy(request->bearer, value.at, value.count);
    request->bearer[value.count] = '\0';
}

/* Whether one of the media types in (value) is (type), with any parameters: the
 * other formats of metrics are not written, so weights do not matter. */
static bool accepts(struct span value, const char *type)
{
    struct span one, name;

    while (cut(&value, ',', &one)) {
        if (cut(&one, ';', &name) && is(trimmed(name), type))
            return true;
    }
    return false;
}

static bool parse_field(struct http_request *request, struct span line,
                        struct seen *seen)
{
    struct span name, value;

    if (memchr(line.at, ':', line.count) == NULL || !cut(&line, ':', &name) ||
        name.count == 0)
        return false;
    for (size_t i = 0; i < name.count; i++)
        if (!is_token((unsigned char)name.at[i]))
            return false;
    value = trimmed(line);
    if (is(name, "host")) {
        bool again = seen->host;

        seen->host = true;
        return !again;
    }
    if (is(name, "content-length")) {
        bool again = seen->length;

        seen->length = true;
        return !again && take_length(request, value);
    }
    if (is(name, "transfer-encoding"))
        request->body = true;
    else if (is(name, "connection"))
        take_connection(request, value);
    else if (is(name, "accept"))
        request->protobuf = request->protobuf ||
                            accepts(value, "application/vnd.google.protobuf");
    else if (is(name, "authorization"))
        take_authorization(request, value);
    return true;
}

/* ---- the whole head */

/* Removes a line and its end from (rest). False: the line is incomplete. */
static bool take_line(struct span *rest, struct span *line)
{
    const char *end = memchr(rest->at, '\n', rest->count);

    if (end == NULL)
        return false;
    cut(rest, '\n', line);
    if (line->count != 0 && line->at[line->count - 1] == '\r')
        line->count--;
    return true;
}

/* Whether it has no control characters, which could confuse a terminal or
 * another parser. */
static bool clean(struct span line)
{
    for (size_t i = 0; i < line.count; i++) {
        unsigned char c = (unsigned char)line.at[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* Result for a head without an end: invalid, too long, or incomplete. */
static int unfinished(const char *bytes, size_t count)
{
    if (count != 0 && memchr(bytes, '\0', count) != NULL)
        return BAD_REQUEST;
    if (count < HTTP_HEAD_MAX)
        return 0;
    return memchr(bytes, '\n', count) == NULL ? TARGET_TOO_LONG : HEAD_TOO_LONG;
}

int http_parse(struct http_request *request, const char *bytes, size_t count)
{
    struct span rest = {bytes, count < HTTP_HEAD_MAX ? count : HTTP_HEAD_MAX};
    struct span line = {bytes, 0};
    struct seen seen = {false, false};
    int error;

    *request = (struct http_request){.method = HTTP_OTHER};
    do { /* up to two empty lines may precede the request */
        if (!take_line(&rest, &line))
            return unfinished(bytes, count);
    } while (line.count == 0);
    error = clean(line) ? parse_line(request, line) : BAD_REQUEST;
    while (error == 0) {
        if (!take_line(&rest, &line))
            return unfinished(bytes, count);
        if (line.count == 0)
            break;
        if (!clean(line) || !parse_field(request, line, &seen))
            error = BAD_REQUEST;
    }
    if (error == 0 && request->minor != 0 && !seen.host)
        error = BAD_REQUEST;
    return error != 0 ? error : (int)(rest.at - bytes);
}
