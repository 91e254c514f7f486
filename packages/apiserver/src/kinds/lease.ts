import { fields, record } from "../json.ts";
import { invalidValue } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";
import type { Strategy } from "./resource.ts";

/** Leases: times and counts that make sense. */
export const leaseStrategy: Strategy = {
  validate(object) {
    const spec = record(fields(object)["spec"]);
    const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = spec;
    const problems: FieldProblem[] = [];
    if (typeof seconds === "number" && seconds <= 0) {
      problems.push(invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0"));
    }
    if (typeof transitions === "number" && transitions < 0) {
      problems.push(invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
    }
    return problems;
  },
};
