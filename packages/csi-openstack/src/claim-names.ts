/** What csi-provisioner adds to the parameters with --extra-create-metadata. */
export const CLAIM_NAME = "csi.storage.k8s.io/pvc/name";
/** The parameter of a CSI create that has the namespace of the volume's claim. */
export const CLAIM_NAMESPACE = "csi.storage.k8s.io/pvc/namespace";
const PROVISIONER_METADATA: readonly string[] = [CLAIM_NAME, CLAIM_NAMESPACE, "csi.storage.k8s.io/pv/name"];

/** The claim and volume that a create request is for, as metadata of what is created. */
export function provisionerMetadata(parameters: Readonly<Record<string, string>>): Record<string, string> {
  return pick(parameters, PROVISIONER_METADATA);
}

/** The entries of these keys that are there. */
export function pick(all: Readonly<Record<string, string>>, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]] as const])));
}
