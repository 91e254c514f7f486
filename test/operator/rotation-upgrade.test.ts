/** Rotation of passwords and upgrades, with an operator that is killed again and again. */
import { DaemonSet, Job, Node, Secret } from "@causeway/kubernetes";
import { afterEach, describe, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await OperatorWorld.start(1));
const text = (secret: Secret, key: string): string => Buffer.from(secret.data?.[key] ?? "", "base64").toString();

describe("a rotation of passwords", () => {
  test("makes second accounts, rolls pods to them, and then removes the first ones", async () => {
    const w = await start();
    w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    const credentials = () => w.client.get(Secret, { namespace: "default", name: "cloud-credentials" });
    const first = text(await credentials(), "nova.database.0");
    expect(first).toMatch(/^[0-9a-f]{48}$/);
    const stages: string[] = [];
    await w.change({ rotation: { passwords: 1 } });
    while (stages.at(-1) !== "uses 1 of 1") {
      const found = await credentials();
      const stage = `uses ${text(found, "generation")} of ${text(found, "accounts")}`;
      if (stages.at(-1) !== stage) stages.push(stage);
      await w.glance(1_000);
    }
    expect(stages).toEqual(["uses 0 of 0", "uses 0 of 0 1", "uses 1 of 0 1", "uses 1 of 1"]);
    const { status } = await w.whenReady();
    expect(status?.rotation).toEqual({ passwords: 1 });
    const after = await credentials();
    expect(text(after, "nova.database.0")).toBe("");
    expect(text(after, "nova.database.1")).not.toBe(first);
    const nova = (await w.list(Secret)).filter(({ metadata }) => metadata.name.startsWith("cloud-nova-credentials-"));
    expect(nova.some((each) => text(each, "credentials.conf").includes("nova_1:"))).toBe(true);
  });
});

describe("a rotation of keys", () => {
  test("replaces each key once, encrypts credentials again, and continues when the operator is killed at each write", async () => {
    const w = await start();
    let kill = w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    const secret = (name: string) => w.client.get(Secret, { namespace: "default", name });
    const before = { all: await secret("cloud-credentials"), keys: await secret("cloud-credential-keys") };
    const migrations = async () =>
      (await w.list(Job)).filter(({ metadata }) => metadata.name.startsWith("cloud-keystone-credential-migrate-"));
    const [first] = await migrations();
    await w.change({ rotation: { keys: 1 } });
    for (let seen = w.writes.length; (await w.deployment()).status?.rotation?.keys !== 1;) {
      await w.glance(1_000);
      if (w.writes.length < seen + 2) continue;
      seen = w.writes.length;
      await kill();
      kill = w.runOperator();
    }
    await w.settle();
    const after = { all: await secret("cloud-credentials"), keys: await secret("cloud-credential-keys") };
    for (const key of ["memcached.key", "metadata.secret"])
      expect(text(after.all, key)).not.toBe(text(before.all, key));
    for (const key of ["heat.encryption", "barbican.kek", "keystone.admin", "nova.database.0"])
      expect(text(after.all, key)).toBe(text(before.all, key));
    // The staged key encrypts now, and the one before is kept until nothing needs it.
    expect(text(after.keys, "2")).toBe(text(before.keys, "0"));
    expect(text(after.keys, "1")).toBe(text(before.keys, "1"));
    expect(Object.keys(after.keys.data ?? {}).toSorted()).toEqual(["0", "1", "2"]);
    expect((await migrations()).map(({ metadata }) => metadata.name)).not.toEqual([first?.metadata.name]);
    expect(await migrations()).toHaveLength(1);
    const shared = (await w.list(Secret))
      .filter(({ metadata }) => /^cloud-(?:neutron|nova)-credentials-/.test(metadata.name))
      .filter((each) => text(each, "credentials.conf").includes(text(after.all, "metadata.secret")));
    expect(new Set(shared.map(({ metadata }) => metadata.labels?.["openstack.causeway.dev/revision"]))).toEqual(
      new Set(["neutron-credentials", "nova-credentials"]),
    );
    expect(shared).toHaveLength(2);
    await expect(w.change({ rotation: { keys: 3 } })).rejects.toThrow(/raised by one at a time/);
  });

  test("rolls pods that read a certificate at their start when it is renewed, and not when a node is added", async () => {
    const w = await start();
    w.runOperator();
    await w.createDeployment({ rotation: { certificateDays: 3 } });
    await w.whenReady();
    const libvirt = async () =>
      (await w.list(DaemonSet)).find(({ metadata }) => metadata.name.startsWith("cloud-libvirt"))?.spec.template
        .metadata?.annotations?.["openstack.causeway.dev/certificates-of"];
    const certificate = async () =>
      text(await w.client.get(Secret, { namespace: "default", name: "cloud-libvirt-certificates" }), "tls.crt");
    const before = { mark: await libvirt(), certificate: await certificate() };
    expect(before.mark).toMatch(/^2026-/);
    await w.client.create(Node, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "compute-9", labels: { role: "compute", "kubernetes.io/hostname": "compute-9" } },
      spec: {},
    });
    await w.until("a certificate with the node's name", async () => (await certificate()) !== before.certificate);
    await w.settle();
    expect(await libvirt()).toBe(before.mark);
    await w.until(
      "it is renewed after two thirds of its life",
      async () => (await libvirt()) !== before.mark,
      1_800_000,
    );
    expect(Date.parse((await libvirt()) ?? "") - Date.parse(before.mark ?? "")).toBeGreaterThanOrEqual(2 * 86_400_000);
  });
});

