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
#include "traps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MARKS_MAX 256u

/* What is executed from a block's beginning on. */
struct block {
    uint64_t address;
    size_t insns;
    struct function *of[]; /* where each of them belongs */
};

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
static bool traps_good = true;
static bool leaving;        /* by iret; over when the next block begins */
static bool after_return;   /* the next block is where a return leads */
static unsigned after_tick; /* ticks that have interrupted the next block */
static uint64_t period;     /* of ideal samplers, instructions */
static uint64_t mark;       /* an address */
static struct {
    uint64_t ticks, masked; /* there were */
} marks[MARKS_MAX];         /* each time */
static uint64_t opened;     /* (all) behind which a tick has waited for it */
static uint64_t masked;     /* ticks that did */
static size_t marks_count;
static FILE *tick_lines;
static const char *map_path, *out_path;

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
    return &functions[functions[low - 1].group];
}

uint64_t truth_clock(void)
{
    return all - in_handlers;
}

static void note_stop(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    stopped = true;
    ideals_end();
}

static void note_mark(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    if (marks_count == MARKS_MAX) {
        fputs("truth: too many marks\n", stderr);
        abort();
    }
    marks[marks_count].ticks = ticks;
    marks[marks_count++].masked = masked;
}

static void note_cli(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    if (!in_handler)
        masked_begin(functions, count);
}

/* A tick that waits gets in behind the instruction after sti ... */
static void note_sti(unsigned vcpu, void *owner)
{
    (void)vcpu;
    opened = all + 2;
    if (!in_handler)
        masked_end(functions, count, owner);
}

/* ... and behind popf at once. */
static void note_popf(unsigned vcpu, void *owner)
{
    (void)vcpu;
    opened = all + 1;
    if (!in_handler)
        masked_end(functions, count, owner);
}

/* What waits for the interrupt itself has not kept it waiting. */
static void note_halt(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    opened = 0;
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
        function->masked_at[ticks > 0] = function->masked;
        function->opened_at[ticks > 0] = function->opened;
    }
    if (!stopped)
        all_at[judged++ > 0] = all;
    if (ticks++ == 0) {
        unmatched_then = calls_unmatched();
        left_then = calls_left();
        ideals_begin(stopped ? 0 : period);
    }
    masked += all == opened;
    all_at_entry = all;
    in_handler = true;
}

/* The iret itself is still to be executed. */
static void leave_interrupt(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    leaving = in_handler;
    if (!in_handler)
        traps_leave();
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

/* Interrupts are over when the block behind their iret begins. */
static void settle(void)
{
    if (leaving)
        end_interrupt();
    traps_settle(&after_return, &after_tick);
}

/* The first thing in the block where another interrupt begins. */
static void begin_trap(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    settle();
    if (!in_handler)
        traps_enter(&after_return, &after_tick);
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

/* The first thing in every block, which is (owner). What is still to be
 * said of it waits while it is interrupted again. */
static void begin_block(unsigned vcpu, void *owner)
{
    const struct block *block = owner;
    uint64_t address = block->address;

    (void)vcpu;
    settle();
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
    if (truth_clock() + block->insns > ideals_due)
        ideals_take(truth_clock() + block->insns, block->of);
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

/* Opcodes that are told by one byte (Intel SDM vol. 2, appendix A). */
static qemu_executed *const plain[256] = {
    [0xcf] = leave_interrupt,                       /* iret */
    [0xc3] = note_return,     [0xc2] = note_return, /* ret */
    [0xfb] = note_sti,        [0x9d] = note_popf,
    [0xf4] = note_halt,       [0xfa] = note_cli,
};

/* Returns whose it is. */
static struct function *watch(struct qemu_plugin_insn *insn)
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
    } else if (address == mark) {
        callback = note_mark;
    } else if (plain[code[0]] != NULL) {
        callback = plain[code[0]];
        owner = function;
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
    return function;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t insns = qemu_plugin_tb_n_insns(tb);
    struct block *block = /* lives as long as QEMU */
        malloc(sizeof *block + insns * sizeof *block->of);

    (void)id;
    block->address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
    block->insns = insns;
    if (traps_begin_at(block->address))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, begin_trap,
                                             QEMU_PLUGIN_CB_NO_REGS, NULL);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, begin_block,
                                         QEMU_PLUGIN_CB_NO_REGS, block);
    for (size_t i = 0; i < insns; ++i)
        block->of[i] = watch(qemu_plugin_tb_get_insn(tb, i));
}

