import type { CST, Document, LineCounter, ParsedNode, Tags, YAMLMap } from "yaml";
import { extentOf, isTooDeep, MAXIMUM_BODY, MAXIMUM_DEPTH, MAXIMUM_STRICT_ERRORS } from "../bounds.ts";
import { yaml } from "../later.ts";
import { apiError } from "./status.ts";

/**
 * What one YAML body may have: reading YAML takes some hundred times as long as reading JSON, most of it for each token. A body of this
 * size takes less than a second, and client-go sends JSON in any case.
 */
export const MAXIMUM_YAML = 1024 * 1024;
export const MAXIMUM_TOKENS = 100_000;

const OPTIONS = {
  version: "1.1",
  merge: false,
  // Compares each key with all before it; keys given twice are found here, with a set.
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "silent",
  customTags: knownTags,
} as const;

/** Tags that go-yaml does not resolve: times are strings, there are no numbers in base 60, and a number has a digit. */
function knownTags(tags: Tags): Tags {
  return tags
    .filter((tag) => typeof tag === "string" || (!UNKNOWN.test(tag.tag) && tag.format !== "TIME"))
    .map((tag) => {
      if (typeof tag === "string" || !tag.tag.endsWith(":float") || !("test" in tag) || !tag.test) return tag;
      return { ...tag, test: new RegExp(`^(?=.*[\\dnN])(?:${tag.test.source})`) };
    });
}

const UNKNOWN = /:(?:timestamp|omap|set|pairs|binary)$/;

export interface ReadYaml {
  readonly value: unknown;
  /** Keys given twice, in go-yaml's words. */
  readonly duplicates: readonly string[];
}

/** Reads the first YAML 1.1 document of a text in one pass. Throws an error that says why it cannot be read; 413 for one that is too large. */
export function readYaml(text: string): ReadYaml {
  if (Buffer.byteLength(text) > MAXIMUM_YAML) throw tooLarge(`limit is ${MAXIMUM_YAML} for YAML, send JSON`);
  const { LineCounter, visit } = yaml();
  const lines = new LineCounter();
  const document = composed(text, lines.addNewLine);
  const [problem] = document.errors;
  if (problem) throw new Error(`yaml: line ${lines.linePos(problem.pos[0]).line}: ${problem.message}`);
  const duplicates: string[] = [];
  let hasAliases = false;
  visit(document, {
    Alias: () => void (hasAliases = true),
    Scalar: (_key, { value }) => {
      if (typeof value === "number" && !Number.isFinite(value))
        throw new Error(`json: unsupported value: ${value > 0 ? "+Inf" : value < 0 ? "-Inf" : "NaN"}`);
    },
    Map: (_key, map) => {
      for (const { key, line } of repeatedKeys(map, lines)) {
        if (duplicates.length === MAXIMUM_STRICT_ERRORS) return;
        duplicates.push(`line ${line}: key ${JSON.stringify(key)} already set in map`);
      }
    },
  });
  const value = document.toJS({ maxAliasCount: 100 }) as unknown;
  return { value: hasAliases ? unshared(value) : value, duplicates };
}

function* repeatedKeys(map: YAMLMap, lines: LineCounter): Iterable<{ readonly key: unknown; readonly line: number }> {
  const seen = new Set<unknown>();
  for (const { key } of map.items) {
    if (!yaml().isScalar(key)) throw new Error("yaml: invalid map key");
    if (seen.has(key.value)) yield { key: key.value, line: lines.linePos(key.range?.[0] ?? 0).line };
    seen.add(key.value);
  }
}

function composed(text: string, onNewLine: (offset: number) => void): Document<ParsedNode> {
  const { Composer, Lexer, Parser } = yaml();
  const parser = new Parser(onNewLine);
  const composer = new Composer<ParsedNode>(OPTIONS);
  const documents: Document<ParsedNode>[] = [];
  const take = (token: CST.Token): void => {
    if (token.type === "error") throw new Error(`yaml: ${token.message}`);
    documents.push(...(composer.next(token) as Iterable<Document<ParsedNode>>));
  };
  let tokens = 0;
  onNewLine(0);
  // As go-yaml, which leaves the rest unread.
  for (const source of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > MAXIMUM_TOKENS) throw tooLarge(`limit is ${MAXIMUM_TOKENS} tokens of YAML, send JSON`);
    for (const token of parser.next(source)) take(token);
    if (documents[0]) return documents[0];
    if (parser.stack.length > MAXIMUM_DEPTH + 1) throw new Error(`yaml: exceeded max depth of ${MAXIMUM_DEPTH}`);
  }
  for (const token of parser.end()) take(token);
  documents.push(...(composer.end(true, text.length) as Iterable<Document<ParsedNode>>));
  const [document] = documents;
  if (!document) throw new Error("yaml: no document");
  return document;
}

/** A value of its own for each alias: aliases of long texts must not make a body longer than bodies may be. */
function unshared(value: unknown): unknown {
  if (isTooDeep(value)) throw new Error(`yaml: exceeded max depth of ${MAXIMUM_DEPTH}`);
  if (extentOf(value, MAXIMUM_BODY).bytes > MAXIMUM_BODY) throw new Error("yaml: document contains excessive aliasing");
  return structuredClone(JSON.parse(JSON.stringify(value)));
}

function tooLarge(why: string): Error {
  return apiError(413, "RequestEntityTooLarge", `Request entity too large: ${why}`);
}
