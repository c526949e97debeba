# SPDX-License-Identifier: Apache-2.0
#
# The pages that the command writes: their templates, built of small files and
# linked into it. Included by the Makefile.

page_scripts := $(addprefix tools/pages/flame/,base.js data.js state.js \
    weigh.js trees.js colours.js paint.js graph.js timeline.js table.js \
    search.js about.js save.js keys.js main.js)
page_base := tools/pages/build_page.py $(wildcard tools/pages/base/*)
$(BUILD)/host/pages/flame.html: tools/pages/flame/body.html \
    $(addprefix tools/pages/flame/,style.css parts.css) $(page_scripts) \
    $(page_base)
	$(call begin,PAGE)
	$(Q)tools/pages/build_page.py 'Flame graph' \
	    $(filter-out $(page_base),$^) >$@
$(BUILD)/host/pages/annotate.html: $(addprefix tools/pages/annotate/,\
    body.html style.css script.js) $(page_base)
	$(call begin,PAGE)
	$(Q)tools/pages/build_page.py annotate $(filter-out $(page_base),$^) >$@
$(BUILD)/host/obj/tools/pages/templates.o: tools/pages/templates.asm \
    $(BUILD)/host/pages/flame.html $(BUILD)/host/pages/annotate.html
	$(call begin,NASM)
	$(Q)nasm -f elf64 -Werror -I$(BUILD)/host/pages/ -o $@ $<

.PHONY: benchpages
#: the flame graph's page beside speedscope: bytes, time, memory
benchpages: $(BUILD)/host/parasite
	$(Q)BENCH=pages bench/run.sh $(BUILD)
