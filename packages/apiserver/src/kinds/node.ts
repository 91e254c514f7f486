import { fields, record, same, text } from "../json.ts";
import { forbiddenField } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";
import type { Strategy } from "./resource.ts";

/** Nodes register themselves with their status; a provider ID, once set, stays. */
export const nodeStrategy: Strategy = {
  keepsStatus: true,
  fill(draft) {
    draft["spec"] = record(draft["spec"]);
    draft["status"] = record(draft["status"]);
  },
  prepareUpdate(draft, old, { subresource }) {
    if (subresource === "status") draft["spec"] = structuredClone(fields(old)["spec"]);
  },
  validate(object, old) {
    if (!old) return [];
    const spec = record(fields(object)["spec"]);
    const was = record(fields(old)["spec"]);
    const problems: FieldProblem[] = [];
    if (text(was["providerID"]) && spec["providerID"] !== was["providerID"]) {
      problems.push(
        forbiddenField("spec.providerID", 'node updates may not change providerID except from "" to valid'),
      );
    }
    if (was["podCIDR"] && !same(spec["podCIDRs"], was["podCIDRs"])) {
      problems.push(forbiddenField("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
    }
    return problems;
  },
};
