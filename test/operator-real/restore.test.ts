/** A cloud of real processes is backed up, lost with all its disks, and begins again from the backup. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { adminToken, deployment, request, serviceAddress, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { DISKS, TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";
import { seconds, whenReady } from "./whole-cloud.ts";

const SERVICES = ["glance", "placement"] as const;
/** The last place for claims: nothing else takes it. */
const PLACE = String(DISKS - 1);
const target = { claim: "backups" };
const keys = { name: "passphrase" };

/** A claim for backups on the first machine's disk, and what keys are encrypted with. */
function vault(): object {
  const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "" };
  const required = {
    nodeSelectorTerms: [
      { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["openstack-1"] }] },
    ],
  };
  return {
    apiVersion: "v1",
    kind: "List",
    items: [
      {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: "backups" },
        spec: { ...spec, local: { path: `/var/lib/claims/${PLACE}` }, nodeAffinity: { required } },
      },
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "backups", namespace: "default" },
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "",
          volumeName: "backups",
          resources: { requests: { storage: "1Gi" } },
        },
      },
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "passphrase", namespace: "default" },
        stringData: { passphrase: "a passphrase of this test alone" },
      },
    ],
  };
}

const placeOfBackups = (rig: Rig): string => join(rig.machines[0]?.disk ?? "", "root/var/lib/claims", PLACE);

/** With owners, as a claim that survives has them. */
const copy = (from: string, to: string) => execFileSync("cp", ["-a", `${from}/.`, to]);

/** Names of what the APIs list. */
async function namesIn(rig: Rig, token: string): Promise<Record<string, string[]>> {
  const listed = async (component: string, path: string, list: string): Promise<string[]> => {
    const url = `http://${serviceAddress(rig, component)}:${path}`;
    const { status, body } = await request(rig, "GET", url, { token });
    if (status !== 200) throw new Error(`${component}: ${status} ${body.slice(0, 300)}`);
    return (JSON.parse(body) as Record<string, { name: string }[]>)[list]?.map(({ name }) => name).toSorted() ?? [];
  };
  return {
    projects: await listed("keystone-api", "5000/v3/projects", "projects"),
    images: await listed("glance-api", "9292/v2/images", "images"),
    providers: await listed("placement-api", "8778/resource_providers", "resource_providers"),
  };
}

describe("a backup of a cloud of real processes", () => {
  let rig: Rig | undefined;
  const kept = mkdtempSync(join(tmpdir(), "causeway-backups-"));

  afterAll(async () => {
    await rig?.close();
    rmSync(kept, { recursive: true, force: true });
  });

  test("brings databases, passwords and keys back on empty disks: the same token, projects, images and providers", async () => {
    rig = await startRig();
    rig.apply(volumes());
    rig.apply(vault());
    rig.apply(deployment(SERVICES));
    await whenReady(rig);
    const token = await adminToken(rig);
    const create = async (component: string, path: string, body: object) => {
      const url = `http://${serviceAddress(rig!, component)}:${path}`;
      expect((await request(rig!, "POST", url, { token, body })).status).toBeLessThan(300);
    };
    await create("keystone-api", "5000/v3/projects", { project: { name: "kept" } });
    await create("glance-api", "9292/v2/images", { name: "kept", disk_format: "raw", container_format: "bare" });
    await create("placement-api", "8778/resource_providers", { name: "kept" });
    const before = await namesIn(rig, token);
    expect(before).toMatchObject({ images: ["kept"], providers: ["kept"] });

    const began = Date.now();
    rig.apply(deployment(SERVICES, { backup: { target, keys } }));
    const made = await eventually(TIMEOUT, () => statusOf(rig!).backups?.find(({ state }) => state === "Complete"));
    record("backup of Keystone, Glance and Placement", {
      seconds: seconds(Date.now() - began),
      bytes: Number(made.bytes),
    });
    await create("keystone-api", "5000/v3/projects", { project: { name: "too late" } });
    copy(placeOfBackups(rig), kept);
    await rig.close();

    rig = await startRig();
    copy(kept, placeOfBackups(rig));
    const again = Date.now();
    rig.apply(volumes());
    rig.apply(vault());
    rig.apply(deployment(SERVICES, { restore: { target, keys, from: made.run } }));
    await whenReady(rig);
    expect(statusOf(rig).restore?.completedAt).toBeDefined();
    record("restore into an empty cluster", { secondsToReady: seconds(Date.now() - again) });
    // The token is from before the loss; the password of its user is, too.
    expect(await namesIn(rig, token)).toEqual(before);
    expect(await namesIn(rig, await adminToken(rig))).toEqual(before);
  });
});
