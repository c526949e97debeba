/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of HTTP requests: what is taken, what is refused, and with what. */

#include "../unit.h"

#include <kernel/http.h>

static struct http_request request;

/* On the heap, so that AddressSanitizer sees what is read beyond it. */
static int parse_bytes(const char *bytes, size_t count)
{
    char *copy = malloc(count != 0 ? count : 1);
    int result;

    memcpy(copy, bytes, count);
    result = http_parse(&request, copy, count);
    free(copy);
    return result;
}

static int parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

#define HOST "Host: a\r\n"
#define GET "GET / HTTP/1.1\r\n" HOST

static void whole(const char *text)
{
    assert_int_equal(parse(text), strlen(text));
}

static void refused(const char *text, int status)
{
    assert_int_equal(parse(text), -status);
}

TEST(a_request_is_understood)
{
    whole("GET /a%20b/c?d=e&f HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(request.method, HTTP_GET);
    assert_int_equal(request.minor, 1);
    assert_string_equal(request.path, "/a b/c");
    assert_string_equal(request.query, "d=e&f");
    assert_true(request.keep_alive);
    assert_false(request.body);
    whole("HEAD http://host:80/x HTTP/1.1\r\nhost:\r\n\r\n");
    assert_int_equal(request.method, HTTP_HEAD);
    assert_string_equal(request.path, "/x");
    whole("PATCH / HTTP/1.0\n\n");
    assert_int_equal(request.method, HTTP_OTHER);
    whole("get / HTTP/1.0\r\n\r\n");
    assert_int_equal(request.method, HTTP_OTHER);
}

TEST(every_prefix_waits_for_more)
{
    static const char text[] = "\r\nGET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n";

    for (size_t i = 0; i < sizeof text - 1; i++)
        assert_int_equal(parse_bytes(text, i), 0);
    assert_int_equal(parse(text), sizeof text - 1);
}

TEST(what_follows_is_left_alone)
{
    assert_int_equal(parse(GET "\r\nGET /2"), strlen(GET "\r\n"));
    assert_int_equal(parse_bytes(GET "\r\n\0\1", strlen(GET) + 4),
                     strlen(GET "\r\n"));
}

TEST(connections_stay_or_end)
{
    static const struct {
        const char *head;
        bool keep_alive;
    } rows[] = {
        {GET "Connection: close\r\n\r\n", false},
        {GET "Connection: Upgrade , CLOSE\r\n\r\n", false},
        {"GET / HTTP/1.0\r\n\r\n", false},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
        {GET "Connection: closed\r\n\r\n", true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        whole(rows[i].head);
        assert_int_equal(request.keep_alive, rows[i].keep_alive);
    }
}

TEST(bodies_are_seen)
{
    whole("POST / HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\n");
    assert_true(request.body);
    whole(GET "Content-Length: 0\r\n\r\n");
    assert_false(request.body);
    whole(GET "Transfer-Encoding: chunked\r\n\r\n");
    assert_true(request.body);
    refused(GET "Content-Length: -1\r\n\r\n", 400);
    refused(GET "Content-Length:\r\n\r\n", 400);
    refused(GET "Content-Length: 0\r\nContent-Length: 5\r\n\r\n", 400);
}

TEST(tokens_are_found)
{
    static const char *const rows[][2] = {
        {GET "Authorization: Bearer  abc \r\n\r\n", "abc"},
        {GET "authorization: BEARER x\r\n\r\n", "x"},
        {GET "Authorization: Basic abc\r\n\r\n", ""},
        {GET "Authorization: Bearer\r\n\r\n", ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        whole(rows[i][0]);
        assert_string_equal(request.bearer, rows[i][1]);
    }
}

#define PROTOBUF "application/vnd.google.protobuf"

TEST(formats_have_weights)
{
    static const struct {
        const char *accept;
        bool protobuf;
    } rows[] = {
        {"text/plain;version=0.0.4;q=1,*/*;q=0.1", false},
        {"text/html, ,;, " PROTOBUF " ;proto=io.prometheus.client.MetricFamily",
         true},
        {PROTOBUF "2", false},
        /* refused, in any spelling */
        {PROTOBUF ";q=0", false},
        {PROTOBUF ";q=0.", false},
        {PROTOBUF ";q=0.0", false},
        {PROTOBUF "; q=0.00", false},
        {PROTOBUF ";proto=x;\tQ=0.000 ", false},
        {PROTOBUF ";q=0, */*", false},
        {"*/*, " PROTOBUF ";q=0", false},
        {"text/plain;q=0, */*", true},
        /* the higher one */
        {PROTOBUF ";q=0.6,text/plain;q=0.2,*/*;q=0.1", true},
        {PROTOBUF ";q=0.6,text/plain;q=0.601", false},
        {"text/plain;q=0.001," PROTOBUF ";q=0.01", true},
        {"text/plain;q=1.000," PROTOBUF ";q=0.999", false},
        {PROTOBUF ";q=0.5, */*", false},
        {PROTOBUF ";q=0.001", true},
        {"application/*;q=0.9, text/*;q=0.3", true},
        /* the more specific one */
        {"*/*", false},
        {PROTOBUF ", */*", true},
        {PROTOBUF ";q=0.2, application/*, text/plain;q=0.5", false},
        /* those that are no weights are not there */
        {PROTOBUF ";q=", false},
        {PROTOBUF ";q=2", false},
        {PROTOBUF ";q=1.001", false},
        {PROTOBUF ";q=0.0001", false},
        {PROTOBUF ";q=.5", false},
        {PROTOBUF ";q=-1", false},
        /* a parameter may have anything in it */
        {PROTOBUF ";a=\"x,y;q=0\\\";q=0\"", true},
        {PROTOBUF ";a=\"x", true},
        {"text/plain;a=\"," PROTOBUF "\"", false},
    };
    char head[256];

    whole(GET "\r\n");
    assert_false(request.protobuf);
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(head, sizeof head, GET "Accept: %s\r\n\r\n", rows[i].accept);
        whole(head);
        if (request.protobuf != rows[i].protobuf)
            fail_msg("Accept: %s", rows[i].accept);
    }
    whole(GET "Accept: " PROTOBUF ";q=0.5\r\nAccept: text/plain\r\n\r\n");
    assert_false(request.protobuf);
    whole(GET "Accept: text/plain;q=0.2\r\nAccept: " PROTOBUF "\r\n\r\n");
    assert_true(request.protobuf);
}

TEST(bad_heads_are_refused)
{
    static const struct {
        const char *head;
        int status;
    } rows[] = {
        /* lines */
        {"GET\r\n", 400},
        {"GET /\r\n", 400},
        {"GET  / HTTP/1.1\r\n", 400},
        {"G@T / HTTP/1.1\r\n", 400},
        {"GET / HTTP/1.1 \r\n", 400},
        {"GET / HTTX/1.1\r\n", 400},
        {"GET / HTTP/2.0\r\n", 505},
        {"GET x HTTP/1.1\r\n", 400},
        {"GET http://host HTTP/1.1\r\n", 400},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.0\r\n", 400},
        {"GET /\t HTTP/1.1\r\n", 400},
        {"GET / HTTP/1.1\r\r\n", 400},
        /* fields */
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {GET HOST "\r\n", 400},
        {GET "no colon\r\n\r\n", 400},
        {GET ": nameless\r\n\r\n", 400},
        {GET "A : blank before the colon\r\n\r\n", 400},
        {GET " folded: line\r\n\r\n", 400},
        {GET "A: \x7f\r\n\r\n", 400},
        {GET "A: \x1b[2J\r\n\r\n", 400},
        {GET "A: bare \r return\r\n\r\n", 400},
        /* percents */
        {"GET /% HTTP/1.0\r\n\r\n", 400},
        {"GET /%4 HTTP/1.0\r\n\r\n", 400},
        {"GET /%zz HTTP/1.0\r\n\r\n", 400},
        {"GET /%00 HTTP/1.0\r\n\r\n", 400},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (parse(rows[i].head) != -rows[i].status)
            fail_msg("%s", rows[i].head);
    whole("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF / HTTP/1.0\r\n\r\n");
    whole("GET /%2e%2E/x HTTP/1.0\r\n\r\n");
    assert_string_equal(request.path, "/../x");
}

TEST(nuls_are_refused_at_once)
{
    assert_int_equal(parse_bytes("\0", 1), -400);
    assert_int_equal(parse_bytes("GET /\0", 6), -400);
    assert_int_equal(parse_bytes("GET /\0 HTTP/1.1\r\n\r\n", 19), -400);
    assert_int_equal(parse_bytes("GET / HTTP/1.1\r\nA: \0\r\n", 22), -400);
}

TEST(long_ones_are_refused)
{
    static char text[20000];

    memset(text, 'a', sizeof text);
    memcpy(text, "GET /", 5);
    assert_int_equal(parse_bytes(text, HTTP_HEAD_MAX - 1), 0);
    assert_int_equal(parse_bytes(text, HTTP_HEAD_MAX), -414);
    assert_int_equal(parse_bytes(text, 10000), -414);
    memcpy(text + 5 + HTTP_TARGET_MAX, " HTTP/1.0\r\n", 11);
    assert_int_equal(parse_bytes(text, 2000), -414);
    memcpy(text, GET "A: ", strlen(GET "A: "));
    assert_int_equal(parse_bytes(text, HTTP_HEAD_MAX), -431);
    memset(text, 'a', sizeof text);
    memcpy(text, "GET /", 5);
    memcpy(text + 4 + HTTP_TARGET_MAX, " HTTP/1.0\r\n\r\n", 13);
    assert_int_equal(parse_bytes(text, 2000), 4 + HTTP_TARGET_MAX + 13);
    assert_int_equal(strlen(request.path), HTTP_TARGET_MAX);
}

TEST(queries_are_taken_apart)
{
    static const struct {
        const char *query, *name, *value; /* NULL: not there, or too long */
    } rows[] = {
        {"a=1&bc=%32x&d", "bc", "2x"},
        {"a=1&b=2", "a", "1"},
        {"&&a=1=2&", "a", "1=2"},
        {"d", "d", ""},
        {"ab=1", "a", NULL},
        {"a=12345", "a", NULL},
        {"a=%0", "a", NULL},
        {"a=%00", "a", NULL},
        {"", "a", NULL},
    };
    char value[5];

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(
            http_query(rows[i].query, rows[i].name, value, sizeof value),
            rows[i].value != NULL);
        if (rows[i].value != NULL)
            assert_string_equal(value, rows[i].value);
    }
}

/* The name of one may be in the value of another. */
TEST(names_are_looked_for_whole)
{
    assert_true(http_query_has("token=ahz&hz=9", "hz"));
    assert_true(http_query_has("hz", "hz"));
    assert_true(http_query_has("a&hz=", "hz"));
    assert_false(http_query_has("token=hz", "hz"));
    assert_false(http_query_has("token=a&khz=1&hzz=1", "hz"));
    assert_false(http_query_has("", "hz"));
}

TEST(secrets_are_compared)
{
    assert_true(http_same("secret", "secret"));
    assert_false(http_same("", "secret"));
    assert_false(http_same("secre", "secret"));
    assert_false(http_same("secrets", "secret"));
    assert_false(http_same("Secret", "secret"));
    assert_false(http_same("secret1secret1secret", "secret"));
}

static bool asks_for_upgrade(const char *head)
{
    whole(head);
    return request.upgrade;
}

/* Only both lines together, for our protocol, and not in HTTP/1.0. */
TEST(an_upgrade_is_asked_for_by_two_lines)
{
#define ASK "Connection: keep-alive, Upgrade\r\n"
    assert_true(asks_for_upgrade(GET ASK "Upgrade: parasite\r\n\r\n"));
    assert_true(asks_for_upgrade(GET "UPGRADE: h2c , Parasite\r\n" ASK "\r\n"));
    assert_false(asks_for_upgrade(GET ASK "\r\n"));
    assert_false(asks_for_upgrade(GET "Upgrade: parasite\r\n\r\n"));
    assert_false(asks_for_upgrade(GET ASK "Upgrade: websocket\r\n\r\n"));
    assert_false(asks_for_upgrade(GET ASK "Upgrade: parasites\r\n\r\n"));
    assert_false(
        asks_for_upgrade("GET / HTTP/1.0\r\n" ASK "Upgrade: parasite\r\n\r\n"));
}
