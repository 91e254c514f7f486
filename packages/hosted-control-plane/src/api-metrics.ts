import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import type { ApiAccess } from "./webhooks/watchdog.ts";

/** Metrics of kube-apiserver have half a MiB, and more with many kinds. */
const LARGEST = 16 * 1024 * 1024;

/** One value of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The values of one metric, by its full name, in the text of all of them. */
export function samplesOf(metrics: string, name: string): readonly Sample[] {
  const isOf = (line: string): boolean => line.startsWith(`${name}{`) || line.startsWith(`${name} `);
  return metrics
    .split("\n")
    .filter(isOf)
    .map((line) => {
      const labels = [...line.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label = "", value = ""]) => [label, value]);
      return { labels: Object.fromEntries(labels) as Record<string, string>, value: Number(line.split(" ").at(-1)) };
    });
}

/**
 * Requests the metrics whose names begin with one of these of each API server; of those that respond, since the address
 * of their Service may not lead there from this process. Where it does, the metrics of one of them are returned twice.
 * A tenant's kinds and webhooks decide how many metrics there are: the others are not kept. Throws what the first one
 * failed with where none responds.
 */
export async function readMetrics(
  { kubeconfig, inside = [] }: ApiAccess,
  prefixes: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const config = loadKubeconfig({ text: kubeconfig, selfContained: true });
  const keepLine = (line: string): boolean => prefixes.some((prefix) => line.startsWith(prefix));
  const all = inside.map((server) => ({ ...config, server, tlsServerName: "kubernetes" }));
  const read = await Promise.allSettled(
    (all.length === 0 ? [config] : all).map(async (each) => {
      const client = createClient(each, { largestResponse: LARGEST, keepLine });
      try {
        return String(await client.request("GET", "/metrics", { signal }));
      } finally {
        await client.close();
      }
    }),
  );
  const responded = read.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const [first] = read;
  if (responded.length === 0 && first?.status === "rejected") throw first.reason;
  return responded;
}
