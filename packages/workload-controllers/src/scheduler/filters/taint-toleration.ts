import type { Filter } from "./interface.ts";
import { final } from "./interface.ts";
import { tolerates } from "./tolerations.ts";

/** A node whose taint says NoSchedule or NoExecute takes only pods that tolerate it. */
export const taintToleration: Filter = {
  name: "TaintToleration",
  wokenBy: ["node-added", "node-changed"],
  prepare:
    ({ tolerations }) =>
    ({ node }) => {
      const found = node.spec.taints?.find(
        (taint) => taint.effect !== "PreferNoSchedule" && !tolerates(tolerations, taint),
      );
      return found && final(`node(s) had untolerated taint {${found.key}: ${found.value ?? ""}}`);
    },
};
