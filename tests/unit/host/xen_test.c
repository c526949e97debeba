/* SPDX-License-Identifier: Apache-2.0 */

/* A Xen domain as a machine, with a Xen that is made up here: a test writes to
 * (fake) what it has. Frames have their own memory, so that a sanitizer sees
 * what is read after it was unmapped. */

#include "../unit.h"

#include "xen/xen.h"

#include <errno.h>

#define FRAMES 16u /* that there are, from (first) on */
#define CPUS 2u
#define P 1u
#define ROOT 0x1000u
#define NONE 3u /* the number of a frame that is missing */

/* What the made-up Xen has, and what it was asked. */
static struct {
    struct xen_about about;
    struct xen_state state;
    int open_error;
    int pause_error;
    int unpause_error;
    int context_error[CPUS];
    bool offline[CPUS];
    bool blocked[CPUS];
    uint8_t contexts[CPUS][XEN_PV64_BYTES];
    uint64_t first; /* frame */
    uint8_t *ram;
    unsigned paused;
    unsigned maps;
    unsigned mapped; /* mappings that there are */
    unsigned closed;
} fake;

static int fake_open(void *owner, unsigned number, struct xen_about *about)
{
    assert_true(owner == &fake);
    assert_true(number == 7);
    *about = fake.about;
    return fake.open_error;
}

static int fake_pause(void *owner, struct xen_state *state,
                      struct xen_cpu_state *cpus)
{
    (void)owner;
    if (fake.pause_error != 0)
        return fake.pause_error;
    ++fake.paused;
    *state = fake.state;
    for (unsigned i = 0; i < fake.about.cpus; ++i)
        cpus[i] = (struct xen_cpu_state){
            .online = !fake.offline[i],
            .blocked = fake.blocked[i],
            .error = fake.context_error[i],
            .context = fake.contexts[i],
        };
    return 0;
}

static int fake_unpause(void *owner)
{
    (void)owner;
    assert_true(fake.paused == 1);
    if (fake.unpause_error == 0)
        --fake.paused;
    return fake.unpause_error;
}

static const uint8_t *fake_map(void *owner, const uint64_t *frames,
                               size_t count, uint8_t *missing)
{
    uint8_t *bytes = calloc(count, XEN_FRAME_BYTES);
    bool any = false;

    (void)owner;
    ++fake.maps;
    for (size_t i = 0; i < count; ++i) {
        uint64_t number = frames[i] - fake.first;

        missing[i] =
            frames[i] < fake.first || number >= FRAMES || number == NONE;
        if (!missing[i])
            memcpy(bytes + i * XEN_FRAME_BYTES,
                   fake.ram + number * XEN_FRAME_BYTES, XEN_FRAME_BYTES);
        any = any || !missing[i];
    }
    if (any) {
        ++fake.mapped;
        return bytes;
    }
    free(bytes);
    return NULL;
}

static void fake_unmap(void *owner, const uint8_t *bytes, size_t count)
{
    (void)owner;
    (void)count;
    --fake.mapped;
    free((void *)bytes);
}

static void fake_close(void *owner)
{
    (void)owner;
    ++fake.closed;
}

static const struct xen_calls calls = {fake_open, fake_pause, fake_unpause,
                                       fake_map,  fake_unmap, fake_close};

static struct xen xen;

static void put64(uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < 8; ++i)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void put32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; ++i)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Of a table at an address from the first frame on. */
static void entry(uint64_t table, unsigned index, uint64_t value)
{
    put64(fake.ram + table + 8 * index, value);
}

static void begin(void)
{
    memset(&fake, 0, sizeof fake);
    fake.ram = calloc(FRAMES, XEN_FRAME_BYTES);
    fake.about = (struct xen_about){.is_hvm = true, .cpus = 1};
    assert_non_null(fake.ram);
}

static void finish(void)
{
    free(fake.ram);
}

static void open_domain(void)
{
    assert_true(xen_begin(&xen, &calls, &fake, 7) == 0);
    assert_true(xen.machine.cpu_count == fake.about.cpus);
}

static void close_domain(void)
{
    machine_end(&xen.machine);
    assert_true(fake.mapped == 0 && fake.paused == 0 && fake.closed == 1);
}

/* A CPU of 64 bits in the kernel. */
static void make_hvm(unsigned cpu)
{
    uint8_t *context = fake.contexts[cpu];

    put64(context + XEN_HVM_RIP, 0xffffffff81000010);
    put64(context + XEN_HVM_RSP, 0x1ff0);
    put64(context + XEN_HVM_RBP, 0x2010);
    put64(context + XEN_HVM_CR0, 0x80000001);
    put64(context + XEN_HVM_CR3, ROOT);
    put64(context + XEN_HVM_CR4, 0x20);
    put64(context + XEN_HVM_EFER, 0x500);
    put32(context + XEN_HVM_CS, 0x10);
    put32(context + XEN_HVM_CS_ATTRIBUTES, 0xa9b);
}

