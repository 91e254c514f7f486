/**
 * The stock CSI sidecars on the socket of our Cinder driver: claims from creation to deletion, on our API server and a
 * real kube-apiserver.
 */
import { PersistentVolume, PersistentVolumeClaim, VolumeAttachment } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startCloud, type BenchCloud } from "../bench/volumes/cloud.ts";
import { StorageCluster } from "../bench/volumes/cluster.ts";
import { startPod, startSnapshotController, type DriverPod } from "../bench/volumes/processes.ts";
import { programs } from "./programs.ts";
import { servers, startServer, type Server } from "./servers.ts";
import { join } from "node:path";

const LONG = { timeout: 60_000, interval: 200 };
const { sidecars } = programs();

describe.each(servers())("the stock CSI sidecars with our driver on $name", ({ name, missing }) => {
  const reason = missing ?? ("reason" in sidecars ? sidecars.reason : undefined);
  if (reason !== undefined || "reason" in sidecars) {
    test.skip(`claims (${reason})`);
    return;
  }
  let server: Server;
  let cloud: BenchCloud;
  let cluster: StorageCluster;
  let pod: DriverPod;
  let nodes: readonly { readonly id: string; readonly name: string }[];
  const closing: (() => unknown)[] = [];

  beforeAll(async () => {
    server = await startServer(name);
    closing.push(() => server.close());
    cloud = await startCloud(server.dir);
    closing.push(() => cloud.close());
    cluster = new StorageCluster(server.kubeconfig);
    await cluster.install(join(sidecars.dir, "crds"));
    cluster.startControllers();
    closing.push(() => cluster.close());
    const servers = await cloud.addServers(2);
    await cluster.addNodes(servers);
    nodes = servers;
    const from = { files: server.dir, kubeconfig: server.kubeconfig, sidecars: sidecars.dir };
    pod = await startPod({ ...from, side: "ours", cloudConf: cloud.cloudConf, upstream: "" });
    closing.push(() => pod.stop());
    const snapshots = startSnapshotController(from);
    closing.push(() => void snapshots.kill("SIGKILL"));
  });
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  const claim = (claimName: string) =>
    cluster.client.get(PersistentVolumeClaim, { namespace: cluster.namespace, name: claimName });
  const volumeOf = async (claimName: string) => {
    const { spec } = await claim(claimName);
    return cluster.client.get(PersistentVolume, { namespace: "", name: spec.volumeName ?? "" });
  };
  const bound = async (claimName: string) => {
    await vi.waitFor(async () => expect((await claim(claimName)).status?.phase).toBe("Bound"), LONG);
    const { metadata, spec } = await volumeOf(claimName);
    return { name: metadata.name, csi: spec.csi, id: spec.csi?.volumeHandle ?? "" };
  };
  const cinder = (id: string) => cloud.cloud.blockStorage.volumes.get(id);

  test("csi-provisioner creates a volume, and csi-attacher attaches it", async () => {
    await cluster.addClaims(["data"]);
    const volume = await bound("data");
    expect(volume.csi).toMatchObject({ driver: "cinder.csi.openstack.org", fsType: "ext4" });
    expect(await cinder(volume.id)).toMatchObject({
      name: volume.name,
      size: 1,
      status: "available",
      availability_zone: "nova",
      metadata: {
        "cinder.csi.openstack.org/cluster": "bench",
        "csi.storage.k8s.io/pvc/name": "data",
        "csi.storage.k8s.io/pvc/namespace": cluster.namespace,
      },
    });
    await cluster.addPods([{ name: "first", claim: "data", node: nodes[0]?.name ?? "" }]);
    await vi.waitFor(async () => expect((await cluster.attached()).get(nodes[0]?.name ?? "")).toBe(1), LONG);
    const { attachments, status } = await cinder(volume.id);
    expect([status, attachments.map(({ server_id }) => server_id)]).toEqual(["in-use", [nodes[0]?.id]]);
    const [attachment] = (await cluster.client.list(VolumeAttachment)).items;
    expect(attachment?.status?.attachmentMetadata).toEqual({ DevicePath: attachments[0]?.device });
  });

  test("csi-resizer grows it while it is attached", async () => {
    const body = { spec: { resources: { requests: { storage: "2Gi" } } } };
    await cluster.client.patch(
      PersistentVolumeClaim,
      { namespace: cluster.namespace, name: "data" },
      { type: "merge", body },
    );
    await vi.waitFor(async () => expect((await volumeOf("data")).spec.capacity?.["storage"]).toBe("2Gi"), LONG);
    expect((await cinder((await bound("data")).id)).size).toBe(2);
    // The node's part is the kubelet's.
    const { conditions = [] } = (await claim("data")).status ?? {};
    expect(conditions.map(({ type }) => type)).toContain("FileSystemResizePending");
  });

  test("csi-snapshotter creates a snapshot, and claims are provisioned of it and of a claim", async () => {
    const source = await bound("data");
    await cluster.addSnapshots(["data"]);
    await vi.waitFor(async () => expect(await cluster.readySnapshots()).toBe(1), LONG);
    const [snapshot] = await cloud.cloud.blockStorage.snapshots.all();
    expect(snapshot).toMatchObject({ volume_id: source.id, status: "available" });
    const resources = { requests: { storage: "2Gi" } };
    const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "data" };
    await cluster.addClaims(["restored"], { dataSource, resources });
    await cluster.addClaims(["cloned"], { dataSource: { kind: "PersistentVolumeClaim", name: "data" }, resources });
    expect((await cinder((await bound("restored")).id)).snapshot_id).toBe(snapshot?.id);
    expect((await cinder((await bound("cloned")).id)).source_volid).toBe(source.id);
  });

  test("a pod on another node moves the volume", async () => {
    await cluster.removePods(["first"]);
    await cluster.addPods([{ name: "second", claim: "data", node: nodes[1]?.name ?? "" }]);
    const expected = new Map([[nodes[1]?.name ?? "", 1]]);
    await vi.waitFor(async () => expect(await cluster.attached()).toEqual(expected), LONG);
    const { attachments } = await cinder((await bound("data")).id);
    expect(attachments.map(({ server_id }) => server_id)).toEqual([nodes[1]?.id]);
  });

  test("all is deleted with its claims and snapshots", async () => {
    await cluster.removePods(["second"]);
    await cluster.removeSnapshots(["data"]);
    await cluster.removeClaims(["data", "restored", "cloned"]);
    await vi.waitFor(async () => expect(await cluster.volumes()).toBe(0), LONG);
    await vi.waitFor(async () => expect(await cluster.snapshots()).toBe(0), LONG);
    const left = cloud.simulator.inventory("demo").filter((line) => /^(volume|snapshot)/.test(line));
    expect(left).toEqual([]);
    pod.check();
  });
});
