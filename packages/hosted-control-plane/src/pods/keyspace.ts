import { secretText, type Secret } from "@causeway/kubernetes";
import type { Keyspace } from "../backup/datastore.ts";
import type { BackupTarget } from "../backup/gather.ts";
import type { ControlPlaneProblem } from "../runtime.ts";
import type { Observed } from "./observed.ts";
import { ETCD_CLIENT_PORT } from "./objects/etcd.ts";
import { isPooled } from "./options.ts";
import { pairOf } from "./plan-credentials.ts";
import { readyAddresses } from "./rollout.ts";
import { budgetOf } from "./sizes.ts";
import type { Step } from "./steps.ts";
import { prefixOf, restoredAnnotation } from "./tenant.ts";

type KeyspaceFrom = Pick<Observed, "spec" | "pool" | "live" | "pods" | "namespaceName">;

/** Where the control plane's data is; undefined: the etcd cannot be reached now. */
export function keyspaceOf({ spec, pool, live, pods, namespaceName }: KeyspaceFrom): Keyspace | undefined {
  if (isPooled(spec)) {
    const access = pool?.ready === true ? pool.access : undefined;
    return access && { access, prefix: prefixOf(namespaceName) };
  }
  const [addresses, root] = [readyAddresses(pods, "etcd"), live.get("Secret/etcd-ca") as Secret | undefined];
  if (addresses.length === 0 || root === undefined) return undefined;
  const serverName = `etcd.${namespaceName}.svc`;
  return {
    access: { addresses, port: ETCD_CLIENT_PORT, serverName, authority: pairOf(root), password: "" },
    prefix: "/",
  };
}

/** What is backed up of it; before its first API server there is nothing. */
export function backupTarget(observed: Observed): BackupTarget {
  const { spec, live } = observed;
  const encryption = secretText(live.get("Secret/encryption") as Secret | undefined, "config.yaml");
  const keyspace = live.has("Deployment/kube-apiserver") ? keyspaceOf(observed) : undefined;
  return { spec, encryption, keyspace };
}

/**
 * Its data is there: it is not from a backup, or was restored. Where an API server was started, nothing is restored any
 * more.
 */
export function isRestored({ spec, live, namespace, restored }: Observed): boolean {
  if (spec.restore === undefined || restored || live.has("Deployment/kube-apiserver")) return true;
  return namespace?.metadata.annotations?.[restoredAnnotation] !== undefined;
}

/** When etcd is as wanted, and before the first API server. */
export function restoreSteps(observed: Observed, isEtcdDone: boolean): Step[] {
  const { restore: from } = observed.spec;
  const keyspace = keyspaceOf(observed);
  if (from === undefined || keyspace === undefined || !isEtcdDone || isRestored(observed)) return [];
  // A shared etcd takes no more of it than what the control plane may store.
  const limit = isPooled(observed.spec) ? budgetOf(observed.spec) : undefined;
  return [{ type: "restore", from: { ...from, ...(limit === undefined ? {} : { limit }) }, keyspace }];
}

/** Undefined: it did not fail, or is attempted again. */
export function restoreFailureOf(observed: Observed, now: number): Observed["restoreFailure"] {
  const { restoreFailure } = observed;
  return restoreFailure === undefined || now >= restoreFailure.until || isRestored(observed)
    ? undefined
    : restoreFailure;
}

/** What is said meanwhile. */
export const restoring: ControlPlaneProblem = {
  code: "CONTROL_PLANE_RESTORING",
  message: "the data is being restored from the backup",
  actor: "none",
};
