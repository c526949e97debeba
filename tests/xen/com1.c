/* SPDX-License-Identifier: Apache-2.0 */
/*
 * com1 DOMID: answers a domain's accesses to COM1, as a device model would. It
 * prints what is sent, and nothing is ever received. Says "ready" on its
 * standard error when the domain may be let go on.
 *
 * Source: Xen's public header xen/hvm/ioreq.h.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xenctrl.h>
#include <xendevicemodel.h>
#include <xenevtchn.h>
#include <xenforeignmemory.h>
#include <xen/hvm/ioreq.h>
#include <xen/memory.h>

#define COM1 0x3f8u
#define ENABLED 1 /* interrupts */
#define LINE_CONTROL 3
#define MODEM_CONTROL 4
#define SCRATCH 7     /* that it keeps a value shows that there is a UART */
#define DIVISOR 0x80u /* of line control: registers 0 and 1 are others */

static uint8_t registers[8] = {[2] = 0xc1, [5] = 0x60, [6] = 0xb0};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void carry_out(struct ioreq *request)
{
    unsigned number = (unsigned)(request->addr - COM1);
    uint8_t byte = (uint8_t)request->data;
    bool divisor = (registers[LINE_CONTROL] & DIVISOR) != 0;

    if (number > 7 || request->data_is_ptr)
        request->data = ~0ull;
    else if (request->dir == IOREQ_READ)
        request->data = number == 0 ? 0 : registers[number];
    else if (number == 0 && !divisor)
        (void)!write(STDOUT_FILENO, &byte, 1);
    else if (number == LINE_CONTROL || number == MODEM_CONTROL ||
             number == SCRATCH || (number == ENABLED && !divisor))
        registers[number] = byte;
}

static volatile struct ioreq *open_server(domid_t domain)
{
    xendevicemodel_handle *model = xendevicemodel_open(NULL, 0);
    xenforeignmemory_handle *memory = xenforeignmemory_open(NULL, 0);
    void *page = NULL;
    ioservid_t id;

    if (model == NULL || memory == NULL)
        die("xendevicemodel_open");
    if (xendevicemodel_create_ioreq_server(model, domain,
                                           HVM_IOREQSRV_BUFIOREQ_OFF, &id) ||
        !xenforeignmemory_map_resource(
            memory, domain, XENMEM_resource_ioreq_server, id,
            XENMEM_resource_ioreq_server_frame_ioreq(0), 1, &page,
            PROT_READ | PROT_WRITE, 0) ||
        xendevicemodel_map_io_range_to_ioreq_server(model, domain, id, 0, COM1,
                                                    COM1 + 7) ||
        xendevicemodel_set_ioreq_server_state(model, domain, id, 1))
        die("ioreq server");
    return &((shared_iopage_t *)page)->vcpu_ioreq[0];
}

int main(int argc, char **argv)
{
    domid_t domain = argc > 1 ? (domid_t)atoi(argv[1]) : 0;
    volatile struct ioreq *shared = open_server(domain);
    xenevtchn_handle *events = xenevtchn_open(NULL, 0);
    xenevtchn_port_or_error_t port;

    if (events == NULL)
        die("xenevtchn_open");
    port = xenevtchn_bind_interdomain(events, domain, shared->vp_eport);
    if (port < 0)
        die("xenevtchn_bind_interdomain");
    fprintf(stderr, "ready\n");
    for (;;) {
        xenevtchn_port_or_error_t pending = xenevtchn_pending(events);
        struct ioreq request;

        if (pending < 0 && errno == EINTR)
            continue;
        if (pending < 0)
            return 0;
        xenevtchn_unmask(events, (evtchn_port_t)pending);
        if (shared->state != STATE_IOREQ_READY)
            continue;
        __sync_synchronize();
        request = *(struct ioreq *)shared;
        shared->state = STATE_IOREQ_INPROCESS;
        carry_out(&request);
        shared->data = request.data;
        __sync_synchronize();
        shared->state = STATE_IORESP_READY;
        xenevtchn_notify(events, (evtchn_port_t)port);
    }
}
