// SPDX-License-Identifier: Apache-2.0
#ifndef STAND_IN_IRQ_MANAGER_HPP
#define STAND_IN_IRQ_MANAGER_HPP

#define IRQ_BASE 32

#endif
