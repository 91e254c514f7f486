import type { OpenStackRelease, OpenStackService } from "@causeway/api";
import { nearest } from "./nearest.ts";
import { serviceSchema, type Section, type ServiceSchema } from "./schema.ts";
import type { Sections } from "./sections.ts";

/** An option that the service would not read, or whose value it would refuse. */
export interface OptionProblem {
  readonly service: OpenStackService;
  readonly section: string;
  readonly option: string;
  readonly message: string;
}

/** What the check has to know of the deployment. */
export interface CheckOptions {
  /** Names of sections that the administrator gives, such as those of enabled_backends. */
  readonly named?: readonly string[];
}

/**
 * Every option that this release does not know or whose value has another type. Empty where no schema is part of the
 * package.
 */
export function checkConfiguration(
  release: OpenStackRelease,
  service: OpenStackService,
  sections: Sections,
  options: CheckOptions = {},
): OptionProblem[] {
  const schema = serviceSchema(release, service);
  if (!schema) return [];
  const backends = namedSections(sections, options.named ?? []);
  return Object.entries(sections).flatMap(([section, values]) => {
    const known = schema.section(section) ?? (backends.has(section) ? schema.named : undefined);
    if (!known) {
      const message = `${release} of ${service} has no section [${section}]${hint(section, schema.names)}`;
      return [{ service, section, option: "", message }];
    }
    return Object.entries(values).flatMap(([option, value]) => {
      const message = problemOf({ schema, known, section, option }, value);
      return message === undefined ? [] : [{ service, section, option, message: `[${section}] ${option}: ${message}` }];
    });
  });
}

/** Sections that enabled_backends and the like declare: "ceph:rbd,files:file" or "ceph,lvm". */
function namedSections(sections: Sections, more: readonly string[]): Set<string> {
  const { enabled_backends = "", enabled_share_backends = "" } = sections["DEFAULT"] ?? {};
  const declared = `${enabled_backends},${enabled_share_backends}`.split(",").map((each) => each.split(":")[0]?.trim());
  const fixed = ["os_glance_staging_store", "os_glance_tasks_store"];
  return new Set([...declared.filter((name): name is string => !!name), ...fixed, ...more]);
}

interface Place {
  readonly schema: ServiceSchema;
  readonly known: Section;
  readonly section: string;
  readonly option: string;
}

function problemOf({ schema, known, section, option }: Place, value: string): string | undefined {
  if (/[\r\n]/.test(value)) return "a value has no line breaks";
  const type = known[option] ?? known[option.replaceAll("-", "_")];
  if (type !== undefined) return valueProblem(type.replace(/!$/, ""), value);
  const elsewhere = schema.names.find((name) => schema.section(name)?.[option] !== undefined);
  if (elsewhere !== undefined && elsewhere !== section) return `no such option; it is in section [${elsewhere}]`;
  return `no such option${hint(option, Object.keys(known))}`;
}

function hint(word: string, words: readonly string[]): string {
  const found = nearest(word, words);
  return found === undefined ? "" : `; did you mean ${found}?`;
}

const BOOLEAN = ["true", "false", "1", "0", "yes", "no", "on", "off"];

/**
 * Why oslo.config would refuse the value; undefined: it would take it. A reference to another option is resolved by the
 * service.
 */
function valueProblem(type: string, value: string): string | undefined {
  if (value.includes("$")) return undefined;
  const choices = /\{(.*)\}$/.exec(type)?.[1]?.split(",");
  const [low, high] = boundsOf(type);
  switch (type[0]) {
    case "b":
      return BOOLEAN.includes(value.toLowerCase()) ? undefined : `"${value}" is not a boolean; allowed: true, false`;
    case "p":
      return numberProblem(value, { low: 0, high: 65_535, whole: true });
    case "i":
      return numberProblem(value, { low, high, whole: true }) ?? choiceProblem(choices, value);
    case "f":
      return numberProblem(value, { low, high, whole: false });
    case "d":
      return value === "" || value.split(",").every((pair) => pair.includes(":"))
        ? undefined
        : "not key:value,key:value";
    case "s":
      return choiceProblem(choices, value);
    default:
      return undefined;
  }
}

function boundsOf(type: string): [number | undefined, number | undefined] {
  const [, low = "", high = ""] = /^.([-\d.]*):([-\d.]*)/.exec(type) ?? [];
  return [low === "" ? undefined : Number(low), high === "" ? undefined : Number(high)];
}

interface Range {
  readonly low: number | undefined;
  readonly high: number | undefined;
  readonly whole: boolean;
}

function numberProblem(value: string, { low, high, whole }: Range): string | undefined {
  const pattern = whole ? /^[-+]?\d+$/ : /^[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?$/;
  if (!pattern.test(value.trim())) return `"${value}" is not ${whole ? "a whole number" : "a number"}`;
  const number = Number(value);
  if (low !== undefined && number < low) return `${value} is less than ${low}`;
  if (high !== undefined && number > high) return `${value} is more than ${high}`;
  return undefined;
}

function choiceProblem(choices: readonly string[] | undefined, value: string): string | undefined {
  if (!choices || choices.includes(value)) return undefined;
  return `"${value}" is not allowed; allowed: ${choices.filter(Boolean).join(", ")}`;
}
