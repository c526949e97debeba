-- SPDX-License-Identifier: Apache-2.0
-- What collectors could not store.
SELECT toString(guest) AS number, what, why, host, sum(lost_rows), sum(amount)
FROM losses WHERE @where@
GROUP BY guest, what, why, host ORDER BY guest, what, why, host
