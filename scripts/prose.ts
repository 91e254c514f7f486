/** What is written for people in a file: comments and texts of sources; pages, scripts and manifests as they are. */
import { parsedFile } from "./parsed.ts";

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The text with blanks in place of what is no prose, so that offsets and lines remain: of sources all but comments and
 * texts with a space (a text without one is a name), of pages and comments what is marked as code, and the stars of
 * comments.
 */
export function proseOf(file: string, text: string): string {
  if (file.endsWith(".md"))
    return blanked(
      text,
      [...text.matchAll(/`[^`\n]+`/g)].map((found) => spanOf(found)),
    );
  if (!/\.m?[jt]s$/.test(file)) return text;
  const { comments, texts } = prosesOf(file);
  const code = comments.flatMap(({ start, end }) =>
    [...text.slice(start, end).matchAll(/^\/[/*]+|`[^`]+`|(?<=\n\s*)\*|https?:\S+/g)].map((found) =>
      spanOf(found, start),
    ),
  );
  return blanked(only(text, [...comments, ...texts]), code);
}

/** The text of a source without its comments and texts, which have blanks. */
export function codeOf(file: string, text: string): string {
  const { comments, literals } = prosesOf(file);
  return blanked(text, [...comments, ...literals]);
}

const spanOf = (found: RegExpExecArray, offset = 0): Span => ({
  start: offset + found.index,
  end: offset + found.index + found[0].length,
});

const blanks = (text: string): string => text.replace(/[^\n]/g, " ");

function blanked(text: string, spans: readonly Span[]): string {
  let made = "";
  let at = 0;
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    if (start < at) continue;
    made += text.slice(at, start) + blanks(text.slice(start, end));
    at = end;
  }
  return made + text.slice(at);
}

function only(text: string, spans: readonly Span[]): string {
  let made = "";
  let at = 0;
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    made += blanks(text.slice(at, start)) + text.slice(start, end);
    at = end;
  }
  return made + blanks(text.slice(at));
}

interface Parts {
  readonly comments: readonly Span[];
  /** Literals with a space, patterns of texts among them. */
  readonly texts: readonly Span[];
  readonly literals: readonly Span[];
}

function prosesOf(file: string): Parts {
  const { text, result } = parsedFile(file);
  const literals: Span[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { type, start, end } = value as { type?: unknown; start?: unknown; end?: unknown };
    const isLiteral = type === "TemplateElement" || type === "Literal";
    if (isLiteral && typeof start === "number" && typeof end === "number") literals.push({ start, end });
    else for (const child of Array.isArray(value) ? value : Object.values(value)) visit(child);
  };
  visit(result.program);
  const isText = ({ start, end }: Span) => /\s/.test(text.slice(start, end));
  return { comments: result.comments, texts: literals.filter(isText), literals };
}
