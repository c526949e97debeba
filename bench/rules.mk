# SPDX-License-Identifier: Apache-2.0
#
# What is measured. Included by the Makefile.

#: parts of `make bench`, as in BENCH='cost names'; all (bench/run.sh)
BENCH ?=
#: results that `make bench-diff` compares; the two latest that were kept
A ?=
B ?=
#: per cent by which an exact figure may be worse in it
WORSE ?= 1

.PHONY: bench bench-diff
#: what it costs, in one table, with goals
bench: $(call images,$(call folders,bench) $(addprefix services/,lua irc \
    async split) tests/guest/trace/trace_crowd)
	$(Q)BENCH='$(BENCH)' bench/run.sh $(BUILD)
#: two results of it: what became better and worse
bench-diff:
	$(Q)python3 bench/diff.py --worse='$(WORSE)' \
	    $(if $A$B,'$A' '$B',$(BUILD)/bench/kept)
