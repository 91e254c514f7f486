import { isRecord, type Json } from "../json/json.ts";

/** One field of a struct of apiextensions.k8s.io/v1. */
interface Member {
  readonly below?: () => Fields;
  readonly shape?: "list" | "map";
  /** Decoded by a function of its own, which reports no unknown fields. */
  readonly isQuiet?: boolean;
}

type Fields = Readonly<Record<string, Member>>;

const VALUE: Member = {};
const LIST: Member = { shape: "list" };
const values = (names: string): Fields => Object.fromEntries(names.split(" ").map((name) => [name, VALUE]));
const one = (below: () => Fields): Member => ({ below });
const list = (below: () => Fields): Member => ({ below, shape: "list" });

const SCHEMA: Fields = {
  ...values("id $schema $ref description type format title default maximum exclusiveMaximum minimum exclusiveMinimum"),
  ...values("maxLength minLength pattern maxItems minItems uniqueItems multipleOf maxProperties minProperties example"),
  ...values("nullable x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource x-kubernetes-int-or-string"),
  ...values("x-kubernetes-list-type x-kubernetes-map-type"),
  enum: LIST,
  required: LIST,
  "x-kubernetes-list-map-keys": LIST,
  items: { below: () => SCHEMA, isQuiet: true },
  additionalItems: { below: () => SCHEMA, isQuiet: true },
  additionalProperties: { below: () => SCHEMA, isQuiet: true },
  dependencies: { below: () => SCHEMA, shape: "map", isQuiet: true },
  allOf: list(() => SCHEMA),
  anyOf: list(() => SCHEMA),
  oneOf: list(() => SCHEMA),
  not: one(() => SCHEMA),
  properties: { below: () => SCHEMA, shape: "map" },
  patternProperties: { below: () => SCHEMA, shape: "map" },
  definitions: { below: () => SCHEMA, shape: "map" },
  externalDocs: one(() => values("description url")),
  "x-kubernetes-validations": list(() => values("rule message messageExpression reason fieldPath optionalOldSelf")),
};

const VERSION: Fields = {
  ...values("name served storage deprecated deprecationWarning"),
  schema: one(() => ({ openAPIV3Schema: one(() => SCHEMA) })),
  subresources: one(() => ({
    status: one(() => ({})),
    scale: one(() => values("specReplicasPath statusReplicasPath labelSelectorPath")),
  })),
  additionalPrinterColumns: list(() => values("name type format description priority jsonPath")),
  selectableFields: list(() => values("jsonPath")),
};

const SPEC: Fields = {
  ...values("group scope preserveUnknownFields"),
  names: one(() => ({ ...values("plural singular kind listKind"), shortNames: LIST, categories: LIST })),
  versions: list(() => VERSION),
  conversion: one(() => ({
    strategy: VALUE,
    webhook: one(() => ({
      conversionReviewVersions: VALUE,
      clientConfig: one(() => ({ ...values("url caBundle"), service: one(() => values("namespace name path port")) })),
    })),
  })),
};

const KEPT_EMPTY = new Set(["versions", "conversionReviewVersions"]);

/** Not said where they are false. */
const UNSAID = new Set(
  "uniqueItems exclusiveMaximum exclusiveMinimum nullable x-kubernetes-embedded-resource x-kubernetes-int-or-string".split(
    " ",
  ),
);

/**
 * The spec of a CRD without the fields that there are not and without empty lists; `report` gets the path of
 * each unknown field.
 */
export function settledSpec(spec: unknown, report: (path: string) => void): unknown {
  return settled(spec, SPEC, { path: "spec", report });
}

interface Place {
  readonly path: string;
  readonly report: (path: string) => void;
}

function settled(value: unknown, fields: Fields, { path, report }: Place): unknown {
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).flatMap(([name, child]): [string, unknown][] => {
    const member = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!member) report(`${path}.${name}`);
    if (!member || (isEmpty(child, member) && !KEPT_EMPTY.has(name))) return [];
    if (child === false && UNSAID.has(name)) return [];
    return [[name, memberOf(child, member, { path: `${path}.${name}`, report: member.isQuiet ? () => {} : report })]];
  });
  return Object.fromEntries(kept);
}

function isEmpty(value: unknown, { shape }: Member): boolean {
  if (value === null) return true;
  if (shape === "list") return Array.isArray(value) && value.length === 0;
  return shape === "map" && isRecord(value) && Object.keys(value).length === 0;
}

function memberOf(value: unknown, { below, shape }: Member, place: Place): unknown {
  if (!below) return value;
  if (Array.isArray(value)) {
    return value.map((item, i) => settled(item, below(), { ...place, path: `${place.path}[${i}]` }));
  }
  if (shape !== "map" || !isRecord(value)) return settled(value, below(), place);
  const entries = Object.entries(value as Json);
  return Object.fromEntries(
    entries.map(([key, item]) => [key, settled(item, below(), { ...place, path: `${place.path}.${key}` })]),
  );
}
