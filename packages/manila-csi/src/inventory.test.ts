/** What the replaced driver does, as far as no other test of this package has it. */
import { Code, ConnectError, ControllerServiceCapability_RPC_Type as Rpc } from "@causeway/csi";
import { silentLog, VirtualClock } from "@causeway/foundation";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createShare } from "./controller/create-share.ts";
import { placementOf } from "./controller/placement.ts";
import { shareSpec } from "./controller/share-spec.ts";
import { requireProtocol } from "./protocol.ts";
import { parseRuntimeConfig, readRuntimeConfig } from "./runtime-config.ts";
import { cloudOfSecrets } from "./secrets.ts";
import { Connections, type ShareCloud } from "./shares/connections.ts";
import { chooseLocation, placeOf } from "./shares/export-location.ts";
import { failureOf } from "./shares/failure.ts";
import { fileSystem, gib, openWorld, type Driver, type World } from "./testing/world.ts";

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "ok",
    (error: unknown) => ConnectError.from(error).code,
  );

describe("the driver", () => {
  let world: World;
  let driver: Driver;
  beforeEach(async () => {
    world = await openWorld();
    driver = await world.driver();
  });
  afterEach(() => world.close());

  const create = async (name: string, more: object = {}, by = driver) => {
    const secrets = world.secrets();
    const request = { name, capacityRange: gib(1), volumeCapabilities: [fileSystem], secrets, ...more };
    const { volume } = await by.client.controller.createVolume(request);
    if (!volume) throw new Error("no volume in the response");
    return volume;
  };
  const operator = async <T>(work: (cloud: Cloud) => Promise<T>): Promise<T> => {
    const config = loadCloudsYaml({ cloud: "simulator-admin", path: `${world.dir}/clouds.yaml` });
    const cloud = connectCloud(config, { clock: world.clock });
    try {
      return await work(cloud);
    } finally {
      await cloud.close();
    }
  };

  test("has upstream's three capabilities, and everything else is UNIMPLEMENTED", async () => {
    const { controller } = driver.client;
    const { capabilities } = await controller.controllerGetCapabilities({});
    const announced = capabilities.map(({ type }) => (type.case === "rpc" ? type.value.type : undefined));
    expect(announced).toEqual([Rpc.CREATE_DELETE_VOLUME, Rpc.CREATE_DELETE_SNAPSHOT, Rpc.EXPAND_VOLUME]);
    const others = [
      controller.listVolumes({}),
      controller.getCapacity({}),
      controller.listSnapshots({}),
      controller.controllerGetVolume({ volumeId: "x" }),
      controller.controllerModifyVolume({ volumeId: "x" }),
      controller.controllerPublishVolume({ volumeId: "x", nodeId: "n", volumeCapability: fileSystem }),
      controller.controllerUnpublishVolume({ volumeId: "x", nodeId: "n" }),
    ];
    expect(await Promise.all(others.map(codeOf))).toEqual(others.map(() => Code.Unimplemented));
  });

  test("passes the class's type and zone to Manila", async () => {
    const extra_specs = { driver_handles_share_servers: "False" };
    await operator((cloud) => cloud.sharedFileSystem.shareTypes.create({ name: "plain", extra_specs }));
    const { volumeId } = await create("a", { parameters: { type: "plain", availability: "nova" } });
    const share = await world.cloud.sharedFileSystem.shares.get(volumeId);
    expect(share).toMatchObject({ share_type_name: "plain", availability_zone: "nova" });
  });

  test("passes the class's network and group to Manila, and prefers the group and places of the claim's annotations", async () => {
    const sent: object[] = [];
    const made = await world.cloud.sharedFileSystem.shares.get((await create("a")).volumeId);
    const shares = {
      all: () => Promise.resolve([]),
      create: (body: object, { microversion }: { readonly microversion?: string }) => {
        sent.push({ ...body, microversion });
        return Promise.resolve({ ...made, share_network_id: "network" });
      },
    };
    const storage = { manila: { shares }, shares: {}, snapshots: {} } as unknown as ShareCloud;
    const { clock } = world;
    const call = { storage, protocol: "NFS", signal: new AbortController().signal, clock, log: silentLog } as const;
    const parameters = { shareNetworkID: "network", groupID: "of-class" };
    const request = { name: "a", capacityRange: gib(1), volumeCapabilities: [fileSystem], parameters };
    const spec = shareSpec(request as never, { protocol: "NFS", clusterId: "test", withTopology: false });
    const placement = { sameHost: "", differentHost: "", groupId: undefined };
    await createShare({ ...call, spec, placement });
    await createShare({ ...call, spec, placement: { sameHost: "x", differentHost: "y,z", groupId: "of-claim" } });
    expect(sent).toMatchObject([
      { share_network_id: "network", share_group_id: "of-class", microversion: undefined },
      {
        share_group_id: "of-claim",
        scheduler_hints: { same_host: "x", different_host: "y,z" },
        microversion: "2.65",
      },
    ]);
    const claim = { "csi.storage.k8s.io/pvc/name": "c", "csi.storage.k8s.io/pvc/namespace": "n" };
    const read = () => Promise.resolve({ "manila.csi.openstack.org/group-id": "of-claim" });
    expect(await placementOf(call, claim, read)).toEqual({ ...placement, groupId: "of-claim" });
  });

  test("takes no snapshot of a share whose type does not support it", async () => {
    const extra_specs = { driver_handles_share_servers: "False" };
    await operator((cloud) => cloud.sharedFileSystem.shareTypes.create({ name: "plain", extra_specs }));
    const { volumeId } = await create("a", { parameters: { type: "plain" } });
    const request = { name: "s", sourceVolumeId: volumeId, secrets: world.secrets() };
    expect(await codeOf(driver.client.controller.createSnapshot(request))).toBe(Code.InvalidArgument);
    expect(await world.cloud.sharedFileSystem.snapshots.all()).toEqual([]);
  });

  test("shares the result of equal calls, and aborts another request for a name that is being created", async () => {
    const all = await Promise.allSettled([create("a"), create("a"), create("a", { capacityRange: gib(2) })]);
    const [first, second, third] = all;
    if (first.status === "rejected" || second.status === "rejected") throw new Error("equal calls failed");
    expect(second.value.volumeId).toBe(first.value.volumeId);
    expect(third).toMatchObject({ status: "rejected", reason: { code: Code.Aborted } });
    expect(await world.cloud.sharedFileSystem.shares.all()).toHaveLength(1);
  });

  test("refuses a snapshot that does not exist as source, and a share with less room than it", async () => {
    const of = (snapshotId: string) => ({ volumeContentSource: { type: { case: "snapshot", value: { snapshotId } } } });
    expect(await codeOf(create("a", of("0e3a5b6c-0000-4000-8000-000000000000")))).toBe(Code.NotFound);
    const { volumeId } = await create("b", { capacityRange: gib(2) });
    const request = { name: "s", sourceVolumeId: volumeId, secrets: world.secrets() };
    let { snapshot } = await driver.client.controller.createSnapshot(request);
    for (let left = 50; left > 0 && snapshot?.readyToUse !== true; left -= 1) {
      await world.clock.sleep(500);
      ({ snapshot } = await driver.client.controller.createSnapshot(request));
    }
    expect(await codeOf(create("c", of(snapshot?.snapshotId ?? "")))).toBe(Code.OutOfRange);
  });
});

