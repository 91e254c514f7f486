import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import type { Attributes } from "../../contract/attributes.ts";
import { define } from "../../contract/define.ts";
import type { WriteContext } from "../../contract/resource.ts";
import type { User } from "../../contract/user.ts";
import type { Json } from "../../json/json.ts";
import { admissionCluster } from "../../testing/attempts.ts";
import { paramKindPermission, paramRefPermission } from "./permission.ts";

const jane: User = { name: "jane", uid: "u", groups: ["a", "b"], extra: { x: ["1", "3"], z: [], y: ["2"] } };
const JANE = "&{jane u [a b] map[x:[1 3] y:[2] z:[]]}";
const admin: User = { name: "root", groups: ["system:masters"] };
const LIMIT = { apiVersion: "x.io/v1", kind: "Limit" };
const limits = define({ kind: "Limit", plural: "limits", group: "x.io" });
const POLICIES = "admissionregistration.k8s.io/validatingadmissionpolicies";

interface Question {
  readonly user?: User;
  readonly allowed?: boolean;
}

/** What is wrong, and what was queried. */
async function checked(
  check: typeof paramKindPermission,
  object: Json,
  old: Json | undefined,
  { user = jane, allowed = false }: Question = {},
): Promise<{ why: readonly string[]; asked: readonly Attributes[] }> {
  const asked: Attributes[] = [];
  const allows = (attributes: Attributes): boolean => {
    asked.push(attributes);
    return allowed;
  };
  const policies = [
    { metadata: { name: "limited" }, spec: { paramKind: LIMIT } },
    { metadata: { name: "unknown" }, spec: { paramKind: { apiVersion: "v9", kind: "Other" } } },
    { metadata: { name: "free" }, spec: {} },
  ];
  const cluster = await admissionCluster({ [POLICIES]: policies }, { resources: [limits], allows });
  const context = { user, cluster } as unknown as WriteContext;
  const whole = (spec: Json): KubeObject => ({ metadata: { name: "o" }, spec }) as unknown as KubeObject;
  const problems = check(whole(object), old && whole(old), context);
  return { why: problems.map(({ field, message }) => `${field}: ${message}`), asked };
}

// The rules are those of kubernetes' pkg/registry/admissionregistration/validatingadmissionpolicy/authz.go.
describe("a policy with a paramKind", () => {
  const check = (spec: Json, old?: Json, asking?: Question) => checked(paramKindPermission, spec, old, asking);
  const about = { user: jane, verb: "get", namespace: "*", name: "*", subresource: "" };

  test("needs permission to read all objects of that kind", async () => {
    const { why, asked } = await check({ paramKind: LIMIT });
    expect(asked).toEqual([{ ...about, group: "x.io", version: "v1", plural: "limits" }]);
    expect(why).toEqual([
      `spec.paramKind: Forbidden: user ${JANE} must have "get" permission on all objects of the referenced paramKind (kind=Limit, apiVersion=x.io/v1)`,
    ]);
    expect((await check({ paramKind: LIMIT }, undefined, { allowed: true })).why).toEqual([]);
  });

  test("needs permission to read everything where the kind is unknown", async () => {
    const { asked } = await check({ paramKind: { apiVersion: "v9", kind: "Limit" } });
    expect(asked).toEqual([{ ...about, group: "", version: "v9", plural: "*" }]);
  });

  test.each<[string, Json, Json | undefined, Question]>([
    ["is not there", {}, undefined, {}],
    ["remains as it was", { paramKind: LIMIT }, { paramKind: { ...LIMIT } }, {}],
    ["is written by a member of system:masters", { paramKind: LIMIT }, undefined, { user: admin }],
  ])("is not checked when it %s", async (_what, spec, old, asking) => {
    expect(await check(spec, old, asking)).toEqual({ why: [], asked: [] });
  });

  test("is checked when it changes", async () => {
    expect((await check({ paramKind: LIMIT }, {})).why).toHaveLength(1);
    expect((await check({ paramKind: LIMIT }, { paramKind: { ...LIMIT, kind: "Other" } })).why).toHaveLength(1);
  });

  test("is refused to a user without a UID and extra fields in these words", async () => {
    const { why } = await check({ paramKind: LIMIT }, undefined, { user: { name: "joe", groups: [] } });
    expect(why[0]).toContain('user &{joe  [] map[]} must have "get"');
  });
});

describe("a binding with a paramRef", () => {
  const check = (spec: Json, old?: Json, asking?: Question) => checked(paramRefPermission, spec, old, asking);
  const LIMITED = { policyName: "limited", paramRef: { name: "p", namespace: "n" } };
  const ALL = `does not have "get" permission for all groups, versions and resources`;
  const about = { user: jane, subresource: "" };

  test("needs permission to read it", async () => {
    const { why, asked } = await check(LIMITED);
    const kind = { group: "x.io", version: "v1", plural: "limits" };
    expect(asked).toEqual([{ ...about, ...kind, verb: "get", namespace: "n", name: "p" }]);
    const message = `user ${JANE} does not have "get" permission on the object referenced by paramRef`;
    expect(why).toEqual([`spec.paramRef: Forbidden: ${message}`]);
    expect((await check(LIMITED, undefined, { allowed: true })).why).toEqual([]);
  });

  test("needs permission to list what it selects", async () => {
    const { why, asked } = await check({ ...LIMITED, paramRef: { selector: {} } });
    expect(asked).toMatchObject([{ verb: "list", namespace: "", name: "" }]);
    expect(why[0]).toContain('does not have "list" permission on the object');
  });

  test.each<[string, Json]>([
    [
      "of a policy that does not exist",
      {
        policyName: "x",
        why: `unable to get policy x to determine minimum required permissions and user ${JANE} ${ALL}`,
      },
    ],
    [
      "of a policy without a paramKind",
      { policyName: "free", why: `user ${JANE} does not have "get" permission on the object referenced by paramRef` },
    ],
  ])("%s needs permission to read everything", async (_what, { policyName, why: expected }) => {
    const { why, asked } = await check({ ...LIMITED, policyName });
    const everything = { group: "*", version: "*", plural: "*" };
    expect(asked).toEqual([{ ...about, ...everything, verb: "get", namespace: "n", name: "p" }]);
    expect(why).toEqual([`spec.paramRef: Forbidden: ${String(expected)}`]);
  });

  test("of a policy whose paramKind is unknown needs permission on all of its group and version", async () => {
    const { why, asked } = await check({ ...LIMITED, policyName: "unknown" });
    expect(asked).toMatchObject([{ group: "", version: "v9", plural: "*" }]);
    const kind = "unable to resolve paramKind &ParamKind{APIVersion:v9,Kind:Other,}";
    const message = `${kind} to determine minimum required permissions and user ${JANE} ${ALL}`;
    expect(why).toEqual([`spec.paramRef: Forbidden: ${message}`]);
  });

  test.each<[string, Json, Json | undefined, Question]>([
    ["is not there", { policyName: "limited" }, undefined, {}],
    ["remains as it was", LIMITED, structuredClone(LIMITED), {}],
    ["is written by a member of system:masters", LIMITED, undefined, { user: admin }],
  ])("is not checked when it %s", async (_what, spec, old, asking) => {
    expect(await check(spec, old, asking)).toEqual({ why: [], asked: [] });
  });

  test("is checked when it or the policy changes", async () => {
    expect((await check(LIMITED, { ...LIMITED, policyName: "free" })).why).toHaveLength(1);
    expect((await check(LIMITED, { ...LIMITED, paramRef: { name: "q", namespace: "n" } })).why).toHaveLength(1);
  });
});
