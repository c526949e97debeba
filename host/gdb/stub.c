/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stub for GDB as a machine: packets, the beginning of a conversation, stops.
 *
 * Acknowledgements go out before the next packet, never by themselves: QEMU
 * takes any byte that comes while the guest runs for a request to stop it.
 */

#include "gdb/stub.h"

#include "base/memory.h"
#include "base/wait.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define INTERRUPT '\x03'
#define ASK_MAX 512
#define HURRY_SECONDS 1.0  /* for all answers after Ctrl-C */
#define NEWS_MAX 1000      /* packets that answer nothing, in a row */
#define DRAINED_MAX 64     /* buffers */
#define XML_MAX (1u << 18) /* of one file */
#define XML_FILES_MAX 16u
#define XML_PART 0xff0u /* a packet's worth */
#define NAME_MAX_BYTES 64u
#define DIGITS_64 328u    /* of the registers that every x86_64 has */
#define TORN_MAX 64       /* stops in a row */
#define ANSWERS_MAX 10000 /* to what was asked before */
#define REGISTERS_BYTES_MAX 16384

/* ---- packets */

enum wire_answer {
    WIRE_DATA,    /* in stub->reader */
    WIRE_DAMAGED, /* an answer came, but cannot be read */
    WIRE_ENDED,   /* there will be none; stub->machine.reason says why */
};

static void end_with(struct stub *stub, enum machine_reason reason)
{
    if (stub->machine.reason == MACHINE_LIVES)
        stub->machine.reason = reason;
}

static void wire_send(struct stub *stub);

static void put_bytes(struct stub *stub, const char *bytes, size_t count)
{
    if (stub->out_used + count > sizeof stub->out)
        wire_send(stub);
    memcpy(stub->out + stub->out_used, bytes, count);
    stub->out_used += count;
}

/* Queues the acknowledgement that is owed. */
static void wire_put_ack(struct stub *stub)
{
    if (stub->owes_ack && stub->acks)
        put_bytes(stub, "+", 1);
    stub->owes_ack = false;
}

static void put_packet(struct stub *stub, const char *format, va_list words)
{
    char payload[ASK_MAX], packet[ASK_MAX + 8];

    vsnprintf(payload, sizeof payload, format, words);
    wire_put_ack(stub);
    put_bytes(stub, packet, remote_frame(packet, sizeof packet, payload));
}

/* Queues a packet, with the acknowledgement that is owed. */
__attribute__((format(printf, 2, 3))) static void
wire_put(struct stub *stub, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    put_packet(stub, format, words);
    va_end(words);
}

static void wire_put_interrupt(struct stub *stub)
{
    wire_put_ack(stub);
    put_bytes(stub, &(char){INTERRUPT}, 1);
}

/* Begins a question: all its answers are due within stub->timeout, however
 * they come, and soon if a signal has been caught. */
static void wire_question(struct stub *stub)
{
    stub->deadline = seconds_now() + stub->timeout;
}

/* Nothing came in time. */
static void end_late(struct stub *stub)
{
    end_with(stub, signals_caught() ? MACHINE_INTERRUPTED : MACHINE_SILENT);
}

static void wire_send(struct stub *stub)
{
    size_t sent = 0;

    while (sent < stub->out_used && stub->machine.reason == MACHINE_LIVES) {
        ssize_t count =
            send(stub->file, stub->out + sent, stub->out_used - sent,
                 MSG_NOSIGNAL | MSG_DONTWAIT);

        if (count > 0)
            sent += (size_t)count;
        else if (count < 0 && errno != EINTR && errno != EAGAIN)
            end_with(stub, MACHINE_GONE);
        else if (!wait_writable(stub->file, stub->deadline, HURRY_SECONDS))
            end_late(stub);
        stub->cut = sent < stub->out_used;
    }
    stub->out_used = 0;
}

static void take_bytes(struct stub *stub)
{
    ssize_t count = recv(stub->file, stub->in, sizeof stub->in, MSG_DONTWAIT);

    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
        end_with(stub, MACHINE_GONE);
    stub->in_at = 0;
    stub->in_end = count > 0 ? (size_t)count : 0;
}

