# SPDX-License-Identifier: Apache-2.0
#
# What of it is built for the host's unit tests. Included by the Makefile.

$(BUILD)/host64/folded_test: $(BUILD)/host64/obj/services/watch/folded.o
