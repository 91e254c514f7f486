import { readFileSync } from "node:fs";
import { parseSync } from "oxc-parser";

type Parsed = ReturnType<typeof parseSync>;

const parsed = new Map<string, { readonly text: string; readonly result: Parsed }>();

/** A source and its syntax. Several checks read the same files: each is parsed once in a process. */
export function parsedFile(file: string): { readonly text: string; readonly result: Parsed } {
  const known = parsed.get(file);
  if (known) return known;
  const text = readFileSync(file, "utf8");
  const made = { text, result: parseSync(file, text) };
  parsed.set(file, made);
  return made;
}

/** One import of a source: `import … from`, `export … from` or `import("…")`. */
export interface FoundImport {
  readonly specifier: string;
  readonly offset: number;
  /** Names of the values that are imported: "default", "*" for all; empty: types alone. */
  readonly values: readonly string[];
  /** `import("…")`: loaded when that line runs. */
  readonly isDynamic?: boolean;
}

/** All imports of a source, those at run time included. A specifier that is no plain text cannot be read: "". */
export function importsIn(file: string): readonly FoundImport[] {
  const { text, result } = parsedFile(file);
  const { staticImports, staticExports, dynamicImports } = result.module;
  return [
    ...staticImports.map((i) => ({
      specifier: i.moduleRequest.value,
      offset: i.start,
      // An import without names is made for its effects.
      values:
        i.entries.length === 0
          ? ["*"]
          : i.entries.flatMap((e) =>
              e.isType ? [] : [e.importName.name ?? (e.importName.kind === "Default" ? "default" : "*")],
            ),
    })),
    ...staticExports.flatMap((e) =>
      e.entries.flatMap((entry) =>
        entry.moduleRequest
          ? [
              {
                specifier: entry.moduleRequest.value,
                offset: e.start,
                values: entry.isType ? [] : [entry.importName.name ?? "*"],
              },
            ]
          : [],
      ),
    ),
    ...dynamicImports.map(({ start, moduleRequest }) => ({
      specifier: /^(["'`])([^"'`$]*)\1$/.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[2] ?? "",
      offset: start,
      values: ["*"],
      isDynamic: true,
    })),
  ];
}
