/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest in QEMU.
 *
 * The stream's device writes to a pipe that QEMU inherits: it needs no name in
 * the file system, and the stream ends with QEMU. A UART drops a byte that is
 * not taken soon, so the pipe is as large as allowed (a socket would be full
 * after 300 writes of one byte). QEMU omits the console's UART once its command
 * line has another one, so it is added explicitly if the user did not.
 */

#define _GNU_SOURCE /* asprintf(), pipe2(), memmem() */

#include "input/qemu.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QEMU_FAILED 126
#define ENDED "terminating on signal" /* QEMU prints it when we end it */
#define WARNING "warning:"
#define PIPE_BYTES (1 << 20) /* the limit for unprivileged users */
#define READS_MAX 64u        /* of its errors, at a time */
#define END_SECONDS 10.0     /* from SIGTERM to SIGKILL */
#define END_NAP_NS 1000000

static const struct {
    const char *name;
    const char *option; /* its name in prof.out= */
} transports[] = {
    [GUEST_UART] = {"uart", "uart2"},
    [GUEST_DEBUGCON] = {"debugcon", "e9"},
    [GUEST_VIRTIO] = {"virtio", "virtio"},
    [GUEST_SERIAL] = {"serial", "serial"},
    [GUEST_SHM] = {"shm", "shm"},
};

/* GUEST_STUB is none that can be asked for. */
bool guest_transport(const char *name, enum guest_transport *transport)
{
    for (size_t i = 0; i < sizeof transports / sizeof transports[0]; ++i) {
        if (strcmp(name, transports[i].name) == 0) {
            *transport = (enum guest_transport)i;
            return true;
        }
    }
    return false;
}

static void put_word(struct guest *guest, const char *word)
{
    vector_reserve_one(&guest->words, (size_t)guest->count,
                       sizeof *guest->words);
    guest->words[guest->count++] = word != NULL ? xstrdup(word) : NULL;
}

static void put_two(struct guest *guest, const char *option, const char *value)
{
    put_word(guest, option);
    put_word(guest, value);
}

const char *guest_word(char *const *words, const char *option)
{
    for (; *words != NULL && words[1] != NULL; ++words) {
        if (strcmp(*words, option) == 0)
            return words[1];
    }
    return NULL;
}

static bool has_word(char *const *words, const char *word)
{
    while (*words != NULL && strcmp(*words, word) != 0)
        ++words;
    return *words != NULL;
}

static void put_all_words(struct guest *guest, char **words)
{
    while (*words != NULL)
        put_word(guest, *words++);
}

/* The user's words, with the guest's command line extended. */
static void put_users_words(struct guest *guest, char **words,
                            enum guest_transport transport, uint32_t hz,
                            int depth)
{
    const char *given = guest_word(words, "-append");
    char rate[32] = "", callers[32] = "", *line;

    if (hz > 0)
        snprintf(rate, sizeof rate, " prof.hz=%u", (unsigned)hz);
    if (depth >= 0)
        snprintf(callers, sizeof callers, " prof.depth=%d", depth);
    if (asprintf(&line, "%s%sprof.out=%s%s%s", given != NULL ? given : "",
                 given != NULL ? " " : "", transports[transport].option, rate,
                 callers) < 0)
        die("out of memory");
    for (; *words != NULL; ++words) {
        bool serial = strcmp(*words, "-serial") == 0;

        if (words[1] != NULL && (strcmp(*words, "-append") == 0 ||
                                 (serial && transport == GUEST_SERIAL)))
            ++words;
        else
            put_word(guest, *words);
    }
    put_two(guest, "-append", line);
    free(line);
}

/* The file has a name that nobody can guess, belongs to the user alone, and is
 * there before QEMU opens it. */
