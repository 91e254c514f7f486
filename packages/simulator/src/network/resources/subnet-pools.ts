import type { Caller } from "../../kernel/interface.ts";
import { formatCidr, parseCidr, type Cidr } from "../rules/addresses.ts";
import {
  bool,
  common,
  integer,
  list,
  oneOfNumbers,
  orNull,
  shown,
  text,
  uuid,
  type InputOf,
} from "../kit/attributes.ts";
import type { Collection } from "../kit/collection.ts";
import { badRequest, conflict, invalidValue, neutronError } from "../errors.ts";
import { dropPolicies, isOpen, opened, setOpen } from "./rbac.ts";
import { born, defined, touched, type AddressScope, type NetworkState, type SubnetPool } from "../model.ts";

const attributes = {
  ...common,
  prefixes: { read: prefixes, required: true, filter: false },
  default_quota: { read: orNull(integer), filter: integer },
  default_prefixlen: { read: integer },
  min_prefixlen: { read: integer },
  max_prefixlen: { read: integer },
  is_default: { read: bool, admin: true },
  shared: { read: bool, admin: true, put: false },
  address_scope_id: { read: orNull(uuid) },
} as const;
type Attributes = typeof attributes;
type Input = InputOf<Attributes>;

/** 404, also for a subnet pool that the caller may not see. */
export const subnetPoolNotFound = (id: string) =>
  neutronError(404, "SubnetPoolNotFound", `Subnet pool ${id} could not be found.`);

/** Subnet pools: where subnets that request no range of their own get one. */
export function subnetPoolCollection(state: NetworkState): Collection<SubnetPool, Attributes> {
  return {
    singular: "subnetpool",
    plural: "subnetpools",
    attributes,
    table: state.subnetPools,
    indexes: ["name", "project_id"],
    filters: ["ip_version"],
    quota: "subnetpool",
    notFound: subnetPoolNotFound,
    sees: (caller, row) => seesPool(state, caller, row),
    view: (row) => ({
      ...row,
      // As texts, as the real service writes them.
      default_prefixlen: String(row.default_prefixlen),
      min_prefixlen: String(row.min_prefixlen),
      max_prefixlen: String(row.max_prefixlen),
      tenant_id: row.project_id,
      shared: isOpen(state, row.id),
    }),
    create: (caller, projectId, input) => {
      const bounds = boundsOf(input.prefixes ?? [], input);
      if (input.address_scope_id) checkScope(state, caller, { id: input.address_scope_id, version: bounds.ip_version });
      const row = state.subnetPools.insert({
        ...born(state.kernel, projectId, input),
        revision_number: 0,
        prefixes: compact(input.prefixes ?? []),
        ...bounds,
        default_quota: input.default_quota ?? null,
        address_scope_id: input.address_scope_id ?? null,
        is_default: input.is_default ?? false,
      });
      setOpen(state, row, { type: "subnetpool", open: input.shared ?? false });
      return row;
    },
    update: (caller, row, change) => update(state, { caller, row }, change),
    remove: (_, row) => {
      if (state.subnets.by("subnetpool_id", row.id).length > 0) {
        throw badRequestOf(
          "SubnetPoolDeleteError",
          "Unable to delete subnet pool: Subnet pool has existing allocations.",
        );
      }
      dropPolicies(state, row.id);
      state.subnetPools.remove(row.id);
    },
  };
}

/** True for own pools, and those that an RBAC policy opens to the project. */
export function seesPool(state: NetworkState, caller: Caller, row: SubnetPool): boolean {
  return caller.isAdmin || row.project_id === caller.projectId || opened(state, caller, row.id);
}

function update(state: NetworkState, { caller, row }: { caller: Caller; row: SubnetPool }, change: Input): SubnetPool {
  const { prefixes: wanted, shared: _, project_id: _p, ...rest } = defined(change);
  const all = wanted ? compact(wanted) : row.prefixes;
  const lost = row.prefixes.filter((old) => !all.some((now) => covers(now, old)));
  if (lost.length > 0) {
    const why = `Illegal update to prefixes: Existing prefixes must be a subset of the new prefixes.`;
    throw badRequestOf("IllegalSubnetPoolPrefixUpdate", why);
  }
  const bounds = boundsOf(all, { ...row, ...rest });
  if (rest.address_scope_id) checkScope(state, caller, { id: rest.address_scope_id, version: bounds.ip_version });
  return state.subnetPools.update(row.id, { ...rest, ...bounds, prefixes: all, ...touched(state.kernel, row) });
}

const covers = (outer: string, inner: string): boolean => {
  const [a, b] = [parseCidr(outer), parseCidr(inner)];
  return a !== undefined && b !== undefined && a.version === b.version && a.base <= b.base && a.last >= b.last;
};

