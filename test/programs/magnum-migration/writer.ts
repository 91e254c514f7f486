import { systemClock } from "@causeway/foundation";
import { ConfigMap, type KubernetesClient } from "@causeway/kubernetes";

/**
 * Writes objects one after the other until it is stopped, each until it is there; measures the longest time without a
 * write.
 */
export function startWriter(
  client: KubernetesClient,
  prefix = "written",
): {
  stop(): Promise<{ written: number; lost: number; outage: number }>;
} {
  const stopping = new AbortController();
  const names: string[] = [];
  let outage = 0;
  const running = (async () => {
    let last = performance.now();
    while (!stopping.signal.aborted) {
      const name = `${prefix}-${names.length}`;
      const isThere = await client
        .create(
          ConfigMap,
          { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name } },
          { signal: AbortSignal.timeout(2_000) },
        )
        .then(
          () => true,
          (error: unknown) => String(error).includes("already exists"),
        );
      if (isThere) {
        outage = Math.max(outage, performance.now() - last);
        last = performance.now();
        names.push(name);
      }
      await systemClock.sleep(50);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
      const { items } = await client.list(ConfigMap, { namespace: "default" });
      const there = new Set(items.map(({ metadata }) => metadata.name));
      return {
        written: names.length,
        lost: names.filter((name) => !there.has(name)).length,
        outage: Math.round(outage),
      };
    },
  };
}
