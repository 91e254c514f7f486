import { nodeTermTest } from "../../model/selector.ts";
import { inProportion, type Score } from "./interface.ts";

/** Nodes that the pod's preferred node affinity selects are better, by the weights of the preferences. */
export const nodeAffinityScore: Score = {
  name: "NodeAffinity",
  weight: 2,
  rate({ spec }, nodes) {
    const preferences = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    if (preferences.length === 0) return undefined;
    const tests = preferences.map(({ weight, preference }) => ({ weight, selects: nodeTermTest(preference) }));
    return inProportion(
      nodes.map(({ node }) => tests.reduce((sum, { weight, selects }) => sum + (selects(node) ? weight : 0), 0)),
    );
  },
};
