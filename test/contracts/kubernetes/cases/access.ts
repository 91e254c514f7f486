import { expect } from "vitest";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import type { CaseGroup, Context, Json, Raw } from "../interface.ts";
import { rawClient } from "../raw.ts";
import { at, configMap, done, eventually, grant, made, refused } from "./shorthands.ts";

const RBAC = "rbac.authorization.k8s.io";
const AUTHENTICATION = "/apis/authentication.k8s.io/v1";
const AUTHORIZATION = "/apis/authorization.k8s.io/v1";
const ISSUER = "https://kubernetes.default.svc.cluster.local";

async function account({ api, core }: Context, name = "robot"): Promise<void> {
  await made(api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } }));
}

function tokenRequest(spec: Json = {}): Json {
  return { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
}

async function tokenOf(c: Context, spec: Json = {}): Promise<string> {
  const body = await made(c.api.post(`${c.core("serviceaccounts", "robot")}/token`, tokenRequest(spec)));
  return String(at(body, "status", "token"));
}

async function review(api: Raw, token: string, more: Json = {}): Promise<unknown> {
  const kind = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview" };
  return (await made(api.post(`${AUTHENTICATION}/tokenreviews`, { ...kind, spec: { token, ...more } })))["status"];
}

async function self(api: Raw): Promise<unknown> {
  const kind = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  return at(await made(api.post(`${AUTHENTICATION}/selfsubjectreviews`, kind)), "status", "userInfo");
}

async function asked(api: Raw, kind: string, spec: Json): Promise<Json> {
  const body = { apiVersion: "authorization.k8s.io/v1", kind, spec };
  return (await made(api.post(`${AUTHORIZATION}/${kind.toLowerCase()}s`, body)))["status"] as Json;
}

const FORBIDDEN: readonly (readonly [string, (c: Context) => string, string])[] = [
  [
    "GET",
    () => "/api/v1/nodes",
    'nodes is forbidden: User "joe" cannot list resource "nodes" in API group "" at the cluster scope',
  ],
  [
    "GET",
    () => "/api/v1/nodes/x",
    'nodes "x" is forbidden: User "joe" cannot get resource "nodes" in API group "" at the cluster scope',
  ],
  [
    "GET",
    (c) => c.core("pods", "x"),
    'pods "x" is forbidden: User "joe" cannot get resource "pods" in API group "" in the namespace "NS"',
  ],
  [
    "DELETE",
    (c) => c.core("pods"),
    'pods is forbidden: User "joe" cannot deletecollection resource "pods" in API group "" in the namespace "NS"',
  ],
  [
    "PATCH",
    (c) => `${c.core("pods", "x")}/status`,
    'pods "x" is forbidden: User "joe" cannot patch resource "pods/status" in API group "" in the namespace "NS"',
  ],
  [
    "POST",
    (c) => c.apis("apps/v1", "deployments"),
    'deployments.apps is forbidden: User "joe" cannot create resource "deployments" in API group "apps" in the namespace "NS"',
  ],
  [
    "GET",
    () => "/apis/contract.example.com/v1/widgets?watch=1",
    'widgets.contract.example.com is forbidden: User "joe" cannot watch resource "widgets" in API group "contract.example.com" at the cluster scope',
  ],
  ["GET", () => "/metrics", 'forbidden: User "joe" cannot get path "/metrics"'],
];

export const access: CaseGroup = {
  title: "authentication and authorization",
  cases: [
    ...FORBIDDEN.map(([method, path, message]) => ({
      name: `403 says what: ${message}`,
      async run(c: Context) {
        const joe = await c.as({ user: "joe", groups: ["dev"] });
        const answer = await joe.call(method, path(c), method === "GET" ? undefined : {});
        refused(answer, 403, "Forbidden", message.replace("NS", c.namespace));
      },
    })),
    {
      name: "a certificate gives a name and groups",
      async run({ as }) {
        expect(await self(await as({ user: "joe", groups: ["dev"] }))).toEqual({
          username: "joe",
          groups: ["dev", "system:authenticated"],
          extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
        });
      },
    },
    {
      name: "a client certificate of an unknown authority is unauthorized: 401",
      async run({ target }) {
        const stranger = await createAuthority({ commonName: "stranger", lifetime: 3_600_000 });
        const pair = await issueCertificate(stranger, {
          commonName: "root",
          organizations: ["system:masters"],
          usages: ["client"],
          lifetime: 3_600_000,
        });
        const raw = rawClient({ url: target.url, ca: target.ca, ...pair });
        const { code } = await raw.get("/version");
        raw.close();
        expect(code).toBe(401);
      },
    },
    {
      name: "a service account's token is bound, expires, and says who it is",
      async run(c) {
        await account(c);
        const body = await made(
          c.api.post(`${c.core("serviceaccounts", "robot")}/token`, tokenRequest({ expirationSeconds: 600 })),
        );
        expect(body["spec"]).toEqual({ audiences: [ISSUER], expirationSeconds: 600, boundObjectRef: null });
        const token = String(at(body, "status", "token"));
        const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Json;
        expect(claims).toMatchObject({
          iss: ISSUER,
          aud: [ISSUER],
          sub: `system:serviceaccount:${c.namespace}:robot`,
          "kubernetes.io": { namespace: c.namespace, serviceaccount: { name: "robot" } },
        });
        expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(600);
        expect(await self(await c.as({ token }))).toMatchObject({
          username: `system:serviceaccount:${c.namespace}:robot`,
          groups: ["system:serviceaccounts", `system:serviceaccounts:${c.namespace}`, "system:authenticated"],
        });
      },
    },
    {
      name: "a TokenReview names the user of a token",
      async run(c) {
        await account(c);
        expect(await review(c.api, await tokenOf(c))).toMatchObject({
          authenticated: true,
          user: { username: `system:serviceaccount:${c.namespace}:robot` },
          audiences: [ISSUER],
        });
        expect(await review(c.api, "nonsense")).toMatchObject({
          user: {},
          error: expect.stringContaining("invalid bearer token") as string,
        });
        const other = (await review(c.api, await tokenOf(c), { audiences: ["other"] })) as Json;
        expect(other["authenticated"]).toBeUndefined();
        expect(
          await review(c.api, await tokenOf(c, { audiences: ["other"] }), { audiences: ["other", "more"] }),
        ).toMatchObject({
          authenticated: true,
          audiences: ["other"],
        });
      },
    },
    {
      name: "a token for another audience does not open this server",
      async run(c) {
        await account(c);
        const raw = await c.as({ token: await tokenOf(c, { audiences: ["other"] }) });
        refused(await raw.get("/version"), 401, "Unauthorized", "Unauthorized");
      },
    },
    {
      name: "a token ends with its account, and with what it is bound to",
      async run(c) {
        await account(c);
        await made(c.api.post(c.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }));
        const bound = await c.as({
          token: await tokenOf(c, { boundObjectRef: { apiVersion: "v1", kind: "Secret", name: "s" } }),
        });
        const free = await c.as({ token: await tokenOf(c) });
        expect((await bound.get("/version")).code).toBe(200);
        await done(c.api.delete(c.core("secrets", "s")));
        await eventually(async () => ((await bound.get("/version")).code === 401 ? true : undefined));
        expect((await free.get("/version")).code).toBe(200);
        await done(c.api.delete(c.core("serviceaccounts", "robot")));
        await eventually(async () => ((await free.get("/version")).code === 401 ? true : undefined));
      },
      except: { server: "kube-apiserver", reason: "it caches tokens for ten seconds: longer than a case waits" },
    },
    ...(
      [
        [
          { expirationSeconds: 60 },
          422,
          /spec\.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes/,
        ],
        [{ boundObjectRef: { apiVersion: "v1", kind: "Secret", name: "none" } }, 404, /^secrets "none" not found$/],
        [
          { boundObjectRef: { apiVersion: "v1", kind: "Odd", name: "none" } },
          400,
          /^cannot bind token to object of type \/v1, Kind=Odd$/,
        ],
      ] as const
    ).map(([spec, code, message]) => ({
      name: `a token request with ${JSON.stringify(spec)} is ${code}`,
      async run(c: Context) {
        await account(c);
        const answer = await c.api.post(`${c.core("serviceaccounts", "robot")}/token`, tokenRequest(spec));
        expect(answer.code).toBe(code);
        expect(answer.body["message"]).toMatch(message);
      },
    })),
    {
      name: "a bootstrap token is one of system:bootstrappers until it expires",
      async run({ api, as, unique }) {
        const id = unique("aaaaaa").replace("-", "").slice(-6);
        const secret = (expiration: string): Json => ({
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: `bootstrap-token-${id}`, namespace: "kube-system" },
          type: "bootstrap.kubernetes.io/token",
          stringData: {
            "token-id": id,
            "token-secret": "0123456789abcdef",
            "usage-bootstrap-authentication": "true",
            "auth-extra-groups": "system:bootstrappers:joiners",
            expiration,
          },
        });
        const path = "/api/v1/namespaces/kube-system/secrets";
        await made(api.post(path, secret("2099-01-01T00:00:00Z")));
        const joiner = await as({ token: `${id}.0123456789abcdef` });
        const who = await eventually(async () => {
          const answer = await joiner.post(`${AUTHENTICATION}/selfsubjectreviews`, {
            apiVersion: "authentication.k8s.io/v1",
            kind: "SelfSubjectReview",
          });
          return answer.code === 201 ? at(answer.body, "status", "userInfo") : undefined;
        });
        expect(who).toMatchObject({ username: `system:bootstrap:${id}` });
        expect(at(who, "groups")).toEqual(
          expect.arrayContaining(["system:bootstrappers", "system:bootstrappers:joiners", "system:authenticated"]),
        );
        expect((await (await as({ token: `${id}.fedcba9876543210` })).get("/version")).code).toBe(401);
      },
    },
    {
      name: "a role gives what it says, in its namespace alone",
      async run(c) {
        await grant(c, c.unique("reader"), [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }]);
        const reader = await c.as({ user: c.unique("reader") });
        await eventually(async () => ((await reader.get(c.core("configmaps"))).code === 200 ? true : undefined));
        expect((await reader.post(c.core("configmaps"), configMap("a"))).code).toBe(403);
        expect((await reader.get("/api/v1/namespaces/default/configmaps")).code).toBe(403);
      },
    },
    {
      name: "a watch continues when the rights to it are revoked, and a new one is forbidden",
      async run(c) {
        const user = c.unique("reader");
        await grant(c, user, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] }]);
        const reader = await c.as({ user });
        const path = c.core("configmaps");
        const body = await eventually(async () => {
          const answer = await reader.get(path);
          return answer.code === 200 ? answer.body : undefined;
        });
        const watch = await reader.watch(
          `${path}?watch=1&resourceVersion=${String(at(body, "metadata", "resourceVersion"))}`,
        );
        expect((await c.api.delete(c.apis(`${RBAC}/v1`, "rolebindings", user))).code).toBe(200);
        await eventually(async () => ((await reader.get(path)).code === 403 ? true : undefined));
        expect((await reader.get(`${path}?watch=1`)).code).toBe(403);
        await made(c.api.post(path, configMap("later")));
        expect(at(await watch.take(1), 0, "object", "metadata", "name")).toBe("later");
        watch.close();
      },
    },
    {
      name: "a RoleBinding to a role with more rights than the user has is rejected",
      async run(c) {
        const user = c.unique("binder");
        await grant(c, user, [{ apiGroups: [RBAC], resources: ["roles", "rolebindings"], verbs: ["create", "get"] }]);
        const binder = await c.as({ user, groups: ["dev"] });
        await eventually(async () =>
          (await binder.get(c.apis(`${RBAC}/v1`, "roles", user))).code === 200 ? true : undefined,
        );
        const rules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
        refused(
          await binder.post(c.apis(`${RBAC}/v1`, "roles"), {
            apiVersion: `${RBAC}/v1`,
            kind: "Role",
            metadata: { name: "big" },
            rules,
          }),
          403,
          "Forbidden",
          `roles.${RBAC} "big" is forbidden: user "${user}" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`,
        );
      },
    },
    {
      name: "a binding's role does not change",
      async run(c) {
        await grant(c, "fixed", [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }]);
        refused(
          await c.api.patch(c.apis(`${RBAC}/v1`, "rolebindings", "fixed"), "merge", { roleRef: { name: "other" } }),
          422,
          "Invalid",
          `RoleBinding.${RBAC} "fixed" is invalid: roleRef: Invalid value: {"APIGroup":"${RBAC}","Kind":"Role","Name":"other"}: cannot change roleRef`,
        );
      },
    },
    {
      name: "access is reviewed for oneself and for others",
      async run(c) {
        const user = c.unique("asker");
        await grant(c, user, [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }]);
        const resourceAttributes = { verb: "get", resource: "pods", namespace: c.namespace };
        const asker = await c.as({ user });
        await eventually(async () => {
          const status = await asked(asker, "SelfSubjectAccessReview", { resourceAttributes });
          return status["allowed"] === true ? true : undefined;
        });
        const denied = { resourceAttributes: { ...resourceAttributes, verb: "delete" } };
        expect((await asked(asker, "SelfSubjectAccessReview", denied))["allowed"]).toBe(false);
        expect((await asked(c.api, "SubjectAccessReview", { user, resourceAttributes }))["allowed"]).toBe(true);
        expect((await asked(c.api, "SubjectAccessReview", { user: "other", resourceAttributes }))["allowed"]).toBe(
          false,
        );
        const path = { nonResourceAttributes: { verb: "get", path: "/version" } };
        expect((await asked(asker, "SelfSubjectAccessReview", path))["allowed"]).toBe(true);
      },
    },
    {
      name: "a SelfSubjectRulesReview lists the rules of the user",
      async run(c) {
        const user = c.unique("ruled");
        await grant(c, user, [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }]);
        const asker = await c.as({ user });
        const rules = await eventually(async () => {
          const status = await asked(asker, "SelfSubjectRulesReview", { namespace: c.namespace });
          const found = (status["resourceRules"] as Json[]).some((r) => String(r["resources"]) === "pods");
          return found ? status : undefined;
        });
        expect(rules["incomplete"]).toBe(false);
        expect((rules["nonResourceRules"] as Json[]).length).toBeGreaterThan(0);
      },
    },
    {
      name: "an administrator may ask as another",
      async run(c) {
        const headers = { "impersonate-user": "jane", "impersonate-group": "dev" };
        const answer = await c.api.get(c.core("configmaps"), { headers });
        refused(
          answer,
          403,
          "Forbidden",
          `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "${c.namespace}"`,
        );
      },
    },
    {
      name: "a kubelet touches its own node and no other",
      async run({ api, as, unique }) {
        const [mine, other] = [unique("node-mine"), unique("node-other")];
        for (const name of [mine, other])
          await made(api.post("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name } }));
        const kubelet = await as({ user: `system:node:${mine}`, groups: ["system:nodes"] });
        expect(
          (await kubelet.patch(`/api/v1/nodes/${mine}/status`, "merge", { status: { phase: "Running" } })).code,
        ).toBe(200);
        const answer = await kubelet.patch(`/api/v1/nodes/${other}/status`, "merge", { status: { phase: "Running" } });
        refused(
          answer,
          403,
          "Forbidden",
          `nodes "${other}" is forbidden: node "${mine}" is not allowed to modify node "${other}"`,
        );
        expect((await kubelet.get("/api/v1/secrets")).code).toBe(403);
      },
    },
    {
      name: "a kubelet gives itself no restricted label, by whatever kind of patch",
      async run({ api, as, unique }) {
        const name = unique("node");
        await made(
          api.post("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name, labels: { a: "b" } } }),
        );
        const kubelet = await as({ user: `system:node:${name}`, groups: ["system:nodes"] });
        const label = "node-restriction.kubernetes.io/team";
        const merge = await kubelet.patch(`/api/v1/nodes/${name}`, "merge", { metadata: { labels: { [label]: "x" } } });
        const path = `/metadata/labels/${label.replace("/", "~1")}`;
        const json = await kubelet.patch(`/api/v1/nodes/${name}`, "json", [{ op: "add", path, value: "x" }]);
        for (const answer of [merge, json]) {
          refused(answer, 403, "Forbidden", `nodes "${name}" is forbidden: is not allowed to modify labels: ${label}`);
        }
      },
    },
  ],
};
