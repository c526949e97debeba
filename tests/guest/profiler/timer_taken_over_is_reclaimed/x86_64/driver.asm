; SPDX-License-Identifier: Apache-2.0
;
; void driver_handler(void), entered by the CPU; driver.h says what it does.

        default rel
        section .text
        global  driver_handler:function (driver_handler.end - driver_handler)
        global  driver_ticks, driver_next

driver_handler:
        inc     dword [driver_ticks]
        jmp     [driver_next]
.end:

        section .bss
        align   8
driver_next: resq 1
driver_ticks: resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits
