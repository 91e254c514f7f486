/**
 * A Go (RE2) pattern as a JavaScript one. The syntaxes agree but for a few spellings, which are translated.
 * Throws SyntaxError when it is no pattern.
 */
export function compilePattern(pattern: string): RegExp {
  const flags = /^\(\?([ims]+)\)/.exec(pattern);
  const body = flags === null ? pattern : pattern.slice(flags[0].length);
  const translated = body
    .replaceAll("(?P<", "(?<")
    .replaceAll(/\\([Az])/g, (_, anchor: string) => (anchor === "A" ? "^" : "$"))
    .replaceAll(/\[:(\^?)([a-z]+):\]/g, (whole, negated: string, name: string) => {
      const members = Object.hasOwn(POSIX, name) ? POSIX[name] : undefined;
      return members === undefined || negated !== "" ? whole : members;
    });
  const suffix = flags?.[1] ?? "";
  try {
    return new RegExp(translated, `u${suffix}`);
  } catch {
    // The unicode mode refuses needless escapes such as "\-", which Go takes.
    return new RegExp(translated, suffix);
  }
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  digit: "0-9",
  lower: "a-z",
  upper: "A-Z",
  space: "\\t\\n\\v\\f\\r ",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};