static void put_ram(struct guest *guest, char **words)
{
    const char *megabytes = guest_word(words, "-m");
    char *object;
    int file;

    guest->ram = xstrdup("/dev/shm/parasite-XXXXXX");
    file = mkostemp(guest->ram, O_CLOEXEC);
    if (file < 0)
        die("%s: cannot be made: %s", guest->ram, strerror(errno));
    close(file);
    if (asprintf(&object,
                 "memory-backend-file,id=prof_ram,size=%s%s,mem-path=%s,"
                 "share=on",
                 megabytes != NULL ? megabytes : "128",
                 megabytes != NULL && strpbrk(megabytes, "MGKmgk") != NULL
                     ? ""
                     : "M",
                 guest->ram) < 0)
        die("out of memory");
    put_two(guest, "-object", object);
    put_two(guest, "-machine", "memory-backend=prof_ram");
    free(object);
}

/* microvm has no PCI. */
static const char *virtio_serial(char **words)
{
    const char *machine = guest_word(words, "-M");

    if (machine == NULL)
        machine = guest_word(words, "-machine");
    return machine != NULL && strncmp(machine, "microvm", 7) == 0
               ? "virtio-serial-device"
               : "virtio-serial-pci";
}

static void put_device(struct guest *guest, char **words,
                       enum guest_transport transport)
{
    if (transport != GUEST_SERIAL && transport != GUEST_STUB &&
        !has_word(words, "-serial"))
        put_two(guest, "-serial",
                has_word(words, "-nographic") ? "mon:stdio" : "stdio");
    switch (transport) {
    case GUEST_UART:
        put_two(guest, "-device", "isa-serial,chardev=prof,index=1");
        break;
    case GUEST_DEBUGCON:
        put_two(guest, "-device", "isa-debugcon,chardev=prof,iobase=0xe9");
        break;
    case GUEST_VIRTIO:
        put_two(guest, "-device", virtio_serial(words));
        put_two(guest, "-device", "virtconsole,chardev=prof");
        break;
    case GUEST_SERIAL:
        put_two(guest, "-serial", "chardev:prof");
        break;
    case GUEST_SHM:
        put_ram(guest, words);
        break;
    case GUEST_STUB:
        put_two(guest, "-gdb", "chardev:prof");
        put_word(guest, "-S");
        break;
    }
}

static void print_words(const struct guest *guest)
{
    char *line = xstrdup(guest->words[0]);

    for (int i = 1; i + 1 < guest->count; ++i) {
        size_t bytes = strlen(line) + strlen(guest->words[i]) + 4;

        line = xreallocarray(line, bytes, 1);
        sprintf(line + strlen(line),
                strpbrk(guest->words[i], " ") != NULL ? " '%s'" : " %s",
                guest->words[i]);
    }
    log_verbose("starting %s", line);
    free(line);
}

/* Opens (ends) of the stream, and gives the second one to the guest. */
static void open_stream(struct guest *guest, enum guest_transport transport,
                        int *ends)
{
    bool both_ways = transport == GUEST_STUB;
    char chardev[64];

    if ((both_ways ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) !=
        0)
        die("cannot create a pipe: %s", strerror(errno));
    if (!both_ways)
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
    snprintf(chardev, sizeof chardev,
             both_ways ? "socket,id=prof,fd=%d"
                       : "file,id=prof,path=/dev/fd/%d",
             ends[1]);
    put_two(guest, "-chardev", chardev);
}

/* In the child: the guest does not get our own input and output. */
static void redirect_output(const struct guest *guest)
{
    int nothing = open("/dev/null", O_RDONLY);

    dup2(nothing, STDIN_FILENO);
    dup2(fileno(guest->talk), STDOUT_FILENO);
}

