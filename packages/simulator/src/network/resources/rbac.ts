import type { Caller } from "../../kernel/interface.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { text, uuid } from "../kit/attributes.ts";
import type { Collection } from "../kit/collection.ts";
import { badRequest, conflict, forbidden, invalidInput, neutronError } from "../errors.ts";
import { touched, type NetworkState, type RbacPolicy } from "../model.ts";

/** The actions an object of each kind can be opened for. */
const actions: Readonly<Record<string, readonly string[]>> = {
  address_group: ["access_as_shared"],
  address_scope: ["access_as_shared"],
  network: ["access_as_external", "access_as_shared"],
  qos_policy: ["access_as_shared"],
  security_group: ["access_as_shared"],
  subnetpool: ["access_as_shared"],
};

const owner = { read: text };
const attributes = {
  project_id: owner,
  tenant_id: owner,
  object_type: { read: text, required: true, put: false, filter: objectType },
  object_id: { read: uuid, required: true, put: false },
  action: { read: text, required: true, put: false },
  target_tenant: { read: text, required: true },
} as const;
/** A kind of object that can be opened. */
function objectType(value: unknown): string {
  if (typeof value === "string" && Object.hasOwn(actions, value)) return value;
  throw invalidInput(`'${String(value)}' is not a valid RBAC object type.`);
}
type Attributes = typeof attributes;

/** True if a policy opens the object to the caller's project. */
export function opened(state: NetworkState, caller: Caller, objectId: string, action = "access_as_shared"): boolean {
  return state.rbac
    .by("object_id", objectId)
    .some((row) => row.action === action && ["*", caller.projectId].includes(row.target_tenant));
}

/** True if the object is open to all projects, as its field "shared" shows and sets. */
export const isOpen = (state: NetworkState, objectId: string, action = "access_as_shared"): boolean =>
  openPolicy(state, objectId, action) !== undefined;

interface Openable {
  readonly id: string;
  readonly project_id: string;
}

interface OpenRule {
  readonly type: string;
  readonly open: boolean;
  readonly action?: string;
}

/** Opens an object to all projects or closes it, as "shared" and "router:external" do. */
export function setOpen(state: NetworkState, object: Openable, { type, open, action }: OpenRule): void {
  const wanted = action ?? "access_as_shared";
  const known = openPolicy(state, object.id, wanted);
  if (known && !open) state.rbac.remove(known.id);
  if (known || !open) return;
  state.rbac.insert({
    id: state.kernel.newId(),
    project_id: object.project_id,
    object_type: type,
    object_id: object.id,
    action: wanted,
    target_tenant: "*",
    revision_number: 0,
  });
}

/** Forgets the policies of an object that is gone. */
export function dropPolicies(state: NetworkState, objectId: string): void {
  for (const row of state.rbac.by("object_id", objectId)) state.rbac.remove(row.id);
}

const openPolicy = (state: NetworkState, objectId: string, action: string) =>
  state.rbac.by("object_id", objectId).find((row) => row.target_tenant === "*" && row.action === action);

/** RBAC policies. One for all projects ("*") is made by administrators only. */
export function rbacCollection(state: NetworkState): Collection<RbacPolicy, Attributes> {
  return {
    singular: "rbac_policy",
    plural: "rbac_policies",
    attributes,
    table: state.rbac,
    indexes: ["object_id", "project_id"],
    filters: [],
    quota: "rbac_policy",
    notFound: (id) => neutronError(404, "RbacPolicyNotFound", `RBAC policy of type None with ID ${id} not found`),
    sees: (caller, row) => caller.isAdmin || row.project_id === caller.projectId,
    view,
    create: (caller, projectId, input) => {
      const { object_type: type = "", object_id: objectId = "", action = "", target_tenant: target = "" } = input;
      checkKind(type, action);
      if (target === "*" && !caller.isAdmin) throw forbidden(wildcardRule("create"));
      requireObject(state, caller, { type, id: objectId });
      const twin = state.rbac
        .by("object_id", objectId)
        .some((row) => row.action === action && row.target_tenant === target);
      if (twin) throw conflict("DuplicateRbacPolicy", "An RBAC policy already exists with those values.");
      const grant = { project_id: projectId, object_type: type, object_id: objectId, action, target_tenant: target };
      markNetwork(state, grant, true);
      return state.rbac.insert({ id: state.kernel.newId(), ...grant, revision_number: 0 });
    },
    update: (caller, row, { target_tenant: target }) => {
      if (target === undefined || target === row.target_tenant) return row;
      if (target === "*" && !caller.isAdmin)
        throw forbidden("(rule:update_rbac_policy and rule:update_rbac_policy:target_tenant)");
      checkUnused(state, row);
      const { revision_number: revision } = touched(state.kernel, row);
      return state.rbac.update(row.id, { target_tenant: target, revision_number: revision });
    },
    remove: (_, row) => {
      checkUnused(state, row);
      markNetwork(state, row, false);
      state.rbac.remove(row.id);
    },
  };
}

