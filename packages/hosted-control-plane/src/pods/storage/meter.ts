import { hasCode } from "@causeway/foundation";
import type { Call } from "../../etcd/etcd-admin.ts";
import type { MemberStatus } from "../../etcd/maintenance.ts";
import { rangeOf } from "../../etcd/range.ts";

/** For each key, next to its bytes: its place in etcd's index and pages. */
const KEY_OVERHEAD = 128;
/** Keys of the first page, and of any. The keys of the next one follow from the size of those before. */
const FIRST_PAGE = 8;
const LARGEST_PAGE = 128;
/** What a page that is too long has at least: the etcd has read it. */
const REFUSED_PAGE = 16 * 2 ** 20;
/** Of the latest revisions, how many say who writes: etcd holds them in memory at once. */
const SAMPLE = 64;
const SAMPLE_IDLE = 500;
const SAMPLE_BYTES = 8 * 2 ** 20;

/** A measure that is continued at the key `next`. */
export interface Measure {
  readonly next: string;
  readonly bytes: number;
  readonly isDone: boolean;
  /** What reading it cost in this round, bytes that could not be counted included. */
  readonly cost: number;
  /** Keys of the next page. */
  readonly limit?: number;
}

interface RangeAnswer {
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[];
  readonly more?: boolean;
}

/**
 * Reads values below a prefix until `allowance` bytes were read or more than `stopAt` are known, and counts them. A
 * page is read at the revision of now: what is written meanwhile is counted or not. Keys of a page double while values
 * are small, and are so few that values as large as those before do not exceed what is left.
 */
export async function measure(
  call: Call,
  prefix: string,
  { from, allowance, stopAt }: { from: Measure | undefined; allowance: number; stopAt: number },
): Promise<Measure> {
  const { key, range_end } = rangeOf(prefix);
  let [next, bytes, cost, limit] = [from?.next ?? key, from?.bytes ?? 0, 0, from?.limit ?? FIRST_PAGE];
  for (;;) {
    const answer = await page(call, { key: next, range_end, limit });
    if (answer === undefined) {
      limit = Math.max(1, Math.floor(limit / 4));
      cost += REFUSED_PAGE;
    } else {
      const kvs = answer.kvs ?? [];
      const size = kvs.reduce((sum, each) => sum + sizeOf(each), 0);
      [bytes, cost] = [bytes + size, cost + size];
      const last = kvs.at(-1);
      if (answer.more !== true || last === undefined) return { next, bytes, cost, isDone: true };
      next = Buffer.concat([Buffer.from(last.key, "base64"), Buffer.from([0])]).toString("base64");
      if (bytes > stopAt) return { next, bytes, cost, isDone: true };
      limit = pageAfter(limit, size / kvs.length, allowance - cost);
    }
    if (cost >= allowance) return { next, bytes, cost, limit, isDone: false };
  }
}

function pageAfter(limit: number, average: number, left: number): number {
  return Math.max(1, Math.min(LARGEST_PAGE, limit * 2, Math.floor(left / average)));
}

/** Undefined: the answer would be too long. */
async function page(
  call: Call,
  body: { key: string; range_end: string; limit: number },
): Promise<RangeAnswer | undefined> {
  try {
    return await call("kv/range", body);
  } catch (error) {
    if (body.limit > 1 && hasCode(error, "PODS_ETCD_ANSWER_TOO_LONG")) return undefined;
    throw error;
  }
}

function sizeOf({ key, value = "" }: { key: string; value?: string }): number {
  return Math.floor((key.length + value.length) * 0.75) + KEY_OVERHEAD;
}

/** Bytes of the newest revisions by the first part of their keys: who writes now. */
export async function recentWriters(call: Call, revision: number): Promise<ReadonlyMap<string, number>> {
  const written = new Map<string, number>();
  let total = 0;
  const onLine = (line: Record<string, unknown>): boolean => {
    const { events = [], header } = (line["result"] ?? {}) as {
      events?: readonly { kv?: { key?: string; value?: string; mod_revision?: string } }[];
      header?: { revision?: string };
    };
    for (const { kv } of events) {
      const tenant =
        Buffer.from(kv?.key ?? "", "base64")
          .toString()
          .split("/")[1] ?? "";
      const size = sizeOf({ key: kv?.key ?? "", ...(kv?.value === undefined ? {} : { value: kv.value }) });
      written.set(tenant, (written.get(tenant) ?? 0) + size);
      total += size;
    }
    const isCaughtUp = events.some(({ kv }) => Number(kv?.mod_revision ?? 0) >= revision);
    return header !== undefined && !isCaughtUp && total < SAMPLE_BYTES;
  };
  const body = {
    create_request: { ...rangeOf("/"), start_revision: Math.max(1, revision - SAMPLE), fragment: true },
  };
  await call("watch", body, { onLine, timeout: SAMPLE_IDLE });
  return written;
}

/** Requested of the leader, `from`. */
export async function moveLeader(call: Call, from: MemberStatus, to: MemberStatus): Promise<void> {
  await call("maintenance/transfer-leadership", { targetID: to.id }, { host: from.host });
}
