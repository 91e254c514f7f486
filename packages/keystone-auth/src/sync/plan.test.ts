import { describe, expect, it } from "vitest";
import { hasCode } from "@causeway/foundation";
import type { Namespace, RoleBinding } from "@causeway/kubernetes";
import { DOMAIN_ID, PROJECT_ID, PROJECT_NAME, ROLES, type KubernetesUser } from "../user.ts";
import { NO_SYNC, readSyncConfig, type SyncConfig } from "./plan-config.ts";
import { namespaceOf, plan, PROJECT_LABEL } from "./plan.ts";

const user: KubernetesUser = {
  username: "anna",
  uid: "u1",
  groups: [],
  extra: { [ROLES]: ["member"], [PROJECT_ID]: ["p1"], [PROJECT_NAME]: ["shop"], [DOMAIN_ID]: ["d1"] },
};
const config: SyncConfig = { ...NO_SYNC, dataTypes: ["projects", "role_assignments"] };

function namespace(labels?: Record<string, string>, more: object = {}): Namespace {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: "p1", ...(labels && { labels }), ...more } };
}

function binding(
  name: string,
  role: string,
  options: { subject?: string; kind?: "Role" | "ClusterRole" } = {},
): RoleBinding {
  const apiGroup = "rbac.authorization.k8s.io";
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: "RoleBinding",
    metadata: { name, namespace: "p1", uid: `uid-of-${name}` },
    roleRef: { apiGroup, kind: options.kind ?? "ClusterRole", name: role },
    subjects: [{ apiGroup, kind: "User", name: options.subject ?? "anna" }],
  };
}

const own = namespace({ [PROJECT_LABEL]: "p1" });
const create = { type: "create-binding", namespace: "p1", name: "u1_member", role: "member", username: "anna" };
const gone = (name: string) => ({ type: "delete-binding", namespace: "p1", name, uid: `uid-of-${name}` });

