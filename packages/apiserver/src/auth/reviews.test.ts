import { describe, expect, test } from "vitest";
import { VirtualClock, type CausewayError } from "@causeway/foundation";
import type { Attributes } from "../contract/attributes.ts";
import type { Cluster } from "../contract/cluster.ts";
import { define } from "../contract/define.ts";
import type { RequestInfo } from "../contract/request-info.ts";
import type { Served, UserRules } from "../contract/resource.ts";
import type { User } from "../contract/user.ts";
import { record, type Json } from "../json/json.ts";
import { isAccessReview, serveReview } from "./reviews.ts";

const jane: User = { name: "jane", groups: ["g"] };
const GET_PODS = { verb: "get", resource: "pods" };

interface ReviewCase {
  readonly body?: Json;
  readonly user?: User;
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly decision?: { readonly allowed: boolean; readonly reason: string };
  readonly rules?: UserRules;
}

/** What a review is responded with, and what was queried for it. */
async function reviewed(kind: string, asking: ReviewCase) {
  const { body = {}, user = jane, namespace = "", verb = "create", group = "authorization.k8s.io" } = asking;
  const { decision = { allowed: true, reason: "" }, rules = { rules: [], unresolved: [] } } = asking;
  const asked: unknown[] = [];
  const resource = define({ kind, plural: `${kind.toLowerCase()}s`, group });
  const verify = (token: string, audiences: readonly string[]) => {
    asked.push([token, audiences]);
    const known = { user: { name: "robot", uid: "u", groups: [], extra: { a: ["b"] } }, audiences: ["x"] };
    return Promise.resolve(token === "good" ? known : { error: "why" });
  };
  const cluster = { clock: new VirtualClock(0), issuer: "iss", tokens: { verify } } as unknown as Cluster;
  const authorize = (attributes: Attributes) => {
    asked.push(attributes);
    return decision;
  };
  const rulesFor = (...given: [User, string]) => {
    asked.push(given);
    return rules;
  };
  const request = {
    found: { resource, version: { name: "v1" } } as Served,
    info: { verb, namespace } as RequestInfo,
    user,
    body: { kind, ...body },
  };
  try {
    return { answer: await serveReview({ cluster, authorize, rulesFor }, request), asked };
  } catch (error) {
    const { code, message } = record((error as CausewayError).details?.["status"]);
    return { why: `${String(code)} ${String(message)}`, asked };
  }
}

const about = {
  user: jane,
  verb: "get",
  namespace: "",
  group: "",
  version: "",
  plural: "pods",
  subresource: "",
  name: "",
};

test("reviews are of two groups, and are created", async () => {
  const of = (group: string): boolean => isAccessReview(define({ kind: "K", plural: "ks", group }));
  expect(["authorization.k8s.io", "authentication.k8s.io", "rbac.authorization.k8s.io"].map(of)).toEqual([
    true,
    true,
    false,
  ]);
  const body = { spec: { resourceAttributes: GET_PODS } };
  const kind = "SelfSubjectAccessReview";
  expect(await reviewed(kind, { body, group: "other" })).toEqual({ answer: undefined, asked: [] });
  expect(await reviewed(kind, { body, verb: "list" })).toEqual({ answer: undefined, asked: [] });
  expect(await reviewed("Other", { body })).toEqual({ answer: undefined, asked: [] });
  expect((await reviewed(kind, { body: { ...body, kind: "Other" } })).why).toBe(
    "400 the body must be a SelfSubjectAccessReview",
  );
});

