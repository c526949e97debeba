-- SPDX-License-Identifier: Apache-2.0
local calls = 0
function work()
    calls = calls + 1
    if calls == 3 then
        print("third call")
    end
    for _ = 1, 1000 do end
end
