/** Backups of a deployment, and a deployment that begins with one. */
import { Job, Secret, secretData } from "@causeway/kubernetes";
import { afterEach, describe, expect, test } from "vitest";
import { NAMESPACE, OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await OperatorWorld.start(1));
const target = { claim: "backups" };
const keys = { name: "passphrase" };
const text = (secret: Secret, key: string): string => Buffer.from(secret.data?.[key] ?? "", "base64").toString();

describe("a backup", () => {
  test("is made by Jobs one after another, by operators that are killed at each of their writes", async () => {
    const w = await start();
    let kill = w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    await w.change({ backup: { target, keys } });
    for (let writes = w.writes.length; ;) {
      const { status } = await w.deployment();
      if (status?.backups?.[0]?.state === "Complete") break;
      await w.glance(1_000);
      if (w.writes.length < writes + 3) continue;
      writes = w.writes.length;
      await kill();
      kill = w.runOperator();
    }
    const seen = w.started.filter((name) => /-db-backup$|^(?:ovn-..|keys)-backup$|^backup-finish$/.test(name));
    expect(seen[0]).toBe("keystone-db-backup");
    expect(seen.slice(-4)).toEqual(["ovn-nb-backup", "ovn-sb-backup", "keys-backup", "backup-finish"]);
    await w.settle();
    const { status } = await w.deployment();
    expect(status?.phase).toBe("Ready");
    expect(status?.backups?.map(({ run, state }) => `${run} ${state}`)).toEqual(["20251231t020000z Complete"]);
    expect((await w.list(Job)).filter(({ metadata }) => metadata.labels?.["openstack.causeway.dev/run"])).toEqual([]);
    const before = w.writes.length;
    await w.touchDeployment();
    await w.settle();
    expect(w.writes.slice(before)).toEqual([]);
  });
});

describe("a restore", () => {
  const restore = { target, keys, from: "20251231t020000z" };

  test("takes over passwords and keys before anything is made with others, then databases before their schemas", async () => {
    const w = await start();
    let kill = w.runOperator();
    await w.createDeployment({ restore });
    const received = await w.until("the Secret for keys", () =>
      w.client.find(Secret, { namespace: NAMESPACE, name: "cloud-restored-keys" }),
    );
    await w.until("its Job ran", () => Promise.resolve(w.started.length > 0));
    await w.settle();
    expect(await w.client.find(Secret, { namespace: NAMESPACE, name: "cloud-credentials" })).toBeUndefined();
    expect(w.started).toEqual(["restore-keys"]);
    const roles = {
      credentials: { generation: "2", accounts: "2", "keystone.admin": "of-the-backup", "nova.database.2": "old" },
      "token-keys": { "0": "a", "1": "b" },
      "credential-keys": { "0": "c", "1": "d" },
      authority: {},
    };
    const data = secretData({ keys: JSON.stringify(roles), backup: "cloud/20251231t020000z" });
    await w.client.patch(
      Secret,
      { namespace: NAMESPACE, name: received.metadata.name },
      { type: "merge", body: { data } },
    );
    for (let seen = w.writes.length; (await w.deployment()).status?.phase !== "Ready";) {
      await w.glance(1_000);
      if (w.writes.length < seen + 40) continue;
      seen = w.writes.length;
      await kill();
      kill = w.runOperator();
    }
    const secret = (name: string) => w.client.get(Secret, { namespace: NAMESPACE, name });
    expect(text(await secret("cloud-credentials"), "keystone.admin")).toBe("of-the-backup");
    expect(text(await secret("cloud-credentials"), "nova.database.2")).toBe("old");
    expect(text(await secret("cloud-token-keys"), "1")).toBe("b");
    const at = (name: string) => w.started.indexOf(name);
    for (const service of ["keystone", "nova", "neutron", "glance"]) {
      expect(at(`${service}-db-init`)).toBeLessThan(at(`${service}-db-restore`));
      expect(at(`${service}-db-restore`)).toBeLessThan(at(`${service}-db-sync`));
    }
    expect(at("ovn-nb-restore")).toBeLessThan(at("ovn-northd"));
    expect(at("neutron-server")).toBeLessThan(at("neutron-ovn-sync"));
    for (const step of ["KeysRestored", "DatabasesRestored", "NetworkRestored", "NetworkRepaired"])
      expect(await w.condition(step), step).toMatchObject({ status: "True" });
    await w.settle();
    const { status } = await w.deployment();
    expect(status?.restore).toMatchObject({ from: "cloud/20251231t020000z", step: "Done" });
    expect(status?.restore?.completedAt).toBeDefined();
    // Nothing of the restore remains, and the passwords do when they are written again.
    const jobs = (await w.list(Job)).map(({ metadata }) => metadata.labels?.["openstack.causeway.dev/component"]);
    expect(jobs.filter((name) => name?.includes("restore"))).toEqual([]);
    expect(await w.client.find(Secret, { namespace: NAMESPACE, name: "cloud-restored-keys" })).toBeUndefined();
    await w.change({ rotation: { passwords: 1 } });
    await w.settle();
    expect(text(await secret("cloud-credentials"), "keystone.admin")).toBe("of-the-backup");
  });

  test("is refused while the deployment's passwords are still there, and nothing is changed", async () => {
    const w = await start();
    await w.client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "cloud-credentials",
        namespace: NAMESPACE,
        labels: { "openstack.causeway.dev/deployment": "cloud" },
      },
      type: "Opaque",
      data: secretData({ generation: "0", accounts: "0", "keystone.admin": "kept" }),
    });
    w.runOperator();
    await w.createDeployment({ restore });
    await w.until("it is refused", async () => (await w.deployment()).status?.phase === "Refused");
    expect(await w.condition("KeysRestored")).toMatchObject({ status: "False", reason: "HoldsData" });
    await w.settle();
    expect(w.started).toEqual([]);
    expect(w.writes.filter(({ kind }) => kind === "Secret" || kind === "Job")).toEqual([]);
  });

  test("is set when the deployment is created, and may only be removed", async () => {
    const w = await start();
    await w.createDeployment();
    await expect(w.change({ restore })).rejects.toThrow(/restore is set when the deployment is created/);
    await w.client.delete((await import("@causeway/api")).OpenStackDeployment, { namespace: NAMESPACE, name: "cloud" });
    await w.createDeployment({ restore });
    await expect(w.change({ restore: { from: "20250101t020000z" } })).rejects.toThrow(/may only be removed/);
    await w.change({ restore: null });
    await expect(w.change({ backup: { target: { claim: "a", s3: null }, keys: { name: "" } } })).rejects.toThrow(
      /spec.backup.keys.name/,
    );
  });
});
