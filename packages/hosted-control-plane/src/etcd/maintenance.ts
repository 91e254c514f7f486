import { CausewayError } from "@causeway/foundation";
import type { Call } from "./etcd-admin.ts";

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

/** Has the etcd accept writes again, once no member has the alarm. */
export async function disarm(call: Call, { memberID }: SpaceAlarm): Promise<void> {
  await call("maintenance/alarm", { action: "DEACTIVATE", memberID, alarm: "NOSPACE" });
}
