import { Cluster, HostedControlPlane } from "@causeway/api";
import { InputError } from "@causeway/foundation";
import { isAlreadyExists, ownerReference, type KubernetesClient, type ObjectKey } from "@causeway/kubernetes";
import { withManagement } from "../../clusters/place.ts";
import { waitUntil } from "../../clusters/wait.ts";
import { searchControlPlane } from "../../clusters/find-control-plane.ts";
import type { RestoreControlPlaneOptions } from "./command.ts";
import { planRestore, type RestoredObjects } from "./plan-restore.ts";
import { objectKeyOf } from "../../options/object-key.ts";
import { documentOf, listOf } from "../../terminal/documents.ts";
import { ownName } from "../../terminal/own-name.ts";

/**
 * Creates a control plane from a backup of another one, and waits until it serves.
 * @throws FLAG_INVALID, CLUSTER_NAME_INVALID, RESTORE_NOT_POSSIBLE, BACKUP_POINT_MISSING, RESTORE_TIMEOUT
 */
export async function restoreControlPlane(
  given: string,
  options: RestoreControlPlaneOptions,
  signal: AbortSignal,
): Promise<void> {
  await withManagement(options, async ({ client, namespace }) => {
    const key = objectKeyOf(given, namespace);
    const from = options.from.startsWith(`${key.namespace}/`)
      ? options.from.slice(key.namespace.length + 1)
      : options.from;
    const [name = ""] = from.split("/");
    const object = await searchControlPlane(client, { namespace: key.namespace, name }, signal);
    const cluster = object && (await clusterOf(client, object, signal));
    const objects = planRestore({ ...options, key, from }, { object, cluster });
    if (options.dryRun) return write([objects.cluster, objects.controlPlane], options);
    await create(client, key, objects, signal);
    const say = (line: string): void => {
      if (options.output === "table") process.stdout.write(`control plane ${key.namespace}/${key.name}: ${line}\n`);
    };
    say(`created from the backup of ${from}`);
    if (options.wait) await serve(client, key, { timeout: options.timeout, say }, signal);
    if (options.output !== "table") return write(await client.get(HostedControlPlane, key, { signal }), options);
    if (options.wait) say(`serves; kubeconfig: ${ownName()} kubeconfig cluster ${key.name} -n ${key.namespace}`);
  });
}

async function clusterOf(
  client: KubernetesClient,
  { metadata }: HostedControlPlane,
  signal: AbortSignal,
): Promise<Cluster | undefined> {
  const name = metadata.ownerReferences?.find(({ kind }) => kind === "Cluster")?.name ?? metadata.name;
  return client.find(Cluster, { namespace: metadata.namespace ?? "", name }, { signal });
}

/** The Cluster first, so that the control plane is owned by it from its beginning. */
async function create(
  client: KubernetesClient,
  key: ObjectKey,
  { cluster, controlPlane }: RestoredObjects,
  signal: AbortSignal,
): Promise<void> {
  const before = await searchControlPlane(client, key, signal);
  const isTaken = before !== undefined || (await client.find(Cluster, key, { signal })) !== undefined;
  if (isTaken) throw taken(key);
  const owner = await client.create(Cluster, cluster, { signal }).catch((error: unknown) => {
    if (isAlreadyExists(error)) throw taken(key);
    throw error;
  });
  const ownerReferences = [ownerReference(owner, { controller: true })];
  const owned = { ...controlPlane, metadata: { ...controlPlane.metadata, ownerReferences } };
  try {
    await client.create(HostedControlPlane, owned, { signal });
  } catch (error) {
    // What the API refuses leaves no half of it.
    await client.delete(Cluster, key, { signal }).catch(() => {
      // The error above says what is wrong; the empty Cluster is deleted by its name.
    });
    throw error;
  }
}

function taken({ namespace, name }: ObjectKey): InputError {
  return new InputError("RESTORE_NOT_POSSIBLE", `there is a cluster or control plane ${namespace}/${name} already`, {
    hint: "A restore creates a new one: give it another name, or delete the old one first.",
  });
}

async function serve(
  client: KubernetesClient,
  key: ObjectKey,
  { timeout, say }: { readonly timeout: number; readonly say: (line: string) => void },
  signal: AbortSignal,
): Promise<void> {
  let last = "";
  const check = async (): Promise<string | undefined> => {
    const { status } = await client.get(HostedControlPlane, key, { signal });
    const condition = status?.conditions?.find(({ type }) => type === "Available");
    if (condition?.status === "True") return undefined;
    const missing = condition?.message ?? "it is being created";
    if (missing !== last) say((last = missing));
    return missing;
  };
  await waitUntil(check, { ...key, timeout, signal, code: "RESTORE_TIMEOUT" });
}

/** A table would have one row: objects are for programs, and for an editor. */
function write(value: unknown, { output }: RestoreControlPlaneOptions): void {
  const objects: readonly unknown[] = Array.isArray(value) ? value : [value];
  const json = documentOf(objects.length === 1 ? objects[0] : listOf(objects), output === "json" ? "json" : "table");
  process.stdout.write(json ?? objects.map((each) => documentOf(each, "yaml")).join("---\n"));
}
