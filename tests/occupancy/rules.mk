# SPDX-License-Identifier: Apache-2.0
#
# The web server beside tasks. Included by the Makefile.

define loop_metrics_rules
$(call image,$1,tests/guest/task/loop_metrics): \
    $(call objects,$1,services/http) $(BUILD)/$1/libhttp.a \
    $(BUILD)/$1/libnet.a $(BUILD)/$1/liblwip.a
endef
$(foreach w,$(WIDTHS),$(eval $(call loop_metrics_rules,$w)))
