import { afterEach, describe, expect, test } from "vitest";
import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { Changes } from "../contract/changes.ts";
import type { Json } from "../json/json.ts";
import { clusterWith } from "../testing/objects.ts";
import { binding, resource, role, user } from "../testing/roles.ts";
import type { Attributes } from "../contract/attributes.ts";
import { authorizer, refusal } from "./authorize.ts";
import { aggregated, covers, notFoundShown, Rbac } from "./rbac.ts";

const GROUP = "rbac.authorization.k8s.io";
const ASKED: Attributes = {
  user: { name: "jane", groups: ["dev"] },
  verb: "get",
  namespace: "ns",
  group: "",
  version: "v1",
  plural: "pods",
  subresource: "",
  name: "",
};

/** A rule, what is requested, and whether the rule allows it. */
const COVERS: readonly (readonly [Json, Partial<Attributes>, boolean])[] = [
  [resource(), {}, true],
  [resource(), { verb: "list" }, false],
  [resource({ verbs: ["*"] }), { verb: "anything" }, true],
  [resource({ verbs: ["list", "get"] }), {}, true],
  [resource({ verbs: [] }), {}, false],
  [resource(), { group: "apps" }, false],
  [resource({ apiGroups: ["*"] }), { group: "apps" }, true],
  [resource({ apiGroups: ["apps", ""] }), {}, true],
  [resource(), { plural: "secrets" }, false],
  [resource({ resources: ["*"] }), { plural: "secrets" }, true],
  [resource({ resources: ["*"] }), { plural: "pods", subresource: "log" }, true],
  [resource(), { subresource: "log" }, false],
  [resource({ resources: ["pods/log"] }), { subresource: "log" }, true],
  [resource({ resources: ["pods/log"] }), {}, false],
  [resource({ resources: ["*/log"] }), { subresource: "log" }, true],
  [resource({ resources: ["*/log"] }), { plural: "others", subresource: "log" }, true],
  [resource({ resources: ["*/log"] }), { subresource: "exec" }, false],
  [resource({ resources: ["*/"] }), {}, false],
  [resource({ resources: ["pods/*"] }), { subresource: "log" }, false],
  [resource({ resourceNames: ["a"] }), { name: "a" }, true],
  [resource({ resourceNames: ["a"] }), { name: "b" }, false],
  [resource({ resourceNames: ["a"] }), {}, false],
  [resource({ resourceNames: [] }), { name: "b" }, true],
  [{ verbs: ["get"], nonResourceURLs: ["/a"] }, { path: "/a" }, true],
  [{ verbs: ["get"], nonResourceURLs: ["/a"] }, { path: "/a/b" }, false],
  [{ verbs: ["get"], nonResourceURLs: ["/ab"] }, { path: "/ac" }, false],
  [{ verbs: ["get"], nonResourceURLs: ["/a"] }, { path: "/a", verb: "post" }, false],
  [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }, { path: "/a/b" }, true],
  [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }, { path: "/a" }, false],
  [{ verbs: ["get"], nonResourceURLs: ["/a*"] }, { path: "/a" }, true],
  [{ verbs: ["get"], nonResourceURLs: ["*"] }, { path: "/anything" }, true],
  [{ verbs: ["get"], nonResourceURLs: ["/a"] }, {}, false],
  [resource({ resources: ["*"] }), { path: "/a" }, false],
];

test.each(COVERS)("the rule %j covers %j: %s", (rule, asked, covered) => {
  expect(covers(rule, { ...ASKED, ...asked })).toBe(covered);
});

test.each<[readonly string[], string]>([
  [["a"], "a"],
  [["a", "a"], "a"],
  [["a", "b", "a"], "[a, b]"],
])("the errors %j are shown as %s", (messages, shown) => {
  expect(aggregated(messages)).toBe(shown);
});

test("a missing role is named as client-go names it", () => {
  expect(notFoundShown({ kind: "ClusterRole", name: "a" })).toBe(`clusterrole.${GROUP} "a" not found`);
});

const opened: Cluster[] = [];
afterEach(() => Promise.all(opened.splice(0).map((c) => c.store.close())));

interface Given {
  readonly roles?: readonly Json[];
  readonly clusterroles?: readonly Json[];
  readonly rolebindings?: readonly Json[];
  readonly clusterrolebindings?: readonly Json[];
}

