import { hasCode } from "@causeway/foundation";
import type { Call } from "../etcd/etcd-admin.ts";
import { compact, defragment, disarm, memberStatus, spaceAlarms } from "../etcd/maintenance.ts";
import { rangeOf } from "../etcd/range.ts";

/** An etcd that has one control plane only, and the marks of a restore in it, in base64. */
export interface OwnEtcd {
  readonly call: Call;
  readonly addresses: readonly string[];
  readonly prefix: string;
  readonly done: string;
  readonly fence: string;
}

/**
 * Gives up what an unfinished attempt wrote, with its revisions: deleted values remain in an etcd's file, and those of
 * two attempts may exceed its quota, after which it accepts no put. No API server uses the etcd yet, so that its
 * members may be away for a moment. An attempt that still runs has no fence any more, and fails.
 */
export async function clearAttempt({ call, addresses, prefix, done, fence }: OwnEtcd): Promise<"done" | "cleared"> {
  const { count = 0 } = (await call("kv/range", { key: fence, count_only: true })) as { count?: string };
  const alarms = await spaceAlarms(call);
  if (Number(count) === 0 && alarms.length === 0) return "cleared";
  // A transaction without a put is accepted by an etcd without space, too.
  const cleared = await call("kv/txn", {
    compare: [{ target: "CREATE", key: done, result: "EQUAL", create_revision: "0" }],
    success: [{ request_delete_range: rangeOf(`${prefix}registry/`) }, { request_delete_range: { key: fence } }],
  });
  if (cleared["succeeded"] !== true) return "done";
  const { revision = "0" } = (cleared["header"] ?? {}) as { revision?: string };
  await compact(call, Number(revision));
  for (const host of addresses) {
    const { size, inUse } = await memberStatus(call, host);
    if (size - inUse > size / 10) await defragment(call, host);
  }
  for (const alarm of alarms) await disarm(call, alarm);
  return "cleared";
}

/** Did a write fail since the etcd has no space? */
export async function isFull(call: Call, error: unknown): Promise<boolean> {
  return hasCode(error, "PODS_ETCD_REFUSED") && (await spaceAlarms(call)).length > 0;
}
