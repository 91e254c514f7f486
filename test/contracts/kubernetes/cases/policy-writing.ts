import { expect } from "vitest";
import type { CaseGroup, ContractCase, Json } from "../interface.ts";
import { binding, BINDINGS, POLICIES, policy } from "./policy-words.ts";
import { at, invalid, made } from "./shorthands.ts";
import { MAPS } from "./webhook-words.ts";

const NEVER = { ...MAPS, resources: ["nothings"] };
const constraints = { matchConstraints: { resourceRules: [NEVER] } };

const MALFORMED: readonly [string, Json, ...string[]][] = [
  [
    "nothing to say",
    { validations: [] },
    "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
    "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
  ],
  [
    "nothing to judge",
    { matchConstraints: {}, validations: [{ expression: "true" }] },
    "spec.matchConstraints.resourceRules: Required value",
  ],
  [
    "an expression of no value",
    { validations: [{ expression: " " }] },
    "spec.validations[0].expression: Required value: expression is not specified",
  ],
  [
    "an expression of another type",
    { validations: [{ expression: "'a'" }] },
    `spec.validations[0].expression: Invalid value: "'a'": must evaluate to bool but got string`,
  ],
  [
    "an undeclared name",
    { validations: [{ expression: "params == null" }] },
    `spec.validations[0].expression: Invalid value: "params == null": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params == null\n | ^`,
  ],
  [
    "a message of two lines",
    { validations: [{ expression: "true", message: "a\nb" }] },
    'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
  ],
  [
    "a message of another type",
    { validations: [{ expression: "true", messageExpression: "1" }] },
    'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
  ],
  [
    "an unknown reason",
    { validations: [{ expression: "true", reason: "Why" }] },
    'spec.validations[0].reason: Unsupported value: "Why": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
  ],
  [
    "a variable of no name",
    { variables: [{ name: "", expression: "1" }], validations: [{ expression: "true" }] },
    "spec.variables[0].name: Required value: name is not specified",
  ],
  [
    "a variable whose name is none",
    { variables: [{ name: "a-b", expression: "1" }], validations: [{ expression: "true" }] },
    'spec.variables[0].name: Invalid value: "a-b": must be a valid CEL identifier',
  ],
  [
    "a parameter of no kind",
    { paramKind: { apiVersion: "v1" }, validations: [{ expression: "true" }] },
    "spec.paramKind.kind: Required value",
  ],
  [
    "an annotation that is none",
    { auditAnnotations: [{ key: "a", valueExpression: "1" }] },
    'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
  ],
  [
    "annotations of one key",
    {
      auditAnnotations: [
        { key: "a", valueExpression: "''" },
        { key: "a", valueExpression: "''" },
      ],
    },
    'spec.auditAnnotations[1].key: Duplicate value: "a"',
  ],
];

const BINDING: readonly [string, Json, ...string[]][] = [
  [
    "no actions",
    { validationActions: [] },
    "spec.validationActions: Required value: at least one validation action is required",
  ],
  [
    "too many actions",
    { validationActions: ["Deny", "Warn"] },
    'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
  ],
  [
    "an unknown action",
    { validationActions: ["Shout"] },
    'spec.validationActions[0]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"',
  ],
  ["one action twice", { validationActions: ["Deny", "Deny"] }, 'spec.validationActions[1]: Duplicate value: "Deny"'],
  [
    "parameters of no name",
    { paramRef: { parameterNotFoundAction: "Deny" } },
    "spec.paramRef: Required value: one of name or selector must be specified",
  ],
  [
    "parameters found twice",
    { paramRef: { name: "a", selector: {}, parameterNotFoundAction: "Deny" } },
    "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
    "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
  ],
  [
    "no word on missing parameters",
    { paramRef: { name: "a" } },
    "spec.paramRef.parameterNotFoundAction: Required value",
  ],
  ["no policy", { policyName: "" }, "spec.policyName: Required value"],
];

const cases: ContractCase[] = [
  {
    name: "a policy is filled in",
    async run({ api, unique }) {
      const name = unique("filled");
      const body = await made(
        api.post(POLICIES, policy(name, { ...constraints, validations: [{ expression: "true" }] })),
      );
      await api.delete(`${POLICIES}/${name}`);
      expect(at(body, "metadata", "generation")).toBe(1);
      expect(body["spec"]).toEqual({
        failurePolicy: "Fail",
        matchConstraints: {
          matchPolicy: "Equivalent",
          namespaceSelector: {},
          objectSelector: {},
          resourceRules: [{ ...NEVER, scope: "*" }],
        },
        validations: [{ expression: "true" }],
      });
    },
  },
  {
    name: "a binding is filled in",
    async run({ api, unique }) {
      const name = unique("filled");
      const body = await made(
        api.post(BINDINGS, binding(name, "none", { matchResources: { resourceRules: [NEVER] } })),
      );
      await api.delete(`${BINDINGS}/${name}`);
      expect(body["spec"]).toEqual({
        policyName: "none",
        validationActions: ["Deny"],
        matchResources: {
          matchPolicy: "Equivalent",
          namespaceSelector: {},
          objectSelector: {},
          resourceRules: [{ ...NEVER, scope: "*" }],
        },
      });
    },
  },
  ...MALFORMED.map(([what, spec, ...causes]): ContractCase => ({
    name: `a policy with ${what} is refused`,
    async run({ api, unique }) {
      invalid(await api.post(POLICIES, policy(unique("bad"), { ...constraints, ...spec })), ...causes);
    },
  })),
  ...BINDING.map(([what, spec, ...causes]): ContractCase => ({
    name: `a binding with ${what} is refused`,
    async run({ api, unique }) {
      invalid(await api.post(BINDINGS, binding(unique("bad"), "some", spec)), ...causes);
    },
  })),
  {
    name: "a policy's parameters are only for those who may read them",
    async run(context) {
      const user = context.unique("author");
      const { api } = context;
      const rbac = "/apis/rbac.authorization.k8s.io/v1";
      const rules = [{ apiGroups: ["admissionregistration.k8s.io"], resources: ["*"], verbs: ["*"] }];
      await made(
        api.post(`${rbac}/clusterroles`, {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRole",
          metadata: { name: user },
          rules,
        }),
      );
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user };
      const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }];
      await made(
        api.post(`${rbac}/clusterrolebindings`, {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRoleBinding",
          metadata: { name: user },
          roleRef,
          subjects,
        }),
      );
      const author = await context.as({ user });
      const name = context.unique("params");
      const spec = {
        ...constraints,
        paramKind: { apiVersion: "v1", kind: "Secret" },
        validations: [{ expression: "true" }],
      };
      const answer = await author.post(POLICIES, policy(name, spec));
      expect([answer.code, answer.body["reason"]]).toEqual([422, "Invalid"]);
      expect(answer.body["message"]).toMatch(
        /spec\.paramKind: Forbidden: user &\{author-\d+ {2}\[system:authenticated\] map\[.*\]\} must have "get" permission on all objects of the referenced paramKind \(kind=Secret, apiVersion=v1\)$/,
      );
      await made(author.post(POLICIES, policy(name, { ...constraints, validations: [{ expression: "true" }] })));
      await api.delete(`${POLICIES}/${name}`);
    },
  },
];

export const policyWriting: CaseGroup = { title: "writing admission policies", cases };
