/**
 * A StatefulSet with claims on a tenant whose nodes are simulated: volumes are made, attached, moved and deleted, and
 * nothing remains in the cloud.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  createClient,
  CSINode,
  keyOf,
  loadKubeconfig,
  Node,
  PersistentVolumeClaim,
  Pod,
  Secret,
  StatefulSet,
  VolumeAttachment,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { TIMEOUT } from "../../support/processes.ts";
import { deleteDemo, demoGone, openStage, type Stage } from "../../support/stage.ts";

vi.setConfig({ testTimeout: 2 * TIMEOUT, hookTimeout: TIMEOUT });

const namespace = "default";
/** Milliseconds of one step. */
const timeout = 60_000;
const DRIVER = "cinder.csi.openstack.org";
const stateful = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db", namespace },
  spec: {
    serviceName: "db",
    replicas: 2,
    selector: { matchLabels: { app: "db" } },
    template: {
      metadata: { labels: { app: "db" } },
      spec: {
        containers: [
          { name: "main", image: "registry.example/db", volumeMounts: [{ name: "data", mountPath: "/data" }] },
        ],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ],
  },
};

let stage: Stage;
let client: KubernetesClient;
beforeAll(async () => {
  stage = await openStage();
  await stage.up("--demo", "--replicas", "2").until(/demo ready: .*\n/);
  const management = stage.client();
  const { data = {} } = await management.get(Secret, { namespace, name: "demo-kubeconfig" });
  await management.close();
  const text = Buffer.from(data["value"] ?? "", "base64").toString();
  client = createClient(loadKubeconfig({ text }));
});
afterAll(async () => {
  await client.close();
  await stage.close();
});

const pod = (name: string) => client.find(Pod, { namespace, name });
async function readyPods(): Promise<readonly string[]> {
  const { items } = await client.list(Pod, { namespace, labelSelector: "app=db" });
  const isReady = ({ status }: Pod) => status?.conditions?.some((c) => c.type === "Ready" && c.status === "True");
  return items
    .filter((each) => isReady(each) === true)
    .map(({ metadata }) => metadata.name)
    .toSorted();
}
const volumes = () =>
  stage.simulator
    .inventory("demo")
    .filter((line) => line.startsWith("volume "))
    .toSorted();
const scale = (replicas: number) =>
  client.patch(StatefulSet, { namespace, name: "db" }, { type: "merge", body: { spec: { replicas } } });

test("a StatefulSet with claims becomes ready, is scaled down and drained, and leaves nothing", async () => {
  await client.create(StatefulSet, stateful as unknown as StatefulSet);
  await expect.poll(readyPods, { timeout }).toEqual(["db-0", "db-1"]);
  const { items: registered } = await client.list(CSINode);
  expect(registered.map(({ spec }) => spec.drivers?.map(({ name }) => name))).toEqual([[DRIVER], [DRIVER]]);
  expect(volumes()).toHaveLength(2);
  const node = (await pod("db-0"))?.spec.nodeName ?? "";
  const status = (await client.get(Node, { namespace: "", name: node })).status as { volumesInUse?: string[] };
  expect(status.volumesInUse).toContainEqual(expect.stringContaining(`kubernetes.io/csi/${DRIVER}^`));

  await scale(1);
  await expect.poll(readyPods, { timeout }).toEqual(["db-0"]);
  const attachments = async () => (await client.list(VolumeAttachment)).items.map(({ spec }) => spec.nodeName);
  await expect.poll(attachments, { timeout }).toEqual([node]);

  // The node is drained: the volume follows its pod.
  const body = { spec: { unschedulable: true } };
  await client.patch(Node, { namespace: "", name: node }, { type: "merge", body });
  await client.delete(Pod, { namespace, name: "db-0" });
  const place = async () => ((await readyPods()).length === 1 ? (await pod("db-0"))?.spec.nodeName : undefined);
  await expect.poll(place, { timeout }).not.toBeOneOf([undefined, node]);
  await expect.poll(attachments, { timeout }).toEqual([(await pod("db-0"))?.spec.nodeName]);

  await client.delete(StatefulSet, { namespace, name: "db" });
  for (const claim of (await client.list(PersistentVolumeClaim, { namespace })).items)
    await client.delete(PersistentVolumeClaim, keyOf(claim));
  await expect.poll(volumes, { timeout }).toEqual([]);
  await expect.poll(attachments, { timeout }).toEqual([]);
  await deleteDemo(stage);
  await demoGone(stage);
  await expect.poll(() => stage.simulator.inventory("demo"), { timeout }).toEqual(stage.before);
});
