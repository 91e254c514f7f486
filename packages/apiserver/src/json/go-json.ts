/**
 * What Go's JSON decoder says of a text that is no JSON: clients know these words from kube-apiserver. undefined when
 * nothing is wrong. Source: encoding/json, SyntaxError.
 */
export function jsonProblem(text: string): string | undefined {
  return new Checker(text).check();
}

const END = "unexpected end of JSON input";
const SPACES = [0x20, 0x09, 0x0a, 0x0d];
const LITERALS = ["true", "false", "null"];

class Problem extends Error {}

class Checker {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  check(): string | undefined {
    try {
      this.#value("looking for beginning of value");
      this.#space();
      if (this.#at < this.#text.length) throw this.#unexpected("after top-level value");
      return undefined;
    } catch (error) {
      if (error instanceof Problem) return error.message;
      throw error;
    }
  }

  #space(): void {
    while (SPACES.includes(this.#text.charCodeAt(this.#at))) this.#at += 1;
  }

  #unexpected(where: string): Problem {
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    if (this.#at >= this.#text.length) return new Problem(END);
    const shown = char === "'" ? "\\'" : char === '"' ? '"' : JSON.stringify(char).slice(1, -1);
    return new Problem(`invalid character '${shown}' ${where}`);
  }

  #value(where: string): void {
    this.#space();
    const char = this.#text.charAt(this.#at);
    if (char === "{") return this.#object();
    if (char === "[") return this.#array();
    if (char === '"') return this.#string();
    if (/[-\d]/.test(char)) return this.#number();
    const literal = LITERALS.find((l) => l.startsWith(char) && char !== "");
    if (literal === undefined) throw this.#unexpected(where);
    for (let i = 0; i < literal.length; i += 1) {
      const wanted = literal.charAt(i);
      if (this.#text.charAt(this.#at) !== wanted)
        throw this.#unexpected(`in literal ${literal} (expecting '${wanted}')`);
      this.#at += 1;
    }
  }

  #object(): void {
    this.#at += 1;
    this.#space();
    if (this.#taken("}")) return;
    for (;;) {
      this.#space();
      if (this.#text.charAt(this.#at) !== '"') throw this.#unexpected("looking for beginning of object key string");
      this.#string();
      this.#space();
      if (!this.#taken(":")) throw this.#unexpected("after object key");
      this.#value("looking for beginning of value");
      this.#space();
      if (this.#taken("}")) return;
      if (!this.#taken(",")) throw this.#unexpected("after object key:value pair");
    }
  }

  #array(): void {
    this.#at += 1;
    this.#space();
    if (this.#taken("]")) return;
    for (;;) {
      this.#value("looking for beginning of value");
      this.#space();
      if (this.#taken("]")) return;
      if (!this.#taken(",")) throw this.#unexpected("after array element");
    }
  }

  #taken(char: string): boolean {
    if (this.#text.charAt(this.#at) !== char) return false;
    this.#at += 1;
    return true;
  }

  #string(): void {
    this.#at += 1;
    for (;;) {
      const char = this.#text.charAt(this.#at);
      if (char === "" || char < " ") throw this.#unexpected("in string literal");
      this.#at += 1;
      if (char === '"') return;
      if (char !== "\\") continue;
      const escape = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(this.#text.slice(this.#at, this.#at + 5));
      if (!escape) throw this.#unexpected("in string escape code");
      this.#at += escape[0].length;
    }
  }

  #number(): void {
    const found = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(this.#text.slice(this.#at, this.#at + 400));
    if (found) {
      this.#at += found[0].length;
      return;
    }
    this.#at += 1;
    throw this.#unexpected("in numeric literal");
  }
}
