import { ConfigMap, type KubernetesClient } from "@causeway/kubernetes";
import { startMeter, type Metered } from "../../support/write-meter.ts";

/** Writes ConfigMaps until it is stopped, and measures the longest time without a write. */
export function startWriter(client: KubernetesClient, prefix = "written"): { stop(): Promise<Metered> } {
  const namespace = "default";
  const store = {
    write: (name: string) =>
      client
        .create(
          ConfigMap,
          { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name } },
          { signal: AbortSignal.timeout(2_000) },
        )
        .then(
          () => true,
          (error: unknown) => String(error).includes("already exists"),
        ),
    names: async () => {
      const { items } = await client.list(ConfigMap, { namespace });
      return new Set(items.map(({ metadata }) => metadata.name));
    },
  };
  return startMeter(store, prefix);
}
