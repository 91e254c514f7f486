import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import type { Json } from "../json/json.ts";
import type { WriteContext } from "../contract/resource.ts";
import { clusterWith } from "../testing/objects.ts";
import { binding, resource, role } from "../testing/roles.ts";
import type { Attributes } from "../contract/attributes.ts";
import { forbidEscalation } from "./escalation.ts";

const GROUP = "rbac.authorization.k8s.io";

describe("the check of escalation", () => {
  const SECRETS = resource({ resources: ["secrets"] });
  const stored = {
    [`${GROUP}/clusterroles`]: [role("reader", [resource()]), role("secrets", [SECRETS])],
    [`${GROUP}/roles`]: [role("secrets", [SECRETS], "ns"), role("pods", [resource()], "ns")],
  };

  interface Asker {
    readonly groups?: readonly string[];
    /** "verb plural/name in namespace" of roles. */
    readonly may?: readonly string[];
    readonly rules?: readonly Json[];
    readonly pathName?: string;
    readonly unresolved?: readonly { kind: string; name: string }[];
  }

  async function refusalOf(
    object: Json,
    { groups = ["dev"], may = [], rules = [resource()], pathName = "", unresolved = [] }: Asker,
    old?: Json,
  ): Promise<string | undefined> {
    const cluster = await clusterWith(stored);
    const access = {
      allows: (a: Attributes) =>
        `${a.group}/${a.version}` === `${GROUP}/*` &&
        a.subresource === "" &&
        may.includes(`${a.verb} ${a.plural}/${a.name} in ${a.namespace}`),
      rulesFor: (_user: unknown, namespace: string) => ({ rules: namespace === "elsewhere" ? [] : rules, unresolved }),
    };
    const context = {
      user: { name: "jane", groups },
      cluster: { ...cluster, access },
      pathName,
    } as unknown as WriteContext;
    try {
      forbidEscalation(object as unknown as KubeObject, old as unknown as KubeObject | undefined, context);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  const big = role("big", [SECRETS]);
  const grant = (plural: string, name: string): string =>
    `${plural}.${GROUP} "${name}" is forbidden: user "jane" (groups=["dev"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`;
  const bound = (to: string, kind = "ClusterRole", namespace?: string) => binding("b", [kind, to], [], namespace);
  const everything = [
    { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
    { nonResourceURLs: ["*"], verbs: ["*"] },
  ];
  const gathering = { ...role("g", []), aggregationRule: { clusterRoleSelectors: [{}] } };
  const gather = `clusterroles.${GROUP} "g" is forbidden: must have cluster-admin privileges to use the aggregationRule`;

  test.each<[string, Json, Asker, string | undefined]>([
    ["a role that one has", role("a", [resource()]), {}, undefined],
    ["a role that one does not have", big, {}, grant("clusterroles", "big")],
    ["such a role by system:masters", big, { groups: ["system:masters"] }, undefined],
    ["such a role with escalate", big, { may: ["escalate clusterroles/big in "], pathName: "big" }, undefined],
    [
      "such a role with escalate on its name, by POST",
      big,
      { may: ["escalate clusterroles/big in "] },
      grant("clusterroles", "big"),
    ],
    [
      "such a role with bind",
      big,
      { may: ["bind clusterroles/big in "], pathName: "big" },
      grant("clusterroles", "big"),
    ],
    ["such a Role", role("big", [SECRETS], "ns"), {}, grant("roles", "big")],
    [
      "such a Role with escalate in its namespace",
      role("big", [SECRETS], "ns"),
      { may: ["escalate roles/ in ns"] },
      undefined,
    ],
    [
      "a Role of a namespace where one has nothing",
      role("a", [SECRETS], "elsewhere"),
      { rules: [SECRETS] },
      grant("roles", "a"),
    ],
    ["a binding to a role that one has", bound("reader"), {}, undefined],
    ["a binding to a role that one does not have", bound("secrets"), {}, grant("clusterrolebindings", "b")],
    ["such a binding with bind", bound("secrets"), { may: ["bind clusterroles/secrets in "] }, undefined],
    [
      "such a binding with escalate",
      bound("secrets"),
      { may: ["escalate clusterroles/secrets in "] },
      grant("clusterrolebindings", "b"),
    ],
    ["a RoleBinding to a Role that one does not have", bound("secrets", "Role", "ns"), {}, grant("rolebindings", "b")],
    ["a RoleBinding to a Role that one has", bound("pods", "Role", "ns"), {}, undefined],
    [
      "a RoleBinding to a ClusterRole that one does not have",
      bound("secrets", "ClusterRole", "ns"),
      {},
      grant("rolebindings", "b"),
    ],
    [
      "a RoleBinding to a ClusterRole with bind in its namespace",
      bound("secrets", "ClusterRole", "ns"),
      { may: ["bind clusterroles/secrets in ns"] },
      undefined,
    ],
    ["a RoleBinding to a missing Role", bound("none", "Role", "ns"), {}, `rolebindings.${GROUP} "none" not found`],
    [
      "a RoleBinding to a Role of another namespace",
      bound("pods", "Role", "other"),
      {},
      `rolebindings.${GROUP} "pods" not found`,
    ],
    ["a ClusterRoleBinding to a missing role", bound("none"), {}, `clusterrolebindings.${GROUP} "none" not found`],
    [
      "a ClusterRoleBinding to a missing role with bind",
      bound("none"),
      { may: ["bind clusterroles/none in "] },
      undefined,
    ],
    ["a role that gathers", gathering, { rules: [resource()] }, gather],
    ["a role that gathers, by who has all resources", gathering, { rules: everything.slice(0, 1) }, gather],
    ["a role that gathers, by who has everything", gathering, { rules: everything }, undefined],
    ["a role that gathers, of all resources and no paths", gathering, { rules: everything.slice(0, 1) }, gather],
    ["a role that gathers, of all paths and no resources", gathering, { rules: everything.slice(1) }, gather],
    ...["apiGroups", "resources", "verbs"].map((part): [string, Json, Asker, string | undefined] => [
      `a role that gathers, of some ${part} alone`,
      gathering,
      { rules: [{ ...everything[0], [part]: ["a"] }, ...everything.slice(1)] },
      gather,
    ]),
    ...["apiGroups", "resources", "verbs"].map((part): [string, Json, Asker, string | undefined] => [
      `a role that gathers, of all but ${part}, of which there is an empty one`,
      gathering,
      { rules: [{ ...everything[0], [part]: [""] }, ...everything.slice(1)] },
      gather,
    ]),
    ...["nonResourceURLs", "verbs"].map((part): [string, Json, Asker, string | undefined] => [
      `a role that gathers, of all resources and of paths with an empty one of ${part}`,
      gathering,
      { rules: [...everything.slice(0, 1), { ...everything[1], [part]: [""] }] },
      gather,
    ]),
    ["a role that gathers nothing", { ...gathering, aggregationRule: { clusterRoleSelectors: [] } }, {}, undefined],
  ])("allows or refuses %s as Kubernetes does", async (_what, object, asker, message) => {
    expect(await refusalOf(object, asker)).toBe(message);
  });

  test("refuses a change of a role that gathered to a user without every right", async () => {
    expect(await refusalOf(role("g", []), {}, gathering)).toBe(gather);
    expect(await refusalOf(role("g", []), {}, role("g", []))).toBeUndefined();
  });

  test("names in its refusal every part of a rule, sorted, and missing roles", async () => {
    const rules = [
      { nonResourceURLs: ["/b"], verbs: ["get"] },
      resource({ resourceNames: ["n"], verbs: ["list", "update"] }),
      resource({ apiGroups: ["b"] }),
    ];
    const asker = {
      rules: [],
      unresolved: [
        { kind: "Role", name: "x" },
        { kind: "ClusterRole", name: "y" },
      ],
    };
    const message = (await refusalOf(role("big", rules), asker)) ?? "";
    expect(message.split("\n").slice(1)).toEqual([
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["n"], Verbs:["list" "update"]}',
      '{APIGroups:["b"], Resources:["pods"], Verbs:["get"]}',
      `{NonResourceURLs:["/b"], Verbs:["get"]}; resolution errors: [[clusterroles.${GROUP} "x" not found, clusterroles.${GROUP} "y" not found]]`,
    ]);
  });
});
