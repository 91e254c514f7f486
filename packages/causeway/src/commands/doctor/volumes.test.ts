import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "@causeway/apiserver";
import { createClient, loadKubeconfig, PersistentVolume } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import { expect, test } from "vitest";
import { volumeFacts } from "./volume-facts.ts";
import { volumeFindings } from "./volume-findings.ts";

test("the doctor reports volumes and snapshots whose claim is gone, and claims whose volume is gone", async () => {
  const dir = mkdtempSync(join(tmpdir(), "doctor-volumes-"));
  const [simulator, server] = [await startSimulator(), await startApiServer({})];
  const path = join(dir, "clouds.yaml");
  writeFileSync(path, simulator.cloudsYaml, { mode: 0o600 });
  const cloud = connectCloud(loadCloudsYaml({ cloud: "simulator", path }));
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  try {
    const read = (now = Date.now() + 3_600_000) => volumeFacts(client, cloud, { now });
    expect(volumeFindings({ value: await read() })).toMatchObject([{ state: "works" }]);
    const of = (cluster: string) => ({ metadata: { "cinder.csi.openstack.org/cluster": cluster } });
    const { volumes, snapshots } = cloud.blockStorage;
    const bound = await volumes.create({ name: "bound", size: 1, ...of("own") });
    await volumes.create({ name: "lost-claim", size: 1, ...of("own") });
    await volumes.create({ name: "foreign", size: 1, ...of("other") });
    await volumes.create({ name: "by-hand", size: 1 });
    await snapshots.create({ name: "lost-snapshot", volume_id: bound.id, force: true, ...of("own") });
    const persistent = (name: string, volumeHandle: string) =>
      client.create(PersistentVolume, {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name },
        spec: {
          accessModes: ["ReadWriteOnce"],
          capacity: { storage: "1Gi" },
          csi: { driver: "cinder.csi.openstack.org", volumeHandle },
        },
      });
    await persistent("bound", bound.id);
    await persistent("gone", "00000000-0000-4000-8000-000000000000");
    const facts = await read();
    const names = (all: readonly string[]) => all.map((each) => each.replace(/ \([\da-f-]+\)$/, ""));
    expect({ ...facts, missing: names(facts.missing), orphans: names(facts.orphans) }).toMatchObject({
      known: 2,
      missing: ["gone"],
      orphans: ["lost-claim"],
      strayAttachments: [],
    });
    expect(names(facts.orphanSnapshots)).toEqual(["snapshot lost-snapshot"]);
    expect(volumeFindings({ value: facts }).map(({ feature, state }) => [feature, state])).toEqual([
      ["volumes", "broken"],
      ["orphaned volumes", "limited"],
      ["orphaned snapshots", "limited"],
    ]);
    // A claim may be in the making.
    expect((await read(Date.now())).orphans).toEqual([]);
  } finally {
    await Promise.all([cloud.close(), client.close()]);
    await Promise.all([simulator.close(), server.close()]);
    rmSync(dir, { recursive: true });
  }
});
