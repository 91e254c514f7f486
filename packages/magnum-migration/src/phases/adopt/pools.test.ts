/** The image that a run is given for new nodes, looked up in the simulated cloud. */
import { MachineDeployment, MagnumCluster } from "@causeway/api";
import { Namespace } from "@causeway/kubernetes";
import { openStage } from "@causeway/magnum-api/testing";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MigrationRecord } from "../../record/record.ts";
import type { Tools } from "../../phase.ts";
import { record } from "../../testing/planned.ts";
import { withGivenImage, writeRow } from "./pools.ts";
import { imageOf, withNodeImage } from "./row.ts";

const signal = new AbortController().signal;
const known: MigrationRecord = { ...record, nodeImage: { id: "i1", name: "first" } };

describe("the image that is named for new nodes", () => {
  let simulator: Simulator;
  let cloud: Cloud;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    simulator = await startSimulator({});
    cloud = connectCloud(loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml }));
    const make = async (key: string, name: string, isActive: boolean, more: object = {}) => {
      const body = { name, disk_format: "raw", container_format: "bare", ...more };
      const { id } = await cloud.image.images.create(body);
      if (isActive) await cloud.image.upload(id, new Uint8Array(16));
      ids[key] = id;
    };
    await make("node", "node", true, { os_distro: "ubuntu" });
    await make("twin", "twin", true);
    await make("other", "twin", true);
    await make("queued", "queued", false);
  });
  afterAll(async () => {
    await cloud?.close();
    await simulator?.close();
  });

  /** Of the one node group of `record`: whether its MachineDeployment is paused; undefined: it has none. */
  const given = async (nodeImage: string | undefined, isPaused: boolean | undefined, before = record) => {
    const find = async (type: object) =>
      type === MachineDeployment && isPaused !== undefined ? { spec: { paused: isPaused } } : undefined;
    const management = { find } as unknown as Tools["management"];
    const tools = { cloud, management, ...(nodeImage === undefined ? {} : { nodeImage }) } as unknown as Tools;
    return (await withGivenImage(tools, before, signal)).nodeImage;
  };

  test("is found by its name and by its id, and replaces another one until roll has begun", async () => {
    const node = { id: ids["node"], name: "node" };
    expect(await given("node", undefined)).toEqual(node);
    expect(await given(ids["node"], true)).toEqual(node);
    expect(await given("node", true, known)).toEqual(node);
    expect(await given(ids["twin"], true, known)).toEqual({ id: ids["twin"], name: "twin" });
  });

  test("is that of the record where none is given", async () => {
    expect(await given(undefined, false, known)).toEqual({ id: "i1", name: "first" });
    expect(await given(undefined, false)).toBeUndefined();
  });

  test("may be given again, and not another one, once roll has begun", async () => {
    const rolling = { ...record, nodeImage: { id: ids["node"] ?? "", name: "node" } };
    expect(await given("node", false, rolling)).toEqual(rolling.nodeImage);
    await expect(given(ids["twin"], false, rolling)).rejects.toMatchObject({ code: "MIGRATE_NODE_IMAGE_FIXED" });
  });

  test.for<[string, () => string, string]>([
    ["that Glance does not have", () => "gone", "MIGRATE_NODE_IMAGE_UNKNOWN"],
    [
      "with an id that Glance does not have",
      () => "6e8ae3a5-0b4c-4f0e-9d26-0000000000c1",
      "MIGRATE_NODE_IMAGE_UNKNOWN",
    ],
    ["whose name two images have", () => "twin", "MIGRATE_NODE_IMAGE_AMBIGUOUS"],
    ["without data", () => ids["queued"] ?? "", "MIGRATE_NODE_IMAGE_INACTIVE"],
    ["of Magnum's driver", () => "fedora-coreos", "MIGRATE_NODE_IMAGE_UNFIT"],
  ])("is refused: one %s", async ([, name, code]) => {
    await expect(given(name(), undefined)).rejects.toMatchObject({ code });
  });
});

test("a row that another one has changed since it was read is not written, and its change remains", async () => {
  const stage = await openStage({ isFollower: true });
  try {
    const { client: management } = stage;
    const uuid = "6e8ae3a5-0b4c-4f0e-9d26-000000000001";
    const key = { namespace: record.namespace, name: record.name };
    const worker = { uuid, name: "default-worker", role: "worker", isDefault: true, imageID: "i", nodeCount: 1 };
    const group = { ...worker, minNodeCount: 0, version: "v1.34.0", createdAt: "2026-11-28T00:00:00Z" };
    await management.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: key.namespace } });
    await management.create(MagnumCluster, {
      apiVersion: "magnum.causeway.dev/v1alpha1",
      kind: "MagnumCluster",
      metadata: key,
      spec: {
        uuid,
        masterUUID: uuid,
        name: "web",
        projectID: "p",
        userID: "u",
        templateUUID: uuid,
        template: { coe: "kubernetes", imageID: "i" },
        version: "v1.34.0",
        masterCount: 1,
        createTimeout: 60,
        nodeGroups: [group],
      },
    } as unknown as MagnumCluster);
    const read = await management.get(MagnumCluster, key);
    const nodeGroups = read.spec.nodeGroups.map((group) => ({ ...group, nodeCount: 7 }));
    await management.patch(MagnumCluster, key, { type: "merge", body: { spec: { nodeGroups } } });
    await expect(writeRow({ management }, withNodeImage(read, known), signal)).rejects.toMatchObject({
      code: "KUBERNETES_CONFLICT",
    });
    const changed = await management.get(MagnumCluster, key);
    await writeRow({ management }, withNodeImage(changed, known), signal);
    const { spec } = await management.get(MagnumCluster, key);
    expect(spec.nodeGroups.map(({ nodeCount, imageID }) => [nodeCount, imageID])).toEqual([[7, "i1"]]);
  } finally {
    await stage.close();
  }
});

describe("the row of a cluster with an image for new nodes", () => {
  const row = {
    spec: { template: { imageID: "a", coe: "kubernetes" }, nodeGroups: [{ imageID: "a" }, { imageID: "b" }] },
  } as unknown as MagnumCluster;

  test("has it in each node group and for those that are made later", () => {
    const { spec } = withNodeImage(row, known);
    expect(spec.template).toEqual({ imageID: "i1", coe: "kubernetes" });
    expect(spec.nodeGroups.map(({ imageID }) => imageID)).toEqual(["i1", "i1"]);
    expect(withNodeImage({ ...row, spec }, known).spec).toBe(spec);
  });

  test("remains as it is without one: each node group has Heat's own", () => {
    expect(withNodeImage(row, record)).toBe(row);
    expect(imageOf(record)({ imageId: "b" })).toBe("b");
    expect(imageOf(known)({ imageId: "b" })).toBe("i1");
  });
});
