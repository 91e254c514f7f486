import { Namespace, Secret, secretText, StatefulSet, type KubernetesClient } from "@causeway/kubernetes";
import { copyName } from "../plan-keys.ts";
import { placeOf, type EtcdAuthorityStage } from "../plan-etcd-authority.ts";
import { isRolledOut, templateCredentials, workload } from "../rollout.ts";
import {
  digestOf,
  idAnnotation,
  managedSelector,
  ownerAnnotation,
  rotateAfterAnnotation,
  rotateWithoutAnnotation,
  rotationProgressAnnotation,
} from "../tenant.ts";
import { POOL_ID } from "./plan.ts";

/** An etcd that control planes share, in a service cluster. */
export interface SharedEtcd {
  readonly namespace: string;
  /** The management cluster whose control planes it has. */
  readonly owner: string;
}

/** Where the rotation of its authority is. */
export interface SharedEtcdRotation {
  /** The time (RFC 3339) that was requested last. */
  readonly requested: string | undefined;
  /** Which rotation is running, or was last. */
  readonly rotation: string | undefined;
  readonly stage: EtcdAuthorityStage;
  /** Every member runs with the authority as it is. */
  readonly isRolledOut: boolean;
  /** Control planes that the next stage waits for: how many, and the names of some of their namespaces. */
  readonly waiting: { readonly count: number; readonly names: readonly string[] };
}

/** Every shared etcd of a service cluster. */
export async function findSharedEtcds(client: KubernetesClient, signal: AbortSignal): Promise<SharedEtcd[]> {
  const { items } = await client.list(Namespace, { labelSelector: managedSelector, signal });
  return items.flatMap(({ metadata: { name, annotations = {} } }) =>
    annotations[idAnnotation] === POOL_ID ? [{ namespace: name, owner: annotations[ownerAnnotation] ?? "" }] : [],
  );
}

/** Reads how far it is, from what the controller keeps in the namespace. */
export async function readSharedRotation(
  client: KubernetesClient,
  { namespace }: SharedEtcd,
  signal: AbortSignal,
): Promise<SharedEtcdRotation> {
  const found = await client.get(Namespace, { namespace: "", name: namespace }, { signal });
  const copy = await client.find(Secret, { namespace, name: copyName("etcd-ca") }, { signal });
  const members = workload(await client.find(StatefulSet, { namespace, name: "etcd" }, { signal }));
  const credentials = await client.find(Secret, { namespace, name: "etcd" }, { signal });
  const { annotations = {} } = found.metadata;
  return {
    requested: annotations[rotateAfterAnnotation],
    ...placeOf(copy),
    isRolledOut: members !== undefined && isRolledOut(members) && hasCurrent(members, credentials),
    waiting: waitingIn(annotations[rotationProgressAnnotation]),
  };
}

/**
 * Do the members' pods get the credentials as they are, with one authority? The stage ends before the certificates and
 * the pods' template follow it.
 */
function hasCurrent(members: ReturnType<typeof workload>, credentials: Secret | undefined): boolean {
  const trusted = (credentials && secretText(credentials, "ca.crt")) ?? "";
  const authorities = trusted.split("-----BEGIN CERTIFICATE-----").length - 1;
  return authorities === 1 && templateCredentials(members) === digestOf(credentials?.data ?? null);
}

function waitingIn(text = "{}"): SharedEtcdRotation["waiting"] {
  try {
    const { waiting, waitsFor } = JSON.parse(text) as { waiting?: unknown; waitsFor?: unknown };
    const names = Array.isArray(waitsFor) ? waitsFor.filter((each) => typeof each === "string") : [];
    return { count: typeof waiting === "number" ? waiting : names.length, names };
  } catch {
    return { count: 0, names: [] };
  }
}

/**
 * Requests a rotation, or changes which control planes one that is running does not wait for. `after`: RFC 3339.
 */
export async function requestSharedRotation(
  client: KubernetesClient,
  { namespace }: SharedEtcd,
  { after, without }: { readonly after: string | undefined; readonly without: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const annotations = {
    ...(after === undefined ? {} : { [rotateAfterAnnotation]: after }),
    [rotateWithoutAnnotation]: without.length === 0 ? null : without.join(","),
  };
  const body = { metadata: { annotations } };
  await client.patch(Namespace, { namespace: "", name: namespace }, { type: "merge", body }, { signal });
}