static enum remote_event feed_reader(struct stub *stub)
{
    while (stub->in_at < stub->in_end) {
        enum remote_event event;

        stub->in_at += remote_feed_plain(&stub->reader, stub->in + stub->in_at,
                                         stub->in_end - stub->in_at);
        if (stub->in_at == stub->in_end)
            break;
        event = remote_feed(&stub->reader, stub->in[stub->in_at++]);
        if (event != REMOTE_MORE) {
            ++stub->packets;
            stub->owes_ack = true;
            return event;
        }
    }
    return REMOTE_MORE;
}

/* The next event of the present question. What has come by its deadline is
 * taken; a stub that sends a byte now and then is late as well. */
static enum remote_event next_event(struct stub *stub)
{
    for (bool late = false; stub->machine.reason == MACHINE_LIVES;) {
        enum remote_event event = feed_reader(stub);

        if (event != REMOTE_MORE)
            return event;
        if (late || !wait_readable(stub->file, stub->deadline, HURRY_SECONDS)) {
            end_late(stub);
            break;
        }
        late = seconds_now() >= wait_deadline(stub->deadline, HURRY_SECONDS);
        take_bytes(stub);
    }
    return REMOTE_MORE;
}

static bool is_stop(struct stub *stub)
{
    return stub->reader.data[0] == 'T' || stub->reader.data[0] == 'S';
}

/* Takes a packet that answers nothing. */
static bool take_news(struct stub *stub)
{
    const char *data = (const char *)stub->reader.data;

    if (is_stop(stub)) {
        ++stub->stops;
        stub->machine.late_stop = stub->answers > 0;
        return true;
    }
    if (data[0] == 'W' || data[0] == 'X') {
        end_with(stub, MACHINE_EXITED);
        return true;
    }
    return data[0] == 'O' && strcmp(data, "OK") != 0;
}

/* The next packet that is an answer. Stop replies before it are counted in
 * stub->stops, other output is skipped; a later one loses what was asked. */
static enum wire_answer wire_receive(struct stub *stub)
{
    for (unsigned i = 0; i < NEWS_MAX; ++i) {
        enum remote_event event = next_event(stub);

        if (event == REMOTE_MORE)
            return WIRE_ENDED;
        if (event == REMOTE_DAMAGED)
            return WIRE_DAMAGED;
        if (!take_news(stub)) {
            ++stub->answers;
            return WIRE_DATA;
        }
        if (stub->machine.late_stop)
            return WIRE_DAMAGED;
    }
    end_with(stub, MACHINE_NONSENSE);
    return WIRE_ENDED;
}

/* Waits for a stop reply; false if none comes. */
static bool wire_receive_stop(struct stub *stub)
{
    for (unsigned i = 0; stub->stops == 0 && i < NEWS_MAX; ++i) {
        if (next_event(stub) == REMOTE_MORE)
            return false;
        take_news(stub);
    }
    return stub->stops > 0;
}

/* Takes what came without being asked for; true if that was a stop. */
static bool wire_drain(struct stub *stub)
{
    unsigned before = stub->stops;

    for (unsigned buffers = 0; buffers < DRAINED_MAX;) {
        enum remote_event event = feed_reader(stub);

        if (event == REMOTE_PACKET)
            take_news(stub);
        if (event != REMOTE_MORE)
            continue;
        if (stub->machine.reason != MACHINE_LIVES ||
            !wait_readable(stub->file, 0, 0))
            break;
        take_bytes(stub);
        ++buffers;
    }
    return stub->stops != before;
}

/* Sends a packet; its answer, "" = none, is valid until the next one. */
__attribute__((format(printf, 2, 3))) static const char *
wire_ask_on(struct stub *stub, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    put_packet(stub, format, words);
    va_end(words);
    wire_send(stub);
    if (wire_receive(stub) != WIRE_DATA)
        return "";
    return (const char *)stub->reader.data;
}

/* A question of one packet. */
#define wire_ask(stub, ...)                                                    \
    (wire_question(stub), wire_ask_on(stub, __VA_ARGS__))

/* Reads until the whole of (answer) has come. Closing a socket with unread
 * bytes could take back what was sent. */
