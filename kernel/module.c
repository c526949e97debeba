/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of services to boot modules. */

#include <arch/boot.h>
#include <kernel/service.h>

const void *service_module(size_t index, size_t *bytes)
{
    const struct arch_module *module = &arch_boot.module[index];

    if (index >= arch_boot.module_count)
        return NULL;
    *bytes = module->end - module->begin;
    return (const void *)module->begin;
}
