import type { Filter } from "./interface.ts";
import { final } from "./interface.ts";

/** A pod that names its node runs there. */
export const nodeName: Filter = {
  name: "NodeName",
  wokenBy: ["node-added", "node-changed"],
  prepare({ spec }) {
    if (!spec.nodeName) return undefined;
    return ({ name }) => (name === spec.nodeName ? undefined : final("node(s) didn't match the requested node name"));
  },
};
