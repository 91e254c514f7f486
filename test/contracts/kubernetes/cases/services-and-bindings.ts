import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { at, configMap, done, invalid, made, refused } from "./shorthands.ts";

const RBAC = "rbac.authorization.k8s.io";

function service(name: string, spec: Json, more: Json = {}): Json {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec, ...more };
}

function role(name: string, rules: readonly Json[]): Json {
  return { apiVersion: `${RBAC}/v1`, kind: "Role", metadata: { name }, rules };
}

function binding(name: string, roleRef: Json, subjects: readonly Json[] = []): Json {
  return { apiVersion: `${RBAC}/v1`, kind: "RoleBinding", metadata: { name }, roleRef, subjects };
}

/** A strategic merge patch of the ConfigMap or Role "a": sentence, path below the namespace, patch, code, message. */
const PATCHES: readonly (readonly [string, Json, number, string | RegExp])[] = [
  [
    "whose retained keys are not all it has",
    { data: { $retainKeys: [], b: "2" } },
    400,
    "invalid patch format of retainKeys",
  ],
  [
    "whose primitive list has no name",
    { data: { $deleteFromPrimitiveList: ["a"] } },
    400,
    "invalid patch format of primitive list",
  ],
  [
    "that orders what is not a list",
    { "$setElementOrder/data": [{ name: "a" }] },
    500,
    /^expected a \[\]interface \{\}, but received a map\[string\]interface \{\}$/,
  ],
  [
    "that makes a list of a boolean",
    { metadata: { finalizers: true } },
    422,
    ' "" is invalid: patch: Invalid value: "map[metadata:map[finalizers:true]]": cannot restore slice from bool',
  ],
  [
    "that makes a text of a number",
    { data: { a: 7 } },
    422,
    ' "" is invalid: patch: Invalid value: "map[data:map[a:7]]": cannot convert int64 to string',
  ],
  [
    "that makes a text of an object",
    { data: { a: { b: "c" } } },
    422,
    ' "" is invalid: patch: Invalid value: "map[data:map[a:map[b:c]]]": unrecognized type: string',
  ],
  [
    "that makes an object of a text",
    { metadata: "a" },
    422,
    ' "" is invalid: patch: Invalid value: "map[metadata:a]": cannot restore struct from: string',
  ],
];

