/* SPDX-License-Identifier: Apache-2.0 */
/* Stopping a guest, reading it, letting it run. */

#include "gdb/stub.h"

#include "base/signals.h"
#include "gdb/stub_wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TORN_MAX 64       /* stops in a row */
#define ANSWERS_MAX 10000 /* to what was asked before */
#define REGISTERS_BYTES_MAX 16384

/* The current answer as registers of (cpu). */
static bool take_registers(struct stub *stub, struct machine_cpu *cpu)
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

/* Waits for an answer that nothing else can have. */
void stub_resynchronize(struct stub *stub)
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
static bool stop(struct stub *stub)
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

enum machine_stop stub_stop(struct stub *stub)
{
    bool fine;

    if (stub->runs && wire_drain(stub))
        stub->machine.held = true;
    fine = stop(stub);
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

bool stub_read(struct stub *stub, size_t cpu, uint64_t address, size_t bytes)
{
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

bool stub_is_halted(struct stub *stub, size_t cpu)
{
    char text[256];
    size_t count;

    wire_ask(stub, "qThreadExtraInfo,%s", stub->machine.cpus[cpu].thread);
    count = remote_hex(stub->reader.data, stub->reader.used, (uint8_t *)text,
                       sizeof text - 1);
    text[count] = '\0';
    return strstr(text, "halted") != NULL;
}

void stub_continue(struct stub *stub)
{
    stub->runs = true;
    if (stub->machine.held || stub->machine.reason != MACHINE_LIVES)
        return;
    wire_question(stub);
    wire_put(stub, stub->steps_apart ? "vCont;c" : "c");
    wire_send(stub);
}

void stub_end(struct stub *stub)
{
    if (stub->runs && stub->machine.reason == MACHINE_LIVES)
        stub_stop(stub);
    if (stub->machine.reason == MACHINE_LIVES && !stub->machine.held)
        wire_ask(stub, "D");
    if (stub->machine.reason != MACHINE_LIVES)
        wire_let_go(stub);
    signals_at_end(NULL);
    close(stub->file);
    free(stub->machine.cpus);
    stub->machine.cpus = NULL;
}
