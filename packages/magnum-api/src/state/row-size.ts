import type { KubeObject } from "@causeway/kubernetes";
import { conflict } from "../wire/error.ts";

/**
 * Bytes of a row. API servers refuse objects of more than 1.5 MiB, of which a row's own keys take twice their size,
 * once among its managed fields, and its status the rest.
 */
const LARGEST = 512 * 1024;

type Row = KubeObject & { readonly spec?: unknown };

/** Its spec, annotations and labels: what clients write. The mark of a deleted node group is always accepted. */
function bytesOf({ metadata, spec }: Row): number {
  const counted = (key: string, value: unknown) => (key === "deletedAt" ? undefined : value);
  return Buffer.byteLength(JSON.stringify([spec, metadata.annotations, metadata.labels], counted));
}

/**
 * Refuses a row that is too large to be written with its status; one that becomes no larger is always accepted.
 * @throws MagnumError 409
 */
export function requireRoom(before: Row | undefined, after: Row): void {
  const bytes = bytesOf(after);
  if (bytes <= LARGEST || (before !== undefined && bytes <= bytesOf(before))) return;
  const [kind, name] = after.kind === "MagnumCluster" ? ["Cluster", nameOf(after)] : [after.kind, after.metadata.name];
  throw conflict(
    `${kind} ${name} would have ${Math.ceil(bytes / 1024)} KiB, and at most ${LARGEST / 1024} are accepted: delete node groups, or give them fewer labels.`,
  );
}

const nameOf = ({ spec }: Row): string => (spec as { readonly name: string }).name;
