import { isRecord } from "@causeway/foundation";
import type { Namespace } from "@causeway/kubernetes";
import type { PodsSettings } from "../options.ts";
import {
  awaitedAnnotation,
  digestOf,
  handOverAnnotation,
  idAnnotation,
  ownerAnnotation,
  releasedAnnotation,
} from "../tenant.ts";
import type { Step } from "./steps.ts";

/** A control plane goes to another management cluster, as its namespace says. */
export interface HandOver {
  /** No other hand-over has it: an acknowledgement of an earlier one does not count. */
  readonly id: string;
  /** The management cluster that is to have it. */
  readonly to: string;
}

/** What a manager writes when it saw the request. */
export interface Acknowledgement {
  readonly id: string;
  /** The uid of namespace kube-system of its management cluster: an owner is only a name. */
  readonly management?: string;
  /** Digests of the settings that pods are made from, by their names. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Undefined: it is not handed over. What cannot be read is a request to no management cluster: its manager waits. */
export function handOverOf({ metadata }: Namespace): HandOver | undefined {
  const text = metadata.annotations?.[handOverAnnotation];
  if (text === undefined) return undefined;
  const { id, to } = parsed(text);
  return typeof id === "string" && typeof to === "string" ? { id, to } : { id: text, to: "" };
}

/** Of this hand-over; undefined: none yet. */
export function acknowledged(
  { metadata }: Namespace,
  by: "released" | "awaited",
  { id }: HandOver,
): Acknowledgement | undefined {
  const text = metadata.annotations?.[by === "released" ? releasedAnnotation : awaitedAnnotation];
  const { id: of, management, settings } = parsed(text ?? "");
  if (of !== id || !isRecord(settings)) return undefined;
  const digests = Object.entries(settings).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return { id, ...(typeof management === "string" ? { management } : {}), settings: Object.fromEntries(digests) };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** Is it the namespace of this control plane of this management cluster? */
export function isOwnedBy({ metadata: { annotations = {} } }: Namespace, owner: string, id: string): boolean {
  return annotations[idAnnotation] === id && annotations[ownerAnnotation] === owner;
}

/** Its manager does nothing more with it, or has it no longer. */
export function isHandedOver({
  namespace,
  settings,
  spec,
}: {
  readonly namespace: Namespace | undefined;
  readonly settings: Pick<PodsSettings, "owner">;
  readonly spec: { readonly id: string };
}): boolean {
  if (namespace === undefined) return false;
  return handOverOf(namespace) !== undefined || !isOwnedBy(namespace, settings.owner, spec.id);
}

/**
 * What the manager of `settings.owner` has to write. "none": it is not handed over, or to another one and from another
 * one. "given": it was written.
 */
export function acknowledgement(namespace: Namespace, settings: PodsSettings): Step | "none" | "given" {
  const handOver = handOverOf(namespace);
  if (handOver === undefined) return "none";
  const isOwner = namespace.metadata.annotations?.[ownerAnnotation] === settings.owner;
  if (!isOwner && handOver.to !== settings.owner) return "none";
  const by = isOwner ? "released" : "awaited";
  if (acknowledged(namespace, by, handOver) !== undefined) return "given";
  const annotation = isOwner ? releasedAnnotation : awaitedAnnotation;
  return {
    type: "acknowledge",
    namespace,
    annotation,
    content: { id: handOver.id, ...managementOf(settings), settings: settingsDigests(settings) },
  };
}

const managementOf = ({ management }: PodsSettings) => (management === undefined ? {} : { management });

/** What pods, their policies and endpoints are made from. Ceilings and the shared etcd's size change none of them. */
function settingsDigests({ owner: _owner, management: _of, ceilings: _ceilings, pool: _pool, ...rest }: PodsSettings) {
  const entries = Object.entries(rest).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, digestOf([value]).slice(0, 12)]));
}
