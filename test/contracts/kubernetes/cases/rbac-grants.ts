import { expect } from "vitest";
import type { Answer, CaseGroup, Context, Json, Raw } from "../interface.ts";
import { at, done, eventually, made, refused } from "./shorthands.ts";

const GROUP = "rbac.authorization.k8s.io";
const API = `/apis/${GROUP}/v1`;

function role(kind: "Role" | "ClusterRole", name: string, rules: readonly Json[], more: Json = {}): Json {
  return { apiVersion: `${GROUP}/v1`, kind, metadata: { name }, rules, ...more };
}

interface BindingSpec {
  readonly to: string;
  readonly toKind?: string;
  readonly user?: string;
}

function binding(
  kind: "RoleBinding" | "ClusterRoleBinding",
  name: string,
  { to, toKind, user = "joe" }: BindingSpec,
): Json {
  return {
    apiVersion: `${GROUP}/v1`,
    kind,
    metadata: { name },
    roleRef: { apiGroup: GROUP, kind: toKind ?? "ClusterRole", name: to },
    subjects: [{ kind: "User", name: user, apiGroup: GROUP }],
  };
}

interface Granter {
  readonly name: string;
  readonly raw: Raw;
}

/** A user who may write roles and bindings everywhere, and what else is given; known to the server. */
async function granter(c: Context, rules: readonly Json[] = []): Promise<Granter> {
  const name = c.unique("granter");
  const all = ["roles", "rolebindings", "clusterroles", "clusterrolebindings"];
  const verbs = ["create", "get", "update", "patch", "delete"];
  const write = { apiGroups: [GROUP], resources: all, verbs };
  await made(c.api.post(`${API}/clusterroles`, role("ClusterRole", name, [write, ...rules])));
  await made(c.api.post(`${API}/clusterrolebindings`, binding("ClusterRoleBinding", name, { to: name, user: name })));
  const raw = await c.as({ user: name, groups: ["dev"] });
  await eventually(async () => (await raw.get(`${API}/clusterroles/${name}`)).code === 200);
  return { name, raw };
}

/** kube-apiserver's authorizer sees rules a moment after they are written. */
function soon(probe: () => Promise<Answer>, code: number): Promise<Answer> {
  return eventually(async () => {
    const answer = await probe();
    return answer.code === code && answer;
  }, `an answer ${code}`);
}

function grantRefused(answer: Answer, subject: string, { name }: Granter, rules: string): void {
  const who = `user "${name}" (groups=["dev" "system:authenticated"])`;
  const why = `is attempting to grant RBAC permissions not currently held:\n${rules}`;
  refused(answer, 403, "Forbidden", `${subject} is forbidden: ${who} ${why}`);
}

