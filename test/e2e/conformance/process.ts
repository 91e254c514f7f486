import { awaitAddons } from "./addons.ts";
import type { Environment, Place } from "./interface.ts";

/**
 * A cluster of `causeway up --runtime process` on the real OpenStack: its workers are servers, its add-ons and its
 * tunnel those of the product (test/nodes).
 */
export async function startProcess(environment: Environment): Promise<Place> {
  process.env["CAUSEWAY_NODE_KUBELET"] = environment.kubelet;
  process.env["CAUSEWAY_NODE_IMAGES"] = environment.images;
  process.env["CAUSEWAY_NODE_VERSION"] = environment.version;
  process.env["CAUSEWAY_NODES_PROGRAMS"] = environment.programs;
  const { startRig } = await import("../../nodes/rig.ts");
  const rig = await startRig();
  try {
    await awaitAddons(rig.kubeconfig);
    return { kubeconfig: rig.kubeconfig, close: () => rig.close() };
  } catch (error) {
    await rig.close();
    throw error;
  }
}
