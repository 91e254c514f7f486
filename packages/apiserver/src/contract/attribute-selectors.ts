import { record, records, text, texts, type Json } from "../json/json.ts";
import type { Attributes } from "./attributes.ts";
import type { Requirement } from "./attributes.ts";

type Selectors = Pick<Attributes, "fieldRequirements" | "labelRequirements">;

/** The requirements in the resourceAttributes of an access review; those that cannot be read count as not there. */
export function selectorsOf(resource: Json): { selectors: Selectors; errors: readonly string[] } {
  const fields = read(resource["fieldSelector"], fieldRequirements);
  const labels = read(resource["labelSelector"], labelRequirements);
  const ignored = ({ found, whole }: Read, name: string): string[] =>
    whole ? [] : [`spec.resourceAttributes.${name}${found.length > 0 ? " partially" : ""} ignored due to parse error`];
  return {
    selectors: {
      ...(fields.found.length > 0 ? { fieldRequirements: fields.found } : {}),
      ...(labels.found.length > 0 ? { labelRequirements: labels.found } : {}),
    },
    errors: [...ignored(fields, "fieldSelector"), ...ignored(labels, "labelSelector")],
  };
}

interface Read {
  readonly found: readonly Requirement[];
  /** Everything could be read. */
  readonly whole: boolean;
}

function read(selector: unknown, parse: (raw: string) => readonly Requirement[] | undefined): Read {
  const { rawSelector, requirements } = record(selector);
  const raw = text(rawSelector);
  if (raw) {
    const found = parse(raw);
    return { found: found ?? [], whole: found !== undefined };
  }
  const given = records(requirements);
  const found = given.flatMap(({ key, operator, values }): Requirement[] =>
    isOperator(operator) ? [{ key: text(key), operator, values: texts(values) }] : [],
  );
  return { found, whole: found.length === given.length };
}

function isOperator(value: unknown): value is Requirement["operator"] {
  return value === "In" || value === "NotIn" || value === "Exists" || value === "DoesNotExist";
}

/** "metadata.name=a,spec.nodeName!=b" */
export function fieldRequirements(raw: string): readonly Requirement[] | undefined {
  const found: Requirement[] = [];
  for (const term of raw.split(/(?<!\\),/).filter(Boolean)) {
    const [, key, sign, value] = /^([^=!]+)(!=|==|=)(.*)$/.exec(term) ?? [];
    if (key === undefined) return undefined;
    const plain = (value ?? "").replace(/\\(.)/g, "$1");
    found.push({ key, operator: sign === "!=" ? "NotIn" : "In", values: [plain] });
  }
  return found;
}

/** "a=b,c in (d,e),!f,g" */
function labelRequirements(raw: string): readonly Requirement[] | undefined {
  const found: Requirement[] = [];
  for (const term of raw.split(/,(?![^(]*\))/).map((t) => t.trim())) {
    const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(term);
    const equal = /^([^\s=!]+)\s*(!=|==|=)\s*(\S*)$/.exec(term);
    const exists = /^(!?)\s*([^\s=!(),]+)$/.exec(term);
    if (set) {
      const values = (set[3] ?? "").split(",").map((v) => v.trim());
      found.push({ key: set[1] ?? "", operator: set[2] === "in" ? "In" : "NotIn", values });
    } else if (equal) {
      found.push({ key: equal[1] ?? "", operator: equal[2] === "!=" ? "NotIn" : "In", values: [equal[3] ?? ""] });
    } else if (exists) {
      found.push({ key: exists[2] ?? "", operator: exists[1] ? "DoesNotExist" : "Exists", values: [] });
    } else return undefined;
  }
  return found;
}