const SECRETS = { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list"] };

/** What the granter holds, what is wanted, and what of it the refusal names; undefined where it is granted. */
const COVERS: readonly (readonly [string, Json, Json, string | undefined])[] = [
  ["the same rule", SECRETS, SECRETS, undefined],
  [
    "a verb more",
    SECRETS,
    { ...SECRETS, verbs: ["get", "update", "delete"] },
    '{APIGroups:[""], Resources:["secrets"], Verbs:["update" "delete"]}',
  ],
  ["a verb of all verbs", { ...SECRETS, verbs: ["*"] }, SECRETS, undefined],
  ["all verbs", SECRETS, { ...SECRETS, verbs: ["*"] }, '{APIGroups:[""], Resources:["secrets"], Verbs:["*"]}'],
  ["a group of all groups", { ...SECRETS, apiGroups: ["*"] }, { ...SECRETS, apiGroups: ["", "apps"] }, undefined],
  [
    "another group",
    SECRETS,
    { ...SECRETS, apiGroups: ["apps"], verbs: ["get"] },
    '{APIGroups:["apps"], Resources:["secrets"], Verbs:["get"]}',
  ],
  [
    "a resource of all resources",
    { ...SECRETS, resources: ["*"] },
    { ...SECRETS, resources: ["pods", "pods/log", "*/scale"] },
    undefined,
  ],
  [
    "a subresource of all of that name",
    { ...SECRETS, resources: ["*/scale"] },
    { ...SECRETS, resources: ["x/scale"] },
    undefined,
  ],
  [
    "a resource whose subresource is held",
    { ...SECRETS, resources: ["pods/log"] },
    { ...SECRETS, resources: ["pods"], verbs: ["get"] },
    '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
  ],
  [
    "a subresource whose resource is held",
    { ...SECRETS, resources: ["pods"] },
    { ...SECRETS, resources: ["pods/log"], verbs: ["get"] },
    '{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}',
  ],
  ["one name of all names", SECRETS, { ...SECRETS, resourceNames: ["a"] }, undefined],
  [
    "all names where one is held",
    { ...SECRETS, resourceNames: ["a"] },
    { ...SECRETS, verbs: ["get"] },
    '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
  ],
  [
    "another name",
    { ...SECRETS, resourceNames: ["a"] },
    { ...SECRETS, resourceNames: ["a", "b"] },
    '{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get" "list"]}',
  ],
  [
    "a path below a pattern",
    { nonResourceURLs: ["/a/*"], verbs: ["get"] },
    { nonResourceURLs: ["/a/b", "/a/b/*"], verbs: ["get"] },
    undefined,
  ],
  [
    "a path next to a pattern",
    { nonResourceURLs: ["/a/*"], verbs: ["get"] },
    { nonResourceURLs: ["/a", "/b"], verbs: ["get"] },
    '{NonResourceURLs:["/a"], Verbs:["get"]}\n{NonResourceURLs:["/b"], Verbs:["get"]}',
  ],
];

export const rbacGrants: CaseGroup = {
  title: "RBAC: granting rights that the user does not have",
  cases: [
    ...COVERS.map(([what, held, wanted, missing]) => ({
      name: `a role with ${what} is ${missing === undefined ? "granted" : "refused with what is missing"}`,
      async run(c: Context) {
        const one = await granter(c, [held]);
        const probe = () => one.raw.post(`${API}/clusterroles`, role("ClusterRole", c.unique("wanted"), [wanted]));
        if (missing === undefined) expect((await probe()).body["message"]).toBeUndefined();
        else grantRefused(await probe(), `clusterroles.${GROUP} "${c.unique("wanted")}"`, one, missing);
      },
    })),
    ...(["RoleBinding", "ClusterRoleBinding"] as const).map((kind) => ({
      name: `a ${kind} to a missing role is 404 without the verb bind`,
      async run(c: Context) {
        const one = await granter(c);
        const path = kind === "RoleBinding" ? c.apis(`${GROUP}/v1`, "rolebindings") : `${API}/clusterrolebindings`;
        const answer = await one.raw.post(path, binding(kind, c.unique("early"), { to: c.unique("later") }));
        refused(answer, 404, "NotFound", `${kind.toLowerCase()}s.${GROUP} "${c.unique("later")}" not found`);
      },
    })),
    {
      name: "a RoleBinding to a missing Role is 404 without the verb bind",
      async run(c) {
        const one = await granter(c);
        const path = c.apis(`${GROUP}/v1`, "rolebindings");
        const answer = await one.raw.post(path, binding("RoleBinding", "early", { to: "later", toKind: "Role" }));
        refused(answer, 404, "NotFound", `rolebindings.${GROUP} "later" not found`);
      },
    },
    {
      name: "a binding to a missing role is accepted with the verb bind on that name",
      async run(c) {
        const to = c.unique("later");
        const bind = { apiGroups: [GROUP], resources: ["clusterroles"], resourceNames: [to], verbs: ["bind"] };
        const one = await granter(c, [bind]);
        const path = `${API}/clusterrolebindings`;
        await made(one.raw.post(path, binding("ClusterRoleBinding", c.unique("early"), { to })));
        const other = await one.raw.post(path, binding("ClusterRoleBinding", c.unique("x"), { to: c.unique("other") }));
        refused(other, 404, "NotFound", `clusterrolebindings.${GROUP} "${c.unique("other")}" not found`);
      },
    },
    {
      name: "a binding whose role was removed is not changed without the verb bind",
      async run(c) {
        const one = await granter(c);
        const path = c.apis(`${GROUP}/v1`, "rolebindings");
        await made(c.api.post(path, binding("RoleBinding", "orphan", { to: "removed", toKind: "Role" })));
        const answer = await one.raw.patch(`${path}/orphan`, "merge", { metadata: { labels: { a: "b" } } });
        refused(answer, 404, "NotFound", `rolebindings.${GROUP} "removed" not found`);
      },
    },
    {
      name: "labels of a role that gives more than one has are not changed, its finalizers are",
      async run(c) {
        const one = await granter(c);
        const path = c.apis(`${GROUP}/v1`, "roles");
        await made(c.api.post(path, role("Role", "big", [SECRETS])));
        const finalizers = { metadata: { finalizers: ["example.com/a"] } };
        await done(one.raw.patch(`${path}/big`, "merge", finalizers));
        await done(one.raw.patch(`${path}/big`, "merge", { metadata: { finalizers: null } }));
        grantRefused(
          await one.raw.patch(`${path}/big`, "merge", { metadata: { labels: { a: "b" } } }),
          `roles.${GROUP} "big"`,
          one,
          '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
        );
      },
    },
    {
      name: "the verb escalate on one name lets that role be changed and does not let it be created",
      async run(c) {
        const name = c.unique("grown");
        const escalate = {
          apiGroups: [GROUP],
          resources: ["clusterroles"],
          resourceNames: [name],
          verbs: ["escalate"],
        };
        const one = await granter(c, [escalate]);
        const path = `${API}/clusterroles`;
        grantRefused(
          await one.raw.post(path, role("ClusterRole", name, [SECRETS])),
          `clusterroles.${GROUP} "${name}"`,
          one,
          '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
        );
        await made(c.api.post(path, role("ClusterRole", name, [])));
        await done(one.raw.patch(`${path}/${name}`, "merge", { rules: [SECRETS] }));
      },
    },
    {
      name: "only who may do everything gathers roles",
      async run(c) {
        const one = await granter(c);
        const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: c.unique("b") } }] };
        const name = c.unique("gathered");
        const why = "must have cluster-admin privileges to use the aggregationRule";
        const wanted = role("ClusterRole", name, [], { aggregationRule });
        refused(
          await one.raw.post(`${API}/clusterroles`, wanted),
          403,
          "Forbidden",
          `clusterroles.${GROUP} "${name}" is forbidden: ${why}`,
        );
        await made(c.api.post(`${API}/clusterroles`, wanted));
        refused(
          await one.raw.patch(`${API}/clusterroles/${name}`, "merge", { aggregationRule: null }),
          403,
          "Forbidden",
          `clusterroles.${GROUP} "${name}" is forbidden: ${why}`,
        );
      },
    },
    {
      name: "a refusal names the missing roles that the user is bound to",
      async run(c) {
        const one = await granter(c);
        const gone = c.unique("gone");
        const bindings = c.apis(`${GROUP}/v1`, "rolebindings");
        await made(c.api.post(bindings, binding("RoleBinding", "a", { to: gone, user: one.name })));
        const says = `"${gone}" not found`;
        const answer = await eventually(async () => {
          const found = await one.raw.get(c.core("secrets"));
          return String(found.body["message"]).includes("RBAC") && found;
        });
        const what = `secrets is forbidden: User "${one.name}" cannot list resource "secrets" in API group "" in the namespace "${c.namespace}"`;
        refused(answer, 403, "Forbidden", `${what}: RBAC: clusterrole.${GROUP} ${says}`);
        await made(c.api.post(bindings, binding("RoleBinding", "b", { to: "none", toKind: "Role", user: one.name })));
        // kube-apiserver reads bindings from the index of an informer, which has no order.
        const inAnyOrder = (kind: string): readonly string[] => {
          const [a, b] = [`${kind}.${GROUP} ${says}`, `role${kind.endsWith("s") ? "s" : ""}.${GROUP} "none" not found`];
          return [`[${a}, ${b}]`, `[${b}, ${a}]`];
        };
        const both = inAnyOrder("clusterrole");
        await eventually(async () => {
          const { body } = await one.raw.get(c.core("secrets"));
          return both.some((list) => body["message"] === `${what}: RBAC: ${list}`);
        });
        const roles = c.apis(`${GROUP}/v1`, "roles");
        const answered = await one.raw.post(roles, role("Role", "big", [{ ...SECRETS, verbs: ["get"] }]));
        const lacks = `\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}; resolution errors: `;
        const ends = inAnyOrder("roles").map((list) => `${lacks}[${list}]`);
        expect(ends.filter((end) => String(answered.body["message"]).includes(end))).toHaveLength(1);
        const review = {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SelfSubjectRulesReview",
          spec: { namespace: c.namespace },
        };
        const rules = await made(one.raw.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", review));
        expect(both).toContain(at(rules, "status", "evaluationError"));
      },
    },
    {
      name: "a service account without a namespace in a ClusterRoleBinding is refused, in a RoleBinding too",
      async run(c) {
        const to = c.unique("reader");
        const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];
        await made(c.api.post(`${API}/clusterroles`, role("ClusterRole", to, rules)));
        const subjects = [{ kind: "ServiceAccount", name: "robot" }];
        for (const [path, kind] of [
          [`${API}/clusterrolebindings`, "ClusterRoleBinding"],
          [c.apis(`${GROUP}/v1`, "rolebindings"), "RoleBinding"],
        ] as const) {
          const answer = await c.api.post(path, { ...binding(kind, c.unique("x"), { to }), subjects });
          expect([kind, answer.code]).toEqual([kind, kind === "RoleBinding" ? 201 : 422]);
        }
        const bound = await c.as({ user: `system:serviceaccount:${c.namespace}:robot` });
        await soon(() => bound.get(c.core("configmaps")), 200);
      },
    },
    {
      name: "a kubelet without a node name has no rights, and the message says why",
      async run(c) {
        await made(c.api.post(c.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "foo" } }));
        const pod = {
          containers: [{ name: "c", image: "i", envFrom: [{ secretRef: { name: "foo" } }] }],
          automountServiceAccountToken: false,
        };
        await made(
          c.api.post(c.core("serviceaccounts"), {
            apiVersion: "v1",
            kind: "ServiceAccount",
            metadata: { name: "pods" },
          }),
        );
        await made(
          c.api.post(c.core("pods"), {
            apiVersion: "v1",
            kind: "Pod",
            metadata: { name: "p" },
            spec: { ...pod, serviceAccountName: "pods" },
          }),
        );
        const kubelet = await c.as({ user: "system:node:", groups: ["system:nodes"] });
        refused(
          await kubelet.get(c.core("secrets", "foo")),
          403,
          "Forbidden",
          `secrets "foo" is forbidden: User "system:node:" cannot get resource "secrets" in API group "" in the namespace "${c.namespace}": unknown node for user "system:node:"`,
        );
        refused(
          await kubelet.get("/api/v1/services"),
          403,
          "Forbidden",
          'services is forbidden: User "system:node:" cannot list resource "services" in API group "" at the cluster scope: unknown node for user "system:node:"',
        );
      },
    },
    {
      name: "a refusal of a kubelet says what the Node authorizer misses",
      async run(c) {
        const node = c.unique("node");
        await made(c.api.post("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: node } }));
        const kubelet = await c.as({ user: `system:node:${node}`, groups: ["system:nodes"] });
        const cannot = (verb: string, what: string): string =>
          `is forbidden: User "system:node:${node}" cannot ${verb} resource "${what}" in API group ""`;
        const here = `in the namespace "${c.namespace}"`;
        const rows = [
          [
            "get",
            c.core("secrets", "x"),
            `secrets "x" ${cannot("get", "secrets")} ${here}: no relationship found between node '${node}' and this object`,
          ],
          [
            "get",
            "/api/v1/secrets",
            `secrets ${cannot("list", "secrets")} at the cluster scope: can only read namespaced object of this type`,
          ],
          ["get", c.core("secrets"), `secrets ${cannot("list", "secrets")} ${here}: No Object name found`],
          [
            "delete",
            c.core("secrets", "x"),
            `secrets "x" ${cannot("delete", "secrets")} ${here}: can only read resources of this type`,
          ],
          [
            "get",
            "/api/v1/nodes",
            `nodes ${cannot("list", "nodes")} at the cluster scope: node '${node}' cannot read all nodes, only its own Node object`,
          ],
          [
            "get",
            "/api/v1/nodes/other",
            `nodes "other" ${cannot("get", "nodes")} at the cluster scope: node '${node}' cannot read 'other', only its own Node object`,
          ],
          [
            "get",
            "/api/v1/pods",
            `pods ${cannot("list", "pods")} at the cluster scope: can only list/watch pods with spec.nodeName field selector`,
          ],
        ] as const;
        for (const [verb, path, message] of rows) {
          refused(await (verb === "get" ? kubelet.get(path) : kubelet.delete(path)), 403, "Forbidden", message);
        }
      },
    },
  ],
};
