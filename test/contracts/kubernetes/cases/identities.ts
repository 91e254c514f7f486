import { expect } from "vitest";
import type { Chapter, Context, Json } from "../interface.ts";
import { partOf } from "../issuer.ts";
import { at, done, eventually, made, refused } from "./say.ts";

const AUTHENTICATION = "/apis/authentication.k8s.io/v1";
const AUTHORIZATION = "/apis/authorization.k8s.io/v1";
const GOLD = { tier: "gold" };

async function reviewed(c: Context, token: string, audiences?: readonly string[]): Promise<Json> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences } };
  const { status } = (await made(c.api.post(`${AUTHENTICATION}/tokenreviews`, body))) as { status: Json };
  return status;
}

/** Its issuer is found when the server first needs it: until then its tokens are not believed. */
async function believed(c: Context, token: string): Promise<Json> {
  return eventually(async () => {
    const status = await reviewed(c, token);
    return status["authenticated"] === true ? status : undefined;
  }, "an authenticated token");
}

async function asked(c: Context, kind: string, spec: Json): Promise<Json> {
  const body = { apiVersion: "authorization.k8s.io/v1", kind, spec };
  const { status } = (await made(c.api.post(`${AUTHORIZATION}/${kind.toLowerCase()}s`, body))) as { status: Json };
  return status;
}

