/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parasite attach --resume, and the connection of all of attach.
 *
 * Source of QMP: "QEMU QMP Reference Manual".
 */

#include "cli/attach_resume.h"

#include "base/log.h"
#include "base/printable.h"
#include "base/seconds.h"
#include "base/signals.h"
#include "base/wait.h"
#include "input/target.h"
#include "gdb/stub.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static const char by_gdb[] = "gdb:", by_qmp[] = "qmp:";

static int connect_after(const char *scheme, const char *target)
{
    struct target found;
    char uri[512];

    target += strlen(scheme);
    snprintf(uri, sizeof uri, "%s%s",
             strncmp(target, "unix:", 5) == 0 ? "" : "tcp:", target);
    target_open(&found, uri);
    return found.file;
}

static bool is_of(const char *scheme, const char *target)
{
    return strncmp(target, scheme, strlen(scheme)) == 0;
}

int attach_connect(const char *target)
{
    if (!is_of(by_gdb, target))
        die_usage("%s: expected gdb:HOST:PORT, gdb:unix:PATH or xen:DOMID",
                  target);
    return connect_after(by_gdb, target);
}

/* ---- by the stub */

static int resume_by_stub(const char *target, double timeout)
{
    static struct stub stub;
    bool known, held;
    int file;

    signals_catch(); /* to be connected stops a guest */
    file = attach_connect(target);
    if (!stub_begin(&stub, file, timeout))
        die("%s: %s", target, machine_reason_text(&stub.machine));
    known = stub.is_qemu;
    held = stub.machine.held;
    stub.machine.held = false;
    machine_end(&stub.machine);
    if (stub.machine.reason != MACHINE_LIVES)
        die("%s: %s", target, machine_reason_text(&stub.machine));
    printf("the guest runs; %s\n",
           !known ? "this stub does not say whether it was paused before"
           : held ? "it was paused before"
                  : "it was not paused before");
    return STATUS_OK;
}

/* ---- by the monitor */

struct monitor {
    const char *target;
    int file;
    double deadline; /* of the present answer */
    size_t used;
    char bytes[1 << 16];
};

static _Noreturn void die_of(const struct monitor *monitor, const char *what)
{
    die("%s: %s", monitor->target, what);
}

/* Whether a whole line is there; moved to (line), whose room is that of all. */
static bool take_line(struct monitor *monitor, char *line)
{
    const char *end = memchr(monitor->bytes, '\n', monitor->used);
    size_t bytes = end != NULL ? (size_t)(end - monitor->bytes) + 1 : 0;

    if (bytes == 0)
        return false;
    memcpy(line, monitor->bytes, bytes);
    line[bytes - 1] = '\0';
    monitor->used -= bytes;
    memmove(monitor->bytes, monitor->bytes + bytes, monitor->used);
    return true;
}

/* The next line that is an object with (key). */
static json_t *receive(struct monitor *monitor, const char *key)
{
    static char line[sizeof monitor->bytes];

    for (;;) {
        while (take_line(monitor, line)) {
            json_t *object = json_loads(line, 0, NULL);
            const json_t *error = json_object_get(object, "error");
            const char *text =
                json_string_value(json_object_get(error, "desc"));

            if (error != NULL)
                die_of(monitor, text != NULL ? text : "an error");
            if (json_object_get(object, key) != NULL)
                return object;
            json_decref(object);
        }
        if (monitor->used == sizeof monitor->bytes)
            die_of(monitor, "this is no monitor");
        if (seconds_now() >= monitor->deadline ||
            !wait_readable(monitor->file, monitor->deadline, 0))
            die_of(monitor, "the monitor does not answer; QEMU serves one "
                            "client of it at a time");
        ssize_t count =
            recv(monitor->file, monitor->bytes + monitor->used,
                 sizeof monitor->bytes - monitor->used, MSG_DONTWAIT);

        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
            die_of(monitor, "the connection was closed");
        monitor->used += count > 0 ? (size_t)count : 0;
    }
}

/* The answer to (command), which has no arguments. */
static json_t *ask(struct monitor *monitor, double timeout, const char *command)
{
    char text[128];
    int bytes = snprintf(text, sizeof text, "{\"execute\": \"%s\"}\n", command);

    monitor->deadline = seconds_now() + timeout;
    if (send(monitor->file, text, (size_t)bytes, MSG_NOSIGNAL | MSG_DONTWAIT) !=
        bytes)
        die_of(monitor, strerror(errno));
    return receive(monitor, "return");
}

/* Whether the guest runs; its status, as QEMU calls it, goes to (status). */
static bool runs(struct monitor *monitor, double timeout, char *status,
                 size_t room)
{
    json_t *object = ask(monitor, timeout, "query-status");
    const json_t *answer = json_object_get(object, "return");
    const char *text = json_string_value(json_object_get(answer, "status"));
    bool running = json_is_true(json_object_get(answer, "running"));

    snprintf(status, room, "%s", text != NULL ? text : "not known");
    json_decref(object);
    return running;
}

static int resume_by_monitor(const char *target, double timeout)
{
    static struct monitor monitor;
    char before[64], now[64];
    bool running;

    monitor.target = target;
    monitor.file = connect_after(by_qmp, target);
    monitor.deadline = seconds_now() + timeout;
    json_decref(receive(&monitor, "QMP"));
    json_decref(ask(&monitor, timeout, "qmp_capabilities"));
    if (runs(&monitor, timeout, before, sizeof before)) {
        puts("the guest runs; it was not paused before");
        return STATUS_OK;
    }
    json_decref(ask(&monitor, timeout, "cont"));
    running = runs(&monitor, timeout, now, sizeof now);
    printf("the guest %s; it was paused before (",
           running ? "runs" : "does not run");
    printable_put(stdout, running ? before : now);
    puts(")");
    return running ? STATUS_OK : STATUS_DATA;
}

int attach_resume(const char *target, double timeout)
{
    if (is_of(by_qmp, target))
        return resume_by_monitor(target, timeout);
    if (is_of(by_gdb, target))
        return resume_by_stub(target, timeout);
    if (is_of("xen:", target))
        die_usage("%s: 'xl unpause %s' lets it go on", target, target + 4);
    die_usage("%s: --resume takes gdb:HOST:PORT, gdb:unix:PATH, qmp:HOST:PORT "
              "or qmp:unix:PATH",
              target);
}
