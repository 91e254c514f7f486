import type { Filter } from "./interface.ts";
import { busy } from "./interface.ts";

/** The ports of the node that the pod asks for are free. */
export const nodePorts: Filter = {
  name: "NodePorts",
  wokenBy: ["pod-removed", "node-added", "node-changed"],
  prepare({ hostPorts }) {
    if (hostPorts.length === 0) return undefined;
    return (node) =>
      hostPorts.every((port) => node.hasFree(port))
        ? undefined
        : busy("node(s) didn't have free ports for the requested pod ports");
  },
};
