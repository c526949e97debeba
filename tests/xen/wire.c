/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire DOMID: sets LINT0 of a paused domain's local APIC to ExtINT, as firmware
 * does, so that its PIC's interrupts arrive. The whole context goes back: CPUs
 * that a context lacks are taken down.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xenctrl.h>
#include <xen/hvm/save.h>

#define LVT0 0x350u
#define EXTINT 0x700u

int main(int argc, char **argv)
{
    const uint32_t value = EXTINT;
    uint32_t domain = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    xc_interface *xc = xc_interface_open(NULL, NULL, 0);
    int bytes = xc ? xc_domain_hvm_getcontext(xc, domain, NULL, 0) : -1;
    uint8_t *all = bytes > 0 ? calloc(1, (size_t)bytes) : NULL, *at = all;

    if (all == NULL ||
        xc_domain_hvm_getcontext(xc, domain, all, (uint32_t)bytes) < 0) {
        perror("xc_domain_hvm_getcontext");
        return 1;
    }
    for (;;) {
        struct hvm_save_descriptor part;

        memcpy(&part, at, sizeof part);
        if (part.typecode == HVM_SAVE_CODE(END))
            break;
        if (part.typecode == HVM_SAVE_CODE(LAPIC_REGS))
            memcpy(at + sizeof part + LVT0, &value, sizeof value);
        at += sizeof part + part.length;
    }
    if (xc_domain_hvm_setcontext(xc, domain, all, (uint32_t)bytes) != 0) {
        perror("xc_domain_hvm_setcontext");
        return 1;
    }
    return 0;
}
