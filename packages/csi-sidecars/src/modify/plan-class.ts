import type { PersistentVolumeClaim } from "@causeway/kubernetes";

/** The class that the claim is to have and does not have; undefined: nothing is to change. */
export function wantedClass({ spec, status }: PersistentVolumeClaim): string | undefined {
  const name = spec.volumeAttributesClassName;
  return name === undefined || name === "" || name === status?.currentVolumeAttributesClassName ? undefined : name;
}
