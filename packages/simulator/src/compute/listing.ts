import { pythonRepr } from "../kernel/python.ts";
import { pageAfter, tagTests } from "../kernel/rest/listing.ts";
import type { Caller } from "../kernel/interface.ts";
import { computeError, denied, type ComputeParts, type Server } from "./model.ts";
import { hostOf, statusOf } from "./views.ts";

/** Most servers a list gives at once: osapi_max_limit. */
export const maxLimit = 1000;

/** Query parameters that are no filters on their own, or that the simulator has no use for. */
const known = new Set([
  ..."all_tenants auto_disk_config availability_zone config_drive changes-since changes-before created_at deleted".split(
    " ",
  ),
  ..."description display_description display_name flavor host hostname image image_ref ip ip6 kernel_id key_name".split(
    " ",
  ),
  ..."launch_index launched_at limit locked locked_by marker metadata name node not-tags not-tags-any power_state".split(
    " ",
  ),
  ..."progress project_id ramdisk_id reservation_id root_device_name soft_deleted sort_dir sort_key status".split(" "),
  ..."system_metadata tags tags-any task_state tenant_id terminated_at user_id uuid vm_state".split(" "),
]);

/** One page of servers. */
export interface Page {
  readonly servers: readonly Server[];
  /** True if there are more after these. */
  readonly more: boolean;
}

/** A requested list. */
export interface ListRequest {
  readonly query: URLSearchParams;
  readonly minor: number;
  /** Which list it is, as refusals name it. */
  readonly rule: "index" | "detail";
}

/** The servers that a query requests. Throws Nova's 400 for a bad query, 403 for all_tenants of a plain user. */
export function listServers(parts: ComputeParts, caller: Caller, { query, minor, rule }: ListRequest): Page {
  const unknown = [...query.keys()].find((key) => !known.has(key) && !key.startsWith("_"));
  if (unknown !== undefined && minor >= 75) {
    throw computeError(400, `'${unknown}' does not match any of the regexes: '^_'`);
  }
  const all = sorted(candidates(parts, caller, { query, rule }), query);
  const tests = testsOf(parts, allowedTo(caller, query, minor), minor);
  return page(
    all.filter((server) => tests.every((test) => test(server))),
    query,
  );
}

/** Cuts a sorted list by limit and marker. */
export function page<T extends { readonly id: string }>(
  all: readonly T[],
  query: URLSearchParams,
): { readonly servers: readonly T[]; readonly more: boolean } {
  const limitText = query.get("limit");
  if (limitText !== null && !/^\d*$/.test(limitText)) {
    const why = `'${limitText}' does not match '^[0-9]*$'`;
    throw computeError(400, `Invalid input for query parameters limit. Value: ${limitText}. ${why}`);
  }
  const limit = Math.min(limitText === null || limitText === "" ? maxLimit : Number(limitText), maxLimit);
  const { rows: servers, isLast } = pageAfter(all, {
    marker: query.get("marker"),
    limit,
    unknownMarker: (marker) => computeError(400, `marker [${marker}] not found`),
  });
  return { servers, more: limit > 0 && servers.length === limit && (limitText !== null || !isLast) };
}

function candidates(
  { tables }: ComputeParts,
  caller: Caller,
  { query, rule }: Omit<ListRequest, "minor">,
): readonly Server[] {
  const everywhere = truth(query.get("all_tenants"));
  if (everywhere && !caller.isAdmin) throw denied(`os_compute_api:servers:${rule}:get_all_tenants`);
  const project = everywhere ? (query.get("project_id") ?? query.get("tenant_id")) : caller.projectId;
  const since = instantOf(query, "changes-since");
  const withDead = since !== undefined || (caller.isAdmin && truth(query.get("deleted")));
  const sources = withDead ? [tables.deleted, tables.servers] : [tables.servers];
  return sources.flatMap((table) => (project === null ? table.all() : table.by("project_id", project)));
}

const truth = (value: string | null) => value !== null && !/^(0|false|f|no|n|off)$/i.test(value);

/** What servers may be sorted by: those of Nova's columns that it returns, then those that it accepts and ignores. */
const sortKeys = [
  ..."access_ip_v4 access_ip_v6 auto_disk_config availability_zone config_drive created_at display_description".split(
    " ",
  ),
  ..."display_name host hostname image_ref instance_type_id kernel_id key_name launch_index launched_at".split(" "),
  ..."locked_by node power_state progress project_id ramdisk_id root_device_name task_state terminated_at".split(" "),
  ..."updated_at user_id uuid vm_state architecture cell_name cleaned default_ephemeral_device".split(" "),
  ..."default_swap_device deleted deleted_at disable_terminate ephemeral_gb ephemeral_key_uuid id key_data".split(" "),
  ..."launched_on locked memory_mb os_type reservation_id root_gb shutdown_terminate user_data vcpus vm_mode".split(
    " ",
  ),
];

/** Newest first, or as sort_key and sort_dir say. */
function sorted(servers: readonly Server[], query: URLSearchParams): readonly Server[] {
  const keys = query.getAll("sort_key");
  const directions = query.getAll("sort_dir");
  const wrong = keys.find((key) => !sortKeys.includes(key));
  if (wrong !== undefined) {
    const why = `${pythonRepr(wrong)} is not one of ${pythonRepr(sortKeys)}`;
    throw computeError(400, `Invalid input for query parameters sort_key. Value: ${wrong}. ${why}`);
  }
  // Tables hold servers in the order of creation.
  const newest = servers.toReversed();
  if (keys.length === 0) return newest;
  const value = (server: Server, key: string) => sortValue(server, key);
  return newest.toSorted((a, b) => {
    for (const [place, key] of keys.entries()) {
      const order = value(a, key).localeCompare(value(b, key));
      if (order !== 0) return directions[place] === "asc" ? order : -order;
    }
    return 0;
  });
}

