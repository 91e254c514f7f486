import type { Attributes, Authorize } from "../contract/attributes.ts";
import { refusal } from "./authorize.ts";
import { ANONYMOUS, type User } from "../contract/user.ts";
import { apiError } from "../errors/status.ts";

const EXTRA = "impersonate-extra-";
const API = "authentication.k8s.io";

/** The user name of an account that there can be; another name is that of a user. */
const ACCOUNT =
  /^system:serviceaccount:([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?):([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)$/;

/** The identity that a request asks for. */
interface Wanted {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/**
 * Who a request acts as: the Impersonate-* headers, if the asker may use each of them. `headers` are names and values
 * in turn, as they came: values may have commas. Throws 403, and 500 (as kube-apiserver) when there is no user among
 * them.
 */
export function impersonated(
  { authorize }: { readonly authorize: Authorize },
  asker: User,
  headers: readonly string[],
): User {
  const wanted = wantedOf(headers);
  if (!wanted) return asker;
  const { user, uid, groups, extra } = wanted;
  const account = ACCOUNT.exec(user);
  const check = (about: Pick<Attributes, "plural" | "name"> & Partial<Attributes>): void => {
    const asked: Attributes = {
      user: asker,
      verb: "impersonate",
      namespace: "",
      group: "",
      version: "",
      subresource: "",
      ...about,
    };
    const decision = authorize(asked);
    if (!decision.allowed) throw refusal(asked, decision.reason);
  };
  if (account) check({ plural: "serviceaccounts", name: account[2] ?? "", namespace: account[1] ?? "" });
  else check({ plural: "users", name: user });
  for (const name of groups) check({ plural: "groups", name });
  for (const [subresource, values] of extra) {
    for (const name of values) check({ plural: "userextras", subresource, name, group: API, version: "v1" });
  }
  if (uid) check({ plural: "uids", name: uid, group: API, version: "v1" });
  const implied =
    account && groups.length === 0 ? ["system:serviceaccounts", `system:serviceaccounts:${account[1]}`] : [];
  return {
    name: user,
    groups: withOrigin(user, [...groups, ...implied]),
    ...(uid ? { uid } : {}),
    ...(extra.size > 0 ? { extra: Object.fromEntries(extra) } : {}),
  };
}

/** Each user is either authenticated or not; a group in the headers that says which one is kept. */
function withOrigin(user: string, groups: readonly string[]): readonly string[] {
  if (groups.includes("system:unauthenticated")) return groups;
  if (user === ANONYMOUS.name) return [...groups, "system:unauthenticated"];
  return groups.includes("system:authenticated") ? groups : [...groups, "system:authenticated"];
}

function wantedOf(headers: readonly string[]): Wanted | undefined {
  const groups: string[] = [];
  const extra = new Map<string, string[]>();
  let user = "";
  let uid = "";
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] ?? "").toLowerCase();
    const value = headers[i + 1] ?? "";
    if (name === "impersonate-user") user ||= value;
    else if (name === "impersonate-uid") uid ||= value;
    else if (name === "impersonate-group") groups.push(value);
    else if (name.startsWith(EXTRA)) {
      const key = decoded(name.slice(EXTRA.length));
      extra.set(key, [...(extra.get(key) ?? []), value]);
    }
  }
  if (user) return { user, uid, groups, extra };
  if (!uid && groups.length === 0 && extra.size === 0) return undefined;
  const asked = [...groups.map((g) => `group ${g}`), ...extra.keys(), ...(uid ? [`uid ${uid}`] : [])].join(", ");
  const message = `Internal error occurred: requested ${asked} without impersonating a user`;
  throw apiError(500, "InternalError", message, {});
}

/** Keys come with %2f where they have a slash. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
