import { base64, type Clock } from "@causeway/foundation";
import type { Keyspace } from "../../backup/datastore.ts";
import { openEtcd, type EtcdAdmin } from "../../etcd/etcd-admin.ts";
import { frozenKey } from "../../etcd/permissions.ts";

interface FreezeWith {
  readonly etcd: EtcdAdmin;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The user of the control plane in the shared etcd. */
interface FrozenUser {
  readonly name: string;
  readonly from: Keyspace;
}

/** Its API servers can read only: every write that was accepted is stored when this returns. */
export async function freeze({ name, from }: FrozenUser, { etcd, clock, signal }: FreezeWith): Promise<void> {
  const call = await openEtcd(from.access, { clock, signal });
  await call("kv/put", { key: base64(frozenKey(from.prefix)), value: base64("1") });
  await etcd.ensureUser(from.access, { name, prefix: from.prefix, sealed: true }, signal);
}

/** Writes are accepted again. `sealed`: its storage budget does not let it write. */
export async function thaw(
  { name, from, sealed }: FrozenUser & { readonly sealed: boolean },
  { etcd, clock, signal }: FreezeWith,
): Promise<void> {
  const call = await openEtcd(from.access, { clock, signal });
  await call("kv/deleterange", { key: base64(frozenKey(from.prefix)) });
  await etcd.ensureUser(from.access, { name, prefix: from.prefix, sealed }, signal);
}