function sortValue(server: Server, key: string): string {
  if (key === "created_at") return server.created;
  if (key === "updated_at") return server.updated;
  if (key === "display_name") return server.name;
  if (key === "uuid") return server.id;
  const found: unknown = (server as unknown as Record<string, unknown>)[key];
  return typeof found === "string" ? found : "";
}

/** What plain users may filter by, and what more from 2.83 on; Nova ignores the others of theirs. */
const plainFilters = new Set(
  "reservation_id name status image flavor ip ip6 changes-since changes-before locked tags tags-any not-tags not-tags-any".split(
    " ",
  ),
);
const laterFilters = new Set(
  "availability_zone config_drive key_name created_at launched_at terminated_at power_state task_state vm_state progress user_id".split(
    " ",
  ),
);

function allowedTo({ isAdmin }: Caller, query: URLSearchParams, minor: number): URLSearchParams {
  if (isAdmin) return query;
  const isAllowed = (name: string) => plainFilters.has(name) || (minor >= 83 && laterFilters.has(name));
  return new URLSearchParams([...query].filter(([name]) => isAllowed(name)));
}

type Test = (server: Server) => boolean;

function testsOf(parts: ComputeParts, query: URLSearchParams, minor: number): readonly Test[] {
  const tests: Test[] = [...testsByTags(query), ...timeTests(query)];
  const add = (parameter: string, test: (value: string) => Test) => {
    const value = query.get(parameter);
    if (value !== null) tests.push(test(value));
  };
  add("name", (value) => matching(value, (server) => server.name));
  add("ip", (value) => addressTest(parts, value, 4));
  add("ip6", (value) => addressTest(parts, value, 6));
  add("host", (value) => (server) => hostOf(server) === value);
  add("flavor", (value) => (server) => server.flavor.id === value);
  add("image", (value) => (server) => server.image_id === value);
  add("uuid", (value) => (server) => server.id === value);
  add("key_name", (value) => (server) => server.key_name === value);
  add("availability_zone", (value) => (server) => server.zone === value);
  add("user_id", (value) => (server) => server.user_id === value);
  add("vm_state", (value) => (server) => server.vm_state === value);
  add("task_state", (value) => (server) => server.task_state === value);
  add("reservation_id", (value) => (server) => server.reservation_id === value);
  add("locked", (value) => (server) => server.locked === truth(value));
  const statuses = query.getAll("status").map((status) => status.toUpperCase());
  if (statuses.length > 0) {
    // Before 2.38 a status that is none is one that no server has.
    if (minor >= 38 && statuses.some((status) => !allStatuses.has(status))) {
      throw computeError(400, "Invalid status value");
    }
    tests.push((server) => statuses.includes(statusOf(server)));
  }
  return tests;
}

const allStatuses = new Set(
  "ACTIVE BUILD DELETED ERROR HARD_REBOOT MIGRATING PASSWORD PAUSED REBOOT REBUILD RESCUE RESIZE REVERT_RESIZE SHELVED SHELVED_OFFLOADED SHUTOFF SOFT_DELETED SUSPENDED UNKNOWN VERIFY_RESIZE".split(
    " ",
  ),
);

/** Nova's name and address filters are regular expressions, found anywhere. */
function matching(value: string, of: (server: Server) => string): Test {
  try {
    const pattern = new RegExp(value, "i");
    return (server) => pattern.test(of(server));
  } catch {
    return (server) => of(server).includes(value);
  }
}

function addressTest(parts: ComputeParts, value: string, version: 4 | 6): Test {
  const addresses = (server: Server) => {
    const fixed = parts.network.serverAddresses(server.id).filter((a) => a.version === version);
    return fixed.map((a) => a.addr).join(" ");
  };
  return matching(value, addresses);
}

function testsByTags(query: URLSearchParams): readonly Test[] {
  return Object.entries(tagTests).flatMap(([parameter, test]) => {
    const asked = query.get(parameter)?.split(",");
    return asked === undefined ? [] : [(server: Server) => test(server.tags, asked)];
  });
}

function timeTests(query: URLSearchParams): readonly Test[] {
  const since = instantOf(query, "changes-since");
  const before = instantOf(query, "changes-before");
  const tests: Test[] = [];
  if (since !== undefined) tests.push((server) => Date.parse(server.updated) >= Math.floor(since / 1000) * 1000);
  if (before !== undefined) tests.push((server) => Date.parse(server.updated) <= before);
  return tests;
}

/** A time in the query as milliseconds since the epoch; undefined: not given. Throws Nova's 400 if it is none. */
export function instantOf(query: URLSearchParams, parameter: string): number | undefined {
  const value = query.get(parameter);
  if (value === null) return undefined;
  // A bare "+" in a query is a space; times without a zone are UTC.
  const text = value.replace(" ", "+");
  const instant = Date.parse(
    !/^\d{4}-\d\d-\d\d/.test(text) ? "" : /(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`,
  );
  if (!Number.isNaN(instant)) return instant;
  throw computeError(
    400,
    `Invalid input for query parameters ${parameter}. Value: ${value}. '${value}' is not a 'date-time'`,
  );
}
