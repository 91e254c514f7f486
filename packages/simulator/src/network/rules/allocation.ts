import { formatIp, parseIp, type Ip } from "./addresses.ts";
import type { Pool } from "../model.ts";

/**
 * The next free address of the pools after `cursor`, going round once; undefined when all are in use. Continuing from
 * the last address instead of the lowest keeps a freed address unused for as long as there are others, as in a real
 * cloud.
 */
export function nextFree(
  pools: readonly Pool[],
  cursor: bigint | undefined,
  taken: (address: string) => boolean,
): Ip | undefined {
  const ranges = pools.flatMap(rangeOf);
  const after = cursor === undefined ? ranges : ranges.map((r) => ({ ...r, from: max(r.from, cursor + 1n) }));
  const before = cursor === undefined ? [] : ranges.map((r) => ({ ...r, to: min(r.to, cursor) }));
  for (const { version, from, to } of [...after, ...before]) {
    for (let value = from; value <= to; value++) {
      if (!taken(formatIp({ version, value }))) return { version, value };
    }
  }
  return undefined;
}

interface Range {
  readonly version: 4 | 6;
  readonly from: bigint;
  readonly to: bigint;
}

function rangeOf(pool: Pool): Range[] {
  const [start, end] = [parseIp(pool.start), parseIp(pool.end)];
  return start && end ? [{ version: start.version, from: start.value, to: end.value }] : [];
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
