import { invalidConfiguration } from "@causeway/reverse-tunnel";

/** 0 is none. @throws TUNNEL_CONFIG_INVALID */
export function readPort(flag: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw invalidConfiguration(`--${flag} ${JSON.stringify(text)} is not a port`);
}
