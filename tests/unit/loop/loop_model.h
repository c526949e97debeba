/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOOP_MODEL_H
#define LOOP_MODEL_H

/*
 * The statistics of the event loop a second time, as simply as can be: time
 * passes in steps, each of which is added to whoever runs and to all sites
 * that have created it. Programs are lists of steps, done to both, and then
 * both are compared.
 */

#include "../unit.h"

#include "loop/loop.h"

#include <prof/loop_stats.h>

#define MODEL_HZ 1000000u
#define MODEL_TASKS 24u
#define MODEL_SITES 12u
#define MODEL_DEPTH 40u
#define MODEL_CALLS 4096u
#define MODEL_LIVE (MODEL_TASKS + MODEL_DEPTH) /* calls at a time */

/* What a step does, to task or site (a): a letter of model_program(). */
struct step {
    char what;
    unsigned a, b;
    uint64_t n; /* cycles */
};

struct model_site {
    uint64_t own, total, calls, ends[3], runs, delays, delay, walls, wall;
    uint64_t longest;
    uint64_t owns, own_sum, own_longest; /* of calls that have ended */
    unsigned pending;
};

/* A task's life, which may go on in a callback after its end. */
struct model_call {
    uint64_t own;
    unsigned site, frames; /* on the stack */
    bool ended;
};

struct model_task {
    struct prof_loop_task real;
    bool exists, running, ended, ready;
    unsigned call;       /* and the object's number */
    unsigned site, mask; /* mask: bits of the site and of its creators */
    uint64_t created, ready_at;
};

struct model_frame {
    struct prof_loop_frame real;
    char kind; /* t task, b callback, n loop, i idle */
    struct model_task *task;
    unsigned call; /* whose life it is in, 0 = none */
    unsigned site, mask;
    uint64_t own;
};

static struct model_site sites[MODEL_SITES];
static struct model_task tasks[MODEL_TASKS];
static struct model_frame frames[MODEL_DEPTH];
static struct model_call calls[MODEL_CALLS];
static unsigned last_call;
static bool counts_calls; /* from the next model_open() on */
static unsigned depth;    /* frames[0] is the loop */
static bool in_irq;
static uint64_t model_wall, model_idle, model_loop, model_irq, model_sampler;

static struct prof_trace_name names[MODEL_SITES];
static void *loop_memory, *calls_memory;

static void model_open(size_t bytes)
{
    static char texts[MODEL_SITES][3];

    prof_loop_forget();
    if (loop_memory == NULL)
        loop_memory = malloc(bytes); /* of the same size in each program */
    prof_loop_hosted_tsc = 1000;
    prof_cpus[0].interrupt_cycles = prof_cpus[0].observed_cycles = 0;
    assert_int_equal(prof_loop_open(loop_memory, bytes, MODEL_HZ), 0);
    if (calls_memory == NULL)
        calls_memory = malloc(prof_loop_calls_bytes(MODEL_LIVE));
    if (counts_calls)
        assert_int_equal(prof_loop_count_calls(calls_memory, MODEL_LIVE), 0);
    memset(calls, 0, (last_call + 1) * sizeof *calls);
    last_call = 0;
    for (unsigned i = 0; i < MODEL_SITES; i++) {
        snprintf(texts[i], sizeof texts[i], "%c", 'A' + (int)i);
        names[i] = (struct prof_trace_name){.text = texts[i]};
    }
    memset(sites, 0, sizeof sites);
    memset(tasks, 0, sizeof tasks);
    memset(frames, 0, sizeof frames);
    frames[0].kind = 'n';
    depth = 1;
    in_irq = false;
    model_wall = model_idle = model_loop = model_irq = model_sampler = 0;
}

static inline void model_close(void)
{
    prof_loop_forget();
    free(loop_memory);
    free(calls_memory);
    loop_memory = calls_memory = NULL;
}

/* ---- time */

static void credit(const struct model_frame *frame, uint64_t cycles)
{
    if (frame->kind == 'i')
        model_idle += cycles;
    if (frame->kind == 'n')
        model_loop += cycles;
    if (frame->kind == 'i' || frame->kind == 'n')
        return;
    sites[frame->site].own += cycles;
    for (unsigned i = 0; i < MODEL_SITES; i++)
        if ((frame->mask >> i & 1) != 0)
            sites[i].total += cycles;
}

