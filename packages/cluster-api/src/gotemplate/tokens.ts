import { TEMPLATE_LENGTH } from "./limits.ts";

/** A part of a template: `text` is outside actions, all other types are inside. */
export interface Token {
  readonly type: "text" | "open" | "close" | "word" | "field" | "variable" | "number" | "string" | "sign" | "space";
  readonly text: string;
}

const inAction =
  /\s+|"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)'|\$\w*|\.[A-Za-z_]\w*|[A-Za-z_]\w*|[+-]?(?:0[xX][\da-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)|:=|[=|(),.]/y;

/** The tokens of a template; comments are left out. @throws Error when it is not a template */
export function tokensOf(template: string): Token[] {
  if (template.length > TEMPLATE_LENGTH) throw new Error(`a template has at most ${TEMPLATE_LENGTH} characters`);
  const tokens: Token[] = [];
  let at = 0;
  let trim = false;
  const text = (to: number, trimEnd: boolean): void => {
    let value = template.slice(at, to);
    if (trim) value = value.replace(/^[ \t\r\n]+/, "");
    if (trimEnd) value = value.slice(0, value.length - trailing(value));
    if (value) tokens.push({ type: "text", text: value });
  };
  while (at < template.length) {
    const open = template.indexOf("{{", at);
    if (open === -1) {
      text(template.length, false);
      break;
    }
    const trims = template[open + 2] === "-" && /\s/.test(template[open + 3] ?? "");
    text(open, trims);
    at = open + 2 + (trims ? 1 : 0);
    const end = action(template, at, tokens);
    at = end.at;
    trim = end.trims;
  }
  return tokens;
}

function trailing(value: string): number {
  let count = 0;
  while (count < value.length && " \t\r\n".includes(value[value.length - 1 - count] ?? "")) count += 1;
  return count;
}

/** The tokens up to the next "}}", and where the text after it begins. */
function action(template: string, from: number, tokens: Token[]): { at: number; trims: boolean } {
  const comment = /\s*\/\*/y;
  comment.lastIndex = from;
  if (comment.test(template)) {
    const end = template.indexOf("*/", comment.lastIndex);
    const close = /\s*(-?)\}\}/y;
    close.lastIndex = end + 2;
    const found = end === -1 ? null : close.exec(template);
    if (!found) throw new Error("unclosed comment");
    return { at: close.lastIndex, trims: found[1] === "-" };
  }
  tokens.push({ type: "open", text: "{{" });
  for (let at = from; ;) {
    const close = /^(?:\s-)?\}\}/.exec(template.slice(at, at + 4));
    if (close) {
      tokens.push({ type: "close", text: "}}" });
      return { at: at + close[0].length, trims: close[0].length > 2 };
    }
    inAction.lastIndex = at;
    const [found] = inAction.exec(template) ?? [];
    if (found === undefined) {
      throw new Error(
        at >= template.length ? "unclosed action" : `unexpected ${JSON.stringify(template[at])} in action`,
      );
    }
    // The blank before "-}}" belongs to the end of the action.
    const isEnd = /^\s+$/.test(found) && template.startsWith("-}}", at + found.length);
    tokens.push({ type: typeOf(found), text: found });
    at += found.length - (isEnd ? 1 : 0);
    if (isEnd && found.length === 1) {
      tokens.pop();
    }
  }
}

function typeOf(text: string): Token["type"] {
  if (/^\s/.test(text)) return "space";
  if (/^["`']/.test(text)) return "string";
  if (text.startsWith("$")) return "variable";
  if (/^\.[A-Za-z_]/.test(text)) return "field";
  if (/^[+-]?\.?\d/.test(text)) return "number";
  return /^[A-Za-z_]/.test(text) ? "word" : "sign";
}
