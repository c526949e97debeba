/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a guest's virtio socket, and what may answer at the socket of
 * its hypervisor. */

#include "../unit.h"

#include "base/wait.h"
#include "input/vsock.h"

#include <sys/socket.h>
#include <unistd.h>

static struct vsock_address address;

static void forget(void)
{
    vsock_address_free(&address);
}

FIXTURE(NULL, forget);

TEST(addresses_are_understood)
{
    static const struct {
        const char *text, *path;
        uint32_t cid, port;
    } rows[] = {
        {"/run/v.sock:9999", "/run/v.sock", 0, 9999},
        {"v.sock:1", "v.sock", 0, 1},
        {"a:b:4294967294", "a:b", 0, UINT32_MAX - 1},
        {"./3:52", "./3", 0, 52},
        {"3:52", NULL, 3, 52},
        {"4294967294:52", NULL, UINT32_MAX - 1, 52},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_null(vsock_address_parse(&address, rows[i].text));
        assert_int_equal(address.path != NULL, rows[i].path != NULL);
        if (rows[i].path != NULL)
            assert_string_equal(address.path, rows[i].path);
        assert_int_equal(address.cid, rows[i].cid);
        assert_int_equal(address.port, rows[i].port);
        vsock_address_free(&address);
    }
}

TEST(wrong_addresses_are_refused)
{
    static const char *const wrong[] = {
        "",
        ":",
        ":1",
        "path",
        "path:",
        "path:0",
        "path:x",
        "path:1x",
        "path:-1",
        "path:+1",
        "path: 1",
        "path:1 ",
        "path:4294967295",
        "path:99999999999999999999",
        "4294967295:1",
        "99999999999999999999:1",
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_non_null(vsock_address_parse(&address, wrong[i]));
        vsock_address_free(&address);
    }
}

static char why[256], asked[64], rest[16];

/* Asks one that answers with (answer) and ends, or with (silent) goes on. */
static bool ask(const char *answer, bool silent, double seconds)
{
    int ends[2];
    bool agreed;
    ssize_t count;

    assert_null(vsock_address_parse(&address, "v.sock:52"));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends),
                     0);
    assert_int_equal(write(ends[1], answer, strlen(answer)), strlen(answer));
    if (!silent)
        shutdown(ends[1], SHUT_WR);
    why[0] = '\0';
    agreed =
        vsock_ask(&address, ends[0], seconds_now() + seconds, why, sizeof why);
    count = read(ends[1], asked, sizeof asked - 1);
    assert_true(count > 0);
    asked[count] = '\0';
    count = agreed ? read(ends[0], rest, sizeof rest - 1) : 0;
    rest[count > 0 ? count : 0] = '\0';
    close(ends[0]);
    close(ends[1]);
    vsock_address_free(&address);
    assert_int_equal(agreed, why[0] == '\0');
    return agreed;
}

/* As in Firecracker's document. Nothing of what follows the line is taken. */
TEST(an_agreement_leaves_the_rest)
{
    assert_true(ask("OK 1073741824\n\xc1packet", false, 600));
    assert_string_equal(asked, "CONNECT 52\n");
    assert_string_equal(rest, "\xc1packet");
}

TEST(refusals_are_explained)
{
    static const struct {
        const char *answer, *says;
    } rows[] = {
        {"", "no guest listens to port 52"},
        {"NO\n", "is no hypervisor: 'NO' instead of"},
        {"OK", "is no hypervisor: 'OK' instead of"},
        {"OK \n", "is no hypervisor"},
        {"OK 1x\n", "is no hypervisor"},
        {"OK 1 2\n", "is no hypervisor"},
        {"OK -1\n", "is no hypervisor"},
        {"OK 4294967296\n", "is no hypervisor"},
        {"\n", "is no hypervisor"},
        {"\033[2J\n", "is no hypervisor: '\\x1b[2J' instead of"},
        {"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n", "does not end"},
        {"OK 10000000000000000000000000000000000000000\n", "does not end"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_false(ask(rows[i].answer, false, 600));
        assert_non_null(strstr(why, rows[i].says));
        assert_non_null(strstr(why, "vsock:v.sock:52: "));
    }
}

TEST(silence_has_an_end)
{
    assert_false(ask("OK 1", true, 0));
    assert_non_null(strstr(why, "no answer: timed out"));
}

/* The other end has closed it before it was asked. */
TEST(a_closed_connection_is_no_guest)
{
    int ends[2];

    assert_null(vsock_address_parse(&address, "v.sock:52"));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends),
                     0);
    close(ends[1]);
    assert_false(
        vsock_ask(&address, ends[0], seconds_now() + 600, why, sizeof why));
    assert_non_null(strstr(why, "no guest listens"));
    close(ends[0]);
}
