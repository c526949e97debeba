# SPDX-License-Identifier: Apache-2.0
#
# The guest that is measured beside Linux perf does the work of services/split,
# with the same object files. Included by the Makefile.

perf_work = $(patsubst %,$(BUILD)/$1/obj/services/split/%.o,levels $1/leaf)
$(foreach w,$(WIDTHS),$(eval \
    $(call image,$w,bench/perf): $(call perf_work,$w)))

.PHONY: benchperf
#= measure
#: Linux perf and our sampler on the same work: cost of a sample, lock-step
benchperf: $(foreach w,$(WIDTHS),$(call image,$w,bench/perf) \
    $(call image,smp/$w,bench/irqs_off))
	$(Q)bench/perf/run.sh $(BUILD)