/* Of the guest that is the only domain. */
static void stops(enum machine_stop how)
{
    assert_int_equal(machine_stop(&xen.machine), how);
}

static void goes_on(void)
{
    machine_continue(&xen.machine);
}

static void begin_hvm(void)
{
    begin();
    make_hvm(0);
    open_domain();
}

static void end_domain(void)
{
    close_domain();
    finish();
}

FIXTURE(begin_hvm, end_domain);

TEST(registers_of_hvm)
{
    struct registers *registers;

    registers = &xen.machine.cpus[0].registers;
    stops(MACHINE_STOPPED);
    assert_true(registers->mode == MODE_64);
    assert_true(registers->ip == 0xffffffff81000010);
    assert_true(registers->sp == 0x1ff0 && registers->fp == 0x2010);
    assert_true(registers->cr3 == ROOT && registers->efer == 0x500);
    goes_on();
    assert_true(fake.paused == 0);

    /* 32-bit code of a 64-bit kernel, then before paging */
    put32(fake.contexts[0] + XEN_HVM_CS_ATTRIBUTES, 0xc9b);
    stops(MACHINE_STOPPED);
    assert_true(registers->mode == MODE_32);
    goes_on();
    put64(fake.contexts[0] + XEN_HVM_CR0, 0x10);
    put64(fake.contexts[0] + XEN_HVM_RIP, 0xfff0);
    put64(fake.contexts[0] + XEN_HVM_CS_BASE, 0xffff0000);
    stops(MACHINE_STOPPED);
    assert_true(registers->mode == MODE_REAL && registers->ip == 0xfffffff0);
}

/* Those of (context) that are shown, each where Xen has it. */
TEST(all_registers_of_hvm)
{
    struct register_values values;

    put64(fake.contexts[0] + 512, 0x1122334455667788);
    put64(fake.contexts[0] + XEN_HVM_RFLAGS, 0x246);
    put32(fake.contexts[0] + 756, 0x18);
    stops(MACHINE_STOPPED);
    assert_true(machine_registers(&xen.machine, 0, &values));
    for (int i = 0; i < REGISTERS; ++i)
        assert_true(values.known[i]);
    assert_true(values.values[REGISTER_AX] == 0x1122334455667788);
    assert_true(values.values[REGISTER_IP] == 0xffffffff81000010);
    assert_true(values.values[REGISTER_FP] == 0x2010);
    assert_true(values.values[REGISTER_CS] == 0x10);
    assert_true(values.values[REGISTER_SS] == 0x18);
    assert_true(values.values[REGISTER_FLAGS] == 0x246);
    assert_true(values.values[REGISTER_CR3] == ROOT);
    assert_true(values.values[REGISTER_EFER] == 0x500);
    goes_on();
    fake.context_error[0] = EINVAL;
    fake.offline[0] = true;
    stops(MACHINE_STOPPED);
    assert_false(machine_registers(&xen.machine, 0, &values));
    fake.offline[0] = false;
    fake.context_error[0] = 0;
}

TEST(memory_of_hvm_is_mapped_once)
{
    const struct machine_cpu *cpu;

    entry(ROOT, 0, 0x2000 | P);
    entry(0x2000, 0, 0x4000 | P);
    entry(0x4000, 0, 0x5000 | P);
    entry(0x5000, 1, 0x7000 | P);
    entry(0x5000, 2, 0x6000 | P);
    entry(0x5000, 3, NONE * XEN_FRAME_BYTES | P);
    put64(fake.ram + 0x7ff8, 0x1122334455667788);
    put64(fake.ram + 0x6000, 42);
    cpu = &xen.machine.cpus[0];
    for (int i = 0; i < 3; ++i) {
        stops(MACHINE_STOPPED);
        assert_true(cpu->window_bytes == 0);
        assert_true(machine_read(&xen.machine, 0, 0x1ff8, 16));
        assert_true(cpu->window == 0x1ff8 && cpu->window_bytes == 16);
        assert_true(cpu->bytes[0] == 0x88 && cpu->bytes[8] == 42);
        goes_on();
    }
    assert_true(fake.maps == 1);
    /* a stack that ends in a page which is not there */
    stops(MACHINE_STOPPED);
    assert_true(machine_read(&xen.machine, 0, 0x2ff0, 64));
    assert_true(cpu->window_bytes == 16);
    assert_false(machine_read(&xen.machine, 0, 0x3000, 64));
    assert_false(machine_read(&xen.machine, 0, 0x900000, 64));
    assert_true(fake.maps == 1);
}

