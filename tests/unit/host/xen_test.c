/* SPDX-License-Identifier: Apache-2.0 */

/* A Xen domain as a machine, with a Xen that is made up here. */

#include "../unit.h"

#include <errno.h>

#include "xen_maker.h"

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

FIXTURE(begin, finish);

TEST(registers_of_hvm)
{
    struct registers *registers;

    make_hvm(0);
    open_domain();
    registers = &xen.machine.cpus[0].registers;
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_true(registers->mode == MODE_64);
    assert_true(registers->ip == 0xffffffff81000010);
    assert_true(registers->sp == 0x1ff0 && registers->fp == 0x2010);
    assert_true(registers->cr3 == ROOT && registers->efer == 0x500);
    machine_continue(&xen.machine);
    assert_true(fake.paused == 0);

    /* 32-bit code of a 64-bit kernel, then before paging */
    put32(fake.contexts[0] + XEN_HVM_CS_ATTRIBUTES, 0xc9b);
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_true(registers->mode == MODE_32);
    machine_continue(&xen.machine);
    put64(fake.contexts[0] + XEN_HVM_CR0, 0x10);
    put64(fake.contexts[0] + XEN_HVM_RIP, 0xfff0);
    put64(fake.contexts[0] + XEN_HVM_CS_BASE, 0xffff0000);
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_true(registers->mode == MODE_REAL && registers->ip == 0xfffffff0);
    close_domain();
}

TEST(memory_of_hvm_is_mapped_once)
{
    const struct machine_cpu *cpu;

    make_hvm(0);
    entry(ROOT, 0, 0x2000 | P);
    entry(0x2000, 0, 0x4000 | P);
    entry(0x4000, 0, 0x5000 | P);
    entry(0x5000, 1, 0x7000 | P);
    entry(0x5000, 2, 0x6000 | P);
    entry(0x5000, 3, NONE * XEN_FRAME_BYTES | P);
    put64(fake.ram + 0x7ff8, 0x1122334455667788);
    put64(fake.ram + 0x6000, 42);
    open_domain();
    cpu = &xen.machine.cpus[0];
    for (int i = 0; i < 3; ++i) {
        assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
        assert_true(cpu->window_bytes == 0);
        assert_true(machine_read(&xen.machine, 0, 0x1ff8, 16));
        assert_true(cpu->window == 0x1ff8 && cpu->window_bytes == 16);
        assert_true(cpu->bytes[0] == 0x88 && cpu->bytes[8] == 42);
        machine_continue(&xen.machine);
    }
    assert_true(fake.maps == 1);
    /* a stack that ends in a page which is not there */
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_true(machine_read(&xen.machine, 0, 0x2ff0, 64));
    assert_true(cpu->window_bytes == 16);
    assert_false(machine_read(&xen.machine, 0, 0x3000, 64));
    assert_false(machine_read(&xen.machine, 0, 0x900000, 64));
    assert_true(fake.maps == 1);
    close_domain();
}

TEST(a_window_has_its_size)
{
    make_hvm(0);
    put64(fake.contexts[0] + XEN_HVM_CR0, 1);
    put64(fake.contexts[0] + XEN_HVM_EFER, 0);
    open_domain();
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_true(xen.machine.cpus[0].registers.mode == MODE_32);
    assert_true(machine_read(&xen.machine, 0, 0, 1u << 20));
    assert_true(xen.machine.cpus[0].window_bytes == MACHINE_WINDOW_MAX);
    close_domain();
}

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
    const struct machine_cpu *cpu;

    make_pv64();
    open_domain();
    cpu = &xen.machine.cpus[0];
    assert_true(xen.machine.is_64);
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_true(cpu->registers.mode == MODE_64);
    assert_true(cpu->registers.ip == 0x100010 && cpu->registers.sp == 0x1000);
    assert_true(cpu->registers.cr3 == (fake.first + 1) << 12);
    assert_true(machine_read(&xen.machine, 0, 0x1010, 8));
    assert_true(cpu->bytes[0] == 0x99);
    assert_true(fake.maps == 5); /* neighbours are another guest's */
    machine_continue(&xen.machine);

    /* outside its kernel it has other tables, and may have 32-bit code */
    put64(fake.contexts[0] + XEN_PV64_FLAGS, 0);
    put32(fake.contexts[0] + XEN_PV64_CS, 0xe023);
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
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
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_true(cpu->registers.mode == MODE_32);
    assert_true(cpu->registers.fp == 0xc0001010);
    assert_true(machine_read(&xen.machine, 0, 0xc0001010, 4));
    assert_true(cpu->bytes[0] == 0x77);
    close_domain();
}

