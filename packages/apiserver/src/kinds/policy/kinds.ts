import { STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { record } from "../../json/json.ts";
import { stored } from "../shared/immutable-fields.ts";
import { checked } from "../shared/rules.ts";
import { POD_DISRUPTION_BUDGET_COLUMNS } from "./columns.ts";
import { BUDGET_RULES } from "./rules.ts";
import { budgetProblems } from "./specs.ts";

/** Kinds of group policy. */
export function policyKinds(): Resource[] {
  return [
    stored({
      group: "policy",
      kind: "PodDisruptionBudget",
      plural: "poddisruptionbudgets",
      shortNames: ["pdb"],
      subresources: [STATUS],
      generation: true,
      columns: POD_DISRUPTION_BUDGET_COLUMNS,
      strategy: checked(BUDGET_RULES, ({ spec }) => budgetProblems(record(spec))),
    }),
  ];
}
