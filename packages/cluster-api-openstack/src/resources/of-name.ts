import type { Network, Router, SecurityGroup, Subnet } from "@causeway/openstack";

interface Lists {
  readonly networks: readonly Network[];
  readonly subnets: readonly Subnet[];
  readonly routers: readonly Router[];
  readonly securityGroups: readonly SecurityGroup[];
}

/** Finds resources by name. A project may have those of a thousand clusters, too many to read for each plan. */
export type NameIndex = { readonly [Kind in keyof Lists]: (name: string) => Lists[Kind] };

/** Lists of a project, and an index of their names if there is one. */
export type Listed<Kind extends keyof Lists> = Pick<Lists, Kind> & {
  readonly nameIndex?: Pick<NameIndex, Kind> | undefined;
};

/**
 * The resources with this name, in the order of their IDs: an index has them in the order of their last changes. Uses
 * the index if there is one, else filters the list.
 */
export function ofName<Kind extends keyof Lists>(cloud: Listed<Kind>, kind: Kind, name: string): Lists[Kind] {
  const find: ((name: string) => readonly Named[]) | undefined = cloud.nameIndex?.[kind];
  const list = (): readonly Named[] => cloud[kind].filter((each) => each.name === name);
  const found = find ? find(name) : list();
  return found.toSorted((one, other) => (one.id < other.id ? -1 : 1)) as readonly Named[] as Lists[Kind];
}

interface Named {
  readonly id: string;
  readonly name: string;
}
