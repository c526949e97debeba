# SPDX-License-Identifier: Apache-2.0
#
# What is measured. Included by the Makefile.

#= measure
#: parts of `make bench`, as in BENCH='cost names'; all (bench/run.sh)
BENCH ?=
#: results that `make bench-diff` compares, the older ones first; the two latest
#: that were kept
A ?=
#: and the newer ones
B ?=
#: per cent by which an exact figure may be worse in `make bench-diff`
WORSE ?= 1

.PHONY: bench bench-diff busy-host many-guests
#: what it costs, in one table, with goals
bench: $(call images,$(filter bench/%,$(programs)) $(addprefix services/,lua \
    irc async split) tests/guest/trace/trace_crowd) \
    $(foreach w,$(WIDTHS),$(call loaded_image,$w,irc)) \
    $(foreach w,$(WIDTHS),$(foreach f,cpus lapic,$(call \
    image,smp/$w,bench/$f)))
	$(Q)BENCH='$(BENCH)' bench/run.sh $(BUILD)
#: two results of `make bench`: what became better and worse
bench-diff:
	$(Q)python3 bench/diff.py --worse='$(WORSE)' \
	    $(if $A$B,'$A' '$B',$(BUILD)/bench/kept)
#: intervals of causal profiling beside busy loops (bench/busy)
busy-host: $(call images,services/irc tests/guest/causal/causal_options) \
    $(BUILD)/host/parasite $(BUILD)/host/loadgen
	$(Q)python3 bench/busy/measure.py $(BUILD)
#: what `parasite serve` takes for 1,000 guests (bench/many.sh)
many-guests: $(call image,x86_64,services/lua) $(BUILD)/host/parasite \
    $(BUILD)/host/libparasite.a
	$(Q)bench/many.sh $(BUILD)
