import { shortList } from "@causeway/foundation";
import type { NeutronParameter, SubnetParameter } from "@causeway/api";
import type { Subnet } from "@causeway/openstack";

/** What a parameter was found to mean, or why it means nothing. */
export type Resolution<T> =
  | { readonly ok: true; readonly resource: T }
  | { readonly ok: false; readonly problem: string };

interface Filterable {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
  readonly project_id?: string;
  readonly tags?: readonly string[];
}

/** Resolves an id or a filter to exactly one resource. `what` names the field for people. */
export function resolveParameter<T extends Filterable>(
  parameter: NeutronParameter,
  candidates: readonly T[],
  what: string,
): Resolution<T> {
  return resolveOne(parameter, candidates, what, () => true);
}

/** Like resolveParameter, with the filters that only subnets have. */
export function resolveSubnet(
  parameter: SubnetParameter,
  candidates: readonly Subnet[],
  what: string,
): Resolution<Subnet> {
  return resolveOne(parameter, candidates, what, (subnet) => fitsSubnet(parameter.filter ?? {}, subnet));
}

function resolveOne<T extends Filterable>(
  parameter: NeutronParameter,
  candidates: readonly T[],
  what: string,
  also: (candidate: T) => boolean,
): Resolution<T> {
  if (parameter.id === undefined && !hasFields(parameter.filter))
    return { ok: false, problem: `${what} needs an id or a filter` };
  const fitting =
    parameter.id !== undefined
      ? candidates.filter((c) => c.id === parameter.id)
      : candidates.filter((c) => fits(parameter.filter ?? {}, c) && also(c));
  const [first, ...others] = fitting;
  if (!first) return { ok: false, problem: `${what}: no match for ${describe(parameter)}${known(candidates)}` };
  if (others.length > 0)
    return { ok: false, problem: `${what}: ${fitting.length} resources match ${describe(parameter)}: ${ids(fitting)}` };
  return { ok: true, resource: first };
}

function hasFields(filter: object | undefined): boolean {
  return filter !== undefined && Object.keys(filter).length > 0;
}

function fits(filter: NonNullable<NeutronParameter["filter"]>, candidate: Filterable): boolean {
  const tags = candidate.tags ?? [];
  const has = (tag: string) => tags.includes(tag);
  return (
    same(filter.name, candidate.name) &&
    same(filter.description, candidate.description) &&
    same(filter.projectID, candidate.project_id) &&
    (filter.tags ?? []).every(has) &&
    (filter.tagsAny === undefined || filter.tagsAny.some(has)) &&
    (filter.notTags === undefined || !filter.notTags.every(has)) &&
    !(filter.notTagsAny ?? []).some(has)
  );
}

function fitsSubnet(filter: NonNullable<SubnetParameter["filter"]>, subnet: Subnet): boolean {
  return (
    same(filter.cidr, subnet.cidr) &&
    same(filter.gatewayIP, subnet.gateway_ip) &&
    same(filter.ipVersion, subnet.ip_version) &&
    same(filter.ipv6AddressMode, subnet.ipv6_address_mode) &&
    same(filter.ipv6RAMode, subnet.ipv6_ra_mode)
  );
}

function same<V>(wanted: V | undefined, present: V | null | undefined): boolean {
  return wanted === undefined || wanted === "" || wanted === present;
}

function describe(parameter: NeutronParameter): string {
  return parameter.id === undefined ? JSON.stringify(parameter.filter) : `id ${parameter.id}`;
}

function ids(resources: readonly Filterable[]): string {
  return resources
    .map((r) => r.id)
    .sort()
    .join(", ");
}

function known(candidates: readonly Filterable[]): string {
  const names = [...new Set(candidates.map((c) => c.name).filter((n) => n !== ""))].sort();
  if (names.length === 0) return "; none exists";
  return `; there are ${shortList(names, 5)}`;
}
