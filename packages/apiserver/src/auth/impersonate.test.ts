import { expect, test } from "vitest";
import type { Attributes } from "../contract/attributes.ts";
import { impersonated } from "./impersonate.ts";
import type { User } from "../contract/user.ts";

const ASKER: User = { name: "root", groups: ["system:masters"] };

/** What is requested from the authorizer, as "plural/subresource@group namespace/name". */
function acting(headers: readonly (readonly [string, string])[], denied?: string): { user: User; asked: string[] } {
  const asked: string[] = [];
  const authorize = (a: Attributes) => {
    const what = `${a.plural}${a.subresource ? `/${a.subresource}` : ""}${a.group ? `@${a.group}` : ""} ${a.namespace}/${a.name}`;
    expect(a).toMatchObject({ user: ASKER, verb: "impersonate", version: a.group ? "v1" : "" });
    asked.push(what);
    return { allowed: what !== denied, reason: "why" };
  };
  return { user: impersonated({ authorize }, ASKER, headers.flat()), asked };
}

const AUTHENTICATION = "authentication.k8s.io";

test.each<[string, readonly (readonly [string, string])[], User, readonly string[]]>([
  [
    "no user",
    [
      ["accept", "x"],
      ["impersonation", "x"],
    ],
    ASKER,
    [],
  ],
  ["a user", [["Impersonate-User", "jane"]], { name: "jane", groups: ["system:authenticated"] }, ["users /jane"]],
  [
    "the first of two users",
    [
      ["impersonate-user", "jane"],
      ["impersonate-user", "joe"],
    ],
    { name: "jane", groups: ["system:authenticated"] },
    ["users /jane"],
  ],
  [
    "a user with groups",
    [
      ["impersonate-user", "jane"],
      ["IMPERSONATE-GROUP", "a"],
      ["impersonate-group", "b, c"],
    ],
    { name: "jane", groups: ["a", "b, c", "system:authenticated"] },
    ["users /jane", "groups /a", "groups /b, c"],
  ],
  [
    "a user who says to be authenticated",
    [
      ["impersonate-user", "jane"],
      ["impersonate-group", "system:authenticated"],
    ],
    { name: "jane", groups: ["system:authenticated"] },
    ["users /jane", "groups /system:authenticated"],
  ],
  [
    "a user who says not to be",
    [
      ["impersonate-user", "jane"],
      ["impersonate-group", "system:unauthenticated"],
    ],
    { name: "jane", groups: ["system:unauthenticated"] },
    ["users /jane", "groups /system:unauthenticated"],
  ],
  [
    "the anonymous user",
    [["impersonate-user", "system:anonymous"]],
    { name: "system:anonymous", groups: ["system:unauthenticated"] },
    ["users /system:anonymous"],
  ],
  [
    "the anonymous user with its group",
    [
      ["impersonate-user", "system:anonymous"],
      ["impersonate-group", "system:unauthenticated"],
    ],
    { name: "system:anonymous", groups: ["system:unauthenticated"] },
    ["users /system:anonymous", "groups /system:unauthenticated"],
  ],
  [
    "an account",
    [["impersonate-user", "system:serviceaccount:ns:robot"]],
    {
      name: "system:serviceaccount:ns:robot",
      groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
    },
    ["serviceaccounts ns/robot"],
  ],
  [
    "an account with groups",
    [
      ["impersonate-user", "system:serviceaccount:ns:robot"],
      ["impersonate-group", "a"],
    ],
    { name: "system:serviceaccount:ns:robot", groups: ["a", "system:authenticated"] },
    ["serviceaccounts ns/robot", "groups /a"],
  ],
  [
    "a name that no account can have",
    [["impersonate-user", "system:serviceaccount:NS:robot"]],
    { name: "system:serviceaccount:NS:robot", groups: ["system:authenticated"] },
    ["users /system:serviceaccount:NS:robot"],
  ],
  [
    "a name of too many parts",
    [["impersonate-user", "system:serviceaccount:ns:robot:x"]],
    { name: "system:serviceaccount:ns:robot:x", groups: ["system:authenticated"] },
    ["users /system:serviceaccount:ns:robot:x"],
  ],
  [
    "a user with an id",
    [
      ["impersonate-user", "jane"],
      ["impersonate-uid", "1"],
      ["impersonate-uid", "2"],
    ],
    { name: "jane", uid: "1", groups: ["system:authenticated"] },
    ["users /jane", `uids@${AUTHENTICATION} /1`],
  ],
  [
    "a user with extra",
    [
      ["impersonate-user", "jane"],
      ["impersonate-extra-a", "1"],
      ["Impersonate-Extra-A", "2"],
      ["impersonate-extra-b%2fc", "3"],
      ["impersonate-extra-d%", "4"],
    ],
    { name: "jane", groups: ["system:authenticated"], extra: { a: ["1", "2"], "b/c": ["3"], "d%": ["4"] } },
    [
      "users /jane",
      ...["a /1", "a /2", "b/c /3", "d% /4"].map(
        (x) => `userextras/${x.split(" ")[0] ?? ""}@${AUTHENTICATION} ${x.split(" ")[1] ?? ""}`,
      ),
    ],
  ],
])(
  "a request that impersonates %s is allowed or refused by the rights to impersonate",
  (_what, headers, user, asked) => {
    expect(acting(headers)).toEqual({ user, asked });
  },
);

test.each<[string, readonly (readonly [string, string])[], string]>([
  [
    "users /jane",
    [["impersonate-user", "jane"]],
    'users "jane" is forbidden: User "root" cannot impersonate resource "users" in API group "" at the cluster scope: why',
  ],
  [
    "groups /a",
    [
      ["impersonate-user", "jane"],
      ["impersonate-group", "a"],
    ],
    'groups "a" is forbidden: User "root" cannot impersonate resource "groups" in API group "" at the cluster scope: why',
  ],
  [
    "serviceaccounts ns/robot",
    [["impersonate-user", "system:serviceaccount:ns:robot"]],
    'serviceaccounts "robot" is forbidden: User "root" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns": why',
  ],
  [
    `uids@${AUTHENTICATION} /1`,
    [
      ["impersonate-user", "jane"],
      ["impersonate-uid", "1"],
    ],
    'uids.authentication.k8s.io "1" is forbidden: User "root" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope: why',
  ],
  [
    `userextras/a@${AUTHENTICATION} /1`,
    [
      ["impersonate-user", "jane"],
      ["impersonate-extra-a", "1"],
    ],
    'userextras.authentication.k8s.io "1" is forbidden: User "root" cannot impersonate resource "userextras/a" in API group "authentication.k8s.io" at the cluster scope: why',
  ],
])("without the right to %s impersonation is refused", (denied, headers, message) => {
  expect(() => acting(headers, denied)).toThrow(message);
});

test.each<[readonly (readonly [string, string])[], string]>([
  [[["impersonate-group", "a"]], "group a"],
  [[["impersonate-uid", "1"]], "uid 1"],
  [[["impersonate-extra-x", "1"]], "x"],
  [
    [
      ["impersonate-group", "a"],
      ["impersonate-group", "b"],
      ["impersonate-extra-x", "1"],
      ["impersonate-uid", "1"],
    ],
    "group a, group b, x, uid 1",
  ],
])("the impersonation header %j without a user is refused", (headers, asked) => {
  expect(() => acting(headers)).toThrow(`Internal error occurred: requested ${asked} without impersonating a user`);
  expect(() => acting(headers)).toThrow(expect.objectContaining({ code: "KUBERNETES_INTERNAL_ERROR" }));
});
