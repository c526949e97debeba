/* SPDX-License-Identifier: Apache-2.0 */

/* A guest that is a process of its own: ended once, and only if it is there. */

#include "../unit.h"

#include "input/qemu.h"

#include <sys/wait.h>
#include <unistd.h>

/* A signal to process 0 would end everyone in the group, and this child. */
TEST(test_none_started)
{
    struct guest guest = {.stream = -1, .errors = -1};
    int status = -1;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        setpgid(0, 0);
        guest_stop(&guest);
        _exit(guest.stopped);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(test_running)
{
    struct guest guest = {.stream = -1, .errors = -1};

    guest.process = fork();
    assert_true(guest.process >= 0);
    if (guest.process == 0) {
        for (;;)
            pause();
    }
    assert_true(guest_runs(&guest));
    guest_stop(&guest);
    assert_false(guest_runs(&guest));
    assert_true(guest.stopped);
    assert_true(WIFSIGNALED(guest.status));
    guest_stop(&guest); /* has no effect */
    assert_int_equal(guest_code(&guest), 0);
}