test.each([
  ["002", "CSI_OUT_OF_RANGE"],
  ["003", "CSI_INVALID_ARGUMENT"],
  ["007", "CSI_RESOURCE_EXHAUSTED"],
  ["008", "CSI_INVALID_ARGUMENT"],
  ["009", "CSI_OUT_OF_RANGE"],
  ["001", "CSI_INTERNAL"],
  ["", "CSI_INTERNAL"],
])("Manila's message %j is %s", (detail, code) => expect(failureOf(detail, "why")).toEqual({ code, message: "why" }));

describe("the export location", () => {
  const at = (path: string, more: object = {}) => ({ id: path, path, ...more });

  test("is the preferred one, else the first, and never an administrator's", () => {
    const locations = [at("10.0.0.9:/c", { is_admin_only: true }), at("10.0.0.1:/a"), at("10.0.0.2:/b")];
    expect(chooseLocation(locations)).toEqual({ address: "10.0.0.1", path: "/a" });
    const preferred = [...locations, at("10.0.0.3:/d", { preferred: true })];
    expect(chooseLocation(preferred)).toEqual({ address: "10.0.0.3", path: "/d" });
    expect(() => chooseLocation([at("10.0.0.9:/c", { is_admin_only: true })])).toThrow(/No export location/);
    expect(() => chooseLocation(preferred, () => false)).toThrow(/10\.0\.0\.1:\/a/);
  });

  test.each([
    ["10.0.0.1:/a", { address: "10.0.0.1", path: "/a" }],
    ["[fd00::1]:/a", { address: "[fd00::1]", path: "/a" }],
    ["10.0.0.1:6789,10.0.0.2:6789:/a", { address: "10.0.0.1:6789,10.0.0.2:6789", path: "/a" }],
    ["/a", undefined],
    [":/a", undefined],
  ])("%s is read", (text, place) => expect(placeOf(text)).toEqual(place));
});

