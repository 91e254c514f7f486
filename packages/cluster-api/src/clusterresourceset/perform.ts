import { CausewayError, messageOf } from "@causeway/foundation";
import { ClusterResourceSetBinding, type ClusterResourceSet } from "@causeway/api";
import {
  isAlreadyExists,
  isNotFound,
  keyOf,
  ownerReference,
  Service,
  type KubeObject,
  type KubernetesClient,
} from "@causeway/kubernetes";
import type { Context } from "../objects/context.ts";
import { lockOf, metadataPatch } from "../objects/metadata.ts";
import { createOnce, performWrite } from "../objects/pipeline.ts";
import { fieldManager } from "../objects/steps.ts";
import { newBinding, withOutcomes, type Outcome } from "./binding.ts";
import type { ObservedResource } from "./observed.ts";
import { manifestsOf } from "./manifests.ts";
import { Mapping } from "./mapping.ts";
import type { Application, ResourceSetStep } from "./steps.ts";

interface Order {
  readonly context: Context;
  readonly set: ClusterResourceSet;
}

/**
 * Makes one step true. Safe to repeat: an object that exists is left as it is, or applied again with the same content.
 */
export async function perform(order: Order, step: ResourceSetStep, signal: AbortSignal): Promise<void> {
  const { context, set } = order;
  if (step.type === "unbind") return unbind(context, { binding: step.binding, set }, signal);
  if (step.type !== "apply") return performWrite(context, step, signal);
  const results = await Promise.allSettled(step.applications.map((one) => applyTo(order, one, signal)));
  const failed = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  if (failed.length > 0) throw failed[0];
}

async function applyTo(order: Order, { cluster, resources }: Application, signal: AbortSignal): Promise<void> {
  const { context, set } = order;
  const remote = context.remoteClusters.get(keyOf(cluster));
  if (!remote) throw unreachable(cluster.metadata.name);
  await requireApiService(remote.client, cluster.metadata.name, signal);
  const existing =
    context.bindings.get(keyOf(cluster)) ??
    (await context.informers.client.find(ClusterResourceSetBinding, keyOf(cluster), { signal }));
  const binding = existing ?? newBinding(cluster, set);
  if (!existing) await createOnce(context, { resource: ClusterResourceSetBinding, object: binding }, signal);
  const mapping = new Mapping(remote.client);
  const outcomes: Outcome[] = [];
  let failure: unknown;
  for (const resource of resources) {
    try {
      await applyResource({ client: remote.client, mapping, set }, resource, signal);
      outcomes.push({ resource, applied: true });
    } catch (error) {
      if (signal.aborted) throw error;
      failure ??= new CausewayError(
        "CAPI_RESOURCE_NOT_APPLIED",
        `${resource.kind} ${resource.name} could not be applied to Cluster ${cluster.metadata.name}: ${messageOf(error)}`,
        { cause: error },
      );
      outcomes.push({ resource, applied: false });
    }
  }
  await record(order, { cluster, outcomes }, signal);
  if (failure) throw failure;
}

interface Target {
  readonly client: KubernetesClient;
  readonly mapping: Mapping;
  readonly set: ClusterResourceSet;
}

async function applyResource(target: Target, resource: ObservedResource, signal: AbortSignal): Promise<void> {
  for (const object of manifestsOf(resource)) await applyObject(target, object, signal);
}

/** ApplyOnce creates what is missing and changes nothing; Reconcile makes the object as the resource says. */
async function applyObject({ client, mapping, set }: Target, given: KubeObject, signal: AbortSignal): Promise<void> {
  const type = await mapping.of(given, signal);
  const namespace = type.namespaced ? (given.metadata.namespace ?? "default") : undefined;
  const { namespace: _, ...metadata } = given.metadata;
  const object = { ...given, metadata: { ...metadata, ...(namespace === undefined ? {} : { namespace }) } };
  if (set.spec.strategy === "Reconcile") {
    await client.apply(type, object, { fieldManager, signal });
    return;
  }
  try {
    await client.create(type, object, { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** A Service of the user could take the address of the API's own Service before that one is created. */
async function requireApiService(client: KubernetesClient, cluster: string, signal: AbortSignal): Promise<void> {
  if (await client.find(Service, { namespace: "default", name: "kubernetes" }, { signal })) return;
  throw new CausewayError(
    "CAPI_RESOURCE_NOT_APPLIED",
    `Cluster ${cluster} has no Service default/kubernetes yet: resources are applied after it`,
    { hint: "The step is retried." },
  );
}

async function record(
  { context, set }: Order,
  { cluster, outcomes }: { readonly cluster: Application["cluster"]; readonly outcomes: readonly Outcome[] },
  signal: AbortSignal,
): Promise<void> {
  const { client } = context.informers;
  const binding = await client.get(ClusterResourceSetBinding, keyOf(cluster), { signal });
  const spec = withOutcomes(binding, set, { outcomes, now: context.clock.now() });
  const owned = metadataPatch(binding, { owner: ownerReference(set) });
  const body = { spec, metadata: { ...lockOf(binding), ...(owned?.["metadata"] as object | undefined) } };
  await client.patch(ClusterResourceSetBinding, keyOf(cluster), { type: "merge", body }, { fieldManager, signal });
}

async function unbind(
  { informers }: Context,
  { binding, set }: { readonly binding: ClusterResourceSetBinding; readonly set: ClusterResourceSet },
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf(binding);
  const { client } = informers;
  const bindings = (binding.spec.bindings ?? []).filter(
    ({ clusterResourceSetName }) => clusterResourceSetName !== set.metadata.name,
  );
  const { uid, resourceVersion } = lockOf(binding);
  try {
    if (bindings.length === 0) {
      const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
      await client.delete(ClusterResourceSetBinding, key, { preconditions, signal });
      return;
    }
    const owners = (binding.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== set.metadata.uid);
    const body = { metadata: { ...lockOf(binding), ownerReferences: owners }, spec: { bindings } };
    await client.patch(ClusterResourceSetBinding, key, { type: "merge", body }, { fieldManager, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function unreachable(cluster: string): CausewayError {
  return new CausewayError("CAPI_WORKLOAD_UNREACHABLE", `the workload cluster ${cluster} cannot be reached`, {
    hint: "The step is retried; check the Cluster's condition RemoteConnectionProbe.",
  });
}
