import { annotations, type ClusterClass } from "@causeway/api";

/** Whether the annotation of a pause is there. */
export function isPausedClass({ metadata }: ClusterClass): boolean {
  return metadata.annotations?.[annotations.paused] !== undefined;
}
