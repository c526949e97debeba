-- SPDX-License-Identifier: Apache-2.0
-- The builds of a service and when they ran, the first seen first.
SELECT lower(hex(build)) AS id, toUInt32(min(bucket)) AS first,
       toUInt32(max(bucket)) AS last, uniqExact(guest) AS guests,
       sum(ticks) AS due
FROM accounts WHERE @where@
GROUP BY build ORDER BY first, last, id
