import { moveClusters } from "@causeway/cluster-api";
import { systemClock } from "@causeway/foundation";
import { createClient } from "@causeway/kubernetes";
import { withManagement } from "../../clusters/place.ts";
import { chosenCluster } from "../../composition/chosen.ts";
import type { MoveOptions } from "./command.ts";

/** Moves the clusters of a namespace. Throws what `moveClusters` throws. */
export async function move(options: MoveOptions, signal: AbortSignal): Promise<void> {
  const { toKubeconfig, toContext, dryRun } = options;
  const to = createClient(chosenCluster({ kubeconfig: toKubeconfig, context: toContext }));
  try {
    await withManagement(options, async ({ client, namespace }) => {
      const report = (line: string): void => void process.stderr.write(`${line}\n`);
      const moving = { from: client, to, namespace, dryRun, clock: systemClock, report };
      const { clusters, objects } = await moveClusters(moving, signal);
      const what = `${clusters.length} clusters with ${objects} objects: ${clusters.join(", ")}`;
      process.stdout.write(dryRun ? `would move ${what}\n` : `moved ${what}\n`);
    });
  } finally {
    await to.close();
  }
}
