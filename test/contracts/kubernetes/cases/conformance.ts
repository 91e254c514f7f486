import { createHash } from "node:crypto";
import { createRequest } from "@causeway/foundation";
import { expect } from "vitest";
import type { Answer, CaseGroup, Context, Json } from "../interface.ts";
import { define, definition } from "./custom-resource.ts";
import { at, done, eventually, gone, made, refused } from "./shorthands.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ACCESS = "/apis/rbac.authorization.k8s.io/v1";

/** wires.protobuf.example.com as client-go's clients send it. */
const WIRES = [
  "azhzAAozChdhcGlleHRlbnNpb25zLms4cy5pby92MRIYQ3VzdG9tUmVzb3VyY2VEZWZpbml0aW9uEq4HCioKGndpcmVzLnByb3RvYnVm",
  "LmV4YW1wbGUuY29tEgAaACIAKgAyADgAQgAS8wYKFHByb3RvYnVmLmV4YW1wbGUuY29tGiEKBXdpcmVzEgR3aXJlGgJ3aSIEV2lyZSoI",
  "V2lyZUxpc3QiCk5hbWVzcGFjZWQ6qQYKAnYxEAEYASLDBQrABQoAEgAiACoGb2JqZWN0MgA6AFAAYAB6AJABAOoBswQKBHNwZWMSqgQK",
  "ABIAIgAqBm9iamVjdDIAOgBQAGAAegCQAQC6AQRzaXpl6gEvCgRmcmVlEicKABIAIgAqBm9iamVjdDIAOgBQAGAAegCQAQCoAgGwAgG4",
  "AgDAAgDqAVkKBmxpbWl0cxJPCgASACIAKgZvYmplY3QyADoAUABgAHoAkAEA8gEoCAESJAoAEgAiACoGc3RyaW5nMgA6AFAAYAB6AJAB",
  "AKgCALgCAMACAKgCALgCAMACAOoBPgoEbmFtZRI2CgASACIAKgZzdHJpbmcyADoAUABgAGgUegCQAQCiAQUKAyJhIqIBBQoDImIiqAIA",
  "uAIAwAIA6gEmCgRwb3J0Eh4KABIAIgAqADIAOgBQAGAAegCQAQCoAgC4AgDAAgHqAT8KCHJlcGxpY2FzEjMKABIAIgAqB2ludGVnZXIy",
  "BWludDMyOgBQAFkAAAAAAAAAAGAAegCQAQCoAgC4AgDAAgDqAUUKBHNpemUSPQoAEgAiACoGbnVtYmVyMgA6AEIFCgMxLjVJAAAAAAAA",
  "WUBQAFkAAAAAAADgP2AAegCQAQCoAgC4AgDAAgDqAVoKBHRhZ3MSUgoAEgAiACoFYXJyYXkyADoAUABgAHoAkAEAwgEmCiQKABIAIgAq",
  "BnN0cmluZzIAOgBQAGAAegCQAQCoAgC4AgDAAgCoAgC4AgDAAgDSAgNzZXSoAgC4AgDAAgDiAh0KDnNlbGYuc2l6ZSA8IDUwEgd0b28g",
  "YmlnGgAqAOoBYgoGc3RhdHVzElgKABIAIgAqBm9iamVjdDIAOgBQAGAAegCQAQDqATEKCHJlcGxpY2FzEiUKABIAIgAqB2ludGVnZXIy",
  "ADoAUABgAHoAkAEAqAIAuAIAwAIAqAIAuAIAwAIAqAIAuAIAwAIAKiYKABIiCg4uc3BlYy5yZXBsaWNhcxIQLnN0YXR1cy5yZXBsaWNh",
  "czIhCgRTaXplEgdpbnRlZ2VyGgAiACgBMgouc3BlYy5zaXplOABKDAoKLnNwZWMubmFtZVAAGgoSCAoAEgAiACoAGgAiAA==",
].join("");

const WIRE_SCHEMA = {
  type: "object",
  required: ["size"],
  "x-kubernetes-validations": [{ rule: "self.size < 50", message: "too big" }],
  properties: {
    size: { type: "number", minimum: 0.5, maximum: 100, default: 1.5 },
    replicas: { type: "integer", format: "int32", minimum: 0 },
    name: { type: "string", maxLength: 20, enum: ["a", "b"] },
    tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    limits: { type: "object", additionalProperties: { type: "string" } },
    free: { type: "object", nullable: true, "x-kubernetes-preserve-unknown-fields": true },
    port: { "x-kubernetes-int-or-string": true },
  },
};

