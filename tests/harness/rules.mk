# SPDX-License-Identifier: Apache-2.0
#
# Running the tests. Included by the Makefile.

#= test
#: tests that run at the same time: five for two CPUs, for many mostly wait
LANES ?= $(shell expr 5 \* $$(nproc) / 2)
#: 1 = the long form, which makes more checks than tests/plan.txt has
FULL ?=

harness = PYTHONPATH=tests PYTHONDONTWRITEBYTECODE=1 python3 -m harness

.PHONY: test-images test test-plan
test-images: $(call images,$(programs)) $(smp_images) lib
#: every test: on the host, models, and images at both widths
test: test-images
	$(Q)FULL=$(FULL) $(harness) --lanes=$(LANES) \
	    $(if $(filter 1,$(FULL)),--without-plan) $(BUILD) '$(TESTS)'
#: run them, and write down in tests/plan.txt which there are
test-plan: test-images
	$(Q)$(harness) --lanes=$(LANES) --write-plan $(BUILD) '$(TESTS)'
