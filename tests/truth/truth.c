/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin: counts by function, and what an interrupt is.
 *
 * Each instruction adds one to its function's count in the code that QEMU
 * generates, which no callback could do as fast. What was executed in an
 * interrupt is the difference between all counts at its end and its begin.
 */

#include "truth.h"

#include "qemu.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int qemu_plugin_version = 1;

static struct function *functions;
static size_t count; /* with the last one, for what is in none */
static uint64_t all; /* instructions executed */
static uint64_t all_at_entry;
static uint64_t in_handlers;
static uint64_t all_at[2]; /* at the first tick, and the last before the stop */
static uint64_t enter;     /* addresses */
static uint64_t stop;
static uint64_t ticks;
static uint64_t judged; /* of these, up to the stop */
static bool stopped;
static uint64_t unmatched_then; /* at the first tick: what boots is odd */
static uint64_t left_then;
static bool in_handler;
static bool leaving;        /* by iret; over when the next block begins */
static bool after_return;   /* the next block is where a return leads */
static unsigned after_tick; /* ticks that have interrupted the next block */
static FILE *tick_lines;
static const char *out_path;

struct function *truth_function_at(uint64_t address)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (functions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= functions[low - 1].end)
        return &functions[count - 1];
    return &functions[low - 1];
}

uint64_t truth_clock(void)
{
    return all - in_handlers;
}

static void note_stop(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    stopped = true;
}

static void begin_interrupt(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    for (size_t i = 0; i < count; ++i) {
        struct function *function = &functions[i];

        function->executed_at_entry = function->executed;
        if (stopped)
            continue;
        function->self[ticks > 0] = truth_own(function);
        function->total[ticks > 0] = calls_total(function);
    }
    if (!stopped)
        all_at[judged++ > 0] = all;
    if (ticks++ == 0) {
        unmatched_then = calls_unmatched();
        left_then = calls_left();
    }
    all_at_entry = all;
    in_handler = true;
}

/* The iret itself is still to be executed. */
static void leave_interrupt(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    leaving = in_handler;
}

static void end_interrupt(void)
{
    for (size_t i = 0; i < count; ++i)
        functions[i].handler +=
            functions[i].executed - functions[i].executed_at_entry;
    in_handlers += all - all_at_entry;
    in_handler = leaving = false;
    ++after_tick;
}

static void note_call(unsigned vcpu, void *owner)
{
    (void)vcpu;
    if (!in_handler)
        calls_push(owner);
}

static void note_return(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    if (!in_handler)
        after_return = true;
}

/* The first thing in every block; (owner) is its address. What is still to be
 * said of it waits while it is interrupted again. */
static void begin_block(unsigned vcpu, void *owner)
{
    uint64_t address = (uintptr_t)owner;

    (void)vcpu;
    if (leaving)
        end_interrupt();
    if (in_handler || address == enter)
        return;
    if (after_return)
        calls_return(address);
    after_return = false;
    for (; after_tick > 0; --after_tick) {
        fprintf(tick_lines, "%" PRIx64, address);
        calls_print(tick_lines);
        putc('\n', tick_lines);
    }
}

/* The instruction behind its prefixes. What begins with 0x4x and has more bytes
 * has a REX prefix; 32 bits wide, such an instruction is one byte. */
static const uint8_t *opcode_of(const struct qemu_plugin_insn *insn,
                                size_t *left)
{
    static const char prefixes[] = "\x66\xf2\xf3\x2e\x3e";
    const uint8_t *bytes = qemu_plugin_insn_data(insn);

    *left = qemu_plugin_insn_size(insn);
    while (*left > 1 && (bytes[0] >> 4 == 4 ||
                         memchr(prefixes, bytes[0], sizeof prefixes - 1))) {
        ++bytes;
        --*left;
    }
    return bytes;
}

