import { InputError } from "@causeway/foundation";

/** "ADDRESS:PORT", "[ADDRESS]:PORT" or ":PORT" (each address). @throws FLAG_INVALID */
export function readAddress(flag: string, text: string): { readonly host: string; readonly port: number } {
  const [, host = "", digits = ""] = /^\[?([^[\]]*?)\]?:(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535)
    throw new InputError("FLAG_INVALID", `--${flag} must be ADDRESS:PORT; it is ${JSON.stringify(text)}.`);
  return { host: host === "" ? "0.0.0.0" : host, port };
}
