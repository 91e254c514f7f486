/** A version of Kubernetes, such as v1.34.2-rc.1+build.1. */
export interface KubernetesVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** "" of a release. */
  readonly prerelease: string;
  /** "" if the version names none. */
  readonly build: string;
}

const shape = /^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:-([0-9A-Za-z.-]{1,200}))?(?:\+([0-9A-Za-z.-]{1,200}))?$/;

/** The parts of a version, with or without "v"; undefined if the text is none. */
export function readVersion(text: string): KubernetesVersion | undefined {
  const [, major, minor, patch, prerelease = "", build = ""] = shape.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), prerelease, build };
}

/**
 * Negative: `a` is older; 0: neither is. The order of semver.org, section 11: a pre-release comes before its release,
 * and builds have no order. A text that is not a version comes before all versions.
 *
 * @example
 *   ["v1.10.0", "v1.9.0", "v1.10.0-rc.1"].toSorted(compareVersions); // ["v1.9.0", "v1.10.0-rc.1", "v1.10.0"]
 */
export function compareVersions(a: string, b: string): -1 | 0 | 1 {
  const [one, other] = [readVersion(a), readVersion(b)];
  if (!one || !other) return sign(Number(one !== undefined) - Number(other !== undefined));
  const numbers = one.major - other.major || one.minor - other.minor || one.patch - other.patch;
  return sign(numbers || comparePrereleases(one.prerelease, other.prerelease));
}

function comparePrereleases(a: string, b: string): number {
  if (a === "" || b === "") return Number(a === "") - Number(b === "");
  const [ones, others] = [a.split("."), b.split(".")];
  for (const [at, one] of ones.entries()) {
    const other = others[at];
    if (other === undefined) return 1;
    const order = compareIdentifiers(one, other);
    if (order !== 0) return order;
  }
  return ones.length - others.length;
}

/** Numbers come before words, and are compared as numbers; words by their characters. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return a.length - b.length || Number(a > b) - Number(a < b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return Number(a > b) - Number(a < b);
}

function sign(value: number): -1 | 0 | 1 {
  return value < 0 ? -1 : value > 0 ? 1 : 0;
}
