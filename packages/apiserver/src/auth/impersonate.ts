import type { IncomingHttpHeaders } from "node:http";
import type { Attributes, Authorize } from "./attributes.ts";
import { refusal } from "./authorize.ts";
import { ANONYMOUS, authenticated, type User } from "./user.ts";
import { badRequest } from "../server/status.ts";

/** Who a request acts as: the Impersonate-* headers, if the asker may use them. Throws 400, 403. */
export function impersonated(
  { authorize }: { readonly authorize: Authorize },
  asker: User,
  headers: IncomingHttpHeaders,
): User {
  const name = headers["impersonate-user"];
  const groups = listed(headers["impersonate-group"]);
  if (name === undefined) {
    if (groups.length > 0) throw badRequest("requested groups without impersonating a user");
    return asker;
  }
  const user = String(name);
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user);
  const check = (plural: string, what: string, namespace = ""): void => {
    const asked: Attributes = {
      user: asker,
      verb: "impersonate",
      namespace,
      group: "",
      version: "v1",
      plural,
      subresource: "",
      name: what,
    };
    const decision = authorize(asked);
    if (!decision.allowed) throw refusal(asked, decision.reason);
  };
  if (account) check("serviceaccounts", account[2] ?? "", account[1]);
  else check("users", user);
  for (const group of groups) check("groups", group);
  if (user === ANONYMOUS.name) return groups.length > 0 ? { name: user, groups } : ANONYMOUS;
  const implied =
    account && groups.length === 0 ? ["system:serviceaccounts", `system:serviceaccounts:${account[1]}`] : [];
  return authenticated({ name: user, groups: [...groups, ...implied] });
}

function listed(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : [value].flat().flatMap((v) => v.split(",").map((g) => g.trim()));
}
