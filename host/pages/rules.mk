# SPDX-License-Identifier: Apache-2.0
#
# The pages that the command writes: their templates, built of small files and
# linked into it. Included by the Makefile.

page_base := host/pages/build_page.py host/pages/rules.mk \
    $(wildcard host/pages/base/*)
# with the headers whose enums their scripts name
page_shared := $(addprefix host/pages/shared/,text.js slices.js losses.js) \
    host/flame/flame.h
page_interactive := $(addprefix host/pages/shared/,view.css view.js \
    samples.js hash.js keys.js)
page_flame := $(addprefix host/pages/flame/,body.html style.css data.js \
    state.js weigh.js trees.js colours.js sides.js cpus.js shares.js \
    paint.js graph.js timeline.js table.js search.js about.js save.js keys.js \
    main.js)
page_timeline := host/pages/shared/shapes.js \
    $(addprefix host/pages/timeline/,body.html style.css \
    model.js rows.js state.js palette.js place.js project.js paint.js \
    arrows.js groups.js counters.js steps.js interrupts.js late.js about.js \
    panels.js times.js stacks.js search.js picture.js keys.js main.js)
page_annotate := $(addprefix host/pages/,annotate/body.html \
    annotate/style.css shared/text.js shared/keys.js annotate/script.js)
page_overview := $(addprefix host/pages/overview/,body.html style.css \
    script.js)
page_causal := $(addprefix host/pages/causal/,body.html style.css draw.js \
    script.js)
page_fleet := $(addprefix host/pages/fleet/,body.html style.css chart.js \
    script.js)
page_live := $(addprefix host/pages/,live/body.html fleet/style.css \
    live/style.css live/script.js)
pages := $(addprefix $(BUILD)/host/pages/,flame.html annotate.html \
    overview.html timeline.html causal.html fleet.html live.html)

$(BUILD)/host/pages/flame.html: $(page_shared) $(page_interactive) \
    $(page_flame) host/flame/sides.h
$(BUILD)/host/pages/annotate.html: $(page_annotate)
$(BUILD)/host/pages/overview.html: $(page_shared) $(page_overview)
$(BUILD)/host/pages/timeline.html: $(page_shared) $(page_interactive) \
    $(page_timeline) host/tasks/tasks.h
$(BUILD)/host/pages/causal.html: \
    $(addprefix host/pages/shared/,text.js shapes.js keys.js) \
    $(page_causal)
$(BUILD)/host/pages/fleet.html: \
    $(addprefix host/pages/shared/,text.js shapes.js keys.js guests.js) \
    $(page_fleet)
$(BUILD)/host/pages/live.html: \
    $(addprefix host/pages/shared/,text.js keys.js guests.js) $(page_live)
page_own = $(filter-out $(page_base),$^)
page_sources = $(filter %.css %.h %.js,$(page_own))
$(pages): $(page_base)
	$(call begin,PAGE)
	$(Q)host/pages/build_page.py $(@F:.html=) \
	    $(filter %.html,$(page_own)) $(page_sources) >$@
	$(Q)printf '%s\n' $(page_sources) >$(@:.html=.sources)
$(BUILD)/host/obj/host/pages/templates.o: host/pages/templates.asm \
    $(pages)
	$(call begin,NASM)
	$(Q)nasm -f elf64 -Werror -I$(BUILD)/host/pages/ -o $@ $<

.PHONY: benchpages
#= measure
#: the flame graph's page beside speedscope: bytes, time, memory
benchpages: $(BUILD)/host/parasite
	$(Q)BENCH=pages bench/run.sh $(BUILD)
