import { expect } from "vitest";
import type { CaseGroup, ContractCase, Json } from "../interface.ts";
import { at, configMap, made, refused } from "./shorthands.ts";

const REVIEWS: readonly { readonly path: string; readonly kind: string; readonly spec: Json }[] = [
  {
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { verb: "get", resource: "pods" } },
  },
  {
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    kind: "SubjectAccessReview",
    spec: { user: "jane", resourceAttributes: { verb: "get", resource: "pods" } },
  },
  {
    path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    kind: "SelfSubjectRulesReview",
    spec: { namespace: "default" },
  },
  { path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", kind: "SelfSubjectReview", spec: {} },
  { path: "/apis/authentication.k8s.io/v1/tokenreviews", kind: "TokenReview", spec: { token: "none" } },
];

const untyped: readonly ContractCase[] = REVIEWS.map(({ path, kind, spec }) => ({
  name: `a ${kind} without apiVersion and kind is read as the endpoint says`,
  async run({ api }) {
    const apiVersion = path.split("/").slice(2, 4).join("/");
    for (const typed of [{}, { kind }, { apiVersion }]) {
      const body = await made(api.post(path, { ...typed, spec }));
      expect(body).toMatchObject({ kind, apiVersion, status: expect.anything() });
    }
  },
}));

/** Requests as clients send them that leave out, or write otherwise, what others say. */
export const connecting: CaseGroup = {
  title: "requests without apiVersion and kind, and other forms of connect requests",
  cases: [
    ...untyped,
    {
      name: "a TokenRequest without apiVersion and kind is read as the endpoint says",
      async run({ api, core }) {
        const metadata = { name: "robot" };
        await made(api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata }));
        const body = await made(api.post(`${core("serviceaccounts", "robot")}/token`, { spec: {} }));
        expect(body).toMatchObject({ kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1" });
        expect(at(body, "status", "token")).toMatch(/^ey/);
      },
    },
    {
      name: "an Eviction without apiVersion and kind is read as the endpoint says",
      async run({ api, core }) {
        const metadata = { name: "default" };
        await api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata });
        const spec = { containers: [{ name: "c", image: "i" }], automountServiceAccountToken: false };
        await made(api.post(core("pods"), { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec }));
        const body = await made(api.post(`${core("pods", "p")}/eviction`, { metadata: { name: "p" } }));
        expect(body).toMatchObject({ kind: "Status", status: "Success" });
      },
    },
    {
      name: "a path that is not encoded rightly is 400 in plain text",
      async run({ api }) {
        const answer = await api.get("/api/v1/namespaces/%zz");
        expect({ code: answer.code, text: answer.text }).toEqual({ code: 400, text: "400 Bad Request" });
      },
    },
    {
      name: "a name with a percent sign is refused",
      async run({ api, core }) {
        refused(
          await api.get(core("configmaps", "a%25b")),
          400,
          "BadRequest",
          /^Name parameter invalid: "a%b": may not contain '%'$/,
        );
      },
    },
    {
      name: "an encoded slash in a path is a slash",
      async run({ api, namespace }) {
        await made(api.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap("a")));
        const { code, body } = await api.get(`/api/v1/namespaces%2F${namespace}/configmaps%2fa`);
        expect({ code, name: at(body, "metadata", "name") }).toEqual({ code: 200, name: "a" });
      },
    },
    {
      name: "a continue token that leaves its collection is refused",
      async run({ api, core }) {
        for (const start of ["../../secrets/x", "a/../b", "a//b", "./a"]) {
          const token = Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: 1, start })).toString("base64url");
          const why = `invalid continue token: continue key is not valid: ${start}`;
          refused(
            await api.get(core("configmaps"), { query: { continue: token, limit: "1" } }),
            400,
            "BadRequest",
            why,
          );
        }
      },
    },
    {
      name: "watches are served at their old paths too",
      async run({ api, core, namespace }) {
        await made(api.post(core("configmaps"), configMap("a", { metadata: { labels: { own: "" } } })));
        await made(api.post(core("configmaps"), configMap("b", { metadata: { labels: { own: "" } } })));
        const all = await api.watch(`/api/v1/watch/namespaces/${namespace}/configmaps?labelSelector=own`);
        const seen = await all.take(2);
        all.close();
        expect(seen.map((e) => [e["type"], at(e, "object", "metadata", "name")])).toEqual([
          ["ADDED", "a"],
          ["ADDED", "b"],
        ]);
        const one = await api.watch(`/api/v1/watch/namespaces/${namespace}/configmaps/b`);
        const [only] = await one.take(1);
        one.close();
        expect(at(only, "object", "metadata", "name")).toBe("b");
      },
    },
  ],
};
