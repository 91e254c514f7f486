import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { at, done, eventually, made, refused } from "./shorthands.ts";

const AUTHENTICATION = "/apis/authentication.k8s.io/v1";
const AUTHORIZATION = "/apis/authorization.k8s.io/v1";

async function asked(c: Context, kind: string, spec: Json): Promise<Json> {
  const body = { apiVersion: "authorization.k8s.io/v1", kind, spec };
  const { status } = (await made(c.api.post(`${AUTHORIZATION}/${kind.toLowerCase()}s`, body))) as { status: Json };
  return status;
}

function invalidReview(kind: string, spec: Json, message: string, metadata: Json = {}): CaseGroup["cases"][number] {
  return {
    name: `a ${kind} with ${JSON.stringify(spec).slice(0, 60)} is 422: ${message.slice(0, 60)}`,
    async run({ api }) {
      const body = { apiVersion: "authorization.k8s.io/v1", kind, metadata, spec };
      const answer = await api.post(`${AUTHORIZATION}/${kind.toLowerCase()}s`, body);
      refused(answer, 422, "Invalid", `.authorization.k8s.io "" is invalid: ${message}`);
    },
  };
}

const pods = { verb: "list", resource: "pods" };

export const accessReviews: CaseGroup = {
  title: "access reviews and impersonation",
  cases: [
    invalidReview(
      "SubjectAccessReview",
      { user: "a" },
      "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
    ),
    invalidReview(
      "SubjectAccessReview",
      { resourceAttributes: pods },
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ),
    invalidReview(
      "SelfSubjectAccessReview",
      { resourceAttributes: { ...pods, fieldSelector: {} } },
      "spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required",
    ),
    invalidReview(
      "SelfSubjectAccessReview",
      {
        resourceAttributes: {
          ...pods,
          labelSelector: { rawSelector: "a=b", requirements: [{ key: "a", operator: "Exists" }] },
        },
      },
      'spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements',
    ),
    invalidReview(
      "SelfSubjectAccessReview",
      {
        resourceAttributes: { ...pods, fieldSelector: { requirements: [{ key: "", operator: "In", values: ["a"] }] } },
      },
      "spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified",
    ),
    {
      name: "an access review evaluates field and label selectors with the authorizers that support them",
      async run(c) {
        const node = c.unique("node");
        const user = { user: `system:node:${node}`, groups: ["system:nodes", "system:authenticated"] };
        const limited = (value: string) => ({
          requirements: [{ key: "spec.nodeName", operator: "In", values: [value] }],
        });
        const status = (fieldSelector?: Json) =>
          asked(c, "SubjectAccessReview", { ...user, resourceAttributes: { ...pods, fieldSelector } });
        expect((await status(limited(node)))["allowed"]).toBe(true);
        expect((await status({ rawSelector: `spec.nodeName=${node}` }))["allowed"]).toBe(true);
        expect((await status(limited("another")))["allowed"]).toBe(false);
        expect((await status())["allowed"]).toBe(false);
      },
    },
    {
      name: "a review whose selector cannot be read says so when it is refused",
      async run(c) {
        const fieldSelector = { requirements: [{ key: "a", operator: "Like", values: ["b"] }] };
        const status = await asked(c, "SubjectAccessReview", {
          user: "a",
          resourceAttributes: { ...pods, fieldSelector },
        });
        expect(status["allowed"]).toBe(false);
        expect(status["evaluationError"]).toBe("spec.resourceAttributes.fieldSelector ignored due to parse error");
      },
    },
    {
      name: "a kubelet lists its own pods and no others",
      async run(c) {
        const node = c.unique("node");
        const kubelet = await c.as({ user: `system:node:${node}`, groups: ["system:nodes"] });
        const list = async (query: string) => (await kubelet.get(`/api/v1/pods${query}`)).code;
        expect(await list(`?fieldSelector=spec.nodeName%3D${node}`)).toBe(200);
        expect(await list("")).toBe(403);
        expect(await list("?fieldSelector=spec.nodeName%3Danother")).toBe(403);
        expect((await kubelet.get(`/api/v1/nodes?fieldSelector=metadata.name%3D${node}`)).code).toBe(200);
        expect((await kubelet.get("/api/v1/nodes")).code).toBe(403);
      },
    },
    {
      name: "a SelfSubjectRulesReview of a kubelet is incomplete",
      async run(c) {
        const kubelet = await c.as({ user: `system:node:${c.unique("node")}`, groups: ["system:nodes"] });
        const spec = { namespace: c.namespace };
        const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec };
        const review = await made(kubelet.post(`${AUTHORIZATION}/selfsubjectrulesreviews`, body));
        expect(review["status"]).toMatchObject({
          incomplete: true,
          evaluationError: "node authorizer does not support user rule resolution",
        });
        const { api } = c;
        refused(
          await api.post(`${AUTHORIZATION}/selfsubjectrulesreviews`, { ...body, spec: {} }),
          400,
          "BadRequest",
          "no namespace on request",
        );
      },
    },
    {
      name: "a review in a namespace is about that namespace",
      async run(c) {
        const path = c.apis("authorization.k8s.io/v1", "localsubjectaccessreviews");
        const body = (attributes: Json): Json => ({
          apiVersion: "authorization.k8s.io/v1",
          kind: "LocalSubjectAccessReview",
          metadata: { namespace: c.namespace },
          spec: { user: "a", ...attributes },
        });
        await made(c.api.post(path, body({ resourceAttributes: { ...pods, namespace: c.namespace } })));
        refused(
          await c.api.post(path, body({ resourceAttributes: { ...pods, namespace: "other" } })),
          422,
          "Invalid",
          /spec\.resourceAttributes\.namespace: Invalid value: "other": must match metadata\.namespace$/,
        );
        const elsewhere = body({ nonResourceAttributes: { verb: "get", path: "/" } });
        refused(await c.api.post(path, elsewhere), 422, "Invalid", /disallowed on this kind of request$/);
      },
    },
    {
      name: "an impersonating user assumes groups, uid and extra fields if each is permitted",
      async run({ api }) {
        const headers = {
          "impersonate-user": "jane",
          "impersonate-group": "dev, with a comma",
          "impersonate-uid": "1234",
          "impersonate-extra-example.org%2fscopes": "view",
        };
        const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
        const answer = await api.post(`${AUTHENTICATION}/selfsubjectreviews`, body, { headers });
        expect(at(answer.body, "status", "userInfo")).toEqual({
          username: "jane",
          uid: "1234",
          groups: ["dev, with a comma", "system:authenticated"],
          extra: { "example.org/scopes": ["view"] },
        });
      },
    },
    {
      name: "each impersonated attribute must be permitted",
      async run(c) {
        const name = c.unique("actor");
        const rules = [{ apiGroups: [""], resources: ["users"], verbs: ["impersonate"] }];
        const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules };
        await made(c.api.post("/apis/rbac.authorization.k8s.io/v1/clusterroles", role));
        const subjects = [{ kind: "User", name, apiGroup: "rbac.authorization.k8s.io" }];
        const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
        const binding = {
          apiVersion: role.apiVersion,
          kind: "ClusterRoleBinding",
          metadata: { name },
          roleRef,
          subjects,
        };
        await made(c.api.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding));
        const actor = await c.as({ user: name });
        const as = (headers: Record<string, string>) =>
          actor.get("/version", { headers: { "impersonate-user": "jane", ...headers } });
        await eventually(async () => ((await as({})).code === 200 ? true : undefined));
        const cannot = (what: string) => `${what} is forbidden: User "${name}" cannot impersonate resource`;
        refused(await as({ "impersonate-group": "dev" }), 403, "Forbidden", new RegExp(`^${cannot('groups "dev"')}`));
        refused(
          await as({ "impersonate-uid": "1" }),
          403,
          "Forbidden",
          /^uids\.authentication\.k8s\.io "1" is forbidden/,
        );
        refused(
          await as({ "impersonate-extra-scopes": "view" }),
          403,
          "Forbidden",
          /^userextras\.authentication\.k8s\.io "view" is forbidden: .* cannot impersonate resource "userextras\/scopes"/,
        );
      },
    },
    {
      name: "impersonating a group without a user is an error",
      async run({ api }) {
        const answer = await api.get("/version", { headers: { "impersonate-group": "dev" } });
        expect(answer.code).toBe(500);
        expect(answer.text).toMatch(/without impersonating a user/);
      },
    },
    {
      name: "an impersonated account has the groups of its kind",
      async run(c) {
        const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
        const headers = { "impersonate-user": `system:serviceaccount:${c.namespace}:robot` };
        const answer = await c.api.post(`${AUTHENTICATION}/selfsubjectreviews`, body, { headers });
        expect(at(answer.body, "status", "userInfo")).toEqual({
          username: `system:serviceaccount:${c.namespace}:robot`,
          groups: ["system:serviceaccounts", `system:serviceaccounts:${c.namespace}`, "system:authenticated"],
        });
        const anonymous = { headers: { "impersonate-user": "system:anonymous" } };
        refused(await c.api.get(c.core("pods"), anonymous), 403, "Forbidden", /User "system:anonymous"/);
        await done(c.api.get("/version"));
      },
    },
  ],
};
