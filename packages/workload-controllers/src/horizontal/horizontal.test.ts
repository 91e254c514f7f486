import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { Deployment, Node, type KubernetesClient, type Pod } from "@causeway/kubernetes";
import { template } from "../testing/objects.ts";
import { key, World } from "../testing/world.ts";
import { Autoscaler } from "./autoscaler.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const CPU = "simulated.causeway.dev/cpu";
/** With simulated nodes, whose pods use what they declare. */
const start = async (): Promise<World> => {
  world = await World.start((clock) => startApiServer({ clock, management: { controllers: true } }));
  await world.playKubelet(["one", "two"]);
  for (const name of ["one", "two"]) {
    await world.client.patch(
      Node,
      { namespace: "", name },
      {
        type: "merge",
        body: { metadata: { labels: { "simulated.causeway.dev/node": "true" } } },
      },
    );
  }
  return world;
};
const web = (cpu: string) => {
  const { metadata, spec } = template() as {
    metadata: { labels: Record<string, string> };
    spec: { containers: object[] };
  };
  const containers = spec.containers.map((each) => ({ ...each, resources: { requests: { cpu: "100m" } } }));
  return {
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { ...metadata, annotations: { [CPU]: cpu } }, spec: { ...spec, containers } },
    },
  };
};
const scaler = {
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 6,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }],
  },
};
const replicas = async ({ client }: World) => (await client.get(Deployment, key("web"))).spec.replicas;

test("a Deployment grows with its pods' use, and shrinks five minutes after it fell", async () => {
  const w = await start();
  w.run();
  await w.create(Deployment, "web", web("100m"));
  await w.create(Autoscaler, "web", scaler);
  await w.until("six pods", async () => (await replicas(w)) === 6, 2000);
  expect(await w.events()).toContainEqual(
    "SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target",
  );
  await w.until(
    "the use",
    async () => {
      const { status } = await w.client.get(Autoscaler, key("web"));
      return JSON.stringify(status?.currentMetrics).includes('"averageUtilization":100');
    },
    2000,
  );
  const fell = w.clock.now();
  await w.patch(Deployment, "web", { spec: { template: { metadata: { annotations: { [CPU]: "5m" } } } } });
  await w.until("one pod", async () => (await replicas(w)) === 1, 5000);
  expect(w.clock.now() - fell).toBeGreaterThan(290_000);
  const { status } = await w.client.get(Autoscaler, key("web"));
  expect(status?.conditions?.map(({ type, status: is }) => `${type} ${is}`)).toEqual(
    expect.arrayContaining(["AbleToScale True", "ScalingActive True"]),
  );
}, 120_000);

test("metrics.k8s.io serves what simulated pods declare, and says why where they declare nothing", async () => {
  const w = await start();
  w.run();
  await w.create(Deployment, "web", web("250m"));
  const list = (path: string, client: KubernetesClient = w.client) =>
    client.request("GET", `/apis/metrics.k8s.io/v1beta1/${path}`) as Promise<{ items: unknown[] }>;
  const pods = await w.until("the figures", async () => {
    const found = await list("namespaces/default/pods").catch(() => undefined);
    return found?.items.length === 2 && found;
  });
  expect(pods.items[0]).toMatchObject({
    kind: "PodMetrics",
    window: "15s",
    containers: [{ usage: { cpu: "250000000n", memory: "0" } }],
  });
  const nodes = await list("nodes");
  const used = nodes.items.map((each) => (each as { usage: { cpu: string } }).usage.cpu);
  // The played scheduler has both on one node, or one on each.
  expect(used.reduce((sum, each) => sum + Number.parseInt(each, 10), 0)).toBe(500_000_000);
  await w.patch(Deployment, "web", { spec: { template: { metadata: { annotations: { [CPU]: null } } } } });
  const [{ metadata }] = (await w.until("an empty list", async () => {
    const found = await list("namespaces/default/pods");
    return found.items.length === 0 && (await w.pods()).length === 2 && (await w.pods());
  })) as [Pod, ...Pod[]];
  await expect(list(`namespaces/default/pods/${metadata.name}`)).rejects.toThrow(
    "the nodes are simulated, and their containers use nothing",
  );
  await expect(list("namespaces/default/pods/none")).rejects.toThrow('pods.metrics.k8s.io "none" not found');
}, 120_000);
