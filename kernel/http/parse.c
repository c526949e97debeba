/* SPDX-License-Identifier: Apache-2.0 */
/* See <kernel/http.h> for what is rejected and why. */

#include <kernel/http.h>
#include <string.h>

#define BAD_REQUEST (-400)
#define TARGET_TOO_LONG (-414)
#define HEAD_TOO_LONG (-431)
#define VERSION_UNKNOWN (-505)
#define METHOD_MAX 32u
#define WEIGHT_MAX 1000 /* of a format; the unit is a thousandth */
#define WEIGHT_CHARS 5u /* "0.123" */

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
    else if (method.count == 4 && memcmp(method.at, "POST", 4) == 0)
        request->method = HTTP_POST;
    error = parse_version(request, line);
    return error != 0 ? error : parse_target(request, target);
}

/* ---- header lines */

/* What Accept says of a format: the weight that its most specific range has. */
struct choice {
    const char *type, *group;
    int weight;   /* thousandths, 0 = refused, or not named */
    int specific; /* of the range: 0 = none, 1 = any, 2 = group, 3 = type */
};

/* Header fields that may occur only once, and what several say together. */
struct seen {
    bool host;
    bool length;
    bool upgrade;  /* Connection: upgrade */
    bool protocol; /* Upgrade: HTTP_UPGRADE */
    struct choice text, protobuf;
};

static void take_connection(struct http_request *request, struct span value,
                            struct seen *seen)
{
    struct span word;

    while (cut(&value, ',', &word)) {
        if (is(trimmed(word), "close"))
            request->keep_alive = false;
        else if (is(trimmed(word), "keep-alive") && request->minor == 0)
            request->keep_alive = true;
        else if (is(trimmed(word), "upgrade"))
            seen->upgrade = true;
    }
}

static void take_upgrade(struct span value, struct seen *seen)
{
    struct span word;

    while (cut(&value, ',', &word))
        if (is(trimmed(word), HTTP_UPGRADE))
            seen->protocol = true;
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

/* Like cut(), at a separator outside of quotation marks. */
static bool cut_unquoted(struct span *rest, char separator, struct span *piece)
{
    bool quoted = false;
    size_t count = 0;

    if (rest->count == 0)
        return false;
    for (; count < rest->count; count++) {
        char c = rest->at[count];

        if (!quoted && c == separator)
            break;
        if (c == '"')
            quoted = !quoted;
        else if (quoted && c == '\\' && count + 1 < rest->count)
            count++;
    }
    *piece = (struct span){rest->at, count};
    if (count < rest->count)
        count++; /* the separator */
    rest->at += count;
    rest->count -= count;
    return true;
}

/* A weight, "1", "0.25", "0." or the like, in thousandths; -1 = malformed. */
static int weight_of(struct span text)
{
    int weight = 0, digit = WEIGHT_MAX;

    if (text.count == 0 || text.count > WEIGHT_CHARS ||
        (text.count > 1 && text.at[1] != '.'))
        return -1;
    for (size_t i = 0; i < text.count; i++) {
        if (i == 1)
            continue; /* the point */
        if (text.at[i] < '0' || text.at[i] > '9')
            return -1;
        weight += (text.at[i] - '0') * digit;
        digit /= 10;
    }
    return weight <= WEIGHT_MAX ? weight : -1;
}

/* The weight among the parameters of a media range: that of "q", or of none. */
static int weight_among(struct span parameters)
{
    struct span one, name;

    while (cut_unquoted(&parameters, ';', &one)) {
        one = trimmed(one);
        if (memchr(one.at, '=', one.count) != NULL && cut(&one, '=', &name) &&
            is(name, "q"))
            return weight_of(one);
    }
    return WEIGHT_MAX;
}

/* What (range) says of (choice), unless a more specific one has spoken. Equal
 * ones: the higher weight. */
static void choose(struct choice *choice, struct span range, int weight)
{
    int specific = is(range, choice->type)    ? 3
                   : is(range, choice->group) ? 2
                   : is(range, "*/*")         ? 1
                                              : 0;

    if (specific == 0 || specific < choice->specific ||
        (specific == choice->specific && weight <= choice->weight))
        return;
    choice->specific = specific;
    choice->weight = weight;
}

/* Metrics are written in two formats. Text is what is sent where no other is
 * asked for, or nothing that there is. */
static void take_accept(struct http_request *request, struct span value,
                        struct seen *seen)
{
    struct choice *text = &seen->text, *protobuf = &seen->protobuf;
    struct span one, range;

    while (cut_unquoted(&value, ',', &one)) {
        int weight;

        if (!cut_unquoted(&one, ';', &range))
            continue;
        weight = weight_among(one);
        if (weight < 0)
            continue;
        choose(text, trimmed(range), weight);
        choose(protobuf, trimmed(range), weight);
    }
    request->protobuf =
        protobuf->weight > text->weight ||
        (protobuf->weight == text->weight && protobuf->weight > 0 &&
         protobuf->specific > text->specific);
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
        take_connection(request, value, seen);
    else if (is(name, "upgrade"))
        take_upgrade(value, seen);
    else if (is(name, "accept"))
        take_accept(request, value, seen);
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
    struct seen seen = {
        .text = {"text/plain", "text/*", 0, 0},
        .protobuf = {"application/vnd.google.protobuf", "application/*", 0, 0},
    };
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
    request->upgrade = request->minor != 0 && seen.upgrade && seen.protocol;
    return error != 0 ? error : (int)(rest.at - bytes);
}