/** A Service that is refused: sentence, spec, causes. */
const SERVICES: readonly (readonly [string, Json, readonly string[]])[] = [
  [
    "of type NodePort that says how load balancers get ports",
    { type: "NodePort", ports: [{ port: 80 }], allocateLoadBalancerNodePorts: false },
    ["spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'"],
  ],
  [
    "whose external address is none",
    { ports: [{ port: 80 }], externalIPs: ["a/b"] },
    ['spec.externalIPs[0]: Invalid value: "a/b": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    "whose external address is every machine's own",
    { ports: [{ port: 80 }], externalIPs: ["127.0.0.1"] },
    ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  [
    "that is not reachable from outside, with an external traffic policy",
    { ports: [{ port: 80 }], externalTrafficPolicy: "Local" },
    ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
  ],
  [
    "with an invalid address and an invalid port: only the address is reported",
    { ports: [{ port: 0 }], clusterIP: "x" },
    ['spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
];

const ROLE_REF = { apiGroup: RBAC, kind: "Role", name: "a" };

/** A RoleBinding that is refused: sentence, role, subjects, causes. */
const BINDINGS: readonly (readonly [string, Json, readonly Json[], readonly string[]])[] = [
  [
    "to a role of another group",
    { ...ROLE_REF, apiGroup: "other" },
    [],
    [`roleRef.apiGroup: Unsupported value: "other": supported values: "${RBAC}"`],
  ],
  [
    "of a user of another group",
    ROLE_REF,
    [{ kind: "User", name: "u", apiGroup: "0" }],
    [`subjects[0].apiGroup: Unsupported value: "0": supported values: "${RBAC}"`],
  ],
  [
    "to a role whose name is a path",
    { ...ROLE_REF, name: "a/b" },
    [],
    ["roleRef.name: Invalid value: \"a/b\": may not contain '/'"],
  ],
];

async function patched(context: Context, patch: Json) {
  const { api, core } = context;
  await made(api.post(core("configmaps"), configMap("a", { data: { a: "1" } })));
  return api.patch(core("configmaps", "a"), "strategic", patch);
}

/** What random operations on both servers (differential/, profile general) found to differ, each once. */
export const servicesAndBindings: CaseGroup = {
  title: "strategic merge patches, Services and bindings",
  cases: [
    ...PATCHES.map(([sentence, patch, code, message]) => ({
      name: `a strategic merge patch ${sentence} is refused`,
      async run(context: Context) {
        const { code: answered, body } = await patched(context, patch);
        const expected = typeof message === "string" ? message : expect.stringMatching(message);
        expect({ code: answered, message: body["message"] }).toEqual({ code, message: expected });
      },
    })),
    ...SERVICES.map(([sentence, spec, causes]) => ({
      name: `a Service ${sentence}, is refused`,
      async run({ api, core }: Context) {
        invalid(await api.post(core("services"), service("a", spec)), ...causes);
      },
    })),
    ...BINDINGS.map(([sentence, roleRef, subjects, causes]) => ({
      name: `a binding ${sentence} is refused`,
      async run({ api, apis }: Context) {
        invalid(await api.post(apis(`${RBAC}/v1`, "rolebindings"), binding("a", roleRef, subjects)), ...causes);
      },
    })),
    {
      name: "a directive in an item of an atomic list is an unknown field with a warning",
      async run({ api, apis }) {
        const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
        await made(api.post(apis(`${RBAC}/v1`, "roles"), role("a", rules)));
        const patch = { rules: [{ ...rules[0], $patch: "merge" }] };
        const answer = await api.patch(apis(`${RBAC}/v1`, "roles", "a"), "strategic", patch);
        expect(answer.code).toBe(200);
        expect(answer.headers["warning"]).toBe('299 - "unknown field \\"rules[0].$patch\\""');
      },
    },
    {
      name: "a strategic merge patch that creates a list leaves out items with a delete directive",
      async run(context) {
        const patch = { metadata: { ownerReferences: [{ $patch: "delete" }], finalizers: ["example.com/a"] } };
        const { code, body } = await patched(context, patch);
        expect({ code, metadata: body["metadata"] }).toMatchObject({
          code: 200,
          metadata: { finalizers: ["example.com/a"] },
        });
        expect(body["metadata"]).not.toHaveProperty("ownerReferences");
      },
    },
    {
      name: "a JSON patch that makes an array of metadata is rejected with the decoder's message",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a")));
        const answer = await api.patch(core("configmaps", "a"), "json", [
          { op: "replace", path: "/metadata", value: [] },
        ]);
        expect(answer.code).toBe(422);
        expect(answer.body["message"]).toMatch(
          /^ "" is invalid: patch: Invalid value: .*: json: cannot unmarshal array into Go struct field ConfigMap\.metadata of type/,
        );
        expect(at(answer.body, "details")).not.toHaveProperty("kind");
      },
    },
    {
      name: "a Service with externalIPs gets externalTrafficPolicy Cluster",
      async run({ api, core }) {
        const body = await made(
          api.post(core("services"), service("a", { ports: [{ port: 80 }], externalIPs: ["192.0.2.1"] })),
        );
        expect(body["spec"]).toMatchObject({ type: "ClusterIP", externalTrafficPolicy: "Cluster" });
      },
    },
    {
      name: "a Service with an ignored externalName gets a warning",
      async run({ api, core }) {
        const spec = { ports: [{ port: 80 }], externalName: "example.com" };
        const answer = await api.post(core("services"), service("a", spec));
        expect(answer.code).toBe(201);
        expect(answer.headers["warning"]).toBe(
          '299 - "spec.externalName is ignored when spec.type is not \\"ExternalName\\""',
        );
      },
    },
    {
      name: "duplicate ports of a NodePort Service are rejected with their node ports",
      async run({ api, core }) {
        const ports = [
          { name: "a", port: 80 },
          { name: "b", port: 80 },
        ];
        const { code, body } = await api.post(core("services"), service("a", { type: "NodePort", ports }));
        const causes = (at(body, "details", "causes") as Json[]).map(
          (c) => `${String(c["field"])} ${String(c["reason"])}`,
        );
        expect({ code, causes: causes.toSorted() }).toEqual({
          code: 422,
          causes: ["spec.ports[1] FieldValueDuplicate", "spec.ports[1].nodePort FieldValueDuplicate"],
        });
      },
    },
    {
      name: "an updated port of a Service keeps the node port of its name",
      async run({ api, core }) {
        const spec = (port: number): Json => ({ type: "NodePort", ports: [{ name: "web", port }] });
        const first = await made(api.post(core("services"), service("a", spec(80))));
        const second = await done(api.put(core("services", "a"), service("a", spec(81))));
        expect(at(second, "spec", "ports", 0, "nodePort")).toBe(at(first, "spec", "ports", 0, "nodePort"));
      },
    },
    {
      name: "a PUT of the status of a Service that does not exist creates one without a clusterIP",
      async run({ api, core }) {
        const body = await made(api.put(core("services", "a/status"), service("a", { ports: [{ port: 80 }] })));
        expect(body["spec"]).not.toHaveProperty("clusterIP");
        expect(body["status"]).toEqual({ loadBalancer: {} });
      },
    },
    {
      name: "status.loadBalancer.ingress of a Service that is not of type LoadBalancer is rejected",
      async run({ api, core }) {
        await made(api.post(core("services"), service("a", { ports: [{ port: 80 }] })));
        const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
        const answer = await api.patch(core("services", "a/status"), "merge", { status });
        invalid(answer, "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'");
      },
    },
    {
      name: "removing a binding's roleRef is rejected with the default API group in the message",
      async run({ api, apis }) {
        const path = apis(`${RBAC}/v1`, "rolebindings");
        await made(api.post(path, binding("a", ROLE_REF)));
        const answer = await api.patch(`${path}/a`, "merge", { roleRef: null });
        expect(answer.code).toBe(422);
        expect(answer.body["message"]).toContain(
          `roleRef: Invalid value: {"APIGroup":"${RBAC}","Kind":"","Name":""}: cannot change roleRef`,
        );
      },
    },
    {
      name: "a PUT with a uid creates no object",
      async run({ api, apis }) {
        const body = { ...role("a", []), metadata: { name: "a", uid: "0b5c0f0e-0000-4000-8000-000000000000" } };
        const answer = await api.put(apis(`${RBAC}/v1`, "roles", "a"), body);
        refused(
          answer,
          409,
          "Conflict",
          /Precondition failed: UID in precondition: 0b5c0f0e-0000-4000-8000-000000000000, UID in object meta: $/,
        );
      },
    },
    {
      name: "a Node with duplicate taints is rejected",
      async run({ api, unique }) {
        const taint = { key: "k", value: "v", effect: "NoSchedule" };
        const node = {
          apiVersion: "v1",
          kind: "Node",
          metadata: { name: unique("taints") },
          spec: { taints: [taint, taint] },
        };
        invalid(
          await api.post("/api/v1/nodes", node),
          'metadata.taints[1]: Duplicate value: {"Key":"k","Value":"v","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
        );
      },
    },
    {
      name: "deleting a namespace with the uid of another one is a 409 with both uids",
      async run({ api, namespace }) {
        const uid = "0b5c0f0e-0000-4000-8000-000000000000";
        const options = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid } };
        const answer = await api.delete(`/api/v1/namespaces/${namespace}`, options);
        refused(
          answer,
          409,
          "Conflict",
          new RegExp(
            `^Operation cannot be fulfilled on namespaces "${namespace}": Precondition failed: UID in precondition: ${uid}, UID in object meta: `,
          ),
        );
      },
    },
    {
      name: "a deletion with propagationPolicy and orphanDependents is rejected with the causes of both",
      async run({ api, core }) {
        const options = {
          apiVersion: "v1",
          kind: "DeleteOptions",
          propagationPolicy: "Sideways",
          orphanDependents: false,
        };
        invalid(
          await api.delete(core("configmaps", "a"), options),
          'propagationPolicy: Invalid value: "Sideways": orphanDependents and deletionPropagation cannot be both set',
          'propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
        );
      },
    },
    {
      name: "an invalid time is quoted in the message byte by byte",
      async run({ api, apis }) {
        const lease = {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { name: "a" },
          spec: { renewTime: "ü" },
        };
        const answer = await api.post(apis("coordination.k8s.io/v1", "leases"), lease);
        refused(answer, 400, "BadRequest", /parsing time "\\xc3\\xbc" as /);
      },
    },
  ],
};
