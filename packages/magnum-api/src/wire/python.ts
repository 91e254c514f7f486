/** Of a value in a message, what is shown. */
const LONGEST = 2_000;

/** A value as Python shows it, which Magnum's messages repeat. */
export function pythonRepr(value: unknown): string {
  const text = render(value, 0);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function render(value: unknown, depth: number): string {
  if (depth > 8) return "...";
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value))
    return `[${value
      .slice(0, 100)
      .map((each) => render(each, depth + 1))
      .join(", ")}]`;
  const entries = Object.entries(value as object).slice(0, 100);
  return `{${entries.map(([key, each]) => `${quoted(key)}: ${render(each, depth + 1)}`).join(", ")}}`;
}

function quoted(text: string): string {
  const shown = text.slice(0, LONGEST).replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return shown.includes("'") && !shown.includes('"') ? `"${shown}"` : `'${shown.replaceAll("'", "\\'")}'`;
}

/** A text that is not a literal of Python. */
export class LiteralError extends Error {}

const MOST_CHARACTERS = 65_536;
const DEEPEST = 16;

/**
 * Reads a literal of Python: None, True, False, numbers, strings, lists and dicts. Horizon and old clients send labels
 * like that. Linear time; bounded in length and depth.
 */
export function readLiteral(text: string): unknown {
  if (text.length > MOST_CHARACTERS) throw new LiteralError("the text is too long");
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.space();
  if (reader.at < text.length) throw new LiteralError("invalid syntax (<unknown>, line 1)");
  return value;
}

class Reader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  space(): void {
    while (/\s/.test(this.#text[this.at] ?? "")) this.at += 1;
  }

  value(depth: number): unknown {
    if (depth > DEEPEST) throw new LiteralError("too many nested parentheses");
    this.space();
    const first = this.#text[this.at];
    if (first === "{") return this.#dict(depth);
    if (first === "[") return this.#list(depth);
    if (first === "'" || first === '"') return this.#string(first);
    const word = /[\w.+-]*/y;
    word.lastIndex = this.at;
    const [found = ""] = word.exec(this.#text) ?? [];
    this.at += found.length;
    if (found === "None") return null;
    if (found === "True" || found === "False") return found === "True";
    if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(found)) return Number(found);
    throw new LiteralError(
      found === "" ? "unexpected EOF while parsing" : `malformed node or string: ${found.slice(0, 40)}`,
    );
  }

  #string(quote: string): string {
    let text = "";
    for (this.at += 1; this.at < this.#text.length; this.at += 1) {
      const character = this.#text[this.at] ?? "";
      if (character === quote) {
        this.at += 1;
        return text;
      }
      if (character === "\\") this.at += 1;
      text += character === "\\" ? escaped(this.#text[this.at] ?? "") : character;
    }
    throw new LiteralError("unterminated string literal (detected at line 1) (<unknown>, line 1)");
  }

  #list(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#each("]", () => items.push(this.value(depth + 1)));
    return items;
  }

  #dict(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    this.#each("}", () => {
      const key = this.value(depth + 1);
      this.space();
      if (this.#text[this.at] !== ":") throw new LiteralError("invalid syntax (<unknown>, line 1)");
      this.at += 1;
      entries.push([typeof key === "string" ? key : pythonRepr(key), this.value(depth + 1)]);
    });
    return Object.fromEntries(entries);
  }

  #each(end: string, read: () => void): void {
    this.at += 1;
    for (;;) {
      this.space();
      if (this.#text[this.at] === end) break;
      if (this.at >= this.#text.length) throw new LiteralError("unexpected EOF while parsing");
      read();
      this.space();
      if (this.#text[this.at] === ",") this.at += 1;
      else if (this.#text[this.at] !== end) throw new LiteralError("invalid syntax (<unknown>, line 1)");
    }
    this.at += 1;
  }
}

function escaped(character: string): string {
  return character === "n" ? "\n" : character === "t" ? "\t" : character;
}