/** The rules that a policy open to all projects requires, nested as Neutron's policy engine joins them. */
const wildcardRule = (verb: string): string =>
  ["object_type", "object_id", "target_tenant", "action"].reduce(
    (left, field) => `(${left} and rule:${verb}_rbac_policy:${field})`,
    `rule:${verb}_rbac_policy`,
  );

function checkKind(type: string, action: string): void {
  const known = actions[type];
  if (!known) {
    const names = Object.keys(actions);
    throw badRequest(`Invalid input for object_type. Reason: '${type}' is not in ${pythonList(names)}.`);
  }
  if (known.includes(action)) return;
  throw invalidInput(`Invalid action '${action}' for object type '${type}'. Valid actions: ${pythonList(known)}`);
}

const pythonList = (words: readonly string[]): string => `[${words.map((word) => `'${word}'`).join(", ")}]`;

function requireObject(state: NetworkState, caller: Caller, { type, id }: { type: string; id: string }): void {
  const tables = {
    address_group: state.addressGroups,
    address_scope: state.addressScopes,
    network: state.networks,
    qos_policy: state.qosPolicies,
    security_group: state.groups,
    subnetpool: state.subnetPools,
  };
  const row = Object.entries(tables)
    .find(([name]) => name === type)?.[1]
    .get(id);
  if (!row) throw badRequest(`Object of type '${type}' with ID '${id}' could not be found.`);
  if (caller.isAdmin || row.project_id === caller.projectId) return;
  throw forbidden(wildcardRule("create"));
}

/**
 * What a policy's coming (`row.id` not yet kept) or going changes of its network: a use by all projects makes it
 * external.
 */
function markNetwork(state: NetworkState, row: Omit<RbacPolicy, "id" | "revision_number">, open: boolean): void {
  const network = row.object_type === "network" ? state.networks.get(row.object_id) : undefined;
  if (!network) return;
  const others = state.rbac.by("object_id", network.id).filter((other) => other.action === row.action);
  const external = row.action === "access_as_external";
  const changed = external ? open || others.length > 1 : open && row.target_tenant === "*";
  const touch = touched(state.kernel, external ? { revision_number: network.revision_number + 1 } : network);
  if (external) state.networks.update(network.id, { "router:external": changed, ...touch });
  else state.networks.update(network.id, row.target_tenant === "*" ? { shared: changed, ...touch } : touch);
}

/** 409 while another project has ports where only this policy lets it. */
function checkUnused(state: NetworkState, row: RbacPolicy): void {
  if (row.object_type !== "network" || row.action !== "access_as_shared") return;
  const others = state.rbac
    .by("object_id", row.object_id)
    .filter((other) => other.id !== row.id && other.action === row.action);
  const allowed = new Set([state.networks.get(row.object_id)?.project_id, ...others.map((o) => o.target_tenant)]);
  if (allowed.has("*")) return;
  const guest = state.ports
    .by("network_id", row.object_id)
    .find(
      (port) =>
        port.project_id !== "" && !allowed.has(port.project_id) && ["*", port.project_id].includes(row.target_tenant),
    );
  if (!guest) return;
  const what = `RBAC policy on object ${row.object_id} cannot be removed because other objects depend on it.`;
  const why = `Unable to reconfigure sharing settings for network ${row.object_id}. Multiple tenants are using it.`;
  throw conflict("RbacPolicyInUse", `${what}\nDetails: ${why}`);
}

function view(row: RbacPolicy): JsonObject {
  const { revision_number: _, ...wire } = row;
  return { ...wire, tenant_id: row.project_id };
}
