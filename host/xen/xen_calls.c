/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Xen itself, where this was built with its headers. Calls go out in one list:
 * a pause, and the registers of each CPU, cost one way to Xen and back.
 *
 * Source: Xen's public headers xen/xen.h, xen/domctl.h.
 */

#include "xen/xen_calls.h"

#ifndef PARASITE_XEN

const struct xen_calls *xen_calls_here(void **owner)
{
    *owner = NULL;
    return NULL;
}

#else

#define __XEN_TOOLS__ 1 /* shows what is for domains that control others */

#include "xen/xen.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <xen/xen.h>
#include <xen/domctl.h>
#include <xen/foreign/x86_32.h>
#include <xen/foreign/x86_64.h>
#include <xen/hvm/save.h>
#include <xencall.h>
#include <xenforeignmemory.h>

#define CPUS_MAX 256u
#define FIXED 2u /* calls in a list: what it is, the pause */
#define EACH 2u  /* and these for each CPU */
#define CALLS_MAX (FIXED + EACH * CPUS_MAX)
#define ROUND(bytes) (((bytes) + 4095u) / 4096u)

#define AT(type, field) offsetof(struct type, field)
#define SAME(is, wanted) _Static_assert((is) == (wanted), "a layout of Xen's")
SAME(AT(hvm_hw_cpu, rbp), XEN_HVM_RBP);
SAME(AT(hvm_hw_cpu, rsp), XEN_HVM_RSP);
SAME(AT(hvm_hw_cpu, rip), XEN_HVM_RIP);
SAME(AT(hvm_hw_cpu, rflags), XEN_HVM_RFLAGS);
SAME(AT(hvm_hw_cpu, cr0), XEN_HVM_CR0);
SAME(AT(hvm_hw_cpu, cr3), XEN_HVM_CR3);
SAME(AT(hvm_hw_cpu, cr4), XEN_HVM_CR4);
SAME(AT(hvm_hw_cpu, cs_sel), XEN_HVM_CS);
SAME(AT(hvm_hw_cpu, cs_base), XEN_HVM_CS_BASE);
SAME(AT(hvm_hw_cpu, cs_arbytes), XEN_HVM_CS_ATTRIBUTES);
SAME(AT(hvm_hw_cpu, msr_efer), XEN_HVM_EFER);
SAME(sizeof(struct hvm_hw_cpu), XEN_HVM_BYTES);
SAME(AT(vcpu_guest_context_x86_64, flags), XEN_PV64_FLAGS);
SAME(AT(vcpu_guest_context_x86_64, user_regs.rbp), XEN_PV64_RBP);
SAME(AT(vcpu_guest_context_x86_64, user_regs.rip), XEN_PV64_RIP);
SAME(AT(vcpu_guest_context_x86_64, user_regs.cs), XEN_PV64_CS);
SAME(AT(vcpu_guest_context_x86_64, user_regs.rsp), XEN_PV64_RSP);
SAME(AT(vcpu_guest_context_x86_64, ctrlreg), XEN_PV64_CR);
SAME(sizeof(struct vcpu_guest_context_x86_64), XEN_PV64_BYTES);
SAME(AT(vcpu_guest_context_x86_32, user_regs.ebp), XEN_PV32_EBP);
SAME(AT(vcpu_guest_context_x86_32, user_regs.eip), XEN_PV32_EIP);
SAME(AT(vcpu_guest_context_x86_32, user_regs.cs), XEN_PV32_CS);
SAME(AT(vcpu_guest_context_x86_32, user_regs.esp), XEN_PV32_ESP);
SAME(AT(vcpu_guest_context_x86_32, ctrlreg), XEN_PV32_CR);
SAME(sizeof(struct vcpu_guest_context_x86_32), XEN_PV32_BYTES);

#define SAME_FIELD(type, field, offset, size)                                  \
    SAME(AT(type, field), offset);                                             \
    SAME(sizeof(((struct type *)0)->field), size);
#define HVM(name, field, offset, size)                                         \
    SAME_FIELD(hvm_hw_cpu, field, offset, size)
#define PV64(name, field, offset, size)                                        \
    SAME_FIELD(vcpu_guest_context_x86_64, field, offset, size)
