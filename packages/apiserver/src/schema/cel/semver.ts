import type { CelEnvironment } from "./cel-environment.ts";

const NUMBER = "(0|[1-9]\\d*)";
const IDENTIFIERS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
const STRICT = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${IDENTIFIERS}))?(?:\\+(${IDENTIFIERS}))?$`);
const TYPE = "kubernetes.Semver";

class Semver {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly pre: readonly string[];
  constructor(numbers: readonly [bigint, bigint, bigint], pre: readonly string[]) {
    this.numbers = numbers;
    this.pre = pre;
  }
}

/** Kubernetes' semver library: versions by semver.org 2.0; `true` normalizes "v1.2" to 1.2.0 first. */
export function registerSemver(environment: CelEnvironment): void {
  environment.registerType(TYPE, { ctor: Semver, fields: {} });
  environment
    .registerFunction("isSemver(string): bool", (text: string) => read(text) !== undefined)
    .registerFunction("isSemver(string, bool): bool", (text: string, loose: boolean) => read(text, loose) !== undefined)
    .registerFunction(`semver(string): ${TYPE}`, (text: string) => parse(text))
    .registerFunction(`semver(string, bool): ${TYPE}`, (text: string, loose: boolean) => parse(text, loose))
    .registerFunction(`${TYPE}.major(): int`, (v: Semver) => v.numbers[0])
    .registerFunction(`${TYPE}.minor(): int`, (v: Semver) => v.numbers[1])
    .registerFunction(`${TYPE}.patch(): int`, (v: Semver) => v.numbers[2])
    .registerFunction(`${TYPE}.compareTo(${TYPE}): int`, (a: Semver, b: Semver) => BigInt(compare(a, b)))
    .registerFunction(`${TYPE}.isLessThan(${TYPE}): bool`, (a: Semver, b: Semver) => compare(a, b) < 0)
    .registerFunction(`${TYPE}.isGreaterThan(${TYPE}): bool`, (a: Semver, b: Semver) => compare(a, b) > 0)
    .registerOperator(`${TYPE} == ${TYPE}`, (a: Semver, b: Semver) => compare(a, b) === 0);
}

function parse(text: string, loose = false): Semver {
  const version = read(text, loose);
  if (version === undefined) throw new Error(`${text} is not a version`);
  return version;
}

function read(text: string, loose = false): Semver | undefined {
  const match = STRICT.exec(loose ? normalized(text) : text);
  if (match === null) return undefined;
  const [, major = "0", minor = "0", patch = "0", pre] = match;
  const parts = pre === undefined ? [] : pre.split(".");
  if (parts.some((part) => /^0\d+$/.test(part))) return undefined;
  return new Semver([BigInt(major), BigInt(minor), BigInt(patch)], parts);
}

function normalized(text: string): string {
  const [, core = "", rest = ""] = /^v?([\d.]*)(.*)$/s.exec(text) ?? [];
  const numbers = core.split(".").map((n) => n.replace(/^0+(?=\d)/, ""));
  if (rest === "") while (numbers.length < 3) numbers.push("0");
  return numbers.join(".") + rest;
}

function compare(a: Semver, b: Semver): number {
  for (const i of [0, 1, 2] as const) if (a.numbers[i] !== b.numbers[i]) return a.numbers[i] < b.numbers[i] ? -1 : 1;
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length);
  for (const [i, left] of a.pre.entries()) {
    const right = b.pre[i];
    if (right === undefined) return 1;
    const order = compareParts(left, right);
    if (order !== 0) return order;
  }
  return a.pre.length < b.pre.length ? -1 : 0;
}

/** Numbers by value and before words. */
function compareParts(a: string, b: string): number {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left && right) return Number(BigInt(a) - BigInt(b) > 0n) - Number(BigInt(a) - BigInt(b) < 0n);
  if (left !== right) return left ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
