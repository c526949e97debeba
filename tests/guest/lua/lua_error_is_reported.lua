-- SPDX-License-Identifier: Apache-2.0
local function inner() error("something broke") end
local function outer() inner() end
print("before")
outer()