#define PV32(name, field, offset, size)                                        \
    SAME_FIELD(vcpu_guest_context_x86_32, field, offset, size)
XEN_HVM_REGISTERS(HVM)
XEN_PV64_REGISTERS(PV64)
XEN_PV32_REGISTERS(PV32)

struct here {
    xencall_handle *call;
    xenforeignmemory_handle *memory;
    domid_t domain;
    bool is_hvm;
    unsigned cpus;
    /* of the kind that Xen may access */
    multicall_entry_t *list;
    struct xen_domctl *calls; /* one for each in the list */
    uint8_t (*contexts)[XEN_PV64_BYTES];
};

static void *buffer(struct here *here, size_t bytes)
{
    void *pages = xencall_alloc_buffer_pages(here->call, ROUND(bytes));

    if (pages != NULL)
        memset(pages, 0, bytes);
    return pages;
}

static void free_buffer(struct here *here, void *pages, size_t bytes)
{
    if (pages != NULL)
        xencall_free_buffer_pages(here->call, pages, ROUND(bytes));
}

static void close_all(void *owner)
{
    struct here *here = owner;

    if (here->call != NULL) {
        free_buffer(here, here->list, CALLS_MAX * sizeof *here->list);
        free_buffer(here, here->calls, CALLS_MAX * sizeof *here->calls);
        free_buffer(here, here->contexts, here->cpus * sizeof *here->contexts);
        xencall_close(here->call);
    }
    if (here->memory != NULL)
        xenforeignmemory_close(here->memory);
    *here = (struct here){0};
}

/* Makes the call (number) of the list. */
static struct xen_domctl *put_domctl(struct here *here, unsigned number,
                                     uint32_t what)
{
    struct xen_domctl *call = &here->calls[number];

    call->cmd = what;
    call->interface_version = XEN_DOMCTL_INTERFACE_VERSION;
    call->domain = here->domain;
    here->list[number].op = __HYPERVISOR_domctl;
    here->list[number].result = 0;
    here->list[number].args[0] = (uintptr_t)call;
    return call;
}

/* Makes (count) calls from the (first) of the list on; an errno. */
static int carry_out(struct here *here, unsigned first, unsigned count)
{
    if (xencall2(here->call, __HYPERVISOR_multicall,
                 (uintptr_t)(here->list + first), count) < 0)
        return errno;
    return 0;
}

/* Xen's errors have Linux's numbers. */
static int error_of(const struct here *here, unsigned number)
{
    long result = (long)here->list[number].result;

    return result < 0 ? (int)-result : 0;
}

static int call_domctl(struct here *here, uint32_t what)
{
    int error;

    put_domctl(here, 0, what);
    error = carry_out(here, 0, 1);
    return error != 0 ? error : error_of(here, 0);
}

static int read_domain(struct here *here, struct xen_about *about)
{
    const struct xen_domctl *call = &here->calls[0];
    int error = call_domctl(here, XEN_DOMCTL_getdomaininfo);

    if (error != 0)
        return error;
    /* it gives the next one if there is none of this number */
    if (call->domain != here->domain)
        return ESRCH;
    about->is_hvm = (call->u.getdomaininfo.flags & XEN_DOMINF_hvm_guest) != 0;
    about->cpus = call->u.getdomaininfo.max_vcpu_id + 1;
    here->is_hvm = about->is_hvm;
    here->cpus = about->cpus;
    if (about->is_hvm)
        return 0;
    error = call_domctl(here, XEN_DOMCTL_get_address_size);
    about->is_64 = call->u.address_size.size == 64;
    return error;
}

static int open_domain(void *owner, unsigned number, struct xen_about *about)
{
    struct here *here = owner;
    int error;

    *here = (struct here){.domain = (domid_t)number};
    errno = ENXIO;
    here->call = xencall_open(NULL, 0);
    here->memory = here->call != NULL ? xenforeignmemory_open(NULL, 0) : NULL;
    error = errno != 0 ? errno : ENXIO;
    if (here->memory != NULL) {
        here->list = buffer(here, CALLS_MAX * sizeof *here->list);
        here->calls = buffer(here, CALLS_MAX * sizeof *here->calls);
        error = ENOMEM;
        if (here->list != NULL && here->calls != NULL)
            error = read_domain(here, about);
    }
    if (error == 0 && here->cpus > 0 && here->cpus <= CPUS_MAX) {
        here->contexts = buffer(here, here->cpus * sizeof *here->contexts);
        error = here->contexts != NULL ? 0 : ENOMEM;
    }
    if (error != 0)
        close_all(here);
    return error;
}