static void pass(uint64_t cycles)
{
    prof_loop_hosted_tsc += cycles;
    model_wall += cycles;
    if (in_irq) {
        model_irq += cycles;
    } else {
        frames[depth - 1].own += cycles;
    }
}

/* ---- frames */

static void push(char kind, struct model_task *task, unsigned site,
                 unsigned mask)
{
    frames[depth++] = (struct model_frame){
        .kind = kind, .task = task, .site = site, .mask = mask};
}

static void end_call(unsigned number)
{
    const struct model_call *call = &calls[number];
    struct model_site *site = &sites[call->site];

    if (!call->ended || call->frames != 0 || !counts_calls)
        return;
    site->owns++;
    site->own_sum += call->own;
    if (call->own > site->own_longest)
        site->own_longest = call->own;
}

static void leave_call(const struct model_frame *frame)
{
    if (frame->call == 0)
        return;
    calls[frame->call].own += frame->own;
    calls[frame->call].frames--;
    end_call(frame->call);
}

static void enter_call(unsigned call)
{
    frames[depth - 1].call = call;
    calls[call].frames++;
}

static void pop(void)
{
    struct model_frame *frame = &frames[--depth];
    struct model_site *site = &sites[frame->site];

    if (frame->task != NULL && frame->kind == 't') {
        frame->task->running = false;
        frame->task->ready = false;
        frame->mask = frame->task->mask;
    }
    credit(frame, frame->own);
    leave_call(frame);
    if (frame->kind == 'i' || frame->kind == 'n')
        return;
    site->runs++;
    if (frame->own > site->longest)
        site->longest = frame->own;
}

static void count_delay_of(struct model_task *task)
{
    if (!task->ready)
        return;
    sites[task->site].delays++;
    sites[task->site].delay += prof_loop_hosted_tsc - task->ready_at;
}

/* ---- steps. Those that make no sense here do nothing. */

static void do_create(unsigned a, unsigned site)
{
    struct model_task *task = &tasks[a];
    const struct model_frame *creator = &frames[depth - 1];
    unsigned mask = 0;

    if (task->exists && !task->ended)
        return;
    if (task->exists && task->running)
        return;
    if (creator->kind == 't')
        mask = creator->task->mask;
    else if (creator->kind == 'b')
        mask = creator->mask;
    assert_true(++last_call < MODEL_CALLS);
    calls[last_call] = (struct model_call){.site = site};
    *task = (struct model_task){.exists = true,
                                .call = last_call,
                                .site = site,
                                .mask = mask | 1u << site,
                                .created = prof_loop_hosted_tsc};
    sites[site].calls++;
    sites[site].pending++;
    prof_loop_create(&task->real, &names[site], task->call);
}

static void do_run(unsigned a)
{
    struct model_task *task = &tasks[a];

    if (!task->exists || task->running || task->ended || depth == MODEL_DEPTH)
        return;
    count_delay_of(task);
    task->running = true;
    push('t', task, task->site, task->mask);
    enter_call(task->call);
    prof_loop_run(&task->real);
}

static void do_pause(void)
{
    struct model_frame *top = &frames[depth - 1];

    if (top->kind != 't')
        return;
    prof_loop_pause(&top->task->real);
    pop();
}

static void do_wake(unsigned a)
{
    struct model_task *task = &tasks[a];

    if (!task->exists || task->ended)
        return;
    if (!task->ready)
        task->ready_at = prof_loop_hosted_tsc;
    task->ready = true;
    prof_loop_wake(&task->real);
}

static void do_end(unsigned a, enum prof_loop_end how)
{
    struct model_task *task = &tasks[a];

    if (!task->exists || task->ended)
        return;
    task->ended = true;
    sites[task->site].ends[how]++;
    sites[task->site].pending--;
    sites[task->site].walls++;
    sites[task->site].wall += prof_loop_hosted_tsc - task->created;
    calls[task->call].ended = true;
    end_call(task->call);
    prof_loop_end(&task->real, how);
}

static void do_begin(char kind, unsigned site)
{
    struct model_frame *frame = &frames[depth];

    if (depth == MODEL_DEPTH)
        return;
    push(kind, NULL, site, 1u << site);
    if (kind == 'b')
        prof_loop_begin(&frame->real, &names[site]);
    else if (kind == 'n')
        prof_loop_nest(&frame->real);
    else
        prof_loop_idle(&frame->real);
}

