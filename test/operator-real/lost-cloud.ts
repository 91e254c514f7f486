/** A cloud of the rig is backed up, lost with all its disks, and begins again from the backup on another rig. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually } from "../support/processes.ts";
import { request, serviceAddress, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { DISKS, TIMEOUT, startRig, volumes, type Rig, type RigOptions } from "./rig.ts";
import { seconds, whenReady } from "./whole-cloud.ts";

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
export async function namesIn(rig: Rig, token: string): Promise<Record<string, string[]>> {
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

export interface Lost {
  readonly name: string;
  readonly rig: RigOptions;
  /** The deployment, with more fields. */
  readonly deployment: (more: Record<string, unknown>) => object;
  /** After the backup, which does not have it. */
  readonly tooLate: (rig: Rig) => Promise<unknown>;
}

/** Backs the cloud of a rig up and closes that; another rig, on which the same cloud is Ready from the backup. */
export async function lostAndRestored(rig: Rig, { name, deployment, tooLate, ...lost }: Lost): Promise<Rig> {
  const kept = mkdtempSync(join(tmpdir(), "causeway-backups-"));
  try {
    const began = Date.now();
    rig.apply(vault());
    rig.apply(deployment({ backup: { target, keys } }));
    const made = await eventually(TIMEOUT, () => statusOf(rig).backups?.find(({ state }) => state === "Complete"));
    record(`backup of ${name}`, { seconds: seconds(Date.now() - began), bytes: Number(made.bytes) });
    await tooLate(rig);
    copy(placeOfBackups(rig), kept);
    await rig.close();
    return await restored(kept, made.run, { name, deployment, tooLate, ...lost });
  } finally {
    rmSync(kept, { recursive: true, force: true });
  }
}

async function restored(kept: string, run: string, { name, rig: options, deployment }: Lost): Promise<Rig> {
  const rig = await startRig(options);
  try {
    copy(kept, placeOfBackups(rig));
    const began = Date.now();
    rig.apply(volumes());
    rig.apply(vault());
    rig.apply(deployment({ restore: { target, keys, from: run } }));
    await whenReady(rig);
    expect(statusOf(rig).restore?.completedAt).toBeDefined();
    record(`restore of ${name} into an empty cluster`, { secondsToReady: seconds(Date.now() - began) });
    return rig;
  } catch (error) {
    await rig.close();
    throw error;
  }
}
