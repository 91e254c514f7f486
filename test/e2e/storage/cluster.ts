import { eventually } from "../../support/processes.ts";
import { startRig, type Rig } from "../../nodes/rig.ts";

const PATIENCE = 10 * 60_000;
const DRIVER = "cinder.csi.openstack.org";

/** The class that the controllers of the cluster's volumes install. */
export const STORAGE_CLASS = "csi-cinder-sc-delete";

/** A cluster with two real nodes, whose volumes are Cinder's: its controllers are outside of it, and the driver's node part is a DaemonSet. */
export async function startStorageCluster(image: string): Promise<Rig> {
  const rig = await startRig();
  try {
    rig.manage({
      apiVersion: "addons.causeway.dev/v1alpha1",
      kind: "AddonSet",
      metadata: { namespace: "default", name: "real-nodes-volumes" },
      spec: { clusterName: "real-nodes", addons: [{ name: "cinder", catalogue: { name: "CinderCSINode", image } }] },
    });
    await eventually(PATIENCE, () => registered(rig) === 2);
    await eventually(PATIENCE, () => rig.workload("get", "storageclass", STORAGE_CLASS, "-o", "name") !== "");
    return rig;
  } catch (error) {
    await rig.close();
    throw error;
  }
}

/** Nodes whose kubelet has the driver. */
function registered(rig: Rig): number {
  const { items } = JSON.parse(rig.workload("get", "csinodes", "-o", "json")) as {
    readonly items: readonly { readonly spec: { readonly drivers?: readonly { readonly name: string }[] | null } }[];
  };
  return items.filter(({ spec }) => spec.drivers?.some(({ name }) => name === DRIVER)).length;
}
