-- SPDX-License-Identifier: Apache-2.0
print("not to be seen")
local = 3
