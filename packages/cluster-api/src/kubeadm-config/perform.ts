import { base64, CausewayError } from "@causeway/foundation";
import { clusterSecretType } from "@causeway/api";
import {
  ConfigMap,
  isAlreadyExists,
  isConflict,
  isNotFound,
  keyOf,
  ownerReference,
  Secret,
  secretText,
  timestamp,
  type RemoteCluster,
} from "@causeway/kubernetes";
import type { Context } from "../objects/context.ts";
import { lockOf } from "../objects/metadata.ts";
import { createOnce } from "../objects/pipeline.ts";
import { fieldManager } from "../objects/steps.ts";
import { endpointText } from "../objects/kubeadm.ts";
import { cloudConfig, initCloudConfig } from "./cloud-config.ts";
import type { Observed, ConfigOwner } from "./observed.ts";
import { pinsOf } from "./join-configuration.ts";
import { clusterLabels } from "./gather.ts";
import { lockName, newLock } from "./lock.ts";
import { hasControlPlane } from "./plan.ts";
import type { ConfigStep } from "./steps.ts";
import { newToken } from "./new-token.ts";
import { isToken, tokenNamespace, tokenSecret } from "./token.ts";

/** Makes one step true. Safe to repeat: whichever data Secret is created first settles the token. */
export async function perform(
  context: Context,
  order: { readonly step: ConfigStep; readonly observed: Observed },
  signal: AbortSignal,
): Promise<void> {
  const { step, observed } = order;
  if (step.type === "create-data-secret") {
    await createOnce(context, { resource: Secret, object: dataSecret(observed) }, signal);
    return;
  }
  if (step.type === "acquire-lock") return acquireLock(context, observed, signal);
  if (step.type === "release-lock") return releaseLock(context, { observed, uid: step.uid }, signal);
  if (step.type === "rotate-token") return rotate(context, observed, signal);
  const { client } = remoteOf(context, observed);
  switch (step.type) {
    case "create-token": {
      const token = secretText(observed.dataSecret, "bootstrap-token");
      if (!isToken(token)) throw new TypeError("the data Secret holds no bootstrap token");
      const owner = { configUid: observed.config.metadata.uid ?? "", machine: observed.owner?.name ?? "" };
      await client.create(Secret, tokenSecret(token, owner, step.expires), { fieldManager, signal });
      return;
    }
    case "extend-token": {
      const body = { data: { expiration: base64(timestamp(step.expires)) } };
      const key = { namespace: tokenNamespace, name: step.name };
      await client.patch(Secret, key, { type: "merge", body }, { fieldManager, signal });
      return;
    }
    case "delete-token": {
      await client.delete(Secret, { namespace: tokenNamespace, name: step.name }, { signal });
      const { token } = observed;
      if (token && token !== "unreachable")
        context.pendingDeletions.note(token.metadata.uid ?? "", context.clock.now());
      return;
    }
  }
}

async function rotate({ informers }: Context, observed: Observed, signal: AbortSignal): Promise<void> {
  const standing = observed.dataSecret;
  if (!standing) return;
  const body = { metadata: lockOf(standing), data: dataSecret(observed).data };
  await informers.client.patch(Secret, keyOf(standing), { type: "merge", body }, { fieldManager, signal });
}

async function acquireLock(context: Context, { cluster, owner }: Observed, signal: AbortSignal): Promise<void> {
  if (!cluster || !owner) return;
  try {
    await context.informers.client.create(ConfigMap, newLock(cluster, owner.name), { fieldManager, signal });
  } catch (error) {
    // Another machine was first: the next reconcile reads which.
    if (!isAlreadyExists(error)) throw error;
  }
}

async function releaseLock(
  { informers }: Context,
  { observed, uid }: { readonly observed: Observed; readonly uid: string },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = "" } = observed.config.metadata;
  const key = { namespace, name: lockName(observed.owner?.clusterName ?? "") };
  try {
    await informers.client.delete(ConfigMap, key, { preconditions: { uid }, signal });
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

function dataSecret(observed: Observed): Secret {
  const { config, owner } = observed;
  const given = config.spec.joinConfiguration?.discovery;
  const token = given?.bootstrapToken?.token ?? newToken();
  if (!owner) throw early();
  const initialises = owner.isControlPlane && !hasControlPlane(observed);
  const managed = !initialises && given?.bootstrapToken?.token === undefined && !given?.file;
  const { name, namespace = "" } = config.metadata;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace,
      labels: clusterLabels(owner),
      ownerReferences: [ownerReference(config, { controller: true })],
    },
    type: clusterSecretType,
    data: {
      value: base64(initialises ? initDataOf(observed, owner) : joinDataOf(observed, owner, token)),
      format: base64(config.spec.format ?? "cloud-config"),
      // Lets the token be found again, and made again should it expire before the machine is up.
      ...(managed ? { "bootstrap-token": base64(token) } : {}),
    },
  };
}

function initDataOf({ config, cluster, certificates, secrets }: Observed, owner: ConfigOwner): string {
  if (!cluster || !certificates) throw early();
  return initCloudConfig(config.spec, { cluster, certificates, machine: owner.name, version: owner.version }, secrets);
}

function joinDataOf(observed: Observed, owner: ConfigOwner, token: string): string {
  const { config, cluster, authority, certificates, secrets } = observed;
  const endpoint = endpointText(cluster);
  if (!authority || !endpoint) throw early();
  const join = {
    machine: owner.kind === "Machine" ? owner.name : undefined,
    version: owner.version,
    endpoint,
    token,
    caCertHashes: pinsOf(authority),
    isControlPlane: owner.isControlPlane,
    certificates,
  };
  return cloudConfig(config.spec, join, secrets);
}

function early(): TypeError {
  return new TypeError("the data Secret was planned too early");
}

function remoteOf({ remoteClusters }: Context, { owner, config }: Observed): RemoteCluster {
  const { namespace = "" } = config.metadata;
  const remote = owner && remoteClusters.get({ namespace, name: owner.clusterName });
  if (remote) return remote;
  throw new CausewayError("CAPI_WORKLOAD_UNREACHABLE", "the workload cluster cannot be reached", {
    hint: "The step is retried; check the Cluster's condition RemoteConnectionProbe.",
  });
}