/* A callback of a task, which may end in it. */
static void do_begin_for(unsigned a)
{
    struct model_task *task = &tasks[a];

    if (!task->exists || task->ended || task->running || depth == MODEL_DEPTH)
        return;
    count_delay_of(task);
    task->ready = false;
    push('b', NULL, task->site, task->mask);
    enter_call(task->call);
    prof_loop_begin_for(&frames[depth - 1].real, &task->real);
}

static void do_leave(void)
{
    struct model_frame *top = &frames[depth - 1];

    if (depth == 1 || top->kind == 't')
        return;
    if (top->kind == 'i')
        prof_loop_idle_end(&top->real);
    else
        prof_loop_leave(&top->real);
    pop();
}

static void do_adopt(unsigned a, unsigned b)
{
    struct model_task *task = &tasks[a], *parent = &tasks[b];
    bool nobody = a == b || !parent->exists;

    if (!task->exists || task->ended)
        return;
    task->mask = 1u << task->site | (nobody ? 0 : parent->mask);
    prof_loop_adopt(&task->real, nobody ? NULL : &parent->real);
}

static void do_irq(uint64_t n)
{
    prof_loop_irq_enter();
    in_irq = true;
    pass(n);
    in_irq = false;
    prof_loop_irq_exit();
}

/* An interrupt in whose middle a task is woken. */
static void do_wake_in_irq(unsigned a, uint64_t n)
{
    prof_loop_irq_enter();
    in_irq = true;
    pass(n);
    do_wake(a);
    pass(n);
    in_irq = false;
    prof_loop_irq_exit();
}

/* The sampler interrupts, within an interrupt of the kernel's or alone. */
static void do_sample(uint64_t n, bool nested)
{
    if (nested)
        prof_loop_irq_enter();
    prof_loop_hosted_tsc += n;
    prof_cpus[0].interrupt_cycles += n;
    model_wall += n;
    model_sampler += n;
    if (nested)
        prof_loop_irq_exit();
}

static void do_reset(void)
{
    memset(sites, 0, sizeof sites);
    for (unsigned i = 0; i < MODEL_TASKS; i++)
        if (tasks[i].exists && !tasks[i].ended)
            sites[tasks[i].site].pending++;
    for (unsigned i = 0; i < depth; i++)
        frames[i].own = 0;
    model_wall = model_idle = model_loop = model_irq = model_sampler = 0;
    prof_loop_reset();
}

static void do_step(const struct step *step)
{
    switch (step->what) {
    case 'c':
        do_create(step->a, step->b);
        break;
    case 'r':
        do_run(step->a);
        break;
    case 'p':
        do_pause();
        break;
    case 'w':
        do_wake(step->a);
        break;
    case 'e':
        do_end(step->a, PROF_LOOP_RESOLVED);
        break;
    case 'f':
        do_end(step->a, PROF_LOOP_FAILED);
        break;
    case 'x':
        do_end(step->a, PROF_LOOP_CANCELLED);
        break;
    case 'b':
    case 'n':
        do_begin(step->what, step->a);
        break;
    case 'i':
        if (depth == 1 || frames[depth - 1].kind == 'n')
            do_begin('i', 0);
        break;
    case 'k':
        do_begin_for(step->a);
        break;
    case 'l':
        do_leave();
        break;
    case 'a':
        do_adopt(step->a, step->b);
        break;
    case 'q':
        do_irq(step->n);
        break;
    case 'v':
        do_wake_in_irq(step->a, step->n);
        break;
    case 's':
        do_sample(step->n, step->a % 2 == 0);
        break;
    case 'z':
        do_reset();
        break;
    case '+':
        pass(step->n);
        break;
    default:
        fail_msg("no such step: %c", step->what);
    }
}

/* ---- both are compared */

static unsigned rows_seen;

