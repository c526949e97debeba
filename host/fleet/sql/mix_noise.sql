-- SPDX-License-Identifier: Apache-2.0
-- What chance alone adds to these distances: that times the square root of
-- 1 / (2 pi samples).
SELECT sum(sqrt(m * (1 - m)))
FROM (
  SELECT mix, least(sum(p) / @guests@, 1) AS m FROM @mix_shares@ GROUP BY mix
)
