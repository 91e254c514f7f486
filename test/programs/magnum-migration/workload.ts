/** A Deployment with a budget, and how many of its pods were ready at the worst moment. */
import { systemClock } from "@causeway/foundation";
import { Pod, type KubernetesClient } from "@causeway/kubernetes";

export interface Workload {
  stop(): Promise<{ fewest: number; most: number }>;
}

export async function startWorkload(
  client: KubernetesClient,
  { replicas, minAvailable, image }: { replicas: number; minAvailable: number; image?: string },
): Promise<Workload> {
  const labels = { app: "workload" };
  const metadata = { namespace: "default", name: "workload" };
  await client.request("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
    body: {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      spec: { minAvailable, selector: { matchLabels: labels } },
    },
  });
  // Played kubelets run any; real ones only what they have.
  const real = image && { image, imagePullPolicy: "Never", command: ["sleep", "infinity"] };
  const containers = [{ name: "web", image: "example.com/web:1", ...real }];
  await client.request("POST", "/apis/apps/v1/namespaces/default/deployments", {
    body: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers, terminationGracePeriodSeconds: 1 } },
      },
    },
  });
  const ready = async (): Promise<number> => {
    const { items } = await client.list(Pod, { namespace: "default", labelSelector: "app=workload" });
    return items.filter(
      ({ metadata: { deletionTimestamp }, status }) =>
        deletionTimestamp === undefined &&
        (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True"),
    ).length;
  };
  for (let count = 0; count < replicas; count = await ready()) await systemClock.sleep(200);
  const stopping = new AbortController();
  const seen: number[] = [];
  const running = (async () => {
    while (!stopping.signal.aborted) {
      // While the API server changes, a request may fail: what was not seen says nothing.
      await ready().then(
        (count) => seen.push(count),
        () => {},
      );
      await systemClock.sleep(100);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
      return { fewest: Math.min(...seen), most: Math.max(...seen) };
    },
  };
}