async function rbacOf(given: Given): Promise<{ cluster: Cluster; rbac: Rbac; changes: Changes }> {
  const stored = Object.fromEntries(
    Object.entries(given).map(([plural, all]) => [`${GROUP}/${plural}`, all as Json[]]),
  );
  const changes = new Changes();
  const cluster = { ...(await clusterWith(stored)), changes };
  opened.push(cluster);
  return { cluster, rbac: new Rbac(cluster), changes };
}

const READER = role("reader", [resource()]);

describe("the subject of a binding matches the right user:", () => {
  const account = { name: "system:serviceaccount:ns:robot", groups: [] };
  test.each<[string, Json, string | undefined, Attributes["user"], boolean]>([
    ["a user", user("jane"), undefined, { name: "jane", groups: [] }, true],
    ["another user", user("joe"), undefined, { name: "jane", groups: [] }, false],
    ["a group", { kind: "Group", name: "dev" }, undefined, { name: "jane", groups: ["ops", "dev"] }, true],
    ["a group of the user's name", { kind: "Group", name: "jane" }, undefined, { name: "jane", groups: [] }, false],
    ["a user of the group's name", user("dev"), undefined, { name: "jane", groups: ["dev"] }, false],
    ["an account", { kind: "ServiceAccount", name: "robot", namespace: "ns" }, undefined, account, true],
    [
      "an account of another namespace",
      { kind: "ServiceAccount", name: "robot", namespace: "other" },
      undefined,
      account,
      false,
    ],
    ["an account of the binding's namespace", { kind: "ServiceAccount", name: "robot" }, "ns", account, true],
    [
      "an account of no namespace",
      { kind: "ServiceAccount", name: "robot" },
      undefined,
      { name: "system:serviceaccount::robot", groups: [] },
      false,
    ],
    ["another kind", { kind: "Other", name: "jane" }, undefined, { name: "jane", groups: ["jane"] }, false],
  ])("%s", async (_what, subject, namespace, who, allowed) => {
    const one = binding("b", ["ClusterRole", "reader"], [user("other"), subject], namespace);
    const { rbac } = await rbacOf({
      clusterroles: [READER],
      [namespace ? "rolebindings" : "clusterrolebindings"]: [one],
    });
    expect(rbac.decide({ ...ASKED, user: who }).allowed).toBe(allowed);
  });
});

test("a RoleBinding counts in its namespace alone, and gives a Role of that namespace or a ClusterRole", async () => {
  const given: Given = {
    roles: [role("local", [resource()], "ns"), role("local", [resource({ resources: ["secrets"] })], "other")],
    clusterroles: [READER],
    rolebindings: [
      binding("a", ["Role", "local"], [user("jane")], "ns"),
      binding("a2", ["Role", "local"], [user("other")], "ns"),
      binding("b", ["Role", "local"], [user("jane")], "other"),
      binding("c", ["ClusterRole", "reader"], [user("joe")], "ns"),
    ],
  };
  const { rbac } = await rbacOf(given);
  const may = (name: string, namespace: string, plural = "pods") =>
    rbac.decide({ ...ASKED, user: { name, groups: [] }, namespace, plural });
  expect(may("jane", "ns")).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "a/ns" of Role "local" to User "jane"',
  });
  expect(may("jane", "other").allowed).toBe(false);
  expect(may("jane", "other", "secrets").allowed).toBe(true);
  expect(may("jane", "").allowed).toBe(false);
  expect(may("joe", "ns").reason).toBe('RBAC: allowed by RoleBinding "c/ns" of ClusterRole "reader" to User "joe"');
  expect(may("joe", "other")).toEqual({ allowed: false, reason: "" });
  expect(rbac.rulesFor({ name: "jane", groups: [] }, "ns")).toEqual({ rules: [resource()], unresolved: [] });
});

test("a ClusterRoleBinding counts in every namespace", async () => {
  const account = { kind: "ServiceAccount", name: "robot", namespace: "ns" };
  const { rbac } = await rbacOf({
    clusterroles: [READER],
    clusterrolebindings: [binding("a", ["ClusterRole", "reader"], [account])],
  });
  const asked = { ...ASKED, user: { name: "system:serviceaccount:ns:robot", groups: [] } };
  for (const namespace of ["ns", "other", ""]) {
    const reason = 'RBAC: allowed by ClusterRoleBinding "a" of ClusterRole "reader" to ServiceAccount "robot/ns"';
    expect(rbac.decide({ ...asked, namespace })).toEqual({ allowed: true, reason });
  }
});

