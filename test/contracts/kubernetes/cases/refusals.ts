import { expect } from "vitest";
import type { Answer, CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { widget, widgets } from "./custom-resource.ts";
import { at, configMap, made, refused } from "./shorthands.ts";

/** One request that no server accepts, and its response. */
interface Refusal {
  readonly name: string;
  readonly ask: (context: Context) => Promise<Answer>;
  readonly code: number;
  readonly reason: string;
  readonly message?: string | RegExp;
  readonly details?: Json;
}

const REFUSALS: readonly Refusal[] = [
  {
    name: "get of nothing",
    ask: ({ api, core }) => api.get(core("configmaps", "none")),
    code: 404,
    reason: "NotFound",
    message: 'configmaps "none" not found',
    details: { name: "none", kind: "configmaps" },
  },
  {
    name: "get of nothing in a group",
    ask: ({ api, apis }) => api.get(apis("apps/v1", "deployments", "none")),
    code: 404,
    reason: "NotFound",
    message: 'deployments.apps "none" not found',
    details: { name: "none", group: "apps", kind: "deployments" },
  },
  {
    name: "delete of nothing",
    ask: ({ api, core }) => api.delete(core("secrets", "none")),
    code: 404,
    reason: "NotFound",
    message: 'secrets "none" not found',
  },
  {
    name: "patch of nothing",
    ask: ({ api, core }) => api.patch(core("configmaps", "none"), "merge", {}),
    code: 404,
    reason: "NotFound",
    message: 'configmaps "none" not found',
  },
  {
    name: "put of nothing custom",
    ask: (c) => c.api.put(widgets(c, "none"), widget("none", {}, { metadata: { resourceVersion: "1" } })),
    code: 404,
    reason: "NotFound",
    message: 'widgets.contract.example.com "none" not found',
  },
  {
    name: "create in a namespace that is not there",
    ask: ({ api }) => api.post("/api/v1/namespaces/nowhere/configmaps", configMap("a")),
    code: 404,
    reason: "NotFound",
    message: 'namespaces "nowhere" not found',
    details: { name: "nowhere", kind: "namespaces" },
  },
  {
    name: "a custom object in a namespace that is not there",
    ask: ({ api }) => api.post("/apis/contract.example.com/v1/namespaces/nowhere/widgets", widget("a")),
    code: 404,
    reason: "NotFound",
    message: 'namespaces "nowhere" not found',
  },
  {
    name: "a second of the same name",
    async ask({ api, core }) {
      await made(api.post(core("configmaps"), configMap("a")));
      return api.post(core("configmaps"), configMap("a"));
    },
    code: 409,
    reason: "AlreadyExists",
    message: 'configmaps "a" already exists',
    details: { name: "a", kind: "configmaps" },
  },
  {
    name: "a body in another kind",
    ask: ({ api, core }) => api.post(core("configmaps"), { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } }),
    code: 400,
    reason: "BadRequest",
    message:
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  },
  {
    name: "a body in another version",
    ask: ({ api, core }) =>
      api.post(core("configmaps"), { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "a" } }),
    code: 400,
    reason: "BadRequest",
    message:
      /^ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2" in scheme/,
  },
  {
    name: "a custom body in another kind",
    ask: (c) => c.api.post(widgets(c), { ...widget("a"), kind: "Other" }),
    code: 422,
    reason: "Invalid",
    message: 'Other.contract.example.com "a" is invalid: kind: Invalid value: "Other": must be Widget',
  },
  {
    name: "a body for another namespace",
    ask: ({ api, core }) => api.post(core("configmaps"), configMap("a", { metadata: { namespace: "other" } })),
    code: 400,
    reason: "BadRequest",
    message: "the namespace of the provided object does not match the namespace sent on the request",
  },
  {
    name: "a body of another name",
    async ask({ api, core }) {
      const body = await made(api.post(core("configmaps"), configMap("a")));
      return api.put(core("configmaps", "a"), { ...body, metadata: { name: "b" } });
    },
    code: 400,
    reason: "BadRequest",
    message: "the name of the object (b) does not match the name on the URL (a)",
  },
  {
    name: "a body that is not JSON",
    ask: ({ api, core }) => api.post(core("configmaps"), "{"),
    code: 400,
    reason: "BadRequest",
  },
  {
    name: "an unknown content type",
    ask: ({ api, core }) =>
      api.post(core("configmaps"), "a=b", { headers: { "content-type": "application/x-www-form-urlencoded" } }),
    code: 415,
    reason: "UnsupportedMediaType",
    message:
      /^the body of the request was in an unknown format - accepted media types include: application\/json, application\/yaml, application\/vnd\.kubernetes\.protobuf/,
  },
  {
    name: "an Accept header without a supported media type",
    ask: ({ api, core }) => api.get(core("configmaps"), { headers: { accept: "text/html" } }),
    code: 406,
    reason: "NotAcceptable",
    message: /^406: Not Acceptable\s+Available representations: application\/json, application\/yaml/,
  },
  {
    name: "a patch of no known type",
    async ask({ api, core }) {
      await made(api.post(core("configmaps"), configMap("a")));
      return api.call("PATCH", core("configmaps", "a"), {});
    },
    code: 415,
    reason: "UnsupportedMediaType",
    message: "415: Unsupported Media Type",
  },
  {
    name: "a strategic merge patch of a custom object",
    async ask(c) {
      await made(c.api.post(widgets(c), widget("a")));
      return c.api.patch(widgets(c, "a"), "strategic", {});
    },
    code: 415,
    reason: "UnsupportedMediaType",
  },
  {
    name: "a method that a resource does not have",
    ask: ({ api, core }) => api.post(core("configmaps", "a"), configMap("a")),
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
  },
  {
    name: "deletecollection of namespaces",
    ask: ({ api }) => api.delete("/api/v1/namespaces"),
    code: 405,
    reason: "MethodNotAllowed",
  },
  {
    name: "a create that names a resourceVersion",
    ask: ({ api, core }) => api.post(core("configmaps"), configMap("a", { metadata: { resourceVersion: "1" } })),
    code: 500,
    reason: "",
    message: "resourceVersion should not be set on objects to be created",
  },
  {
    name: "a resourceVersion that is none",
    ask: ({ api, core }) => api.get(`${core("configmaps")}?resourceVersion=abc`),
    code: 400,
    reason: "BadRequest",
    message: /abc/,
  },
  {
    name: "a continue token that is none",
    ask: ({ api, core }) => api.get(`${core("configmaps")}?limit=1&continue=abc`),
    code: 400,
    reason: "BadRequest",
    message: /^invalid continue token: continue key is not valid/,
  },
  {
    name: "a label selector that is none",
    ask: ({ api, core }) => api.get(`${core("configmaps")}?labelSelector=${encodeURIComponent("a b")}`),
    code: 400,
    reason: "BadRequest",
    message: /^unable to parse requirement/,
  },
  {
    name: "a field selector on a field that has none",
    ask: ({ api, core }) => api.get(`${core("configmaps")}?fieldSelector=data.a%3D1`),
    code: 400,
    reason: "BadRequest",
    message: '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
  },
  {
    name: "a resourceVersionMatch without a resourceVersion",
    ask: ({ api, core }) => api.get(`${core("configmaps")}?resourceVersionMatch=Exact`),
    code: 422,
    reason: "Invalid",
    message: /resourceVersionMatch/,
  },
  {
    name: "a dryRun that is not All",
    ask: ({ api, core }) => api.post(`${core("configmaps")}?dryRun=Some`, configMap("a")),
    code: 422,
    reason: "Invalid",
    message: /dryRun/,
  },
  {
    name: "an unknown fieldValidation",
    ask: ({ api, core }) => api.post(`${core("configmaps")}?fieldValidation=Loose`, configMap("a")),
    code: 422,
    reason: "Invalid",
    message: /fieldValidation/,
  },
  {
    name: "an apply without a field manager",
    ask: ({ api, core }) => api.patch(core("configmaps", "a"), "apply", configMap("a")),
    code: 422,
    reason: "Invalid",
    message: /fieldManager: Required value: is required for apply patch/,
  },
  {
    name: "an apply that carries managedFields",
    ask: ({ api, core }) =>
      api.patch(
        `${core("configmaps", "a")}?fieldManager=m`,
        "apply",
        configMap("a", { metadata: { managedFields: [{ manager: "x" }] } }),
      ),
    code: 400,
    reason: "BadRequest",
    message: "metadata.managedFields must be nil",
  },
  {
    name: "an unknown propagation policy",
    async ask({ api, core }) {
      await made(api.post(core("configmaps"), configMap("a")));
      return api.delete(core("configmaps", "a"), {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: "Sideways",
      });
    },
    code: 422,
    reason: "Invalid",
    message: /propagationPolicy/,
  },
  {
    name: "an update of what has moved on",
    async ask({ api, core }) {
      const old = await made(api.post(core("configmaps"), configMap("a")));
      await api.patch(core("configmaps", "a"), "merge", { data: { a: "1" } });
      return api.put(core("configmaps", "a"), { ...old, data: { a: "2" } });
    },
    code: 409,
    reason: "Conflict",
    message:
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    details: { name: "a", kind: "configmaps" },
  },
  {
    name: "an update of another object of that name",
    async ask({ api, core }) {
      const { metadata, ...rest } = await made(api.post(core("configmaps"), configMap("a")));
      const uid = "00000000-0000-0000-0000-000000000000";
      return api.put(core("configmaps", "a"), {
        ...rest,
        metadata: { ...(metadata as Json), uid, resourceVersion: "" },
      });
    },
    code: 409,
    reason: "Conflict",
    message:
      /^Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: \/registry\/configmaps\/case-\d+\/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: 0+-0000-0000-0000-0+, UID in object meta: /,
  },
  {
    name: "a JSON patch whose test fails",
    async ask({ api, core }) {
      await made(api.post(core("configmaps"), configMap("a", { data: { a: "1" } })));
      return api.patch(core("configmaps", "a"), "json", [{ op: "test", path: "/data/a", value: "2" }]);
    },
    code: 422,
    reason: "Invalid",
    message: "the server rejected our request due to an error in our request",
  },
  {
    name: "a JSON patch that is not a list",
    async ask({ api, core }) {
      await made(api.post(core("configmaps"), configMap("a")));
      return api.patch(core("configmaps", "a"), "json", { op: "add" });
    },
    code: 400,
    reason: "BadRequest",
  },
  {
    name: "a patch that renames",
    async ask({ api, core }) {
      await made(api.post(core("configmaps"), configMap("a")));
      return api.patch(core("configmaps", "a"), "merge", { metadata: { name: "b" } });
    },
    code: 400,
    reason: "BadRequest",
    message: "the name of the object (b) does not match the name on the URL (a)",
  },
  {
    name: "the end of the default namespace",
    ask: ({ api }) => api.delete("/api/v1/namespaces/default"),
    code: 403,
    reason: "Forbidden",
    message: 'namespaces "default" is forbidden: this namespace may not be deleted',
  },
  {
    name: "an anonymous caller",
    async ask({ as, core }) {
      return (await as({ anonymous: true })).get(core("configmaps"));
    },
    code: 403,
    reason: "Forbidden",
    message:
      /^configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "case-\d+"$/,
  },
  {
    name: "an unknown bearer token",
    async ask({ as, core }) {
      return (await as({ token: "nonsense" })).get(core("configmaps"));
    },
    code: 401,
    reason: "Unauthorized",
    message: "Unauthorized",
  },
];

export const refusals: CaseGroup = {
  title: "refusals",
  cases: REFUSALS.map(({ name, ask, code, reason, message, details }): ContractCase => ({
    name: `refused: ${name}`,
    async run(context) {
      const answer = await ask(context);
      if (reason === "") {
        expect({ code: answer.code, message: answer.body["message"] }).toEqual({ code, message });
      } else refused(answer, code, reason, message);
      if (details) expect(at(answer.body, "details")).toEqual(details);
    },
  })),
};
