/**
 * Plays simulated Nodes in a process of their own: `node nodes-child.ts KUBECONFIG COUNT`. The same for both sides of
 * the benchmark.
 */
import { createLog, systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { simulateNode } from "@causeway/machine-agent";

const [path = "", count = "0"] = process.argv.slice(2);
const stopping = new AbortController();
process.once("disconnect", () => process.exit());
const client = createClient(loadKubeconfig({ path }));
const log = createLog({ level: "error" });

function machineOf(i: number): Parameters<typeof simulateNode>[0] {
  const digits = String(i).padStart(4, "0");
  return {
    id: `00000000-0000-4000-8000-00000000${digits}`,
    name: `node-${digits}`,
    userData: "",
    addresses: [],
    resources: { cpu: 8, memoryMiB: 16_384, diskGiB: 100 },
  };
}

await Promise.all(
  Array.from({ length: Number(count) }, (_, i) =>
    simulateNode(machineOf(i), { client, clock: systemClock, log }, stopping.signal),
  ),
);
