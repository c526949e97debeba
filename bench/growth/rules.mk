# SPDX-License-Identifier: Apache-2.0
#
# How the costs grow; bench/growth/run.sh. Included by the Makefile.

.PHONY: growth
#= measure
#: how the costs grow: a table, and build/bench/growth.html with their plots
growth: $(foreach w,$(WIDTHS),$(BUILD)/$w/bench/growth/growth.elf) \
    $(BUILD)/x86_64/lua/lua.elf $(BUILD)/host/parasite
	$(Q)bench/growth/run.sh $(BUILD)