test("missing roles are named, and the others count", async () => {
  const { rbac } = await rbacOf({
    clusterroles: [READER],
    clusterrolebindings: [
      binding("a", ["ClusterRole", "gone"], [user("jane")]),
      binding("b", ["ClusterRole", "reader"], [user("jane")]),
    ],
    rolebindings: [binding("c", ["Role", "gone too"], [user("jane")], "ns")],
  });
  const reason = `RBAC: [clusterrole.${GROUP} "gone" not found, role.${GROUP} "gone too" not found]`;
  expect(rbac.decide({ ...ASKED, verb: "delete" })).toEqual({ allowed: false, reason });
  expect(rbac.decide(ASKED).allowed).toBe(true);
  expect(rbac.rulesFor(ASKED.user, "ns")).toEqual({
    rules: [resource()],
    unresolved: [
      { kind: "ClusterRole", name: "gone" },
      { kind: "Role", name: "gone too" },
    ],
  });
});

test("a change of a role or binding counts at once, other changes leave what was read", async () => {
  const { rbac, cluster, changes } = await rbacOf({
    clusterroles: [READER],
    clusterrolebindings: [binding("a", ["ClusterRole", "reader"], [user("jane")])],
  });
  expect(rbac.decide(ASKED).allowed).toBe(true);
  const key = { cluster: "", resource: `${GROUP}/clusterroles`, namespace: "", name: "reader" };
  const stored = cluster.store.get(key);
  if (!stored) throw new Error("no role");
  await cluster.store.update(key, { ...stored.object, rules: [] } as KubeObject, stored.revision);
  const changed = (group: string) =>
    changes.emit({ type: "MODIFIED", resource: { group }, object: stored.object } as never);
  changed("apps");
  expect(rbac.decide(ASKED).allowed).toBe(true);
  changed(GROUP);
  expect(rbac.decide(ASKED)).toEqual({ allowed: false, reason: "" });
});

test("system:masters may do anything, others what the Node authorizer or RBAC allows, and refusals say why each did not", async () => {
  const node = { name: "system:node:n1", groups: ["system:nodes"] };
  const { cluster, rbac } = await rbacOf({
    clusterroles: [READER],
    clusterrolebindings: [
      binding("a", ["ClusterRole", "gone"], [user(node.name)]),
      binding("b", ["ClusterRole", "reader"], [user("jane")]),
    ],
  });
  const authorize = authorizer(cluster, rbac);
  expect(authorize({ ...ASKED, user: { name: "root", groups: ["system:masters"] }, verb: "x" })).toEqual({
    allowed: true,
    reason: "",
  });
  expect(authorize({ ...ASKED, user: { name: "system:masters", groups: [] }, verb: "x" }).allowed).toBe(false);
  expect(authorize(ASKED).reason).toMatch(/^RBAC: allowed by/);
  expect(authorize({ ...ASKED, user: node, plural: "services" })).toEqual({ allowed: true, reason: "" });
  const reason = `No Object name found\nRBAC: clusterrole.${GROUP} "gone" not found`;
  expect(authorize({ ...ASKED, user: node })).toEqual({ allowed: false, reason });
});

test.each<[Partial<Attributes>, string, string]>([
  [{}, "", 'pods is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "ns"'],
  [
    { name: "a", subresource: "log" },
    "why",
    'pods "a" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace "ns": why',
  ],
  [
    { group: "apps", namespace: "" },
    "",
    'pods.apps is forbidden: User "jane" cannot get resource "pods" in API group "apps" at the cluster scope',
  ],
  [{ path: "/a" }, "", 'forbidden: User "jane" cannot get path "/a"'],
  [{ path: "/a" }, "why", 'forbidden: User "jane" cannot get path "/a": why'],
])("the refusal of the request %j names the reason %j", (asked, why, message) => {
  const error = refusal({ ...ASKED, ...asked }, why);
  expect(error.message).toBe(message);
  expect(hasCode(error, "KUBERNETES_FORBIDDEN")).toBe(true);
  const { name, group } = { ...ASKED, ...asked };
  const details =
    asked.path === undefined ? { ...(name ? { name } : {}), ...(group ? { group } : {}), kind: "pods" } : {};
  expect((error as unknown as { details: { status: Json } }).details.status["details"]).toEqual(details);
});