test("the runtime configuration is JSON with an address or a network, and may be missing", () => {
  const parse = (address: unknown) =>
    parseRuntimeConfig(JSON.stringify({ nfs: { matchExportLocationAddress: address } }), "f");
  expect(readRuntimeConfig("/none/runtime.json").matchExportLocationAddress).toBeUndefined();
  expect(parse("").matchExportLocationAddress).toBeUndefined();
  expect(parse("10.0.0.1")).toEqual(parse("10.0.0.1/32"));
  expect(parse("fd00::1")).toEqual(parse("fd00::1/128"));
  for (const bad of ["10.0.0", "10.0.0.0/33", 5]) expect(() => parse(bad)).toThrow(/neither an address nor a CIDR/);
  expect(() => parseRuntimeConfig("{", "f")).toThrow(expect.objectContaining({ code: "CSI_INVALID_ARGUMENT" }));
});

test("the protocol is read in any case of letters, and another is refused", () => {
  expect([requireProtocol("nfs"), requireProtocol("CephFS")]).toEqual(["NFS", "CEPHFS"]);
  expect(() => requireProtocol("CIFS")).toThrow(expect.objectContaining({ code: "MANILA_CSI_FLAG_INVALID" }));
});

const credentials = (name: string) => ({
  "os-authURL": "https://cloud.example.com/v3",
  "os-applicationCredentialID": name,
  "os-applicationCredentialSecret": "secret",
  unknown: "ignored",
});

test("a Secret's keys are upstream's, its authority is used, and its values are in no error", () => {
  const config = cloudOfSecrets({ ...credentials("a"), "os-region": "one", "os-certAuthority": "PEM" });
  expect(config).toMatchObject({ authUrl: "https://cloud.example.com/v3", tls: { ca: "PEM" } });
  expect(config.name).toBe("of the Secret");
  expect(() => cloudOfSecrets({ "os-authURL": "http://example.com/v3" })).toThrow(/not valid: auth\.\w+ is missing\.$/);
  expect(() => cloudOfSecrets({})).toThrow(/the request has none/);
  const wrong = { ...credentials("a"), "os-authURL": "" };
  expect(() => cloudOfSecrets(wrong)).toThrow(/os-authURL is empty/);
  expect(() => cloudOfSecrets({ "os-password": "hidden" })).toThrow(expect.not.stringContaining("hidden"));
});

test("one connection is kept for a credential, and those that were used least recently are closed", async () => {
  const [opened, closed]: [string[], string[]] = [[], []];
  const connect = (config: { readonly auth: unknown }) => {
    const name = /"id":"(\w)"/.exec(JSON.stringify(config))?.[1] ?? "";
    opened.push(name);
    const close = () => Promise.resolve(void closed.push(name));
    return { sharedFileSystem: { shares: {}, snapshots: {} }, close } as unknown as Cloud;
  };
  const connections = new Connections({ clock: new VirtualClock(), most: 2, connect: connect as never });
  const use = (name: string, work = () => Promise.resolve()) => connections.use(credentials(name), work);
  for (const name of ["a", "b", "a", "c"]) await use(name);
  expect([opened, closed, connections.size]).toEqual([["a", "b", "c"], ["b"], 2]);
  // One that a call uses remains open.
  await use("a", async () => {
    await use("d");
    await use("e");
    expect(closed).not.toContain("a");
  });
  await connections.close();
  expect(closed.toSorted()).toEqual(["a", "b", "c", "d", "e"]);
  await expect(use("a")).rejects.toMatchObject({ code: "CSI_UNAVAILABLE" });
});
