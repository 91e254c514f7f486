import { readFileSync } from "node:fs";
import { eventually } from "../../support/processes.ts";
import { startRig, type Rig } from "../../nodes/rig.ts";
import { startUpstream, type UpstreamPrograms } from "./upstream.ts";

const TIMEOUT = 10 * 60_000;
const DRIVER = "cinder.csi.openstack.org";

/** The class of the tests' volumes. */
export const STORAGE_CLASS = "e2e-cinder";

/**
 * The kernel grows a mounted ext4 for CAP_SYS_RESOURCE only, which the root of a container may not have: then xfs is
 * the default.
 */
function defaultFileSystem(): "ext4" | "xfs" {
  const [, bits = "0"] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return (BigInt(`0x${bits}`) >> 24n) & 1n ? "ext4" : "xfs";
}

function storageClass(): object {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: STORAGE_CLASS },
    provisioner: DRIVER,
    parameters: { "csi.storage.k8s.io/fstype": defaultFileSystem() },
    reclaimPolicy: "Delete",
    allowVolumeExpansion: true,
    volumeBindingMode: "WaitForFirstConsumer",
  };
}

/**
 * A cluster with two real nodes, whose volumes are Cinder's: the controllers are outside of it, and the driver's node
 * part is a DaemonSet. With programs of upstream that driver and the stock sidecars serve it.
 */
export async function startStorageCluster(image: string, upstream?: UpstreamPrograms): Promise<Rig> {
  const rig = await startRig({ withVolumes: upstream === undefined });
  let end = async (): Promise<void> => {};
  const close = async (): Promise<void> => {
    await rig.close();
    // A deleted cluster's volumes are given back by the driver.
    await end();
  };
  try {
    if (upstream) end = await startUpstream(rig, upstream);
    else installOurs(rig, image);
    await eventually(TIMEOUT, () => registered(rig) === 2);
    rig.apply(storageClass());
    return { ...rig, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function installOurs(rig: Rig, image: string): void {
  rig.manage({
    apiVersion: "addons.causeway.dev/v1alpha1",
    kind: "AddonSet",
    metadata: { namespace: "default", name: "real-nodes-volumes" },
    spec: { clusterName: "real-nodes", addons: [{ name: "cinder", catalogue: { name: "CinderCSINode", image } }] },
  });
}

/** Nodes whose kubelet has the driver. */
function registered(rig: Rig): number {
  const { items } = JSON.parse(rig.workload("get", "csinodes", "-o", "json")) as {
    readonly items: readonly { readonly spec: { readonly drivers?: readonly { readonly name: string }[] | null } }[];
  };
  return items.filter(({ spec }) => spec.drivers?.some(({ name }) => name === DRIVER)).length;
}
