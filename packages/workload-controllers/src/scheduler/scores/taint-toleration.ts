import { tolerates } from "../filters/tolerations.ts";
import { inProportion, type Score } from "./interface.ts";

/** Nodes with fewer PreferNoSchedule taints that the pod does not tolerate are better. */
export const taintTolerationScore: Score = {
  name: "TaintToleration",
  weight: 3,
  rate: ({ tolerations }, nodes) =>
    inProportion(
      nodes.map(
        ({ node }) =>
          (node.spec.taints ?? []).filter(
            (taint) => taint.effect === "PreferNoSchedule" && !tolerates(tolerations, taint),
          ).length,
      ),
      true,
    ),
};
