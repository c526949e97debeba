/* SPDX-License-Identifier: Apache-2.0 */
/* Stopping a guest, reading it, letting it run. */

#include "attach/stub.h"

#include "attach/stub_wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TORN_MAX 64       /* stops in a row */
#define ANSWERS_MAX 10000 /* to what was asked before */
#define REGISTERS_BYTES_MAX 16384

/* The current answer as registers of (cpu). */
static bool take_registers(struct stub *stub, struct stub_cpu *cpu)
{
    uint8_t bytes[REGISTERS_BYTES_MAX];
    uint8_t *digits = stub->reader.data;
    size_t count;

    for (size_t i = 0; i < stub->reader.used; ++i) {
        if (digits[i] == 'x') /* not available */
            digits[i] = '0';
    }
    count = remote_hex(digits, stub->reader.used, bytes, sizeof bytes);
    return count > 0 &&
           registers_take(&stub->layout, bytes, count, &cpu->registers);
}

/* The current answer as memory from (address). */
static bool take_memory(struct stub *stub, struct stub_cpu *cpu,
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
    wire_put(stub, "Hg%s", stub->cpus[cpu].thread);
    return true;
}

/* The answers to put_choice(), "g" and a read, as far as they were sent. */
static bool receive_cpu(struct stub *stub, struct stub_cpu *cpu, bool chosen)
{
    bool fine = true;

    if (chosen)
        fine = wire_receive(stub) == WIRE_DATA;
    fine = wire_receive(stub) == WIRE_DATA && take_registers(stub, cpu) && fine;
    cpu->window_bytes = 0;
    if (cpu->guess != 0 && wire_receive(stub) == WIRE_DATA)
        take_memory(stub, cpu, cpu->guess);
    return fine;
}

static void put_cpu(struct stub *stub, size_t number, bool *chosen)
{
    struct stub_cpu *cpu = &stub->cpus[number];

    *chosen = put_choice(stub, number);
    wire_put(stub, "g");
    if (cpu->guess != 0)
        put_read(stub, cpu->guess, stub->guess_bytes);
}

static bool receive_together(struct stub *stub)
{
    bool chosen[STUB_CPUS_MAX], fine = true;

    for (size_t i = 0; i < stub->cpu_count; ++i)
        put_cpu(stub, i, &chosen[i]);
    wire_send(stub);
    for (size_t i = 0; i < stub->cpu_count && !stub->late_stop; ++i)
        fine = receive_cpu(stub, &stub->cpus[i], chosen[i]) && fine;
    return fine && !stub->late_stop;
}

static bool receive_apart(struct stub *stub)
{
    bool fine = true;

    for (size_t i = 0; i < stub->cpu_count && stub->reason == STUB_LIVES; ++i) {
        struct stub_cpu *cpu = &stub->cpus[i];
        bool chosen = put_choice(stub, i);

        wire_send(stub);
        if (chosen)
            fine = wire_receive(stub) == WIRE_DATA && fine;
        wire_ask(stub, "g");
        fine = take_registers(stub, cpu) && fine;
        cpu->window_bytes = 0;
    }
    return fine && !stub->late_stop;
}

/* Waits for an answer that nothing else can have. */
void stub_settle(struct stub *stub)
{
    stub->answers = 0;
    stub->late_stop = false;
    wire_put(stub, "vMustReplyEmpty");
    wire_send(stub);
    for (unsigned i = 0; stub->reason == STUB_LIVES; ++i) {
        if (i == ANSWERS_MAX)
            stub->reason = STUB_NONSENSE;
        if (wire_receive(stub) == WIRE_DATA && stub->reader.used == 0)
            break;
        stub->answers = 0;
        stub->late_stop = false;
    }
    stub->current = SIZE_MAX;
    ++stub->torn;
    if (++stub->torn_in_row >= TORN_MAX && stub->reason == STUB_LIVES)
        stub->reason = STUB_NONSENSE;
}

/* Stops the guest, if it runs, and takes what there is. */
static bool stop(struct stub *stub)
{
    bool fine;

    stub->stops = stub->answers = 0;
    stub->late_stop = false;
    if (stub->runs)
        wire_put_interrupt(stub);
    if (stub->is_qemu)
        return receive_together(stub);
    wire_send(stub);
    fine = !stub->runs || wire_receive_stop(stub);
    return fine && receive_apart(stub);
}

enum stub_stop stub_stop(struct stub *stub)
{
    bool fine;

    if (stub->runs && wire_drain(stub))
        stub->held = true;
    fine = stop(stub);
    if (stub->reason != STUB_LIVES)
        return STUB_ENDED;
    if (stub->runs)
        stub->held = stub->stops == 0;
    stub->runs = false;
    if (!fine) {
        stub_settle(stub);
        return stub->reason == STUB_LIVES ? STUB_TORN : STUB_ENDED;
    }
    stub->torn_in_row = 0;
    return stub->held ? STUB_HELD : STUB_STOPPED;
}

bool stub_read(struct stub *stub, size_t cpu, uint64_t address, size_t bytes)
{
    bool chosen = put_choice(stub, cpu), fine = true;

    put_read(stub, address, bytes < STUB_WINDOW_MAX ? bytes : STUB_WINDOW_MAX);
    wire_send(stub);
    if (chosen)
        fine = wire_receive(stub) == WIRE_DATA;
    return wire_receive(stub) == WIRE_DATA &&
           take_memory(stub, &stub->cpus[cpu], address) && fine;
}

bool stub_is_halted(struct stub *stub, size_t cpu)
{
    char text[256];
    size_t count;

    wire_ask(stub, "qThreadExtraInfo,%s", stub->cpus[cpu].thread);
    count = remote_hex(stub->reader.data, stub->reader.used, (uint8_t *)text,
                       sizeof text - 1);
    text[count] = '\0';
    return strstr(text, "halted") != NULL;
}

void stub_continue(struct stub *stub)
{
    stub->runs = true;
    if (stub->held || stub->reason != STUB_LIVES)
        return;
    wire_put(stub, stub->steps_apart ? "vCont;c" : "c");
    wire_send(stub);
}

void stub_end(struct stub *stub)
{
    if (stub->runs && stub->reason == STUB_LIVES)
        stub_stop(stub);
    if (stub->reason == STUB_LIVES && !stub->held)
        wire_ask(stub, "D");
    close(stub->file);
    free(stub->cpus);
    stub->cpus = NULL;
}

const char *stub_reason_text(enum stub_reason reason)
{
    switch (reason) {
    case STUB_LIVES:
        break;
    case STUB_EXITED:
        return "the guest has ended";
    case STUB_GONE:
        return "the connection was closed";
    case STUB_SILENT:
        return "the stub does not answer";
    case STUB_NONSENSE:
        return "the stub's answers make no sense";
    }
    return "it is connected";
}
