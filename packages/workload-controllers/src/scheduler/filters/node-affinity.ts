import type { Filter } from "./interface.ts";
import { final } from "./interface.ts";

/** The pod's nodeSelector and required node affinity select the node. */
export const nodeAffinity: Filter = {
  name: "NodeAffinity",
  wokenBy: ["node-added", "node-changed"],
  prepare({ restrictsNodes, selectsNode }) {
    if (!restrictsNodes) return undefined;
    return ({ node }) => (selectsNode(node) ? undefined : final("node(s) didn't match Pod's node affinity/selector"));
  },
};
