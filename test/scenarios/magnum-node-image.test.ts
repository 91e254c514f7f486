/** New nodes in place of those that Heat made of Fedora CoreOS, on the real controllers, with played machines. */
import { MagnumCluster, MachineDeployment, OpenStackMachine, OpenStackMachineTemplate } from "@causeway/api";
import { readRecord } from "@causeway/magnum-migration";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { UUID } from "../programs/magnum-migration/names.ts";
import { openPlayed, type Played } from "./played-heat.ts";

// It runs servers.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let played: Played;
const signal = AbortSignal.timeout(600_000);
const record = () => readRecord(played.system.client, UUID, signal);
const images: Record<string, string> = {};

beforeAll(async () => {
  played = await openPlayed({ workers: [2, 1], image: "fedora-coreos" });
  for (const name of ["node-a", "node-b"]) {
    const { image } = played.cloud;
    const made = await image.images.create({ name, disk_format: "raw", container_format: "bare" });
    await image.upload(made.id, new Uint8Array(64));
    images[name] = made.id;
  }
});
afterAll(async () => played?.close());

/** Ids of images, of the servers that are not masters and of the pools' templates. */
async function imagesOf() {
  const { namespace, name } = await record();
  const { client } = played.system;
  const servers = (await played.cloud.compute.servers.all({})).filter((one) => !one.name.includes("-master-"));
  const pools = await client.list(MachineDeployment, { namespace });
  const named = pools.items.map(({ spec }) => spec.template.spec.infrastructureRef.name);
  const templates = await Promise.all(
    named.map((template) => client.get(OpenStackMachineTemplate, { namespace, name: template })),
  );
  const { spec } = await client.get(MagnumCluster, { namespace, name });
  return {
    servers: [...new Set(servers.map(({ image }) => (image === "" ? "" : image.id)))],
    pools: templates.map(({ spec: { template } }) => template.spec.image.id),
    row: spec.nodeGroups.map(({ imageID }) => imageID),
  };
}

test("adopt says that roll needs another image, and takes none that is not there", async () => {
  const plan = await played.plan("adopt");
  expect(plan.notes?.join()).toMatch(/default-worker, big: .*fedora-coreos.*MIGRATE_NODE_IMAGE_UNFIT/);
  await expect(played.run("adopt", { nodeImage: "gone" })).rejects.toMatchObject({
    code: "MIGRATE_NODE_IMAGE_UNKNOWN",
  });
  const { namespace } = await record();
  expect((await played.system.client.list(MachineDeployment, { namespace })).items).toEqual([]);
  const proof = await played.run("adopt");
  expect(proof).toContain("new nodes will be made of the images that Heat's have");
});

test("roll does not begin with an image of Heat's, and replaces no machine", async () => {
  const before = (await played.cloud.compute.servers.all({})).map(({ id }) => id);
  expect((await played.plan("roll")).refused?.code).toBe("MIGRATE_NODE_IMAGE_UNFIT");
  await expect(played.run("roll")).rejects.toMatchObject({ code: "MIGRATE_NODE_IMAGE_UNFIT" });
  expect((await played.cloud.compute.servers.all({})).map(({ id }) => id)).toEqual(before);
  const { namespace } = await record();
  const { items } = await played.system.client.list(MachineDeployment, { namespace });
  expect(items.map(({ spec }) => spec.paused)).toEqual([true, true]);
});

test("an image that adopt was given is kept in the record and the pools, and another one replaces it before roll", async () => {
  await played.run("adopt", { nodeImage: "node-a" });
  const id = images["node-a"] ?? "";
  expect((await record()).nodeImage).toEqual({ id, name: "node-a" });
  expect(await imagesOf()).toMatchObject({ pools: [id, id], row: [id, id] });
  expect((await played.plan("roll")).refused).toBeUndefined();
  const dry = await played.plan("roll", { nodeImage: "node-b" });
  expect(dry.steps[0]?.what).toContain(`image node-b (${images["node-b"]})`);
  expect(await imagesOf()).toMatchObject({ pools: [id, id], row: [id, id] });
});

test("roll makes every new server of the image that it was given, also in a run that is not given it again", async () => {
  const begun: string[] = [];
  const report = (line: string): void => {
    begun.push(line);
    if (line.startsWith("replace")) throw new Error("killed");
  };
  await expect(played.run("roll", { nodeImage: "node-b", report })).rejects.toThrow("killed");
  expect(begun.join("\n")).toContain("no os_distro");
  const proof = await played.run("roll");
  expect(proof).toContain("node group default-worker: 2 nodes of Cluster API, none of Heat's");
  const id = images["node-b"] ?? "";
  expect(await imagesOf()).toEqual({ servers: [id], pools: [id, id], row: [id, id] });
  const { namespace } = await record();
  const { items } = await played.system.client.list(OpenStackMachine, { namespace });
  expect(items.map(({ spec }) => spec.image)).toEqual([{ id }, { id }, { id }]);
  await expect(played.run("roll", { nodeImage: "node-a" })).rejects.toMatchObject({ code: "MIGRATE_NODE_IMAGE_FIXED" });
});
