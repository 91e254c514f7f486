import { createHash } from "node:crypto";
import { canonicalJson, readTextFile } from "@causeway/foundation";
import type { CloudConfig } from "./config.ts";

/** A digest of all that the config says, the content of its certificate files included. */
export function fingerprint(config: CloudConfig): string {
  const { caFile, certificateFile, keyFile } = config.tls ?? {};
  const files = [caFile, certificateFile, keyFile].map((path) => (path === undefined ? null : contentOf(path)));
  return createHash("sha256").update(canonicalJson(config)).update(canonicalJson(files)).digest("hex");
}

function contentOf(path: string): string {
  try {
    return readTextFile(path);
  } catch {
    return ""; // the transport says what is wrong with it
  }
}
