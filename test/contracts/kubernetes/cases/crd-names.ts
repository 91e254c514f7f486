import { expect } from "vitest";
import type { CaseGroup, ContractCase, Json, Raw } from "../interface.ts";
import { define, definition, DEFINITIONS } from "./custom-resource.ts";
import { at, causesOf, done, eventually, gone } from "./shorthands.ts";

function conditionsOf(body: Json): Record<string, Json> {
  const conditions = (at(body, "status", "conditions") ?? []) as Json[];
  return Object.fromEntries(conditions.map((c) => [c["type"], c]));
}

/** The CRD once its names have been checked. */
function judged(api: Raw, name: string): Promise<Json> {
  return eventually(async () => {
    const { body } = await api.get(`${DEFINITIONS}/${name}`);
    return conditionsOf(body)["NamesAccepted"] ? body : undefined;
  }, "the judgement of names");
}

const column = (more: Json): Json => ({
  additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: ".spec", ...more }],
});
const scale = (more: Json): Json => ({
  subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", ...more } },
});
const selectable = (...paths: string[]): Json => ({ selectableFields: paths.map((jsonPath) => ({ jsonPath })) });
const SCHEMA = {
  type: "object",
  properties: {
    metadata: { type: "object", properties: { name: { type: "string" } } },
    spec: {
      type: "object",
      properties: { a: { type: "string" }, n: { type: "number" }, l: { type: "array", items: { type: "string" } } },
    },
  },
};

