/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into `xl create` of a PVH domain: has Xen emulate all that it can
 * by itself (PIT, PIC, RTC and so on), where xl asks for the local APIC only.
 * Our images want these.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <xenctrl.h>

int xc_domain_create(xc_interface *xc, uint32_t *domain,
                     struct xen_domctl_createdomain *config)
{
    int (*create)(xc_interface *, uint32_t *,
                  struct xen_domctl_createdomain *) =
        dlsym(RTLD_NEXT, "xc_domain_create");

    config->arch.emulation_flags = XEN_X86_EMU_ALL & ~XEN_X86_EMU_VPCI;
    return create(xc, domain, config);
}
