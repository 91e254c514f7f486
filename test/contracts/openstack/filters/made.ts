import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";

interface CreateSpec {
  readonly path: string;
  /** Key of the object in bodies; "": the body is the object. */
  readonly one: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** What its id is kept as. Default "id". */
  readonly keep?: string;
  /** Where its answer has the id. Default: in `one`. */
  readonly at?: string;
  readonly more?: Partial<RawCase>;
}

/** A case that makes an object as the administrator, and deletes it in the end. */
export const made = ({ path, one, body, keep = "id", at, more }: CreateSpec): RawCase => ({
  says: `makes ${keep} at ${path}`,
  call: `POST ${path}`,
  as: "admin",
  body: one === "" ? body : { [one]: body },
  keep: { [keep]: at ?? (one === "" ? "id" : `${one}.id`) },
  undo: `DELETE ${path}/{${keep}}`,
  ...more,
});

export const network = made({
  path: "/v2.0/networks",
  one: "network",
  body: { name: "{run}-n", description: "{run}" },
  keep: "net",
});
export const subnet = made({
  path: "/v2.0/subnets",
  one: "subnet",
  body: { name: "{run}-s", description: "{run}", network_id: "{net}", ip_version: 4, cidr: "10.61.0.0/24" },
  keep: "sub",
});
export const group = made({
  path: "/v2.0/security-groups",
  one: "security_group",
  body: { name: "{run}-g", description: "{run}" },
  keep: "group",
});
/** The same case, whose object is the one that is listed. */
export const as = (each: RawCase, keep = "id"): RawCase => {
  const [first] = Object.entries(each.keep ?? {});
  return first ? { ...each, keep: { [first[0]]: first[1], [keep]: first[1] } } : each;
};

/** A list of Neutron, read by the administrator. */
export const neutron = (
  path: string,
  many: string,
  make: readonly RawCase[],
  more: FilteredList["more"] = {},
): FilteredList => ({
  service: "network",
  path: `/v2.0/${path}`,
  many,
  make,
  more,
});

export const external: RawCase = {
  says: "the external network",
  call: "GET /v2.0/networks?name=public",
  keep: { public: "networks.0.id" },
};

/** A list of Keystone, read by the administrator. */
export const keystone = (
  path: string,
  many: string,
  make: readonly RawCase[],
  more: FilteredList["more"] = {},
): FilteredList => ({
  service: "identity",
  path,
  many,
  make,
  more,
});