TEST(a_guest_goes_away)
{
    make_hvm(0);
    open_domain();
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    machine_continue(&xen.machine);
    fake.pause_error = ESRCH;
    assert_true(machine_stop(&xen.machine) == MACHINE_ENDED);
    assert_true(xen.machine.reason == MACHINE_EXITED);
    machine_continue(&xen.machine);
    assert_true(machine_stop(&xen.machine) == MACHINE_ENDED);
    close_domain();
}

/* Any other error is what Xen says, not an end of the guest. */
TEST(a_pause_may_be_refused)
{
    make_hvm(0);
    open_domain();
    fake.pause_error = EPERM;
    assert_true(machine_stop(&xen.machine) == MACHINE_ENDED);
    assert_true(xen.machine.reason == MACHINE_REFUSED);
    assert_true(xen.machine.error == EPERM);
    assert_string_equal(machine_reason_text(&xen.machine),
                        "a call was refused: Operation not permitted");
    close_domain();
}

TEST(going_on_may_be_refused)
{
    make_hvm(0);
    open_domain();
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    fake.unpause_error = EPERM;
    machine_continue(&xen.machine);
    assert_true(xen.paused && xen.machine.reason == MACHINE_REFUSED);
    assert_true(machine_stop(&xen.machine) == MACHINE_ENDED);
    fake.unpause_error = 0; /* it is tried again at the end */
    close_domain();

    fake.closed = 0;
    open_domain();
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    fake.unpause_error = ESRCH;
    machine_continue(&xen.machine);
    assert_true(!xen.paused && xen.machine.reason == MACHINE_EXITED);
    fake.paused = 0;
    close_domain();
}

TEST(interrupts_of_hvm_are_off_or_on)
{
    make_hvm(0);
    open_domain();
    put64(fake.contexts[0] + XEN_HVM_RFLAGS, 0x46);
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_true(xen.machine.cpus[0].registers.masked);
    machine_continue(&xen.machine);
    put64(fake.contexts[0] + XEN_HVM_RFLAGS, 0x246);
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_false(xen.machine.cpus[0].registers.masked);
    close_domain();
}

TEST(a_dying_guest_is_let_go)
{
    fake.state.ended = true;
    open_domain();
    assert_true(machine_stop(&xen.machine) == MACHINE_ENDED);
    close_domain();
}

TEST(a_crashed_guest_is_looked_at_once)
{
    make_hvm(0);
    fake.state.shutdown = true;
    open_domain();
    assert_true(machine_stop(&xen.machine) == MACHINE_ENDED);
    close_domain();
    fake.closed = 0;
    open_domain();
    xen.takes_dead = true;
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_true(xen.machine.cpus[0].registers.sp == 0x1ff0);
    close_domain();
}

TEST(who_else_pauses_it_is_respected)
{
    make_hvm(0);
    fake.state.paused = true;
    open_domain();
    assert_true(machine_stop(&xen.machine) == MACHINE_HELD);
    assert_true(xen.machine.held);
    machine_continue(&xen.machine);
    fake.state.paused = false;
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_false(xen.machine.held);
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
    assert_true(machine_stop(&xen.machine) == MACHINE_STOPPED);
    assert_true(xen.machine.cpus[0].blocked && xen.machine.cpus[1].blocked);
    assert_true(machine_is_halted(&xen.machine, 0));
    machine_continue(&xen.machine);
    fake.blocked[0] = fake.offline[1] = false;
    assert_true(machine_stop(&xen.machine) == MACHINE_TORN);
    assert_true(xen.machine.torn == 1 && fake.paused == 1);
    machine_continue(&xen.machine);
    for (int i = 2; i < 64; ++i) {
        assert_true(machine_stop(&xen.machine) == MACHINE_TORN);
        machine_continue(&xen.machine);
    }
    assert_true(machine_stop(&xen.machine) == MACHINE_ENDED);
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
