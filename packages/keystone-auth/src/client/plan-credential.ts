import { InputError } from "@causeway/foundation";
import { record, text } from "../values.ts";

const GROUP = "client.authentication.k8s.io";
const VERSIONS = ["v1", "v1beta1"] as const;

/** A token and its end (milliseconds since the epoch). */
export interface Credential {
  readonly token: string;
  readonly expires: number;
}

/**
 * The version of ExecCredential that kubectl asks for in KUBERNETES_EXEC_INFO; v1 without it. @throws EXEC_INFO_INVALID
 */
export function requestedVersion(info: string | undefined): string {
  if (info === undefined || info === "") return `${GROUP}/v1`;
  let apiVersion = "";
  try {
    apiVersion = text(record(JSON.parse(info))["apiVersion"]);
  } catch {
    // Refused below.
  }
  if (VERSIONS.some((version) => apiVersion === `${GROUP}/${version}`)) return apiVersion;
  throw new InputError(
    "EXEC_INFO_INVALID",
    `KUBERNETES_EXEC_INFO asks for "${apiVersion}", not ${GROUP}/v1 or v1beta1.`,
    {
      hint: "Write one of them as apiVersion of the exec entry in the kubeconfig.",
    },
  );
}

/** What kubectl reads from standard output. */
export function renderCredential(apiVersion: string, { token, expires }: Credential): string {
  const expirationTimestamp = new Date(expires).toISOString().replace(/\.\d+Z$/, "Z");
  return `${JSON.stringify({ apiVersion, kind: "ExecCredential", status: { token, expirationTimestamp } })}\n`;
}

/** A token that ends sooner is not used again: a request under way would be refused. */
const MARGIN = 120_000;

/** What kubectl can read as a time ends with the year 9999. */
const LATEST = Date.UTC(9999, 11, 31);

/** What a header can carry. */
const TOKEN = /^[\x21-\x7e]+$/;

/** The credential in a cache file, where it is one that can still be used. */
export function usableCredential(content: string, now: number): Credential | undefined {
  try {
    const { token, expires } = record(JSON.parse(content));
    if (typeof token !== "string" || !TOKEN.test(token) || typeof expires !== "number") return undefined;
    return expires - MARGIN > now && expires <= LATEST ? { token, expires } : undefined;
  } catch {
    return undefined;
  }
}
