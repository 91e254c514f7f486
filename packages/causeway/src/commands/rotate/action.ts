import { HostedControlPlane } from "@causeway/api";
import { CausewayError, InputError, systemClock } from "@causeway/foundation";
import { timestamp, type KubernetesClient, type ObjectKey } from "@causeway/kubernetes";
import { findCluster } from "../../clusters/find.ts";
import { withManagement } from "../../clusters/place.ts";
import { waitUntil } from "../../clusters/wait.ts";
import type { RotateAuthorityOptions } from "./command.ts";
import { afterPreparation, isReached, progressOf, requestRetirement, requestRotation } from "./progress.ts";
import { objectKeyOf } from "../../options/object-key.ts";
import { ownName } from "../../terminal/own-name.ts";

/**
 * Requests one phase of a rotation, and follows it to its end.
 * @throws FLAG_INVALID, CLUSTER_NOT_FOUND, CONTROL_PLANE_NOT_HOSTED, ROTATION_NOT_POSSIBLE, ROTATION_TIMEOUT
 */
export async function rotateAuthority(
  given: string,
  options: RotateAuthorityOptions,
  signal: AbortSignal,
): Promise<void> {
  await withManagement(options, async (management) => {
    const cluster = objectKeyOf(given, management.namespace);
    const target = { client: management.client, cluster, key: await hostedOf(management.client, cluster, signal) };
    await rotate(target, options, signal);
  });
}

interface Target {
  readonly client: KubernetesClient;
  readonly cluster: ObjectKey;
  /** Of its HostedControlPlane. */
  readonly key: ObjectKey;
}

async function rotate(
  { client, cluster, key }: Target,
  { retire, ignoreMachines, wait, timeout }: RotateAuthorityOptions,
  signal: AbortSignal,
): Promise<void> {
  const shown = `${cluster.namespace}/${cluster.name}`;
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const object = await client.get(HostedControlPlane, key, { signal });
  const now = timestamp(systemClock.now());
  const request = retire ? requestRetirement(object, { now, ignoreMachines }) : requestRotation(object, now);
  if ("refusal" in request)
    throw new InputError(
      "ROTATION_NOT_POSSIBLE",
      `the authorities of cluster ${shown} cannot be rotated: ${request.refusal}`,
      {
        hint: retire
          ? `Begin a rotation: causeway rotate authority ${shown}`
          : `See: ${ownName()} describe cluster ${cluster.name} -n ${cluster.namespace}`,
      },
    );
  const { patch, rotation } = request;
  const body = { spec: { authorities: patch } };
  if (patch !== undefined) await client.patch(HostedControlPlane, key, { type: "merge", body }, { signal });
  say(`cluster ${shown}: rotation ${rotation} ${patch === undefined ? "is under way" : "requested"}`);
  if (!wait) return;
  const goal = retire ? "Current" : "Prepared";
  let last = "";
  const check = async (): Promise<string | undefined> => {
    const found = await client.get(HostedControlPlane, key, { signal });
    const progress = progressOf(found);
    const done = isReached(found, rotation, goal);
    // Before the controller has seen the request, it says what was before.
    if (progress !== last && (done || found.status?.authorities?.rotation === rotation)) say((last = progress));
    return done ? undefined : progress;
  };
  await waitUntil(check, { ...cluster, timeout, signal, code: "ROTATION_TIMEOUT" });
  const after = await client.get(HostedControlPlane, key, { signal });
  if (retire) return say(`cluster ${shown}: the old authorities are no longer trusted`);
  for (const line of afterPreparation(shown, after.status?.authorities ?? {})) say(line);
}

/** The control plane of a cluster. */
async function hostedOf(client: KubernetesClient, key: ObjectKey, signal: AbortSignal): Promise<ObjectKey> {
  const { spec } = await findCluster(client, key, signal);
  const { kind = "none", name = "" } = spec.controlPlaneRef ?? {};
  if (kind === "HostedControlPlane") return { namespace: key.namespace, name };
  throw new CausewayError(
    "CONTROL_PLANE_NOT_HOSTED",
    `cluster ${key.namespace}/${key.name} has a control plane of kind ${kind}, whose authorities are not rotated by this command`,
    { hint: "Only clusters with a HostedControlPlane can be rotated." },
  );
}
