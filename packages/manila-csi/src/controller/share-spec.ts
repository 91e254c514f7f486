import { CausewayError, isRecord, messageOf, parseBoundedJson } from "@causeway/foundation";
import { required, type CreateVolumeRequest } from "@causeway/csi";
import { gibOf, provisionerMetadata, zoneOf } from "@causeway/csi-openstack";
import { METADATA_CLUSTER, TOPOLOGY_ZONE } from "../names.ts";
import { classParameters, type ClassParameters } from "../parameters.ts";
import type { ShareProtocol } from "../protocol.ts";
import { requireFileSystem } from "./capabilities.ts";

/** What a CreateVolume request asks for. */
export interface ShareSpec {
  readonly name: string;
  readonly gib: number;
  readonly protocol: ShareProtocol;
  /** A name or an ID. */
  readonly type: string;
  readonly networkId: string | undefined;
  readonly zone: string | undefined;
  /** The zone was chosen by the topology of the node (autoTopology). */
  readonly isZoneOfNode: boolean;
  readonly snapshotId: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parameters: ClassParameters;
}

/** What all shares of a driver have in common. */
export interface SpecOptions {
  readonly protocol: ShareProtocol;
  readonly clusterId: string;
  readonly withTopology: boolean;
}

type Request = Pick<
  CreateVolumeRequest,
  "name" | "capacityRange" | "volumeCapabilities" | "parameters" | "volumeContentSource" | "accessibilityRequirements"
>;

/** Characters of appendShareMetadata, which Manila limits to pairs of 255 and 1023. */
const LONGEST_METADATA = 64 * 1024;

/** Throws CSI_INVALID_ARGUMENT, CSI_OUT_OF_RANGE, CSI_UNIMPLEMENTED. */
export function shareSpec(request: Request, { protocol, clusterId, withTopology }: SpecOptions): ShareSpec {
  const name = required(request.name, "name");
  requireFileSystem(request.volumeCapabilities);
  const parameters = classParameters(request.parameters);
  const isAuto = withTopology && parameters.availability === undefined && /^true$/i.test(parameters.autoTopology ?? "");
  const zone = isAuto ? zoneOf(request.accessibilityRequirements, TOPOLOGY_ZONE) : parameters.availability;
  return {
    name,
    gib: gibOf(request.capacityRange),
    protocol,
    type: parameters.type ?? "default",
    networkId: parameters.shareNetworkID,
    zone,
    isZoneOfNode: isAuto && zone !== undefined,
    snapshotId: snapshotOf(request.volumeContentSource),
    metadata: metadataOf(request.parameters, parameters.appendShareMetadata, clusterId),
    parameters,
  };
}

function snapshotOf(content: CreateVolumeRequest["volumeContentSource"]): string | undefined {
  if (content === undefined) return undefined;
  const { type } = content;
  if (type.case === "snapshot") return required(type.value.snapshotId, "snapshot ID");
  if (type.case === "volume") throw new CausewayError("CSI_UNIMPLEMENTED", "Shares cannot be cloned; use a snapshot.");
  throw new CausewayError("CSI_INVALID_ARGUMENT", "The content source is neither a snapshot nor a volume.");
}

/** What the provisioner adds has priority over appendShareMetadata, and that over the cluster's name. */
function metadataOf(
  given: Readonly<Record<string, string>>,
  appended: string | undefined,
  clusterId: string,
): Record<string, string> {
  const cluster = clusterId === "" ? {} : { [METADATA_CLUSTER]: clusterId };
  return { ...cluster, ...appendedMetadata(appended), ...provisionerMetadata(given) };
}

function appendedMetadata(text: string | undefined): Record<string, string> {
  if (text === undefined) return {};
  if (text.length > LONGEST_METADATA) throw invalid("it is longer than 64 KiB");
  let value: unknown;
  try {
    value = parseBoundedJson(text, 2);
  } catch (error) {
    throw invalid(messageOf(error));
  }
  const pairs = isRecord(value) ? Object.entries(value) : [];
  if (!isRecord(value) || pairs.some(([, each]) => typeof each !== "string"))
    throw invalid("it is not an object of strings");
  return Object.fromEntries(pairs as [string, string][]);
}

const invalid = (why: string) =>
  new CausewayError("CSI_INVALID_ARGUMENT", `appendShareMetadata of the StorageClass is not valid: ${why}.`, {
    hint: 'It is JSON, like {"team": "storage"}.',
  });
