import { DaemonSet, Deployment, StatefulSet, type KubernetesClient } from "@causeway/kubernetes";
import { openStage, type Stage } from "@causeway/magnum-api/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
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

test("a workload that is not there is not found, and is neither stopped nor started", async () => {
  await deleteWorkload(client, volumes, signal);
  await deleteWorkload(client, volumes, signal);
  await stopWorkload(client, volumes, signal);
  await startWorkload(client, volumes, signal);
  expect(Object.keys(await found())).not.toContain(volumes.name);
});
