import { fields, record, records, text, texts, type Json } from "../../json/json.ts";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../../contract/cluster.ts";
import type { Expression, Expressions, Scope } from "../cel/expressions.ts";
import { compileConditions, type MatchCondition } from "../conditions.ts";
import { GROUP } from "../webhooks/hooks.ts";

/** One validation of a ValidatingAdmissionPolicy, compiled. */
export interface Validation {
  readonly expression: Expression;
  readonly message: string;
  readonly messageExpression: Expression | undefined;
  readonly reason: string;
}

/** The kind of the objects that parametrize a policy. */
export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A ValidatingAdmissionPolicyBinding. */
export interface Binding {
  readonly name: string;
  readonly paramRef: Json | undefined;
  readonly matchResources: Json;
  readonly actions: readonly string[];
}

/** A ValidatingAdmissionPolicy, compiled, with its bindings. */
export interface Policy {
  readonly name: string;
  readonly ignoresFailure: boolean;
  readonly paramKind: ParamKind | undefined;
  readonly matchConstraints: Json;
  readonly conditions: readonly MatchCondition[];
  readonly variables: readonly { readonly name: string; readonly expression: Expression }[];
  readonly validations: readonly Validation[];
  readonly annotations: readonly { readonly key: string; readonly expression: Expression }[];
  readonly bindings: readonly Binding[];
}

/** All policies that are bound. */
export function readPolicies(cluster: Cluster, expressions: Expressions): readonly Policy[] {
  const list = (plural: string): readonly KubeObject[] =>
    cluster.store.list({ cluster: cluster.name, resource: `${GROUP}/${plural}` }).items.map(({ object }) => object);
  const bindings = list("validatingadmissionpolicybindings").map((object) => ({
    policy: text(record(fields(object)["spec"])["policyName"]),
    binding: bindingOf(object),
  }));
  return list("validatingadmissionpolicies").flatMap((object) => {
    const own = bindings.filter((b) => b.policy === object.metadata.name).map((b) => b.binding);
    return own.length === 0 ? [] : [policyOf(object, own, expressions)];
  });
}

function bindingOf(object: KubeObject): Binding {
  const spec = record(fields(object)["spec"]);
  return {
    name: object.metadata.name,
    paramRef: spec["paramRef"] ? record(spec["paramRef"]) : undefined,
    matchResources: record(spec["matchResources"]),
    actions: texts(spec["validationActions"]),
  };
}

function policyOf(object: KubeObject, bindings: readonly Binding[], expressions: Expressions): Policy {
  const spec = record(fields(object)["spec"]);
  const paramKind = record(spec["paramKind"]);
  const scope = scopeOf(spec);
  const compile = (expression: unknown, types: readonly string[]): Expression =>
    expressions.compile(text(expression), { ...scope, types });
  return {
    name: object.metadata.name,
    ignoresFailure: spec["failurePolicy"] === "Ignore",
    paramKind: spec["paramKind"]
      ? { apiVersion: text(paramKind["apiVersion"]), kind: text(paramKind["kind"]) }
      : undefined,
    matchConstraints: record(spec["matchConstraints"]),
    conditions: compileConditions(expressions, spec["matchConditions"], { params: scope.params === true }),
    variables: records(spec["variables"]).map((v) => ({
      name: text(v["name"]),
      expression: compile(v["expression"], ["any"]),
    })),
    validations: records(spec["validations"]).map((v) => ({
      expression: compile(v["expression"], ["bool"]),
      message: text(v["message"]).trim(),
      messageExpression: v["messageExpression"]
        ? expressions.compile(text(v["messageExpression"]), { ...scope, types: ["string"], authorizer: false })
        : undefined,
      reason: text(v["reason"]),
    })),
    annotations: records(spec["auditAnnotations"]).map((a) => ({
      key: text(a["key"]),
      expression: compile(text(a["valueExpression"]).trim(), ["string", "null"]),
    })),
    bindings,
  };
}

/** What the expressions of a policy may name. */
export function scopeOf(spec: Json): Omit<Scope, "types"> {
  const variables = new Map(records(spec["variables"]).map((v) => [text(v["name"]), text(v["expression"])]));
  return { params: spec["paramKind"] !== undefined, variables };
}
