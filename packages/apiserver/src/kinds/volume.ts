import { timestamp } from "../json.ts";
import type { Strategy } from "./resource.ts";

/** A volume tells since when it is in the phase it is in. */
export const volumeStrategy: Strategy = {
  prepareCreate(draft, { cluster }) {
    draft["status"] = { phase: "Pending", lastPhaseTransitionTime: timestamp(cluster.clock.now()) };
  },
};