TEST(a_window_has_its_size)
{
    put64(fake.contexts[0] + XEN_HVM_CR0, 1);
    put64(fake.contexts[0] + XEN_HVM_EFER, 0);
    stops(MACHINE_STOPPED);
    assert_true(xen.machine.cpus[0].registers.mode == MODE_32);
    assert_true(machine_read(&xen.machine, 0, 0, 1u << 20));
    assert_true(xen.machine.cpus[0].window_bytes == MACHINE_WINDOW_MAX);
}

TEST(a_guest_goes_away)
{
    stops(MACHINE_STOPPED);
    goes_on();
    fake.pause_error = ESRCH;
    stops(MACHINE_ENDED);
    assert_true(xen.machine.reason == MACHINE_EXITED);
    goes_on();
    stops(MACHINE_ENDED);
}

TEST(a_pause_may_be_refused)
{
    fake.pause_error = EPERM;
    stops(MACHINE_ENDED);
    assert_true(xen.machine.reason == MACHINE_REFUSED);
    assert_true(xen.machine.error == EPERM);
    assert_string_equal(machine_reason_text(&xen.machine),
                        "a call was refused: Operation not permitted");
}

TEST(going_on_may_be_refused)
{
    stops(MACHINE_STOPPED);
    fake.unpause_error = EPERM;
    goes_on();
    assert_true(xen.paused && xen.machine.reason == MACHINE_REFUSED);
    stops(MACHINE_ENDED);
    fake.unpause_error = 0; /* it is tried again at the end */
    close_domain();

    fake.closed = 0;
    open_domain();
    stops(MACHINE_STOPPED);
    fake.unpause_error = ESRCH;
    goes_on();
    assert_true(!xen.paused && xen.machine.reason == MACHINE_EXITED);
    fake.paused = 0;
}

TEST(interrupts_of_hvm_are_off_or_on)
{
    put64(fake.contexts[0] + XEN_HVM_RFLAGS, 0x46);
    stops(MACHINE_STOPPED);
    assert_true(xen.machine.cpus[0].registers.masked);
    goes_on();
    put64(fake.contexts[0] + XEN_HVM_RFLAGS, 0x246);
    stops(MACHINE_STOPPED);
    assert_false(xen.machine.cpus[0].registers.masked);
}

TEST(a_crashed_guest_is_looked_at_once)
{
    fake.state.shutdown = true;
    stops(MACHINE_ENDED);
    close_domain();
    fake.closed = 0;
    open_domain();
    xen.takes_dead = true;
    stops(MACHINE_STOPPED);
    assert_true(xen.machine.cpus[0].registers.sp == 0x1ff0);
}

TEST(who_else_pauses_it_is_respected)
{
    fake.state.paused = true;
    stops(MACHINE_HELD);
    assert_true(xen.machine.held);
    goes_on();
    fake.state.paused = false;
    stops(MACHINE_STOPPED);
    assert_false(xen.machine.held);
}

FIXTURE(begin, finish);

static void make_pv64(void)
{
    uint8_t *context = fake.contexts[0];

    fake.about.is_hvm = false;
    fake.about.is_64 = true;
    fake.first = 0x123450; /* of the machine */
    put64(context + XEN_PV64_RIP, 0x100010);
    put64(context + XEN_PV64_RSP, 0x1000);
    put64(context + XEN_PV64_RBP, 0x1010);
    put32(context + XEN_PV64_CS, 0xe033);
    put64(context + XEN_PV64_FLAGS, 4);
    put64(context + XEN_PV64_CR + 24, (fake.first + 1) << 12);
    put64(context + XEN_PV64_CR + 8, (fake.first + 8) << 12);
    entry(0x1000, 0, (fake.first + 2) << 12 | P);
    entry(0x2000, 0, (fake.first + 4) << 12 | P);
    entry(0x4000, 0, (fake.first + 5) << 12 | P);
    entry(0x5000, 1, (fake.first + 6) << 12 | P);
    entry(0x8000, 0, (fake.first + 2) << 12 | P);
    put64(fake.ram + 0x6010, 0x99);
}

