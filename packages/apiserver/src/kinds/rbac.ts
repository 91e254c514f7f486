import type { KubeObject } from "@causeway/kubernetes";
import { forbidEscalation } from "../auth/escalation.ts";
import { array, fields, record, records, same, text } from "../json.ts";
import { invalidValue, notSupported, required } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";
import type { Strategy, WriteContext } from "./resource.ts";

/** Only a write that changes what is given is a gift. */
function admitGrant(object: KubeObject, old: KubeObject | undefined, context: WriteContext): void {
  const given = ["rules", "roleRef", "subjects", "aggregationRule"];
  const [now, was] = [fields(object), old && fields(old)];
  if (was && given.every((name) => same(now[name], was[name]))) return;
  forbidEscalation(object, old, context);
}

/** Roles: every rule says what may be done to what. */
export const roleStrategy: Strategy = {
  fill(draft) {
    if (array(draft["rules"]).length === 0) draft["rules"] = null;
  },
  admit: admitGrant,
  validate(object) {
    return records(fields(object)["rules"]).flatMap((rule, i) => {
      const problems: FieldProblem[] = [];
      const has = (name: string): boolean => array(rule[name]).length > 0;
      if (object.kind === "Role" && has("nonResourceURLs")) {
        const why = "namespaced rules cannot apply to non-resource URLs";
        problems.push(invalidValue(`rules[${i}].nonResourceURLs`, rule["nonResourceURLs"], why));
      }
      if (!has("verbs")) problems.push(required(`rules[${i}].verbs`, "verbs must contain at least one value"));
      if (has("nonResourceURLs")) return problems;
      if (!has("apiGroups")) {
        problems.push(required(`rules[${i}].apiGroups`, "resource rules must supply at least one api group"));
      }
      if (!has("resources")) {
        problems.push(required(`rules[${i}].resources`, "resource rules must supply at least one resource"));
      }
      return problems;
    });
  },
};

const SUBJECTS = ["ServiceAccount", "User", "Group"];

/** Bindings: the role they give never changes. */
export const bindingStrategy: Strategy = {
  fill(draft) {
    for (const subject of records(draft["subjects"])) {
      if (subject["kind"] !== "ServiceAccount") subject["apiGroup"] ??= "rbac.authorization.k8s.io";
    }
    const role = record(draft["roleRef"]);
    if (draft["roleRef"]) role["apiGroup"] ??= "rbac.authorization.k8s.io";
  },
  admit: admitGrant,
  validate(object, old) {
    const binding = fields(object);
    const role = record(binding["roleRef"]);
    const problems: FieldProblem[] = [];
    const kinds = object.kind === "ClusterRoleBinding" ? ["ClusterRole"] : ["Role", "ClusterRole"];
    if (!kinds.includes(text(role["kind"]))) problems.push(notSupported("roleRef.kind", role["kind"] ?? "", kinds));
    if (!text(role["name"])) problems.push(required("roleRef.name"));
    records(binding["subjects"]).forEach((subject, i) => {
      if (!text(subject["name"])) problems.push(required(`subjects[${i}].name`));
      if (!SUBJECTS.includes(text(subject["kind"]))) {
        problems.push(notSupported(`subjects[${i}].kind`, subject["kind"] ?? "", SUBJECTS));
      }
      if (subject["kind"] === "ServiceAccount" && object.kind === "ClusterRoleBinding" && !text(subject["namespace"])) {
        problems.push(required(`subjects[${i}].namespace`));
      }
    });
    if (old && !same(fields(old)["roleRef"], role)) {
      const shown = { APIGroup: role["apiGroup"], Kind: role["kind"], Name: role["name"] };
      problems.push(invalidValue("roleRef", shown, "cannot change roleRef"));
    }
    return problems;
  },
};
