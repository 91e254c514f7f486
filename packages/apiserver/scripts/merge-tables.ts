/**
 * Writes src/patch/merge-tables.generated.ts: how lists, maps and structs of the built-in kinds merge, in server-side
 * apply and in strategic merge patches. Run: node packages/apiserver/scripts/merge-tables.ts DIR, with DIR as
 * wire-tables.ts takes it.
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tables } from "../src/wire/tables.ts";

const dir = process.argv[2] ?? ".";
const tables = new Tables();
const lines = readdirSync(dir).flatMap((group) => linesOf(group, readFileSync(join(dir, group, "types.go"), "utf8")));
const header = `// Written by scripts/merge-tables.ts from the published Kubernetes API types. Do not edit.
// struct: "field=marks…"; a atomic, s set, m(KEY,KEY=DEFAULT…) items by keys, p(KEY) a strategic merge by this key,
// p() one of values, r it may name the keys to retain; "~" is the struct itself.
`;
const body = `export const MERGE_TABLES: Readonly<Record<string, string>> = {\n${lines.toSorted().join("\n")}\n};\n`;
writeFileSync(new URL("../src/patch/merge-tables.generated.ts", import.meta.url), `${header}\n${body}`);

function linesOf(group: string, source: string): string[] {
  const structs = source.matchAll(/((?:^\/\/.*\n|^\n)*)^type (\w+) struct \{\n([\s\S]*?)^\}/gm);
  return [...structs].flatMap(([, above = "", name = "", fields = ""]) => {
    const struct = `${group}.${name}`;
    if (!tables.fields(struct)) return [];
    const whole = /\+structType=atomic/.test(above) ? ["~=a"] : [];
    const marks = [...whole, ...fieldMarks(struct, fields)];
    return marks.length === 0 ? [] : [`  "${struct}": "${marks.join(" ")}",`];
  });
}

function fieldMarks(struct: string, source: string): string[] {
  let above: string[] = [];
  const found: string[] = [];
  for (const line of source.split("\n")) {
    const field = /^\s*(?:\w+\s+)?\*?[\w.[\]*]+\s+`(.*)`/.exec(line);
    if (field) {
      const name = /json:"([^",]*)/.exec(field[1] ?? "")?.[1] ?? "";
      const marks = marksOf(struct, name, { comment: above.join("\n"), tags: field[1] ?? "" });
      if (marks !== "") found.push(`${name}=${marks}`);
      above = [];
    } else if (/^\s*\/\//.test(line)) above.push(line);
    else above = [];
  }
  return found;
}

function marksOf(struct: string, name: string, { comment, tags }: { comment: string; tags: string }): string {
  const listType = /\+listType=(\w+)/.exec(comment)?.[1];
  const keys = [...comment.matchAll(/\+listMapKey=(\w+)/g)].map((m) => m[1] ?? "");
  const strategy = /patchStrategy:"([^"]*)"/.exec(tags)?.[1]?.split(",") ?? [];
  const mergeKey = /patchMergeKey:"([^"]*)"/.exec(tags)?.[1] ?? "";
  const merges = strategy.includes("merge");
  const fallback = listType === undefined && merges ? (mergeKey === "" ? "set" : "map") : listType;
  const field = tables.flat(struct)?.find((f) => f.name === name);
  if (!field) return "";
  const isAtomic = /\+(mapType|structType)=atomic/.test(comment);
  const own =
    field.shape === "list"
      ? fallback === "map"
        ? `m(${(keys.length > 0 ? keys : [mergeKey]).map((key) => withDefault(field.type, key)).join(",")})`
        : fallback === "set"
          ? "s"
          : ""
      : isAtomic
        ? "a"
        : "";
  const strategic = merges && field.shape === "list" ? `p(${mergeKey})` : "";
  return own + strategic + (strategy.includes("retainKeys") ? "r" : "");
}

/** An item that leaves a key out has its default: one of its own, or its zero where JSON always says the field. */
function withDefault(item: string, key: string): string {
  const [group = "", name = ""] = item.split(".");
  const source = readFileSync(join(dir, group, "types.go"), "utf8");
  const struct = new RegExp(`^type ${name} struct \\{\\n([\\s\\S]*?)^\\}`, "m").exec(source)?.[1] ?? "";
  const lines = struct.split("\n");
  const at = lines.findIndex((line) => new RegExp(`json:"${key}[",]`).test(line));
  let first = at;
  while (/^\s*\/\//.test(lines[first - 1] ?? "")) first -= 1;
  const own = /\+default=(\S+)/.exec(lines.slice(first, at).join("\n"))?.[1];
  if (own !== undefined) return `${key}=${own.replaceAll('"', "")}`;
  const field = tables.flat(item)?.find((f) => f.name === key);
  if (!field?.always || field.pointer) return key;
  return `${key}=${field.type.startsWith("int") ? "0" : ""}`;
}