/** Sorted, without those that others cover. */
function compact(given: readonly string[]): readonly string[] {
  const own = given.filter(
    (one, place) => !given.some((other, at) => at !== place && covers(other, one) && other !== one),
  );
  const value = (text: string) => parseCidr(text)?.base ?? 0n;
  return [...new Set(own)].sort((a, b) => (value(a) < value(b) ? -1 : 1));
}

interface Lengths {
  readonly default_prefixlen?: number | undefined;
  readonly min_prefixlen?: number | undefined;
  readonly max_prefixlen?: number | undefined;
}

/** Version and bounds of a pool's subnets; 400 where they contradict each other. */
function boundsOf(given: readonly string[], asked: Lengths) {
  const versions = new Set(given.map((prefix) => parseCidr(prefix)?.version));
  if (given.length === 0) throw badRequestOf("EmptySubnetPoolPrefixList", "Empty subnet pool prefix list.");
  if (versions.size > 1) {
    throw badRequestOf("PrefixVersionMismatch", "Cannot mix IPv4 and IPv6 prefixes in a subnet pool.");
  }
  const version: 4 | 6 = versions.has(6) ? 6 : 4;
  const bits = version === 4 ? 32 : 128;
  const min = asked.min_prefixlen ?? (version === 4 ? 8 : 64);
  const max = asked.max_prefixlen ?? bits;
  const usual = asked.default_prefixlen ?? min;
  const bound = (name: string, value: number, [other, limit]: readonly [string, number]) =>
    badRequestOf("IllegalSubnetPoolPrefixBounds", `Illegal prefix bounds: ${name}=${value}, ${other}=${limit}.`);
  if (min > max) throw bound("min_prefixlen", min, ["max_prefixlen", max]);
  if (usual < min) throw bound("default_prefixlen", usual, ["min_prefixlen", min]);
  if (usual > max) throw bound("default_prefixlen", usual, ["max_prefixlen", max]);
  return { ip_version: version, default_prefixlen: usual, min_prefixlen: min, max_prefixlen: max };
}

function prefixes(value: unknown, field: string): readonly string[] {
  return list(value, field).map((entry) => {
    const cidr = typeof entry === "string" && entry.includes("/") ? parseCidr(entry) : undefined;
    if (!cidr) throw invalidValue(field, `'${shown(entry)}' is not a valid IP subnet.`);
    return formatCidr(cidr);
  });
}

const badRequestOf = (type: string, message: string) => neutronError(400, type, message);

function checkScope(state: NetworkState, caller: Caller, { id, version }: { id: string; version: 4 | 6 }): void {
  const scope = state.addressScopes.get(id);
  if (!scope || !seesScope(state, caller, scope)) throw scopeNotFound(id);
  if (scope.ip_version === version) return;
  const what = `Illegal subnetpool association: subnetpool None cannot associate with address scope ${id}`;
  const type = "IllegalSubnetPoolIpVersionAssociationToAddressScope";
  throw badRequestOf(type, `${what} because subnetpool ip_version is not ${scope.ip_version}.`);
}

interface AllocationRequest {
  readonly caller: Caller;
  readonly projectId: string;
  readonly poolId: string;
  readonly prefixlen: number | undefined;
  readonly cidr: string | undefined;
}

/** The range of a subnet that is to come from a pool; 400 or 409 where the pool has none. */
export function allocate(state: NetworkState, request: AllocationRequest): Cidr {
  const pool = state.subnetPools.get(request.poolId);
  if (!pool || !seesPool(state, request.caller, pool)) throw subnetPoolNotFound(request.poolId);
  const asked = request.cidr === undefined ? undefined : parseCidr(request.cidr);
  const length = asked?.length ?? request.prefixlen ?? pool.default_prefixlen;
  const refused = `Unable to allocate subnet with prefix length ${length}`;
  if (length < pool.min_prefixlen) {
    const why = `${refused}, minimum allowed prefix is ${pool.min_prefixlen}.`;
    throw badRequestOf("MinPrefixSubnetAllocationError", why);
  }
  if (length > pool.max_prefixlen) {
    const why = `${refused}, maximum allowed prefix is ${pool.max_prefixlen}.`;
    throw badRequestOf("MaxPrefixSubnetAllocationError", why);
  }
  const taken = state.subnets.by("subnetpool_id", pool.id).flatMap((subnet) => ({
    projectId: subnet.project_id,
    cidr: parseCidr(subnet.cidr),
  }));
  checkPoolQuota(
    pool,
    length,
    taken.filter((t) => t.projectId === request.projectId).flatMap((t) => t.cidr ?? []),
  );
  const free = pool.prefixes.flatMap((prefix) => {
    const whole = parseCidr(prefix);
    return whole
      ? without(
          whole,
          taken.flatMap((t) => t.cidr ?? []),
        )
      : [];
  });
  const place = asked
    ? free.find((cidr) => cidr.base <= asked.base && cidr.last >= asked.last)
    : free.filter((cidr) => cidr.length <= length).toSorted((a, b) => b.length - a.length)[0];
  if (!place) {
    const why = asked
      ? "Cannot allocate requested subnet from the available set of prefixes."
      : `Insufficient prefix space to allocate subnet size /${length}.`;
    throw neutronError(500, "SubnetAllocationError", `Failed to allocate subnet: ${why}`);
  }
  return asked ?? sized(place.version, place.base, length);
}