const TWICE = `apiVersion: v1
kind: ConfigMap
metadata: { name: a }
data:
  a: "1"
  a: "2"
`;

const TIMEOUTS: readonly (readonly [string, string])[] = [
  ["invalid", 'invalid duration "invalid"'],
  ["5", 'missing unit in duration "5"'],
  ["1d", 'unknown unit "d" in duration "1d"'],
  ["1h.", 'invalid duration "1h."'],
];

const gold = (operator: string): Json => ({
  matchExpressions: [{ scopeName: "VolumeAttributesClass", operator, values: ["gold"] }],
});
const UNFIT = "unsupported scope applied to resource";

const SCOPED: readonly (readonly [string, Json, string?])[] = [
  ["claims of a class", { hard: { persistentvolumeclaims: "1" }, scopeSelector: gold("In") }],
  ["storage of classes", { hard: { "requests.storage": "1" }, scopes: ["VolumeAttributesClass"] }],
  [
    "pods of a claim's class",
    { hard: { pods: "1" }, scopeSelector: gold("NotIn") },
    `spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"VolumeAttributesClass","Operator":"NotIn","Values":["gold"]}]}: ${UNFIT}`,
  ],
  [
    "claims of pods' priority",
    { hard: { persistentvolumeclaims: "1" }, scopes: ["PriorityClass"] },
    `spec.scopes: Invalid value: ["PriorityClass"]: ${UNFIT}`,
  ],
];

const HASHES = [
  ["/api/v1", { pods: "xPOwRZ+Yhw8=", secrets: "S6u1pOWzb84=", events: "r2yiGXH7wu8=", bindings: undefined }],
  ["/apis/apps/v1", { deployments: "8aSe+NMegvE=", "deployments/status": undefined }],
] as const;

const word = (value: unknown): string => (typeof value === "string" ? value : "");

/** The rules of a role or the subjects of a binding as one text, in a fixed order. */
function textOf(object: unknown): string {
  const sorted = (value: unknown): string => (Array.isArray(value) ? value.map(String).toSorted().join() : "");
  const rules = ((at(object, "rules") ?? []) as Json[]).map((rule) =>
    ["apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs"].map((part) => sorted(rule[part])).join(" "),
  );
  const subjects = ((at(object, "subjects") ?? []) as Json[]).map(
    (one) => `${word(one["kind"])} ${word(one["namespace"])}/${word(one["name"])}`,
  );
  const to = `${word(at(object, "roleRef", "kind"))} ${word(at(object, "roleRef", "name"))}`;
  const name = `${word(at(object, "metadata", "namespace"))}/${word(at(object, "metadata", "name"))}`;
  return [name, to, ...rules.toSorted(), ...subjects.toSorted()].join("\n");
}

/** How many the server brings of a kind, and a digest of what they say. */
async function brought({ api }: Context, plural: string): Promise<readonly [number, string]> {
  const path = `${ACCESS}/${plural}?labelSelector=kubernetes.io%2Fbootstrapping%3Drbac-defaults`;
  const { items } = (await done(api.get(path))) as { items: Json[] };
  // What is put together of others is a controller's work.
  const own = items.filter(
    (item) => !item["aggregationRule"] && !String(at(item, "metadata", "name")).startsWith("kubeadm:"),
  );
  const texts = own.map(textOf).toSorted();
  return [texts.length, createHash("sha256").update(texts.join("\n\n")).digest("hex").slice(0, 16)];
}