static void put_cpu(struct here *here, unsigned cpu)
{
    unsigned number = FIXED + EACH * cpu;
    struct xen_domctl *call;

    if (here->is_hvm) {
        call = put_domctl(here, number, XEN_DOMCTL_gethvmcontext_partial);
        call->u.hvmcontext_partial.type = HVM_SAVE_CODE(CPU);
        call->u.hvmcontext_partial.instance = cpu;
        call->u.hvmcontext_partial.bufsz = XEN_HVM_BYTES;
        set_xen_guest_handle(call->u.hvmcontext_partial.buffer,
                             here->contexts[cpu]);
    } else {
        call = put_domctl(here, number, XEN_DOMCTL_getvcpucontext);
        call->u.vcpucontext.vcpu = cpu;
        set_xen_guest_handle(call->u.vcpucontext.ctxt,
                             (vcpu_guest_context_t *)here->contexts[cpu]);
    }
    call = put_domctl(here, number + 1, XEN_DOMCTL_getvcpuinfo);
    call->u.getvcpuinfo.vcpu = cpu;
}

static int unpause(void *owner)
{
    return call_domctl(owner, XEN_DOMCTL_unpausedomain);
}

static int pause_domain(void *owner, struct xen_state *state,
                        struct xen_cpu_state *cpus)
{
    struct here *here = owner;
    const struct xen_domctl *about =
        put_domctl(here, 0, XEN_DOMCTL_getdomaininfo);
    uint32_t flags;
    int error;

    put_domctl(here, 1, XEN_DOMCTL_pausedomain);
    for (unsigned i = 0; i < here->cpus; ++i)
        put_cpu(here, i);
    error = carry_out(here, 0, FIXED + EACH * here->cpus);
    if (error == 0)
        error = error_of(here, 1);
    if (error != 0)
        return error;
    flags = about->u.getdomaininfo.flags;
    if (error_of(here, 0) != 0 || about->domain != here->domain)
        flags = XEN_DOMINF_dying;
    state->ended = (flags & XEN_DOMINF_dying) != 0;
    state->shutdown = (flags & XEN_DOMINF_shutdown) != 0;
    state->paused = (flags & XEN_DOMINF_paused) != 0;
    for (unsigned i = 0; i < here->cpus; ++i) {
        unsigned number = FIXED + EACH * i;
        const struct xen_domctl *call = &here->calls[number + 1];

        cpus[i].error = error_of(here, number);
        cpus[i].online =
            error_of(here, number + 1) == 0 && call->u.getvcpuinfo.online;
        cpus[i].blocked = call->u.getvcpuinfo.blocked != 0;
        cpus[i].context = here->contexts[i];
    }
    return 0;
}

static const uint8_t *map(void *owner, const uint64_t *frames, size_t count,
                          uint8_t *missing)
{
    struct here *here = owner;
    int errors[512] = {0};
    const uint8_t *bytes;

    if (count > sizeof errors / sizeof *errors)
        return NULL;
    _Static_assert(sizeof(xen_pfn_t) == sizeof *frames, "xen_pfn_t");
    bytes = xenforeignmemory_map(here->memory, here->domain, PROT_READ, count,
                                 (const xen_pfn_t *)frames, errors);
    for (size_t i = 0; i < count; ++i)
        missing[i] = errors[i] != 0;
    return bytes;
}

static void unmap(void *owner, const uint8_t *bytes, size_t count)
{
    struct here *here = owner;

    xenforeignmemory_unmap(here->memory, (void *)bytes, count);
}

const struct xen_calls *xen_calls_here(void **owner)
{
    static const struct xen_calls calls = {
        open_domain, pause_domain, unpause, map, unmap, close_all};
    static struct here here;

    *owner = &here;
    return &calls;
}

#endif