static void write_function(FILE *out, const struct function *function)
{
    fprintf(
        out,
        "{\"start\": %" PRIu64 ", \"self\": %" PRIu64 ", \"total\": %" PRIu64
        ", \"handler\": %" PRIu64 ", \"masked\": %" PRIu64
        ", \"opened\": %" PRIu64 ", \"whole\": %" PRIu64,
        function->start, function->self[1] - function->self[0],
        function->total[1] - function->total[0], function->handler,
        function->masked_at[1] - function->masked_at[0],
        function->opened_at[1] - function->opened_at[0], truth_own(function));
    ideal_sums_print(out, function->ideal);
    putc('}', out);
}

static void write_marks(FILE *out)
{
    fputs(", \"marks\": [", out);
    for (size_t i = 0; i < marks_count; ++i)
        fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i > 0 ? "," : "",
                marks[i].ticks, marks[i].masked);
    putc(']', out);
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
            ", \"left\": %" PRIu64 ", \"jumped\": %" PRIu64,
            ticks, judged, all, all_at[1] - all_at[0], in_handlers,
            calls_unmatched() - unmatched_then, calls_left() - left_then,
            calls_jumped());
    write_marks(out);
    ideals_print(out);
    fputs(",\n\"functions\": [", out);
    for (size_t i = 0; i < count; ++i) {
        fputs(i > 0 ? ",\n  " : "\n  ", out);
        write_function(out, &functions[i]);
    }
    fputs("\n]}\n", out);
    fclose(out);
}

/* Where the function that begins at (start) is, among those read so far. */
static size_t number_of(uint64_t start)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (functions[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool read_map(const char *path)
{
    FILE *in = fopen(path, "r");
    struct function function = {0};
    uint64_t first;
    bool more;

    if (in == NULL)
        return false;
    do {
        more = fscanf(in, "%" SCNx64 " %" SCNx64 " %" SCNx64, &function.start,
                      &function.end, &first) == 3;
        if (!more)
            function.start = function.end = first = 0;
        functions = realloc(functions, (count + 1) * sizeof *functions);
        functions[count++] = function;
        functions[count - 1].group = more ? number_of(first) : count - 1;
    } while (more);
    fclose(in);
    return count > 1;
}

static void read_argument(const char *word)
{
    static const struct {
        const char *name;
        uint64_t *value;
        int base;
    } numbers[] = {{"enter=", &enter, 16},
                   {"stop=", &stop, 16},
                   {"mark=", &mark, 16},
                   {"period=", &period, 10}};
    const char *value = strchr(word, '=');

    if (strncmp(word, "map=", 4) == 0)
        map_path = word + 4;
    else if (strncmp(word, "out=", 4) == 0)
        out_path = word + 4;
    else if (strncmp(word, "ticks=", 6) == 0)
        tick_lines = fopen(word + 6, "w");
    else if (strncmp(word, "traps=", 6) == 0)
        traps_good = traps_read(word + 6);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        if (strncmp(word, numbers[i].name, strlen(numbers[i].name)) == 0)
            *numbers[i].value = strtoull(value + 1, NULL, numbers[i].base);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                        char **argv)
{
    (void)info;
    for (int i = 0; i < argc; ++i)
        read_argument(argv[i]);
    if (!traps_good || map_path == NULL || enter == 0 || out_path == NULL ||
        tick_lines == NULL || !read_map(map_path)) {
        fputs("truth: needs map=, enter=, out= and ticks=\n", stderr);
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, write_out, NULL);
    return 0;
}
