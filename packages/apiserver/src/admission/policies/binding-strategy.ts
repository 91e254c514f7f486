import { fields, record, text, texts, type Json } from "../../json/json.ts";
import type { Strategy } from "../../contract/resource.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { paramRefPermission } from "./permission.ts";
import { choice, duplicate, selectorProblems } from "../problems.ts";
import { fillMatchResources, matchResourcesProblems, nameFaults } from "./match-resources.ts";

const ACTIONS = ["Audit", "Deny", "Warn"];
const NOT_FOUND_ACTIONS = ["Deny", "Allow"];
const EXCLUSIVE = "name and selector are mutually exclusive";

/** ValidatingAdmissionPolicyBindings. */
export const policyBindingStrategy: Strategy = {
  applyDefaults(draft) {
    fillMatchResources(record(record(draft["spec"])["matchResources"]));
  },
  validate(object, old, context) {
    const spec = record(fields(object)["spec"]);
    const problems = [
      ...(text(spec["policyName"]) ? [] : [required("spec.policyName")]),
      ...(spec["paramRef"] ? paramRefProblems(record(spec["paramRef"]), "spec.paramRef") : []),
      ...matchResourcesProblems(record(spec["matchResources"]), "spec.matchResources"),
      ...actionProblems(texts(spec["validationActions"]), "spec.validationActions"),
    ];
    return problems.length > 0 ? problems : paramRefPermission(object, old, context);
  },
};

function paramRefProblems(reference: Json, path: string): FieldProblem[] {
  const { selector, parameterNotFoundAction: action } = reference;
  const name = text(reference["name"]);
  const both = name !== "" && Boolean(selector);
  return [
    ...nameFaults(name).map((why) => invalidValue(`${path}.name`, name, why)),
    ...(both ? [forbiddenField(`${path}.name`, EXCLUSIVE)] : []),
    ...selectorProblems(selector, `${path}.selector`),
    ...(both ? [forbiddenField(`${path}.selector`, EXCLUSIVE)] : []),
    ...(name === "" && !selector ? [required(path, "one of name or selector must be specified")] : []),
    ...(action
      ? choice(`${path}.parameterNotFoundAction`, action, NOT_FOUND_ACTIONS)
      : [required(`${path}.parameterNotFoundAction`)]),
  ];
}

function actionProblems(actions: readonly string[], path: string): FieldProblem[] {
  const problems = actions.flatMap((action, i) => [
    ...(ACTIONS.includes(action) ? [] : [notSupported(`${path}[${i}]`, action, ACTIONS)]),
    ...(actions.indexOf(action) < i ? [duplicate(`${path}[${i}]`, action)] : []),
  ]);
  if (actions.includes("Deny") && actions.includes("Warn")) {
    const why =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    problems.push(invalidValue(path, actions, why));
  }
  return actions.length > 0 ? problems : [...problems, required(path, "at least one validation action is required")];
}
