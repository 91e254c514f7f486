import type { Caller } from "../../kernel/interface.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { bool, common, integer, list, object, shown, text, uuid, type InputOf } from "../kit/attributes.ts";
import { owned, readBody, seen, type Collection, type NetworkApp } from "../kit/collection.ts";
import { conflict, invalidValue, neutronError, portNotFound, trunkNotFound } from "../errors.ts";
import { born, defined, touched, type NetworkState, type Port, type SubPort, type Trunk } from "../model.ts";

const attributes = {
  ...common,
  port_id: { read: uuid, required: true, put: false },
  admin_state_up: { read: bool },
  sub_ports: { read: subPorts, put: false, filter: false },
} as const;
type Attributes = typeof attributes;

/** Trunks. One whose parent port is bound to a host cannot be deleted. */
export function trunkCollection(state: NetworkState): Collection<Trunk, Attributes> {
  return {
    singular: "trunk",
    plural: "trunks",
    attributes,
    table: state.trunks,
    indexes: ["port_id", "name", "project_id"],
    filters: [],
    quota: "trunk",
    notFound: trunkNotFound,
    sees: (caller, row) => caller.isAdmin || row.project_id === caller.projectId,
    view: trunkView,
    create: (caller, projectId, input) => create(state, { caller, projectId }, input),
    update: (_, row, change) => {
      const { project_id: _p, sub_ports: _s, ...rest } = defined(change);
      return state.trunks.update(row.id, { ...rest, ...touched(state.kernel, row) });
    },
    remove: (_, row) => {
      if (state.ports.get(row.port_id)?.["binding:host_id"])
        throw conflict("TrunkInUse", `Trunk ${row.id} is currently in use.`);
      freeSubPorts(state, row.sub_port_ids);
      state.trunks.remove(row.id);
    },
  };
}

/** PUT /trunks/ID/add_subports and remove_subports, GET get_subports. */
export function mountSubPorts(app: NetworkApp, state: NetworkState, trunks: ReturnType<typeof trunkCollection>): void {
  app.get("/v2.0/trunks/:id/get_subports", (c) =>
    c.json({ sub_ports: seen(trunks, c.var.caller, c.req.param("id")).sub_ports }),
  );
  app.put("/v2.0/trunks/:id/add_subports", async (c) => {
    const asked = subPorts((await readBody(c))["sub_ports"], "sub_ports");
    const trunk = owned(trunks, c.var.caller, { id: c.req.param("id") });
    return c.json(trunkView(state.kernel.atomic(() => addSubPorts(state, { trunk, caller: c.var.caller }, asked))));
  });
  app.put("/v2.0/trunks/:id/remove_subports", async (c) => {
    const asked = list((await readBody(c))["sub_ports"], "sub_ports").map((entry) =>
      text(object(entry, "sub_ports")["port_id"], "port_id"),
    );
    const trunk = owned(trunks, c.var.caller, { id: c.req.param("id") });
    return c.json(trunkView(state.kernel.atomic(() => removeSubPorts(state, trunk, asked))));
  });
}

function create(
  state: NetworkState,
  { caller, projectId }: { caller: Caller; projectId: string },
  input: InputOf<Attributes>,
): Trunk {
  const portId = input.port_id ?? "";
  const port = ownPort(state, caller, portId);
  if (state.trunks.by("sub_port_ids", portId).length > 0) {
    throw conflict("TrunkPortInUse", `Port ${portId} is in use by another trunk.`);
  }
  if (port["binding:host_id"] !== "" || isTrunked(state, portId)) {
    const why = `Port ${portId} is currently in use and is not eligible for use as a parent port.`;
    throw conflict("ParentPortInUse", why);
  }
  const trunk = state.trunks.insert({
    ...born(state.kernel, projectId, input),
    port_id: portId,
    admin_state_up: input.admin_state_up ?? true,
    status: "ACTIVE",
    ...subPortFields([]),
  });
  if (!input.sub_ports?.length) return trunk;
  const { sub_ports, sub_port_ids } = addSubPorts(
    state,
    { trunk: { ...trunk, admin_state_up: true }, caller },
    input.sub_ports,
  );
  return state.trunks.update(trunk.id, { sub_ports, sub_port_ids, revision_number: trunk.revision_number });
}

function addSubPorts(
  state: NetworkState,
  { trunk, caller }: { trunk: Trunk; caller: Caller },
  asked: readonly SubPort[],
): Trunk {
  if (!trunk.admin_state_up) throw conflict("TrunkDisabled", `Trunk ${trunk.id} is currently disabled.`);
  const all = [...trunk.sub_ports];
  for (const sub of asked) {
    const port = ownPort(state, caller, sub.port_id);
    if (isTrunked(state, sub.port_id) || all.some((other) => other.port_id === sub.port_id)) {
      throw conflict("PortInUse", `Port ${sub.port_id} is currently in use and is not eligible for use as a subport.`);
    }
    const twin = all.some((other) => other.segmentation_id === sub.segmentation_id);
    if (twin) {
      const what = `segmentation_type ${sub.segmentation_type} and segmentation_id ${sub.segmentation_id}`;
      throw conflict(
        "DuplicateSubPort",
        `segmentation_type and segmentation_id combination not unique: ${what} already in use on trunk ${trunk.id}.`,
      );
    }
    state.ports.update(port.id, { device_owner: "trunk:subport", ...touched(state.kernel, port) });
    all.push(sub);
  }
  return state.trunks.update(trunk.id, { ...subPortFields(all), ...touched(state.kernel, trunk) });
}

function removeSubPorts(state: NetworkState, trunk: Trunk, asked: readonly string[]): Trunk {
  for (const id of asked) {
    if (trunk.sub_port_ids.includes(id)) continue;
    throw neutronError(404, "SubPortNotFound", `SubPort ${id} on trunk ${trunk.id} could not be found.`);
  }
  freeSubPorts(state, asked);
  const left = trunk.sub_ports.filter((sub) => !asked.includes(sub.port_id));
  return state.trunks.update(trunk.id, { ...subPortFields(left), ...touched(state.kernel, trunk) });
}

function freeSubPorts(state: NetworkState, ids: readonly string[]): void {
  for (const id of ids) {
    const port = state.ports.get(id);
    if (port) state.ports.update(id, { device_owner: "", ...touched(state.kernel, port) });
  }
}

function ownPort(state: NetworkState, caller: Caller, id: string): Port {
  const port = state.ports.get(id);
  if (!port || (!caller.isAdmin && port.project_id !== caller.projectId)) throw portNotFound(id);
  return port;
}

const isTrunked = (state: NetworkState, id: string): boolean =>
  state.trunks.by("port_id", id).length > 0 || state.trunks.by("sub_port_ids", id).length > 0;

const subPortFields = (all: readonly SubPort[]) => ({ sub_ports: all, sub_port_ids: all.map((sub) => sub.port_id) });

function trunkView(row: Trunk): JsonObject {
  const { sub_port_ids: _, ...wire } = row;
  return { ...wire, tenant_id: row.project_id };
}

function subPorts(value: unknown, field: string): readonly SubPort[] {
  return list(value ?? [], field).map((entry) => {
    const { port_id: port, segmentation_type: type = "vlan", segmentation_id: id } = object(entry, field);
    if (typeof type !== "string") throw invalidValue(field, `'${shown(type)}' is not a valid string.`);
    return { port_id: uuid(port, field), segmentation_type: type, segmentation_id: integer(id) };
  });
}
