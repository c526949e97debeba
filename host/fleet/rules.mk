# SPDX-License-Identifier: Apache-2.0
#
# The queries of a store of many guests, linked into the command. Included by
# the Makefile.

fleet_queries := $(BUILD)/host/obj/host/fleet/queries.o
$(fleet_queries): host/fleet/queries.asm $(wildcard host/fleet/sql/*.sql)
	$(call begin,NASM)
	$(Q)nasm -f elf64 -Werror -Ihost/fleet/sql/ -o $@ $<
$(BUILD)/host/libparasite.a: $(fleet_queries)
