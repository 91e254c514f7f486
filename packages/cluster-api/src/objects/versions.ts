import { compareVersions, readVersion, type KubernetesVersion } from "@causeway/kubernetes";

/** @throws Error when the text is not a version of Kubernetes 1 */
export function parseVersion(text: string): KubernetesVersion {
  const version = readVersion(text);
  if (version?.major !== 1) throw new Error(`${JSON.stringify(text)} is not a version of Kubernetes, such as v1.34.0`);
  return version;
}

/** "1.34.0" as "v1.34.0"; a text that is not a version remains as it is, for rules to refuse. */
export function withPrefix(text: string): string {
  return !text.startsWith("v") && readVersion(text) ? `v${text}` : text;
}

/** True if two texts are equal but for the "v" that admission adds, also where they are no versions. */
export function isStoredAlike(a: string | undefined, b: string | undefined): boolean {
  return withPrefix(a ?? "") === withPrefix(b ?? "");
}

/** -1: `a` is older; 1: it is newer; 2: the two differ in their build only, which has no order. @throws Error */
export function compareBuilds(a: string, b: string): -1 | 0 | 1 | 2 {
  const [one, other] = [parseVersion(a), parseVersion(b)];
  const order = compareVersions(a, b);
  return order === 0 && one.build !== other.build ? 2 : order;
}

/** Builds count: v1.34.2+a and v1.34.2+b are not the same. @throws Error when a text is not a version */
export function isSameVersion(a: string, b: string): boolean {
  return compareBuilds(a, b) === 0;
}
