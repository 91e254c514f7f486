import {
  InputError,
  messageOf,
  parseCidr,
  readTextFile,
  type Cidr,
  type DialRules,
  type KeyPair,
} from "@causeway/foundation";

/** @throws TUNNEL_CONFIG_INVALID */
export function readRules(texts: {
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[] | undefined;
  readonly names: readonly string[] | undefined;
}): DialRules {
  return {
    allow: texts.allow?.map(cidrOf),
    deny: (texts.deny ?? []).map(cidrOf),
    names: texts.names?.map((name) => name.toLowerCase()),
  };
}

/** A certificate and its key, from two files; undefined without both. @throws TUNNEL_CONFIG_INVALID */
export function readPair(certificate: string, key: string): KeyPair | undefined {
  if (certificate === "" && key === "") return undefined;
  if (certificate === "" || key === "") throw invalid("a certificate and its key are given together");
  return { certificate: readFile(certificate, "the certificate"), key: readFile(key, "the key") };
}

/** @throws TUNNEL_CONFIG_INVALID */
export function readFile(path: string, what: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw invalid(`${what} cannot be read from ${path}: ${messageOf(error)}`);
  }
}

/** Milliseconds of a duration in Go's form, such as 1h, 30s or 1m30s. @throws TUNNEL_CONFIG_INVALID */
export function readDuration(flag: string, text: string): number {
  const unit: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  const milliseconds = parts.reduce((sum, [, number, of]) => sum + Number(number) * (unit[of ?? ""] ?? 0), 0);
  if (parts.map(([part]) => part).join("") !== text || milliseconds <= 0) {
    throw invalid(`--${flag} ${JSON.stringify(text)} is not a duration, such as 30s`);
  }
  return milliseconds;
}

function cidrOf(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr) throw invalid(`${JSON.stringify(text)} is not a CIDR`);
  return cidr;
}

/** The error for a configuration of the tunnel that cannot be used: TUNNEL_CONFIG_INVALID. */
export function invalid(why: string): InputError {
  return new InputError("TUNNEL_CONFIG_INVALID", `The configuration of the tunnel is not valid: ${why}.`, {
    hint: "See docs/reference/reverse-tunnel.md.",
  });
}
