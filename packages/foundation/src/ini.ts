import { InputError } from "./errors.ts";

/** One value with its line. */
export interface IniValue {
  readonly text: string;
  /** True for a key without "=": true as a boolean, and a reset of a key that may have many values. */
  readonly bare: boolean;
  /** From 1. */
  readonly line: number;
}

/** The keys of one section, each with all its values and their lines. */
export interface IniSection {
  /** In lower case. */
  readonly name: string;
  /** The quoted part of `[name "subsection"]`, as written. */
  readonly subsection: string | undefined;
  readonly line: number;
  /** All values of a key (in lower case), in their order. */
  readonly values: ReadonlyMap<string, readonly IniValue[]>;
}

/**
 * Reads gcfg, the dialect of git-config that OpenStack's cloud.conf files are written in: `[section]`,
 * `[section "subsection"]`, `key = value`, comments from ";" or "#" unless quoted, the escapes \\ \" \n \t \b, a line
 * continuing after a backslash. Names are case-insensitive, subsections are not; sections that come again are one.
 * Throws INI_INVALID with the line; the message never has the line's content, which may be a secret.
 */
export function parseIni(text: string, source = "the file"): IniSection[] {
  const reader = new Reader(text.replace(/^\uFEFF/, ""), source);
  const sections = new Map<string, IniSection & { values: Map<string, IniValue[]> }>();
  let current: (IniSection & { values: Map<string, IniValue[]> }) | undefined;
  for (reader.skipBlank(); !reader.ended; reader.skipBlank()) {
    const line = reader.line;
    if (reader.peek() === "[") {
      const { name, subsection } = reader.header();
      const key = JSON.stringify([name, subsection]);
      current = sections.get(key) ?? { name, subsection, line, values: new Map() };
      sections.set(key, current);
      continue;
    }
    if (current === undefined) throw reader.error("a value precedes the first section");
    const key = reader.name("a key");
    const value = reader.value();
    const entry = { text: value ?? "", bare: value === undefined, line };
    current.values.set(key, [...(current.values.get(key) ?? []), entry]);
  }
  return [...sections.values()];
}

/** The section of this name, without or with a subsection; undefined if the file has none. */
export function iniSection(sections: readonly IniSection[], name: string, subsection?: string): IniSection | undefined {
  return sections.find((s) => s.name === name.toLowerCase() && s.subsection === subsection);
}

/** The key's last value; undefined if it is not there. */
export function iniText(section: IniSection | undefined, key: string): string | undefined {
  return section?.values.get(key.toLowerCase())?.at(-1)?.text;
}

/** All values of a key that may occur many times; a bare key removes those before it. */
export function iniTexts(section: IniSection | undefined, key: string): string[] {
  const values = section?.values.get(key.toLowerCase()) ?? [];
  return values.slice(values.findLastIndex((v) => v.bare) + 1).map((v) => v.text);
}

/** true, yes, on, 1 or a bare key; false, no, off, 0; anything else throws INI_INVALID. */
export function iniBoolean(section: IniSection | undefined, key: string): boolean | undefined {
  const value = section?.values.get(key.toLowerCase())?.at(-1);
  if (value === undefined) return undefined;
  if (value.bare || /^(true|yes|on|1)$/i.test(value.text)) return true;
  if (/^(false|no|off|0)$/i.test(value.text)) return false;
  throw invalid(`${key} in section ${section?.name ?? ""} is not a boolean`, "the file", value.line);
}

function invalid(what: string, source: string, line: number): InputError {
  return new InputError("INI_INVALID", `${source}, line ${line}: ${what}.`, { details: { source, line } });
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\", '"': '"', n: "\n", t: "\t", b: "\b" };

/** Goes through the text once, character by character. */
class Reader {
  readonly #text: string;
  readonly #source: string;
  #at = 0;
  line = 1;

  constructor(text: string, source: string) {
    this.#text = text.replaceAll("\r\n", "\n");
    this.#source = source;
  }

  get ended(): boolean {
    return this.#at >= this.#text.length;
  }
  peek(): string {
    return this.#text[this.#at] ?? "";
  }
  error(what: string): InputError {
    return invalid(what, this.#source, this.line);
  }

  skipBlank(): void {
    for (;;) {
      this.#skip(/[ \t\r\n]/);
      if (!/[;#]/.test(this.peek())) return;
      this.#skip(/[^\n]/);
    }
  }

  name(what: string): string {
    const start = this.#at;
    this.#skip(/[\p{L}\p{Nd}_-]/u);
    const name = this.#text.slice(start, this.#at);
    if (name === "") throw this.error(`${what} is expected`);
    return name.toLowerCase();
  }

  header(): { name: string; subsection: string | undefined } {
    this.#next();
    this.#skip(/[ \t]/);
    const name = this.name("a section's name");
    this.#skip(/[ \t]/);
    const subsection = this.peek() === '"' ? this.#quoted() : undefined;
    this.#skip(/[ \t]/);
    if (this.#next() !== "]") throw this.error('a section header does not end with "]"');
    return { name, subsection };
  }

  /** The text after the key, to the end of the line; undefined without "=". */
  value(): string | undefined {
    this.#skip(/[ \t]/);
    if (this.ended || /[\n;#]/.test(this.peek())) return undefined;
    if (this.peek() !== "=") throw this.error('"=" is expected after a key');
    this.#next();
    this.#skip(/[ \t]/);
    let value = "";
    let kept = 0;
    while (!this.ended && !/[\n;#]/.test(this.peek())) {
      const char = this.peek();
      if (char === '"') value += this.#quoted();
      else if (char === "\\") value += this.#escape(true);
      else value += this.#next();
      if (!/[ \t]/.test(char)) kept = value.length;
    }
    return value.slice(0, kept);
  }

  #quoted(): string {
    this.#next();
    let text = "";
    while (this.peek() !== '"') {
      if (this.ended || this.peek() === "\n") throw this.error("a quoted text has no closing quote");
      text += this.peek() === "\\" ? this.#escape(false) : this.#next();
    }
    this.#next();
    return text;
  }

  #escape(mayGoOn: boolean): string {
    this.#next();
    const char = this.#next();
    if (mayGoOn && char === "\n") return "";
    const meant = ESCAPES[char];
    if (meant === undefined) throw this.error("the escape after a backslash is unknown");
    return meant;
  }

  #next(): string {
    const char = this.peek();
    this.#at++;
    if (char === "\n") this.line++;
    return char;
  }

  #skip(what: RegExp): void {
    while (!this.ended && what.test(this.peek())) this.#next();
  }
}
