import { admitPriorityClass } from "../../admission/builtin/priority.ts";
import { define } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { withImmutableFields } from "../shared/immutable-fields.ts";
import { checked } from "../shared/rules.ts";
import { priorityProblems } from "../policy/specs.ts";
import { PRIORITY_CLASS_COLUMNS } from "./columns.ts";
import { PRIORITY_RULES } from "./rules.ts";

/** Kinds of group scheduling.k8s.io. */
export function schedulingKinds(): Resource[] {
  return [
    define({
      group: "scheduling.k8s.io",
      kind: "PriorityClass",
      plural: "priorityclasses",
      shortNames: ["pc"],
      clusterScoped: true,
      generation: true,
      columns: PRIORITY_CLASS_COLUMNS,
      strategy: { ...withImmutableFields(checked(PRIORITY_RULES, priorityProblems)), admit: admitPriorityClass },
    }),
  ];
}
