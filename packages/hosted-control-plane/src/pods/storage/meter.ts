import { CausewayError, hasCode } from "@causeway/foundation";
import type { Call } from "../../etcd/etcd-admin.ts";
import { rangeOf } from "../../etcd/range.ts";

/** What one member of an etcd says of itself. */
export interface MemberStatus {
  readonly host: string;
  readonly id: string;
  readonly leader: string;
  /** Bytes of its file, which etcd's quota limits. */
  readonly size: number;
  /** Of them, those that are not free again. */
  readonly inUse: number;
  readonly revision: number;
}

/** The alarm of a member whose file reached the quota: from then on no member accepts writes. */
export interface SpaceAlarm {
  readonly memberID: string;
}

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

/** What etcd's API leaves out is 0 or "". */
export async function memberStatus(call: Call, host: string): Promise<MemberStatus> {
  const answer = await call("maintenance/status", {}, { host });
  const header = (answer["header"] ?? {}) as { member_id?: string; revision?: string };
  const { leader = "" } = answer as { leader?: string };
  const number = (name: string) => Number(answer[name] ?? 0);
  return {
    host,
    id: header.member_id ?? "",
    leader,
    size: number("dbSize"),
    inUse: number("dbSizeInUse"),
    revision: Number(header.revision ?? 0),
  };
}

/** Alarms of other kinds (CORRUPT) are left out. */
export async function spaceAlarms(call: Call): Promise<SpaceAlarm[]> {
  const { alarms } = (await call("maintenance/alarm", { action: "GET" })) as {
    alarms?: readonly { memberID?: string; alarm?: string }[];
  };
  return (alarms ?? []).flatMap(({ memberID = "", alarm }) => (alarm === "NOSPACE" ? [{ memberID }] : []));
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

/** A revision that was compacted already is success. */
export async function compact(call: Call, revision: number): Promise<void> {
  try {
    await call("kv/compaction", { revision, physical: true }, { timeout: 60_000 });
  } catch (error) {
    const isDone = error instanceof CausewayError && error.message.includes("has been compacted");
    if (!isDone) throw error;
  }
}

/** Gives back what is free in one member's file. The member answers nothing meanwhile. */
export async function defragment(call: Call, host: string): Promise<void> {
  await call("maintenance/defragment", {}, { host, timeout: 300_000 });
}

/** Requested of the leader, `from`. */
export async function moveLeader(call: Call, from: MemberStatus, to: MemberStatus): Promise<void> {
  await call("maintenance/transfer-leadership", { targetID: to.id }, { host: from.host });
}

/** Has the etcd accept writes again, once no member has the alarm. */
export async function disarm(call: Call, { memberID }: SpaceAlarm): Promise<void> {
  await call("maintenance/alarm", { action: "DEACTIVATE", memberID, alarm: "NOSPACE" });
}