static void compare_row(const struct prof_loop_row *row, void *totals_hold)
{
    const struct model_site *site;
    uint64_t oldest = 0;
    unsigned number;

    if (row->kind != PROF_LOOP_TASKS && row->kind != PROF_LOOP_CALLBACKS)
        return;
    rows_seen++;
    number = (unsigned)(row->site - names);
    site = &sites[number];
    for (unsigned i = 0; i < MODEL_TASKS; i++)
        if (tasks[i].exists && !tasks[i].ended && tasks[i].site == number &&
            prof_loop_hosted_tsc - tasks[i].created > oldest)
            oldest = prof_loop_hosted_tsc - tasks[i].created;
    assert_int_equal(row->self_cycles, site->own);
    if (*(const bool *)totals_hold)
        assert_int_equal(row->total_cycles, site->total);
    assert_int_equal(row->calls, site->calls);
    assert_int_equal(row->resolved, site->ends[PROF_LOOP_RESOLVED]);
    assert_int_equal(row->failed, site->ends[PROF_LOOP_FAILED]);
    assert_int_equal(row->cancelled, site->ends[PROF_LOOP_CANCELLED]);
    assert_int_equal(row->pending, site->pending);
    assert_int_equal(row->oldest_cycles, oldest);
    assert_int_equal(row->sums[PROF_LOOP_RUN].count, site->runs);
    assert_int_equal(row->sums[PROF_LOOP_DELAY].count, site->delays);
    assert_int_equal(row->sums[PROF_LOOP_DELAY].cycles, site->delay);
    assert_int_equal(row->sums[PROF_LOOP_WALL].count, site->walls);
    assert_int_equal(row->sums[PROF_LOOP_WALL].cycles, site->wall);
    assert_int_equal(row->longest_cycles, site->longest);
    assert_int_equal(row->sums[PROF_LOOP_SELF].count, site->owns);
    assert_int_equal(row->sums[PROF_LOOP_SELF].cycles, site->own_sum);
    assert_int_equal(row->call_longest_cycles, site->own_longest);
}

static void compare_account(const struct prof_loop_account *account)
{
    assert_int_equal(account->wall_cycles, model_wall);
    assert_int_equal(account->idle_cycles, model_idle);
    assert_int_equal(account->loop_cycles, model_loop);
    assert_int_equal(account->interrupts_cycles, model_irq);
    assert_int_equal(account->sampler_cycles, model_sampler);
    assert_int_equal(account->wall_cycles,
                     account->tasks_cycles + account->callbacks_cycles +
                         account->others_cycles + account->loop_cycles +
                         account->profiler_cycles + account->idle_cycles +
                         account->interrupts_cycles + account->sampler_cycles);
}

/* What runs is credited for the comparison, and taken back. */
static void model_compare(void)
{
    struct model_site sites_before[MODEL_SITES];
    uint64_t idle = model_idle, loop = model_loop;
    struct prof_loop_account account;
    bool totals_hold;

    memcpy(sites_before, sites, sizeof sites);
    for (unsigned i = 0; i < depth; i++) {
        struct model_frame now = frames[i];

        if (now.kind == 't')
            now.mask = now.task->mask;
        credit(&now, now.own);
    }
    prof_loop_account(&account);
    compare_account(&account);
    totals_hold = account.contexts_refused == 0;
    assert_int_equal(account.calls_refused, 0);
    rows_seen = 0;
    prof_loop_visit(compare_row, &totals_hold);
    memcpy(sites, sites_before, sizeof sites);
    model_idle = idle;
    model_loop = loop;
}

/*
 * A program as text, in which each word is a step: a letter, then a digit for a
 * task or a capital letter for a site, and cycles after an equals sign.
 *
 *     c0A create   r0 run   p pause   w0 wake   e0 f0 x0 end   bA callback
 *     k0 callback of a task   n loop   i idle   l leave   a01 adopt
 *     q=5 interrupt   v0=5 interrupt with a wake
 *     s0=5 s1=5 sampler, nested or not   +=5 time   z reset
 */
static unsigned model_parse(const char **text, struct step *step)
{
    const char *at = *text;
    unsigned *arguments[] = {&step->a, &step->b};
    unsigned count = 0;

    while (*at == ' ')
        at++;
    if (*at == '\0')
        return 0;
    *step = (struct step){.what = *at++};
    for (; *at != ' ' && *at != '=' && *at != '\0' && count < 2; at++)
        *arguments[count++] = (unsigned)(*at >= 'A' ? *at - 'A' : *at - '0');
    if (*at == '=')
        step->n = strtoull(at + 1, (char **)&at, 10);
    *text = at;
    return 1;
}

static inline void model_program(const char *text)
{
    struct step step;

    while (model_parse(&text, &step) != 0) {
        do_step(&step);
        model_compare();
    }
}

#endif