static void wait_for_answer(int file, const char *answer)
{
    double deadline = seconds_now() + HURRY_SECONDS;
    struct pollfd wait = {.fd = file, .events = POLLIN};
    size_t matched = 0;
    char bytes[256];

    while (answer[matched] != '\0' && seconds_now() < deadline) {
        ssize_t count = 0;

        if (poll(&wait, 1, (int)(HURRY_SECONDS * 1000)) > 0)
            count = recv(file, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count <= 0)
            return;
        for (ssize_t i = 0; i < count && answer[matched] != '\0'; ++i)
            matched = bytes[i] == answer[matched] ? matched + 1
                                                  : bytes[i] == answer[0];
    }
}

/* Whatever has been sent: has the guest run without us, unless somebody else
 * held it. For a signal handler, too. A stop, so that the rest is read at all,
 * and "detach", after the end of a packet that was sent in part. */
static void wire_let_go(struct stub *stub)
{
    static const char bytes[] = "#00\x03$D#44";
    size_t skipped = stub->cut ? 0 : 3;

    if (stub->machine.held || stub->machine.reason == MACHINE_EXITED ||
        stub->machine.reason == MACHINE_GONE)
        return;
    if (send(stub->file, bytes + skipped, sizeof bytes - 1 - skipped,
             MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        wait_for_answer(stub->file, "$OK#9a");
}

/* ---- the beginning of a conversation with a stub: what it is, and its CPUs */

/* Whether (feature) is among those that the stub reports as (reply). */
static bool has_feature(const char *reply, const char *feature)
{
    size_t bytes = strlen(feature);

    for (const char *at = reply; (at = strstr(at, feature)) != NULL; ++at) {
        if ((at == reply || at[-1] == ';') &&
            (at[bytes] == ';' || at[bytes] == '\0'))
            return true;
    }
    return false;
}

/* Reads the file (name) of the description; NULL if there is none. */
static char *read_xml(struct stub *stub, const char *name)
{
    char *xml = NULL;
    size_t used = 0;

    for (;;) {
        const char *answer = wire_ask_on(stub, "qXfer:features:read:%s:%zx,%x",
                                         name, used, XML_PART);
        size_t bytes = stub->reader.used;

        if ((answer[0] != 'l' && answer[0] != 'm') || bytes == 0 ||
            used + bytes > XML_MAX || (answer[0] == 'm' && bytes == 1)) {
            free(xml);
            return NULL;
        }
        xml = xreallocarray(xml, used + bytes, 1);
        memcpy(xml + used, answer + 1, bytes - 1);
        used += bytes - 1;
        xml[used] = '\0';
        if (answer[0] == 'l')
            return xml;
    }
}

/* The description is one question, in however many pieces it comes. */
static void read_layout(struct stub *stub)
{
    char *target, name[NAME_MAX_BYTES];

    wire_question(stub);
    target = read_xml(stub, "target.xml");
    if (target == NULL)
        return;
    registers_add_xml(&stub->layout, target);
    for (unsigned i = 0;
         i < XML_FILES_MAX && registers_included(target, i, name, sizeof name);
         ++i) {
        char *part = read_xml(stub, name);

        if (part != NULL)
            registers_add_xml(&stub->layout, part);
        free(part);
    }
    free(target);
}

static void add_cpu(struct stub *stub, const char *thread, size_t bytes)
{
    struct machine_cpu *cpu;

    if (stub->machine.cpu_count == MACHINE_CPUS_MAX || bytes == 0 ||
        bytes >= sizeof cpu->thread)
        return;
    vector_reserve_one(&stub->machine.cpus, stub->machine.cpu_count,
                       sizeof *stub->machine.cpus);
    cpu = &stub->machine.cpus[stub->machine.cpu_count++];
    memset(cpu, 0, sizeof *cpu);
    memcpy(cpu->thread, thread, bytes);
}

static void read_cpus(struct stub *stub)
{
    const char *answer = wire_ask(stub, "qfThreadInfo");

    for (unsigned i = 0; answer[0] == 'm' && i < MACHINE_CPUS_MAX; ++i) {
        for (const char *at = answer + 1; *at != '\0';) {
            size_t bytes = strcspn(at, ",");

            add_cpu(stub, at, bytes);
            at += bytes + (at[bytes] == ',');
        }
        answer = wire_ask_on(stub, "qsThreadInfo");
    }
    if (stub->machine.cpu_count == 0)
        add_cpu(stub, "0", 1);
}

/* A packet is small and its answer is waited for. */
static void do_not_delay(int file)
{
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

/* Stops the guest, reads it, lets it run: below. */
static const struct machine_calls calls;

static struct stub *begun;

static void let_go(void)
{
    wire_let_go(begun);
}

bool stub_begin(struct stub *stub, int file, double timeout)
{
    const char *answer;
    bool quiet, described;

    *stub = (struct stub){.machine.calls = &calls,
                          .file = file,
                          .timeout = timeout,
                          .acks = true,
                          .current = SIZE_MAX};
    begun = stub;
    signals_at_end(let_go);
    do_not_delay(file);
    answer = wire_ask(stub, "qSupported:qXfer:features:read+;vContSupported+");
    stub->binary = has_feature(answer, "binary-upload+");
    quiet = has_feature(answer, "QStartNoAckMode+");
    described = has_feature(answer, "qXfer:features:read+");
    if (quiet && strcmp(wire_ask(stub, "QStartNoAckMode"), "OK") == 0) {
        wire_put_ack(stub);
        stub->acks = false;
    }
    if (described)
        read_layout(stub);
    if (stub->machine.reason == MACHINE_LIVES)
        read_cpus(stub);
    /* It says so if a connection stops the guest; otherwise it was paused. */
    if (stub->machine.reason == MACHINE_LIVES)
        stub->is_qemu =
            strncmp(wire_ask(stub, "qqemu.sstepbits"), "ENABLE=", 7) == 0;
    stub->machine.held = stub->is_qemu && stub->stops == 0;
    if (stub->machine.reason == MACHINE_LIVES && !stub->layout.described)
        stub->layout.is_64 = strlen(wire_ask(stub, "g")) >= DIGITS_64;
    if (stub->machine.reason == MACHINE_LIVES && !stub->is_qemu) {
        stub->steps_apart =
            strncmp(wire_ask(stub, "vCont?"), "vCont;c", 7) == 0;
        if (stub->machine.reason == MACHINE_LIVES)
            (void)wire_ask(stub, "Hc-1");
    }
    stub->machine.is_64 = stub->layout.is_64;
    return stub->machine.reason == MACHINE_LIVES && stub->packets > 0;
}

/* ---- stopping a guest, reading it, letting it run */

static struct stub *stub_of(struct machine *machine)
{
    return (struct stub *)machine;
}

/* The answer to "g" as bytes, at most REGISTERS_BYTES_MAX. */
static size_t register_bytes(struct stub *stub, uint8_t *bytes)
{
    uint8_t *digits = stub->reader.data;

    for (size_t i = 0; i < stub->reader.used; ++i) {
        if (digits[i] == 'x') /* not available */
            digits[i] = '0';
    }
    return remote_hex(digits, stub->reader.used, bytes, REGISTERS_BYTES_MAX);
}

static bool take_registers(struct stub *stub, struct machine_cpu *cpu)
{
    uint8_t bytes[REGISTERS_BYTES_MAX];
    size_t count = register_bytes(stub, bytes);

    return count > 0 &&
           registers_take(&stub->layout, bytes, count, &cpu->registers);
}

static bool take_memory(struct stub *stub, struct machine_cpu *cpu,
                        uint64_t address)
{
    const struct remote_reader *reader = &stub->reader;
    size_t count;

    cpu->window_bytes = 0;
    if (stub->binary && reader->used > 1 && reader->data[0] == 'b') {
        count = reader->used - 1 < sizeof cpu->bytes ? reader->used - 1
                                                     : sizeof cpu->bytes;
        memcpy(cpu->bytes, reader->data + 1, count);
    } else {
        count = remote_hex(reader->data, reader->used, cpu->bytes,
                           sizeof cpu->bytes);
        if (reader->data[0] == 'E' && reader->used == 3)
            count = 0;
    }
    cpu->window = address;
    cpu->window_bytes = count;
    return count > 0;
}

static void put_read(struct stub *stub, uint64_t address, size_t bytes)
{
    wire_put(stub, "%c%" PRIx64 ",%zx", stub->binary ? 'x' : 'm', address,
             bytes);
}

/* Has the stub read from (cpu); true if an answer will come. */
static bool put_choice(struct stub *stub, size_t cpu)
{
    if (stub->current == cpu)
        return false;
    stub->current = cpu;
    wire_put(stub, "Hg%s", stub->machine.cpus[cpu].thread);
    return true;
}

/* The answer to put_choice(). A stub that refuses goes on to show another CPU,
 * which matters if there are several. */
static bool receive_choice(struct stub *stub)
{
    const char *answer = (const char *)stub->reader.data;

    if (wire_receive(stub) != WIRE_DATA)
        return false;
    if (strcmp(answer, "OK") == 0 || stub->machine.cpu_count == 1)
        return true;
    if (answer[0] == '\0' || answer[0] == 'E')
        stub->machine.reason = MACHINE_ONE_CPU;
    return false;
}

/* The answers to put_choice(), "g" and a read, as far as they were sent. */
static bool receive_cpu(struct stub *stub, struct machine_cpu *cpu, bool chosen)
{
    bool fine = !chosen || receive_choice(stub);

    fine = wire_receive(stub) == WIRE_DATA && take_registers(stub, cpu) && fine;
    cpu->window_bytes = 0;
    if (cpu->guess != 0 && wire_receive(stub) == WIRE_DATA)
        take_memory(stub, cpu, cpu->guess);
    return fine;
}

static void put_cpu(struct stub *stub, size_t number, bool *chosen)
{
    struct machine_cpu *cpu = &stub->machine.cpus[number];

    *chosen = put_choice(stub, number);
    wire_put(stub, "g");
    if (cpu->guess != 0)
        put_read(stub, cpu->guess, cpu->guess_bytes);
}

static bool receive_together(struct stub *stub)
{
    bool chosen[MACHINE_CPUS_MAX], fine = true;

    for (size_t i = 0; i < stub->machine.cpu_count; ++i)
        put_cpu(stub, i, &chosen[i]);
    wire_send(stub);
    for (size_t i = 0; i < stub->machine.cpu_count && !stub->machine.late_stop;
         ++i)
        fine = receive_cpu(stub, &stub->machine.cpus[i], chosen[i]) && fine;
    return fine && !stub->machine.late_stop;
}

static bool receive_apart(struct stub *stub)
{
    bool fine = true;

    for (size_t i = 0;
         i < stub->machine.cpu_count && stub->machine.reason == MACHINE_LIVES;
         ++i) {
        struct machine_cpu *cpu = &stub->machine.cpus[i];
        bool chosen = put_choice(stub, i);

        wire_question(stub);
        wire_send(stub);
        if (chosen)
            fine = receive_choice(stub) && fine;
        wire_ask(stub, "g");
        fine = take_registers(stub, cpu) && fine;
        cpu->window_bytes = 0;
    }
    return fine && !stub->machine.late_stop;
}

/* After a late stop: waits until what comes belongs to what is asked, by an
 * answer that nothing else can have, and counts a torn sample. */
static void stub_resynchronize(struct stub *stub)
{
    stub->answers = 0;
    stub->machine.late_stop = false;
    wire_question(stub);
    wire_put(stub, "vMustReplyEmpty");
    wire_send(stub);
    for (unsigned i = 0; stub->machine.reason == MACHINE_LIVES; ++i) {
        if (i == ANSWERS_MAX)
            stub->machine.reason = MACHINE_NONSENSE;
        if (wire_receive(stub) == WIRE_DATA && stub->reader.used == 0)
            break;
        stub->answers = 0;
        stub->machine.late_stop = false;
    }
    stub->current = SIZE_MAX;
    ++stub->machine.torn;
    if (++stub->torn_in_row >= TORN_MAX &&
        stub->machine.reason == MACHINE_LIVES)
        stub->machine.reason = MACHINE_NONSENSE;
}

/* Stops the guest, if it runs, and takes what there is. */
static bool stop_and_receive(struct stub *stub)
{
    bool fine;

    stub->stops = stub->answers = 0;
    stub->machine.late_stop = false;
    wire_question(stub);
    if (stub->runs)
        wire_put_interrupt(stub);
    if (stub->is_qemu)
        return receive_together(stub);
    wire_send(stub);
    fine = !stub->runs || wire_receive_stop(stub);
    return fine && receive_apart(stub);
}

static enum machine_stop stub_stop(struct machine *machine)
{
    struct stub *stub = stub_of(machine);
    bool fine;

    if (stub->runs && wire_drain(stub))
        stub->machine.held = true;
    fine = stop_and_receive(stub);
    if (stub->machine.reason != MACHINE_LIVES)
        return MACHINE_ENDED;
    if (stub->runs)
        stub->machine.held = stub->stops == 0;
    stub->runs = false;
    if (!fine) {
        stub_resynchronize(stub);
        return stub->machine.reason == MACHINE_LIVES ? MACHINE_TORN
                                                     : MACHINE_ENDED;
    }
    stub->torn_in_row = 0;
    return stub->machine.held ? MACHINE_HELD : MACHINE_STOPPED;
}

static bool stub_read(struct machine *machine, size_t cpu, uint64_t address,
                      size_t bytes)
{
    struct stub *stub = stub_of(machine);
    bool chosen = put_choice(stub, cpu), fine = true;

    wire_question(stub);
    put_read(stub, address,
             bytes < MACHINE_WINDOW_MAX ? bytes : MACHINE_WINDOW_MAX);
    wire_send(stub);
    if (chosen)
        fine = receive_choice(stub);
    return wire_receive(stub) == WIRE_DATA &&
           take_memory(stub, &stub->machine.cpus[cpu], address) && fine;
}

static bool stub_is_halted(struct machine *machine, size_t cpu)
{
    struct stub *stub = stub_of(machine);
    char text[256];
    size_t count;

    if (!stub->is_qemu) /* others do not say */
        return true;
    wire_ask(stub, "qThreadExtraInfo,%s", stub->machine.cpus[cpu].thread);
    count = remote_hex(stub->reader.data, stub->reader.used, (uint8_t *)text,
                       sizeof text - 1);
    text[count] = '\0';
    return strstr(text, "halted") != NULL;
}

static bool stub_registers(struct machine *machine, size_t cpu,
                           struct register_values *values)
{
    struct stub *stub = stub_of(machine);
    uint8_t bytes[REGISTERS_BYTES_MAX];
    bool chosen = put_choice(stub, cpu), fine = true;
    size_t count;

    wire_question(stub);
    wire_put(stub, "g");
    wire_send(stub);
    if (chosen)
        fine = receive_choice(stub);
    if (wire_receive(stub) != WIRE_DATA || !fine)
        return false;
    count = register_bytes(stub, bytes);
    registers_read(&stub->layout, bytes, count, values);
    return count > 0;
}

static void stub_continue(struct machine *machine)
{
    struct stub *stub = stub_of(machine);

    if (machine->late_stop)
        stub_resynchronize(stub);
    stub->runs = true;
    if (stub->machine.held || stub->machine.reason != MACHINE_LIVES)
        return;
    wire_question(stub);
    wire_put(stub, stub->steps_apart ? "vCont;c" : "c");
    wire_send(stub);
}

static void stub_end(struct machine *machine)
{
    struct stub *stub = stub_of(machine);

    if (stub->runs && stub->machine.reason == MACHINE_LIVES)
        stub_stop(machine);
    if (stub->machine.reason == MACHINE_LIVES && !stub->machine.held)
        wire_ask(stub, "D");
    if (stub->machine.reason != MACHINE_LIVES)
        wire_let_go(stub);
    signals_at_end(NULL);
    close(stub->file);
    free(stub->machine.cpus);
    stub->machine.cpus = NULL;
}

static const struct machine_calls calls = {
    stub_stop,      stub_read,     stub_is_halted,
    stub_registers, stub_continue, stub_end,
};
