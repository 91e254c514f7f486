import { fields, record } from "../../json/json.ts";
import { invalidValue } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import type { Strategy } from "../../contract/resource.ts";

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
