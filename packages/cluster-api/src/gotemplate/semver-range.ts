type Version = readonly [number, number, number];
interface Parsed {
  readonly parts: Version;
  /** How many of major, minor and patch were given. */
  readonly given: number;
  readonly prerelease: string;
}

const shape =
  /^v?(\d{1,9}|[xX*])(?:\.(\d{1,9}|[xX*]))?(?:\.(\d{1,9}|[xX*]))?(?:-([\w.-]{1,100}))?(?:\+[\w.-]{1,100})?$/;

/**
 * Whether a version is in a range such as ">= 1.28.0, < 1.31" or "^1.2 || ~2.0", as Masterminds' semver reads ranges.
 */
export function satisfies(version: string, range: string): boolean {
  const wanted = parse(version);
  return range.split("||").some((all) => {
    const spaced = all.trim().replaceAll(/([<>=!~^]+)\s+/g, "$1");
    return spaced
      .split(/[\s,]+/)
      .filter(Boolean)
      .every((one) => holds(wanted, one));
  });
}

function parse(text: string): Parsed {
  const found = shape.exec(text);
  if (!found) throw new Error(`improper constraint or version: ${text}`);
  const given = found.slice(1, 4).findIndex((part) => part === undefined || /^[xX*]$/.test(part));
  const part = (at: number) => (/^\d/.test(found[at] ?? "") ? Number(found[at]) : 0);
  return { parts: [part(1), part(2), part(3)], given: given === -1 ? 3 : given, prerelease: found[4] ?? "" };
}

function holds(version: Parsed, constraint: string): boolean {
  const [, sign = "", text = ""] = /^([<>=!~^]*)(.*)$/.exec(constraint) ?? [];
  const bound = parse(text);
  // A prerelease satisfies only constraints that have one themselves.
  if (version.prerelease !== "" && bound.prerelease === "") return false;
  const sides = compare(version, bound);
  const same = version.parts.slice(0, bound.given).every((part, at) => part === bound.parts[at]);
  const judge = Object.hasOwn(judges, sign) ? judges[sign] : undefined;
  if (!judge) throw new Error(`improper constraint: ${constraint}`);
  return judge({ version, bound, sides, same });
}

interface Sides {
  readonly version: Parsed;
  readonly bound: Parsed;
  readonly sides: number;
  /** Equal as far as the bound goes. */
  readonly same: boolean;
}

const equal = ({ bound, sides, same }: Sides) => (bound.given === 3 ? sides === 0 : same);
const atLeast = ({ sides }: Sides) => sides >= 0;
const atMost = ({ bound, sides, same }: Sides) => sides <= 0 || (bound.given < 3 && same);
const tilde = ({ version, bound, sides }: Sides) => sides >= 0 && agree(version, bound, Math.min(2, bound.given));

const judges: Readonly<Record<string, (sides: Sides) => boolean>> = {
  "": equal,
  "=": equal,
  "!=": (given) => !equal(given),
  ">": ({ bound, sides, same }) => sides > 0 && (bound.given === 3 || !same),
  ">=": atLeast,
  "=>": atLeast,
  "<": ({ sides }) => sides < 0,
  "<=": atMost,
  "=<": atMost,
  "~": tilde,
  "~>": tilde,
  "^": ({ version, bound, sides }) => {
    const fixed = bound.parts.findIndex((part) => part > 0);
    return sides >= 0 && agree(version, bound, (fixed === -1 ? Math.max(0, bound.given - 1) : fixed) + 1);
  },
};

function agree(version: Parsed, bound: Parsed, parts: number): boolean {
  return version.parts.slice(0, parts).every((part, at) => part === bound.parts[at]);
}

function compare(a: Parsed, b: Parsed): number {
  for (let at = 0; at < 3; at++) {
    const difference = (a.parts[at] ?? 0) - (b.parts[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.prerelease === b.prerelease) return 0;
  if (a.prerelease === "" || b.prerelease === "") return a.prerelease === "" ? 1 : -1;
  return a.prerelease < b.prerelease ? -1 : 1;
}
