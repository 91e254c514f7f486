import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { partOf } from "../issuer.ts";
import { at, eventually, made, refused } from "./shorthands.ts";

const AUTHENTICATION = "/apis/authentication.k8s.io/v1";
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

export const identities: CaseGroup = {
  title: "identities from issuers, certificates and webhooks",
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
        ["that a rule about claims refuses", { ...GOLD, banned: true }, /banned users are refused\]$/],
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
      name: "an Authorization header without a Bearer token is ignored",
      async run(c) {
        const anonymous = await c.as({ anonymous: true });
        for (const authorization of ["Basic amFuZTpkb2U=", "Bearer", "Odd token"]) {
          const answer = await anonymous.get(c.core("pods"), { headers: { authorization } });
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
      name: "a token bound to a pod has claims of the pod and its node, and requires the pod's own service account",
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
  ],
};
