import type { Answer, CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { configMap, refused } from "./shorthands.ts";

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  spec: { containers: [{ name: "c", image: "i" }] },
};

function node(name: string, more: Json): Json {
  return { apiVersion: "v1", kind: "Node", metadata: { name }, ...more };
}

const WRONG_TYPES: readonly (readonly [string, (c: Context) => Promise<Answer>, RegExp])[] = [
  [
    "a number in a ConfigMap's data",
    (c) => c.api.post(c.core("configmaps"), configMap("a", { data: { a: 1 } })),
    /^ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
  ],
  [
    "a label that is a boolean",
    (c) => c.api.post(c.core("configmaps"), configMap("a", { metadata: { labels: { a: true } } })),
    /^ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal bool into Go struct field ObjectMeta\.metadata\.labels of type string$/,
  ],
  [
    "a Secret's data that is a list",
    (c) => c.api.post(c.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, data: [] }),
    /^Secret in version "v1" cannot be handled as a Secret: json: cannot unmarshal array into Go struct field Secret\.data of type map\[string\]\[\]uint8$/,
  ],
  [
    "a Secret's value that is not base64",
    (c) =>
      c.api.post(c.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, data: { a: "%" } }),
    /^Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0$/,
  ],
  [
    "a Deployment's replicas as text",
    (c) =>
      c.api.post(c.apis("apps/v1", "deployments"), {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "a" },
        spec: { replicas: "3", selector: { matchLabels: { a: "b" } }, template: {} },
      }),
    /^Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec\.spec\.replicas of type int32$/,
  ],
  [
    "a Service's ports as a map",
    (c) =>
      c.api.post(c.core("services"), {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "a" },
        spec: { ports: { port: 80 } },
      }),
    /^Service in version "v1" cannot be handled as a Service: json: cannot unmarshal object into Go struct field ServiceSpec\.spec\.ports of type \[\]v1\.ServicePort$/,
  ],
  [
    "a port that is text",
    (c) =>
      c.api.post(c.core("services"), {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "a" },
        spec: { ports: [{ port: "80" }] },
      }),
    /^Service in version "v1" cannot be handled as a Service: json: cannot unmarshal string into Go struct field ServicePort\.spec\.ports\.port of type int32$/,
  ],
  [
    "a port that is not a whole number",
    (c) =>
      c.api.post(c.core("services"), {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "a" },
        spec: { ports: [{ port: 80.5 }] },
      }),
    /cannot unmarshal number 80\.5 into Go struct field ServicePort\.spec\.ports\.port of type int32$/,
  ],
  [
    "a Pod's containers as an object",
    (c) => c.api.post(c.core("pods"), { ...POD, spec: { containers: {} } }),
    /^Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal object into Go struct field PodSpec\.spec\.containers of type \[\]v1\.Container$/,
  ],
  [
    "an image that is a number",
    (c) => c.api.post(c.core("pods"), { ...POD, spec: { containers: [{ name: "c", image: 5 }] } }),
    /^Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field Container\.spec\.containers\.image of type string$/,
  ],
  [
    "hostNetwork as text",
    (c) => c.api.post(c.core("pods"), { ...POD, spec: { ...POD.spec, hostNetwork: "true" } }),
    /^Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct field PodSpec\.spec\.hostNetwork of type bool$/,
  ],
  [
    "a spec that is text",
    (c) => c.api.post(c.core("pods"), { ...POD, spec: "none" }),
    /^Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct field Pod\.spec of type v1\.PodSpec$/,
  ],
  [
    "a time that is none",
    (c) =>
      c.api.post(c.apis("coordination.k8s.io/v1", "leases"), {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "a" },
        spec: { renewTime: "yesterday" },
      }),
    /^Lease in version "v1" cannot be handled as a Lease: parsing time "yesterday" as "2006-01-02T15:04:05\.000000Z07:00": cannot parse "yesterday" as "2006"$/,
  ],
  [
    "a quantity that is none",
    (c) => c.api.post("/api/v1/nodes", node(c.unique("n"), { status: { capacity: { cpu: "much" } } })),
    /^Node in version "v1" cannot be handled as a Node: quantities must match the regular expression '\^\(\[\+-\]\?\[0-9\.\]\+\)\(\[eEinumkKMGTP\]\*\[-\+\]\?\[0-9\]\*\)\$'$/,
  ],
  [
    "finalizers that are text",
    (c) => c.api.post(c.core("configmaps"), configMap("a", { metadata: { finalizers: "a/b" } })),
    /^ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ObjectMeta\.metadata\.finalizers of type \[\]string$/,
  ],
  [
    "metadata that is a list",
    (c) => c.api.post(c.core("configmaps"), { apiVersion: "v1", kind: "ConfigMap", metadata: [] }),
    /cannot unmarshal array into Go struct field ConfigMap\.metadata of type v1\.ObjectMeta$/,
  ],
  [
    "rules of a Role as text",
    (c) =>
      c.api.post(c.apis("rbac.authorization.k8s.io/v1", "roles"), {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: "a" },
        rules: [{ verbs: "get" }],
      }),
    /^Role in version "v1" cannot be handled as a Role: json: cannot unmarshal string into Go struct field PolicyRule\.rules\.verbs of type \[\]string$/,
  ],
];

export const wrongTypes: CaseGroup = {
  title: "fields of the wrong type",
  cases: WRONG_TYPES.map(([what, ask, message]): ContractCase => ({
    name: `${what} is 400, in the decoder's words`,
    async run(context) {
      refused(await ask(context), 400, "BadRequest", message);
    },
  })),
};
