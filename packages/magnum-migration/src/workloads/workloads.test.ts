import { DaemonSet, Deployment, Pod, StatefulSet, type KubernetesClient } from "@causeway/kubernetes";
import { openStage, type Stage } from "@causeway/magnum-api/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deleteWorkload, findWorkloads, startWorkload, stopWorkload, type Workload } from "./workloads.ts";

const signal = AbortSignal.timeout(60_000);
const namespace = "kube-system";
const cloudController: Workload = { kind: "DaemonSet", name: "openstack-cloud-controller-manager" };
const plain: Workload = { kind: "DaemonSet", name: "magnum-auto-healer" };
const volumes: Workload = { kind: "StatefulSet", name: "csi-cinder-controllerplugin" };
const scaled: Workload = { kind: "Deployment", name: "cluster-autoscaler" };
const off: Workload = { kind: "Deployment", name: "draino" };
const all = [cloudController, plain, volumes, scaled, off];

let stage: Stage;
let client: KubernetesClient;

const specOf = (name: string, more: object, nodeSelector?: object) => ({
  ...more,
  selector: { matchLabels: { app: name } },
  template: {
    metadata: { labels: { app: name } },
    spec: { ...(nodeSelector && { nodeSelector }), containers: [{ name: "one", image: "example.com/one:1" }] },
  },
});

beforeAll(async () => {
  stage = await openStage();
  ({ client } = stage);
  const metadata = ({ name }: Workload) => ({ namespace, name });
  const apps = "/apis/apps/v1/namespaces/kube-system";
  const create = (path: string, kind: string, workload: Workload, spec: object) =>
    client.request("POST", `${apps}/${path}`, {
      body: { apiVersion: "apps/v1", kind, metadata: metadata(workload), spec },
    });
  const master = { "node-role.kubernetes.io/master": "" };
  await create("daemonsets", "DaemonSet", cloudController, specOf(cloudController.name, {}, master));
  await create("daemonsets", "DaemonSet", plain, specOf(plain.name, {}));
  await create("statefulsets", "StatefulSet", volumes, specOf(volumes.name, { serviceName: "s", replicas: 2 }, master));
  await create("deployments", "Deployment", scaled, specOf(scaled.name, {}));
  await create("deployments", "Deployment", off, specOf(off.name, { replicas: 0 }));
});
afterAll(() => stage.close());

/** What users of the cluster have written, without what the API server counts. */
const declared = async (): Promise<unknown> => {
  const lists = [
    await client.list(DaemonSet, { namespace }),
    await client.list(StatefulSet, { namespace }),
    await client.list(Deployment, { namespace }),
  ];
  return lists.flatMap(({ items }) =>
    items.map(({ metadata, spec }) => {
      const { "deprecated.daemonset.template.generation": _, ...annotations } = metadata.annotations ?? {};
      return { name: metadata.name, annotations, spec };
    }),
  );
};

const found = async () =>
  Object.fromEntries(
    (await findWorkloads(client, all, signal)).map(({ name, state, isOurs }) => [name, [state, isOurs]]),
  );

test("workloads that are stopped, more than once, and started again are as they were, and what was off remains off", async () => {
  const before = await declared();
  for (let run = 0; run < 2; run += 1) for (const one of all) await stopWorkload(client, one, signal);
  // No controller takes pods away here, or says that there are none.
  expect(await found()).toEqual({
    [cloudController.name]: ["stopping", true],
    [plain.name]: ["stopping", true],
    [volumes.name]: ["stopping", true],
    [scaled.name]: ["stopping", true],
    [off.name]: ["stopping", false],
  });
  const stopped = await client.get(DaemonSet, { namespace, name: cloudController.name });
  expect(stopped.spec?.template.spec?.nodeSelector).toEqual({
    "node-role.kubernetes.io/master": "",
    "migration.causeway.dev/stopped": "true",
  });
  expect((await client.get(StatefulSet, { namespace, name: volumes.name })).spec?.replicas).toBe(0);
  for (let run = 0; run < 2; run += 1) for (const one of all) await startWorkload(client, one, signal);
  expect(await declared()).toEqual(before);
});

