import { integer, list, object, orNull, text } from "../kit/attributes.ts";
import { invalidInput, neutronError } from "../errors.ts";
import type { NetworkState } from "../model.ts";
import { checkSegment, nextSegment, numbered, type SegmentKind } from "./segment-kinds.ts";

/** The fields of POST /networks that describe its segments. */
interface SegmentsInput {
  readonly "provider:network_type"?: string | undefined;
  readonly "provider:physical_network"?: string | null | undefined;
  readonly "provider:segmentation_id"?: number | null | undefined;
  readonly segments?: readonly SegmentKind[] | undefined;
}

/** What a network of several segments is made of. */
export function segmentList(value: unknown, field: string): readonly SegmentKind[] {
  return list(value, field).map((entry) => {
    const given = object(entry, field);
    const {
      "provider:network_type": type,
      "provider:physical_network": physical,
      "provider:segmentation_id": id,
    } = given;
    if (type === undefined || type === null) throw invalidInput("network_type required.");
    return {
      network_type: text(type, field),
      physical_network: orNull(text)(physical ?? null, field),
      segmentation_id: orNull(integer)(id ?? null, field),
    };
  });
}

/** The segments of a new network, with the numbers that the cloud chooses where none are given. */
export function newSegments(
  state: NetworkState,
  input: SegmentsInput,
): readonly [SegmentKind, ...(readonly SegmentKind[])] {
  let next = nextSegment(state);
  const complete = (kind: SegmentKind): SegmentKind => {
    const chosen = numbered(kind.network_type) ? next++ : null;
    return { ...kind, segmentation_id: kind.segmentation_id ?? chosen };
  };
  const [first, ...others] = askedSegments(input);
  return [complete(first ?? plainSegment), ...others.map(complete)];
}

const plainSegment: SegmentKind = { network_type: "geneve", physical_network: null, segmentation_id: null };

/** The segments of a new network, as requested; 400 for those that this cloud does not support. */
function askedSegments(input: SegmentsInput): readonly SegmentKind[] {
  const own = {
    network_type: input["provider:network_type"],
    physical_network: input["provider:physical_network"] ?? null,
    segmentation_id: input["provider:segmentation_id"] ?? null,
  };
  const isProvider = Object.values(own).some((value) => value !== undefined && value !== null);
  const { segments } = input;
  if (segments === undefined && !isProvider) return [plainSegment];
  if (segments !== undefined && isProvider) {
    const why = "Segments and provider values cannot both be set.";
    throw neutronError(400, "SegmentsSetInConjunctionWithProviders", why);
  }
  if (segments === undefined && own.network_type === undefined) throw invalidInput("network_type required.");
  const kinds = segments ?? [{ ...own, network_type: own.network_type ?? "" }];
  for (const kind of kinds) checkSegment(kind);
  const whole = kinds.filter((kind) => kind.segmentation_id !== null || !numbered(kind.network_type));
  if (new Set(whole.map((kind) => JSON.stringify(kind))).size < whole.length) {
    throw neutronError(400, "SegmentsContainDuplicateEntry", "Duplicate segment entry in request.");
  }
  return kinds;
}

/** What encapsulation takes of the 1500 bytes of the physical network. */
const overheads: Readonly<Record<string, number>> = { geneve: 58, vxlan: 50 };

/** The largest packet that fits all segments. */
export const largestMtu = (kinds: readonly SegmentKind[]): number =>
  1500 - Math.max(0, ...kinds.map((kind) => overheads[kind.network_type] ?? 0));

/** 400 for packets that do not fit the network's segments. */
export function checkMtu(kinds: readonly SegmentKind[], wanted: number | undefined): void {
  const most = largestMtu(kinds);
  if (wanted !== undefined && wanted > most) throw invalidInput(`Requested MTU is too big, maximum is ${most}.`);
}
