import type { Resource } from "../../contract/resource.ts";
import { stored } from "../shared/immutable-fields.ts";
import { checked } from "../shared/rules.ts";
import { runtimeClassProblems } from "../policy/specs.ts";
import { RUNTIME_CLASS_COLUMNS } from "./columns.ts";
import { RUNTIME_RULES } from "./rules.ts";

/** Kinds of group node.k8s.io. */
export function nodeKinds(): Resource[] {
  return [
    stored({
      group: "node.k8s.io",
      kind: "RuntimeClass",
      plural: "runtimeclasses",
      clusterScoped: true,
      columns: RUNTIME_CLASS_COLUMNS,
      strategy: checked(RUNTIME_RULES, runtimeClassProblems),
    }),
  ];
}