export const conformance: CaseGroup = {
  title: "behaviour that the conformance suite and controllers rely on",
  cases: [
    {
      name: "a CRD may be created in protobuf",
      async run({ api }) {
        const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
        const body = await made(api.post(DEFINITIONS, Buffer.from(WIRES, "base64"), { headers }));
        const version = at(body, "spec", "versions", "0") as Json;
        expect(at(version, "schema", "openAPIV3Schema", "properties", "spec")).toEqual(WIRE_SCHEMA);
        expect(version).toMatchObject({
          name: "v1",
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
          additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size", priority: 1 }],
          selectableFields: [{ jsonPath: ".spec.name" }],
        });
        expect(at(body, "spec", "names")).toMatchObject({ plural: "wires", kind: "Wire", shortNames: ["wi"] });
        const wires = "/apis/protobuf.example.com/v1/namespaces/default/wires";
        const wire = { apiVersion: "protobuf.example.com/v1", kind: "Wire", metadata: { name: "a" }, spec: {} };
        await eventually(async () => ((await api.get(wires)).code === 200 ? true : undefined));
        expect(at(await made(api.post(wires, wire)), "spec")).toEqual({ size: 1.5 });
        await done(api.delete(`${DEFINITIONS}/wires.protobuf.example.com`));
      },
    },
    ...TIMEOUTS.map(([timeout, why]) => ({
      name: `a request with ?timeout=${timeout} is 400, whatever rights the user has`,
      async run({ api, as, core }: Context) {
        const message = `invalid timeout specified in the request URL - time: ${why}`;
        refused(await api.get(`/version?timeout=${timeout}`), 400, "BadRequest", message);
        const stranger = await as({ user: "stranger" });
        refused(await stranger.get(`${core("configmaps")}?timeout=${timeout}`), 400, "BadRequest", message);
      },
    })),
    ...["3m", "0s", "-1s", "1h1m1.5s", "0", ""].map((timeout) => ({
      name: `a request with ?timeout=${timeout || "nothing"} is served`,
      async run({ api, core }: Context) {
        await done(api.get(`/version?timeout=${timeout}`));
        await done(api.get(`${core("configmaps")}?timeout=${timeout}`));
      },
    })),
    ...(
      [
        ["YAML", TWICE, 'line 6: key "a" already set in map'],
        [
          "JSON",
          '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":"2"}}',
          'line 1: key "a" already set in map',
        ],
      ] as const
    ).map(([form, body, line]) => ({
      name: `a key that an applied configuration in ${form} has twice is a warning, or an error with fieldValidation=Strict`,
      async run({ api, core }: Context) {
        const sent = (fieldValidation: string): Promise<Answer> =>
          api.call("PATCH", core("configmaps", "a"), body, {
            headers: { "content-type": "application/apply-patch+yaml" },
            query: { fieldManager: "one", fieldValidation },
          });
        const why = `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${line}`;
        refused(await sent("Strict"), 400, "BadRequest", why);
        const warned = await sent("Warn");
        expect(warned.code).toBe(201);
        expect(warned.headers["warning"]).toBe(`299 - "${line.replaceAll('"', '\\"')}"`);
        const silent = await sent("Ignore");
        expect(silent).toMatchObject({ code: 200, body: { data: { a: "2" } } });
        expect(silent.headers["warning"]).toBeUndefined();
      },
    })),
    {
      name: "a CRD whose conditions were overwritten is deleted with its objects and its API",
      async run(c) {
        const { api } = c;
        const group = `${c.unique("over")}.example.com`;
        const crd = definition("overs", "Over", { group });
        await define(api, crd);
        await made(
          api.post(c.apis(`${group}/v1`, "overs"), {
            apiVersion: `${group}/v1`,
            kind: "Over",
            metadata: { name: "a" },
            spec: { size: "big" },
          }),
        );
        const path = `${DEFINITIONS}/overs.${group}`;
        const value = [{ message: "written over" }];
        const written = await done(
          api.patch(`${path}/status`, "json", [{ op: "add", path: "/status/conditions", value }]),
        );
        const empty = { type: "", status: "", lastTransitionTime: null };
        expect(at(written, "status", "conditions")).toContainEqual({ ...empty, message: "written over" });
        await done(api.delete(path));
        await gone(api, path);
        await eventually(async () => ((await api.get(`/apis/${group}/v1`)).code === 404 ? true : undefined));
      },
    },
    {
      name: "an access review has no Table representation",
      async run({ api }) {
        const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
        const body = { spec: { nonResourceAttributes: { path: "/", verb: "get" } } };
        const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", ...body };
        refused(
          await api.post(path, review, { headers: { accept } }),
          406,
          "NotAcceptable",
          "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
        );
        const either = await made(api.post(path, review, { headers: { accept: `${accept}, application/json` } }));
        expect(either["kind"]).toBe("SelfSubjectAccessReview");
      },
    },
    {
      name: "the approval of a certificate signing request accepts conditions of any type, and keeps their transition times",
      async run({ api, unique }) {
        const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
        const name = unique("approval");
        const { request } = await createRequest({ commonName: "a" });
        const spec = {
          request: Buffer.from(request).toString("base64"),
          signerName: "example.com/a",
          usages: ["client auth"],
        };
        await made(api.post(path, { metadata: { name }, spec }));
        const approve = (conditions: readonly Json[]): Promise<Json> =>
          done(api.patch(`${path}/${name}/approval`, "merge", { status: { conditions } }));
        const since = "2020-01-01T00:00:00Z";
        const one = { type: "Checked", status: "True", reason: "a", lastTransitionTime: since };
        expect(at(await approve([one]), "status", "conditions")).toMatchObject([one]);
        const again = { type: "Checked", status: "True", reason: "b" };
        const both = await approve([again, { type: "Approved", status: "True" }]);
        expect(at(both, "status", "conditions")).toMatchObject([
          { ...again, lastTransitionTime: since },
          { type: "Approved" },
        ]);
      },
    },
    ...SCOPED.map(([what, spec, message]) => ({
      name: `a quota of ${what} is ${message === undefined ? "accepted" : "refused"}`,
      async run({ api, core }: Context) {
        const answer = await api.post(`${core("resourcequotas")}?dryRun=All`, { metadata: { name: "q" }, spec });
        if (message === undefined) expect(answer.code).toBe(201);
        else refused(answer, 422, "Invalid", `ResourceQuota "q" is invalid: ${message}`);
      },
    })),
    {
      name: "a validation of an admission policy may be a typed variable",
      async run({ api, unique }) {
        const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All";
        const rule = { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"] };
        const policy = (expression: string): Json => ({
          metadata: { name: unique("variable") },
          spec: {
            matchConstraints: { resourceRules: [rule] },
            variables: [
              { name: "replicas", expression: "object.spec.replicas" },
              { name: "odd", expression: "variables.replicas % 2 == 1" },
              { name: "count", expression: "1 + 1" },
            ],
            validations: [{ expression }],
          },
        });
        await made(api.post(path, policy("variables.odd")));
        const answer = await api.post(path, policy("variables.count"));
        refused(answer, 422, "Invalid", /"variables.count": must evaluate to bool but got int$/);
      },
    },
    {
      name: "an OpenAPI document has no empty lists",
      async run({ api }) {
        const { text } = await api.get("/openapi/v3/apis/coordination.k8s.io/v1");
        expect(text.replaceAll(/\s/g, "")).not.toMatch(/"(parameters|required|enum|tags)":\[\]/);
      },
    },
    ...HASHES.map(([path, hashes]) => ({
      name: `discovery of ${path} has the storage version hash of its kinds`,
      async run({ api }: Context) {
        const { resources } = (await done(api.get(path))) as { resources: Json[] };
        const named = resources.filter(({ name }) => String(name) in hashes);
        expect(Object.fromEntries(named.map((one) => [one["name"], one["storageVersionHash"]]))).toEqual(hashes);
      },
    })),
    {
      name: "the OpenAPI document of a custom kind describes apiVersion, kind and metadata",
      async run(c) {
        const group = `${c.unique("words")}.example.com`;
        await define(c.api, definition("words", "Word", { group }));
        const name = `${group.split(".").toReversed().join(".")}.v1.Word`;
        const word = await eventually(async () => {
          const { body } = await c.api.get(`/openapi/v3/apis/${group}/v1`);
          return at(body, "components", "schemas", name) as Json | undefined;
        });
        expect(word["description"]).toBeUndefined();
        expect(at(word, "properties", "apiVersion", "description")).toMatch(/^APIVersion defines/);
        expect(at(word, "properties", "metadata", "description")).toMatch(/^Standard object's metadata/);
      },
    },
    {
      name: "the default roles and bindings of Kubernetes exist",
      async run(c) {
        const plurals = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];
        const all = await Promise.all(plurals.map(async (plural) => [plural, ...(await brought(c, plural))]));
        expect(all).toEqual([
          ["clusterroles", 65, "538d09b26d49c941"],
          ["clusterrolebindings", 49, "0c7252c49868a50f"],
          ["roles", 7, "4d24d56fe2b8a961"],
          ["rolebindings", 7, "4035e9f1f06ed378"],
        ]);
      },
    },
  ],
};
