import { goYamlTags } from "@causeway/foundation";
import type { CST, Document, LineCounter, ParsedNode } from "yaml";
import { MAXIMUM_DEPTH } from "../bounds.ts";
import { yaml } from "../lazy-imports.ts";
import { apiError } from "../errors/status.ts";
import { type ReadYaml, yamlValue } from "./yaml-value.ts";

/**
 * What one YAML body may have: reading YAML takes some hundred times as long as reading JSON, most of it for each
 * token. A body of this size takes less than a second, and client-go sends JSON in any case.
 */
export const MAXIMUM_YAML = 1024 * 1024;
/** YAML tokens of one body, however long it is. */
export const MAXIMUM_TOKENS = 100_000;
/**
 * Manifests have a token for two bytes or more; only a long text of little but separators has more, and costs more for
 * each byte.
 */
const TOKENS_PER_BYTE = 0.7;
const LEAST_TOKENS = 12_000;

const OPTIONS = {
  version: "1.1",
  merge: false,
  // Compares each key with all before it; keys given twice are found here, with a set.
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "silent",
  customTags: goYamlTags,
} as const;

/**
 * Reads the first YAML 1.1 document of a text in one pass. Throws an error that says why it cannot be read; 413 for one
 * that is too large.
 */
export function readYaml(text: string): ReadYaml {
  if (Buffer.byteLength(text) > MAXIMUM_YAML) throw tooLarge(`limit is ${MAXIMUM_YAML} for YAML, send JSON`);
  const lines = new (yaml().LineCounter)();
  const document = composed(text, lines);
  return yamlValue(document.contents, { lines, size: text.length });
}

function composed(text: string, lines: LineCounter): Document<ParsedNode> {
  const { Composer, Lexer, Parser } = yaml();
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer<ParsedNode>(OPTIONS);
  // The library collects all errors and warnings, each with a stack; only the first error is of use.
  Object.assign(composer, { onError: firstError(lines) });
  const most = Math.min(MAXIMUM_TOKENS, Math.max(LEAST_TOKENS, TOKENS_PER_BYTE * text.length));
  let tokens = 0;
  let hasDocument = false;
  /** Whether the first document is over; go-yaml too leaves the rest unread. */
  const take = (token: CST.Token): boolean => {
    if (token.type === "error") throw new Error(`yaml: ${token.message}`);
    if (hasDocument) return ENDS.has(token.type);
    hasDocument = token.type === "document";
    composer.next(token).next();
    return false;
  };
  const ended = (): Document<ParsedNode> => {
    const [document] = composer.end(true, text.length) as Iterable<Document<ParsedNode>>;
    if (!document) throw new Error("yaml: no document");
    const [problem] = document.errors;
    if (problem) throw new Error(`yaml: line ${lines.linePos(problem.pos[0]).line}: ${problem.message}`);
    return document;
  };
  lines.addNewLine(0);
  for (const source of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > most) throw tooLarge(`limit is ${Math.floor(most)} tokens of YAML, send JSON`);
    for (const token of parser.next(source)) if (take(token)) return ended();
    if (parser.stack.length > MAXIMUM_DEPTH + 1) throw new Error(`yaml: exceeded max depth of ${MAXIMUM_DEPTH}`);
  }
  for (const token of parser.end()) if (take(token)) break;
  return ended();
}

const ENDS: ReadonlySet<string> = new Set(["document", "directive", "doc-end"]);

type Place = number | readonly [number, number] | { readonly offset: number };

/**
 * Throws the first error. The library catches what is thrown within a collection and reports it once more: then it is
 * thrown again.
 */
function firstError(lines: LineCounter) {
  let first: Error | undefined;
  return (place: Place, _code: string, message: string, isWarning?: boolean): void => {
    if (isWarning) return;
    const offset = typeof place === "number" ? place : "offset" in place ? place.offset : place[0];
    first ??= new Error(`yaml: line ${lines.linePos(offset).line}: ${message}`);
    throw first;
  };
}

function tooLarge(why: string): Error {
  return apiError(413, "RequestEntityTooLarge", `Request entity too large: ${why}`);
}