static void watch(struct qemu_plugin_insn *insn)
{
    uint64_t address = qemu_plugin_insn_vaddr(insn);
    struct function *function = truth_function_at(address);
    size_t left;
    const uint8_t *code = opcode_of(insn, &left);
    unsigned extension = left > 1 ? code[1] >> 3 & 7 : 0;
    qemu_executed *callback = NULL;
    void *owner = NULL;

    if (address == enter) {
        callback = begin_interrupt;
    } else if (address == stop) {
        callback = note_stop;
    } else if (code[0] == 0xcf) {
        callback = leave_interrupt;
    } else if (code[0] == 0xc3 || code[0] == 0xc2) {
        callback = note_return;
    } else if (code[0] == 0xe8 ||
               (code[0] == 0xff && (extension == 2 || extension == 3))) {
        struct call *call = malloc(sizeof *call); /* lives as long as QEMU */

        *call = (struct call){function, address + qemu_plugin_insn_size(insn)};
        callback = note_call;
        owner = call;
    }
    if (callback != NULL)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, callback,
                                               QEMU_PLUGIN_CB_NO_REGS, owner);
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                               &function->executed, 1);
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                               &all, 1);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t insns = qemu_plugin_tb_n_insns(tb);
    uint64_t address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));

    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(
        tb, begin_block, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)address);
    for (size_t i = 0; i < insns; ++i)
        watch(qemu_plugin_tb_get_insn(tb, i));
}

static void write_out(qemu_plugin_id_t id, void *owner)
{
    FILE *out = fopen(out_path, "w");

    (void)id, (void)owner;
    fclose(tick_lines);
    if (out == NULL) {
        perror(out_path);
        return;
    }
    fprintf(out,
            "{\"ticks\": %" PRIu64 ", \"judged\": %" PRIu64
            ", \"executed\": %" PRIu64 ", \"between\": %" PRIu64
            ", \"in_handlers\": %" PRIu64 ", \"unmatched\": %" PRIu64
            ", \"left\": %" PRIu64 ", \"jumped\": %" PRIu64
            ",\n\"functions\": [",
            ticks, judged, all, all_at[1] - all_at[0], in_handlers,
            calls_unmatched() - unmatched_then, calls_left() - left_then,
            calls_jumped());
    for (size_t i = 0; i < count; ++i) {
        const struct function *function = &functions[i];

        fprintf(out,
                "%s\n  {\"start\": %" PRIu64 ", \"self\": %" PRIu64
                ", \"total\": %" PRIu64 ", \"handler\": %" PRIu64 "}",
                i > 0 ? "," : "", function->start,
                function->self[1] - function->self[0],
                function->total[1] - function->total[0], function->handler);
    }
    fputs("\n]}\n", out);
    fclose(out);
}

static bool read_map(const char *path)
{
    FILE *in = fopen(path, "r");
    struct function function = {0};

    if (in == NULL)
        return false;
    do {
        bool more = fscanf(in, "%" SCNx64 " %" SCNx64, &function.start,
                           &function.end) == 2;

        if (!more)
            function.start = function.end = 0;
        functions = realloc(functions, (count + 1) * sizeof *functions);
        functions[count++] = function;
    } while (function.end != 0);
    fclose(in);
    return count > 1;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                        char **argv)
{
    const char *map = NULL;

    (void)info;
    for (int i = 0; i < argc; ++i) {
        if (strncmp(argv[i], "map=", 4) == 0)
            map = argv[i] + 4;
        else if (strncmp(argv[i], "enter=", 6) == 0)
            enter = strtoull(argv[i] + 6, NULL, 16);
        else if (strncmp(argv[i], "stop=", 5) == 0)
            stop = strtoull(argv[i] + 5, NULL, 16);
        else if (strncmp(argv[i], "out=", 4) == 0)
            out_path = argv[i] + 4;
        else if (strncmp(argv[i], "ticks=", 6) == 0)
            tick_lines = fopen(argv[i] + 6, "w");
    }
    if (map == NULL || enter == 0 || out_path == NULL || tick_lines == NULL ||
        !read_map(map)) {
        fputs("truth: needs map=, enter=, out= and ticks=\n", stderr);
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, write_out, NULL);
    return 0;
}
