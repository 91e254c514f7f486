import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import { createClient, loadKubeconfig, PersistentVolume } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import { expect, test } from "vitest";
import { planVolumes } from "./plan.ts";
import { sweepVolumes, type VolumeSweep } from "./sweep.ts";

const CLUSTER = "cinder.csi.openstack.org/cluster";
const description = "Created by OpenStack Cinder CSI driver";
const claim = { "csi.storage.k8s.io/pvc/namespace": "default", "csi.storage.k8s.io/pvc/name": "data" };

test("sweep volumes deletes volumes and snapshots of the cluster whose claim is gone, and no others", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sweep-volumes-"));
  const [simulator, server] = [await startSimulator(), await startApiServer({})];
  const path = join(dir, "clouds.yaml");
  writeFileSync(path, simulator.cloudsYaml, { mode: 0o600 });
  const cloud = connectCloud(loadCloudsYaml({ cloud: "simulator", path }));
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  try {
    const { volumes, snapshots } = cloud.blockStorage;
    const make = (name: string, cluster: string, more: object = { description }) =>
      volumes.create({ name, size: 1, metadata: { [CLUSTER]: cluster, ...claim }, ...more });
    const bound = await make("bound", "own");
    await make("lost", "own");
    await make("foreign", "other");
    await make("by-hand", "own", {});
    const copy = { volume_id: bound.id, description, metadata: { [CLUSTER]: "own" }, force: true };
    await snapshots.create({ name: "lost-snapshot", ...copy });
    const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] };
    const csi = { driver: "cinder.csi.openstack.org", volumeHandle: bound.id };
    const persistent = {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "bound" },
      spec: { ...spec, csi },
    };
    await client.create(PersistentVolume, persistent);

    const signal = new AbortController().signal;
    const clock = { now: () => Date.now() + 3_600_000, sleep: () => Promise.resolve() };
    const request: VolumeSweep = { client, cloud, clusterName: "own", dryRun: false, clock };
    const outcomes = async (more: Partial<VolumeSweep>) =>
      (await sweepVolumes({ ...request, ...more }, signal)).map(
        ({ kind, name, outcome }) => `${outcome} ${kind} ${name}`,
      );
    const left = async () => (await volumes.all()).map(({ name }) => name).toSorted();
    await expect(outcomes({ clusterName: "kubernetes" })).rejects.toMatchObject({ code: "SWEEP_NAME_SHARED" });
    // Its claim may be in the making.
    expect(await outcomes({ clock: { ...clock, now: () => Date.now() } })).toEqual([]);
    const found = ["found snapshot lost-snapshot", "found volume lost"];
    expect(await outcomes({ dryRun: true })).toEqual(found);
    expect(await outcomes({ confirm: () => Promise.resolve(false) })).toEqual(found);
    expect(await outcomes({ namespace: "elsewhere" })).toEqual([]);
    expect(await left()).toEqual(["bound", "by-hand", "foreign", "lost"]);
    expect(await outcomes({})).toEqual(["removed snapshot lost-snapshot", "removed volume lost"]);
    await expect.poll(left).toEqual(["bound", "by-hand", "foreign"]);
  } finally {
    await Promise.all([cloud.close(), client.close()]);
    await Promise.all([simulator.close(), server.close()]);
    rmSync(dir, { recursive: true });
  }
});

test("sweep volumes keeps volumes of servers and of claims in the making, and ends attachments to servers that are gone", () => {
  const volume = (id: string, attachments: readonly string[] = [], name = id) => ({
    id,
    name,
    description,
    status: "in-use",
    size: 1,
    availability_zone: "nova",
    bootable: "false",
    volume_type: "fast",
    created_at: "2026-01-01T00:00:00",
    metadata: { [CLUSTER]: "own" },
    snapshot_id: null,
    source_volid: null,
    multiattach: false,
    attachments: attachments.map((server_id) => ({ server_id, attachment_id: `${id}-a`, device: "/dev/vdb" })),
  });
  const attachment = (id: string, volume_id: string, instance: string) => ({
    id,
    volume_id,
    instance,
    status: "attached",
    attach_mode: "rw",
  });
  const plan = planVolumes(
    {
      volumes: [volume("used", ["here"]), volume("free", ["gone"]), volume("made", [], "pvc-uid"), volume("named")],
      snapshots: [],
      backups: [],
      attachments: [attachment("used-a", "used", "here"), attachment("free-a", "free", "gone")],
      servers: new Set(["here"]),
      named: new Set(["named"]),
      uids: new Set(["uid"]),
    },
    "own",
    Date.UTC(2026, 1, 1),
  );
  expect(plan.map(({ kind, id, kept }) => [kind, id, kept])).toEqual([
    ["attachment", "free-a", undefined],
    ["volume", "used", "it is attached to server here"],
    ["volume", "free", undefined],
  ]);
});
