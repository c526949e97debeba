/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an ordinary profile and a causal one disagree: a random generator
 * behind a mutex. Clients ask a backend, draw a number and sell a ticket.
 * Meanwhile others compute; so whoever draws lets them run from time to time,
 * as a task should, and has the mutex all the while. The generator takes 4 % of
 * the CPU, and nearly all clients wait for it.
 *
 *     prof.target=draw_number prof.progress=sell_ticket
 *
 * Options: tickets=N, faster=P (the generator really takes P % less)
 */

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/service.h>
#include <kernel/sync.h>
#include <kernel/task.h>
#include <stdlib.h>
#include <string.h>

/*
 * The generator yields four times for a number, three times if it is 25 %
 * faster, and twice at 50 %. That holds if its steps take a quarter to a third
 * of TURN_NS, which leaves an eighth for what the clock takes on i386 and in
 * experiments.
 */
#define CLIENTS 8u
#define WORKERS 4u
#define STEPS 20u            /* of the generator, for a number */
#define STEP_ROUNDS 300u     /* in each of them */
#define WORK_ROUNDS 1045u    /* of a worker, before it yields */
#define TURN_NS 11700u       /* the generator yields after that */
#define BACKEND_NS 12000000u /* a request to it takes at least half of that */
#define TICKETS_MAX 1000000u /* of tickets= */

static struct mutex generator = {.name = "generator"};
static uint32_t state = 2463534242u; /* of the generator */
static unsigned steps = STEPS;
static unsigned tickets = 10000, begun, sold;

static uint32_t stir(uint32_t x, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

/* A turn of the loop, in which timers are served as well: task_yield() serves
 * only what is ready. */
static void let_others_run(void)
{
    task_await(promise_sleep(0));
}

/* The generator, whose mutex is the caller's. */
static __attribute__((noinline)) uint32_t draw_number(void)
{
    uint64_t turn = clock_ns();

    for (unsigned i = 0; i < steps; i++) {
        if (clock_ns() - turn >= TURN_NS) {
            let_others_run();
            turn = clock_ns();
        }
        state = stir(state, STEP_ROUNDS);
    }
    return state;
}

/* A unit of work is done. */
static __attribute__((noinline)) void sell_ticket(uint32_t number)
{
    __asm__ volatile("" : : "r"(number));
    sold++;
}

static uintptr_t serve_client(void *context)
{
    uint32_t number = stir((uint32_t)(uintptr_t)context, 10);

    while (begun < tickets) {
        struct promise_result got;

        begun++;
        task_await(promise_sleep(BACKEND_NS / 2 + number % BACKEND_NS));
        got = task_await(mutex_lock(&generator));
        if (got.state != PROMISE_RESOLVED)
            return task_fail_for(got.why);
        number = draw_number();
        mutex_unlock(&generator);
        sell_ticket(number);
    }
    return 0;
}

/* Has nothing to do with tickets. Of each round's hundred instructions 98 do
 * nothing: most of the run is here, and these cost an emulator hardly anything.
 */
static uintptr_t work_aside(void *unused)
{
    (void)unused;
    while (sold < tickets) {
        uint32_t rounds = WORK_ROUNDS;

        __asm__ volatile("1: .rept 98\n\tnop\n\t.endr\n\tdec %0\n\tjnz 1b"
                         : "+r"(rounds)
                         :
                         : "cc");
        let_others_run();
    }
    return 0;
}

bool service_option(const char *key, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    bool is_number = *value != '\0' && *end == '\0';

    if (strcmp(key, "tickets") == 0) {
        tickets = (unsigned)number;
        return is_number && number >= 1 && number <= TICKETS_MAX;
    }
    if (strcmp(key, "faster") == 0) {
        steps = STEPS * (100 - (unsigned)number) / 100;
        return is_number && number < 100;
    }
    return false;
}

int service_main(void)
{
    struct promise *all[CLIENTS + WORKERS];
    struct promise_result result;
    uint64_t began = clock_ns();
    unsigned us;

    for (uintptr_t i = 0; i < CLIENTS; i++)
        all[i] = task_start("client", serve_client, (void *)(i + 1));
    for (uintptr_t i = 0; i < WORKERS; i++)
        all[CLIENTS + i] = task_start("worker", work_aside, NULL);
    result = task_await(promise_join(all, CLIENTS + WORKERS, NULL));
    if (result.state != PROMISE_RESOLVED) {
        console_line("lottery: %s", result.why->text);
        return 1;
    }
    us = (unsigned)((clock_ns() - began) / 1000);
    console_line("lottery: %u tickets in %u us", sold, us);
    return 0;
}
