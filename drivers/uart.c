/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: National Semiconductor, PC16550D, 1995.
 *
 * When the transmitter holding register is empty, so is the whole FIFO, and 16
 * bytes may be written without checking again. Each port access is an exit to
 * the hypervisor, so this halves the cost of a line.
 */

#include "uart.h"

#include "irq.h"
#include "pic.h"

#include <arch/cpu.h>
#include <arch/trap.h>

#define DATA 0u
#define DIVISOR_LOW 0u
#define INTERRUPT_ENABLE 1u
#define DIVISOR_HIGH 1u
#define FIFO_CONTROL 2u
#define LINE_CONTROL 3u
#define MODEM_CONTROL 4u
#define LINE_STATUS 5u
#define SCRATCH 7u

#define FIFO_ENABLE_AND_CLEAR 0x07u
#define LINE_8N1 0x03u
#define LINE_DIVISOR_ACCESS 0x80u
#define MODEM_DTR_RTS 0x03u
#define MODEM_OUT2 0x08u /* lets the interrupt out on a PC */
#define INTERRUPT_RECEIVED 0x01u
#define STATUS_DATA_READY 0x01u
#define STATUS_THR_EMPTY 0x20u
#define STATUS_ALL_SENT 0x40u

#define DIVISOR_115200 1u
#define WAIT_READS_MAX 100000u /* about 0.1 s of port reads */
#define SCRATCH_PATTERN 0x5au

static void set(uint16_t port, uint16_t offset, uint8_t value)
{
    arch_out8((uint16_t)(port + offset), value);
}

static uint8_t get(uint16_t port, uint16_t offset)
{
    return arch_in8((uint16_t)(port + offset));
}

int uart_start(uint16_t port)
{
    set(port, SCRATCH, SCRATCH_PATTERN);
    if (get(port, SCRATCH) != SCRATCH_PATTERN)
        return -1;
    set(port, INTERRUPT_ENABLE, 0);
    set(port, LINE_CONTROL, LINE_DIVISOR_ACCESS);
    set(port, DIVISOR_LOW, DIVISOR_115200);
    set(port, DIVISOR_HIGH, 0);
    set(port, LINE_CONTROL, LINE_8N1);
    set(port, FIFO_CONTROL, FIFO_ENABLE_AND_CLEAR);
    set(port, MODEM_CONTROL, MODEM_DTR_RTS);
    return 0;
}

static bool wait_for(uint16_t port, uint8_t status)
{
    for (unsigned reads = 0; reads < WAIT_READS_MAX; reads++)
        if ((get(port, LINE_STATUS) & status) != 0)
            return true;
    return false;
}

bool uart_empty(uint16_t port)
{
    return (get(port, LINE_STATUS) & STATUS_THR_EMPTY) != 0;
}

bool uart_ready(uint16_t port)
{
    return wait_for(port, STATUS_THR_EMPTY);
}

size_t uart_write(uint16_t port, const char *text, size_t bytes)
{
    size_t sent = 0;

    while (sent < bytes && wait_for(port, STATUS_THR_EMPTY))
        for (unsigned i = 0; i < UART_FIFO && sent < bytes; i++)
            set(port, DATA, (uint8_t)text[sent++]);
    return sent;
}

void uart_finish(uint16_t port)
{
    (void)wait_for(port, STATUS_ALL_SENT);
}

int uart_read(uint16_t port)
{
    if ((get(port, LINE_STATUS) & STATUS_DATA_READY) == 0)
        return -1;
    return get(port, DATA);
}

static void (*input_handlers[2])(void); /* COM1 and COM2 */

/* The line is edge-triggered: it stays high until all is read. */
static void input_of_com1(void)
{
    input_handlers[0]();
    irq_done(PIC_LINE_COM1);
}

static void input_of_com2(void)
{
    input_handlers[1]();
    irq_done(PIC_LINE_COM2);
}

/* The line is unmasked first: an IO-APIC ignores an edge while it is not. What
 * has made its edge before makes no other one until it is read. */
bool uart_listen(uint16_t port, void (*on_input)(void))
{
    const bool first = port == UART_COM1;
    const unsigned line = first ? PIC_LINE_COM1 : PIC_LINE_COM2;
    bool on;

    if (input_handlers[!first] == NULL && arch_irq_is_handled(line))
        return false;
    on = arch_interrupts_save();
    input_handlers[!first] = on_input;
    arch_irq_handle(line, first ? input_of_com1 : input_of_com2);
    set(port, MODEM_CONTROL, MODEM_DTR_RTS | MODEM_OUT2);
    irq_unmask(line);
    set(port, INTERRUPT_ENABLE, INTERRUPT_RECEIVED);
    if ((get(port, LINE_STATUS) & STATUS_DATA_READY) != 0)
        on_input();
    arch_interrupts_restore(on);
    return true;
}