TEST(pv_of_64_bits)
{
    struct register_values values;
    const struct machine_cpu *cpu;

    make_pv64();
    open_domain();
    cpu = &xen.machine.cpus[0];
    assert_true(xen.machine.is_64);
    stops(MACHINE_STOPPED);
    assert_true(cpu->registers.mode == MODE_64);
    assert_true(cpu->registers.ip == 0x100010 && cpu->registers.sp == 0x1000);
    assert_true(cpu->registers.cr3 == (fake.first + 1) << 12);
    assert_true(machine_registers(&xen.machine, 0, &values));
    assert_true(values.values[REGISTER_IP] == 0x100010);
    assert_true(values.values[REGISTER_CS] == 0xe033);
    assert_true(values.known[REGISTER_R15] && !values.known[REGISTER_CR0]);
    assert_true(machine_read(&xen.machine, 0, 0x1010, 8));
    assert_true(cpu->bytes[0] == 0x99);
    assert_true(fake.maps == 5); /* neighbours are another guest's */
    goes_on();

    /* outside its kernel it has other tables, and may have 32-bit code */
    put64(fake.contexts[0] + XEN_PV64_FLAGS, 0);
    put32(fake.contexts[0] + XEN_PV64_CS, 0xe023);
    stops(MACHINE_STOPPED);
    assert_true(cpu->registers.cr3 == (fake.first + 8) << 12);
    assert_true(cpu->registers.mode == MODE_32);
    assert_true(machine_read(&xen.machine, 0, 0x1010, 8));
    assert_true(fake.maps == 6);
    close_domain();
}

TEST(pv_of_32_bits_has_its_root_anywhere)
{
    const struct machine_cpu *cpu;
    uint32_t root;

    fake.about.is_hvm = false;
    fake.first = 0x123450; /* above 4 GiB */
    root = (uint32_t)fake.first + 1;
    put32(fake.contexts[0] + XEN_PV32_EIP, 0xc0100000);
    put32(fake.contexts[0] + XEN_PV32_ESP, 0xc0001000);
    put32(fake.contexts[0] + XEN_PV32_EBP, 0xc0001010);
    put32(fake.contexts[0] + XEN_PV32_CS, 0xe019);
    put32(fake.contexts[0] + XEN_PV32_CR + 12, root << 12 | root >> 20);
    entry(0x1000, 3, (fake.first + 2) << 12 | P);
    entry(0x2000, 0, (fake.first + 4) << 12 | P);
    entry(0x4000, 1, (fake.first + 6) << 12 | P);
    put32(fake.ram + 0x6010, 0x77);
    open_domain();
    cpu = &xen.machine.cpus[0];
    assert_false(xen.machine.is_64);
    stops(MACHINE_STOPPED);
    assert_true(cpu->registers.mode == MODE_32);
    assert_true(cpu->registers.fp == 0xc0001010);
    assert_true(machine_read(&xen.machine, 0, 0xc0001010, 4));
    assert_true(cpu->bytes[0] == 0x77);
    close_domain();
}

/* Any other error is what Xen says, not an end of the guest. */
TEST(a_dying_guest_is_let_go)
{
    fake.state.ended = true;
    open_domain();
    stops(MACHINE_ENDED);
    close_domain();
}

TEST(cpus_are_halted_offline_or_torn)
{
    fake.about.cpus = CPUS;
    make_hvm(0);
    fake.blocked[0] = true;
    fake.offline[1] = true;
    fake.context_error[1] = ENODATA;
    open_domain();
    assert_true(xen.machine.knows_blocked);
    stops(MACHINE_STOPPED);
    assert_true(xen.machine.cpus[0].blocked && xen.machine.cpus[1].blocked);
    assert_true(machine_is_halted(&xen.machine, 0));
    goes_on();
    fake.blocked[0] = fake.offline[1] = false;
    stops(MACHINE_TORN);
    assert_true(xen.machine.torn == 1 && fake.paused == 1);
    goes_on();
    for (int i = 2; i < 64; ++i) {
        stops(MACHINE_TORN);
        goes_on();
    }
    stops(MACHINE_ENDED);
    assert_true(xen.machine.reason == MACHINE_NONSENSE);
    close_domain();
}

TEST(what_cannot_be_opened_is_refused)
{
    fake.open_error = ESRCH;
    assert_true(xen_begin(&xen, &calls, &fake, 7) == ESRCH);
    fake.open_error = 0;
    fake.about.cpus = 0;
    assert_true(xen_begin(&xen, &calls, &fake, 7) == E2BIG);
    fake.about.cpus = MACHINE_CPUS_MAX + 1;
    assert_true(xen_begin(&xen, &calls, &fake, 7) == E2BIG);
    assert_true(fake.closed == 2);
}

/* A PV guest's frames are mapped one by one, and there is a limit. */
TEST(mappings_are_limited)
{
    uint8_t byte;

    fake.about.is_hvm = false;
    open_domain();
    for (uint64_t i = 0; i < 3; ++i)
        assert_true(
            xen_frames_copy(&xen.frames, i * XEN_FRAME_BYTES, &byte, 1));
    for (uint64_t i = FRAMES; i < 17000; ++i)
        xen_frames_copy(&xen.frames, i * XEN_FRAME_BYTES, &byte, 1);
    assert_true(fake.mapped == 0);
    assert_true(xen.frames.index.count < 16384);
    assert_true(xen_frames_copy(&xen.frames, 0, &byte, 1));
    assert_false(xen_frames_copy(&xen.frames, 4090, &byte, 8));
    close_domain();
}