describe("a SelfSubjectAccessReview", () => {
  const kind = "SelfSubjectAccessReview";
  test("asks about the user, by all that it names", async () => {
    const named = {
      verb: "get",
      namespace: "n",
      group: "g",
      version: "v1",
      resource: "pods",
      subresource: "log",
      name: "o",
    };
    const { asked, answer } = await reviewed(kind, { body: { spec: { resourceAttributes: named } } });
    const { resource: plural, ...rest } = named;
    expect(asked).toEqual([{ user: jane, plural, ...rest }]);
    expect(answer).toEqual({
      kind,
      metadata: { creationTimestamp: null },
      spec: { resourceAttributes: named },
      status: { allowed: true },
    });
  });

  test("asks about a path", async () => {
    const spec = { nonResourceAttributes: { verb: "get", path: "/x" } };
    const decision = { allowed: false, reason: "no" };
    const { asked, answer } = await reviewed(kind, { body: { spec }, decision });
    expect(asked).toEqual([{ ...about, plural: "", path: "/x" }]);
    expect(answer?.["status"]).toEqual({ allowed: false, reason: "no" });
  });

  test("asks with selectors, as far as they can be read", async () => {
    const requirements = [
      { key: "a", operator: "In", values: ["b"] },
      { key: "c", operator: "Gt" },
    ];
    const resourceAttributes = { ...GET_PODS, fieldSelector: { rawSelector: "a" }, labelSelector: { requirements } };
    const { asked, answer } = await reviewed(kind, { body: { spec: { resourceAttributes } } });
    expect(asked).toEqual([{ ...about, labelRequirements: [requirements[0]] }]);
    expect(answer?.["status"]).toMatchObject({
      evaluationError:
        "spec.resourceAttributes.fieldSelector ignored due to parse error, " +
        "spec.resourceAttributes.labelSelector partially ignored due to parse error",
    });
  });

  test("is refused when it is not valid", async () => {
    expect((await reviewed(kind, {})).why).toBe(
      '422 .authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: ' +
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
    );
    const body = { metadata: { name: "x" }, spec: { resourceAttributes: GET_PODS } };
    expect((await reviewed(kind, { body })).why).toContain("metadata: Invalid value");
  });

  test("may have metadata that say nothing", async () => {
    const body = { metadata: { managedFields: [] }, spec: { resourceAttributes: GET_PODS } };
    expect((await reviewed(kind, { body })).answer?.["metadata"]).toEqual({
      creationTimestamp: null,
      managedFields: [],
    });
  });
});

describe("a SubjectAccessReview", () => {
  const kind = "SubjectAccessReview";
  test.each<[string, Json, User]>([
    ["a user", { user: "joe" }, { name: "joe", groups: [] }],
    ["groups", { groups: ["a"] }, { name: "", groups: ["a"] }],
    [
      "all that is known",
      { user: "joe", uid: "u", groups: ["a"], extra: { "X.io/Y": ["z"] } },
      { name: "joe", uid: "u", groups: ["a"], extra: { "x.io/y": ["z"] } },
    ],
    [
      "groups in a namespace",
      { groups: ["a"], uid: "", extra: { x: [] } },
      { name: "", groups: ["a"], extra: { x: [] } },
    ],
    ["nothing that is empty", { user: "joe", uid: "", extra: {} }, { name: "joe", groups: [] }],
  ])("asks about %s", async (_what, subject, user) => {
    const { asked } = await reviewed(kind, { body: { spec: { resourceAttributes: GET_PODS, ...subject } } });
    expect(asked).toEqual([{ ...about, user }]);
  });

  test("asks about any namespace", async () => {
    const spec = { user: "joe", resourceAttributes: { ...GET_PODS, namespace: "n" } };
    const { asked, why } = await reviewed(kind, { body: { spec } });
    expect([why, asked]).toEqual([undefined, [{ ...about, namespace: "n", user: { name: "joe", groups: [] } }]]);
  });

  test("is refused when it is not valid", async () => {
    const { why } = await reviewed(kind, { body: { metadata: { name: "x" }, spec: {} } });
    expect(why).toContain("exactly one of nonResourceAttributes");
    expect(why).toContain("at least one of user or group must be specified");
    expect(why).toContain("metadata: Invalid value");
  });
});

