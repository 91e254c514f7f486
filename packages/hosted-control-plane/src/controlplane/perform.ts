import { CausewayError, type Clock } from "@causeway/foundation";
import {
  addFinalizer,
  isAlreadyExists,
  ownerReference,
  removeFinalizer,
  Secret,
  type EventRecorder,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { HostedControlPlane } from "@causeway/api";
import type { Backups } from "../backup/backups.ts";
import { restoredRoot, type RestoredRoot } from "../backup/secrets.ts";
import { notOffered } from "../backup/store.ts";
import type { ControlPlaneRuntime } from "../runtime.ts";
import type { Observed } from "./gather.ts";
import { clusterName, runtimeId } from "./names.ts";
import { adminKubeconfig } from "./kubeconfig.ts";
import { bundleOf, rotationAnnotation, stageAnnotation } from "./roots.ts";
import { newRoot } from "./new-root.ts";
import { rootData, rotateRoot } from "./rotate-root.ts";
import { restoreOf } from "./backup-spec.ts";
import { finalizer, secretFinalizer } from "./plan.ts";
import type { RootPurpose, Step } from "./steps.ts";

/** What the writes need. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly runtime: ControlPlaneRuntime;
  /** Undefined: none is restored here. */
  readonly backups?: Backups;
  readonly clock: Clock;
  readonly events: EventRecorder;
}

/** "deferred": another leader brought the root to its next stage first. */
export async function perform(
  using: PerformContext,
  step: Step,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { object } = observed;
  switch (step.type) {
    case "add-finalizer":
      await addFinalizer(using.client, HostedControlPlane, object, { finalizer, signal });
      return undefined;
    case "create-root":
      await createRoot(using, observed, step.purpose, signal);
      return undefined;
    case "rotate-root":
      return rotateRoot(using, step, observed, signal);
    case "run":
      await using.runtime.ensure(step.spec, signal);
      return undefined;
    case "write-kubeconfig":
      await writeKubeconfig(using, observed, step, signal);
      return undefined;
    case "hold-kubeconfig":
      await addFinalizer(using.client, Secret, step.secret, { finalizer: secretFinalizer, signal });
      return undefined;
    case "release-kubeconfig":
      await removeFinalizer(using.client, Secret, step.secret, { finalizer: secretFinalizer, signal });
      return undefined;
    case "remove":
      using.events.event(object, {
        type: "Normal",
        reason: "Deleting",
        message: "Removing the hosted control plane and its data",
      });
      await using.runtime.remove(runtimeId(object), signal);
      return undefined;
    case "remove-finalizer":
      await removeFinalizer(using.client, HostedControlPlane, object, { finalizer, signal });
      return undefined;
  }
}

/**
 * For a control plane that is restored from a backup: the authorities that its nodes and tokens trust, with the stage
 * of a rotation that was under way.
 */
async function rootOf(
  { backups, clock }: PerformContext,
  { object, cluster }: Observed,
  purpose: RootPurpose,
  signal: AbortSignal,
): Promise<RestoredRoot> {
  const restore = restoreOf(object);
  if (restore === undefined) return { pair: await newRoot(purpose, clusterName(object, cluster), clock.now()) };
  if (backups === undefined) throw notOffered();
  return restoredRoot(await backups.secrets(restore, signal), purpose);
}

function secretOf(observed: Observed, purpose: string): Secret {
  const { object, cluster } = observed;
  const name = clusterName(object, cluster);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: `${name}-${purpose}`,
      namespace: object.metadata.namespace ?? "",
      labels: { "cluster.x-k8s.io/cluster-name": name },
      ownerReferences: [ownerReference(object, { controller: true })],
    },
    type: "cluster.x-k8s.io/secret",
  };
}

/** A root that already exists (created by a user, or by an attempt whose response was lost) is the one in use. */
async function createRoot(
  using: PerformContext,
  observed: Observed,
  purpose: RootPurpose,
  signal: AbortSignal,
): Promise<void> {
  const { pair, rotating } = await rootOf(using, observed, purpose, signal);
  const { metadata, ...rest } = secretOf(observed, purpose);
  const annotations =
    rotating === undefined
      ? {}
      : { annotations: { [stageAnnotation]: rotating.stage, [rotationAnnotation]: rotating.rotation } };
  const secret = {
    ...rest,
    metadata: { ...metadata, ...annotations },
    data: rootData(purpose, pair, rotating?.other),
  };
  try {
    await using.client.create(Secret, secret, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const { namespace = "", name, labels } = secret.metadata;
    refuseUnusable(await using.client.get(Secret, { namespace, name }, { signal }), labels);
  }
}

/** Without this an unusable Secret would be read again and again and never reported. */
function refuseUnusable(secret: Secret, labels: Readonly<Record<string, string>> | undefined): void {
  const missing = [
    ...Object.entries(labels ?? {})
      .filter(([name, value]) => secret.metadata.labels?.[name] !== value)
      .map(([name, value]) => `label ${name}=${value}`),
    ...["tls.crt", "tls.key"].filter((key) => !secret.data?.[key]).map((key) => `key ${key}`),
  ];
  if (missing.length === 0) return;
  const { name } = secret.metadata;
  throw new CausewayError("CONTROL_PLANE_SECRET_UNUSABLE", `Secret ${name} exists but lacks ${missing.join(", ")}`, {
    hint: "Add the missing label or keys, or delete the Secret to have it created.",
  });
}

async function writeKubeconfig(
  using: PerformContext,
  observed: Observed,
  { server, serverName }: Extract<Step, { type: "write-kubeconfig" }>,
  signal: AbortSignal,
): Promise<void> {
  const root = observed.authorities?.roots.ca;
  if (!root) return;
  const cluster = clusterName(observed.object, observed.cluster);
  const { text, annotations } = await adminKubeconfig({
    cluster,
    server,
    serverName,
    authority: root.pair,
    trusted: bundleOf(root),
    now: using.clock.now(),
  });
  const base = secretOf(observed, "kubeconfig");
  const secret = {
    ...base,
    metadata: { ...base.metadata, annotations, finalizers: [secretFinalizer] },
    data: { value: encode(text) },
  };
  await using.client.apply(Secret, secret, { fieldManager: "causeway-hosted-control-plane", signal });
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
