import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, records, text, texts, type Json } from "../json/json.ts";
import { STATUS } from "../contract/define.ts";
import {
  apiVersionOf,
  type Column,
  type Resource,
  type ResourceVersion,
  type Strategy,
  type Subresource,
} from "../contract/resource.ts";
import { renaming, type Converter } from "../contract/converter.ts";
import { createForms } from "../contract/forms.ts";
import { registeredConverter } from "../conversion/registered.ts";

import { webhookConverter } from "../conversion/webhook.ts";

import { compileSchema, type CompiledSchema } from "../schema/index.ts";
import { age } from "../tables/age.ts";
import { AGE, NAME } from "../tables/table.ts";
import { finalizerWarnings } from "./finalizer-warnings.ts";
import { columnReader } from "./json-path.ts";
import { scaleProblems } from "./scale-rules.ts";
import { byPriority } from "./strategy.ts";
import type { Conversions } from "../contract/converter.ts";

const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/** Where a CRD's objects are stored, whether or not it is established. */
export function storageOf(definition: KubeObject): string {
  const spec = record(fields(definition)["spec"]);
  return `${text(spec["group"])}/${text(record(spec["names"])["plural"])}`;
}

/** The REST resource that an established CRD makes; undefined while its names are not accepted. */
export function resourceOf(definition: KubeObject, conversions?: Conversions): Resource | undefined {
  const { spec: specValue, status } = fields(definition);
  const spec = record(specValue);
  const established = records(record(status)["conditions"]).some(
    (c) => c["type"] === "Established" && c["status"] === "True",
  );
  if (!established) return undefined;
  const names = record(record(status)["acceptedNames"]);
  const group = text(spec["group"]);
  const versions = records(spec["versions"]);
  const storage = versions.find((v) => v["storage"] === true);
  const all = versions.map((v) => versionOf(v, deprecation(v, { group, kind: text(names["kind"]), versions })));
  const storedAs = apiVersionOf(group, text(storage?.["name"]));
  return {
    group,
    plural: text(names["plural"]),
    singular: text(names["singular"]),
    kind: text(names["kind"]),
    listKind: text(names["listKind"]),
    shortNames: texts(names["shortNames"]),
    categories: texts(names["categories"]),
    namespaced: spec["scope"] === "Namespaced",
    verbs: VERBS,
    versions: all.filter((_, i) => versions[i]?.["served"] === true).sort((a, b) => byPriority(a.name, b.name)),
    storedAs,
    storage: `${group}/${text(names["plural"])}`,
    custom: true,
    generation: true,
    strategy: strategyOf(group, all),
    unconditionalUpdate: false,
    createdByUpdate: false,
    forms: createForms({
      storedAs,
      schemas: new Map(all.map((v) => [apiVersionOf(group, v.name), () => v.schema])),
      since: Number(definition.metadata.resourceVersion ?? 0),
      converter: converterOf(spec, conversions),
    }),
  };
}

/** The rules of custom kinds in addition to their schemas: what a scale is made of has to be numbers. */
function strategyOf(group: string, versions: readonly ResourceVersion[]): Strategy {
  const scales = new Map(
    versions.flatMap((v) => {
      const scale = v.subresources?.find((s) => s.name === "scale")?.scale;
      return scale ? [[apiVersionOf(group, v.name), scale] as const] : [];
    }),
  );
  const warning: Strategy = {
    admit(object, old, context) {
      if (context.subresource === "") for (const warning of finalizerWarnings(object, old)) context.warn(warning);
    },
  };
  if (scales.size === 0) return warning;
  return {
    ...warning,
    validate(object, _old, { subresource }) {
      const scale = scales.get(object.apiVersion);
      return scale ? scaleProblems(fields(object), scale, subresource === "status") : [];
    },
  };
}

function converterOf(spec: Json, conversions: Conversions | undefined): Converter {
  const registered = conversions?.registered(text(spec["group"]), text(at(spec, "names", "kind")));
  if (registered) return registeredConverter(registered);
  if (at(spec, "conversion", "strategy") !== "Webhook" || !conversions) return renaming;
  return webhookConverter(record(at(spec, "conversion", "webhook")), conversions.webhooks);
}

interface Kind {
  readonly group: string;
  readonly kind: string;
  readonly versions: readonly Json[];
}

/** What users of a deprecated version are warned with: its own words, or which version to use instead. */
function deprecation(version: Json, { group, kind, versions }: Kind): string | undefined {
  if (version["deprecated"] !== true) return undefined;
  const own = text(version["deprecationWarning"]);
  if (own) return own;
  const name = text(version["name"]);
  const better = versions
    .filter((v) => v["served"] === true && v["deprecated"] !== true)
    .map((v) => text(v["name"]))
    .sort(byPriority)
    .find((other) => byPriority(other, name) < 0);
  const instead = better === undefined ? "" : `; use ${group}/${better} ${kind}`;
  return `${group}/${name} ${kind} is deprecated${instead}`;
}

function versionOf(
  version: Json,
  deprecated: string | undefined,
): ResourceVersion & { readonly schema: CompiledSchema } {
  const openAPI = record(at(version, "schema", "openAPIV3Schema"));
  const name = text(version["name"]);
  // Compiled at first use: a cluster may define many kinds and use few.
  let compiled: CompiledSchema | undefined;
  return {
    name,
    openAPI,
    get schema() {
      return (compiled ??= compileSchema(openAPI));
    },
    columns: [NAME, ...columnsOf(records(version["additionalPrinterColumns"]))],
    subresources: subresourcesOf(record(version["subresources"])),
    selectable: records(version["selectableFields"]).map((f) => text(f["jsonPath"]).replace(/^\./, "")),
    ...(deprecated === undefined ? {} : { deprecated }),
  };
}

function subresourcesOf(declared: Json): Subresource[] {
  const found: Subresource[] = [];
  if (declared["status"]) found.push(STATUS);
  const scale = record(declared["scale"]);
  if (!declared["scale"]) return found;
  const path = (value: unknown): string[] => text(value).split(".").filter(Boolean);
  const selector = path(scale["labelSelectorPath"]);
  return [
    ...found,
    {
      name: "scale",
      verbs: ["get", "patch", "update"],
      type: { group: "autoscaling", version: "v1", kind: "Scale" },
      scale: {
        specReplicas: path(scale["specReplicasPath"]),
        statusReplicas: path(scale["statusReplicasPath"]),
        ...(selector.length > 0 ? { labelSelector: selector } : {}),
      },
    },
  ];
}

function columnsOf(declared: readonly Json[]): readonly Column[] {
  return declared.length === 0 ? [AGE] : declared.map(columnOf);
}

function columnOf(declared: Json): Column {
  const read = columnReader(text(declared["jsonPath"]));
  const type = text(declared["type"]);
  const isDate = type === "date";
  return {
    name: text(declared["name"]),
    type: isDate ? "date" : (type as "string"),
    format: text(declared["format"]),
    description: text(declared["description"]),
    priority: Number(declared["priority"] ?? 0),
    cell(object, now) {
      const value = read(object);
      if (value === undefined || value === null) return null;
      if (isDate) return age(value, now);
      if (type === "integer" || type === "number") return typeof value === "number" ? value : null;
      if (type === "boolean") return value === true;
      return typeof value === "object" ? JSON.stringify(value) : String(value as string);
    },
  };
}
