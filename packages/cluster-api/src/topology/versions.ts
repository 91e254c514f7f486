/** A version of Kubernetes, such as v1.34.2+build.1. */
export interface Version {
  readonly minor: number;
  readonly patch: number;
  readonly prerelease: string;
  readonly build: string;
}

const shape = /^v?1\.(\d{1,6})\.(\d{1,6})(?:-([0-9A-Za-z.-]{1,200}))?(?:\+([0-9A-Za-z.-]{1,200}))?$/;

/** @throws Error when the text is no version */
export function parseVersion(text: string): Version {
  const [, minor, patch, prerelease = "", build = ""] = shape.exec(text) ?? [];
  if (minor === undefined || patch === undefined)
    throw new Error(`${JSON.stringify(text)} is no version of Kubernetes, such as v1.34.0`);
  return { minor: Number(minor), patch: Number(patch), prerelease, build };
}

/** -1: `a` is older; 1: it is newer; 2: the two differ in their build only, which has no order. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [parseVersion(a), parseVersion(b)];
  const numbers = one.minor - other.minor || one.patch - other.patch || prereleases(one.prerelease, other.prerelease);
  if (numbers !== 0) return Math.sign(numbers);
  return one.build === other.build ? 0 : 2;
}

function prereleases(a: string, b: string): number {
  if (a === b) return 0;
  if (a === "" || b === "") return a === "" ? 1 : -1;
  return a.localeCompare(b, "en", { numeric: true }) < 0 ? -1 : 1;
}

/** Builds count: v1.34.2+a and v1.34.2+b are not the same. @throws Error when a text is no version */
export function isSameVersion(a: string, b: string): boolean {
  return compareVersions(a, b) === 0;
}