/** Quotas count addresses of IPv4, and networks of 64 bits of IPv6. */
function checkPoolQuota(pool: SubnetPool, length: number, own: readonly Cidr[]): void {
  if (pool.default_quota === null) return;
  const unit = pool.ip_version === 4 ? 32 : 64;
  const size = (bits: number) => 2 ** Math.max(0, unit - bits);
  const used = own.reduce((sum, cidr) => sum + size(cidr.length), 0);
  if (used + size(length) <= pool.default_quota) return;
  throw conflict("SubnetPoolQuotaExceeded", "Per-tenant subnet pool prefix quota exceeded.");
}

/** What is left of a prefix, as the fewest prefixes. */
function without(whole: Cidr, taken: readonly Cidr[]): readonly Cidr[] {
  const inside = taken.filter((cidr) => cidr.base <= whole.last && cidr.last >= whole.base);
  if (inside.length === 0) return [whole];
  if (inside.some((cidr) => cidr.base <= whole.base && cidr.last >= whole.last)) return [];
  const half = whole.length + 1;
  const middle = whole.base + (whole.last - whole.base + 1n) / 2n;
  return [sized(whole.version, whole.base, half), sized(whole.version, middle, half)].flatMap((part) =>
    without(part, inside),
  );
}

function sized(version: 4 | 6, base: bigint, length: number): Cidr {
  const bits = version === 4 ? 32 : 128;
  return { version, base, length, last: base | ((1n << BigInt(bits - length)) - 1n) };
}

const scopeAttributes = {
  ...common,
  description: { read: text, post: false, put: false },
  ip_version: { read: oneOfNumbers(4, 6), required: true, put: false, filter: integer },
  shared: { read: bool, admin: true },
} as const;

const scopeNotFound = (id: string) =>
  neutronError(404, "AddressScopeNotFound", `Address scope ${id} could not be found.`);

const seesScope = (state: NetworkState, caller: Caller, row: AddressScope): boolean =>
  caller.isAdmin || row.project_id === caller.projectId || opened(state, caller, row.id);

/** Address scopes: what subnet pools of one address space belong to. */
export function addressScopeCollection(state: NetworkState): Collection<AddressScope, typeof scopeAttributes> {
  return {
    singular: "address_scope",
    plural: "address_scopes",
    attributes: scopeAttributes,
    table: state.addressScopes,
    indexes: ["name", "project_id"],
    filters: [],
    notFound: scopeNotFound,
    sees: (caller, row) => seesScope(state, caller, row),
    view: ({ id, project_id, name, ip_version }) => ({
      id,
      project_id,
      tenant_id: project_id,
      name,
      ip_version,
      shared: isOpen(state, id),
    }),
    create: (_, projectId, { name, ip_version: version = 4, shared = false }) => {
      const row = state.addressScopes.insert({ ...born(state.kernel, projectId, { name }), ip_version: version });
      setOpen(state, row, { type: "address_scope", open: shared });
      return row;
    },
    update: (_, row, { name, shared }) => {
      if (shared === false && isOpen(state, row.id)) {
        const why = "Shared address scope can't be unshared";
        throw badRequest(`Unable to update address scope ${row.id} : ${why}.`);
      }
      if (shared) setOpen(state, row, { type: "address_scope", open: true });
      return state.addressScopes.update(row.id, {
        ...(name === undefined ? {} : { name }),
        ...touched(state.kernel, row),
      });
    },
    remove: (_, row) => {
      if (state.subnetPools.by("address_scope_id", row.id).length > 0) {
        const what = `Unable to complete operation on address scope ${row.id}.`;
        throw conflict("AddressScopeInUse", `${what} There are one or more subnet pools in use on the address scope`);
      }
      dropPolicies(state, row.id);
      state.addressScopes.remove(row.id);
    },
  };
}
