import { CausewayError } from "@causeway/foundation";
import { required, type CreateVolumeRequest } from "@causeway/csi";
import { gibOf, provisionerMetadata, zoneOf } from "@causeway/csi-openstack";
import { METADATA_CLUSTER, TOPOLOGY_ZONE } from "../names.ts";
import { attributesOf } from "./change-volume.ts";

/** What the content of a new volume is copied from. */
export type Source =
  | { readonly type: "snapshot"; readonly id: string }
  | { readonly type: "volume"; readonly id: string };

/** What a CreateVolume request asks for. */
export interface VolumeSpec {
  readonly name: string;
  readonly gib: number;
  readonly type: string | undefined;
  readonly zone: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly source: Source | undefined;
}

type Request = Pick<
  CreateVolumeRequest,
  | "name"
  | "capacityRange"
  | "volumeCapabilities"
  | "parameters"
  | "mutableParameters"
  | "volumeContentSource"
  | "accessibilityRequirements"
>;

/** Throws CSI_INVALID_ARGUMENT, CSI_OUT_OF_RANGE. */
export function volumeSpec(
  request: Request,
  driver: { readonly clusterId: string; readonly withTopology: boolean },
): VolumeSpec {
  const { parameters, mutableParameters } = request;
  const name = required(request.name, "name");
  if (request.volumeCapabilities.length === 0) {
    throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no volume capabilities.");
  }
  const zone =
    parameters["availability"] || (driver.withTopology ? zoneOf(request.accessibilityRequirements, TOPOLOGY_ZONE) : "");
  return {
    name,
    gib: gibOf(request.capacityRange),
    type: attributesOf(mutableParameters).type || parameters["type"] || undefined,
    zone: zone || undefined,
    metadata: { [METADATA_CLUSTER]: driver.clusterId, ...provisionerMetadata(parameters) },
    source: sourceOf(request.volumeContentSource),
  };
}

function sourceOf(content: CreateVolumeRequest["volumeContentSource"]): Source | undefined {
  if (content === undefined) return undefined;
  const { type } = content;
  if (type.case === "snapshot") return { type: "snapshot", id: required(type.value.snapshotId, "snapshot ID") };
  if (type.case === "volume") return { type: "volume", id: required(type.value.volumeId, "source volume ID") };
  throw new CausewayError("CSI_INVALID_ARGUMENT", "The content source is neither a snapshot nor a volume.");
}
