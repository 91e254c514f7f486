/**
 * An API server with worker processes as a process of its own, for tests that kill it. Its parent sends what to start;
 * it says where its clusters are reached, and what it logs.
 */
import { startApiServer, type IsolationOptions } from "@causeway/apiserver";
import { createLog } from "@causeway/foundation";

export const ISOLATED_SERVER = import.meta.filename;

export interface Wanted {
  readonly dir: string;
  readonly isolation: IsolationOptions;
  readonly clusters: readonly string[];
}

export interface Said {
  readonly kubeconfigs: Readonly<Record<string, string>>;
  /** The processes of workers. */
  readonly pids: readonly number[];
}

async function serve({ dir, isolation, clusters }: Wanted): Promise<void> {
  const server = await startApiServer({ dir, isolation, log: createLog() });
  const kubeconfigs: Record<string, string> = {};
  for (const name of clusters) kubeconfigs[name] = await (await server.ensureCluster(name)).kubeconfig();
  const said: Said = { kubeconfigs, pids: server.workers.map(({ pid }) => pid ?? 0) };
  process.send?.(said);
}

if (import.meta.main) {
  process.once("message", (wanted: Wanted) => void serve(wanted));
  process.once("disconnect", () => process.exit());
}
