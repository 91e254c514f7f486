import { MagnumCluster } from "@causeway/api";
import { Event } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
let cloud: Cloud;
beforeAll(async () => {
  stage = await openStage();
  cloud = connectCloud(loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml }));
});
afterAll(async () => {
  await cloud.close();
  await stage.close();
});

const DESCRIPTION = "Created by OpenStack Cinder CSI driver";
const volume = async (cluster: string, description = DESCRIPTION): Promise<string> => {
  const metadata = { "cinder.csi.openstack.org/cluster": cluster };
  return (await cloud.blockStorage.volumes.create({ name: "pvc-1", size: 1, description, metadata })).id;
};

async function gone(uuid: string): Promise<void> {
  const path = `/v1/clusters/${uuid}`;
  expect((await stage.call("demo", "DELETE", path)).status).toBe(204);
  await expect.poll(async () => (await stage.call("demo", "GET", path)).status, { timeout: 30_000 }).toBe(404);
}

const messages = async (): Promise<readonly string[]> => {
  const { items } = await stage.client.list(Event, {});
  return items.filter(({ reason }) => reason === "VolumesKept").map(({ message }) => message ?? "");
};

async function createTemplate(name: string): Promise<unknown> {
  const body = { name, coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small", external_network_id: "public" };
  return (await stage.call("demo", "POST", "/v1/clustertemplates", { body })).body["uuid"];
}

async function create(name: string, template: unknown): Promise<MagnumCluster> {
  const made = await stage.call("demo", "POST", "/v1/clusters", { body: { name, cluster_template_id: template } });
  const { items } = await stage.client.list(MagnumCluster, {});
  const found = items.find(({ spec }) => spec.uuid === made.body["uuid"]);
  if (!found) throw new Error("there is no row");
  return found;
}

test("volumes of a deleted cluster's claims remain, and an event names those of the cluster and no others", async () => {
  const template = await createTemplate("t");
  const [without, cluster] = [await create("without", template), await create("with", template)];
  const { namespace = "", name } = cluster.metadata;
  const [own, migrated] = [await volume(`${namespace}-${name}`), await volume(cluster.spec.uuid)];
  const others = [await volume("another"), await volume(`${namespace}-${name}`, "by hand")];
  await gone(without.spec.uuid);
  await gone(cluster.spec.uuid);
  await expect.poll(messages).toHaveLength(1);
  const [message] = await messages();
  expect(message).toBe(
    `2 volumes of claims of cluster with remain in project ${cluster.spec.projectID}: ${[own, migrated].toSorted().join(", ")}`,
  );
  const left = (await cloud.blockStorage.volumes.all({})).map(({ id }) => id);
  expect(left.toSorted()).toEqual([own, migrated, ...others].toSorted());
});

test("a deletion that is repeated reads the cluster's volumes once, and has one event of them", async () => {
  const cluster = await create("again", await createTemplate("t2"));
  const id = await volume(`${cluster.metadata.namespace}-${cluster.metadata.name}`);
  const lists = () => stage.simulator.calls.filter(({ path }) => path.endsWith("/volumes/detail")).length;
  const before = lists();
  let refusals = 0;
  stage.simulator.setFaults(({ method, path }) => {
    if (method !== "DELETE" || !path.includes("/application_credentials/") || refusals === 2) return undefined;
    refusals += 1;
    return { when: "before", status: 403 };
  });
  await gone(cluster.spec.uuid);
  stage.simulator.setFaults(undefined);
  expect([refusals, lists() - before]).toEqual([2, 1]);
  const ofCluster = async () =>
    (await stage.client.list(Event, {})).items.filter(({ message }) => message?.includes(id) === true);
  await expect.poll(ofCluster).toMatchObject([{ reason: "VolumesKept", count: 1 }]);
});
