import { moveClusters, namespacesToMove, restoreClusters, saveClusters, type MoveResult } from "@causeway/cluster-api";
import { InputError, systemClock } from "@causeway/foundation";
import { createPodsTransfer } from "@causeway/hosted-control-plane";
import { createClient, Namespace, type KubernetesClient } from "@causeway/kubernetes";
import { withManagement } from "../../clusters/place.ts";
import { chosenCluster } from "../../composition/chosen.ts";
import type { MoveOptions } from "./command.ts";
import { measureClusters } from "./interruptions.ts";
import { moveEach } from "./namespaces.ts";

const report = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Moves the clusters of a namespace, saves them in a folder, or creates them from one.
 * @throws MOVE_TARGET_MISSING, FLAG_INVALID, MOVE_NAMESPACES_LEFT, and what `moveClusters`, `saveClusters` and
 * `restoreClusters` throw
 */
export async function move(options: MoveOptions, signal: AbortSignal): Promise<void> {
  const { toDirectory, fromDirectory, toKubeconfig, dryRun } = options;
  if (toDirectory !== undefined) return save(options, toDirectory, signal);
  if (toKubeconfig === undefined)
    throw new InputError("MOVE_TARGET_MISSING", "No target for the clusters is given.", {
      hint: "Set --to-kubeconfig to the kubeconfig of another management cluster, or --to-directory to a new folder.",
    });
  if (fromDirectory !== undefined)
    return withTarget(options, async (to) => {
      const restoring = { to, folder: fromDirectory, dryRun, report };
      print(await restoreClusters(restoring, signal), dryRun ? "would create" : "created");
    });
  return withTarget(options, (to) =>
    withManagement(options, (management) =>
      withService(options, management.client, (service) => moveAll(options, { ...management, to, service }, signal)),
    ),
  );
}

/** The management clusters, and the cluster that runs control planes as pods. */
interface Between {
  readonly client: KubernetesClient;
  readonly to: KubernetesClient;
  readonly service: KubernetesClient;
  readonly namespace: string;
}

async function moveAll(options: MoveOptions, between: Between, signal: AbortSignal): Promise<void> {
  const { dryRun, wave, allNamespaces } = options;
  const { client: from, to, namespace } = between;
  const handing = await handingOver(options, between, signal);
  const one = async (each: string, { isCheck = dryRun } = {}): Promise<void> => {
    const about = allNamespaces ? (line: string): void => report(`${each}: ${line}`) : report;
    const moving = { from, to, namespace: each, dryRun: isCheck, clock: systemClock, report: about };
    const more = handing && {
      controlPlanes: handing,
      measure: measureClusters({ from, to, namespace: each, clock: systemClock }),
      ...(wave === undefined ? {} : { wave }),
    };
    const result = await moveClusters({ ...moving, ...more }, signal);
    if (isCheck === dryRun) print(result, dryRun ? "would move" : "moved");
  };
  if (!allNamespaces) return one(namespace);
  const namespaces = await namespacesToMove({ from, to }, signal);
  await moveEach(namespaces, { check: (each) => one(each, { isCheck: true }), move: one, report, dryRun }, signal);
}

/** Undefined: hosted control planes are refused. */
async function handingOver(
  { hostedControlPlanes, wave, fromOwner, toOwner }: MoveOptions,
  { client: from, to, service }: Between,
  signal: AbortSignal,
) {
  if (!hostedControlPlanes && wave !== undefined)
    throw new InputError("FLAG_INVALID", "--wave is given without --hosted-control-planes.", {
      hint: "Clusters without hosted control planes move at once: leave --wave out.",
    });
  if (!hostedControlPlanes) return undefined;
  const management = { from: await uidOf(from, signal), to: await uidOf(to, signal) };
  const owners = { from: fromOwner ?? management.from, to: toOwner ?? management.to };
  return createPodsTransfer({ client: service, ...owners, management, clock: systemClock });
}

/** Which management cluster it is; its manager calls it so where no --owner is given. */
async function uidOf(client: KubernetesClient, signal: AbortSignal): Promise<string> {
  const { metadata } = await client.get(Namespace, { namespace: "", name: "kube-system" }, { signal });
  return metadata.uid ?? "";
}

async function withService<T>(
  { serviceKubeconfig, serviceContext }: MoveOptions,
  management: KubernetesClient,
  work: (service: KubernetesClient) => Promise<T>,
): Promise<T> {
  if (serviceKubeconfig === undefined && serviceContext === undefined) return work(management);
  const place = { kubeconfig: serviceKubeconfig, context: serviceContext };
  const service = createClient(chosenCluster(place, "--service-kubeconfig"));
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

async function save(options: MoveOptions, folder: string, signal: AbortSignal): Promise<void> {
  const { dryRun } = options;
  await withManagement(options, async ({ client, namespace }) => {
    const saving = { from: client, namespace, folder, dryRun, clock: systemClock, report };
    print(await saveClusters(saving, signal), dryRun ? "would save" : "saved");
  });
}

async function withTarget<T>(
  { toKubeconfig, toContext }: MoveOptions,
  work: (to: KubernetesClient) => Promise<T>,
): Promise<T> {
  const to = createClient(chosenCluster({ kubeconfig: toKubeconfig, context: toContext }, "--to-kubeconfig"));
  try {
    return await work(to);
  } finally {
    await to.close();
  }
}

function print({ clusters, objects }: MoveResult, done: string): void {
  process.stdout.write(`${done} ${clusters.length} clusters with ${objects} objects: ${clusters.join(", ")}\n`);
}
