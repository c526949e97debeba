/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest image: prints one line and ends. */

#include <kernel/console.h>
#include <kernel/service.h>

int service_main(void)
{
    console_line("hello from a unikernel");
    return 0;
}
