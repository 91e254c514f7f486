import { protectedBy } from "../../admission/builtin/protection.ts";
import { fields, record, timestamp } from "../../json/json.ts";
import { volumeProblems, volumeUpdateProblems } from "../storage/volume-rules.ts";
import type { Strategy } from "../../contract/resource.ts";

/** A volume's status has the time of its last change of phase. */
export const volumeStrategy: Strategy = {
  mutate: protectedBy("kubernetes.io/pv-protection"),
  prepareCreate(draft, { cluster }) {
    draft["status"] = { phase: "Pending", lastPhaseTransitionTime: timestamp(cluster.clock.now()) };
  },
  validate(object, old, { subresource }) {
    if (subresource) return [];
    return [...volumeProblems(record(fields(object)["spec"])), ...(old ? volumeUpdateProblems(object, old) : [])];
  },
};