test("a workload is stopped once its controller has seen that it has no pods", async () => {
  await stopWorkload(client, cloudController, signal);
  const path = `/apis/apps/v1/namespaces/kube-system/daemonsets/${cloudController.name}/status`;
  const status = async (pods: number): Promise<unknown> => {
    const live = await client.get(DaemonSet, { namespace, name: cloudController.name });
    const counts = {
      desiredNumberScheduled: 0,
      currentNumberScheduled: pods,
      numberMisscheduled: pods,
      numberReady: 0,
    };
    const body = { ...live, status: { ...counts, observedGeneration: live.metadata.generation } };
    await client.request("PUT", path, { body });
    return (await found())[cloudController.name];
  };
  expect(await status(3)).toEqual(["stopping", true]);
  expect(await status(0)).toEqual(["stopped", true]);
});

describe("a Deployment without replicas, whose controller counts no pods", () => {
  const pods = "/api/v1/namespaces/kube-system/pods";
  const labels = { app: scaled.name };
  const counted = async (): Promise<void> => {
    await stopWorkload(client, scaled, signal);
    const live = await client.get(Deployment, { namespace, name: scaled.name });
    const status = { replicas: 0, observedGeneration: live.metadata.generation };
    const path = `/apis/apps/v1/namespaces/kube-system/deployments/${scaled.name}/status`;
    await client.request("PUT", path, { body: { ...live, status } });
  };
  const createPod = async (name: string, phase: string): Promise<void> => {
    const spec = { nodeName: "n0", containers: [{ name: "one", image: "example.com/one:1" }] };
    const metadata = { name, namespace, labels };
    await client.request("POST", pods, { body: { apiVersion: "v1", kind: "Pod", metadata, spec } });
    const pod = await client.get(Pod, { namespace, name });
    await client.request("PUT", `${pods}/${name}/status`, { body: { ...pod, status: { phase } } });
  };

  test.for<[string, string, boolean, string]>([
    ["is stopping while one is there", "Running", false, "stopping"],
    ["is stopping while one is being deleted", "Running", true, "stopping"],
    ["is stopping while one that has ended is being deleted", "Failed", true, "stopping"],
    ["is stopped when one has ended", "Failed", false, "stopped"],
  ])("%s", async ([title, phase, isDeleted, expected]) => {
    await counted();
    expect((await found())[scaled.name]).toEqual(["stopped", true]);
    const name = title.replaceAll(" ", "-");
    const finalizers = ["example.com/one"];
    await createPod(name, phase);
    await client.patch(Pod, { namespace, name }, { type: "merge", body: { metadata: { finalizers } } });
    if (isDeleted) await client.request("DELETE", `${pods}/${name}?gracePeriodSeconds=0`);
    expect((await found())[scaled.name]).toEqual([expected, true]);
    await client.patch(Pod, { namespace, name }, { type: "merge", body: { metadata: { finalizers: null } } });
    await client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 });
  });
});

test.for(["abc", "-1", "1e9", ""])("a Deployment with %j as its number of replicas starts with one", async (value) => {
  await stopWorkload(client, scaled, signal);
  const key = { namespace, name: scaled.name };
  const annotations = { "migration.causeway.dev/replicas": value };
  await client.patch(Deployment, key, { type: "merge", body: { metadata: { annotations } } });
  await startWorkload(client, scaled, signal);
  const { metadata, spec } = await client.get(Deployment, key);
  expect([spec?.replicas, metadata.annotations?.["migration.causeway.dev/replicas"]]).toEqual([1, undefined]);
});

test("a workload that is not there is not found, and is neither stopped nor started", async () => {
  await deleteWorkload(client, volumes, signal);
  await deleteWorkload(client, volumes, signal);
  await stopWorkload(client, volumes, signal);
  await startWorkload(client, volumes, signal);
  expect(Object.keys(await found())).not.toContain(volumes.name);
});
