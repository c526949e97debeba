/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The program of bench/irqs_off as a module of Linux: a process that writes N
 * to /proc/irqs_off executes N rounds of it, on its CPU.
 */

#include "leaves.h"

#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>

#define NAME "irqs_off"

static noinline void hold(void)
{
    local_irq_disable();
    leaf_off(OFF_TURNS);
    local_irq_enable();
}

static ssize_t run(struct file *file, const char __user *text, size_t bytes,
                   loff_t *at)
{
    unsigned rounds;
    int error = kstrtouint_from_user(text, bytes, 10, &rounds);

    (void)file, (void)at;
    if (error != 0)
        return error;
    while (rounds-- > 0) {
        hold();
        leaf_on(ON_TURNS);
    }
    return (ssize_t)bytes;
}

static const struct proc_ops operations = {.proc_write = run};

static int __init begin(void)
{
    return proc_create(NAME, 0200, NULL, &operations) == NULL ? -ENOMEM : 0;
}

static void __exit end(void)
{
    remove_proc_entry(NAME, NULL);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("A known share of time with interrupts off");
MODULE_LICENSE("Apache-2.0");
