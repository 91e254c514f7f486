import type { JsonObject } from "../../kernel/json.ts";
import { integer, orNull, text, uuid, type InputOf } from "../kit/attributes.ts";
import type { Collection } from "../kit/collection.ts";
import { conflict, forbidden, networkNotFound, neutronError, resourceMissing } from "../errors.ts";
import { born, defined, touched, type Network, type NetworkState, type Segment } from "../model.ts";
import { checkSegment, nextSegment, numbered, type SegmentKind } from "../rules/segment-kinds.ts";

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

/** Segments of networks; only administrators can read them. */
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

function view({ project_id: _project, ...wire }: Segment): JsonObject {
  return wire;
}
