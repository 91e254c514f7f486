import {
  addonKinds,
  allKinds,
  magnumKinds,
  operatorKinds,
  toCustomResourceDefinition,
  type JsonSchema,
} from "@causeway/api";
import type { Page } from "./page.ts";

/** A page for each custom resource: its columns and all its fields, from the CRD that an installation gets. */
export function customResourcePages(): Page[] {
  const kinds = [...allKinds, ...magnumKinds, ...operatorKinds, ...addonKinds].toSorted((a, b) =>
    a.kind.localeCompare(b.kind),
  );
  const pages = kinds.map((kind) => {
    const { spec } = toCustomResourceDefinition(kind);
    const [version] = spec.versions;
    const schema = version?.schema.openAPIV3Schema ?? {};
    const short = spec.names.shortNames?.map((n) => `\`${n}\``).join(", ");
    const columns = version?.additionalPrinterColumns?.map((c) => `\`${c.name}\``).join(", ") ?? "";
    const text = [
      `# ${kind.kind}`,
      `\`${spec.group}/${kind.version}\`, plural \`${spec.names.plural}\`${short ? `, short ${short}` : ""}, ${spec.scope === "Namespaced" ? "in a namespace" : "in no namespace"}.`,
      kind.versions.length > 0
        ? `Also served as ${kind.versions.map(({ name }) => `\`${name}\``).join(", ")}, converted without loss.`
        : "",
      columns ? `Columns of \`kubectl get\`: ${columns}.` : "",
      ...["spec", "status"].flatMap((part) => section(part, schema)),
    ];
    return {
      path: `docs/reference/custom-resources/${kind.kind.toLowerCase()}.md`,
      text: `${text.filter(Boolean).join("\n\n")}\n`,
    };
  });
  const rows = kinds.map((k) => `| [${k.kind}](${k.kind.toLowerCase()}.md) | \`${k.group}/${k.version}\` |`);
  const index = ["# Custom resources", "| kind | API version |\n| --- | --- |\n" + rows.join("\n")].join("\n\n");
  return [{ path: "docs/reference/custom-resources/index.md", text: `${index}\n` }, ...pages];
}

function section(part: string, schema: JsonSchema): string[] {
  const field = (schema["properties"] as Record<string, JsonSchema> | undefined)?.[part];
  if (!field) return [];
  const rows = fieldRows(field, "");
  if (rows.length === 0) return [];
  return [`## ${part}`, `| field | type | description |\n| --- | --- | --- |\n${rows.join("\n")}`];
}

function fieldRows(schema: JsonSchema, prefix: string): string[] {
  const required = new Set((schema["required"] ?? []) as string[]);
  return Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const facts = [
      required.has(name) ? "Required." : "",
      typeof field["description"] === "string" ? field["description"] : "",
      field["default"] === undefined ? "" : `Default \`${JSON.stringify(field["default"])}\`.`,
    ];
    const row = `| \`${path}\` | ${typeOf(field)} | ${escaped(facts.filter(Boolean).join(" "))} |`;
    return [row, ...innerRows(field, path)];
  });
}

function innerRows(field: JsonSchema, path: string): string[] {
  const items = field["items"];
  const values = field["additionalProperties"];
  if (isSchema(items)) return fieldRows(items, `${path}[].`);
  if (isSchema(values)) return fieldRows(values, `${path}.KEY.`);
  return fieldRows(field, `${path}.`);
}

function typeOf(field: JsonSchema): string {
  const { type, enum: values, items, additionalProperties: inner } = field;
  if (field["x-kubernetes-int-or-string"] === true) return "number or string";
  if (Array.isArray(values)) return values.map((v) => `\`${String(v)}\``).join(", ");
  if (type === "array") return `list of ${isSchema(items) ? typeOf(items) : "values"}`;
  if (isSchema(inner)) return `map of ${typeOf(inner)}`;
  return typeof type === "string" ? type : "any";
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ").replaceAll("<", "&lt;");
}
