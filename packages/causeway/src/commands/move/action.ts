import { moveClusters, restoreClusters, saveClusters, type MoveResult } from "@causeway/cluster-api";
import { InputError, systemClock } from "@causeway/foundation";
import { createClient, type KubernetesClient } from "@causeway/kubernetes";
import { withManagement } from "../../clusters/place.ts";
import { chosenCluster } from "../../composition/chosen.ts";
import type { MoveOptions } from "./command.ts";

const report = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Moves the clusters of a namespace, saves them in a folder, or creates them from one.
 * @throws MOVE_TARGET_MISSING, and what `moveClusters`, `saveClusters` and `restoreClusters` throw
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
    withManagement(options, async ({ client, namespace }) => {
      const moving = { from: client, to, namespace, dryRun, clock: systemClock, report };
      print(await moveClusters(moving, signal), dryRun ? "would move" : "moved");
    }),
  );
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
