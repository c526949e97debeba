# SPDX-License-Identifier: Apache-2.0
#
# Streams that several suites read: build/host/make_stream writes them,
# make_tasks those with events of objects. Included by the Makefile.

stream_makers := $(addprefix $(BUILD)/host/,make_stream make_tasks)
$(stream_makers): $(BUILD)/host/%: tests/tool/%.c tests/tool/rules.mk | packages
	$(call begin,HOSTLD)
	$(Q)gcc -std=gnu11 -O2 -Iprofiler/include -MMD -MP -o $@ $<
-include $(stream_makers:%=%.d)
test-images: $(stream_makers)
