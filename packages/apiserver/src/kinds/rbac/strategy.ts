import type { KubeObject } from "@causeway/kubernetes";
import { forbidEscalation } from "../../auth/escalation.ts";
import { array, fields, record, records, same, text, type Json } from "../../json/json.ts";
import { pathFaults, subdomainFaults } from "../../syntax/names.ts";
import { invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import type { Strategy, WriteContext } from "../../contract/resource.ts";

/** What garbage collection changes of an object gives nothing; any other write of a role or binding is judged. */
function admitGrant(object: KubeObject, old: KubeObject | undefined, context: WriteContext): void {
  if (old && same(withoutCollected(object), withoutCollected(old))) return;
  forbidEscalation(object, old, context);
}

function withoutCollected(object: KubeObject): Json {
  const { ownerReferences: _o, finalizers: _f, managedFields: _m, resourceVersion: _r, ...metadata } = object.metadata;
  return { ...fields(object), metadata };
}

/** Roles: every rule says what may be done to what. */
export const roleStrategy: Strategy = {
  applyDefaults(draft) {
    const { deletionTimestamp, finalizers = [] } = draft.metadata;
    // What is stored is null; the answer to the write that ends an object is not what was stored.
    const isEnd = deletionTimestamp !== undefined && finalizers.length === 0;
    if (array(draft["rules"]).length === 0 && !isEnd) draft["rules"] = null;
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
      if (has("nonResourceURLs")) {
        const isBoth = ["apiGroups", "resources", "resourceNames"].some(has);
        const why = "rules cannot apply to both regular resources and non-resource URLs";
        return isBoth
          ? [...problems, invalidValue(`rules[${i}].nonResourceURLs`, rule["nonResourceURLs"], why)]
          : problems;
      }
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
const GROUP = "rbac.authorization.k8s.io";

/** Bindings: the role they give never changes. */
export const bindingStrategy: Strategy = {
  applyDefaults(draft) {
    const role = record(draft["roleRef"]);
    role["apiGroup"] ??= GROUP;
    draft["roleRef"] = role;
  },
  admit: admitGrant,
  validate(object, old) {
    const binding = fields(object);
    const role = record(binding["roleRef"]);
    const isWide = object.kind === "ClusterRoleBinding";
    const problems = [
      ...roleProblems(role, isWide ? ["ClusterRole"] : ["Role", "ClusterRole"]),
      ...records(binding["subjects"]).flatMap((subject, i) => subjectProblems(subject, `subjects[${i}]`, isWide)),
    ];
    if (old && !same(fields(old)["roleRef"], role)) {
      const shown = { APIGroup: text(role["apiGroup"]), Kind: text(role["kind"]), Name: text(role["name"]) };
      problems.push(invalidValue("roleRef", shown, "cannot change roleRef"));
    }
    return problems;
  },
};

function roleProblems(role: Json, kinds: readonly string[]): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const name = text(role["name"]);
  if (role["apiGroup"] !== GROUP) problems.push(notSupported("roleRef.apiGroup", role["apiGroup"], [GROUP]));
  if (!kinds.includes(text(role["kind"]))) problems.push(notSupported("roleRef.kind", role["kind"] ?? "", kinds));
  if (!name) problems.push(required("roleRef.name"));
  return [...problems, ...pathFaults(name).map((why) => invalidValue("roleRef.name", name, why))];
}

function subjectProblems(subject: Json, field: string, isWide: boolean): FieldProblem[] {
  const kind = text(subject["kind"]);
  const name = text(subject["name"]);
  const group = text(subject["apiGroup"]);
  const problems = name ? [] : [required(`${field}.name`)];
  if (!SUBJECTS.includes(kind)) return [...problems, notSupported(`${field}.kind`, kind, SUBJECTS)];
  const wanted = kind === "ServiceAccount" ? "" : GROUP;
  if (group !== wanted) problems.push(notSupported(`${field}.apiGroup`, group, [wanted]));
  if (kind !== "ServiceAccount") return problems;
  if (name) problems.push(...subdomainFaults(name).map((why) => invalidValue(`${field}.name`, name, why)));
  return isWide && !text(subject["namespace"]) ? [...problems, required(`${field}.namespace`)] : problems;
}
