import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { csiClient, Code, ConnectError, type CsiClient } from "@causeway/csi";
import { createMetrics, systemClock } from "@causeway/foundation";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startDriver, type DriverOptions } from "./driver.ts";
import { fileSystem, gib } from "./testing/world.ts";

let simulator: Simulator;
let dir = "";
const open: { close(): unknown }[] = [];
beforeEach(async () => {
  simulator = await startSimulator();
  dir = mkdtempSync(join(tmpdir(), "driver-"));
});
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
  await simulator.close();
  rmSync(dir, { recursive: true });
});

/** A section of cloud.conf for a user of the simulated cloud, whose project has the user's name. */
function section(header: string, name: string, password = "devcloud"): string {
  const lines = [
    header,
    `auth-url = ${simulator.authUrl}`,
    `username = ${name}`,
    `password = ${password}`,
    `tenant-name = ${name}`,
  ];
  return [...lines, "domain-name = Default", "region = RegionOne", ""].join("\n");
}

async function serve(options: Partial<DriverOptions>): Promise<CsiClient> {
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  open.push(await startDriver({ endpoint, version: "1", services: ["controller"], ...options }));
  const client = csiClient(endpoint);
  open.push(client);
  return client;
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "ok",
    (error: unknown) => ConnectError.from(error).code,
  );

test("the Cinder driver creates volumes in the cloud that the Secret names, and measures calls", async () => {
  const conf = section("[Global]", "demo") + section('[Global "second"]', "alt");
  const metrics = createMetrics();
  const client = await serve({ cloudConf: () => conf, cloudNames: ["", "second"], metrics });
  expect(await client.identity.probe({})).toMatchObject({ ready: true });
  const request = { capacityRange: gib(1), volumeCapabilities: [fileSystem] };
  await client.controller.createVolume({ ...request, name: "one" });
  await client.controller.createVolume({ ...request, name: "two", secrets: { cloud: "second" } });
  const named = (project: string) =>
    simulator
      .inventory(project)
      .filter((line) => line.startsWith("volume "))
      .map((line) => line.split(" ").at(-1));
  expect([named("demo"), named("alt")]).toEqual([["one"], ["two"]]);
  const listed = await client.controller.listVolumes({ maxEntries: 1 });
  expect(listed.entries).toHaveLength(1);
  const rest = await client.controller.listVolumes({ maxEntries: 1, startingToken: listed.nextToken });
  expect([rest.entries.length, rest.nextToken]).toEqual([1, ""]);
  expect(await metrics.render()).toMatch(
    /csi_operations_seconds_count\{method_name="CreateVolume",grpc_status_code="0"\} 2/,
  );
  expect(await metrics.render()).toMatch(/openstack_api_requests_total\{[^}]*volume_create/);
  const [entry] = listed.entries;
  await client.controller.controllerExpandVolume({ volumeId: entry?.volume?.volumeId ?? "", capacityRange: gib(2) });
  expect(await metrics.render()).toMatch(/openstack_api_requests_total\{[^}]*volume_expand/);
});

test("the Cinder driver reports in a probe that the credentials are refused", async () => {
  const conf = section("[Global]", "demo", "wrong");
  const client = await serve({ cloudConf: () => conf });
  expect(await codeOf(client.identity.probe({}))).toBe(Code.FailedPrecondition);
});

test("the Cinder driver reads [BlockStorage] again when cloud.conf changes, and keeps it when the file is not valid", async () => {
  const cloud = section("[Global]", "demo");
  let [conf, skipped] = [cloud, 0];
  const clock = { ...systemClock, now: () => systemClock.now() + skipped };
  const client = await serve({ cloudConf: () => conf, clock });
  const preferred = [{ segments: { "topology.cinder.csi.openstack.org/zone": "az2" } }];
  const zones = async (name: string) => {
    const { volume } = await client.controller.createVolume({
      name,
      capacityRange: gib(1),
      volumeCapabilities: [fileSystem],
      accessibilityRequirements: { preferred, requisite: preferred },
      parameters: { availability: "nova" },
    });
    return volume?.accessibleTopology.flatMap(({ segments }) => Object.values(segments));
  };
  expect(await zones("one")).toEqual(["nova"]);
  conf = `${cloud}[BlockStorage]\nignore-volume-az = true\n`;
  skipped += 11_000;
  expect(await zones("two")).toEqual(["az2"]);
  conf = "[BlockStorage";
  skipped += 11_000;
  expect(await zones("three")).toEqual(["az2"]);
});

test("a start costs a token and one list, before the first call, and the sidecars' first calls cost nothing", async () => {
  const conf = section("[Global]", "demo");
  const made = () => simulator.calls.map(({ method, path }) => `${method} ${path.replace(/[0-9a-f]{32}/, "PROJECT")}`);
  const client = await serve({ cloudConf: () => conf });
  const all = ["POST /v3/auth/tokens", "GET /v3/PROJECT/volumes/detail"];
  await expect.poll(made).toEqual(all);
  await Promise.all(Array.from({ length: 5 }, () => client.identity.probe({})));
  await client.controller.controllerGetCapabilities({});
  expect((await client.controller.listVolumes({})).entries).toEqual([]);
  expect(made()).toEqual(all);
});

test("the Cinder driver starts and serves while the cloud does not respond, and recovers by itself", async () => {
  const conf = section("[Global]", "demo");
  simulator.setFaults(() => ({ when: "before", status: 503 }));
  const client = await serve({ cloudConf: () => conf });
  expect(await client.identity.getPluginInfo({})).toMatchObject({ name: "cinder.csi.openstack.org" });
  simulator.setFaults(undefined);
  await expect.poll(() => codeOf(client.controller.listVolumes({})), { timeout: 20_000 }).toBe("ok");
});

test("the Cinder driver serves the node service without a cloud", async () => {
  const client = await serve({ services: ["node"] });
  expect(await client.identity.probe({})).toMatchObject({ ready: true });
  expect((await client.node.nodeGetCapabilities({})).capabilities.length).toBeGreaterThan(0);
  expect(await codeOf(client.controller.listVolumes({}))).toBe(Code.Unimplemented);
  expect(await client.identity.getPluginInfo({})).toMatchObject({
    name: "cinder.csi.openstack.org",
    vendorVersion: "2.0.0@1",
  });
});