// The rows are those of kubernetes' pkg/apis/authorization/validation/validation_test.go.
describe("a LocalSubjectAccessReview", () => {
  const kind = "LocalSubjectAccessReview";
  const INVALID = '422 .authorization.k8s.io "" is invalid: ';
  const local = (spec: Json, metadata: Json = {}): ReviewCase => ({
    namespace: "ns",
    body: { metadata, spec: { user: "joe", ...spec } },
  });
  const own = { ...GET_PODS, namespace: "ns" };

  test("asks about a user in its namespace", async () => {
    const { asked, answer } = await reviewed(kind, local({ resourceAttributes: own }));
    expect(asked).toEqual([{ ...about, namespace: "ns", user: { name: "joe", groups: [] } }]);
    expect(answer?.["status"]).toEqual({ allowed: true });
    expect((await reviewed(kind, local({ resourceAttributes: own }, { namespace: "ns" }))).why).toBeUndefined();
  });

  test.each<[string, ReviewCase, string]>([
    [
      "asks about no other namespace",
      local({ resourceAttributes: { ...own, namespace: "x" } }),
      `${INVALID}spec.resourceAttributes.namespace: Invalid value: "x": must match metadata.namespace`,
    ],
    [
      "names the namespace",
      local({ resourceAttributes: GET_PODS }),
      `${INVALID}spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace`,
    ],
    [
      "asks about no path",
      local({ nonResourceAttributes: { path: "/" } }),
      `${INVALID}spec.nonResourceAttributes: Invalid value: {"path":"/"}: disallowed on this kind of request`,
    ],
    [
      "is of the namespace that is requested",
      local({ resourceAttributes: { ...own, namespace: "x" } }, { namespace: "x" }),
      "400 spec.resourceAttributes.namespace must match namespace: ns",
    ],
  ])("%s", async (_what, asking, expected) => {
    const { why, asked } = await reviewed(kind, asking);
    expect(why).toBe(expected);
    expect(asked).toEqual([]);
  });

  test("is refused when the rest is not valid", async () => {
    const { why } = await reviewed(kind, { namespace: "ns", body: { metadata: { name: "x" }, spec: {} } });
    expect(why).toContain("exactly one of nonResourceAttributes");
    expect(why).toContain("at least one of user or group must be specified");
    expect(why).toContain("must be empty except for namespace");
  });
});

describe("a SelfSubjectRulesReview", () => {
  const kind = "SelfSubjectRulesReview";
  const spec = { namespace: "ns" };
  const resources = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
  const paths = { nonResourceURLs: ["/x"], verbs: ["get"], resources: [] };

  test("has the user's rules of the namespace", async () => {
    const rules = { rules: [resources, paths], unresolved: [] };
    const { asked, answer } = await reviewed(kind, { body: { spec }, rules });
    expect(asked).toEqual([[jane, "ns"]]);
    expect(answer).toEqual({
      kind,
      metadata: { creationTimestamp: null },
      spec: {},
      status: {
        resourceRules: [resources],
        nonResourceRules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }],
        incomplete: false,
      },
    });
  });

  test("says what is missing in it", async () => {
    const unresolved = [{ kind: "Role", name: "r" }];
    const { answer } = await reviewed(kind, { body: { spec }, rules: { rules: [], unresolved } });
    const missing = 'role.rbac.authorization.k8s.io "r" not found';
    expect(answer?.["status"]).toMatchObject({ incomplete: false, evaluationError: missing });
    const user = { name: "system:node:n", groups: ["system:nodes"] };
    const node = await reviewed(kind, { body: { spec }, user, rules: { rules: [], unresolved } });
    expect(node.answer?.["status"]).toMatchObject({
      incomplete: true,
      evaluationError: `[node authorizer does not support user rule resolution, ${missing}]`,
    });
  });

  test("names a namespace", async () => {
    expect((await reviewed(kind, { body: { spec: {} } })).why).toBe("400 no namespace on request");
  });
});

describe("a review of an identity", () => {
  const group = "authentication.k8s.io";
  test("shows the user", async () => {
    const user = { name: "jane", uid: "u", groups: ["g"], extra: { a: ["b"] } };
    const metadata = { creationTimestamp: "1970-01-01T00:00:00Z" };
    expect((await reviewed("SelfSubjectReview", { group, user })).answer).toEqual({
      kind: "SelfSubjectReview",
      metadata,
      status: { userInfo: { username: "jane", uid: "u", groups: ["g"], extra: { a: ["b"] } } },
    });
    expect((await reviewed("SelfSubjectReview", { group })).answer?.["status"]).toStrictEqual({
      userInfo: { username: "jane", groups: ["g"] },
    });
  });

  test("verifies a token for the server, or for others", async () => {
    const { asked, answer } = await reviewed("TokenReview", { group, body: { spec: { token: "good" } } });
    expect(asked).toEqual([["good", ["iss"]]]);
    expect(answer).toMatchObject({ metadata: { creationTimestamp: null } });
    const user = { username: "robot", uid: "u", groups: [], extra: { a: ["b"] } };
    expect(answer?.["status"]).toEqual({ authenticated: true, user, audiences: ["x"] });
    const others = await reviewed("TokenReview", { group, body: { spec: { token: "bad", audiences: ["a"] } } });
    expect(others.asked).toEqual([["bad", ["a"]]]);
    expect(others.answer?.["status"]).toEqual({ user: {}, error: "why" });
    const none = await reviewed("TokenReview", { group, body: { spec: {} } });
    expect(none.why).toBe("400 token is required for TokenReview in authentication");
  });
});