/* In the child, which must not outlive us. */
static void exec_guest(struct guest *guest, int errors)
{
    if (guest->talk != NULL)
        redirect_output(guest);
    dup2(errors, STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(guest->words[0], guest->words);
    fprintf(stderr, "%s: %s: %s\n", log_name, guest->words[0], strerror(errno));
    _exit(QEMU_FAILED);
}

void guest_start(struct guest *guest, char **words,
                 enum guest_transport transport, uint32_t hz, int depth)
{
    int ends[2] = {-1, -1}, errors[2] = {-1, -1};

    *guest = (struct guest){.stream = -1, .errors = -1, .talk = guest->talk};
    if (transport == GUEST_STUB)
        put_all_words(guest, words);
    else
        put_users_words(guest, words, transport, hz, depth);
    if (transport != GUEST_SHM)
        open_stream(guest, transport, ends);
    put_device(guest, words, transport);
    put_word(guest, NULL);
    print_words(guest);
    if (pipe2(errors, O_CLOEXEC) != 0)
        die("cannot create a pipe: %s", strerror(errno));
    guest->process = fork();
    if (guest->process < 0)
        die("cannot start a process: %s", strerror(errno));
    if (guest->process == 0) {
        close(ends[0]);
        exec_guest(guest, errors[1]);
    }
    close(ends[1]);
    close(errors[1]);
    guest->stream = ends[0];
    guest->errors = errors[0];
    fcntl(guest->errors, F_SETFL, O_NONBLOCK);
}

struct target guest_target(const struct guest *guest)
{
    return (struct target){.is_ram = guest->ram != NULL,
                           .path = guest->ram,
                           .file = guest->stream};
}

static bool is_in(const char *bytes, size_t count, const char *word)
{
    return memmem(bytes, count, word, strlen(word)) != NULL;
}

void guest_copy_errors(struct guest *guest)
{
    int to = guest->talk != NULL ? fileno(guest->talk) : STDERR_FILENO;
    char bytes[4096];
    ssize_t count;

    for (unsigned i = 0; i < READS_MAX && guest->errors >= 0 &&
                         (count = read(guest->errors, bytes, sizeof bytes)) > 0;
         ++i) {
        if (guest->stopped && is_in(bytes, (size_t)count, ENDED))
            continue;
        if (!is_in(bytes, (size_t)count, WARNING))
            guest->complained = true;
        (void)!write(to, bytes, (size_t)count);
    }
}

bool guest_runs(struct guest *guest)
{
    guest_copy_errors(guest);
    if (!guest->has_status && guest->process > 0)
        guest->has_status =
            waitpid(guest->process, &guest->status, WNOHANG) != 0;
    return !guest->has_status;
}

/* Waits a while for its end. What it still writes is read, for a full pipe
 * would keep it from ending. */
static bool ends_soon(struct guest *guest)
{
    double deadline = seconds_now() + END_SECONDS;

    while (guest_runs(guest)) {
        if (seconds_now() >= deadline)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = END_NAP_NS}, NULL);
    }
    return true;
}

void guest_stop(struct guest *guest)
{
    if (guest->process <= 0 || !guest_runs(guest))
        return;
    guest->stopped = true;
    kill(guest->process, SIGTERM);
    if (!ends_soon(guest)) {
        log_info("%s does not end by SIGTERM; killed", guest->words[0]);
        kill(guest->process, SIGKILL);
        waitpid(guest->process, &guest->status, 0);
        guest->has_status = true;
    }
    guest_copy_errors(guest);
}

int guest_code(const struct guest *guest)
{
    int killed = guest->stopped ? 0 : QEMU_FAILED;
    int status = WIFEXITED(guest->status) ? WEXITSTATUS(guest->status) : killed;

    if (status == QEMU_FAILED || status == 0)
        return status;
    return status % 2 == 1 ? (status - 1) / 2 : QEMU_FAILED;
}

void guest_free(struct guest *guest)
{
    for (int i = 0; i < guest->count; ++i)
        free(guest->words[i]);
    free(guest->words);
    if (guest->stream >= 0)
        close(guest->stream);
    if (guest->errors >= 0)
        close(guest->errors);
    if (guest->ram != NULL)
        unlink(guest->ram);
    free(guest->ram);
}
