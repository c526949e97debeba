# SPDX-License-Identifier: Apache-2.0
#
# The pages that the command writes: their templates, joined from small files
# and linked into it. Included by the Makefile.

page_scripts := $(addprefix tools/pages/,base.js data.js state.js weigh.js \
    trees.js colours.js paint.js graph.js timeline.js table.js search.js \
    about.js save.js keys.js main.js)
$(BUILD)/host/pages/flame.html: tools/pages/join.sh tools/pages/flame.html \
    tools/pages/flame.css $(page_scripts)
	$(call begin,JOIN)
	$(Q)$^ >$@
$(BUILD)/host/obj/tools/pages/page.o: tools/pages/page.asm \
    $(BUILD)/host/pages/flame.html
	$(call begin,NASM)
	$(Q)nasm -f elf64 -Werror -I$(BUILD)/host/pages/ -o $@ $<

.PHONY: benchpages
#: the flame graph's page beside speedscope: bytes, time, memory
benchpages: $(BUILD)/host/parasite
	$(Q)BENCH=pages bench/run.sh $(BUILD)