describe("keys of tokens", () => {
  test("rotate by the minute, each after every Keystone has had it, by operators that are killed at each write", async () => {
    const w = await start();
    let kill = w.runOperator();
    await w.createDeployment({ rotation: { tokenKeys: { everyMinutes: 1, lifetimeHours: 1 } } });
    await w.whenReady();
    const keys = () => w.client.get(Secret, { namespace: "default", name: "cloud-token-keys" });
    const signing = (secret: Secret) => text(secret, String(Math.max(...Object.keys(secret.data ?? {}).map(Number))));
    const versions = [await keys()];
    while (versions.length <= 12) {
      await w.glance(10_000);
      const found = await keys();
      if (found.metadata.resourceVersion === versions.at(-1)?.metadata.resourceVersion) continue;
      versions.push(found);
      await kill();
      kill = w.runOperator();
    }
    for (const [index, version] of versions.entries()) {
      const [before, last] = [versions[index - 3], versions.at(-1)];
      // What signs now was there three minutes ago, and verifies as long as tokens live.
      expect(Object.values(last?.data ?? {})).toContain(Buffer.from(signing(version)).toString("base64"));
      if (before) expect(Object.values(before.data ?? {})).toContain(Buffer.from(signing(version)).toString("base64"));
    }
    expect(new Set(versions.map(signing)).size).toBe(versions.length);
    const rotated = versions.map((each) =>
      Date.parse(each.metadata.annotations?.["openstack.causeway.dev/rotated-at"] ?? ""),
    );
    const gaps = rotated.slice(1).map((at, index) => at - (rotated[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(60_000);
    expect(Math.max(...gaps.slice(1))).toBeLessThanOrEqual(80_000);
  });
});

const UPGRADE_STEPS = [
  "UpgradeChecked",
  "PlacementUpdated",
  "NovaApiSchemaExpanded",
  "NovaCellSchemasExpanded",
  "SchemasExpanded",
  "NovaConductorsUpdated",
  "NovaSchedulerUpdated",
  "NovaApiUpdated",
  "ControlPlaneUpdated",
  "ComputeNodesUpdated",
  "NovaMessagesUnpinned",
  "DataMigrated",
  "SchemasContracted",
];

describe("an upgrade", () => {
  test("stops before any change when a check fails, and goes through all steps when the operator is killed at each of its writes", async () => {
    const w = await start();
    let kill = w.runOperator();
    await w.createDeployment({ release: "2022.2" });
    await w.whenReady();
    await w.settle();
    const images = async () =>
      new Set((await w.pods()).flatMap(({ spec }) => spec.containers.map(({ image = "" }) => image.split(":")[1])));
    w.fateOf = (component) => (component === "nova-upgrade-check" ? "crashes" : "runs");
    await w.change({ release: "2023.1" });
    await w.until("the check failed", async () =>
      ((await w.component("nova-upgrade-check"))?.step ?? "").includes("runs again"),
    );
    await w.pass(60_000);
    const early = (await w.pods()).filter(
      ({ spec, metadata }) =>
        spec.containers.some(({ image = "" }) => image.endsWith(":2023.1")) &&
        !metadata.name.includes("-upgrade-check-"),
    );
    expect(early.map(({ metadata }) => metadata.name)).toEqual([]);
    expect(await w.condition("UpgradeChecked")).toMatchObject({ status: "False" });
    w.fateOf = () => "runs";
    w.started.length = 0;
    let kills = 0;
    const done = new Set<string>();
    const undone: string[] = [];
    for (let seen = w.writes.length; (await w.deployment()).status?.phase !== "Ready";) {
      await w.glance(1_000);
      const { upgrade } = (await w.deployment()).status ?? {};
      if (upgrade) undone.push(...[...done].filter((step) => !upgrade.done.includes(step)));
      for (const step of upgrade?.done ?? []) done.add(step);
      if (w.writes.length < seen + 5) continue;
      seen = w.writes.length;
      await kill();
      kills++;
      kill = w.runOperator();
    }
    expect(kills).toBeGreaterThan(10);
    // What is over remains so, also while Nova's processes start once more without the limit to their messages.
    expect(undone).toEqual([]);
    expect([...done]).toEqual(expect.arrayContaining(UPGRADE_STEPS.slice(0, -3)));
    const { status } = await w.whenReady();
    expect(status?.release).toBe("2023.1");
    for (const step of UPGRADE_STEPS) expect(await w.condition(step), step).toMatchObject({ status: "True" });
    await w.settle();
    expect([...(await images())]).toEqual(["2023.1"]);
    // The upgrade's own Jobs are gone, and each of the others ran once for the release.
    const jobs = (await w.list(Job)).map(({ metadata }) => metadata.labels?.["openstack.causeway.dev/component"]);
    expect(jobs.filter((name) => name?.includes("upgrade-check") || name?.endsWith("-contract"))).toEqual([]);
    expect(new Set(jobs).size).toBe(jobs.length);
  });
});
