import { AddonSet } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import {
  addFinalizer,
  isNotFound,
  removeFinalizer,
  Secret,
  type KubernetesClient,
  type ObjectKey,
} from "@causeway/kubernetes";
import { Application, applicationText } from "../argo/application.ts";
import { argoFinalizer, cascadingFinalizer, isOfCluster, setOf } from "../argo/names.ts";
import { fieldManager } from "../manifests/names.ts";
import type { Observed } from "./gather.ts";
import type { ArgoStep } from "./steps.ts";

/** Writes what Argo CD reads in the management cluster. */
export async function performArgo(
  client: KubernetesClient,
  step: ArgoStep,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { set } = observed;
  switch (step.type) {
    case "add-argo-finalizer":
      await addFinalizer(client, AddonSet, set, { finalizer: argoFinalizer, signal });
      return;
    case "remove-argo-finalizer":
      await removeFinalizer(client, AddonSet, set, { finalizer: argoFinalizer, signal });
      return;
    case "apply-cluster-secret":
      return applySecret(client, observed, signal);
    case "apply-application":
      return applyApplication(client, step.addon, observed, signal);
    case "delete-application":
      await deleteApplication(client, step, observed, signal);
      return;
    case "delete-cluster-secret":
      await deleteSecret(client, step.key, observed, signal);
      return;
  }
}

const clusterKeyOf = ({ set }: Observed): ObjectKey => ({
  namespace: set.metadata.namespace ?? "",
  name: set.spec.clusterName ?? "",
});

async function applySecret(
  client: KubernetesClient,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const wanted = observed.argo?.secret?.wanted;
  if (!wanted) return "deferred";
  const { namespace = "", name } = wanted.metadata;
  const live = await client.find(Secret, { namespace, name }, { signal });
  if (live && !isOfCluster(live, clusterKeyOf(observed))) throw taken(`Secret ${namespace}/${name}`);
  await client.apply(Secret, wanted, { fieldManager, force: true, signal });
  return undefined;
}

async function applyApplication(
  client: KubernetesClient,
  addon: string,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const wanted = observed.argo?.applications.get(addon)?.wanted;
  if (!wanted) return "deferred";
  const { namespace = "", name } = wanted.metadata;
  const live = await client.find(Application, { namespace, name }, { signal });
  if (live && !isOwn(live, observed)) throw taken(applicationText({ namespace, name }));
  if (live?.metadata.deletionTimestamp !== undefined) return "deferred";
  await client.apply(Application, wanted, { fieldManager, force: true, signal });
  return undefined;
}

function isOwn(live: Application, { set }: Observed): boolean {
  const of = setOf(live);
  return of?.name === set.metadata.name && of.namespace === set.metadata.namespace;
}

function taken(what: string): CausewayError {
  return new CausewayError("ADDON_ARGO_CD_NAME_TAKEN", `${what} exists and was not made for this AddonSet`, {
    hint: "Delete or rename it.",
  });
}

interface Deletion {
  readonly key: ObjectKey;
  readonly cascade: boolean;
}

/** With the finalizer Argo CD deletes the objects of an Application first. */
async function deleteApplication(
  client: KubernetesClient,
  { key, cascade }: Deletion,
  observed: Observed,
  signal: AbortSignal,
): Promise<void> {
  const live = await client.find(Application, key, { signal });
  if (!live || !isOwn(live, observed)) return;
  const { uid, finalizers = [], deletionTimestamp } = live.metadata;
  const options = { finalizer: cascadingFinalizer, signal };
  const has = finalizers.includes(cascadingFinalizer);
  if (cascade && !has) await addFinalizer(client, Application, live, options);
  if (!cascade && has) await removeFinalizer(client, Application, live, options);
  if (deletionTimestamp !== undefined) return;
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  await ignoreGone(client.delete(Application, key, { ...preconditions, signal }));
}

async function deleteSecret(
  client: KubernetesClient,
  key: ObjectKey,
  observed: Observed,
  signal: AbortSignal,
): Promise<void> {
  const live = await client.find(Secret, key, { signal });
  if (!live || !isOfCluster(live, clusterKeyOf(observed))) return;
  const { uid } = live.metadata;
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  await ignoreGone(client.delete(Secret, key, { ...preconditions, signal }));
}

async function ignoreGone(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
