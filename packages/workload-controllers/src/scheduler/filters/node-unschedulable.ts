import type { Filter } from "./interface.ts";
import { final } from "./interface.ts";
import { tolerates } from "./tolerations.ts";

/** A cordoned node takes no pod, unless the pod tolerates the taint that says so. */
export const nodeUnschedulable: Filter = {
  name: "NodeUnschedulable",
  wokenBy: ["node-added", "node-changed"],
  prepare({ tolerations }) {
    if (tolerates(tolerations, { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" })) return undefined;
    return ({ node }) => (node.spec.unschedulable === true ? final("node(s) were unschedulable") : undefined);
  },
};
