/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a guest's port, and what may answer there. */

#include "../unit.h"

#include "base/wait.h"
#include "input/http.h"

#include <sys/socket.h>
#include <unistd.h>

static struct http_address address;

static void forget(void)
{
    http_address_free(&address);
    unsetenv("PARASITE_TOKEN");
}

FIXTURE(NULL, forget);

TEST(addresses_are_understood)
{
    static const struct {
        const char *text, *host, *port, *token;
    } rows[] = {
        {"host:9999", "host", "9999", NULL},
        {"127.0.0.1:1/", "127.0.0.1", "1", NULL},
        {"host", "host", "80", NULL},
        {"host/?token=a", "host", "80", "a"},
        {"host:9?token=a=b&c:d/e?f", "host", "9", "a=b&c:d/e?f"},
        {"host:9/?token=", "host", "9", NULL},
        {"[::1]:80", "::1", "80", NULL},
        {"[fe80::1]", "fe80::1", "80", NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_null(http_address_parse(&address, rows[i].text));
        assert_string_equal(address.host, rows[i].host);
        assert_string_equal(address.port, rows[i].port);
        assert_int_equal(address.token != NULL, rows[i].token != NULL);
        if (rows[i].token != NULL)
            assert_string_equal(address.token, rows[i].token);
        http_address_free(&address);
    }
}

TEST(wrong_addresses_are_refused)
{
    static const char *const wrong[] = {
        "",
        ":",
        ":80",
        "host:",
        "/",
        "host:1/profile",
        "host:1/?seconds=1",
        "host:1/?token=a b",
        "host:1/?token=a\r\nX: y",
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_non_null(http_address_parse(&address, wrong[i]));
        assert_null(address.token);
        http_address_free(&address);
    }
}

TEST(the_environment_has_the_token)
{
    setenv("PARASITE_TOKEN", "secret", 1);
    assert_null(http_address_parse(&address, "host:1"));
    assert_string_equal(address.token, "secret");
    http_address_free(&address);
    assert_null(http_address_parse(&address, "host:1/?token=other"));
    assert_string_equal(address.token, "other");
    assert_string_equal(address.name, "host:1");
}

static char why[256], asked[512], rest[16];

/* Asks one that answers with (answer) and ends. */
static bool ask(const char *answer, bool commands)
{
    int ends[2];
    bool agreed;
    ssize_t count;

    assert_null(http_address_parse(&address, "host:1/?token=secret"));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(write(ends[1], answer, strlen(answer)), strlen(answer));
    shutdown(ends[1], SHUT_WR);
    why[0] = '\0';
    agreed = http_ask(&address, ends[0], commands, seconds_now() + 600, why,
                      sizeof why);
    count = read(ends[1], asked, sizeof asked - 1);
    assert_true(count > 0);
    asked[count] = '\0';
    count = agreed ? read(ends[0], rest, sizeof rest - 1) : 0;
    assert_true(count >= 0);
    rest[count] = '\0';
    close(ends[0]);
    close(ends[1]);
    http_address_free(&address);
    assert_int_equal(agreed, why[0] == '\0');
    return agreed;
}

#define AGREED "HTTP/1.1 101 Switching Protocols\r\nUpgrade: parasite\r\n\r\n"

/* Nothing of what follows the head is taken. */
TEST(an_agreement_leaves_the_rest)
{
    assert_true(ask(AGREED "\xc1packet", false));
    assert_string_equal(rest, "\xc1packet");
    assert_non_null(strstr(asked, "GET /stream HTTP/1.1\r\n"));
    assert_non_null(strstr(asked, "Authorization: Bearer secret\r\n"));
    assert_true(ask(AGREED, true));
    assert_non_null(strstr(asked, "GET /commands HTTP/1.1\r\n"));
}

TEST(refusals_are_explained)
{
    static const struct {
        const char *answer, *says;
    } rows[] = {
        {"HTTP/1.1 401 Unauthorized\r\n\r\n", "PARASITE_TOKEN"},
        {"HTTP/1.1 403 Forbidden\r\n\r\n", "another token"},
        {"HTTP/1.1 404 Not Found\r\n\r\n", "the profiler's port is not there"},
        {"HTTP/1.1 409 Conflict\r\n\r\nanother client\n",
         "refused (409): another client"},
        {"HTTP/1.1 503 Service Unavailable\r\n\r\n\033[2Jfull",
         "refused (503): [2Jfull"},
        {"HTTP/1.1 200 OK\r\n\r\n", "refused (200)"},
        {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
         "refused (101)"},
        {"SSH-2.0-OpenSSH\r\n\r\n", "is not HTTP"},
        {"HTTP/1.1 101 Switching", "no answer"},
        {"", "no answer"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_false(ask(rows[i].answer, false));
        assert_non_null(strstr(why, rows[i].says));
        assert_null(strstr(why, "secret"));
    }
}

TEST(a_head_without_end_is_refused)
{
    char *head = malloc(100000);

    memset(head, 'x', 99999);
    head[99999] = '\0';
    assert_false(ask(head, false));
    free(head);
}
