#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# boot.sh SECONDS WIDTH ARGUMENTS...: a machine for both guests, the same one:
# QEMU's standard CPU, one instruction a nanosecond, always the same date,
# nothing attached but a serial line to standard output. Ends with the guest, or
# after SECONDS.
set -eu

seconds=$1
width=$2
shift 2
exec timeout -k 5 "$seconds" nice "qemu-system-$width" -nodefaults \
    -no-user-config -accel tcg -icount shift=0,sleep=off \
    -rtc base=2024-01-01,clock=vm -smp 1 -m 512 -display none -no-reboot \
    -serial stdio "$@" </dev/null
