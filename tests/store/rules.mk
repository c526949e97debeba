# SPDX-License-Identifier: Apache-2.0
#
# The engines that tests of stores run, fetched once, before the tests. Where
# one cannot be had, such as without a network, its tests are skipped, for the
# reason in its file "missing". Included by the Makefile.

.PHONY: store-engines
store-engines:
	$(Q)tests/store/fetch.sh $(BUILD)/chdb \
	    tools/build/chdb.sh $(CHDB_VERSION) $(CHDB_INTEGRITY)
	$(Q)tests/store/fetch.sh $(BUILD)/clickhouse \
	    tools/build/unpack.sh tests/store/packages.txt
test-images: store-engines