function invalidReview(kind: string, spec: Json, message: string, metadata: Json = {}): Chapter["cases"][number] {
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

export const identities: Chapter = {
  title: "identities from elsewhere, and questions about them",
  cases: [
    {
      name: "a token of an issuer names a user, groups, a uid and more, as the configuration maps its claims",
      async run(c) {
        const token = c.issuer.token({ ...GOLD, roles: ["dev", "ops"], tenant: "acme", jti: "one" });
        const status = await believed(c, token);
        expect(status["user"]).toEqual({
          username: "oidc:jane",
          uid: "jane",
          groups: ["oidc:dev", "oidc:ops", "system:authenticated"],
          extra: { "example.org/tenant": ["acme"], "authentication.kubernetes.io/credential-id": ["JTI=one"] },
        });
        expect(status["audiences"]).toEqual(["https://kubernetes.default.svc.cluster.local"]);
        const jane = await c.as({ token });
        refused(await jane.get(c.core("configmaps")), 403, "Forbidden", /^configmaps is forbidden: User "oidc:jane"/);
      },
    },
    {
      name: "a single role is a group too, and what is empty is left out",
      async run(c) {
        const status = await believed(c, c.issuer.token({ ...GOLD, roles: "dev" }));
        expect(status["user"]).toEqual({
          username: "oidc:jane",
          uid: "jane",
          groups: ["oidc:dev", "system:authenticated"],
        });
      },
    },
    {
      name: "a key that the issuer begins to use is found",
      async run(c) {
        await believed(c, c.issuer.token(GOLD));
        await believed(c, c.issuer.token(GOLD, { rotated: true }));
      },
    },
    ...(
      [
        ["for another audience", { ...GOLD, aud: "elsewhere" }, /audience/],
        ["that has expired", { ...GOLD, exp: 1000 }, /oidc: verify token: oidc: token is expired/],
        [
          "without a claim that is required",
          {},
          /^\[invalid bearer token, oidc: required claim tier not present in ID token\]$/,
        ],
        ["with another value of one", { tier: "tin" }, /, oidc: required claim tier value does not match/],
        ["that a rule about claims refuses", { ...GOLD, banned: true }, /banned users stay out\]$/],
        ["that a rule about users refuses", { ...GOLD, sub: "system:boss" }, /system users are not from here\]$/],
        ["whose roles are no texts", { ...GOLD, roles: [1] }, /, oidc: parse groups claim "roles"/],
      ] as const
    ).map(([what, claims, error]) => ({
      name: `a token ${what} is not believed`,
      async run(c: Context) {
        await believed(c, c.issuer.token(GOLD));
        const token = c.issuer.token(claims);
        const status = await reviewed(c, token);
        expect(status["authenticated"] ?? false).toBe(false);
        expect(status["error"]).toMatch(error);
        refused(await (await c.as({ token })).get("/version"), 401, "Unauthorized", "Unauthorized");
      },
    })),
    {
      name: "a token that another signed is not believed",
      async run(c) {
        await believed(c, c.issuer.token(GOLD));
        const status = await reviewed(c, c.issuer.token(GOLD, { foreign: true }));
        expect(status["authenticated"] ?? false).toBe(false);
        expect(status["error"]).toMatch(/, oidc: verify token: /);
      },
    },
    {
      name: "a token of an issuer is for this server alone",
      async run(c) {
        const token = c.issuer.token(GOLD);
        await believed(c, token);
        expect((await reviewed(c, token, ["other"]))["authenticated"] ?? false).toBe(false);
      },
    },
    {
      name: "a review without a token is 400",
      async run({ api }) {
        const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: {} };
        const answer = await api.post(`${AUTHENTICATION}/tokenreviews`, body);
        refused(answer, 400, "BadRequest", "token is required for TokenReview in authentication");
      },
    },
    {
      name: "what is no Bearer token counts as nothing",
      async run(c) {
        const nobody = await c.as({ anonymous: true });
        for (const authorization of ["Basic amFuZTpkb2U=", "Bearer", "Odd token"]) {
          const answer = await nobody.get(c.core("pods"), { headers: { authorization } });
          refused(answer, 403, "Forbidden", /User "system:anonymous"/);
        }
      },
    },
    {
      name: "others find the keys of service-account tokens, and those name the key they are signed with",
      async run(c) {
        const configuration = await c.api.get("/.well-known/openid-configuration");
        expect(configuration.code).toBe(200);
        expect(configuration.headers["content-type"]).toBe("application/json");
        expect(configuration.headers["cache-control"]).toBe("public, max-age=3600");
        expect(configuration.body).toMatchObject({
          issuer: "https://kubernetes.default.svc.cluster.local",
          jwks_uri: expect.stringMatching(/^https:\/\/.+\/openid\/v1\/jwks$/),
          response_types_supported: ["id_token"],
          subject_types_supported: ["public"],
        });
        const keys = await c.api.get("/openid/v1/jwks");
        expect(keys.headers["content-type"]).toBe("application/jwk-set+json");
        const [key] = (JSON.parse(keys.text) as { keys: Json[] }).keys;
        expect(configuration.body["id_token_signing_alg_values_supported"]).toEqual([key?.["alg"]]);
        expect(key).toMatchObject({ use: "sig", kid: expect.stringMatching(/^[\w-]{43}$/) });
        await made(
          c.api.post(c.core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "r" } }),
        );
        const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
        const issued = await made(c.api.post(`${c.core("serviceaccounts", "r")}/token`, request));
        const header = partOf(String(at(issued, "status", "token")), "header");
        expect(header).toEqual({ alg: key?.["alg"], kid: key?.["kid"] });
      },
    },
    {
      name: "service accounts alone are let in to them without more",
      async run(c) {
        await made(
          c.api.post(c.core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "r" } }),
        );
        const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
        const issued = await made(c.api.post(`${c.core("serviceaccounts", "r")}/token`, request));
        const robot = await c.as({ token: String(at(issued, "status", "token")) });
        expect((await robot.get("/openid/v1/jwks")).code).toBe(200);
        expect((await (await c.as({ user: "jane" })).get("/openid/v1/jwks")).code).toBe(403);
      },
    },
    {
      name: "a token bound to a pod tells the pod and its node, and names no other pod's account",
      async run(c) {
        const account = (name: string) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
        for (const name of ["default", "r"]) await c.api.post(c.core("serviceaccounts"), account(name));
        const node = await made(
          c.api.post("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: c.unique("n") } }),
        );
        const pod = await made(
          c.api.post(c.core("pods"), {
            apiVersion: "v1",
            kind: "Pod",
            metadata: { name: "p" },
            spec: {
              serviceAccountName: "r",
              nodeName: c.unique("n"),
              automountServiceAccountToken: false,
              containers: [{ name: "c", image: "i" }],
            },
          }),
        );
        const spec = { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "p" }, expirationSeconds: 3607 };
        const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
        const issued = await made(c.api.post(`${c.core("serviceaccounts", "r")}/token`, request));
        const token = String(at(issued, "status", "token"));
        const claims = partOf(token, "claims");
        expect(claims["kubernetes.io"]).toEqual({
          namespace: c.namespace,
          serviceaccount: { name: "r", uid: expect.any(String) },
          pod: { name: "p", uid: at(pod, "metadata", "uid") },
          node: { name: c.unique("n"), uid: at(node, "metadata", "uid") },
          warnafter: Number(claims["iat"]) + 3607,
        });
        expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(365 * 86_400);
        expect(Object.keys(issued["metadata"] as Json)).toEqual(
          expect.arrayContaining(["creationTimestamp", "name", "namespace", "uid"]),
        );
        expect(at(await reviewed(c, token), "user", "extra")).toEqual({
          "authentication.kubernetes.io/credential-id": [`JTI=${String(claims["jti"])}`],
          "authentication.kubernetes.io/node-name": [c.unique("n")],
          "authentication.kubernetes.io/node-uid": [at(node, "metadata", "uid")],
          "authentication.kubernetes.io/pod-name": ["p"],
          "authentication.kubernetes.io/pod-uid": [at(pod, "metadata", "uid")],
        });
        const wrong = await c.api.post(`${c.core("serviceaccounts", "default")}/token`, request);
        const why = 'cannot bind token for serviceaccount "default" to pod running with different serviceaccount name.';
        refused(wrong, 400, "BadRequest", why);
      },
    },
    ...(
      [
        [
          { name: "other" },
          422,
          /metadata\.name: Invalid value: "other": must match the service account name if specified$/,
        ],
        [
          { namespace: "other" },
          400,
          /^the namespace of the provided object does not match the namespace sent on the request$/,
        ],
        [{ uid: "other" }, 409, /the UID in the token request \(other\) does not match the UID of the service account/],
      ] as const
    ).map(([metadata, code, message]) => ({
      name: `a token request that says ${JSON.stringify(metadata)} is ${code}`,
      async run(c: Context) {
        await made(
          c.api.post(c.core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "r" } }),
        );
        const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata, spec: {} };
        const answer = await c.api.post(`${c.core("serviceaccounts", "r")}/token`, request);
        expect(answer.code).toBe(code);
        expect(answer.body["message"]).toMatch(message);
      },
    })),
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
      name: "reviews are about selectors as well, for whoever looks at them",
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
      name: "what a kubelet may do is told in part",
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
      name: "who asks as another takes on groups, a uid and more, if each is allowed",
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
      name: "each thing that is taken on must be allowed",
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
      name: "nobody takes on groups of nobody",
      async run({ api }) {
        const answer = await api.get("/version", { headers: { "impersonate-group": "dev" } });
        expect(answer.code).toBe(500);
        expect(answer.text).toMatch(/without impersonating a user/);
      },
    },
    {
      name: "an account that is taken on has the groups of its kind",
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
