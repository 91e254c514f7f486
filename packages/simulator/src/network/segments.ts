import type { JsonObject } from "../kernel/json.ts";
import { integer, orNull, text, uuid, type InputOf } from "./attributes.ts";
import type { Collection } from "./collection.ts";
import { conflict, forbidden, invalidInput, networkNotFound, neutronError, resourceMissing } from "./errors.ts";
import { born, defined, touched, type Network, type NetworkState, type Segment } from "./resources.ts";

const attributes = {
  name: { read: orNull(text) },
  description: { read: orNull(text) },
  network_id: { read: uuid, required: true, put: false },
  network_type: { read: text, required: true, put: false },
  physical_network: { read: orNull(text), put: false },
  segmentation_id: { read: orNull(integer), put: false, filter: false },
  project_id: { read: text, put: false },
} as const;
type Attributes = typeof attributes;

/** What a segment is made of, as a network's provider attributes tell it. */
export interface SegmentKind {
  readonly network_type: string;
  readonly physical_network: string | null;
  readonly segmentation_id: number | null;
}

/** Where a network's frames run; only administrators know. */
export function segmentCollection(state: NetworkState): Collection<Segment, Attributes> {
  return {
    singular: "segment",
    plural: "segments",
    attributes,
    table: state.segments,
    indexes: ["network_id"],
    filters: [],
    notFound: (id) =>
      state.segments.get(id)
        ? resourceMissing()
        : neutronError(404, "SegmentNotFound", `Segment ${id} could not be found.`),
    sees: (caller) => caller.isAdmin,
    view,
    create: (caller, _, input) => {
      if (!caller.isAdmin) throw forbidden("rule:create_segment");
      return create(state, input);
    },
    update: (_, row, { name, description }) =>
      state.segments.update(row.id, { ...defined({ name, description }), ...touched(state.kernel, row) }),
    remove: (_, row) => {
      const subnet = state.subnets.by("network_id", row.network_id).find((other) => other.segment_id === row.id);
      if (subnet) {
        const why = `The segment is still associated with subnet(s) ${subnet.id}`;
        throw conflict("SegmentInUse", `Segment '${row.id}' cannot be deleted: ${why}.`);
      }
      state.segments.remove(row.id);
    },
  };
}

function create(state: NetworkState, input: InputOf<Attributes>): Segment {
  const { network_id = "", network_type = "", physical_network: physical = null, segmentation_id: id } = input;
  checkSegment({ network_type, physical_network: physical, segmentation_id: id ?? null });
  if (!state.networks.get(network_id)) throw networkNotFound(network_id);
  const taken = id !== undefined && id !== null && state.segments.by("network_type", network_type);
  if (taken && taken.some((other) => other.segmentation_id === id)) {
    throw conflict("TunnelIdInUse", `Unable to create the network. The tunnel ID ${id} is in use.`);
  }
  const { tags: _tags, name: _name, description: _description, ...row } = born(state.kernel, "", {});
  return state.segments.insert({
    ...row,
    name: input.name ?? null,
    description: input.description ?? "",
    network_id,
    network_type,
    physical_network: physical,
    segmentation_id: id ?? (numbered(network_type) ? nextSegment(state) : null),
  });
}

/** The segment that a network is born with. */
export function firstSegment(state: NetworkState, network: Network, kind: SegmentKind): Segment {
  const { tags: _tags, name: _name, description: _description, ...row } = born(state.kernel, "", {});
  return state.segments.insert({
    ...row,
    revision_number: 0,
    name: null,
    description: null,
    network_id: network.id,
    ...kind,
  });
}

/** Networks of a state that an older version wrote get their segments. */
export function segmentsOfOld(state: NetworkState): void {
  if (state.segments.all().length > 0) return;
  for (const network of state.networks.all()) {
    firstSegment(state, network, {
      network_type: network["provider:network_type"],
      physical_network: network["provider:physical_network"],
      segmentation_id: network["provider:segmentation_id"],
    });
  }
}

const types = ["flat", "geneve", "local", "vlan", "vxlan"];

/** Throws 400 for a kind of network, or a place, that this cloud does not support. */
export function checkSegment({
  network_type: type,
  physical_network: physical,
  segmentation_id: id,
}: SegmentKind): void {
  if (!types.includes(type)) throw invalidInput(`network_type value '${type}' not supported.`);
  if (type === "local") {
    const given = Object.entries({ physical_network: physical, segmentation_id: id }).find(([, value]) => value);
    if (given) throw invalidInput(`${given[0]} prohibited for local provider network.`);
  }
  if (type !== "flat" && type !== "vlan") return;
  if (!physical && type === "flat") throw invalidInput("physical_network required for flat provider network.");
  if (physical && physical !== "public") {
    throw invalidInput(`physical_network '${physical}' unknown for ${type} provider network.`);
  }
}

/** True if segments of the type have numbers. */
export const numbered = (type: string): boolean => type !== "flat" && type !== "local";

/** A number that no segment has, nor a network from before there were segments. */
export function nextSegment({ networks, segments }: NetworkState): number {
  const top = networks.all().reduce((most, row) => Math.max(most, row["provider:segmentation_id"] ?? 0), 0);
  return segments.all().reduce((most, row) => Math.max(most, row.segmentation_id ?? 0), top) + 1;
}

function view({ project_id: _project, ...wire }: Segment): JsonObject {
  return wire;
}
