import {
  AddonSet,
  annotations,
  Cluster,
  KubeadmConfigTemplate,
  Machine,
  MachineDeployment,
  MachineHealthCheck,
  MagnumCluster,
  OpenStackMachineTemplate,
} from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import {
  addFinalizer,
  isConflict,
  isInvalid,
  isNotFound,
  keyOf,
  type JsonPatchOperation,
  type KubernetesClient,
} from "@causeway/kubernetes";
import type { ApplicationCredentialClient } from "@causeway/openstack";
import { removeIfAny, type Trustees } from "../access/trustees.ts";
import { readCredential, trusteeOf, type ClusterCredential } from "./credentials.ts";
import type { Observed } from "./gather.ts";
import { finalizer, isPending, keyOfCluster, ownMark } from "./names.ts";
import type { Step } from "./steps.ts";

/** The clients that steps of a MagnumCluster write with: Kubernetes, and Keystone to revoke credentials. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly credentials: Pick<ApplicationCredentialClient, "revoke">;
  /** Undefined: clusters have credentials of members of their projects. */
  readonly trustees?: Pick<Trustees, "remove"> | undefined;
}

/** The field manager of what the controller applies: objects of a cluster, and the status of its MagnumCluster. */
export const fieldManager = "causeway-magnum";

/**
 * Performs one step of a plan. A step that is repeated after a crash does no harm. True: it took the finalizer off, and
 * the row is gone.
 */
export async function perform(
  using: PerformContext,
  step: Step,
  observed: Observed,
  signal: AbortSignal,
): Promise<true | undefined> {
  const { client } = using;
  const { object, cluster } = observed;
  const key = keyOfCluster(object);
  const { namespace } = key;
  switch (step.type) {
    case "add-finalizer":
      await addFinalizer(client, MagnumCluster, object, { finalizer, signal });
      return;
    case "discard-row":
      await discardRow(using, object, signal);
      return;
    case "apply":
      await client.apply(step.manifest.type, step.manifest.object, { fieldManager, signal });
      return;
    case "mark-machine":
      await markMachine(client, step.machine, signal);
      return;
    case "unmark-machine":
      await unmarkMachine(client, step.machine, signal);
      return;
    case "delete-pool":
      await client.delete(
        MachineDeployment,
        { namespace, name: step.name },
        { propagationPolicy: "Foreground", signal },
      );
      return;
    case "remove-group":
      await removeGroup(client, object, step.uuid, signal);
      return;
    case "delete-health-check":
      await client.delete(MachineHealthCheck, { namespace, name: step.name }, { signal });
      return;
    case "delete-addons":
      // What they installed remains in the cluster.
      await client.delete(AddonSet, { namespace, name: step.name }, { signal });
      return;
    case "delete-templates":
      // The machine template is what the plan sees: it goes last, so that an attempt that ended in between is repeated.
      await client.delete(KubeadmConfigTemplate, { namespace, name: step.name }, { signal });
      await client.delete(OpenStackMachineTemplate, { namespace, name: step.name }, { signal });
      return;
    case "delete-cluster": {
      const uid = cluster?.metadata.uid;
      await client.delete(Cluster, key, { ...(uid === undefined ? {} : { preconditions: { uid } }), signal });
      return;
    }
    case "revoke-credential": {
      await revoke(using, object, await readCredential(client, object, signal), signal);
      return;
    }
    case "remove-finalizer":
      return release(using, object, signal);
  }
}

const ATTEMPTS = 5;

/** Takes a deleted node group off the row. Where the row has changed since the plan, the next plan does it. */
async function removeGroup(client: KubernetesClient, row: MagnumCluster, uuid: string, signal: AbortSignal) {
  const path = `/spec/nodeGroups/${row.spec.nodeGroups.findIndex((group) => group.uuid === uuid)}`;
  const body: readonly JsonPatchOperation[] = [
    { op: "test", path: "/metadata/uid", value: row.metadata.uid },
    { op: "test", path: `${path}/uuid`, value: uuid },
    { op: "remove", path },
  ];
  const patch = () => client.patch(MagnumCluster, keyOfCluster(row), { type: "json", body }, { signal });
  await unless((error) => isOutdated(error) || isConflict(error), patch);
}

/**
 * Takes the finalizer off the row as it was before its credential was read and revoked. A renewal that wrote another
 * credential since has changed the row: then that one is revoked, too.
 */
