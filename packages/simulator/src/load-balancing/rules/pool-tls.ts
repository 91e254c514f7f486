import { invalid } from "../errors.ts";
import { listOf, orNull, text } from "../kit/fields.ts";

const versions = ["SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];
const protocols = ["h2", "http/1.1", "http/1.0"];

/** A list of words that all are known ones; null takes it away. */
const known =
  (words: readonly string[], what: string) =>
  (value: unknown, field: string): readonly string[] | null => {
    const given = orNull(listOf(text))(value, field);
    if (given?.length === 0)
      throw invalid(
        `Empty ${what} list. Either specify at least one ${what} or remove this parameter to use the default.`,
      );
    const wrong = given?.filter((word) => !words.includes(word)) ?? [];
    if (wrong.length > 0) throw invalid(`Invalid ${what}: ${wrong.join(", ")}`);
    return given;
  };

/** How a pool speaks TLS to its members. */
export const tlsFields = {
  tls_container_ref: { read: orNull(text) },
  ca_tls_container_ref: { read: orNull(text) },
  crl_container_ref: { read: orNull(text) },
  tls_ciphers: { read: orNull(ciphers) },
  tls_versions: { read: known(versions, "TLS version") },
  alpn_protocols: { read: known(protocols, "ALPN protocol") },
} as const;

function ciphers(value: unknown, field: string): string {
  if (typeof value !== "string" || value.length > 2048) return text(value, field);
  return value;
}

/** The TLS fields of a pool that speaks plain text to its members. */
export const noTls = {
  tls_container_ref: null,
  ca_tls_container_ref: null,
  crl_container_ref: null,
  tls_ciphers: null,
  tls_versions: null,
  alpn_protocols: null,
} as const;

/** What a pool that speaks TLS has where a request leaves it open. */
export const defaultTls = {
  tls_ciphers:
    "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-SHA256:DHE-RSA-AES128-SHA256:ECDHE-RSA-AES256-SHA384:ECDHE-RSA-AES128-SHA256",
  tls_versions: ["TLSv1.2", "TLSv1.3"],
  alpn_protocols: protocols,
} as const;