describe("the plan of a synchronisation", () => {
  it.each<[string, Partial<Parameters<typeof plan>[0]>, unknown[]]>([
    [
      "creates the namespace and a binding for each role",
      { namespace: undefined },
      [{ type: "create-namespace", name: "p1", projectId: "p1" }, create],
    ],
    ["creates the binding in a namespace of its own", { namespace: own }, [create]],
    ["does nothing when all is there", { namespace: own, bindings: [binding("u1_member", "member")] }, []],
    [
      "deletes the binding of a role that the user has lost",
      { namespace: own, bindings: [binding("u1_member", "member"), binding("u1_admin", "admin")] },
      [gone("u1_admin")],
    ],
    [
      "recreates the binding of a user who was renamed",
      { namespace: own, bindings: [binding("u1_member", "member", { subject: "ann" })] },
      [gone("u1_member"), create],
    ],
    [
      "leaves bindings of administrators",
      {
        namespace: own,
        bindings: [
          binding("u1_member", "member"),
          binding("u1_x", "y"),
          binding("u1_z", "z", { kind: "Role" }),
          binding("team", "admin"),
        ],
      },
      [],
    ],
    [
      "leaves bindings of other users",
      { namespace: own, bindings: [binding("u1_member", "member"), binding("u2_admin", "admin")] },
      [],
    ],
    [
      "leaves a binding of that name which it did not make",
      { namespace: own, bindings: [binding("u1_member", "member", { kind: "Role" })] },
      [],
    ],
    ["leaves a namespace without the label", { namespace: namespace() }, []],
    ["leaves a namespace of another project", { namespace: namespace({ [PROJECT_LABEL]: "p2" }) }, []],
    [
      "leaves a namespace that is being deleted",
      { namespace: namespace({ [PROJECT_LABEL]: "p1" }, { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
      [],
    ],
    [
      "makes no binding without the namespace when projects are not synchronised",
      { namespace: undefined, config: { ...config, dataTypes: ["role_assignments"] } },
      [],
    ],
    [
      "makes no binding when roles are not synchronised",
      { namespace: own, config: { ...config, dataTypes: ["projects"] } },
      [],
    ],
    ["does nothing for a project that is left out by id", { config: { ...config, excludedProjects: ["p1"] } }, []],
    [
      "does nothing for a project that is left out by name",
      { config: { ...config, excludedProjectNames: ["shop"] } },
      [],
    ],
    [
      "passes over a role whose name no object can have",
      { namespace: own, user: { ...user, extra: { ...user.extra, [ROLES]: ["a/b"] } } },
      [],
    ],
  ])("%s", (_what, observed, steps) => {
    expect(plan({ user, config, namespace: undefined, bindings: [], ...observed }).steps).toEqual(steps);
  });

  it.each<[string, Partial<Parameters<typeof plan>[0]>, string]>([
    [
      "a namespace of others",
      { namespace: namespace({}) },
      "namespace p1 exists and has no label keystone.causeway.dev/project-id=p1: it is left as it is",
    ],
    [
      "a namespace that is missing",
      { config: { ...config, dataTypes: ["role_assignments"] } },
      "namespace p1 does not exist, and data-types-to-sync has no projects",
    ],
    [
      "a project whose id is no name",
      { user: { ...user, extra: { ...user.extra, [PROJECT_ID]: ["P_1"] } } },
      "the project id P_1 cannot be the name of a namespace",
    ],
    [
      "a role that is no name",
      { namespace: own, user: { ...user, extra: { ...user.extra, [ROLES]: ["a/b"] } } },
      'the role "a/b" cannot be part of the name of a RoleBinding',
    ],
  ])("says why %s is passed over", (_what, observed, warning) => {
    expect(plan({ user, config, namespace: undefined, bindings: [], ...observed })).toEqual({
      steps: [],
      warnings: [warning],
    });
  });

  it.each([
    ["", 0],
    ["a%2fb", 0],
    ["r".repeat(200), 1],
    ["r".repeat(201), 0],
  ])("makes of the role %s bindings: %i", (role, count) => {
    const given = { ...user, extra: { ...user.extra, [ROLES]: [role] } };
    const { steps, warnings } = plan({ user: given, config, namespace: own, bindings: [] });
    expect([steps.length, warnings.length]).toEqual([count, 1 - count]);
  });

  it("warns of nothing where all roles have names", () => {
    expect(plan({ user, config, namespace: own, bindings: [] }).warnings).toEqual([]);
  });

  it("has no namespace for a user without a project, and where nothing is synchronised", () => {
    const { [PROJECT_ID]: _, ...extra } = user.extra;
    expect(namespaceOf({ ...user, extra }, config)).toBeUndefined();
    expect(namespaceOf(user, NO_SYNC)).toBeUndefined();
    expect(namespaceOf(user, config)).toBe("p1");
  });

  it.each<[string, string, string]>([
    ["%i", "shop", "p1"],
    ["%n-%i-%d", "shop", "shop-p1-d1"],
    ["%n-%i", "My Shop", "p1"],
    ["%n-%i", "x".repeat(70), "p1"],
    ["%n-%i", "%i", "p1"],
  ])("the format %s with project name %s is namespace %s", (namespaceFormat, name, expected) => {
    const named = { ...user, extra: { ...user.extra, [PROJECT_NAME]: [name] } };
    expect(namespaceOf(named, { ...config, namespaceFormat })).toBe(expected);
  });
});

describe("a synchronisation's configuration", () => {
  it("has upstream's fields", () => {
    const yaml = `
namespace-format: "a-%d-%n-%i-b"
projects-blacklist: ["id1", "id2"]
projects-name-blacklist: ["name1"]
"data-types-to-sync": ["projects", "role_assignments"]
role-mappings:
  - keystone-role: member
    username: shared
    groups: ["editors"]
  - keystone-role: reader
`;
    expect(readSyncConfig(yaml)).toEqual({
      dataTypes: ["projects", "role_assignments"],
      namespaceFormat: "a-%d-%n-%i-b",
      excludedProjects: ["id1", "id2"],
      excludedProjectNames: ["name1"],
      roleMappings: [
        { keystoneRole: "member", username: "shared", groups: ["editors"] },
        { keystoneRole: "reader", groups: [] },
      ],
    });
    expect(readSyncConfig("")).toEqual(NO_SYNC);
  });

  it.each<[string, string]>([
    ["namespace-format: '%n'", "namespace-format needs %i, the id of the Keystone project"],
    [
      "namespace-format: '-%i'",
      "namespace-format may have letters, digits, -, _ and ., and begins and ends with a letter or digit",
    ],
    ["data-types-to-sync: [users]", 'data-types-to-sync has "users"; it may have projects, role_assignments'],
    ["role-mappings: {}", "role-mappings is not a list"],
    ["- a", "it is not a mapping"],
    [`# ${"x".repeat(256 * 1024)}`, "it is larger than 262144 bytes"],
  ])("that cannot be used is refused with the reason: %#", (yaml, why) => {
    try {
      readSyncConfig(yaml);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        message: `The sync configuration cannot be used: ${why}.`,
        hint: "Fix it; docs/reference/keystone-auth.md has its fields.",
      });
    }
  });

  it("may have 256 KiB", () => {
    expect(readSyncConfig(`#${"x".repeat(256 * 1024 - 1)}`)).toEqual(NO_SYNC);
  });

  it.each<[string, string]>([
    ["characters that are not allowed", "namespace-format: '%i!@#'"],
    ["a format that begins with a hyphen", "namespace-format: '-%i'"],
    ["a format without the project id", "namespace-format: '%n'"],
    ["an unknown type of data", "data-types-to-sync: [users]"],
    ["a mapping without a role", "role-mappings: [{username: a}]"],
    ["mappings that are no list", "role-mappings: {}"],
    ["no mapping at all", "- a"],
    ["YAML with an error", "a: ["],
  ])("with %s is refused", (_what, yaml) => {
    try {
      readSyncConfig(yaml);
      expect.unreachable();
    } catch (error) {
      expect(hasCode(error, "KEYSTONE_SYNC_INVALID")).toBe(true);
    }
  });
});