async function release(using: PerformContext, object: MagnumCluster, signal: AbortSignal): Promise<true | undefined> {
  const { client } = using;
  let row = object;
  for (let attempt = 1; ; attempt += 1) {
    const at = row.metadata.finalizers?.indexOf(finalizer) ?? -1;
    if (at === -1) return;
    const path = `/metadata/finalizers/${at}`;
    const body: readonly JsonPatchOperation[] = [
      { op: "test", path: "/metadata/uid", value: row.metadata.uid },
      { op: "test", path: "/metadata/resourceVersion", value: row.metadata.resourceVersion },
      { op: "test", path, value: finalizer },
      { op: "remove", path },
    ];
    try {
      await client.patch(MagnumCluster, keyOfCluster(row), { type: "json", body }, { signal });
      return true;
    } catch (error) {
      if (isNotFound(error)) return;
      // A failed test is "Invalid" to a kube-apiserver.
      if (attempt === ATTEMPTS || !(isConflict(error) || isInvalid(error))) throw error;
    }
    const found = await client.find(MagnumCluster, keyOfCluster(object), { signal });
    if (found === undefined || found.metadata.uid !== object.metadata.uid) return;
    row = found;
    await revoke(using, row, await readCredential(client, row, signal), signal);
  }
}

/** The user of a cluster goes with its credentials, also where an attempt ended before it had any. */
async function revoke(
  { credentials, trustees }: PerformContext,
  object: MagnumCluster,
  credential: ClusterCredential | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (credential?.isTrustee === true && trustees === undefined)
    throw new CausewayError("MAGNUM_TRUSTEE_ACCOUNT", `the cluster's user ${credential.userId} cannot be deleted`, {
      hint: "Start the Magnum API with --trustee-cloud and --trustee-domain, as when the cluster was created.",
    });
  if (credential === undefined && isPending(object)) await removeIfAny(trustees, trusteeOf(object), signal);
  else await trustees?.remove(trusteeOf(object), signal);
  if (credential !== undefined && credential.isTrustee !== true) await credentials.revoke(credential, { signal });
}

/**
 * A row that has the finalizer is only marked as deleted: the next plan revokes its credential, and then releases it.
 */
async function discardRow(using: PerformContext, object: MagnumCluster, signal: AbortSignal): Promise<void> {
  const { client } = using;
  const isHeld = object.metadata.finalizers?.includes(finalizer) === true;
  const credential = isHeld ? undefined : await readCredential(client, object, signal);
  const { uid = "", resourceVersion = "" } = object.metadata;
  try {
    await client.delete(MagnumCluster, keyOfCluster(object), { preconditions: { uid, resourceVersion }, signal });
  } catch (error) {
    // It was written since the plan, shown perhaps: the next plan has the new one.
    if (isConflict(error)) return;
    throw error;
  }
  if (!isHeld) await revoke(using, object, credential, signal);
}

/**
 * A mark that fails ends the plan: without it another machine would go when the group becomes smaller. So does one of a
 * machine that has changed: it may have the mark of another controller, which is neither replaced nor removed.
 */
async function markMachine(client: KubernetesClient, machine: Machine, signal: AbortSignal): Promise<void> {
  const { resourceVersion } = machine.metadata;
  const body = { metadata: { resourceVersion, annotations: { [annotations.deleteMachine]: ownMark } } };
  await unless(isNotFound, () => client.patch(Machine, keyOf(machine), { type: "merge", body }, { signal }));
}

/** Takes the mark off, unless it was replaced by another one meanwhile. */
async function unmarkMachine(client: KubernetesClient, machine: Machine, signal: AbortSignal): Promise<void> {
  const path = `/metadata/annotations/${annotations.deleteMachine.replace("/", "~1")}`;
  const body: readonly JsonPatchOperation[] = [
    { op: "test", path, value: ownMark },
    { op: "remove", path },
  ];
  await unless(isOutdated, () => client.patch(Machine, keyOf(machine), { type: "json", body }, { signal }));
}

/** The object of a patch is gone, or its tests fail, which is "Invalid" to a kube-apiserver. */
const isOutdated = (error: unknown): boolean => isNotFound(error) || isInvalid(error);

async function unless(isNeedless: (error: unknown) => boolean, patch: () => Promise<unknown>): Promise<void> {
  try {
    await patch();
  } catch (error) {
    if (!isNeedless(error)) throw error;
  }
}
