import { base64 } from "@causeway/foundation";
import type { Call, EtcdAccess, EtcdAdmin } from "../../etcd/etcd-admin.ts";
import { prefixOf } from "../tenant.ts";
import { policyKeys } from "../../etcd/permissions.ts";
import { policyObjects } from "./policy.ts";
import type { StorageRecord } from "./records.ts";

/** The shared etcd: `call` as root, `etcd` for its users. */
export interface EnforceWith {
  readonly call: Call;
  readonly access: EtcdAccess;
  readonly etcd: EtcdAdmin;
  readonly now: number;
}

/** The control plane whose stage is to hold. */
export interface Enforced {
  /** Of the control plane: its namespace in the service cluster. */
  readonly name: string;
  readonly record: StorageRecord;
  /** Its user may only read now, as far as it is known. */
  readonly wasSealed: boolean;
}

/** Makes the stage of a record so; safe to repeat. False: the control plane has no data yet, or none any more. */
export async function enforceStage(
  { call, access, etcd, now }: EnforceWith,
  { name, record, wasSealed }: Enforced,
  signal: AbortSignal,
): Promise<boolean> {
  const prefix = prefixOf(name);
  const [policy, binding] = policyKeys(prefix).map(base64);
  if (record.stage === "Within") {
    for (const key of [policy, binding]) await call("kv/deleterange", { key });
    if (wasSealed) await etcd.ensureUser(access, { name, prefix }, signal);
    return true;
  }
  const [policyValue, bindingValue] = policyObjects(record, now).map((object) => base64(JSON.stringify(object)));
  // Every control plane has this namespace: keys are not left behind one that is being removed.
  const some = base64(`${prefix}registry/namespaces/kube-system`);
  const { succeeded } = await call("kv/txn", {
    compare: [{ target: "CREATE", key: some, result: "GREATER", create_revision: "0" }],
    success: [
      { request_put: { key: policy, value: policyValue } },
      { request_put: { key: binding, value: bindingValue } },
    ],
  });
  if (succeeded !== true) return false;
  await etcd.ensureUser(access, { name, prefix, sealed: record.stage === "Sealed" }, signal);
  return true;
}