/** What, the spec or its only version, and the causes. */
const REFUSED: readonly (readonly [string, { spec?: Json; version?: Json }, readonly string[]])[] = [
  [
    "a group without a dot",
    { spec: { group: "contract" } },
    ['spec.group: Invalid value: "contract": should be a domain with at least one dot'],
  ],
  [
    "another scope",
    { spec: { scope: "World" } },
    ['spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'],
  ],
  [
    "the same kind and list kind",
    { spec: { names: { plural: "namings", kind: "Naming", listKind: "Naming" } } },
    ['spec.names.listKind: Invalid value: "Naming": kind and listKind may not be the same'],
  ],
  [
    "a short name in capitals",
    { spec: { names: { plural: "namings", kind: "Naming", shortNames: ["NM"] } } },
    [
      `spec.names.shortNames[0]: Invalid value: "NM": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
    ],
  ],
  [
    "a kind with an underscore",
    { spec: { names: { plural: "namings", kind: "Na_ming", singular: "naming" } } },
    [
      `spec.names.kind: Invalid value: "Na_ming": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
      `spec.names.listKind: Invalid value: "Na_mingList": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
    ],
  ],
  [
    "a warning for a version that is not deprecated",
    { version: { deprecationWarning: "soon" } },
    ['spec.versions[0].deprecationWarning: Invalid value: "soon": can only be set for deprecated versions'],
  ],
  [
    "a column of another type",
    { version: column({ type: "colour" }) },
    [
      'spec.additionalPrinterColumns[0].type: Invalid value: "colour": must be one of boolean,date,integer,number,string',
    ],
  ],
  [
    "a column of another format",
    { version: column({ format: "loud" }) },
    [
      'spec.additionalPrinterColumns[0].format: Invalid value: "loud": must be one of byte,date,date-time,double,float,int32,int64,password',
    ],
  ],
  [
    "a column whose path does not start with a dot",
    { version: column({ jsonPath: "spec" }) },
    ['spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .'],
  ],
  [
    "a scale that is not of the spec",
    { version: scale({ specReplicasPath: ".status.replicas" }) },
    ['spec.subresources.scale.specReplicasPath: Invalid value: ".status.replicas": should be a json path under .spec'],
  ],
  [
    "a scale's selector elsewhere",
    { version: scale({ labelSelectorPath: ".metadata.labels" }) },
    [
      'spec.subresources.scale.labelSelectorPath: Invalid value: ".metadata.labels": should be a json path under either .spec or .status',
    ],
  ],
  [
    "a selectable field that is not there",
    { version: selectable(".spec.b") },
    [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.b": is an invalid path: does not refer to a valid field',
    ],
  ],
  [
    "a selectable field without a schema",
    { version: { ...selectable(".spec.b"), schema: null } },
    [
      "spec.versions[0].schema.openAPIV3Schema: Required value",
      'spec.selectableFields: Invalid value: "": may only be set when validations.schema is included',
    ],
  ],
  [
    "a selectable field in brackets",
    { version: selectable(".spec['a']") },
    [
      `spec.selectableFields[0].jsonPath: Invalid value: ".spec['a']": is an invalid path: array notation is not allowed`,
    ],
  ],
  [
    "a selectable list",
    { version: selectable(".spec.l") },
    [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.l": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
    ],
  ],
  [
    "selectable metadata",
    { version: selectable(".metadata.name") },
    ['spec.selectableFields[0].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata'],
  ],
  [
    "a selectable field twice",
    { version: selectable(".spec.a", ".spec.a") },
    ['spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"'],
  ],
  [
    "unknown fields kept in the old way",
    { spec: { preserveUnknownFields: true } },
    [
      "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ],
  ],
  [
    "a group of the community without its approval",
    { spec: { group: "naming.k8s.io" } },
    [
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  ],
];

export const crdNames: CaseGroup = {
  title: "names and fields of CRDs",
  cases: [
    ...REFUSED.map(([what, { spec = {}, version = {} }, causes]): ContractCase => ({
      name: `a CRD is refused: ${what}`,
      async run({ api }) {
        const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA }, ...version }];
        const answer = await api.post(DEFINITIONS, definition("namings", "Naming", { versions, ...spec }));
        expect({ code: answer.code, causes: causesOf(answer) }).toEqual({ code: 422, causes });
      },
    })),
    {
      name: "a kind that another CRD has is not accepted, and is when it is free",
      async run(c) {
        const group = `${c.unique("names")}.example.com`;
        await define(c.api, definition("firsts", "First", { group }));
        const names = { plural: "seconds", kind: "First", singular: "second" };
        expect((await c.api.post(DEFINITIONS, definition("seconds", "First", { group, names }))).code).toBe(201);
        const waiting = await judged(c.api, `seconds.${group}`);
        const { NamesAccepted: refusedNames, Established: established } = conditionsOf(waiting);
        expect(refusedNames).toMatchObject({
          status: "False",
          reason: "ListKindConflict",
          message: '"FirstList" is already in use',
        });
        expect(established).toMatchObject({
          status: "False",
          reason: "NotAccepted",
          message: "not all names are accepted",
        });
        expect(at(waiting, "status", "acceptedNames")).toEqual({ plural: "seconds", singular: "second", kind: "" });
        expect((await c.api.get(`/apis/${group}/v1/seconds`)).code).toBe(404);
        await done(c.api.delete(`${DEFINITIONS}/firsts.${group}`));
        await gone(c.api, `${DEFINITIONS}/firsts.${group}`);
        await eventually(
          async () => ((await c.api.get(`/apis/${group}/v1/seconds`)).code === 200 ? true : undefined),
          "the second kind",
        );
      },
    },
    {
      name: "a short name that another CRD has is not copied with it",
      async run(c) {
        const group = `${c.unique("names")}.example.com`;
        await define(
          c.api,
          definition("firsts", "First", { group, names: { plural: "firsts", kind: "First", shortNames: ["fs"] } }),
        );
        await define(c.api, definition("seconds", "Second", { group }));
        const crd = `${DEFINITIONS}/seconds.${group}`;
        await done(c.api.patch(crd, "merge", { spec: { names: { shortNames: ["fs"] } } }));
        const body = await eventually(async () => {
          const answer = await c.api.get(crd);
          return conditionsOf(answer.body)["NamesAccepted"]?.["status"] === "False" ? answer.body : undefined;
        }, "the refusal of the short name");
        expect(conditionsOf(body)["NamesAccepted"]).toMatchObject({
          reason: "ShortNamesConflict",
          message: '"fs" is already in use',
        });
        expect(conditionsOf(body)["Established"]).toMatchObject({ status: "True" });
        expect(at(body, "status", "acceptedNames", "shortNames")).toBeUndefined();
        await eventually(
          async () => ((await c.api.get(`/apis/${group}/v1/seconds`)).code === 200 ? true : undefined),
          "the second kind",
        );
      },
    },
    {
      name: "a CRD in a *.k8s.io group has condition KubernetesAPIApprovalPolicyConformant",
      async run(c) {
        const group = `${c.unique("approved")}.k8s.io`;
        const manifest = definition("approvals", "Approval", { group });
        const annotations = { "api-approved.kubernetes.io": "unapproved, experimental" };
        await c.api.post(DEFINITIONS, { ...manifest, metadata: { ...(manifest["metadata"] as Json), annotations } });
        const body = await eventually(async () => {
          const answer = await c.api.get(`${DEFINITIONS}/approvals.${group}`);
          return conditionsOf(answer.body)["KubernetesAPIApprovalPolicyConformant"] ? answer.body : undefined;
        }, "the condition");
        expect(conditionsOf(body)["KubernetesAPIApprovalPolicyConformant"]).toMatchObject({
          status: "False",
          reason: "UnapprovedAnnotation",
          message: 'not approved: "unapproved, experimental"',
        });
      },
    },
    {
      name: "a CRD whose objects are held says that it is terminating",
      async run(c) {
        const group = `${c.unique("held")}.example.com`;
        await define(c.api, definition("helds", "Held", { group }));
        const path = c.apis(`${group}/v1`, "helds");
        const metadata = { name: "a", finalizers: ["example.com/hold"] };
        await c.api.post(path, { apiVersion: `${group}/v1`, kind: "Held", metadata, spec: { size: "small" } });
        await done(c.api.delete(`${DEFINITIONS}/helds.${group}`));
        // A real server says at first that it is about to: InstanceDeletionPending.
        await eventually(async () => {
          const answer = await c.api.get(`${DEFINITIONS}/helds.${group}`);
          const terminating = conditionsOf(answer.body)["Terminating"] as
            | { status?: string; reason?: string }
            | undefined;
          return terminating?.status === "True" && terminating.reason === "InstanceDeletionInProgress"
            ? true
            : undefined;
        }, "the condition");
        await done(c.api.patch(`${path}/a`, "merge", { metadata: { finalizers: null } }));
        await gone(c.api, `${path}/a`);
      },
    },
  ],
};
